"""A project's folder as one zip, and a zip as a folder again."""

import io
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from engine import project_store as store
from engine.files import written_whole
from engine.text import InputError

# Read forms can be made again, and a stranger's might show another text than the originals hold.
_LEFT_OUT = frozenset(("cache",))


def pack(folder: Path, path: Path) -> None:
    """Write a project's folder as a zip, whole or not at all."""
    with written_whole(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        copy = folder / ".export.db"
        try:
            store.copy_store(folder, copy)
            archive.write(copy, store.DATABASE)
        finally:
            copy.unlink(missing_ok=True)
        for name in _members(folder):
            archive.write(folder / name, name)


def copy_project(folder: Path, target: Path) -> None:
    """Copy a project's folder into an empty one."""
    store.copy_store(folder, target / store.DATABASE)
    for name in _members(folder):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target / name)


def unpack(source: str | Path | bytes, folder: Path) -> None:
    """Unpack a project's zip into an empty folder, after checking it."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb")  # noqa: SIM115
    with stream, zipfile.ZipFile(stream) as archive:
        for name in archive.namelist():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
    store.check_store(folder)


def _members(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        inside = Path(parent).relative_to(folder)
        if inside == Path():
            folders[:] = [name for name in folders if name not in _LEFT_OUT]
            names = [name for name in names if not name.startswith(store.DATABASE)]
        for name in sorted(names):
            if not name.startswith(".") and not (folder / inside / name).is_symlink():
                yield str(inside / name)
