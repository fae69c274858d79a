import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.learning.risk import (
    conf_mpu_risk,
    mpn_risk,
    mpu_risk,
    supervised_risk,
    token_losses,
    with_known_negatives,
)

TAU = 0.5


def slow_loss(row, target, loss):
    one_hot = [1.0 if i == target else 0.0 for i in range(len(row))]
    if loss == "mae":
        return sum(abs(y - p) for y, p in zip(one_hot, row, strict=True)) / len(row)
    p = max(row[target], 1e-7)
    return -math.log(p) if loss == "cross_entropy" else (1 - p**0.7) / 0.7


def mean(values):
    return sum(values) / len(values) if values else 0.0


def slow_positive(rows, labels, priors, loss):
    total = 0.0
    for i in range(1, len(priors)):
        of_type = [row for row, y in zip(rows, labels, strict=True) if y == i]
        total += priors[i] * mean([slow_loss(row, i, loss) for row in of_type])
    return total


def slow_mpn(rows, labels, priors, gamma, loss):
    unlabeled = [row for row, y in zip(rows, labels, strict=True) if y == 0]
    negative = (1 - sum(priors[1:])) * mean([slow_loss(row, 0, loss) for row in unlabeled])
    return gamma * slow_positive(rows, labels, priors, loss) + negative


def slow_mpu(rows, labels, priors, gamma, loss, one_sample):
    unlabeled = [row for row, y in zip(rows, labels, strict=True) if y == 0 or one_sample]
    negative = mean([slow_loss(row, 0, loss) for row in unlabeled])
    for i in range(1, len(priors)):
        of_type = [row for row, y in zip(rows, labels, strict=True) if y == i]
        negative -= priors[i] * mean([slow_loss(row, 0, loss) for row in of_type])
    return gamma * slow_positive(rows, labels, priors, loss) + max(0.0, negative)


def slow_conf_mpu(rows, labels, priors, gamma, loss, confidence):
    total = 0.0
    for i in range(1, len(priors)):
        terms = []
        for row, y, c in zip(rows, labels, confidence, strict=True):
            if y == i:
                likely = slow_loss(row, 0, loss) / c if c > TAU else 0.0
                terms.append(max(0.0, slow_loss(row, i, loss) + likely - slow_loss(row, 0, loss)))
        total += gamma * priors[i] * mean(terms)
    unlabeled = [
        slow_loss(row, 0, loss) if c <= TAU else 0.0
        for row, y, c in zip(rows, labels, confidence, strict=True)
        if y == 0
    ]
    return total + mean(unlabeled)


@st.composite
def batches(draw):
    """Tokens of up to three types, some absent, down to a single token or none labeled."""
    size, types = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    logits = 3 * torch.randn(size, types + 1, generator=generator, dtype=torch.float64)
    labels = torch.tensor(draw(st.lists(st.integers(0, types), min_size=size, max_size=size)))
    shares = torch.rand(types, generator=generator, dtype=torch.float64)
    priors = torch.cat([torch.zeros(1, dtype=torch.float64), 0.8 * shares / types])
    confidence = torch.rand(size, generator=generator, dtype=torch.float64).clamp(min=0.01)
    return logits, labels, priors, confidence


LOSS = st.sampled_from(["mae", "cross_entropy", "gce"])
GAMMA = st.sampled_from([1.0, 28.0])


@given(batches(), LOSS, GAMMA)
def test_mpn_equals_the_slow_loop(batch, loss, gamma):
    logits, labels, priors, _ = batch
    probs = logits.softmax(1)
    fast = mpn_risk(probs, labels, priors, entity_weight=gamma, loss=loss).objective
    slow = slow_mpn(probs.tolist(), labels.tolist(), priors.tolist(), gamma, loss)
    assert fast.item() == pytest.approx(slow, abs=1e-9)


@given(batches(), LOSS, GAMMA, st.booleans())
def test_mpu_equals_the_slow_loop(batch, loss, gamma, one_sample):
    logits, labels, priors, _ = batch
    probs = logits.softmax(1)
    fast = mpu_risk(
        probs, labels, priors, entity_weight=gamma, loss=loss, is_one_sample=one_sample
    ).objective
    slow = slow_mpu(probs.tolist(), labels.tolist(), priors.tolist(), gamma, loss, one_sample)
    assert fast.item() == pytest.approx(slow, abs=1e-9)


@given(batches(), LOSS, GAMMA)
def test_conf_mpu_equals_the_slow_loop(batch, loss, gamma):
    logits, labels, priors, confidence = batch
    probs = logits.softmax(1)
    fast = conf_mpu_risk(
        probs,
        labels,
        priors,
        confidence=confidence,
        confidence_threshold=TAU,
        entity_weight=gamma,
        loss=loss,
    ).objective
    rows = probs.tolist(), labels.tolist(), priors.tolist()
    assert fast.item() == pytest.approx(
        slow_conf_mpu(*rows, gamma, loss, confidence.tolist()), abs=1e-9
    )


