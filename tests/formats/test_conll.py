import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from engine.files.sources import SourceFile
from engine.formats import benchmark, conll
from engine.formats.contract import Format, WriteOptions
from engine.formats.tagging import written_name, written_token
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError, spans_from_entities, tags_from_spans
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)


def read(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return conll.read(SourceFile("train.conll", raw), options)


def read_benchmark(data: bytes | str) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return benchmark.read(SourceFile("train.txt", raw), PLAIN)


def write(format: Format, corpus: Corpus) -> tuple[str, tuple[str, ...]]:
    out = io.BytesIO()
    assert format.write
    report = format.write(corpus, out, WriteOptions())
    return out.getvalue().decode(), report.notes


def surfaces(corpus: Corpus) -> list[tuple[str, str, str]]:
    texts = {document.id: document.text for document in corpus.documents}
    return [
        (id, texts[id][entity.start : entity.end], entity.entity_type)
        for id, entities in corpus.entities.items()
        for entity in entities
    ]


def tagged_sentences(corpus: Corpus) -> list[Any]:
    """What a CoNLL file can hold: ids, tokens and tags, as spelled in a column."""
    return [
        (
            document.id,
            [tuple(map(written_token, sentence.tokens)) for sentence in document.sentences],
            [
                list(map(written_name, tags_from_spans(spans, len(sentence.tokens))))
                for sentence, spans in zip(
                    document.sentences,
                    spans_from_entities(document, corpus.entities[document.id]).spans,
                    strict=True,
                )
            ],
        )
        for document in corpus.documents
    ]


# ---- CoNLL: reading -------------------------------------------------------------------------


def test_sentences_and_entities_are_read() -> None:
    corpus = read("High NN B-Sign\nfever NN I-Sign\n\nIt PRP O\n")
    assert corpus.documents == (make_tokenized_document("train", [["High", "fever"], ["It"]]),)
    assert corpus.entities == {"train": (Entity(0, 10, "Sign", method="gold"),)}
    assert corpus.notes == []


def test_document_starts_number_the_documents() -> None:
    corpus = read("-DOCSTART- -X- -X- O\n\na NN B O\n\n-DOCSTART- -X- -X- O\n\nb NN B O\n")
    assert [(d.id, d.text) for d in corpus.documents] == [
        ("train-000001", "a"),
        ("train-000002", "b"),
    ]


@pytest.mark.parametrize(
    "start",
    ["# doc_id = {}\n", "# doc_id = {}\n-DOCSTART- O\n\n", "-DOCSTART- O\n\n# doc_id = {}\n"],
    ids=["name", "name and start", "start and name"],
)
def test_document_ids_are_read_from_comments(start: str) -> None:
    corpus = read("".join(start.format(id) + f"{id} O\n\n" for id in ("x1", "x2")))
    assert [(d.id, d.text) for d in corpus.documents] == [("x1", "x1"), ("x2", "x2")]


def test_named_document_without_tokens_is_kept() -> None:
    corpus = read("# doc_id = a\n\n# doc_id = b\nx O\n")
    assert [(d.id, d.text) for d in corpus.documents] == [("a", ""), ("b", "x")]


def test_other_comments_are_skipped_and_a_number_sign_is_a_token() -> None:
    corpus = read("# sent_id = 4\n# O\n1 O\n")
    assert corpus.documents[0].text == "# 1"
    assert corpus.notes == ["train.conll: 1 comment lines skipped"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-LOC I-LOC B-LOC O", ["a b", "c"]),
        ("I-LOC I-LOC B-LOC O", ["a b", "c"]),
        ("B-LOC E-LOC S-LOC O", ["a b", "c"]),
        ("B-LOC L-LOC U-LOC O", ["a b", "c"]),
        ("B-LOC M-LOC E-LOC O", ["a b c"]),
    ],
    ids=["IOB2", "IOB1", "IOBES", "BILOU", "BMES"],
)
def test_every_tag_scheme_is_read(tags: str, expected: list[str]) -> None:
    rows = zip("abcd", tags.split(), strict=True)
    corpus = read("".join(f"{token}\t{tag}\n" for token, tag in rows))
    assert [surface for _, surface, _ in surfaces(corpus)] == expected


