"""Open the built-in encoder for frozen use on a CPU, without the library transformers.

To import transformers takes longer than to encode 20,000 tokens. `packed` needs only the weights,
and `subwords` only the tokenizer, so both are read here as they are stored. What comes out is the
same to the bit; a test compares it.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from engine.network.encoders import minilm_folder


class PlainBert(nn.Module):
    """The weights of a BERT by their usual names, without anything that computes."""

    def __init__(self, config: SimpleNamespace, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.config = config
        for name, tensor in weights.items():
            *path, leaf = name.split(".")
            place: nn.Module = self
            for part in path:
                place = _part_of(place, part)
            if path[-1] == "LayerNorm":
                place.eps = config.layer_norm_eps
            place.register_parameter(leaf, nn.Parameter(tensor.float(), requires_grad=False))


def _part_of(module: nn.Module, name: str) -> nn.Module:
    """Return a part of a module; make it if there is none. `layer` is a list, to be sliced."""
    if name not in module._modules:
        module.add_module(name, nn.ModuleList() if name == "layer" else nn.Module())
    part = module._modules[name]
    assert part is not None
    return part


class PlainTokenizer:
    """A fast tokenizer with as much of the interface of transformers as `subwords` uses."""

    def __init__(self, path: str, longest: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(path)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        # Text that looks like a special sub-word is plain text.
        self._tokenizer.encode_special_tokens = True
        self.model_max_length = longest
        self.pad_token_id = self._tokenizer.token_to_id("[PAD]")
        self.unk_token_id = self._tokenizer.token_to_id("[UNK]")

    def __call__(
        self, text: str | Sequence[str], add_special_tokens: bool = True, **_: Any
    ) -> dict[str, Any]:
        """Return the sub-words of a text, or of each of several."""
        if isinstance(text, str):
            encoding = self._tokenizer.encode(text, add_special_tokens=add_special_tokens)
            return {
                "input_ids": encoding.ids,
                "special_tokens_mask": encoding.special_tokens_mask,
            }
        encodings = self._tokenizer.encode_batch_fast(
            list(text), add_special_tokens=add_special_tokens
        )
        return {"input_ids": [encoding.ids for encoding in encodings]}


@functools.cache
def open_plain_minilm() -> tuple[PlainBert, PlainTokenizer]:
    """Return the weights and the tokenizer of MiniLM, read once per process."""
    from safetensors.torch import load_file

    folder = minilm_folder()
    config = SimpleNamespace(**json.loads((folder / "config.json").read_bytes()))
    weights = load_file(folder / "model.safetensors")
    # Numbers of places, which are no weights.
    weights = {name: tensor for name, tensor in weights.items() if tensor.is_floating_point()}
    settings = json.loads((folder / "tokenizer_config.json").read_bytes())
    tokenizer = PlainTokenizer(str(folder / "tokenizer.json"), settings["model_max_length"])
    return PlainBert(config, weights).eval(), tokenizer
