"""AutoNER against slow loops that follow its description token by token."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.learning.autoner import (
    NO_TARGET,
    autoner_risk,
    chunk_probabilities,
    first_tokens,
    make_targets,
    unknown_tokens,
)

TYPES = 2
CPU = torch.device("cpu")


@st.composite
def corpora(draw):
    """Sentences of labels and flags, and logits for all of their tokens."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    total = sum(sizes)
    labels = draw(st.lists(st.integers(0, TYPES), min_size=total, max_size=total))
    flags = draw(st.lists(st.booleans(), min_size=total, max_size=total))
    unknown = [flag and label == 0 for flag, label in zip(flags, labels, strict=True)]
    seed = draw(st.integers(0, 10_000))
    logits = torch.randn(total, TYPES + 2, generator=torch.Generator().manual_seed(seed))
    bounds = np.cumsum([0, *sizes])
    return np.array(labels, np.int16), np.array(unknown, bool), bounds, logits


def slow_chunks(labels, bounds):
    """The chunks of the targets: matches of one type, and every other token by itself."""
    chunks = []
    for first, last in pairwise(bounds):
        for token in range(first, last):
            tied = token > first and labels[token] and labels[token] == labels[token - 1]
            if tied:
                chunks[-1].append(token)
            else:
                chunks.append([token])
    return chunks


def slow_risk(labels, unknown, bounds, logits):
    ties = []
    for first, last in pairwise(bounds):
        for token in range(first + 1, last):
            if unknown[token] or unknown[token - 1]:
                continue
            tied = labels[token] > 0 and labels[token] == labels[token - 1]
            p = 1 / (1 + math.exp(-float(logits[token, -1])))
            ties.append(-math.log(p if tied else 1 - p))
    typed = []
    for chunk in slow_chunks(labels, bounds):
        if unknown[chunk[0]]:
            continue
        mean = [sum(float(logits[t, c]) for t in chunk) / len(chunk) for c in range(TYPES + 1)]
        norm = math.log(sum(math.exp(value) for value in mean))
        typed.append(norm - mean[labels[chunk[0]]])
    return sum(ties) / max(len(ties), 1) + sum(typed) / max(len(typed), 1)


def shuffled(bounds, seed=0):
    """All tokens of whole sentences, in the order of a packed batch."""
    return torch.randperm(int(bounds[-1]), generator=torch.Generator().manual_seed(seed))


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_risk_equals_a_slow_loop_whatever_the_order_of_rows(corpus):
    labels, unknown, bounds, logits = corpus
    targets = make_targets(labels, bounds, unknown, CPU)
    rows = shuffled(bounds)
    risk = autoner_risk(logits[rows], rows, targets)
    expected = slow_risk(labels, unknown, bounds, logits)
    assert risk.objective.item() == pytest.approx(expected, rel=1e-4, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_probabilities_equal_a_slow_loop_over_the_predicted_chunks(corpus):
    _, _, bounds, logits = corpus
    rows = shuffled(bounds)
    is_first = torch.from_numpy(first_tokens(bounds))
    probs = chunk_probabilities(logits[rows], rows, is_first)
    expected = torch.empty(len(logits), TYPES + 1)
    for first, last in pairwise(bounds):
        chunk = [int(first)]
        for token in range(int(first) + 1, int(last) + 1):
            if token < last and logits[token, -1] > 0:
                chunk.append(token)
                continue
            expected[chunk] = logits[chunk, :-1].mean(dim=0).softmax(dim=0)
            chunk = [token]
    assert torch.allclose(probs, expected[rows], atol=1e-5)


def test_unknown_tokens_have_no_target_and_no_gradient():
    labels = np.array([1, 0, 0], np.int16)
    unknown = np.array([False, False, True])
    targets = make_targets(labels, np.array([0, 3]), unknown, CPU)
    assert targets.tie.tolist() == [NO_TARGET, 0, NO_TARGET]
    assert targets.classes.tolist() == [1, 0, NO_TARGET]
    logits = torch.randn(3, TYPES + 2, requires_grad=True)
    autoner_risk(logits, torch.arange(3), targets).objective.backward()
    assert logits.grad[2].abs().sum() == 0
    assert logits.grad[1].abs().sum() > 0


def test_tokens_inside_a_match_are_tied_and_its_ends_are_broken():
    labels = np.array([0, 2, 2, 1, 0], np.int16)
    targets = make_targets(labels, np.array([0, 5]), np.zeros(5, bool), CPU)
    assert targets.tie.tolist() == [NO_TARGET, 0, 1, 0, 0]
    assert targets.starts.tolist() == [True, True, False, True, True]


def test_frequent_unlabeled_names_are_unknown_and_everyday_words_are_not():
    sentences = [["The", "Zorbimax", "dose", "of", "aspirin", "."]] * 3
    labels = np.array([0, 0, 0, 0, 1, 0] * 3, np.int16)
    unknown = unknown_tokens(sentences, labels)
    assert unknown[1] and not unknown[0] and not unknown[3] and not unknown[4]


def test_a_batch_without_any_target_has_a_risk_of_zero():
    targets = make_targets(np.zeros(1, np.int16), np.array([0, 1]), np.ones(1, bool), CPU)
    risk = autoner_risk(torch.zeros(1, TYPES + 2, requires_grad=True), torch.arange(1), targets)
    assert risk.objective.item() == 0
