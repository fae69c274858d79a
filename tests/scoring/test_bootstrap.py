import numpy as np
import pytest

from engine.dictionaries.reading import read_dictionaries
from engine.files.sources import read_source
from engine.formats.alignment import align
from engine.formats.reading import read_corpus
from engine.labels.distant import dictionary_entities, label
from engine.scoring.bootstrap import (
    ALL_TYPES,
    MACRO,
    count_by_unit,
    difference,
    interval,
    resample,
    score_pool,
    score_table,
    shares,
)
from engine.scoring.metrics import evaluate_documents
from engine.scoring.pool import on_tokens, pool_entities
from engine.text.model import Entity
from engine.text.tokenization import make_tokenized_document
from tests.support.counting import count_calls

X, Y = Entity(0, 1, "X"), Entity(2, 3, "Y")


def documents(count):
    return [make_tokenized_document(f"d{i}", [("a", "b"), ("c",)]) for i in range(count)]


def scored(gold, count=40, **sets):
    texts = documents(count)
    pooled = pool_entities(texts, {"gold": gold, **sets})
    bounds = np.cumsum([0, *(len(document.sentences) for document in texts)])
    return score_pool(pooled, "gold", gold, sentences_by_document=bounds)


def test_count_by_unit_counts_correct_predicted_and_gold_by_type():
    pooled = pool_entities(documents(2), {"gold": {"d0": [X, Y]}, "m": {"d0": [X], "d1": [Y]}})
    counts = count_by_unit(pooled, "gold", pooled.places["document"].to_numpy(), 2)
    # (documents, one set, X and Y and all, [correct, predicted, gold])
    assert counts.tolist() == [
        [[[1, 1, 1], [0, 0, 1], [1, 1, 2]]],
        [[[0, 0, 0], [0, 1, 0], [0, 1, 0]]],
    ]


def test_shares_match_hand_computation_and_are_unknown_where_nothing_counts():
    rows = shares(np.array([[3.0, 4.0, 6.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    assert rows[0].tolist() == [0.75, 0.5, 0.6]
    assert np.isnan(rows[1, 0]) and rows[1, 1:].tolist() == [0, 0]
    assert np.isnan(rows[2]).all()


def test_resample_draws_as_many_units_and_is_the_same_for_the_same_seed():
    counts = np.stack([np.ones(7), np.arange(7)], axis=1)
    first, again = resample(counts, resamples=50, seed=1), resample(counts, resamples=50, seed=1)
    assert (first[:, 0] == 7).all()
    assert (first == again).all() and len(np.unique(first[:, 1])) > 5
    assert (first != resample(counts, resamples=50, seed=2)).any()


def test_resampling_in_pieces_gives_the_same_as_in_one(monkeypatch):
    counts = np.arange(12.0).reshape(6, 2)
    whole = resample(counts, resamples=10)
    monkeypatch.setattr("engine.scoring.bootstrap._AT_ONCE", 18)  # three resamples at a time
    assert (resample(counts, resamples=10) == whole).all()


def test_resample_of_no_units_is_zero():
    assert resample(np.zeros((0, 2, 3)), resamples=4).tolist() == np.zeros((4, 2, 3)).tolist()


def test_interval_of_a_mean_is_the_one_that_theory_gives():
    values = np.random.default_rng(0).normal(5, 2, 400)
    counts = np.stack([values, np.ones(400)], axis=1)
    sums = resample(counts, resamples=2_000)
    low, high = interval(sums[:, 0] / sums[:, 1])
    # 1.96 standard errors of the mean on each side; the resampling error is a few percent.
    half = 1.96 * values.std() / np.sqrt(400)
    assert (high - low) / 2 == pytest.approx(half, rel=0.08)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.02)


def test_interval_ignores_unknown_samples_and_is_unknown_without_any():
    samples = np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, np.nan]])
    low, high = interval(samples)
    assert (low[0], high[0]) == (1, 1) and np.isnan(low[1]) and np.isnan(high[1])


