import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.sources import SourceFile
from engine.formats import tokens_csv
from engine.formats.contract import WriteOptions
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError, spans_from_entities
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
USUAL, EXCEL = WriteOptions(), WriteOptions(excel=True)


def write_tokens(corpus: Corpus, options: WriteOptions = USUAL) -> bytes:
    out = io.BytesIO()
    tokens_csv.write(corpus, out, options)
    return out.getvalue()


def read_tokens(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return tokens_csv.read(SourceFile("tokens.csv", raw), options)


def test_token_rows_have_a_tag_column_for_each_method() -> None:
    entities = (Entity(0, 5, "Sign", method="gold"), Entity(0, 5, "Drug", method="dictionary"))
    corpus = Corpus((make_document("d", "Fever came."),), {"d": entities})
    assert write_tokens(corpus).decode() == (
        "doc_id,sent_id,token_id,token,start,end,tag_dictionary,tag_gold\n"
        "d,0,0,Fever,0,5,B-Drug,B-Sign\n"
        "d,0,1,came,6,10,O,O\n"
        "d,0,2,.,10,11,O,O\n"
    )


def test_tokens_are_put_at_their_offsets() -> None:
    corpus = read_tokens(
        "doc_id,sent_id,token_id,token,start,end,tag\n"
        "d,0,0,High,1,5,B-Sign\nd,0,1,fever,7,12,I-Sign\nd,1,0,It,14,16,O\nd,2,0,!,16,17,O\n"
    )
    document = corpus.documents[0]
    assert document.text == " High  fever\n It!"
    assert [(s.text, s.tokens) for s in document.sentences] == [
        ("High  fever", ("High", "fever")),
        ("It", ("It",)),
        ("!", ("!",)),
    ]
    assert corpus.entities == {"d": (Entity(1, 12, "Sign"),)}


def test_documents_that_are_not_annotated_stay_so() -> None:
    documents = tuple(make_document(id, "Fever.") for id in ("a", "b", "c"))
    corpus = Corpus(documents, {"a": (Entity(0, 5, "Sign", method="mpu"),), "b": ()})
    assert read_tokens(write_tokens(corpus)).entities == corpus.entities
    assert read_tokens(write_tokens(Corpus(documents))).entities == {}
    assert read_tokens(write_tokens(Corpus(documents, {"a": ()}))).entities == {"a": ()}


def test_adjusted_entities_and_lost_documents_are_counted() -> None:
    documents = (make_document("d", "Fever."), make_document("e", " "))
    corpus = Corpus(documents, {"d": (Entity(0, 3, "Sign"),)})
    assert tokens_csv.write(corpus, io.BytesIO(), USUAL).notes == (
        "1 entities began or ended inside a token; widened to it",
        "1 documents without a token are not in the file",
    )


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("d,0,fever,0,4,O", '"fever" has 5 characters, its offsets 0-4 have 4'),
        ("d,0,fever,x,5,O", 'start "x" is not a whole number'),
        ("d,0,fever,0,5,NN", '"NN" is not a tag'),
        ("d,0,fever,999999999999,1000000000004,O", '"fever" begins at 999,999,999,999'),
    ],
)
def test_bad_token_row_is_an_error_with_its_line(row: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        read_tokens(f"doc_id,sent_id,token,start,end,tag\n{row}\n")
    assert str(error.value).startswith(f"tokens.csv line 2: {fault}")


def test_tokens_out_of_order_are_an_error() -> None:
    with pytest.raises(InputError, match='line 3: "a" begins at 0, but the token above it ends'):
        read_tokens("doc_id,sent_id,token,start,end\nd,0,bb,2,4\nd,0,a,0,1\n")


def test_missing_token_column_is_an_error() -> None:
    with pytest.raises(InputError, match=r"No sent_id column found in tokens.csv"):
        read_tokens("doc_id,token,start,end\nd,a,0,1\n")


@given(corpora(plain_types=False), st.booleans())
def test_tokens_and_their_entities_come_back_from_csv(corpus: Corpus, excel: bool) -> None:
    back = read_tokens(write_tokens(corpus, WriteOptions(excel=excel)))
    for before, after in zip(corpus.documents, back.documents, strict=True):
        assert after.id == before.id
        assert [(s.start, s.tokens, s.starts) for s in after.sentences] == [
            (s.start, s.tokens, s.starts) for s in before.sentences
        ]
        assert back.entities[after.id] == tuple(
            replace(entity, score=None) for entity in corpus.entities[before.id]
        )


@given(corpora(pretokenized=True, aligned=False))
def test_token_rows_hold_the_spans_that_fit(corpus: Corpus) -> None:
    back = read_tokens(write_tokens(corpus))
    for before, after in zip(corpus.documents, back.documents, strict=True):
        fitted = spans_from_entities(before, corpus.entities[before.id])
        assert spans_from_entities(after, back.entities[after.id]).spans == fitted.spans
