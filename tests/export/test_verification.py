import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.export.verification import Verification, verify
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.text.model import Corpus, Entity
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

WRITABLE = [name for name, format in FORMATS.items() if format.write]
DOCUMENT = make_document("d", "He had gout.\n=cmd() was found in 😀 lead poisoning.")
CORPUS = Corpus(
    (DOCUMENT,),
    {"d": (Entity(7, 11, "Disease"), Entity(13, 16, "Chemical"), Entity(35, 49, "Disease"))},
)


def written(format, corpus=CORPUS, options=WriteOptions()):
    out = io.BytesIO()
    FORMATS[format].write(corpus, out, options)
    return out.getvalue()


@pytest.mark.parametrize("format", WRITABLE)
def test_the_output_of_every_format_is_verified(format):
    result = verify(written(format), format, CORPUS)
    assert result.problem == ""
    tokens = sum(len(sentence.tokens) for sentence in DOCUMENT.sentences)
    assert result.rows == (tokens if format in ("tokens", "benchmark") else 3)


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("entities", WriteOptions(excel=True)),
        ("entities", WriteOptions(essential_columns=True)),
        ("tokens", WriteOptions(excel=True)),
        ("label_studio", WriteOptions(utf16_offsets=True)),
    ],
)
def test_options_are_verified_too(format, options):
    assert verify(written(format, options=options), format, CORPUS).problem == ""


@pytest.mark.parametrize("format", [name for name in WRITABLE if name != "pubtator"])
@given(corpus=corpora())
def test_any_aligned_corpus_is_verified(format, corpus):
    assert verify(written(format, corpus), format, corpus).problem == ""


@given(corpora(aligned=False), st.sampled_from(["entities", "jsonl", "doccano", "spacy"]))
def test_offsets_inside_tokens_are_verified(corpus, format):
    assert verify(written(format, corpus), format, corpus).problem == ""


def test_a_row_with_another_text_is_named():
    data = written("entities").replace(b"7,11,gout", b"8,12,gout")
    assert verify(data, "entities", CORPUS) == Verification(
        0, problem='line 2 says "gout" where the text has "out."'
    )


def test_a_token_with_another_text_is_named():
    data = written("tokens").replace(b"gout,7,11", b"gout,6,10")
    assert 'line 4 says "gout" where the text has " gou"' in str(verify(data, "tokens", CORPUS))


def test_a_moved_entity_is_noticed():
    data = written("doccano").replace(b"[7, 11,", b"[7, 12,")
    assert verify(data, "doccano", CORPUS).problem == 'entities of "d" are not where they were'


def test_a_file_that_cannot_be_read_again_is_noticed():
    problem = verify(b"{broken", "jsonl", CORPUS).problem
    assert problem.startswith("the file could not be read again: ")


def test_a_lost_document_is_noticed():
    two = Corpus((DOCUMENT, make_document("e", "Two.")), CORPUS.entities)
    assert verify(written("jsonl"), "jsonl", two).problem == (
        "1 documents were read again, 2 written"
    )


def test_verification_reads_as_a_sentence():
    assert str(Verification(2318)) == "2,318 entities, all offsets verified"


def test_one_row_is_reported_in_the_singular():
    assert str(Verification(1)) == "1 entity, all offsets verified"
    assert str(Verification(2, "tokens")) == "2 tokens, all offsets verified"
