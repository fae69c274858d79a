"""Write taggers as ONNX graphs. Needs the package onnx.

The BiLSTM is written node by node, because our LSTM is no operation that torch can export. A graph
reads one sentence and gives the probabilities of its tokens: ensembles, one tagger per type and the
weight of non-entity are inside. A transformer reads windows of sub-words and gives logits per
sub-word; the mean over a token's sub-words are the logits of the token.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.network import CASING_CLASSES, BiLstmTagger, TransformerTagger

OPSET = 18
_TORCH_GATES = (0, 3, 1, 2)  # torch: input, forget, cell, output; ONNX: input, output, forget, cell


class _Graph:
    """Nodes and weights of a graph, named as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: npt.ArrayLike | Tensor) -> str:
        from onnx import numpy_helper

        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


def word_graph(
    taggers: Sequence[BiLstmTagger],
    sizes: dict[str, int],
    *,
    ensemble: int,
    is_per_type: bool,
    odds: float,
) -> bytes:
    """Return the graph of BiLSTM taggers; `sizes` are those of vectors, bits and context."""
    from onnx import TensorProto, checker, helper

    graph = _Graph()
    by_tagger = [_word_tagger(graph, tagger, sizes) for tagger in taggers]
    groups = [by_tagger[i : i + ensemble] for i in range(0, len(by_tagger), ensemble)]
    means = [graph.add("Mean", *group) for group in groups]
    probs = _join(graph, means) if is_per_type else means[0]
    _weigh(graph, probs, odds)
    floats = {name: (TensorProto.FLOAT, ["tokens", size]) for name, size in sizes.items() if size}
    inputs: dict[str, Any] = {
        "characters": (TensorProto.INT64, ["tokens", "longest"]),
        "casing": (TensorProto.INT64, ["tokens"]),
        **floats,
    }
    made = helper.make_graph(
        graph.nodes,
        "tagger",
        [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["tokens", None])],
        graph.weights,
    )
    # Version 9 of the file format came with the operators of 18 to 20: older runtimes read it too.
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9, producer_name="glossa"
    )
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _word_tagger(graph: _Graph, tagger: BiLstmTagger, sizes: dict[str, int]) -> str:
    parts = ["vectors"] if sizes["vectors"] else []
    parts.append(_spelled(graph, tagger))
    depth = graph.constant(np.int64(len(CASING_CLASSES)))
    ends = graph.constant(np.array([0, 1], np.float32))
    parts.append(graph.add("OneHot", "casing", depth, ends, axis=-1))
    parts += [name for name in ("bits", "context") if sizes[name]]
    joined = graph.add("Concat", *parts, axis=1)
    hidden = _lstm(graph, tagger.lstm, joined)
    first, _, last = tagger.head
    assert isinstance(first, nn.Linear) and isinstance(last, nn.Linear)
    inner = graph.add("Relu", _linear(graph, first, hidden))
    return graph.add("Softmax", _linear(graph, last, inner), axis=1)


def _spelled(graph: _Graph, tagger: BiLstmTagger) -> str:
    """Add the character CNN: the largest value of each filter over the characters of a word."""
    embedded = graph.add(
        "Gather", graph.constant(tagger.character_embedding.weight), "characters", axis=0
    )
    channels = graph.add("Transpose", embedded, perm=[0, 2, 1])
    filters = tagger.character_filter
    assert filters.bias is not None
    width = filters.kernel_size[0] // 2
    filtered = graph.add(
        "Conv",
        channels,
        graph.constant(filters.weight),
        graph.constant(filters.bias),
        pads=[width, width],
    )
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    longest = graph.add(
        "Gather", graph.add("Shape", "characters"), graph.constant(np.int64(1)), axis=0
    )
    is_later = graph.add("Greater", graph.add("Range", zero, longest, one), zero)
    # The first character always counts: an empty word has only padding.
    is_padding = graph.add("And", graph.add("Equal", "characters", zero), is_later)
    mask = graph.add("Unsqueeze", is_padding, graph.constant(np.array([1])))
    least = graph.constant(np.float32(-np.inf))
    kept = graph.add("Where", mask, least, filtered)
    return graph.add("ReduceMax", kept, graph.constant(np.array([2])), keepdims=0)


