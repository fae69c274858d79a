"""Write files whole or not at all: a reader never sees half of one."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from engine.system import process_mark
from engine.text import InputError


@contextmanager
def written_whole(path: str | Path, *, is_synced: bool = True) -> Iterator[IO[bytes]]:
    """Open `path` for writing; it ends up with all of the new content, or keeps the old.

    The bytes go to a temporary file beside it, which is renamed at the end. A device or a pipe
    (/dev/stdout) is written directly. If `path` is a link, its target is replaced, not the link.
    Without `is_synced`, a power failure may still lose the file. That is for files that can be made
    again, and for many files that the caller syncs together.
    """
    path = Path(path)
    if _is_device(path):
        with _opened(path) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed and renamed below
            dir=target.parent,
            prefix=f".{target.name[:60]}.{process_mark()}.",
            suffix=".part",
            delete=False,
        )
    except OSError as error:
        raise write_error(path, error) from error
    try:
        yield handle
        handle.flush()
        if is_synced:
            os.fsync(handle.fileno())
        handle.close()
        os.chmod(handle.name, _mode_for(target))
        os.replace(handle.name, target)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        # Closing flushes again, and on a full disk fails again; the error is already raised.
        with suppress(OSError):
            handle.close()
        Path(handle.name).unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    # os.path, unlike Path, treats a file that cannot be read as missing; opening it says why.
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open(path, "wb") as out:
            yield out
    except OSError as error:
        raise write_error(path, error) from error


def _mode_for(path: Path) -> int:
    """Return the old file's permissions, or those of any new file: temporary files are private."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0o077)  # never wider, not even for a moment: other threads write too
    os.umask(umask)
    return 0o666 & ~umask


def write_error(path: Path, error: OSError) -> InputError:
    """Return the error to show when `path` cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            f"no room left on the disk for {path}; nothing was written. "
            "Free some space or choose another folder"
        )
    return InputError(f"{path} cannot be written: {error.strerror or error}. Nothing was written")
