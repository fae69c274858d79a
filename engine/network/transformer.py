"""The transformer tagger, and contextual features from a frozen transformer."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.files import written_whole
from engine.network.device import keep_freed_memory, mixed_precision
from engine.network.packed import is_packable, packed_encoder
from engine.network.subwords import Ints, SubwordBatch, SubwordInputs, pool

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Features = npt.NDArray[np.floating]

_FEATURES_VERSION = 1  # raise it when the same inputs would give other features
_PADDED_AT_ONCE, _PACKED_AT_ONCE = 2048, 8192  # sub-words; the more, the more of one length
_MOST_KEPT = 3  # files of features per folder; the least recently used are deleted


class Stopped(Exception):
    """Someone asked to stop before the features were computed."""


class TransformerTagger(torch.nn.Module):
    """An encoder, the mean of each token's sub-words, and a linear layer over the classes."""

    def __init__(self, encoder: "PreTrainedModel", classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = torch.nn.Dropout(dropout)
        self.output = torch.nn.Linear(encoder.config.hidden_size, classes)

    def forward(self, batch: SubwordBatch) -> Tensor:
        """Return the logits in the order of ``batch.tokens``: (n, classes)."""
        if not len(batch.tokens):
            return self.output.weight.new_zeros((0, self.output.out_features))
        with mixed_precision(batch.input_ids.device, is_training=self.training):
            hidden = self.encoder(
                input_ids=batch.input_ids, attention_mask=batch.attention_mask
            ).last_hidden_state  # (windows, width, dim)
        # Mean, logits and risk in float32: they are cheap, and small differences matter.
        logits: Tensor = self.output(self.dropout(pool(hidden.float(), batch)))
        return logits


# ---- frozen features ------------------------------------------------------------------------


def contextual_features(
    inputs: SubwordInputs,
    encoder: "PreTrainedModel",
    *,
    layer: int,
    batch_tokens: int | None = None,
    device: torch.device | str = "cpu",
    precision: str = "float32",
    dtype: npt.DTypeLike = np.float16,
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Features:
    """Return each token's vector in one hidden layer of the frozen encoder: (tokens, dim).

    layer: as in `hidden_states`; 0 = the embeddings, num_hidden_layers = the last.
    batch_tokens: the most sub-words read at once, padding included; None: what is fast.
    precision: as `chosen_precision` returns it.  A sentence that occurs again is read once.
    on_share: called with the share that is done, 0 to 1. Raises Stopped if `should_stop` says so.
    """
    _check_layer(encoder, layer)
    features = np.zeros((inputs.token_count, encoder.config.hidden_size), dtype=dtype)
    encoder.to(device)  # type: ignore[arg-type]  # transformers narrows what torch accepts
    keep_freed_memory()
    alike = inputs.first_alike()
    is_first = alike == np.arange(len(alike))
    firsts, repeats = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    read_count = len(inputs.tokens_of(firsts))
    done = 0
    is_packed = torch.device(device).type == "cpu" and is_packable(encoder)
    batch_tokens = batch_tokens or (_PACKED_AT_ONCE if is_packed else _PADDED_AT_ONCE)
    with _frozen(encoder), torch.inference_mode():
        vectors_of = _reader(inputs, encoder, layer, device, precision)
        for sentences in _buckets(inputs.sentence_sizes[firsts], batch_tokens):
            if should_stop and should_stop():
                raise Stopped
            tokens, vectors = vectors_of(firsts[sentences])
            if len(tokens):
                features[tokens.numpy()] = vectors.cpu().numpy()
            done += len(tokens)
            if on_share:
                on_share(done / max(read_count, 1))
    features[inputs.tokens_of(repeats)] = features[inputs.tokens_of(alike[repeats])]
    return features


def _reader(
    inputs: SubwordInputs,
    encoder: "PreTrainedModel",
    layer: int,
    device: torch.device | str,
    precision: str,
) -> Callable[[Ints], tuple[Tensor, Tensor]]:
    """Return a function from sentences to their tokens, and one vector for each."""
    if torch.device(device).type == "cpu" and is_packable(encoder):
        packed = packed_encoder(encoder, layer, precision)

        def read_packed(sentences: Ints) -> tuple[Tensor, Tensor]:
            batch = inputs.packed(sentences)
            if not len(batch.tokens):
                return batch.tokens, torch.zeros(0)
            return batch.tokens, pool(packed(batch), batch)

        return read_packed

    def read_padded(sentences: Ints) -> tuple[Tensor, Tensor]:
        batch = inputs.batch(sentences)
        if not len(batch.tokens):
            return batch.tokens, torch.zeros(0)
        there = batch.to(device)
        return batch.tokens, pool(_hidden_layer(encoder, there, layer), there)

    return read_padded


def features_key(
    inputs: SubwordInputs, encoder: "PreTrainedModel", layer: int, precision: str = "float32"
) -> str:
    """Return a fingerprint of all that decides the features: weights, layer, sub-words, precision.

    float32 is not named in it, so features that were kept before there was a choice stay known.
    """
    parts = [str(_FEATURES_VERSION), str(layer), inputs.fingerprint]
    parts += [precision] * (precision != "float32")
    digest = hashlib.sha256(" ".join(parts).encode())
    digest.update(encoder.config.model_type.encode())
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def cached_features(folder: Path, key: str, compute: Callable[[], Features]) -> Features:
    """Return the features stored under `key`, mapped from disk and read-only.

    They are computed and stored first if there is no file or the file is damaged.
    """
    return open_features(keep_features(folder, key, compute))


def keep_features(folder: Path, key: str, compute: Callable[[], Features]) -> Path:
    """Return the file with the features; compute them if it is missing or damaged.

    Files that were not used for long are deleted, because they are large.
    """
    path = folder / f"features-{key}.npy"
    if _mapped(path) is None:
        features = compute()
        with written_whole(path) as out:
            np.save(out, features, allow_pickle=False)
    with suppress(OSError):  # the folder may be read-only, or the file open elsewhere
        path.touch()
        _delete_unused(folder)
    return path


def open_features(path: Path) -> Features:
    """Return the features in a file that `keep_features` returned."""
    stored = _mapped(path)
    assert stored is not None, f"{path} was just written, but cannot be read"
    return stored


def _delete_unused(folder: Path) -> None:
    kept = sorted(folder.glob("features-*.npy"), key=lambda path: -path.stat().st_mtime_ns)
    for path in kept[_MOST_KEPT:]:
        path.unlink(missing_ok=True)


def _mapped(path: Path) -> Features | None:
    try:
        array: Features = np.load(path, mmap_mode="r", allow_pickle=False)
    # Missing or incomplete; either way it is computed again.
    except (OSError, ValueError, EOFError):
        return None
    return array


def _check_layer(encoder: "PreTrainedModel", layer: int) -> None:
    last = encoder.config.num_hidden_layers
    if not 0 <= layer <= last:
        raise ValueError(f"layer must be 0 to {last} for this encoder, got {layer}")


def _buckets(sizes: Ints, batch_tokens: int) -> Iterator[Ints]:
    """Yield groups of sentence indices, shortest first, as large as `batch_tokens` allows."""
    order = np.argsort(sizes, kind="stable")
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and (stop + 1 - start) * sizes[order[stop]] <= batch_tokens:
            stop += 1
        yield order[start:stop]
        start = stop


@contextmanager
def _frozen(encoder: torch.nn.Module) -> Iterator[None]:
    was_training = encoder.training
    encoder.eval()
    try:
        yield
    finally:
        encoder.train(was_training)


class _Reached(Exception):
    """Carries the input of the wanted layer; the layers after it need not run."""

    def __init__(self, hidden: Tensor) -> None:
        super().__init__()
        self.hidden = hidden


def _hidden_layer(encoder: "PreTrainedModel", batch: SubwordBatch, layer: int) -> Tensor:
    """Return ``hidden_states[layer]``, which is the input of layer number `layer`.

    Stopping there saves half the time for a middle layer.
    """
    blocks = _blocks(encoder)
    arguments = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    if blocks is None or layer == len(blocks):
        hidden: Tensor = encoder(**arguments, output_hidden_states=True).hidden_states[layer]
        return hidden

    def stop(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        raise _Reached(args[0] if args else kwargs["hidden_states"])

    hook = blocks[layer].register_forward_pre_hook(stop, with_kwargs=True)
    try:
        encoder(**arguments)
    except _Reached as reached:
        return reached.hidden
    finally:
        hook.remove()
    raise AssertionError(f"layer {layer} did not run")


def _blocks(encoder: "PreTrainedModel") -> torch.nn.ModuleList | None:
    """Return the encoder's layers; None if they are not one list (ALBERT shares one layer)."""
    for module in encoder.modules():
        if isinstance(module, torch.nn.ModuleList):
            is_whole = len(module) == encoder.config.num_hidden_layers
            return module if is_whole else None
    return None
