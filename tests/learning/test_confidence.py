from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.learning import confidence as confidence_module
from engine.learning.assembly import make_inputs, make_tagger
from engine.learning.confidence import confidence_schedule, network_confidence
from tests.support.planted import LEARNING, SMALL, Planted

CPU = torch.device("cpu")
FEW = replace(SMALL, confidence_epochs=1)


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def small():
    return Planted(sentence_count=40)


def estimate(planted, settings, labels=None, **options):
    inputs = make_inputs(planted.data, settings, CPU)
    return network_confidence(
        inputs,
        planted.labels if labels is None else labels,
        float(planted.priors[1:].sum()),
        settings,
        lambda classes, seed: make_tagger(inputs, classes, settings, seed, CPU),
        **options,
    )


def test_confidence_is_high_for_labeled_tokens_and_low_for_most_others(planted):
    settings = replace(SMALL, **LEARNING)
    values = estimate(planted, settings).values
    assert values.shape == planted.labels.shape
    assert ((values > 0) & (values < 1)).all()
    assert values[planted.labels > 0].mean() > 0.9
    assert values[planted.gold == 0].mean() < 0.1
    # The purpose: names outside the dictionary rank above other words.
    hidden = (planted.gold > 0) & (planted.labels == 0)
    assert np.median(values[hidden]) > np.quantile(values[planted.gold == 0], 0.95)


def test_confidence_does_not_depend_on_the_type(small):
    swapped = np.array([0, 2, 1], np.int16)[small.labels]
    one = estimate(small, FEW)
    assert np.array_equal(one.values, estimate(small, FEW, labels=swapped).values)


def test_confidence_is_the_same_twice(small):
    settings = replace(FEW, confidence_folds=2)
    one, other = (estimate(small, settings) for _ in range(2))
    assert np.array_equal(one.values, other.values)


def spy_on_fit(monkeypatch):
    """Return a list that gets (sentences trained on, sentences scored) of each tagger."""
    pairs = []
    real_fit, real_predict = confidence_module.fit, confidence_module.predict_probabilities

    def fit(*arguments, only, **options):
        pairs.append([only, None])
        return real_fit(*arguments, only=only, **options)

    def predict(tagger, inputs, *, only):
        pairs[-1][1] = only
        return real_predict(tagger, inputs, only=only)

    monkeypatch.setattr(confidence_module, "fit", fit)
    monkeypatch.setattr(confidence_module, "predict_probabilities", predict)
    return pairs


@pytest.mark.parametrize("folds", [2, 5])
def test_with_folds_a_sentence_is_scored_by_a_tagger_that_has_not_seen_it(
    small, monkeypatch, folds
):
    pairs = spy_on_fit(monkeypatch)
    values = estimate(small, replace(FEW, confidence_folds=folds)).values
    assert len(pairs) == folds
    for trained_on, scored in pairs:
        assert not set(trained_on) & set(scored)
        assert sorted([*trained_on, *scored]) == list(range(len(small.sentences)))
    assert sorted(i for _, scored in pairs for i in scored) == list(range(len(small.sentences)))
    assert ((values > 0) & (values < 1)).all()


def test_with_folds_each_seed_splits_the_sentences_differently(small, monkeypatch):
    pairs = spy_on_fit(monkeypatch)
    confidence = estimate(small, replace(FEW, confidence_folds=2, confidence_seeds=2))
    assert len(pairs) == len(confidence.histories) == 4
    assert set(pairs[0][1]) not in (set(pairs[2][1]), set(pairs[3][1]))


def test_without_folds_all_sentences_are_trained_on_and_scored(small, monkeypatch):
    pairs = spy_on_fit(monkeypatch)
    confidence = estimate(small, FEW)
    assert pairs == [[None, None]]
    assert [[e.number for e in history] for history in confidence.histories] == [[1]]


@pytest.mark.parametrize("folds", [0, 2])
def test_seeds_are_averaged(small, folds):
    settings = replace(FEW, confidence_folds=folds)
    both = estimate(small, replace(settings, confidence_seeds=2)).values
    # Tagger n of seed s is trained with seed s + 1000 (n + 1).
    first, second = (estimate(small, replace(settings, seed=s)).values for s in (0, 1_000))
    assert not np.allclose(first, second)
    np.testing.assert_allclose(both, (first + second) / 2, atol=1e-6)


def test_more_folds_than_sentences_leave_some_folds_empty():
    tiny = Planted(sentence_count=3)
    values = estimate(tiny, replace(FEW, confidence_folds=5)).values
    assert ((values > 0) & (values < 1)).all()


def test_every_epoch_is_reported_and_counted_through_all_taggers(small):
    heard = []
    settings = replace(FEW, confidence_epochs=2, confidence_folds=2)
    estimate(small, settings, on_epoch=heard.append)
    assert [e.number for e in heard] == [1, 2, 3, 4]


def test_a_stopped_estimate_continues_from_its_checkpoints(small, tmp_path):
    settings = replace(FEW, confidence_epochs=2, confidence_folds=2)
    straight = estimate(small, settings)
    first, second = [], []
    options = {"checkpoint": tmp_path / "checkpoint.safetensors"}
    estimate(small, settings, **options, on_epoch=first.append, should_stop=lambda: len(first) == 3)
    resumed = estimate(small, settings, **options, on_epoch=second.append)
    assert [[e.number for e in heard] for heard in (first, second)] == [[1, 2, 3], [4]]
    assert np.array_equal(resumed.values, straight.values)


def test_stop_ends_the_training_of_all_taggers(small):
    settings = replace(FEW, confidence_folds=3)
    confidence = estimate(small, settings, should_stop=lambda: True)
    assert confidence.histories == ((), (), ())


def test_confidence_tagger_has_its_own_schedule():
    settings = replace(SMALL, confidence_epochs=7, confidence_learning_rate=0.02, batch_size=9)
    schedule = confidence_schedule(settings, seed=4)
    assert (schedule.epochs, schedule.learning_rate) == (7, 0.02)
    assert (schedule.batch_size, schedule.seed) == (9, 4)
