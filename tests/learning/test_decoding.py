import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.learning.decoding import (
    Prediction,
    joined_classes,
    matching_odds,
    predicted_entities,
    predictions,
    weigh,
)
from engine.text.model import Entity, Span
from engine.text.tokenization import make_tokenized_document

TYPES = ("Drug", "Disease")


def rows(*values):
    return np.array(values, dtype=np.float32)


@st.composite
def probabilities(draw, most_types=4):
    """Rows of a softmax, from flat to almost certain ones."""
    random = np.random.default_rng(draw(st.integers(0, 100_000)))
    logits = random.normal(size=(draw(st.integers(1, 300)), draw(st.integers(2, most_types + 1))))
    exponents = np.exp(draw(st.sampled_from([0.3, 1.0, 4.0])) * logits)
    return (exponents / exponents.sum(axis=1, keepdims=True)).astype(np.float32)


def test_predictions_are_runs_of_one_class_with_the_mean_of_its_probabilities():
    probs = rows(
        [0.8, 0.1, 0.1],
        [0.1, 0.6, 0.3],
        [0.1, 0.8, 0.1],
        [0.2, 0.1, 0.7],
        [0.0, 0.1, 0.9],
    )
    by_sentence = predictions(probs, np.array([0, 4, 5]), TYPES)
    assert [[p.span for p in sentence] for sentence in by_sentence] == [
        [Span(1, 3, "Drug"), Span(3, 4, "Disease")],
        [Span(0, 1, "Disease")],
    ]
    # Drug: (0.6 + 0.8) / 2
    assert [p.score for sentence in by_sentence for p in sentence] == pytest.approx([0.7, 0.7, 0.9])


def test_predictions_do_not_cross_sentence_ends():
    probs = rows([0.1, 0.9], [0.1, 0.9], [0.1, 0.9])
    by_sentence = predictions(probs, np.array([0, 2, 2, 3]), ["Drug"])
    assert [[p.span for p in sentence] for sentence in by_sentence] == [
        [Span(0, 2, "Drug")],
        [],
        [Span(0, 1, "Drug")],
    ]


def spans(probs, bounds, joining):
    by_sentence = predictions(probs, np.array(bounds), TYPES, joining=joining)
    return [[p.span for p in sentence] for sentence in by_sentence]


def test_a_token_beside_an_entity_joins_it_if_its_type_is_likely_enough():
    # "acute renal pain was": the name is growing from its last word to the left.
    probs = rows([0.7, 0.0, 0.3], [0.6, 0.0, 0.4], [0.2, 0.0, 0.8], [0.85, 0.0, 0.15])
    assert spans(probs, [0, 4], 0.5) == [[Span(2, 3, "Disease")]]
    assert spans(probs, [0, 4], 0.35) == [[Span(1, 3, "Disease")]]
    assert spans(probs, [0, 4], 0.2) == [[Span(0, 3, "Disease")]]
    assert spans(probs, [0, 4], 0.1) == [[Span(0, 4, "Disease")]]


def test_only_the_type_of_the_entity_counts_and_entities_stay_as_they_are():
    probs = rows([0.6, 0.4, 0.0], [0.2, 0.0, 0.8], [0.1, 0.5, 0.4])
    assert spans(probs, [0, 3], 0.2) == [[Span(1, 2, "Disease"), Span(2, 3, "Drug")]]


def test_nothing_joins_an_entity_of_another_sentence():
    probs = rows([0.2, 0.8, 0.0], [0.7, 0.3, 0.0], [0.3, 0.7, 0.0])
    assert spans(probs, [0, 1, 2, 3], 0.2) == [[Span(0, 1, "Drug")], [], [Span(0, 1, "Drug")]]
    assert spans(probs, [0, 3, 3], 0.2) == [[Span(0, 3, "Drug")], []]


