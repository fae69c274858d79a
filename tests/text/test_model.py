import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.model import (
    Document,
    Entity,
    Layout,
    Span,
    classes_from_spans,
    entities_from_spans,
    spans_from_classes,
    spans_from_entities,
    spans_from_tags,
    tags_from_spans,
)
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora

TYPES = ("LOC", "PER", "Cell-line", "5 HT")

# "Acute renal failure." 0-20 and "No fever." 21-30, the last white space at 30.
DOCUMENT = make_document("d", "Acute renal failure. No fever.\n")


@st.composite
def spans_and_length(draw):
    """Non-overlapping spans in order, some of them touching, and a token count they fit in."""
    spans, token = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=8)):
        start = token + gap
        token = start + length
        spans.append(Span(start, token, draw(st.sampled_from(TYPES))))
    return spans, token + draw(st.integers(0, 3))


# ---- Span, Entity, Sentence -----------------------------------------------------------------


@pytest.mark.parametrize("make", [Span, Entity], ids=["span", "entity"])
@pytest.mark.parametrize("start, end", [(2, 2), (3, 2), (-1, 1)], ids=["empty", "reversed", "<0"])
def test_span_and_entity_refuse_impossible_bounds(make, start, end):
    with pytest.raises(ValueError, match=f"0 <= start < end, got {start}..{end}"):
        make(start, end, "LOC")


def test_sentence_offsets_count_from_the_document():
    layout = Layout.of([[(0, 2), (3, 9)], [(10, 15), (17, 24)]])
    sentence = Document("d", "It helped renal  failure", layout).sentences[1]
    assert (sentence.tokens, sentence.starts) == (("renal", "failure"), (0, 7))
    assert (sentence.start, sentence.text, len(sentence)) == (10, "renal  failure", 2)
    assert sentence.offsets(Span(0, 1, "Disease")) == (10, 15)
    assert sentence.offsets(Span(1, 2, "Disease")) == (17, 24)
    assert sentence.offsets(Span(0, 2, "Disease")) == (10, sentence.end)


