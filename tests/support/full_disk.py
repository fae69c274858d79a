"""A disk that is full from its nth write on: files opened, written, synced, renamed, rows stored.

    with full_disk(at=3) as disk:   # the third write fails, and all after it
        ...
        disk.free()                 # now there is room again
    disk.count                      # how many writes there were

Only what the code under test writes below `folder` counts.
"""

import builtins
import errno
import io
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

_CHANGES = ("INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP")


class FullDisk:
    """Counts writes and refuses those from number `at` on, until there is room again."""

    def __init__(self, folder: Path, at: int) -> None:
        self.folder, self.at, self.count = str(folder), at, 0

    def free(self) -> None:
        self.at = 0

    @property
    def is_full(self) -> bool:
        return 0 < self.at <= self.count

    def write(self, path: object = None) -> None:
        """Count a write; OSError if the disk is full."""
        if path is None or str(path).startswith(self.folder):
            self.count += 1
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))

    def store(self) -> None:
        """Count a change of rows; SQLite's own error if the disk is full."""
        self.count += 1
        if self.is_full:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error


@contextmanager
def full_disk(folder: Path, at: int) -> Iterator[FullDisk]:
    """Let the writes below `folder` fail from number `at` on; with 0, count them."""
    disk = FullDisk(folder, at)

    class Connection(sqlite3.Connection):
        def execute(self, query: str, *values: object) -> sqlite3.Cursor:
            if query.lstrip().upper().startswith(_CHANGES):
                disk.store()
            return super().execute(query, *values)

        def executemany(self, query: str, *values: object) -> sqlite3.Cursor:
            disk.store()
            return super().executemany(query, *values)

        def commit(self) -> None:
            disk.store()
            super().commit()

    connect, opened, named = sqlite3.connect, builtins.open, tempfile.NamedTemporaryFile
    replace, fsync, mkdir = os.replace, os.fsync, os.mkdir

    def counted_open(path, mode="r", *arguments, **options):
        if set(mode) & set("wax+"):
            disk.write(path)
        return opened(path, mode, *arguments, **options)

    def counted_file(*arguments, **options):
        disk.write(options.get("dir"))
        handle = named(*arguments, **options)
        if str(options.get("dir")).startswith(disk.folder):
            write = handle.file.write

            def counted_write(data):
                disk.write()
                return write(data)

            handle.write = counted_write
        return handle

    def counted_replace(source, target, **options):
        disk.write(target)
        return replace(source, target, **options)

    def counted_fsync(handle):
        disk.write()
        return fsync(handle)

    def counted_mkdir(path, *arguments, **options):
        disk.write(path)
        return mkdir(path, *arguments, **options)

    def counted_connect(database, *arguments, **options):
        if database == ":memory:":
            return connect(database, *arguments, **options)
        return connect(database, *arguments, **{"factory": Connection, **options})

    with (
        mock.patch("sqlite3.connect", counted_connect),
        mock.patch("builtins.open", counted_open),
        mock.patch.object(io, "open", counted_open),
        mock.patch("tempfile.NamedTemporaryFile", counted_file),
        mock.patch("os.replace", counted_replace),
        mock.patch("os.fsync", counted_fsync),
        mock.patch("os.mkdir", counted_mkdir),
    ):
        yield disk
