"""A bidirectional LSTM over packed tokens, for the CPU: torch's own weights, fewer small kernels.

On a CPU `nn.LSTM` runs packed sequences through autograd one small operation at a time. Here a
direction is one autograd function: what does not depend on the step before is computed for all
tokens at once, the rest in place. Values and gradients equal `nn.LSTM`'s up to rounding.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

_Weights = tuple[Tensor, Tensor, Tensor]  # of the inputs, of the hidden state, the biases' sum


def run_bidirectional(lstm: nn.LSTM, tokens: Tensor, batch_sizes: Tensor) -> Tensor:
    """Return the hidden states (tokens, 2 * hidden size) of a one-layer bidirectional LSTM.

    `tokens` (tokens, inputs) stand in packed order: all first tokens, then all second ones, the
    longest sentence first; `batch_sizes` says how many sentences have a t-th token.
    """
    if tokens.device.type != "cpu":
        hidden, _ = lstm(PackedSequence(tokens, batch_sizes))  # cuDNN has a kernel for it
        packed: Tensor = hidden.data
        return packed
    sizes = batch_sizes.tolist()
    backwards = _reversed_rows(batch_sizes)
    ahead = _run(tokens, _weights(lstm, ""), sizes)
    behind = _run(tokens[backwards], _weights(lstm, "_reverse"), sizes)
    return torch.cat([ahead, behind[backwards]], dim=1)


def _run(tokens: Tensor, weights: _Weights, sizes: list[int]) -> Tensor:
    hidden: Tensor = _Direction.apply(tokens, *weights, sizes)  # type: ignore[no-untyped-call]
    return hidden


def _weights(lstm: nn.LSTM, direction: str) -> _Weights:
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    of_input, of_hidden, bias, other_bias = (getattr(lstm, name + direction) for name in names)
    return of_input, of_hidden, bias + other_bias


def _reversed_rows(batch_sizes: Tensor) -> Tensor:
    """The row of each token when every sentence is read from its end; its own inverse."""
    starts = batch_sizes.cumsum(0) - batch_sizes
    step = torch.repeat_interleave(torch.arange(len(batch_sizes)), batch_sizes)
    sentence = torch.arange(len(step)) - starts[step]
    lengths = torch.bincount(sentence, minlength=int(batch_sizes[0]))
    return starts[lengths[sentence] - 1 - step] + sentence


class _Direction(torch.autograd.Function):
    """One direction of an LSTM; gates stand in torch's order: input, forget, cell, output."""

    @staticmethod
    def forward(
        ctx: Any,
        tokens: Tensor,
        of_input: Tensor,
        of_hidden: Tensor,
        bias: Tensor,
        sizes: list[int],
    ) -> Tensor:
        size = of_hidden.shape[1]
        gates = torch.addmm(bias, tokens, of_input.T)
        hidden, cell, squashed = (tokens.new_empty(len(tokens), size) for _ in range(3))
        let_in, keep, new, let_out = gates.chunk(4, dim=1)
        weights = of_hidden.T
        last_hidden = last_cell = hidden
        begin = 0
        for count in sizes:
            now = slice(begin, begin + count)
            here = gates[now]
            if begin:
                here.addmm_(last_hidden[:count], weights)
            here[:, : 2 * size].sigmoid_()
            new[now].tanh_()
            let_out[now].sigmoid_()
            cell_now = torch.mul(let_in[now], new[now], out=cell[now])
            if begin:
                cell_now.addcmul_(keep[now], last_cell[:count])
            torch.tanh(cell_now, out=squashed[now])
            last_hidden = torch.mul(let_out[now], squashed[now], out=hidden[now])
            last_cell = cell_now
            begin += count
        ctx.save_for_backward(tokens, of_input, of_hidden, gates, hidden, cell, squashed)
        ctx.sizes = sizes
        return hidden

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, Tensor, Tensor, None]:
        tokens, of_input, of_hidden, gates, hidden, cell, squashed = ctx.saved_tensors
        sizes: list[int] = ctx.sizes
        count, size = hidden.shape
        first = sizes[0]  # tokens without one before them
        before = _rows_before(sizes)
        # d(loss)/d(gate before its squashing), first without the factor that later steps decide.
        of_gates = _gate_slopes(gates, cell, squashed, first, before)
        of_cell = torch.ops.aten.tanh_backward(gates[:, 3 * size :], squashed)
        of_output = of_gates[:, 3 * size :]
        # The cell decides three gates alike: one product for the three.
        by_gate = of_gates.view(count, 4, size)[:, :3]
        of_state = grads[0].clone()
        keep = gates[:, size : 2 * size]
        end, later = count, 0
        for step in range(len(sizes) - 1, -1, -1):
            now = slice(end - sizes[step], end)
            state_now = of_state[now]
            if later:
                state_now[:later].addmm_(of_gates[end : end + later], of_hidden)
            cell_now = of_cell[now].mul_(state_now)
            if later:
                cell_now[:later].addcmul_(of_cell[end : end + later], keep[end : end + later])
            by_gate[now].mul_(cell_now.unsqueeze(1))
            of_output[now].mul_(state_now)
            later = sizes[step]
            end -= later
        return (
            of_gates @ of_input if ctx.needs_input_grad[0] else None,
            of_gates.T @ tokens,
            of_gates[first:].T @ hidden[before],
            of_gates.sum(0),
            None,
        )


def _rows_before(sizes: list[int]) -> Tensor:
    """The row of the token before, for every token but the first ones."""
    steps = torch.tensor(sizes)
    back = torch.repeat_interleave(steps[:-1], steps[1:])
    return torch.arange(sizes[0], sum(sizes)) - back


def _gate_slopes(
    gates: Tensor, cell: Tensor, squashed: Tensor, first: int, before: Tensor
) -> Tensor:
    """What a change of each gate's input does to the cell, or to the output, for all tokens."""
    slopes = torch.empty_like(gates)
    let_in, keep, new, let_out = gates.chunk(4, dim=1)
    of_let_in, of_keep, of_new, of_let_out = slopes.chunk(4, dim=1)
    # One pass over the memory each: factor * y * (1 - y), and factor * (1 - y * y).
    through_sigmoid = torch.ops.aten.sigmoid_backward.grad_input
    through_tanh = torch.ops.aten.tanh_backward.grad_input
    through_sigmoid(new, let_in, grad_input=of_let_in)
    of_keep[:first] = 0  # there is no cell before the first
    through_sigmoid(cell[before], keep[first:], grad_input=of_keep[first:])
    through_tanh(let_in, new, grad_input=of_new)
    through_sigmoid(squashed, let_out, grad_input=of_let_out)
    return slopes