def all_risks(probs, labels, priors, confidence, loss="mae"):
    options = {"entity_weight": 3.0, "loss": loss}
    return [
        mpn_risk(probs, labels, priors, **options),
        mpu_risk(probs, labels, priors, **options),
        mpu_risk(probs, labels, priors, **options, bound="ascend"),
        conf_mpu_risk(
            probs, labels, priors, confidence=confidence, confidence_threshold=TAU, **options
        ),
    ]


@given(batches(), LOSS)
def test_gradients_are_finite(batch, loss):
    logits, labels, priors, confidence = batch
    for k in range(4):
        leaf = logits.clone().requires_grad_()
        risk = all_risks(leaf.softmax(1), labels, priors, confidence, loss)[k]
        risk.objective.backward()
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()


@given(batches(), st.randoms())
def test_order_of_tokens_does_not_matter(batch, random):
    logits, labels, priors, confidence = batch
    order = list(range(len(labels)))
    random.shuffle(order)
    probs = logits.softmax(1)
    before = all_risks(probs, labels, priors, confidence)
    after = all_risks(probs[order], labels[order], priors, confidence[order])
    for a, b in zip(before, after, strict=True):
        assert a.objective.item() == pytest.approx(b.objective.item(), abs=1e-12)


def test_mpu_risk_matches_hand_computation():
    probs = torch.tensor([[0.6, 0.4], [0.3, 0.7]])
    labels = torch.tensor([0, 1])
    # P: 0.2 * 0.3 = 0.06      U: 0.4      P as negative: 0.2 * 0.7 = 0.14
    risk = mpu_risk(probs, labels, torch.tensor([0.8, 0.2]), entity_weight=1.0)
    assert risk.objective.item() == pytest.approx(0.06 + (0.4 - 0.14))


def test_mpu_bound_acts_when_the_unlabeled_look_clean():
    probs = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    labels, priors = torch.tensor([0, 1]), torch.tensor([0.5, 0.5])
    clamped = mpu_risk(probs, labels, priors, entity_weight=1.0)
    ascending = mpu_risk(probs, labels, priors, entity_weight=1.0, bound="ascend")
    # negative part: 0 - 0.5 * 1 = -0.5
    assert (clamped.objective.item(), clamped.bounded.item()) == (0.0, 1.0)
    assert ascending.objective.item() == pytest.approx(0.5)


def test_conf_mpu_ignores_unlabeled_tokens_that_are_likely_entities():
    probs = torch.tensor([[0.1, 0.9], [0.9, 0.1]])
    risk = conf_mpu_risk(
        probs,
        torch.tensor([0, 0]),
        torch.tensor([0.8, 0.2]),
        confidence=torch.tensor([0.9, 0.1]),
        confidence_threshold=0.5,
        entity_weight=1.0,
    )
    # the first is left out but still counted in n_U: (0 + 0.1) / 2
    assert risk.objective.item() == pytest.approx(0.05)


def test_conf_mpu_with_certain_confidence_is_mpn_on_the_tokens_it_keeps():
    probs = torch.tensor([[0.7, 0.3], [0.2, 0.8]])
    labels, priors = torch.tensor([0, 1]), torch.tensor([0.8, 0.2])
    conf = conf_mpu_risk(
        probs,
        labels,
        priors,
        confidence=torch.tensor([0.0, 1.0]),
        confidence_threshold=0.5,
        entity_weight=2.0,
    )
    mpn = mpn_risk(probs, labels, priors, entity_weight=2.0)
    assert conf.positive.item() == pytest.approx(mpn.positive.item())
    assert conf.negative.item() == pytest.approx(0.3)


def test_mae_is_bounded_by_two_over_the_number_of_classes():
    probs = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert token_losses(probs, 0).tolist() == pytest.approx([2 / 3, 0.0])


def test_supervised_risk_is_the_mean_cross_entropy():
    probs = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    risk = supervised_risk(probs, torch.tensor([0, 1]))
    assert risk.objective.item() == pytest.approx(-(math.log(0.5) + math.log(0.75)) / 2)


def test_unknown_loss_is_refused():
    with pytest.raises(ValueError, match="loss must be one of"):
        token_losses(torch.ones(1, 2), 0, "hinge")


def test_a_known_negative_adds_its_weighted_loss():
    probs = torch.tensor([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], dtype=torch.float64)
    labels = torch.tensor([1, 0, 0])
    priors = torch.tensor([0.8, 0.2], dtype=torch.float64)
    risk = mpn_risk(probs, labels, priors, entity_weight=5.0)
    is_negative = torch.tensor([False, True, False])
    corrected = with_known_negatives(risk, probs, labels, is_negative, weight=3.0, loss="mae")
    extra = 3.0 * (2 * (1 - 0.5) / 2) / 2  # the loss of one token, over two unlabeled ones
    assert float(corrected.objective - risk.objective) == pytest.approx(extra)
    assert float(corrected.positive) == pytest.approx(float(risk.positive))