def _lstm(graph: _Graph, lstm: nn.LSTM, inputs: str) -> str:
    """Add the LSTM in both directions: (tokens, inputs) -> (tokens, 2 * hidden size)."""
    weights = dict(lstm.named_parameters())

    def both(kind: str) -> Tensor:
        return torch.stack([_gates(weights[f"{kind}_l0{end}"]) for end in ("", "_reverse")])

    biases = torch.cat([both("bias_ih"), both("bias_hh")], dim=1)
    states = graph.add(
        "LSTM",
        graph.add("Unsqueeze", inputs, graph.constant(np.array([1]))),
        graph.constant(both("weight_ih")),
        graph.constant(both("weight_hh")),
        graph.constant(biases),
        direction="bidirectional",
        hidden_size=lstm.hidden_size,
    )  # (tokens, directions, 1, hidden size)
    return graph.add("Reshape", states, graph.constant(np.array([-1, 2 * lstm.hidden_size])))


def _gates(weight: Tensor) -> Tensor:
    parts = weight.detach().chunk(4)
    return torch.cat([parts[i] for i in _TORCH_GATES])


def _linear(graph: _Graph, layer: nn.Linear, inputs: str) -> str:
    return graph.add(
        "Gemm", inputs, graph.constant(layer.weight), graph.constant(layer.bias), transB=1
    )


def _join(graph: _Graph, binary: Sequence[str]) -> str:
    """Add classes of all types from one pair of probabilities per type."""
    column = [graph.constant(np.array([i])) for i in (1, 2, 1)]
    by_type = [graph.add("Slice", probs, *column) for probs in binary]
    types = graph.add("Concat", *by_type, axis=1)
    best = graph.add("ReduceMax", types, graph.constant(np.array([1])), keepdims=1)
    none = graph.add("Sub", graph.constant(np.float32(1)), best)
    return graph.add("Concat", none, types, axis=1)


def _weigh(graph: _Graph, probs: str, odds: float) -> None:
    """Add the weight of non-entity; the result is the graph's output."""
    if odds == 1:
        graph.add("Identity", probs, output="probabilities")
        return
    one, two, end = (graph.constant(np.array([i])) for i in (0, 1, 2**31))
    axis = graph.constant(np.array([1]))
    none = graph.add("Slice", probs, one, two, axis)
    types = graph.add("Slice", probs, two, end, axis)
    weighted = graph.add("Mul", none, graph.constant(np.float32(odds)))
    joined = graph.add("Concat", weighted, types, axis=1)
    total = graph.add("ReduceSum", joined, axis, keepdims=1)
    graph.add("Div", joined, total, output="probabilities")


# ---- transformers ---------------------------------------------------------------------------


class _Logits(nn.Module):
    """A fine-tuned transformer that gives logits per sub-word."""

    def __init__(self, tagger: TransformerTagger) -> None:
        super().__init__()
        self.encoder, self.output = tagger.encoder, tagger.output

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        logits: Tensor = self.output(hidden.last_hidden_state)
        return logits


class _Layer(nn.Module):
    """A frozen transformer that gives one of its hidden layers."""

    def __init__(self, encoder: nn.Module, layer: int) -> None:
        super().__init__()
        self.encoder, self.layer = encoder, layer

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        given = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
        )
        layer: Tensor = given.hidden_states[self.layer]
        return layer


def write_logits(path: Path, tagger: TransformerTagger) -> None:
    """Write a fine-tuned transformer: windows of sub-words in, logits per sub-word out."""
    _write(path, _Logits(tagger), tagger.encoder, "logits")


def write_layer(path: Path, encoder: Any, layer: int) -> None:
    """Write the lower layers of a frozen transformer: sub-words in, a hidden layer out."""
    _write(path, _Layer(encoder, layer), encoder, "hidden")


def _write(path: Path, module: nn.Module, encoder: Any, output: str) -> None:
    names = ("input_ids", "attention_mask")
    ids, mask = torch.full((2, 7), 5), torch.ones((2, 7), dtype=torch.long)
    mask[1, 5:] = 0
    chosen = encoder.config._attn_implementation
    encoder.set_attn_implementation("eager")  # the others choose a kernel by the sizes
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch to itself
            torch.onnx.export(
                module.eval(),
                (ids, mask),
                str(path),
                input_names=list(names),
                output_names=[output],
                dynamic_axes={name: {0: "windows", 1: "width"} for name in (*names, output)},
                opset_version=OPSET,
                # The newer exporter gives the same numbers, takes fifteen times as long and needs
                # one more package.
                dynamo=False,
            )
    finally:
        encoder.set_attn_implementation(chosen)