def test_fixed_tags_are_counted_with_the_first_of_them() -> None:
    corpus = read("a O\nb I-Disease\n\nc I-Disease\n")
    assert corpus.notes == [
        'train.conll: line 2: tag "I-Disease" follows "O". Treated as B-Disease (IOB1 -> IOB2). '
        "2 tags fixed"
    ]


def test_tokens_alone_are_not_annotated() -> None:
    corpus = read("High\nfever\n\nIt\n")
    assert corpus.documents[0].text == "High fever\nIt"
    assert corpus.entities == {}


def test_no_break_space_and_tabbed_spaces_stay_in_their_token() -> None:
    assert read("5\xa0mg O\n").documents[0].sentences[0].tokens == ("5\xa0mg",)
    assert read("New York\tB-LOC\n").documents[0].sentences[0].tokens == ("New York",)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("b NN", '"NN" is not a tag. Write O, or a type after B- or I-'),
        ("b B-", '"B-" is not a tag'),
        ("b X-LOC", '"X-LOC" is not a tag'),
        ("b", '1 columns, expected 2 as above: "b"'),
        ("b NN O", '3 columns, expected 2 as above: "b NN O"'),
    ],
)
def test_bad_line_is_an_error_with_its_number_or_is_skipped(line: str, fault: str) -> None:
    data = f"a O\n\n{line}\nc B-LOC\n"
    with pytest.raises(InputError) as error:
        read(data)
    assert str(error.value).startswith(f"train.conll line 3: {fault}")
    corpus = read(data, SKIP)
    assert corpus.documents[0].text == "a\nc"
    assert corpus.files[0].notes[0].startswith("1 lines left out, e.g. train.conll line 3")


def test_file_without_tokens_is_refused() -> None:
    with pytest.raises(InputError, match=r"train.conll holds no tokens"):
        read("-DOCSTART- O\n\n")


@pytest.mark.parametrize(
    "data",
    ["naïve O\r\n\r\nb O\r\n".encode("utf-8-sig"), "naïve O\n\nb O\n".encode("utf-16")],
    ids=["byte order mark and CRLF", "utf-16"],
)
def test_conll_is_read_in_the_encoding_it_was_saved_in(data: bytes) -> None:
    assert read(data).documents[0].text == "naïve\nb"


# ---- CoNLL: writing -------------------------------------------------------------------------


def test_document_is_written_with_its_id() -> None:
    corpus = Corpus((make_document("d 1", "High fever. It"),), {"d 1": (Entity(0, 10, "Sign"),)})
    text, notes = write(conll.FORMAT, corpus)
    assert text == ("# doc_id = d 1\n-DOCSTART- O\n\nHigh B-Sign\nfever I-Sign\n. O\n\nIt O\n\n")
    assert notes == ()


def test_what_a_column_cannot_hold_is_noted() -> None:
    documents = (
        make_tokenized_document("a", [["5\xa0mg", "-DOCSTART-"]]),
        make_tokenized_document("b", [["x"]]),
    )
    text, notes = write(conll.FORMAT, Corpus(documents, {"a": (Entity(0, 4, "Cell line"),)}))
    assert "\n5_mg B-Cell_line\n_DOCSTART- O\n" in text
    assert notes == (
        'type "Cell line" holds a space; written as Cell_line',
        '2 tokens hold what a column cannot, such as a space; written "_"',
        "1 documents are not annotated; their tokens are tagged O",
    )


def test_entities_that_had_to_be_fitted_are_noted() -> None:
    entities = (Entity(0, 10, "Sign"), Entity(5, 10, "Sign"), Entity(12, 13, "LOC"))
    corpus = Corpus((make_document("d", "High fever. It"),), {"d": entities})
    text, notes = write(conll.FORMAT, corpus)
    assert text.endswith("It B-LOC\n\n")
    assert notes == (
        "1 entities began or ended inside a token; widened to it",
        "1 entities left out: inside a longer one, or on no token",
    )


@given(corpora(plain_types=False, aligned=False))
def test_tokens_and_tags_come_back_from_conll(corpus: Corpus) -> None:
    text, _ = write(conll.FORMAT, corpus)
    assert tagged_sentences(read(text)) == tagged_sentences(corpus)


