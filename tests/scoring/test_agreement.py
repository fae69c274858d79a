import numpy as np
import pandas as pd
import pytest

from engine.scoring.agreement import (
    Filter,
    agreement_matrix,
    changed_entities,
    combinations,
    confusion,
    disagreement,
    disputed,
    entity_counts,
    found_alone,
    matching_sentences,
    types_at,
)
from engine.scoring.pool import pool_entities
from engine.text.model import Entity
from engine.text.tokenization import make_tokenized_document

# One letter per token: token i of a sentence stands at 2 * i, the second sentence begins at 10.
DOCUMENT = make_tokenized_document("d", [tuple("abcde"), tuple("fghij"), tuple("klmno")])


def entity(first, last, entity_type="X", score=None):
    """Tokens first to last of the document, the last one included."""
    return Entity(2 * first, 2 * last + 1, entity_type, score=score)


def pool(**sets):
    return pool_entities([DOCUMENT], {name: {"d": entities} for name, entities in sets.items()})


A, B, C = entity(0, 0), entity(2, 3), entity(6, 6, "Y")


def test_agreement_is_the_share_of_places_that_both_mark():
    matrix = agreement_matrix(pool(one=[A, B, C], two=[B, C], three=[A]))
    # one and two: 2 of 3.  one and three: 1 of 3.  two and three: 0 of 3.
    expected = [[1, 2 / 3, 1 / 3], [2 / 3, 1, 0], [1 / 3, 0, 1]]
    assert np.allclose(matrix, expected)
    assert list(matrix.columns) == list(matrix.index) == ["one", "two", "three"]


def test_agreement_of_two_empty_sets_is_unknown():
    matrix = agreement_matrix(pool(one=[A], two=[], three=[]))
    assert matrix.loc["one", "two"] == 0
    assert np.isnan(matrix.loc["two", "three"])


def test_combinations_count_each_place_under_the_sets_that_mark_it():
    table = combinations(pool(one=[A, B, C], two=[B, C], three=[A]))
    assert table.to_dict("records") == [
        {"one": True, "two": True, "three": False, "places": 2},
        {"one": True, "two": False, "three": True, "places": 1},
    ]


def test_combinations_of_nothing_are_none():
    assert combinations(pool(one=[], two=[])).empty


def test_entity_counts_are_by_type_and_for_all():
    pooled = pool(one=[entity(0, 0, score=0.5), entity(1, 1, score=1.0), C], two=[C])
    table = entity_counts(pooled)
    assert table[["name", "entity_type", "entities"]].values.tolist() == [
        ["one", "", 3],
        ["one", "X", 2],
        ["one", "Y", 1],
        ["two", "", 1],
        ["two", "X", 0],
        ["two", "Y", 1],
    ]
    assert table["mean_score"].tolist()[:2] == [0.75, 0.75]
    assert table["mean_score"].isna().tolist() == [False, False, True, True, True, True]


def test_found_alone_counts_what_only_one_set_has_or_lacks():
    table = found_alone(pool(one=[A, B], two=[B, C], three=[B, C]))
    assert table.to_dict("records") == [
        {"name": "one", "entities": 2, "only_here": 1, "only_missing": 1},
        {"name": "two", "entities": 2, "only_here": 0, "only_missing": 0},
        {"name": "three", "entities": 2, "only_here": 0, "only_missing": 0},
    ]


def test_disagreement_counts_disputed_places_in_every_sentence():
    pooled = pool(one=[A, B, C], two=[B, entity(6, 6, "X")])
    # A is in the first set only, and the second sentence has one token under two types.
    assert disputed(pooled).tolist() == [True, False, True, True]
    assert disagreement(pooled).tolist() == [1, 2, 0]


# ---- confusion ------------------------------------------------------------------------------


def confused(gold, predicted):
    table = confusion(pool(gold=gold, predicted=predicted), "gold", "predicted")
    return {
        (row, column): int(count)
        for row, counts in table.iterrows()
        for column, count in counts.items()
        if count
    }


