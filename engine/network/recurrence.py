"""A bidirectional LSTM on the CPU: the weights of `nn.LSTM`, with far fewer small operations.

On a CPU, `nn.LSTM` runs packed sequences through autograd one small operation at a time. Here both
directions are one autograd function. Whatever does not depend on the previous step is computed for
all tokens at once, and the rest in place. Inputs that do not learn get no gradient. Values and
gradients equal those of `nn.LSTM` up to rounding; bench/README.md has the gain in speed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from engine.network.device import add_linear, linear


def run_bidirectional(lstm: nn.LSTM, parts: Sequence[Tensor], batch_sizes: Tensor) -> Tensor:
    """Return the hidden states (tokens, 2 * hidden size) of a one-layer bidirectional LSTM.

    The input of a token is its rows of `parts`, side by side. A part that requires no gradient
    costs none. Rows are in packed order: all first tokens, then all second tokens, the longest
    sentence first. `batch_sizes[t]` is the number of sentences that have a token at step t.
    """
    if parts[0].device.type != "cpu":
        hidden, _ = lstm(PackedSequence(torch.cat(list(parts), dim=1), batch_sizes))
        packed: Tensor = hidden.data  # a GPU has a fast kernel of its own
        return packed
    weights = _weights(lstm, "") + _weights(lstm, "_reverse")
    both: Tensor = _BothDirections.apply(  # type: ignore[no-untyped-call]
        batch_sizes.tolist(), *weights, *parts
    )
    return both


def _weights(lstm: nn.LSTM, direction: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return the input weights, the hidden weights and the sum of the two biases."""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    input_weights, hidden_weights, bias, other_bias = (
        getattr(lstm, name + direction) for name in names
    )
    return input_weights, hidden_weights, bias + other_bias


class _States(NamedTuple):
    """What one direction computed, one row per token; `hidden` and `cell` end with a zero row."""

    gates: Tensor  # (n, 4 * size): input, forget, cell (see _for_one_sigmoid), output
    hidden: Tensor
    cell: Tensor
    cell_tanh: Tensor


