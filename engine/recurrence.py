"""A bidirectional LSTM over packed tokens, for the CPU: torch's own weights, fewer small kernels.

On a CPU `nn.LSTM` runs packed sequences through autograd one small operation at a time. Here both
directions are one autograd function: what does not depend on the step before is computed for all
tokens at once, the rest in place, and no gradient is computed that nothing learns from. Values and
gradients equal `nn.LSTM`'s up to rounding.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


def run_bidirectional(lstm: nn.LSTM, parts: Sequence[Tensor], batch_sizes: Tensor) -> Tensor:
    """Return the hidden states (tokens, 2 * hidden size) of a one-layer bidirectional LSTM.

    A token's input is its rows of `parts`, side by side; parts that do not require a gradient cost
    none. Rows stand in packed order: all first tokens, then all second ones, the longest sentence
    first; `batch_sizes` says how many sentences have a t-th token.
    """
    if parts[0].device.type != "cpu":
        hidden, _ = lstm(PackedSequence(torch.cat(list(parts), dim=1), batch_sizes))
        packed: Tensor = hidden.data  # cuDNN has a kernel for it
        return packed
    weights = _weights(lstm, "") + _weights(lstm, "_reverse")
    both: Tensor = _BothDirections.apply(  # type: ignore[no-untyped-call]
        batch_sizes.tolist(), *weights, *parts
    )
    return both


def _weights(lstm: nn.LSTM, direction: str) -> tuple[Tensor, Tensor, Tensor]:
    """Those of the inputs, those of the hidden state, and the sum of the biases."""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    of_input, of_hidden, bias, other_bias = (getattr(lstm, name + direction) for name in names)
    return of_input, of_hidden, bias + other_bias


class _States(NamedTuple):
    """What a direction computed, a row a token; `hidden` and `cell` have one more, of zeros."""

    gates: Tensor  # (n, 4 * size), in torch's order: input, forget, cell (see below), output
    hidden: Tensor
    cell: Tensor
    squashed: Tensor  # tanh of the cell


class _BothDirections(torch.autograd.Function):
    """Takes the batch sizes, three weights a direction, and the parts of the input."""

    @staticmethod
    def forward(ctx: Any, sizes: list[int], *tensors: Tensor) -> Tensor:
        weights, parts = tensors[:6], tensors[6:]
        tokens = torch.cat(parts, dim=1)
        size = weights[1].shape[1]
        hidden = tokens.new_empty(len(tokens) + 1, 2 * size)
        hidden[-1] = 0
        states: list[Tensor] = []
        for behind, own in enumerate(hidden.chunk(2, dim=1)):
            of_input, of_hidden, bias = _for_one_sigmoid(weights[3 * behind : 3 * behind + 3])
            gates = torch.addmm(bias, tokens, of_input.T)
            states += _run(gates, of_hidden.T, own, sizes, is_behind=bool(behind))
        ctx.save_for_backward(tokens, *weights, *states)
        ctx.sizes, ctx.widths = sizes, [part.shape[1] for part in parts]
        return hidden[:-1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        tokens, *kept = ctx.saved_tensors
        weights, states = kept[:6], kept[6:]
        of_parts: list[Tensor | None] = [None] * len(ctx.widths)
        of_weights: list[Tensor] = []
        for behind, of_states in enumerate(grads[0].chunk(2, dim=1)):
            of_input, of_hidden, _ = weights[3 * behind : 3 * behind + 3]
            own = _States(*states[4 * behind : 4 * behind + 4])
            before = _rows_before(ctx.sizes, is_behind=bool(behind))
            of_gates = _run_back(
                own, of_hidden, of_states, before, ctx.sizes, is_behind=bool(behind)
            )
            of_weights += [of_gates.T @ tokens, of_gates.T @ own.hidden[before], of_gates.sum(0)]
            for i, columns in enumerate(torch.split(of_input, ctx.widths, dim=1)):
                if ctx.needs_input_grad[7 + i]:
                    product, other = of_gates @ columns, of_parts[i]
                    of_parts[i] = product if other is None else other.add_(product)
        return None, *of_weights, *of_parts


def _for_one_sigmoid(weights: Sequence[Tensor]) -> list[Tensor]:
    """The weights of a direction with those of the cell gate times -2.

    Its squashing is tanh(x) = 1 - 2 sigmoid(-2 x), so that one sigmoid squashes all four gates:
    three times fewer calls at every step, each on whole rows.
    """
    scale = weights[0].new_ones(4, 1)
    scale[2] = -2
    return [(of.view(4, -1) * scale).view(of.shape) for of in weights]


def _steps(sizes: list[int], *, is_behind: bool) -> Iterator[tuple[int, int, int]]:
    """Each step in the order it is taken, the step before it, and how many of its rows had one.

    From behind, a sentence begins at its last token: only those that go on after a step bring a
    state to it.
    """
    last = len(sizes) - 1
    for step in range(last, -1, -1) if is_behind else range(last + 1):
        before = step + 1 if is_behind else step - 1
        yield step, before, min(sizes[step], sizes[before]) if 0 <= before <= last else 0


def _rows_before(sizes: list[int], *, is_behind: bool) -> Tensor:
    """The row of the token before, for every token; the row of zeros where there is none."""
    counts = torch.tensor(sizes)
    starts = counts.cumsum(0) - counts
    total = int(counts.sum())
    step = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    sentence = torch.arange(total) - starts[step]
    towards = -1 if is_behind else 1
    counts_before = counts.roll(towards)
    counts_before[-1 if is_behind else 0] = 0
    has_one = sentence < counts_before[step]
    return torch.where(has_one, starts.roll(towards)[step] + sentence, total)


def _run(
    gates: Tensor, weights: Tensor, hidden: Tensor, sizes: list[int], *, is_behind: bool
) -> _States:
    """Turn what the inputs say into gates and states, step by step; `hidden` is written to."""
    size = hidden.shape[1]
    cell = gates.new_empty(len(gates) + 1, size)
    cell[-1] = 0
    squashed = gates.new_empty(len(gates), size)
    let_in, keep, not_new, let_out = (torch.split(gate, sizes) for gate in gates.chunk(4, dim=1))
    whole = torch.split(gates, sizes)
    hidden_by, cell_by = torch.split(hidden[:-1], sizes), torch.split(cell[:-1], sizes)
    squashed_by = torch.split(squashed, sizes)
    for step, before, had in _steps(sizes, is_behind=is_behind):
        if had:
            whole[step][:had].addmm_(hidden_by[before][:had], weights)
        whole[step].sigmoid_()
        # let_in * new, with new = 1 - 2 not_new
        cell_now = torch.addcmul(
            let_in[step], let_in[step], not_new[step], value=-2, out=cell_by[step]
        )
        if had:
            cell_now[:had].addcmul_(keep[step][:had], cell_by[before][:had])
        torch.tanh(cell_now, out=squashed_by[step])
        torch.mul(let_out[step], squashed_by[step], out=hidden_by[step])
    return _States(gates, hidden, cell, squashed)


def _run_back(
    states: _States,
    of_hidden: Tensor,
    grads: Tensor,
    before: Tensor,
    sizes: list[int],
    *,
    is_behind: bool,
) -> Tensor:
    """Return d(loss)/d(gate before its squashing) for all tokens."""
    gates, _, cell, squashed = states
    count, size = squashed.shape
    # First without the factor that the steps after decide.
    of_gates = _gate_slopes(gates, cell[before], squashed)
    of_cell = torch.ops.aten.tanh_backward(gates[:, 3 * size :], squashed)
    keep = gates[:, size : 2 * size]
    of_state = grads.clone(memory_format=torch.contiguous_format)
    # The cell decides three gates alike: one product for the three.
    three, of_output = of_gates.view(count, 4, size)[:, :3], of_gates[:, 3 * size :]
    whole_by, three_by, output_by, state_by, cell_by, keep_by = (
        torch.split(rows, sizes) for rows in (of_gates, three, of_output, of_state, of_cell, keep)
    )
    after = went_on = 0  # the step after, and how many rows went on to it
    for step, _, had in reversed(list(_steps(sizes, is_behind=is_behind))):
        state, cell_now = state_by[step], cell_by[step]
        if went_on:
            state[:went_on].addmm_(whole_by[after][:went_on], of_hidden)
        cell_now.mul_(state)
        if went_on:
            cell_now[:went_on].addcmul_(cell_by[after][:went_on], keep_by[after][:went_on])
        three_by[step].mul_(cell_now.unsqueeze(1))
        output_by[step].mul_(state)
        after, went_on = step, had
    return of_gates


def _gate_slopes(gates: Tensor, cell_before: Tensor, squashed: Tensor) -> Tensor:
    """What a change of each gate's input does to the cell, or to the output, for all tokens."""
    slopes = torch.empty_like(gates)
    let_in, keep, not_new, let_out = gates.chunk(4, dim=1)
    new = (not_new * -2).add_(1)
    of_let_in, of_keep, of_new, of_let_out = slopes.chunk(4, dim=1)
    # One pass over the memory each: factor * y * (1 - y), and factor * (1 - y * y).
    through_sigmoid = torch.ops.aten.sigmoid_backward.grad_input
    through_tanh = torch.ops.aten.tanh_backward.grad_input
    through_sigmoid(new, let_in, grad_input=of_let_in)
    through_sigmoid(cell_before, keep, grad_input=of_keep)
    through_tanh(let_in, new, grad_input=of_new)
    through_sigmoid(squashed, let_out, grad_input=of_let_out)
    return slopes
