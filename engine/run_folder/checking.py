"""Check the files of a run before they are used: they may be damaged, or come from a stranger."""

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.run_folder.card import (
    LEXICON,
    PREDICTIONS,
    Card,
    OlderRun,
    damaged,
    has_card,
    read_card,
    tagger_path,
)
from engine.run_folder.predictions import check_predictions
from engine.settings import MatchOptions
from engine.text import InputError

_ROUNDING = 1e-3
_SMALL = 1_000_000  # bytes that may be allocated for nothing
_LONGEST_HEADER = 10_000  # bytes of the header of an array; ours have 128


def check_runs(folder: Path, tokens: Collection[int] = ()) -> None:
    """Raise InputError at the first file of a job's folder that no run would have written.

    `tokens` are the lengths that a confidence may have; if there are none, any will do.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            # A run that an older version made says so when it is used; the project is whole.
            with suppress(OlderRun):
                if has_card(path):
                    card, lexicon = read_card(path), _lexicon_of(path)
                    check_size(path, card, len(lexicon["types"]) if lexicon else 0)
        elif path.name == LEXICON:
            read_lexicon_record(path)
        elif path.suffix == ".npy":
            length = len(read_confidence(path))
            if tokens and length not in tokens:
                raise InputError(
                    f"{path} has {length:,} numbers, but the text has another number of tokens"
                )
        elif path.name == PREDICTIONS:
            check_predictions(path)


def check_size(folder: Path, card: Card, lexicon_types: int) -> None:
    """Raise InputError if a card asks for a larger network than the run has weights for.

    It compares the least size of the largest parts with the file, before anything is allocated.
    """
    weights, settings = tagger_path(folder, 0), card.settings
    if settings.encoder != "bilstm" or not weights.is_file():
        return
    hidden, characters = settings.hidden_size, settings.character_size
    window = settings.lexicon_window
    if not all(type(size) is int for size in (hidden, characters, window)) or hidden < 1:
        raise damaged(folder)
    # Two directions of four gates each see the inputs and themselves.
    seen = hidden + abs(characters) + abs(window) * lexicon_types
    least, size = 4 * (8 * hidden * seen + characters * characters), weights.stat().st_size
    if least > size + _SMALL:
        raise InputError(
            f"{folder} asks for a network of {min(least, 10**15) / 1e6:,.1f} MB or more, but its "
            f"weights have {size / 1e6:,.1f} MB; the run is damaged. Copy it again, or train again"
        )


def read_confidence(path: Path) -> npt.NDArray[np.floating[Any]]:
    """Return an array of one number per token; InputError unless the file holds just that."""
    try:
        with path.open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, kind = read_header(stream, max_header_size=_LONGEST_HEADER)
            # Before anything is allocated: a header of a few bytes may promise any size.
            size = path.stat().st_size - stream.tell()
            if len(shape) != 1 or kind.kind != "f" or size != shape[0] * kind.itemsize:
                raise ValueError("another array")
        values: npt.NDArray[np.floating[Any]] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, KeyError, EOFError, TypeError, SyntaxError, RecursionError):
        raise damaged(path) from None
    if not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all():
        raise damaged(path)
    return values


def read_lexicon_record(path: Path) -> dict[str, Any] | None:
    """Return what a run keeps of its dictionaries; InputError unless it is as we write it."""
    try:
        record: dict[str, Any] | None = json.loads(path.read_bytes())
        if record is None or _is_lexicon(record):
            return record
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise damaged(path)


def _lexicon_of(folder: Path) -> dict[str, Any] | None:
    path = folder / LEXICON
    return read_lexicon_record(path) if path.is_file() else None


def _is_lexicon(record: Any) -> bool:
    MatchOptions(**record["options"])
    dictionaries = record["dictionaries"]
    return (
        isinstance(dictionaries, list)
        and all(map(_is_dictionary, dictionaries))
        and _are_texts(record["types"])
        and isinstance(record["tokens_given"], bool)
        and _are_texts(record.get("folding", []))
    )


def _is_dictionary(item: Any) -> bool:
    if item["match"] is not None:
        MatchOptions(**item["match"])
    pairs = [*item["phrases"], *item["muted"]]
    return isinstance(item["name"], str) and all(_are_texts(p) and len(p) == 2 for p in pairs)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
