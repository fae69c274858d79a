"""Delete what killed processes left half written: working folders, temporary files, projects.

Nothing of a live process is deleted: names say which process made them. What has no such name is
deleted when it is a day old.
"""

import glob
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from engine.system import is_left_behind

WORKING = ".zip-"  # folders inside a project while it is zipped
NEW, DELETED = ".new-", ".deleted-"  # folders that are not yet projects, or no longer
_PART = ".part"


def sweep_data(folder: Path) -> None:
    """Delete what is left behind in the folder of all projects and in each project."""
    sweep_half_made(folder)
    for path in _inside(folder):
        if not path.name.startswith(".") and path.is_dir() and not path.is_symlink():
            sweep_project(path)


def sweep_half_made(folder: Path) -> None:
    """Delete projects that were left half made or half deleted."""
    for path in _inside(folder):
        if path.name.startswith(DELETED) or (path.name.startswith(NEW) and is_left_behind(path)):
            shutil.rmtree(path, ignore_errors=True)


def sweep_project(folder: Path) -> None:
    """Delete the working folders and half-written files that are left behind in a project."""
    for path in _inside(folder):
        if path.name.startswith(WORKING) and is_left_behind(path):
            shutil.rmtree(path, ignore_errors=True)
    for parent, _, names in os.walk(folder):
        _delete(Path(parent, name) for name in names if _is_part(name))


def sweep_beside(path: Path) -> None:
    """Delete half-written versions of one file that are left behind beside it."""
    path = Path(os.path.realpath(path))
    _delete(path.parent.glob(f".{glob.escape(path.name[:60])}.*{_PART}"))


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_part(name: str) -> bool:
    return name.startswith(".") and name.endswith(_PART)


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        if is_left_behind(path):
            with suppress(OSError):
                path.unlink()
