"""Folders and URLs that hold shards: list and read files, and write them whole or not at all."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from engine.files import written_whole
from engine.system import is_disk_full
from engine.text import InputError

_TEMPORARY = ".part"
# What tells one state of a file from the next, by kind of storage; the first that is known counts.
_VERSIONS = ("ETag", "etag", "md5Hash", "checksum", "mtime", "LastModified", "last_modified")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a store."""

    name: str  # path from the root of the store, with "/"
    size: int
    version: str  # changes with the file, as far as the storage tells


@dataclass(frozen=True, slots=True)
class Store:
    """A local folder, or a folder at any URL that fsspec knows."""

    root: str  # an absolute path, or a URL

    @property
    def is_local(self) -> bool:
        return "://" not in self.root

    def path_of(self, name: str) -> str:
        """Return the path or URL of a file."""
        return f"{self.root}/{name}" if name else self.root

    def files(self) -> list[StoredFile]:
        """Return all files under the root, by name; none if there is no such folder."""
        if self.is_local:
            return sorted(_local_files(Path(self.root)), key=lambda file: file.name)
        system, root = self._open()
        try:
            listed = system.find(root, detail=True)
        except FileNotFoundError:
            return []
        except Exception as error:  # every kind of storage has errors of its own
            raise _fault(self.root, "cannot be listed", error) from error
        prefix = len(root.rstrip("/")) + 1
        files = (
            StoredFile(path[prefix:], int(info.get("size") or 0), _version(info))
            for path, info in listed.items()
            if len(path) > prefix
        )
        return sorted(files, key=lambda file: file.name)

    def exists(self, name: str) -> bool:
        """Return whether there is a file or folder of this name."""
        if self.is_local:
            return os.path.exists(self.path_of(name))
        system, root = self._open()
        try:
            return bool(system.exists(f"{root}/{name}"))
        except Exception as error:
            raise _fault(self.path_of(name), "cannot be read", error) from error

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; InputError if it cannot be read."""
        try:
            if self.is_local:
                return Path(self.path_of(name)).read_bytes()
            system, root = self._open()
            data: bytes = system.cat_file(f"{root}/{name}")
            return data
        except InputError:
            raise
        except Exception as error:
            raise _fault(self.path_of(name), "cannot be read", error) from error

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of many small files; URLs are read several at a time."""
        names = list(names)
        if self.is_local:
            return {name: self.read(name) for name in names}
        if not names:
            return {}
        system, root = self._open()
        try:
            read = system.cat([f"{root}/{name}" for name in names])
        except Exception as error:
            raise _fault(self.root, "cannot be read", error) from error
        # One path comes back as bytes, several as a dictionary by path.
        data = [read] if isinstance(read, bytes) else [read[key] for key in sorted(read)]
        return dict(zip(sorted(names), data, strict=True))

    def write(self, name: str, data: bytes) -> None:
        """Write a file under a temporary name, then rename it; another writer may do the same."""
        if self.is_local:
            with written_whole(self.path_of(name)) as out:
                out.write(data)
            return
        system, root = self._open()
        path = PurePosixPath(f"{root}/{name}")
        temporary = str(path.with_name(f".{path.name}.{uuid4().hex}{_TEMPORARY}"))
        try:
            system.makedirs(str(path.parent), exist_ok=True)
            system.pipe_file(temporary, data)
            system.mv(temporary, str(path))
        except Exception as error:
            reason = "the disk is full" if is_disk_full(error) else error
            raise _fault(self.path_of(name), "cannot be written", reason) from error

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        if self.is_local:
            Path(self.path_of(name)).unlink(missing_ok=True)
            return
        system, root = self._open()
        if system.exists(f"{root}/{name}"):
            system.rm_file(f"{root}/{name}")

    def _open(self) -> tuple[Any, str]:
        """Return the file system of the URL, and the root as it spells it."""
        try:
            import fsspec  # only for URLs

            system, root = fsspec.core.url_to_fs(self.root)
        except ImportError as error:  # fsspec itself, or its package for this kind of URL
            raise InputError(f"{self.root} needs a package that is missing: {error}") from error
        except Exception as error:
            raise _fault(self.root, "cannot be opened", error) from error
        return system, root.rstrip("/")


def open_store(place: str | Path) -> Store:
    """Return the store at a path or URL; a path becomes absolute, as every process needs it."""
    text = str(place)
    if text.startswith("file://"):
        text = text.removeprefix("file://")
    if "://" in text:
        return Store(text.rstrip("/"))
    return Store(os.path.abspath(os.path.expanduser(text)))


def is_temporary(name: str) -> bool:
    """Return whether a name is that of a file that is not complete.

    >>> is_temporary("a/.b.jsonl.1234.part"), is_temporary("a/b.jsonl")
    (True, False)
    """
    base = PurePosixPath(name).name
    return base.startswith(".") and base.endswith(_TEMPORARY)


def _local_files(root: Path) -> Iterable[StoredFile]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                status = path.stat()
            except OSError:  # deleted meanwhile, or a link to nothing
                continue
            relative = path.relative_to(root).as_posix()
            yield StoredFile(relative, status.st_size, str(status.st_mtime_ns))


def _version(info: Mapping[str, Any]) -> str:
    return str(next((info[key] for key in _VERSIONS if info.get(key) is not None), ""))


def _fault(place: str, what: str, error: object) -> InputError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"{place} {what}: {str(reason).splitlines()[0]}")
