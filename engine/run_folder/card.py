"""The folder of a run: the names of its files, its checkpoints, and its card (run.json).

No torch: pages and jobs look at runs without loading them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.files import written_whole
from engine.settings import Settings, settings_of_card
from engine.text import InputError

LAYOUT = 2  # of the folder and its taggers; raised when this code cannot use older ones
_CARD = "run.json"
LEXICON = "lexicon.json"
CONFIDENCE = "confidence.npy"
ENCODER = "encoder"  # a folder inside that of the run
PREDICTIONS = "predictions.parquet"
EXPORTED_PREDICTIONS = "predictions.csv"  # what `train --out` writes for a person
_CHECKPOINT = "checkpoint"
_MOST_TAGGERS = 1_000  # one per type, or an ensemble
_CHECKPOINT_NAME = re.compile(
    rf"{_CHECKPOINT}-[0-9a-f]{{12}}(?:-(?P<stage>confidence))?(?:-(?P<tagger>\d+))?\.safetensors",
    re.ASCII,
)


def run_name(method: str, seed: int) -> str:
    """Return the name of the folder of a run.

    >>> run_name("conf_mpu", 0)
    'conf_mpu-seed0'
    """
    return f"{method}-seed{seed}"


def tagger_path(folder: Path, number: int) -> Path:
    """Return the file with the weights of one tagger of a run."""
    return folder / f"tagger-{number}.safetensors"


# ---- checkpoints ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint in a run's folder, and the tagger that it belongs to."""

    path: Path
    stage: str  # confidence or training
    tagger: int


def checkpoint_path(folder: Path, key: str) -> Path:
    """Return the checkpoint of a run's first tagger; `key` (12 hex digits) decides its weights."""
    return folder / f"{_CHECKPOINT}-{key}.safetensors"


def tagger_checkpoint(checkpoint: Path, tagger: int) -> Path:
    """Return the checkpoint of one tagger; the first has the name of the run's checkpoint.

    Each tagger needs its own: otherwise the second would go on from the end of the first.

    >>> tagger_checkpoint(Path("checkpoint-0a.safetensors"), 2).name
    'checkpoint-0a-2.safetensors'
    """
    return checkpoint.with_stem(f"{checkpoint.stem}-{tagger}") if tagger else checkpoint


def confidence_checkpoint(checkpoint: Path, tagger: int) -> Path:
    """Return the checkpoint of one tagger of the confidence estimate."""
    return checkpoint.with_stem(f"{checkpoint.stem}-confidence-{tagger}")


def confidence_beside(checkpoint: Path) -> Path:
    """Return the file with the estimated confidence while the run is being trained."""
    return checkpoint.with_name(f"{checkpoint.stem}-confidence.npy")


def confidence_files(folder: Path) -> list[Path]:
    """Return the files in a run's folder that hold its confidence: while it trains, and after."""
    paths = [*folder.glob(f"{_CHECKPOINT}-*-confidence.npy"), folder / CONFIDENCE]
    return [path for path in paths if path.exists()]


def checkpoints(folder: Path) -> Iterator[Checkpoint]:
    """Yield the checkpoints in a run's folder."""
    for path in sorted(folder.glob(f"{_CHECKPOINT}-*")):
        if name := _CHECKPOINT_NAME.fullmatch(path.name):
            yield Checkpoint(path, name["stage"] or "training", int(name["tagger"] or 0))


def is_checkpoint(path: Path) -> bool:
    """Return whether a file only serves to go on with an unfinished run."""
    return path.name.startswith((_CHECKPOINT, f".{_CHECKPOINT}"))


def delete_checkpoints(folder: Path) -> None:
    """Delete all checkpoints of a finished run: also of other settings, and half-written ones."""
    for path in folder.iterdir():
        if is_checkpoint(path):
            path.unlink(missing_ok=True)