class _BothDirections(torch.autograd.Function):
    """Takes the batch sizes, three weights per direction, and the parts of the input."""

    @staticmethod
    def forward(ctx: Any, sizes: list[int], *tensors: Tensor) -> Tensor:
        weights, parts = tensors[:6], tensors[6:]
        tokens = torch.cat(parts, dim=1)
        size = weights[1].shape[1]
        hidden = tokens.new_empty(len(tokens) + 1, 2 * size)
        hidden[-1] = 0
        states: list[Tensor] = []
        # A training stays as it was, to the bit; predictions take the faster library.
        is_predicting = torch.is_inference_mode_enabled()
        multiply = linear if is_predicting else functional.linear
        add = add_linear if is_predicting else _add_product
        for direction, own_hidden in enumerate(hidden.chunk(2, dim=1)):
            input_weights, hidden_weights, bias = _for_one_sigmoid(
                weights[3 * direction : 3 * direction + 3]
            )
            gates = multiply(tokens, input_weights, bias)
            add_product = partial(add, weights=hidden_weights)
            states += _run(gates, own_hidden, sizes, add_product, is_backward=bool(direction))
        ctx.save_for_backward(tokens, *weights, *states)
        ctx.sizes, ctx.widths = sizes, [part.shape[1] for part in parts]
        return hidden[:-1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        tokens, *kept = ctx.saved_tensors
        weights, states = kept[:6], kept[6:]
        part_grads: list[Tensor | None] = [None] * len(ctx.widths)
        weight_grads: list[Tensor] = []
        for direction, hidden_grads in enumerate(grads[0].chunk(2, dim=1)):
            is_backward = bool(direction)
            input_weights, hidden_weights, _ = weights[3 * direction : 3 * direction + 3]
            own = _States(*states[4 * direction : 4 * direction + 4])
            previous = _previous_rows(ctx.sizes, is_backward=is_backward)
            gate_grads = _gate_gradients(
                own, hidden_weights, hidden_grads, previous, ctx.sizes, is_backward=is_backward
            )
            weight_grads += [
                gate_grads.T @ tokens,
                gate_grads.T @ own.hidden[previous],
                gate_grads.sum(0),
            ]
            for i, columns in enumerate(torch.split(input_weights, ctx.widths, dim=1)):
                if ctx.needs_input_grad[7 + i]:
                    product, other = gate_grads @ columns, part_grads[i]
                    part_grads[i] = product if other is None else other.add_(product)
        return None, *weight_grads, *part_grads


def _for_one_sigmoid(weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the weights of a direction with those of the cell gate multiplied by -2.

    As tanh(x) = 1 - 2 sigmoid(-2 x), one sigmoid can then activate all four gates: a third of the
    calls per step, each on whole rows. So the stored cell gate is s with tanh(x) = 1 - 2 s.
    """
    scale = weights[0].new_ones(4, 1)
    scale[2] = -2
    return [(weight.view(4, -1) * scale).view(weight.shape) for weight in weights]


def _steps(sizes: list[int], *, is_backward: bool) -> Iterator[tuple[int, int, int]]:
    """Yield each step in the order of computation, its previous step, and the rows they share.

    The backward direction starts a sentence at its last token, so a step gets a state only for
    sentences that also have a token at the next position.
    """
    last = len(sizes) - 1
    for step in range(last, -1, -1) if is_backward else range(last + 1):
        previous = step + 1 if is_backward else step - 1
        yield step, previous, min(sizes[step], sizes[previous]) if 0 <= previous <= last else 0


def _previous_rows(sizes: list[int], *, is_backward: bool) -> Tensor:
    """Return the row of each token's previous token; the zero row for the first of a sentence."""
    counts = torch.tensor(sizes)
    starts = counts.cumsum(0) - counts
    total = int(counts.sum())
    step = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    sentence = torch.arange(total) - starts[step]
    shift = -1 if is_backward else 1
    previous_counts = counts.roll(shift)
    previous_counts[-1 if is_backward else 0] = 0
    has_previous = sentence < previous_counts[step]
    return torch.where(has_previous, starts.roll(shift)[step] + sentence, total)


def _add_product(sums: Tensor, rows: Tensor, weights: Tensor) -> None:
    sums.addmm_(rows, weights.T)


def _run(
    gates: Tensor,
    hidden: Tensor,
    sizes: list[int],
    add_product: Callable[[Tensor, Tensor], None],
    *,
    is_backward: bool,
) -> _States:
    """Compute gates and states step by step.

    `gates` comes with the share of the inputs; both `gates` and `hidden` are written to.
    `add_product` adds the share of hidden states to gates.
    """
    size = hidden.shape[1]
    cell = gates.new_empty(len(gates) + 1, size)
    cell[-1] = 0
    cell_tanh = gates.new_empty(len(gates), size)
    input_gate, forget_gate, cell_gate, output_gate = (
        torch.split(gate, sizes) for gate in gates.chunk(4, dim=1)
    )
    all_gates = torch.split(gates, sizes)
    hidden_at, cell_at = torch.split(hidden[:-1], sizes), torch.split(cell[:-1], sizes)
    cell_tanh_at = torch.split(cell_tanh, sizes)
    for step, previous, shared in _steps(sizes, is_backward=is_backward):
        if shared:
            add_product(all_gates[step][:shared], hidden_at[previous][:shared])
        all_gates[step].sigmoid_()
        # input gate * tanh, with tanh = 1 - 2 * stored cell gate
        cell_now = torch.addcmul(
            input_gate[step], input_gate[step], cell_gate[step], value=-2, out=cell_at[step]
        )
        if shared:
            cell_now[:shared].addcmul_(forget_gate[step][:shared], cell_at[previous][:shared])
        torch.tanh(cell_now, out=cell_tanh_at[step])
        torch.mul(output_gate[step], cell_tanh_at[step], out=hidden_at[step])
    return _States(gates, hidden, cell, cell_tanh)


def _gate_gradients(
    states: _States,
    hidden_weights: Tensor,
    hidden_grads: Tensor,
    previous: Tensor,
    sizes: list[int],
    *,
    is_backward: bool,
) -> Tensor:
    """Return the gradient of the loss by each gate before its activation, for all tokens."""
    gates, _, cell, cell_tanh = states
    count, size = cell_tanh.shape
    # First without the factor that depends on the following steps; the loop multiplies by it.
    gate_grads = _local_gate_gradients(gates, cell[previous], cell_tanh)
    cell_grads = torch.ops.aten.tanh_backward(gates[:, 3 * size :], cell_tanh)
    forget_gate = gates[:, size : 2 * size]
    state_grads = hidden_grads.clone(memory_format=torch.contiguous_format)
    # Input, forget and cell gate have the same factor, that of the cell: one product for three.
    three_gates, output_gate = gate_grads.view(count, 4, size)[:, :3], gate_grads[:, 3 * size :]
    all_at, three_at, output_at, state_at, cell_at, forget_at = (
        torch.split(rows, sizes)
        for rows in (gate_grads, three_gates, output_gate, state_grads, cell_grads, forget_gate)
    )
    following = shared = 0  # the step computed after this one, and the rows that continue there
    for step, _, shared_with_previous in reversed(list(_steps(sizes, is_backward=is_backward))):
        state, cell_now = state_at[step], cell_at[step]
        if shared:
            state[:shared].addmm_(all_at[following][:shared], hidden_weights)
        cell_now.mul_(state)
        if shared:
            cell_now[:shared].addcmul_(cell_at[following][:shared], forget_at[following][:shared])
        three_at[step].mul_(cell_now.unsqueeze(1))
        output_at[step].mul_(state)
        following, shared = step, shared_with_previous
    return gate_grads


def _local_gate_gradients(gates: Tensor, previous_cell: Tensor, cell_tanh: Tensor) -> Tensor:
    """Return the gradient of the cell by the first three gates, and of the output by the fourth."""
    grads = torch.empty_like(gates)
    input_gate, forget_gate, cell_gate, output_gate = gates.chunk(4, dim=1)
    candidate = (cell_gate * -2).add_(1)  # the tanh of the cell gate
    input_grad, forget_grad, cell_grad, output_grad = grads.chunk(4, dim=1)
    # Each is one pass over memory: factor * y * (1 - y) for sigmoid, factor * (1 - y * y) for tanh.
    through_sigmoid = torch.ops.aten.sigmoid_backward.grad_input
    through_tanh = torch.ops.aten.tanh_backward.grad_input
    through_sigmoid(candidate, input_gate, grad_input=input_grad)
    through_sigmoid(previous_cell, forget_gate, grad_input=forget_grad)
    through_tanh(input_gate, candidate, grad_input=cell_grad)
    through_sigmoid(cell_tanh, output_gate, grad_input=output_grad)
    return grads
