import numpy as np
import pytest

from engine.scoring.calibration import calibration_error, reliability, score_histogram, scored_names
from engine.scoring.pool import pool_entities
from engine.text.model import Entity
from engine.text.tokenization import make_tokenized_document

DOCUMENT = make_tokenized_document("d", [tuple("abcdefghij")])


def entities(*scores):
    return [Entity(2 * i, 2 * i + 1, "X", score=score) for i, score in enumerate(scores)]


def pool(**sets):
    return pool_entities([DOCUMENT], {name: {"d": entities} for name, entities in sets.items()})


# Scores 0.05, 0.9, 0.95 and 1; the second and the last are in the gold.
SCORED = entities(0.05, 0.9, 0.95, 1.0)
GOLD = [SCORED[1], SCORED[3]]
POOL = pool(gold=[Entity(e.start, e.end, "X") for e in GOLD], mpu=SCORED, mpn=[])


def test_only_sets_with_scores_are_used():
    assert scored_names(POOL) == ["mpu"]
    assert scored_names(pool(gold=[])) == []


def test_histogram_counts_all_scores_one_included():
    table = score_histogram(POOL, "gold", bins=2)
    assert table[["name", "low", "high", "entities", "correct"]].values.tolist() == [
        ["mpu", 0.0, 0.5, 1, 0.0],
        ["mpu", 0.5, 1.0, 3, 2.0],
    ]


def test_histogram_without_gold_does_not_say_what_is_right():
    table = score_histogram(POOL, bins=4)
    assert table["entities"].tolist() == [1, 0, 0, 3]
    assert table["correct"].isna().all()


def test_reliability_sets_the_mean_score_beside_precision():
    table = reliability(POOL, "gold", bins=10)
    assert table["low"].tolist() == [0.0, 0.9]
    assert table["entities"].tolist() == [1, 3]
    assert table["mean_score"].tolist() == pytest.approx([0.05, 0.95])
    assert table["precision"].tolist() == [0, 2 / 3]
    assert (table["precision_low"] <= table["precision"]).all()
    assert (table["precision"] <= table["precision_high"]).all()


def test_calibration_error_is_the_mean_gap_weighted_by_entities():
    # (1 * |0.05 - 0| + 3 * |0.95 - 0.6667|) / 4
    error = calibration_error(reliability(POOL, "gold", bins=10))
    assert error == {"mpu": pytest.approx((0.05 + 3 * (0.95 - 2 / 3)) / 4)}


def test_nothing_scored_gives_empty_tables():
    empty = pool(gold=GOLD and [], mpu=[])
    assert score_histogram(empty, "gold").empty and reliability(empty, "gold").empty
    assert calibration_error(reliability(empty, "gold")) == {}
    assert np.isnan(POOL.scores[:, 0]).all()