# ---- the card -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about a run besides its weights."""

    run_id: str
    made_at: str
    settings: Settings
    types: tuple[str, ...]
    priors: tuple[float, ...]  # of non-entity, then of each type
    history: tuple[Mapping[str, float], ...]  # one record per epoch
    confidence_histories: tuple[tuple[Mapping[str, float], ...], ...]  # one history per tagger
    data_fingerprint: str
    dictionary_fingerprint: str
    versions: Mapping[str, str]
    taggers: int
    odds: float
    scores: Mapping[str, Any]
    vectors_fingerprint: str = ""  # of the word vectors; older cards do not have it
    made_from: Mapping[str, Any] = field(default_factory=dict)  # of a twin: its teacher and text

    @property
    def method(self) -> str:
        return self.settings.method


class OlderRun(InputError):
    """The run was made by a version of Glossa whose taggers this one cannot use."""


def has_card(folder: Path) -> bool:
    """Return whether a folder holds a finished run: its card is written last."""
    return (folder / _CARD).exists()


def remove_card(folder: Path) -> None:
    """Delete the card of an earlier run, before its weights are overwritten."""
    (folder / _CARD).unlink(missing_ok=True)


def write_card(folder: Path, card: Card) -> None:
    """Write the card of a run."""
    write_json(folder / _CARD, {"layout": LAYOUT, **asdict(card)})


def read_card(folder: Path) -> Card:
    """Return the card of a finished run; InputError when there is none that this code can use."""
    path = folder / _CARD
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder} is not a finished run: it has no {_CARD}") from None
    except (OSError, ValueError, RecursionError):
        raise damaged(path) from None
    if not isinstance(record, dict) or type(record.get("layout")) is not int:
        raise damaged(path)
    if record["layout"] > LAYOUT:
        raise InputError(f"{folder} was written by a newer version of Glossa. Update this one")
    if record["layout"] < LAYOUT:
        raise OlderRun(
            f"{folder} was written by an older version of Glossa, whose taggers this one cannot "
            "use. Train again"
        )
    try:
        return _card_from(record)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise damaged(path) from None


def damaged(path: Path) -> InputError:
    """Return the error for a file of a run that is not as it was written."""
    return InputError(
        f"{path} cannot be read; the run is damaged. Delete its folder and train again"
    )


def write_json(path: Path, value: object) -> None:
    """Write a JSON file of a run, whole or not at all."""
    with written_whole(path) as out:
        # ASCII, because a phrase may hold half a surrogate pair, which UTF-8 cannot.
        out.write(json.dumps(value).encode())


def _card_from(record: dict[str, Any]) -> Card:
    """The typed card; KeyError, TypeError or ValueError when a value is not as we write it."""
    types = tuple(map(_string, _list(record["types"])))
    priors = tuple(map(_number, _list(record["priors"])))
    if not all(types) or len(set(types)) != len(types):
        raise ValueError("each type has a name of its own")
    if len(priors) != len(types) + 1 or not all(0 <= prior <= 1 for prior in priors):
        raise ValueError("there is one prior per type, and one of non-entity")
    if type(record["taggers"]) is not int or not 1 <= record["taggers"] <= _MOST_TAGGERS:
        raise ValueError("a run has at least one tagger")
    return Card(
        run_id=_string(record["run_id"]),
        made_at=_string(record["made_at"]),
        settings=settings_of_card(record["settings"]),
        types=types,
        priors=priors,
        history=_history(record["history"]),
        confidence_histories=tuple(map(_history, _list(record["confidence_histories"]))),
        data_fingerprint=_string(record["data_fingerprint"]),
        dictionary_fingerprint=_string(record["dictionary_fingerprint"]),
        versions={name: _string(value) for name, value in _mapping(record["versions"]).items()},
        taggers=record["taggers"],
        odds=_number(record["odds"]),
        scores=_mapping(record["scores"]),
        vectors_fingerprint=_string(record.get("vectors_fingerprint", "")),
        made_from=_mapping(record.get("made_from", {})),
    )


def _history(value: object) -> tuple[Mapping[str, float], ...]:
    return tuple(
        {name: _number(figure) for name, figure in _mapping(epoch).items()}
        for epoch in _list(value)
    )


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("not a number")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value