@given(probabilities(), st.sampled_from([0.05, 0.2, 0.4]))
def test_joining_only_adds_tokens_to_entities(probs, joining):
    bounds = np.array([0, len(probs) // 2, len(probs)])
    classes, joined = probs.argmax(axis=1), joined_classes(probs, bounds, joining)
    assert (joined[classes > 0] == classes[classes > 0]).all()
    added = np.flatnonzero((classes == 0) & (joined > 0))
    assert (probs[added, joined[added]] > joining).all()
    for token in added:  # each has a neighbour of its class in its own sentence
        near = [i for i in (token - 1, token + 1) if 0 <= i < len(probs)]
        inside = [i for i in near if (i < bounds[1]) == (token < bounds[1])]
        assert joined[token] in joined[inside]


def test_no_tokens_give_no_predictions():
    assert predictions(np.zeros((0, 3), np.float32), np.array([0, 0]), TYPES) == [[]]


@given(probabilities())
def test_predictions_cover_the_tokens_whose_best_class_is_an_entity(probs):
    types = [f"T{i}" for i in range(1, probs.shape[1])]
    bounds = np.array([0, len(probs) // 2, len(probs)])
    covered = np.zeros(len(probs), int)
    for first, sentence in zip(bounds, predictions(probs, bounds, types), strict=False):
        for prediction in sentence:
            span = prediction.span
            covered[first + span.start : first + span.end] = types.index(span.entity_type) + 1
            assert 1 / probs.shape[1] <= prediction.score <= 1 + 1e-6
    assert covered.tolist() == probs.argmax(axis=1).tolist()


def test_predicted_entities_have_offsets_in_the_document_and_the_score():
    document = make_tokenized_document("d1", [["Take", "beta", "blockers"], ["Rest"]])
    by_sentence = [[Prediction(Span(1, 3, "Drug"), 0.75)], []]
    (entity,) = predicted_entities(document, by_sentence, "mpu", "mpu-seed0")
    assert entity == Entity(5, 18, "Drug", score=0.75, method="mpu", run_id="mpu-seed0")
    assert document.text[5:18] == "beta blockers"


# ---- odds -----------------------------------------------------------------------------------


@given(probabilities(), st.floats(0.01, 0.9))
def test_matching_odds_make_the_predicted_share_that_of_the_prior(probs, prior):
    weighed = weigh(probs, matching_odds(probs, prior))
    predicted = int((weighed.argmax(axis=1) > 0).sum())
    assert abs(predicted - prior * len(probs)) <= 1


def test_matching_odds_by_hand():
    # entity against non-entity: 9, 1, 1/4, 1/9; half of the tokens lie above the median, 0.625
    probs = rows([0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [0.9, 0.1])
    assert matching_odds(probs, 0.5) == pytest.approx(0.625)
    assert weigh(probs, 0.625).argmax(axis=1).tolist() == [1, 1, 0, 0]


def test_matching_odds_are_finite_when_a_tagger_is_certain():
    assert matching_odds(rows([0, 1], [0, 1]), 0.5) == 1e6
    assert matching_odds(rows([1, 0], [1, 0]), 0.5) == pytest.approx(1e-6)


def test_matching_odds_of_no_token_change_nothing():
    assert matching_odds(np.zeros((0, 3), np.float32), 0.1) == 1.0


@given(probabilities(), st.floats(1e-3, 1e3))
def test_weigh_keeps_rows_that_sum_to_one_and_the_order_of_types(probs, odds):
    weighed = weigh(probs, odds)
    np.testing.assert_allclose(weighed.sum(axis=1), 1, atol=1e-5)
    assert (weighed[:, 1:].argmax(axis=1) == probs[:, 1:].argmax(axis=1)).all()
    change = weighed[:, 0] - probs[:, 0]
    assert (change >= -1e-6 if odds >= 1 else change <= 1e-6).all()


@given(probabilities())
def test_weigh_with_odds_of_one_is_the_identity(probs):
    assert weigh(probs, 1.0).tolist() == probs.tolist()


def test_weigh_does_not_change_its_argument():
    probs = rows([0.5, 0.5])
    assert weigh(probs, 3.0).tolist() == [[0.75, 0.25]]
    assert probs.tolist() == [[0.5, 0.5]]