@pytest.mark.parametrize("text", ["ab cd. ", "x\n\n", "The patient had a fever and a rash. "])
def test_a_token_takes_few_bytes(text):
    whole = text * (60_000 // len(text))
    tracemalloc.start()
    try:
        document = make_document("d", whole)
        kept, peak = tracemalloc.get_traced_memory()
        assert len(document.tokens) == document.token_count
        asked, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted = document.token_count
    assert (kept / counted < 16, peak / counted < 40, asked / counted < 24) == (True, True, True)


def test_a_document_of_one_word_takes_few_bytes():
    tracemalloc.start()
    try:
        documents = [make_document("d", "x") for _ in range(1_000)]
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept / len(documents) < 400


def test_a_renamed_document_shares_its_tokens():
    renamed = replace(DOCUMENT, id="other")
    assert renamed.layout is DOCUMENT.layout
    assert {sentence.document_id for sentence in renamed.sentences} == {"other"}


# ---- tags -----------------------------------------------------------------------------------


def test_tags_from_spans_begins_each_of_two_touching_spans():
    spans = [Span(3, 4, "PER"), Span(0, 2, "LOC"), Span(2, 3, "LOC")]
    assert tags_from_spans(spans, 5) == ["B-LOC", "I-LOC", "B-LOC", "B-PER", "O"]


def test_tags_from_spans_is_all_outside_without_spans():
    assert tags_from_spans([], 2) == ["O", "O"]
    assert tags_from_spans([], 0) == []


@pytest.mark.parametrize(
    "tags, spans",
    [
        ("", []),
        ("O O", []),
        ("B-LOC I-LOC O B-PER", [(0, 2, "LOC"), (3, 4, "PER")]),
        ("B-LOC B-LOC I-LOC", [(0, 1, "LOC"), (1, 3, "LOC")]),
        ("I-LOC I-LOC B-LOC O I-PER", [(0, 2, "LOC"), (2, 3, "LOC"), (4, 5, "PER")]),
        ("S-LOC B-PER I-PER E-PER S-LOC", [(0, 1, "LOC"), (1, 4, "PER"), (4, 5, "LOC")]),
        ("S-LOC S-LOC B-LOC E-LOC", [(0, 1, "LOC"), (1, 2, "LOC"), (2, 4, "LOC")]),
        ("U-LOC B-PER I-PER L-PER U-LOC", [(0, 1, "LOC"), (1, 4, "PER"), (4, 5, "LOC")]),
        ("B-PER M-PER E-PER", [(0, 3, "PER")]),
        ("B-Cell-line I-Cell-line", [(0, 2, "Cell-line")]),
    ],
    ids=["empty", "outside", "iob2", "touching", "iob1", "iobes", "iobes touching", "bilou",
         "bmes", "dash in the type"],
)  # fmt: skip
def test_spans_from_tags_reads_every_scheme(tags, spans):
    assert spans_from_tags(tags.split()) == [Span(*span) for span in spans]


@pytest.mark.parametrize(
    "tags, spans",
    [
        ("O I-LOC", [(1, 2, "LOC")]),
        ("B-LOC I-PER I-PER", [(0, 1, "LOC"), (1, 3, "PER")]),
        ("E-LOC", [(0, 1, "LOC")]),
        ("E-LOC I-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
        ("B-LOC S-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
        ("B-LOC O E-LOC", [(0, 1, "LOC"), (2, 3, "LOC")]),
        ("S-LOC I-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
    ],
    ids=["i after o", "i of another type", "lone end", "i after end", "s in a span", "gap",
         "i after s"],
)  # fmt: skip
def test_spans_from_tags_repairs_broken_sequences(tags, spans):
    assert spans_from_tags(tags.split()) == [Span(*span) for span in spans]


@given(spans_and_length())
def test_spans_to_tags_and_back_is_the_identity(given_spans):
    spans, length = given_spans
    tags = tags_from_spans(spans, length)
    assert len(tags) == length
    assert spans_from_tags(tags) == spans


# ---- classes --------------------------------------------------------------------------------


def test_classes_from_spans_numbers_the_types_from_one():
    classes = classes_from_spans([Span(1, 3, "PER"), Span(3, 4, "LOC")], 5, ("LOC", "PER"))
    assert classes.tolist() == [0, 2, 2, 1, 0]


@pytest.mark.parametrize(
    "classes, spans",
    [
        ([], []),
        ([0, 0], []),
        ([1], [Span(0, 1, "LOC")]),
        ([2, 2, 1], [Span(0, 2, "PER"), Span(2, 3, "LOC")]),
        ([1, 0, 1], [Span(0, 1, "LOC"), Span(2, 3, "LOC")]),
    ],
    ids=["empty", "none", "whole", "touching types", "apart"],
)
def test_spans_from_classes_are_the_runs(classes, spans):
    assert spans_from_classes(np.array(classes, dtype=np.int16), ("LOC", "PER")) == spans


def joined(spans):
    """The same spans, with touching ones of the same type joined."""
    merged = []
    for span in spans:
        last = merged[-1] if merged else None
        if last and (last.end, last.entity_type) == (span.start, span.entity_type):
            merged[-1] = Span(last.start, span.end, span.entity_type)
        else:
            merged.append(span)
    return merged


@given(spans_and_length())
def test_spans_to_classes_and_back_joins_touching_spans_only(given_spans):
    spans, length = given_spans
    classes = classes_from_spans(spans, length, TYPES)
    assert spans_from_classes(classes, TYPES) == joined(spans)


# ---- entities -------------------------------------------------------------------------------


def fit(*places, document=DOCUMENT):
    return spans_from_entities(document, [Entity(*place, "Disease") for place in places])


def test_spans_from_entities_places_exact_ones_without_a_note():
    fitted = fit((0, 19), (24, 29))
    assert fitted.spans == ((Span(0, 3, "Disease"),), (Span(1, 2, "Disease"),))
    assert fitted.notes == []


def test_spans_from_entities_widens_one_that_lies_inside_tokens():
    fitted = fit((2, 8))  # "ute re"
    assert fitted.spans == ((Span(0, 2, "Disease"),), ())
    assert fitted.snapped == (Entity(2, 8, "Disease"),)
    assert fitted.notes == ["1 entities began or ended inside a token; widened to it"]


def test_spans_from_entities_drops_white_space_around_an_entity():
    fitted = fit((5, 12), (20, 23))  # " renal " and " No"
    assert fitted.spans == ((Span(1, 2, "Disease"),), (Span(0, 1, "Disease"),))
    assert len(fitted.snapped) == 2 and not fitted.dropped


def test_spans_from_entities_cuts_at_the_end_of_a_sentence():
    fitted = fit((12, 29))
    assert fitted.spans == ((Span(2, 4, "Disease"),), ())
    assert fitted.cut == (Entity(12, 29, "Disease"),)
    assert (fitted.snapped, fitted.dropped) == ((), ())


def test_spans_from_entities_keeps_the_longest_of_nested_ones():
    fitted = fit((6, 11), (0, 19), (12, 19))
    assert fitted.spans == ((Span(0, 3, "Disease"),), ())
    assert fitted.dropped == (Entity(12, 19, "Disease"), Entity(6, 11, "Disease"))


def test_spans_from_entities_keeps_the_leftmost_of_equally_long_overlapping_ones():
    document = make_tokenized_document("d", [("aa", "bb", "cc")])
    fitted = fit((3, 8), (0, 5), document=document)
    assert fitted.spans == ((Span(0, 2, "Disease"),),)
    assert fitted.dropped == (Entity(3, 8, "Disease"),)


def test_spans_from_entities_drops_a_second_one_that_widens_into_a_taken_token():
    fitted = fit((0, 3), (3, 5))
    assert fitted.spans == ((Span(0, 1, "Disease"),), ())
    assert fitted.dropped == (Entity(3, 5, "Disease"),)


@pytest.mark.parametrize("place", [(5, 6), (20, 21), (30, 31)], ids=["inside", "between", "after"])
def test_spans_from_entities_drops_what_holds_only_white_space(place):
    fitted = fit(place)
    assert fitted.spans == ((), ())
    assert fitted.dropped == (Entity(*place, "Disease"),)


def test_spans_from_entities_drops_everything_when_the_document_has_no_sentence():
    fitted = fit((0, 1), document=Document("d", " \n"))
    assert fitted.spans == ()
    assert fitted.notes == ["1 entities left out: inside a longer one, or on no token"]


@given(st.booleans().flatmap(lambda given_tokens: corpora(given_tokens, plain_types=False)))
def test_spans_to_entities_and_back_is_the_identity(corpus):
    for document in corpus.documents:
        fitted = spans_from_entities(document, corpus.entities[document.id])
        assert fitted.notes == []
        entities = [
            entity
            for sentence, spans in zip(document.sentences, fitted.spans, strict=True)
            for entity in entities_from_spans(sentence, spans, "gold")
        ]
        places = [(e.start, e.end, e.entity_type) for e in corpus.entities[document.id]]
        assert [(e.start, e.end, e.entity_type) for e in entities] == places
        assert spans_from_entities(document, entities) == fitted


@given(corpora(aligned=False))
def test_spans_from_entities_loses_nothing_and_never_overlaps(corpus):
    for document in corpus.documents:
        entities = corpus.entities[document.id]
        fitted = spans_from_entities(document, entities)
        assert sum(map(len, fitted.spans)) + len(fitted.dropped) == len(entities)
        for sentence, spans in zip(document.sentences, fitted.spans, strict=True):
            covered = [i for span in spans for i in range(span.start, span.end)]
            assert covered == sorted(set(covered))
            assert all(i < len(sentence.tokens) for i in covered)