def test_scores_count_annotated_documents_only():
    gold = {"d0": [X], "d1": []}
    result = scored(gold, m={"d0": [X], "d1": [Y], "d2": [X]})
    row = score_table(result).set_index("entity_type").loc[ALL_TYPES]
    assert (row["correct"], row["predicted"], row["gold"]) == (1, 2, 1)
    assert (result.documents, result.unit, result.units) == (2, "sentence", 4)


def test_documents_are_drawn_when_there_are_enough():
    result = scored({f"d{i}": [X] for i in range(40)}, m={})
    assert (result.unit, result.units) == ("document", 40)


def test_a_perfect_set_has_an_interval_without_width():
    gold = {f"d{i}": [X, Y] for i in range(40)}
    table = score_table(scored(gold, m=gold)).set_index("entity_type")
    for share in ("precision", "recall", "f1"):
        assert table[[share, f"{share}_low", f"{share}_high"]].to_numpy().tolist() == [[1] * 3] * 4


def test_the_mean_of_types_counts_a_type_without_predictions_as_zero():
    gold = {f"d{i}": [X, Y] for i in range(40)}
    only_x = {id: [X] for id in gold}
    row = score_table(scored(gold, m=only_x)).set_index("entity_type").loc[MACRO]
    assert (row["precision"], row["recall"], row["f1"]) == (0.5, 0.5, 0.5)


def test_scores_without_any_gold_entity_are_unknown():
    table = score_table(scored({"d0": []}, m={}))
    assert table[["precision", "recall", "f1"]].isna().all().all()


def test_difference_is_judged_on_the_same_draws():
    gold = {f"d{i}": [X, Y] for i in range(40)}
    half = {id: [X] for id in gold}
    table = difference(scored(gold, old=half, new=gold), "old", "new").set_index("share")
    # Everything is found instead of half of it, in each document alike: no draw changes that.
    assert table.loc["recall"].tolist() == [0.5, 1, 0.5, 0.5, 0.5, 1]
    assert table.loc["precision", "difference"] == table.loc["precision", "better"] == 0


@pytest.fixture(scope="module")
def sample():
    corpus = read_corpus([read_source("sample_data/train.jsonl")])
    names = ("Chemical", "Disease")
    files = [read_source(f"sample_data/dictionary/{name}.txt") for name in names]
    gold = align(corpus.documents, read_corpus([read_source("sample_data/gold.csv")])).entities
    labels = label(corpus.documents, read_dictionaries(files))
    return corpus, gold, dictionary_entities(labels, corpus.documents)


def test_scores_of_the_sample_are_those_of_the_metrics(sample):
    corpus, gold, matched = sample
    sets = {"gold": on_tokens(corpus.documents, gold), "dictionary": matched}
    pooled = pool_entities(corpus.documents, sets)
    bounds = np.cumsum([0, *(len(document.sentences) for document in corpus.documents)])
    result = score_pool(pooled, "gold", gold, sentences_by_document=bounds, resamples=1_000)
    table = score_table(result).set_index("entity_type")
    evaluation = evaluate_documents(corpus.documents, gold, matched)
    for name, scores in {**evaluation.by_type, ALL_TYPES: evaluation.overall}.items():
        row = table.loc[name]
        assert (row["correct"], row["predicted"], row["gold"]) == (
            scores.correct,
            scores.predicted,
            scores.support,
        )
        assert (row["precision"], row["f1"]) == (scores.precision, scores.f1)
        assert row["f1_low"] < row["f1"] < row["f1_high"] < row["f1_low"] + 0.1


def test_ten_times_the_resamples_take_no_more_calls():
    counts = np.arange(12.0).reshape(6, 2)
    calls = [count_calls(resample, counts, resamples=size) for size in (100, 1_000)]
    assert calls[0] == calls[1]  # arrays grow; no loop goes over the resamples