@pytest.mark.parametrize(
    "gold, predicted, expected",
    [
        ([A, C], [A, C], {("X", "X"): 1, ("Y", "Y"): 1}),
        ([C], [entity(6, 6, "X")], {("Y", "X"): 1}),
        ([B], [entity(3, 4)], {("X", "X"): 1}),
        ([B], [A, C], {("X", "none"): 1, ("none", "X"): 1, ("none", "Y"): 1}),
        # The gold entity shares one letter with the first and two tokens with the second.
        ([entity(0, 3)], [A, entity(1, 3, "Y")], {("X", "Y"): 1}),
        ([A, entity(1, 3, "Y")], [entity(0, 3)], {("X", "X"): 1, ("Y", "X"): 1}),
        ([], [], {}),
    ],
    ids=["same", "other type", "other edges", "apart", "most shared", "two in one", "nothing"],
)
def test_confusion_shows_what_each_entity_became(gold, predicted, expected):
    assert confused(gold, predicted) == expected


def test_confusion_sees_entities_that_touch_but_do_not_overlap_as_apart():
    assert confused([entity(0, 1)], [entity(2, 2)]) == {("X", "none"): 1, ("none", "X"): 1}


def test_confusion_counts_every_entity_of_the_rows_once_on_random_sets():
    random = np.random.default_rng(3)
    document = make_tokenized_document("d", [tuple("x" * 400)])
    for _ in range(20):
        sets = {}
        for name in ("rows", "columns"):
            starts = np.flatnonzero(random.random(398) < 0.2)
            starts = starts[np.insert(np.diff(starts) > 2, 0, True)]
            lengths = random.integers(1, 3, len(starts))
            kinds = random.choice(["X", "Y", "Z"], len(starts))
            entities = [
                Entity(2 * s, 2 * (s + n) - 1, k)
                for s, n, k in zip(starts.tolist(), lengths.tolist(), kinds, strict=True)
            ]
            sets[name] = {"d": entities}
        table = confusion(pool_entities([document], sets), "rows", "columns")
        expected = pd.Series([e.entity_type for e in sets["rows"]["d"]]).value_counts()
        assert table.drop(index="none").sum(axis=1).to_dict() == expected.to_dict()
        touching = [
            o
            for o in sets["columns"]["d"]
            if any(o.start < e.end and e.start < o.end for e in sets["rows"]["d"])
        ]
        assert table.loc["none"].sum() == len(sets["columns"]["d"]) - len(touching)


# ---- two sets and sentences -----------------------------------------------------------------


def test_changed_entities_join_a_change_of_type_into_one_row():
    before = [A, entity(6, 6, "Y", score=0.25)]
    after = [B, entity(6, 6, "X", score=0.75)]
    table = changed_entities(pool(old=before, new=after), "old", "new")
    assert table[["document", "sentence", "start", "end", "before", "after"]].values.tolist() == [
        ["d", 0, 0, 1, "X", ""],
        ["d", 0, 4, 7, "", "X"],
        ["d", 1, 12, 13, "Y", "X"],
    ]
    assert table["score_before"].tolist()[2] == 0.25
    assert table["score_after"].tolist()[2] == 0.75
    assert table["score_before"].isna().tolist() == [True, True, False]


def test_types_at_returns_types_of_exactly_the_same_stretch():
    pooled = pool(old=[A, B], new=[C], gold=[A, entity(3, 3), entity(6, 6, "X")])
    table = changed_entities(pooled, "old", "new")
    assert types_at(pooled, "gold", table) == ["X", "", "X"]


def test_changed_entities_of_equal_sets_are_none():
    assert changed_entities(pool(old=[A, B], new=[A, B]), "old", "new").empty


@pytest.mark.parametrize(
    "wanted, sentences",
    [
        (Filter(), [0, 1, 2]),
        (Filter(disputed_by=("one", "two")), [0]),
        (Filter(disputed_by=("one", "two", "gold")), [0, 1]),
        (Filter(types=("Y",)), [1]),
        (Filter(marked_by=("one",), missed_by=("two",)), [0]),
        (Filter(marked_by=("gold",)), [0]),
        (Filter(least_score=0.8), [1]),
        (Filter(most_score=0.5), [0]),
        (Filter(types=("Y",), disputed_by=("one", "two")), []),
    ],
    ids=["all", "disputed", "with gold", "type", "only in", "in gold", "sure", "unsure", "both"],
)
def test_matching_sentences_have_one_place_that_meets_all_conditions(wanted, sentences):
    one = [entity(0, 0, score=0.4), B, entity(6, 6, "Y", score=0.9)]
    pooled = pool(one=one, two=[B, C], gold=[B])
    assert matching_sentences(pooled, wanted).tolist() == sentences
