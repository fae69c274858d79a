"""Unpack zip archives, after checking that they are safe to open."""

import io
import os
import re
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine.files.sources import (
    BLOCK,
    ZIP_DAMAGE,
    PathSource,
    Source,
    SourceFile,
    is_zip,
)
from engine.files.writing import write_error
from engine.settings import LIMITS, Limits
from engine.system import advance
from engine.text import InputError

# Files that desktops add to archives.
_CLUTTER = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
_DRIVE = re.compile("[A-Za-z]:")


def unzip(file: SourceFile, limits: Limits | None = None) -> list[SourceFile]:
    """Return the files of an archive, after checking that it is safe to open.

    Refused: paths that leave the archive, archives inside archives, encrypted members, too many
    members, and members that unpack to more than the limits, whatever their header says.
    """
    limits = limits or file.limits
    room = _Room(file.name, file.size, limits)
    with _opened(file.name, io.BytesIO(file.data)) as archive:
        members = _checked_members(archive, room)
        files = [
            SourceFile(member.filename, b"".join(chunks), limits)
            for member, chunks in _contents(archive, members, room)
        ]
    for inner in files:
        if is_zip(inner):
            raise InputError(_archive_inside(file.name, inner.name))
    return files


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive, unpacked each time it is read."""

    archive: Source
    info: zipfile.ZipInfo

    @property
    def name(self) -> str:
        return self.info.filename

    @property
    def size(self) -> int:
        return self.info.file_size

    @property
    def limits(self) -> Limits:
        return self.archive.limits

    def open(self) -> IO[bytes]:
        path = self.archive.path if isinstance(self.archive, PathSource) else self.archive.open()
        # The archive stays open while its member is read.
        with _KnownArchive(path) as archive:
            return archive.open(self.info)


class _KnownArchive(zipfile.ZipFile):
    """An archive whose list of members is known and not read again.

    Otherwise each of its files would cost as much to open as there are files in it.
    """

    def _RealGetContents(self) -> None:
        pass


def packed_members(file: Source, limits: Limits | None = None) -> list[Member]:
    """Return the files of an archive, still packed, after the checks of `unzip`.

    Everything is unpacked once, without keeping it, to check that it can be.
    """
    room = _Room(file.name, file.size, limits or file.limits)
    with file.open() as stream, _opened(file.name, stream) as archive:
        members = _checked_members(archive, room)
        for _, chunks in _contents(archive, members, room):
            deque(chunks, maxlen=0)
    packed = [Member(file, member) for member in members]
    for inner in packed:
        if is_zip(inner):
            raise InputError(_archive_inside(file.name, inner.name))
    return packed


def unzip_to(
    stream: IO[bytes], folder: Path, *, name: str = "the archive", limits: Limits = LIMITS
) -> None:
    """Unpack an archive into an empty folder, after the checks of `unzip`.

    Archives inside are written without opening them; a link becomes a plain file.
    """
    with _opened(name, stream) as archive:
        room = _Room(name, stream.seek(0, os.SEEK_END), limits)
        members = _checked_members(archive, room, may_nest=True)
        for member, chunks in _contents(archive, members, room):
            _write(folder.joinpath(*_parts(member)), chunks)
            advance(member.compress_size)


@contextmanager
def _opened(name: str, stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except InputError:
        raise
    except ZIP_DAMAGE as error:
        raise InputError(f"{name} is a damaged zip archive ({error}). Zip it again") from error


@dataclass(frozen=True, slots=True)
class _Room:
    """How much the files of an archive may unpack to, all together."""

    name: str
    packed: int  # bytes of the archive itself, which nobody can misstate
    limits: Limits

    def check(self, unpacked: int) -> None:
        """Raise InputError if so many bytes are over a limit."""
        limits, advice = self.limits, "Split it into smaller archives"
        if unpacked > limits.zip_unpacked_mb * 1_000_000:
            raise InputError(
                f"{self.name} unpacks to more than {limits.zip_unpacked_mb:,} MB. {advice}",
                "no_limits",
            )
        # Text shrinks to a third or a tenth; what shrinks to a thousandth is made to fill a memory.
        if unpacked > max(limits.zip_small_mb * 1_000_000, limits.zip_ratio * self.packed):
            raise InputError(
                f"{self.name} unpacks to more than {limits.zip_ratio:,} times its size. "
                "Give the files themselves",
                "no_limits",
            )


def _contents(
    archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo], room: _Room
) -> Iterator[tuple[zipfile.ZipInfo, Iterator[bytes]]]:
    """Yield each member with its bytes; all of them together are within the limits."""
    unpacked = 0

    def chunks(member: zipfile.ZipInfo) -> Iterator[bytes]:
        nonlocal unpacked
        with archive.open(member) as stream:
            # In blocks: a large read unpacks everything at once, whatever the header says.
            while chunk := stream.read(BLOCK):
                unpacked += len(chunk)
                room.check(unpacked)
                advance(0)  # whoever waits may want to stop
                yield chunk

    return ((member, chunks(member)) for member in members)


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # "x": otherwise the second of two members with the same name replaces the first.
        with open(path, "xb") as out:
            out.writelines(chunks)
    except OSError as error:
        # An error without a number is about the archive, which the caller reports.
        raise (write_error(path, error) if error.errno else error) from error


def _is_clutter(member: zipfile.ZipInfo) -> bool:
    """Return whether this is a folder, or a file that desktops add."""
    name = Path(member.filename).name
    is_hidden = name.startswith("._") or name in _CLUTTER
    # Not is_dir(), which fails for a name without a character.
    is_folder = member.filename.endswith("/")
    return is_folder or is_hidden or member.filename.startswith("__MACOSX/")


def _checked_members(
    archive: zipfile.ZipFile, room: _Room, *, may_nest: bool = False
) -> list[zipfile.ZipInfo]:
    name, limits = room.name, room.limits
    members = [member for member in archive.infolist() if not _is_clutter(member)]
    if not members:
        raise InputError(f"{name} holds no files. Nothing was added")
    if len(members) > limits.zip_members:
        raise InputError(
            f"{name} holds {len(members):,} files; the limit is {limits.zip_members:,}. "
            "Join small files into one .jsonl or .csv",
            "no_limits",
        )
    for member in members:
        parts = _parts(member)
        if not parts[0] or ".." in parts or _DRIVE.match(parts[0]):
            raise InputError(
                f'{name} holds the path "{member.filename}", which leaves the archive. '
                "Zip the files again without it"
            )
        if member.flag_bits & 0x1:
            raise InputError(f'{name}: "{member.filename}" is encrypted. Zip it without a password')
        if member.filename.lower().endswith(".zip") and not may_nest:
            raise InputError(_archive_inside(name, member.filename))
    # A first check that costs nothing; unpacking counts again and trusts no header.
    room.check(sum(member.file_size for member in members))
    return members


def _parts(member: zipfile.ZipInfo) -> list[str]:
    return member.filename.replace("\\", "/").split("/")


def _archive_inside(name: str, member: str) -> str:
    return f'{name} holds another archive, "{member}". Unpack that one first'
