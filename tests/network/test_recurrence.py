"""Our LSTM has the same values and gradients as torch's."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from engine.network import device
from engine.network.recurrence import run_bidirectional

Run = Callable[[nn.LSTM, Tensor, Tensor], Tensor]


def torch_hidden(lstm: nn.LSTM, tokens: Tensor, batch_sizes: Tensor) -> Tensor:
    hidden, _ = lstm(PackedSequence(tokens, batch_sizes))
    packed: Tensor = hidden.data
    return packed


def all_learned(lstm: nn.LSTM, tokens: Tensor, batch_sizes: Tensor) -> Tensor:
    return run_bidirectional(lstm, [tokens], batch_sizes)


def outcome(run: Run, lstm: nn.LSTM, tokens: Tensor, sizes: Tensor) -> list[Tensor]:
    """Return the hidden states, and the gradients of the inputs and of every weight."""
    lstm.zero_grad()
    tokens = tokens.clone().requires_grad_()
    hidden = run(lstm, tokens, sizes)
    weights = torch.linspace(-1, 1, hidden.numel(), dtype=hidden.dtype).view_as(hidden)
    (hidden * weights).sum().backward()
    assert tokens.grad is not None
    weight_grads = [p.grad.clone() for p in lstm.parameters() if p.grad is not None]
    return [hidden.detach(), tokens.grad, *weight_grads]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 10_000))
def test_equals_torch_for_sentences_of_any_lengths(lengths: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    lstm = nn.LSTM(5, 4, bidirectional=True).double()
    sizes = torch.tensor([sum(n > t for n in lengths) for t in range(max(lengths))])
    tokens = torch.randn(sum(lengths), 5, dtype=torch.float64)
    ours = outcome(all_learned, lstm, tokens, sizes)
    theirs = outcome(torch_hidden, lstm, tokens, sizes)
    assert len(ours) == len(theirs) == 10
    for own, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, expected)


def test_gradients_agree_with_finite_differences() -> None:
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 2, bidirectional=True).double()
    sizes = torch.tensor([3, 2, 1])
    tokens = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: all_learned(lstm, x, sizes), (tokens,))


def test_a_single_token_has_no_neighbours() -> None:
    lstm = nn.LSTM(3, 2, bidirectional=True)
    tokens = torch.randn(1, 3)
    expected = torch_hidden(lstm, tokens, torch.tensor([1]))
    torch.testing.assert_close(all_learned(lstm, tokens, torch.tensor([1])), expected)


def test_input_parts_are_concatenated_and_fixed_ones_get_no_gradient() -> None:
    torch.manual_seed(0)
    lstm = nn.LSTM(5, 4, bidirectional=True).double()
    sizes = torch.tensor([3, 3, 1])
    tokens = torch.randn(7, 5, dtype=torch.float64)
    whole = outcome(all_learned, lstm, tokens, sizes)

    def middle_learned(lstm: nn.LSTM, learned: Tensor, sizes: Tensor) -> Tensor:
        return run_bidirectional(lstm, [tokens[:, :1], learned, tokens[:, 3:]], sizes)

    hidden, learned_grad, *weight_grads = outcome(middle_learned, lstm, tokens[:, 1:3], sizes)
    torch.testing.assert_close(hidden, whole[0])
    torch.testing.assert_close(learned_grad, whole[1][:, 1:3])
    torch.testing.assert_close(weight_grads, whole[2:])
    assert tokens.grad is None


@pytest.mark.parametrize("is_slow", [False, True])
def test_predictions_equal_torch_with_either_library(
    monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    monkeypatch.setattr(device, "_has_slow_mkl", lambda: is_slow)
    torch.manual_seed(0)
    lstm = nn.LSTM(5, 4, bidirectional=True)
    sizes = torch.tensor([3, 3, 1])
    tokens = torch.randn(7, 5)
    with torch.inference_mode():
        torch.testing.assert_close(
            all_learned(lstm, tokens, sizes), torch_hidden(lstm, tokens, sizes)
        )
