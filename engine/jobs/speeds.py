"""Keep how fast this machine trains, for all projects of a data folder, and guess it before that.

Every run and every measurement stores its speeds twice: with its project, and in one file of the
data folder, so that a new project has an estimate at once. A network that was never measured gets
the figures of bench/results/training.md, scaled by what this machine did with other networks.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from engine.files import written_whole
from engine.planning import TRAINING
from engine.projects import Project, reading
from engine.settings import Settings
from engine.system import host_name, now
from engine.text import InputError

SPEEDS = "speeds.json"  # in the data folder, beside the projects
_MOST_ROWS = 500  # the latest
_MOST_BYTES = 1_000_000
# Seconds per token of an epoch with one thread: a fixed part, and one that grows with the weights.
# They meet 6,600 tokens per second with and 10,200 without the frozen encoder, and 400 fine-tuned.
_FIXED, _PER_MILLION_WEIGHTS = 50e-6, 87e-6
_FINE_TUNED = 400.0
_ENCODED, _LABELED, _PREDICTED = 4_000.0, 50_000.0, 25_000.0


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens per second of one stage of one method, measured on this machine."""

    method: str  # "" for what all methods share
    stage: str  # prepare, confidence, training or predict
    tokens_per_second: float
    device: str = "cpu"


Speeds = dict[tuple[str, str], Speed]  # by method and stage


def machine_name() -> str:
    """Return the machine that a measured speed holds for."""
    return f"{host_name()}, {os.cpu_count() or 1} cores"


def network_key(settings: Settings) -> str:
    """Return the settings that decide the speed of an epoch, whatever the method."""
    parts = {
        "encoder": settings.encoder,
        "batch_size": settings.batch_size,
        "hidden_size": settings.hidden_size,
        "character_size": settings.character_size,
        "contextual_layer": settings.contextual_layer,
        "word_vectors": settings.word_vectors,
        "lexicon_window": settings.lexicon_window,
        "encoder_name": settings.encoder_name,
        "encoder_window": settings.encoder_window,
    }
    return json.dumps(parts)


# ---- measured -------------------------------------------------------------------------------


def measured_speeds(project: Project, settings: Settings) -> Speeds:
    """Return the latest speed of each (method, stage) of this network, on this machine.

    A project's own speeds come first: its text is what they were measured on.
    """
    network = network_key(settings)
    speeds: Speeds = {
        (row["method"], row["stage"]): _speed(row)
        for row in _machine_rows(project.folder.parent)
        if row["network"] == network
    }
    with reading(project.folder) as db:
        rows = db.execute(
            "SELECT method, stage, tokens_per_second, device FROM job_speeds"
            " WHERE machine = ? AND network = ? AND tokens_per_second > 0 ORDER BY at",
            (machine_name(), network),
        ).fetchall()
    return speeds | {(row["method"], row["stage"]): Speed(*row) for row in rows}


def keep_speeds(data_folder: Path, settings: Settings, speeds: Iterable[Speed]) -> None:
    """Add speeds of this machine to the file of the data folder; without room, do nothing."""
    about = {"machine": machine_name(), "network": network_key(settings), "at": now()}
    added = [about | asdict(speed) for speed in speeds]
    kept = {_identity(row): row for row in [*_rows(data_folder), *added] if _is_row(row)}
    latest = sorted(kept.values(), key=lambda row: str(row["at"]))[-_MOST_ROWS:]
    # Of two jobs that end at once, one may lose its speeds: they are measured again soon.
    with suppress(InputError), written_whole(data_folder / SPEEDS, is_synced=False) as out:
        out.write(json.dumps(latest).encode())


def _machine_rows(data_folder: Path) -> list[dict[str, Any]]:
    machine = machine_name()
    return [row for row in _rows(data_folder) if _is_row(row) and row["machine"] == machine]


def _rows(data_folder: Path) -> list[Any]:
    """Return what the file holds; nothing if it is missing or damaged."""
    try:
        with open(data_folder / SPEEDS, "rb") as stream:
            rows = json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    return rows if isinstance(rows, list) else []


def _is_row(row: object) -> bool:
    """Return whether a stored row can be used; whoever edits the file may write anything."""
    if not isinstance(row, dict):
        return False
    names = ("machine", "network", "method", "stage", "device", "at")
    speed = row.get("tokens_per_second")
    return (
        all(isinstance(row.get(name), str) for name in names)
        and isinstance(speed, int | float)
        and math.isfinite(speed)
        and speed > 0
    )


def _identity(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("machine", "network", "device", "method", "stage"))


def _speed(row: Mapping[str, Any]) -> Speed:
    return Speed(row["method"], row["stage"], float(row["tokens_per_second"]), row["device"])


# ---- guessed --------------------------------------------------------------------------------


def rough_speeds(project: Project, settings: Settings) -> Speeds:
    """Return guessed speeds of a network that was never measured on this machine."""
    parts = json.loads(network_key(settings))
    pace, device = _pace(project.folder.parent, settings.encoder)
    guesses = {
        TRAINING: _training_speed(parts),
        "prepare": _ENCODED if _is_encoded(parts) else _LABELED,
        "predict": _FINE_TUNED * 2.5 if parts["encoder"] == "transformer" else _PREDICTED,
    }
    return {
        ("", stage): Speed("", stage, pace * tokens_per_second, device)
        for stage, tokens_per_second in guesses.items()
    }


def _pace(data_folder: Path, encoder: str) -> tuple[float, str]:
    """Return how many times as fast as the guess other networks trained here, and on what."""
    paces = []
    for row in _machine_rows(data_folder):
        with suppress(ValueError, TypeError, KeyError):
            parts = json.loads(row["network"])
            if row["stage"] == TRAINING and parts["encoder"] == encoder:
                pace = float(row["tokens_per_second"]) / _training_speed(parts)
                paces.append((pace, str(row["device"])))
    if not paces:
        return 1.0, "cpu"
    return median(pace for pace, _ in paces), paces[-1][1]


def _training_speed(parts: Mapping[str, Any]) -> float:
    if parts["encoder"] == "transformer":
        return _FINE_TUNED
    hidden = float(parts["hidden_size"])
    inputs = 150 + (384 if _is_encoded(parts) else 0)
    return 1 / (_FIXED + _PER_MILLION_WEIGHTS * 8 * hidden * (inputs + hidden) / 1e6)


def _is_encoded(parts: Mapping[str, Any]) -> bool:
    return parts["encoder"] == "bilstm" and bool(parts["contextual_layer"])
