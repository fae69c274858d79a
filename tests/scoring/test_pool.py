import numpy as np
import pytest
from hypothesis import given

from engine.scoring.metrics import evaluate_documents
from engine.scoring.pool import choose, keep_places, on_tokens, pool_entities, within
from engine.text.model import Entity
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora

GOUT = Entity(7, 11, "Disease")
LEAD = Entity(13, 17, "Chemical", score=0.5)
DOCUMENTS = [
    make_document("d1", "He had gout. Lead was found."),
    make_document("d2", "No gout here."),
]


def pool(**sets):
    return pool_entities(DOCUMENTS, sets)


def test_pool_holds_each_place_once_in_reading_order():
    pooled = pool(a={"d2": (Entity(3, 7, "Disease"),), "d1": (LEAD,)}, b={"d1": (GOUT, LEAD)})
    assert pooled.names == ("a", "b")
    assert pooled.types == ("Chemical", "Disease")
    assert pooled.places.to_dict("list") == {
        "document": [0, 0, 1],
        "sentence": [0, 1, 2],
        "start": [7, 13, 3],
        "end": [11, 17, 7],
        "position": [7, 13, 32],  # the first text has 28 characters, and one stands between texts
        "type": [1, 0, 1],
    }
    assert pooled.is_marked.tolist() == [[False, True], [True, True], [True, False]]
    assert pooled.scores[1].tolist() == [0.5, 0.5]
    assert np.isnan(pooled.scores[[0, 2]]).all()
    assert pooled.sentence_count == 3


def test_pool_distinguishes_the_same_words_under_two_types():
    pooled = pool(a={"d1": (GOUT,)}, b={"d1": (Entity(7, 11, "Chemical"),)})
    assert pooled.is_marked.tolist() == [[False, True], [True, False]]


def test_pool_leaves_out_and_counts_what_lies_outside_the_texts():
    pooled = pool(a={"d1": (GOUT, Entity(20, 99, "Disease")), "gone": (GOUT,)}, b={})
    assert len(pooled.places) == 1
    assert pooled.dropped == {"a": 2}


@pytest.mark.parametrize("sets", [{}, {"a": {}}, {"a": {"d1": ()}}], ids=["none", "empty", "blank"])
def test_pool_of_nothing_has_no_places(sets):
    pooled = pool_entities(DOCUMENTS, sets)
    assert pooled.is_marked.shape == (0, len(sets))
    assert pooled.places.empty and pooled.sentence_count == 3


def test_choose_keeps_the_places_of_the_chosen_sets_only():
    pooled = choose(pool(a={"d1": (GOUT,)}, b={"d1": (LEAD,)}, c={"d1": (LEAD,)}), ["c", "b"])
    assert pooled.names == ("c", "b")
    assert pooled.places["start"].tolist() == [13]
    assert pooled.is_marked.tolist() == [[True, True]]


def test_within_keeps_the_places_of_some_documents():
    pooled = pool(a={"d1": (GOUT,), "d2": (Entity(3, 7, "Disease"),)})
    assert within(pooled, {"d2"}).places["document"].tolist() == [1]


def test_of_type_and_keep_places_choose_by_type():
    pooled = pool(a={"d1": (GOUT, LEAD)})
    kept = keep_places(pooled, pooled.of_type(["Chemical"]))
    assert kept.places["start"].tolist() == [13]


def test_on_tokens_widens_what_ends_inside_a_token_and_leaves_out_overlaps():
    given = {"d1": (Entity(7, 10, "Disease"), Entity(3, 11, "Chemical"))}
    assert on_tokens(DOCUMENTS, given) == {"d1": (Entity(3, 11, "Chemical", method="gold"),)}


def test_on_tokens_keeps_documents_that_are_annotated_with_nothing():
    assert on_tokens(DOCUMENTS, {"d2": (), "elsewhere": (GOUT,)}) == {"d2": ()}


def test_on_tokens_widens_an_entity_that_runs_into_white_space():
    document = make_tokenized_document("d", [("a", "b")])
    assert on_tokens([document], {"d": (Entity(0, 2, "X"),)})["d"][0].end == 1


@given(corpora(aligned=False))
def test_counts_of_a_pool_are_those_of_strict_scores_whatever_the_offsets(corpus):
    fitted = on_tokens(corpus.documents, corpus.entities)
    first = {id: entities[:1] for id, entities in fitted.items()}
    pooled = pool_entities(corpus.documents, {"gold": fitted, "first": first})
    scores = evaluate_documents(corpus.documents, corpus.entities, first).overall
    assert pooled.column("gold").sum() == scores.support
    assert pooled.column("first").sum() == scores.predicted
    assert (pooled.column("first") & pooled.column("gold")).sum() == scores.correct