@given(corpora(pretokenized=True, plain_types=False))
def test_given_tokens_come_back_from_conll(corpus: Corpus) -> None:
    text, _ = write(conll.FORMAT, corpus)
    assert tagged_sentences(read(text)) == tagged_sentences(corpus)


# ---- the paper's format ---------------------------------------------------------------------


def test_benchmark_tags_are_gold_and_classes_the_dictionary() -> None:
    corpus = read_benchmark("High B-Sign 0\nfever I-Sign 2\n\naspirin B-Drug 1\nPR O 1\n")
    assert corpus.documents[0].text == "High fever\naspirin PR"
    assert corpus.entities["train"] == (
        Entity(0, 10, "Sign", method="gold"),
        Entity(5, 10, "Sign", method="dictionary"),
        Entity(11, 18, "Drug", method="gold"),
        Entity(11, 21, "Drug", method="dictionary"),
    )
    assert corpus.notes == [
        "train.txt: classes read as 1 = Drug, 2 = Sign, by the gold type each meets most often"
    ]


def test_class_without_a_gold_type_is_named_by_its_number() -> None:
    corpus = read_benchmark("a O 2\n")
    assert corpus.entities["train"] == (Entity(0, 1, "class_2", method="dictionary"),)


def test_two_classes_never_share_a_type() -> None:
    corpus = read_benchmark("a B-LOC 1\nb B-LOC 1\nc B-LOC 2\n")
    types = [e.entity_type for e in corpus.entities["train"] if e.method == "dictionary"]
    assert types == ["LOC", "class_2"]


def test_columns_are_read_by_sentence() -> None:
    file = SourceFile("train.txt", b"\r\na O 0\r\nb B-LOC 1\r\n\r\n\r\nc\xc2\xa0d O 0\r\n\r\n")
    assert benchmark.read_columns(file) == (
        [["a", "b"], ["c\xa0d"]],
        [["O", "B-LOC"], ["O"]],
        [[0, 1], [0]],
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("b O", '"b O" is not a token, a tag and a class number'),
        (" O 0", '" O 0" is not a token, a tag and a class number'),
        ("b NN 0", '"NN" is not a tag'),
        ("b O x", '"x" is not a class number'),
        ("b O -1", '"-1" is not a class number'),
        ("b O 99999", '"99999" is not a class number'),
    ],
)
def test_bad_benchmark_line_is_an_error_with_its_number(line: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        read_benchmark(f"a O 0\n{line}\n")
    assert str(error.value).startswith(f"train.txt line 2: {fault}")


def test_benchmark_names_its_classes_and_what_it_leaves_out() -> None:
    entities = (
        Entity(0, 1, "LOC", method="gold"),
        Entity(2, 3, "Drug", method="dictionary"),
        Entity(0, 1, "PER", method="mpu"),
    )
    documents = (make_document("d", "a b"), make_document("e", "c"))
    text, notes = write(benchmark.FORMAT, Corpus(documents, {"d": entities, "e": ()}))
    assert text == "a B-LOC 0\nb O 1\n\nc O 0\n\n"
    assert notes == (
        "classes are 1 = Drug, 2 = LOC",
        "1 entities left out: neither gold nor dictionary",
        "2 documents are written as one",
    )


@given(corpora())
def test_gold_and_dictionary_come_back_from_the_benchmark_format(corpus: Corpus) -> None:
    both = {
        id: tuple(
            replace(e, method=m, score=None) for m in ("gold", "dictionary") for e in entities
        )
        for id, entities in corpus.entities.items()
    }
    text, _ = write(benchmark.FORMAT, Corpus(corpus.documents, both))
    expected = tagged_sentences(corpus)
    tokens, tags, classes = benchmark.read_columns(SourceFile("x.txt", text.encode()))
    types = sorted({e.entity_type for entities in corpus.entities.values() for e in entities})
    assert tokens == [list(s) for _, sentences, _ in expected for s in sentences]
    assert tags == [s for _, _, of_document in expected for s in of_document]
    assert classes == [
        [types.index(tag[2:]) + 1 if tag != "O" else 0 for tag in sentence] for sentence in tags
    ]
    assert {e.entity_type for e in read_benchmark(text).entities["train"]} == set(types)
