from dataclasses import replace

import numpy as np
import pytest
import torch

from engine import experiment
from engine.experiment import run
from engine.learning import linear as module
from engine.learning.assembly import make_inputs
from engine.learning.linear import (
    fold_scores,
    likely_share,
    linear_confidence,
    linear_types,
    number_words,
)
from engine.network import TokenFeatures
from engine.planning import LINEAR_ROUNDS, METHODS
from tests.support.planted import SMALL, Planted

CPU = torch.device("cpu")
LINEAR = replace(SMALL, confidence_model="linear")


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def small():
    return Planted(sentence_count=40)


def estimate(planted, settings=LINEAR, prior=None, **options):
    inputs = make_inputs(planted.data, settings, CPU)
    prior = float(planted.priors[1:].sum()) if prior is None else prior
    return linear_confidence(planted.sentences, inputs, planted.labels, prior, settings, **options)


def test_names_that_no_dictionary_holds_rank_above_other_words(planted):
    values = estimate(planted).values
    is_hidden = (planted.gold > 0) & (planted.labels == 0)
    is_plain = planted.gold == 0
    assert np.median(values[is_hidden]) > np.quantile(values[is_plain], 0.8)


def test_as_many_unlabeled_tokens_are_likely_as_the_prior_says(planted):
    is_open = planted.labels == 0
    share = likely_share(planted.labels, 0.25)
    for factor in (0.5, 1.0, 1.3):
        settings = replace(LINEAR, confidence_share=factor, confidence_threshold=0.4)
        values = estimate(planted, settings, prior=0.25).values
        assert (values[is_open] > 0.4).sum() == round(factor * share * is_open.sum())
        assert ((values > 0) & (values < 1)).all()


def test_a_prior_below_the_labeled_share_makes_no_token_likely(small):
    values = estimate(small, prior=0.0).values
    assert (values[small.labels == 0] <= LINEAR.confidence_threshold).all()
    assert (values[small.labels > 0] > 0.99).all()


def test_what_a_person_rejected_is_never_likely(small):
    is_rejected = np.zeros(len(small.labels), bool)
    is_rejected[np.flatnonzero((small.gold > 0) & (small.labels == 0))[:10]] = True
    values = estimate(small, known_negatives=is_rejected).values
    assert values[is_rejected].max() < 0.01


def test_types_of_words_that_the_model_has_not_seen_are_guessed(planted):
    inputs = make_inputs(planted.data, LINEAR, CPU)
    guess = linear_types(planted.sentences, inputs, planted.labels, 2, LINEAR)
    is_hidden = (planted.gold > 0) & (planted.labels == 0)
    is_right = guess.types == planted.gold
    assert is_right[is_hidden].mean() > 0.75
    wide = is_hidden & (guess.margins > np.median(guess.margins[is_hidden]))
    assert is_right[wide].mean() >= is_right[is_hidden].mean()
    assert set(guess.types) == {1, 2}


def test_a_single_type_is_always_guessed(small):
    inputs = make_inputs(small.data, LINEAR, CPU)
    labels = np.minimum(small.labels, 1)
    guess = linear_types(small.sentences, inputs, labels, 1, LINEAR)
    assert set(guess.types) == {1}


def test_rounds_are_reported_as_the_method_counts_them(small):
    heard = []
    confidence = estimate(small, on_epoch=heard.append)
    assert [epoch.number for epoch in heard] == list(range(1, LINEAR_ROUNDS + 1))
    assert confidence.histories == (tuple(heard),)
    assert METHODS["conf_mpu"].epochs(LINEAR)["confidence"] == LINEAR_ROUNDS
    # Leaving likely entities out of the negatives lets the fit come closer to the labels.
    assert heard[-1].risk < heard[0].risk


def test_it_stops_between_rounds(small):
    heard = []
    estimate(small, on_epoch=heard.append, should_stop=lambda: len(heard) == 2)
    assert len(heard) == 2


def test_it_is_the_same_twice_and_differs_by_seed(small):
    one, same, other = (estimate(small, replace(LINEAR, seed=seed)).values for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_fold_scores_equal_a_model_fitted_without_the_fold(small):
    features = TokenFeatures(make_inputs(small.data, LINEAR, CPU), 0)
    rows = torch.cat([part for _, part in features.rows()]).double().numpy()
    random = np.random.default_rng(0)
    folds = random.integers(0, 10, len(rows))
    weights = random.random(len(rows)).astype(np.float32)
    weights[random.random(len(rows)) < 0.2] = 0
    targets = random.random((len(rows), 2)).astype(np.float32)
    scores = fold_scores(features, folds, weights, torch.from_numpy(targets))
    for fold in range(10):
        others = folds != fold
        weighted = rows[others] * weights[others, None]
        gram = weighted.T @ rows[others] + module._RIDGE * np.eye(features.size)
        model = np.linalg.solve(gram, weighted.T @ targets[others])
        assert scores[~others] == pytest.approx(rows[~others] @ model, abs=2e-3)


def test_a_token_is_scored_without_its_word_in_any_case(small, monkeypatch):
    seen = []
    monkeypatch.setattr(
        module,
        "fold_scores",
        lambda features, folds, *rest: seen.append(folds) or fold_scores(features, folds, *rest),
    )
    sentences = [[t.upper() if i % 2 else t for t in s] for i, s in enumerate(small.sentences)]
    shouted = replace(small.data, sentences=sentences)
    inputs = make_inputs(shouted, LINEAR, CPU)
    linear_confidence(sentences, inputs, small.labels, 0.3, LINEAR)
    words = number_words(small.sentences, is_folded=False)
    assert len(seen) == LINEAR_ROUNDS
    for folds in seen:
        assert all(len(set(folds[words == word])) == 1 for word in range(words.max() + 1))
    assert not np.array_equal(seen[0], seen[1])  # new folds every round


def test_tokens_of_one_spelling_share_half_their_score():
    scores = np.array([1.0, 0.0, 4.0, 2.0], np.float32)
    is_open = np.array([True, True, False, True])
    shared = module._shared_by_surface(scores, np.array([0, 0, 0, 1]), is_open)
    assert shared.tolist() == [0.75, 0.25, 4.0, 2.0]


@pytest.mark.parametrize(
    ("labels", "prior", "share"), [([], 0.0, 0), ([1, 1], 0.5, 0), ([1, 0], 0.4, 0)]
)
def test_the_likely_share_is_never_negative(labels, prior, share):
    assert likely_share(np.array(labels, np.int16), prior) == share


def test_conf_mpu_takes_it_instead_of_the_network(small, monkeypatch):
    monkeypatch.setattr(experiment, "network_confidence", None)
    trained = run(small.data, small.priors, LINEAR)
    assert np.array_equal(
        trained.confidence.values, estimate(small, prior=trained.priors[1:].sum()).values
    )
    assert len(trained.confidence.histories[0]) == LINEAR_ROUNDS
