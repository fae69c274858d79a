"""Remember which runs came with an imported project, and what they may use on this machine.

A run's card, and the request of a job, name word vectors and an encoder. Whoever made an imported
project chose those names, so they count only if they ship with Glossa or lie in the run's own
folder. The user is asked about all others before anything is opened or downloaded.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from engine.run_folder.card import ENCODER, read_card, write_json
from engine.settings import Settings
from engine.text import InputError

_MARK = "imported.json"  # in a job's folder: the names that the user has allowed
_LEVELS = 3  # a run's folder lies at most so deep in its job's folder
_SHIPPED = ("glove", "none")
_SHIPPED_ENCODER = "minilm"
_SHOWN = 80  # characters of a name


def mark_imported(folder: Path) -> None:
    """Note that the job in this folder was imported; nothing that it names is allowed yet."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / _MARK, [])


def names_elsewhere(settings: Settings) -> tuple[str, ...]:
    """Return the files, folders and models that settings name and Glossa does not bring."""
    names = []
    if settings.encoder == "bilstm" and settings.word_vectors not in _SHIPPED:
        names.append(settings.word_vectors)
    has_encoder = settings.encoder == "transformer" or settings.contextual_layer > 0
    if has_encoder and settings.encoder_name != _SHIPPED_ENCODER:
        names.append(settings.encoder_name)
    return tuple(names)


def to_ask(folder: Path, settings: Settings) -> tuple[str, ...]:
    """Return the names that an imported job uses and the user has not allowed."""
    mark = _mark_of(folder)
    if mark is None:
        return ()
    allowed = _allowed(mark)
    return tuple(name for name in names_elsewhere(settings) if name not in allowed)


def to_ask_of_run(folder: Path) -> tuple[str, ...]:
    """Return the names that an imported run uses and the user has not allowed.

    What lies in the run's own folder is no question.
    """
    settings = read_card(folder).settings
    kept = set()
    if (folder / Path(settings.word_vectors).name).is_file():
        kept.add(settings.word_vectors)
    if (folder / ENCODER).is_dir():
        kept.add(settings.encoder_name)
    return tuple(name for name in to_ask(folder, settings) if name not in kept)


def allow(folder: Path, names: Iterable[str]) -> None:
    """Let an imported job or run use these names from now on."""
    if (mark := _mark_of(folder)) is not None:
        write_json(mark, sorted({*_allowed(mark), *names}))


def is_allowed(folder: Path, name: str) -> bool:
    """Return whether the user has let this imported job or run use a name."""
    mark = _mark_of(folder)
    return mark is not None and name in _allowed(mark)


def refuse_unasked(names: Iterable[str]) -> None:
    """Raise InputError if an imported run names anything that the user has not allowed."""
    listed = " and ".join(f'"{name[:_SHOWN]}"' for name in names)
    if listed:
        raise InputError(
            f"this run was imported and uses {listed}, which is no part of it and was not opened. "
            "Allow it if you know what it is",
            "trust",
        )


def _mark_of(folder: Path) -> Path | None:
    """The mark of an imported job, in its folder or above the folder of one of its runs."""
    folder = folder.absolute()
    marks = (place / _MARK for place in (folder, *folder.parents[:_LEVELS]))
    return next((mark for mark in marks if mark.exists()), None)


def _allowed(mark: Path) -> frozenset[str]:
    try:
        names = json.loads(mark.read_bytes())
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()
