"""Run the first layers of a frozen BERT on a CPU: no padding, in float32, bfloat16 or int8.

Sub-words of all windows lie end to end, so every matrix product is one large one without padding.
Attention runs once per group of windows of the same length. In int8, each sub-word and each output
of a layer has a scale of its own: with one scale per matrix, the few large values of a BERT would
take most of the 256 steps (11 % error in layer 3 of MiniLM; with own scales, 4 %).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn import functional

from engine.network.device import linear as fast_linear
from engine.network.subwords import PackedBatch

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_STEPS = 127  # of an 8-bit number, on each side of zero
_ROWS = {"float32": 2048, "bfloat16": 2048, "int8": 512}  # sub-words at once, the fastest measured
_SMALLEST = 1e-9  # so that a row of zeros has a scale

# Weights are rounded to 8 bits once per encoder, not once per text. A frozen encoder never changes.
_made: "WeakKeyDictionary[PreTrainedModel, dict[tuple[int, str], PackedEncoder]]"
_made = WeakKeyDictionary()

_Linear = Callable[[Tensor, Tensor | None], Tensor]  # the second, if given, takes the result
_Norm = Callable[[Tensor], Tensor]


class _Block(NamedTuple):
    """One layer: queries, keys and values in one product, then the usual parts of BERT."""

    attention_inputs: _Linear
    attention_output: _Linear
    attention_norm: _Norm
    wide: _Linear
    narrow: _Linear
    norm: _Norm


class PackedEncoder:
    """The embeddings and the first layers of a BERT, in one precision."""

    def __init__(self, encoder: "PreTrainedModel", layers: int, precision: str) -> None:
        assert is_packable(encoder), "only a plain BERT can be packed"
        model: Any = encoder  # its modules have no types of their own
        embeddings = model.embeddings
        self._words = embeddings.word_embeddings.weight.detach()
        self._places = (
            embeddings.position_embeddings.weight + embeddings.token_type_embeddings.weight[0]
        ).detach()
        self._norm = _norm(embeddings.LayerNorm)
        self._rows = _ROWS[precision]
        self._heads = encoder.config.num_attention_heads
        make = {"float32": _float32, "bfloat16": _bfloat16, "int8": _int8}[precision]
        self._blocks = [_block(layer, make) for layer in model.encoder.layer[:layers]]

    def __call__(self, batch: PackedBatch) -> Tensor:
        """Return the vectors that the last of the layers gives: (sub-words, dim)."""
        hidden = self._norm(self._words[batch.ids] + self._places[batch.places])
        for block in self._blocks:
            attended = self._attend(block, hidden, batch)
            for rows, around in zip(
                torch.split(hidden, self._rows), torch.split(attended, self._rows), strict=True
            ):
                middle = block.attention_norm(block.attention_output(around, None).add_(rows))
                wide = torch.ops.aten.gelu_(block.wide(middle, None))
                rows.copy_(block.norm(block.narrow(wide, None).add_(middle)))
        return hidden

    def _attend(self, block: _Block, hidden: Tensor, batch: PackedBatch) -> Tensor:
        inputs = hidden.new_empty(len(hidden), 3 * hidden.shape[1])
        for rows, out in zip(
            torch.split(hidden, self._rows), torch.split(inputs, self._rows), strict=True
        ):
            block.attention_inputs(rows, out)
        attended = torch.empty_like(hidden)
        start = 0
        for length, count in batch.groups:
            stop = start + length * count
            # (3, windows, heads, length, size of a head)
            parts = (
                inputs[start:stop].view(count, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            )
            mixed = functional.scaled_dot_product_attention(*parts)
            attended[start:stop].view(count, length, self._heads, -1).copy_(mixed.transpose(1, 2))
            start = stop
        return attended


def packed_encoder(encoder: "PreTrainedModel", layers: int, precision: str) -> PackedEncoder:
    """Return the first layers of an encoder; the same object again as long as the encoder lives."""
    known = _made.setdefault(encoder, {})
    if (layers, precision) not in known:
        known[layers, precision] = PackedEncoder(encoder, layers, precision)
    return known[layers, precision]


def is_packable(encoder: "PreTrainedModel") -> bool:
    """Return whether an encoder is a plain BERT: its layers are computed here as it does."""
    config = encoder.config
    return (
        config.model_type == "bert"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not getattr(config, "is_decoder", False)
    )


def chosen_precision(asked: str, encoder: "PreTrainedModel", device: torch.device | str) -> str:
    """Return the precision in which a frozen encoder is computed.

    "auto" is what this processor computes fastest; on a GPU, and for encoders other than BERT, it
    is always float32.
    """
    if torch.device(device).type != "cpu" or not is_packable(encoder):
        return "float32"
    if asked != "auto":
        return asked
    if torch.cpu._is_amx_tile_supported():
        return "bfloat16"
    return "int8" if torch.cpu._is_vnni_supported() else "float32"


def _block(layer: Any, make: Callable[[Tensor, Tensor], _Linear]) -> _Block:
    attention = layer.attention
    three = (attention.self.query, attention.self.key, attention.self.value)

    def linear(*modules: torch.nn.Linear) -> _Linear:
        weights = torch.cat([module.weight.detach() for module in modules])
        return make(weights, torch.cat([module.bias.detach() for module in modules]))

    return _Block(
        linear(*three),
        linear(attention.output.dense),
        _norm(attention.output.LayerNorm),
        linear(layer.intermediate.dense),
        linear(layer.output.dense),
        _norm(layer.output.LayerNorm),
    )


def _norm(module: torch.nn.LayerNorm) -> _Norm:
    weight, bias = module.weight.detach(), module.bias.detach()
    return lambda rows: functional.layer_norm(rows, list(weight.shape), weight, bias, module.eps)


def _float32(weights: Tensor, bias: Tensor) -> _Linear:
    def linear(rows: Tensor, out: Tensor | None) -> Tensor:
        product = fast_linear(rows, weights, bias)
        return product if out is None else out.copy_(product)

    return linear


def _bfloat16(weights: Tensor, bias: Tensor) -> _Linear:
    half_weights, half_bias = weights.bfloat16(), bias.bfloat16()

    def linear(rows: Tensor, out: Tensor | None) -> Tensor:
        product = functional.linear(rows.bfloat16(), half_weights, half_bias)
        return product.float() if out is None else out.copy_(product)

    return linear


def _int8(weights: Tensor, bias: Tensor) -> _Linear:
    scales = weights.abs().amax(1).clamp(min=_SMALLEST) / _STEPS
    columns = (weights / scales[:, None]).round().to(torch.int8).T

    def linear(rows: Tensor, out: Tensor | None) -> Tensor:
        # Largest and smallest apart: `abs` would write all values once more.
        peaks = torch.maximum(rows.amax(1, True), rows.amin(1, True).neg_()).clamp_(min=_SMALLEST)
        steps = (rows * (_STEPS / peaks)).round_().to(torch.int8)
        sums = torch._int_mm(steps, columns)
        product = sums.float() if out is None else out.copy_(sums)
        return torch.addcmul(bias, product.mul_(scales), peaks / _STEPS, out=product)

    return linear
