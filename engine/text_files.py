"""The text of a file, gone through line by line as often as needed, in memory or on the disk."""

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from engine.encoding import (
    AROUND,
    HEAD_BYTES,
    empty_file,
    encoding_by_head,
    holds_nul,
    of_no_encoding,
    read_as_windows_1252,
    wrong_encoding,
)
from engine.files import Source, SourceFile, decode, refuse_binary, refuse_large
from engine.text import InputError

ANY_END, NEWLINE = "", "\n"  # what ends a line: "\r", "\n" and "\r\n", or "\n" alone
_LINES = {
    ANY_END: re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+"),
    NEWLINE: re.compile(r"[^\n]*\n|[^\n]+"),
}
_CHUNK = 1 << 20  # bytes decoded at a time
# Codecs that decode a file piece by piece to something else than at once, or never.
_WHOLE_ONLY = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))


@dataclass(frozen=True, slots=True)
class PathSource:
    """A file that stays on the disk."""

    path: Path
    size: int

    @property
    def name(self) -> str:
        return self.path.name

    def open(self) -> IO[bytes]:
        """Return the file, opened, or say why it cannot be read."""
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise _unreadable(self.path, error) from error


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, without a byte order mark, and what was found out about its bytes."""

    name: str
    encoding: str
    notes: tuple[str, ...]
    is_marked: bool  # begins with the byte order mark of UTF-8
    lines: Callable[[str], Iterator[str]]  # of ANY_END or NEWLINE, their ends kept
    whole: Callable[[], str]  # all of it at once

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def extension(self) -> str:
        return Path(self.name).suffix.lower()


def held_text(file: SourceFile, encoding: str | None = None) -> Text:
    """Return the text of a file whose bytes are in memory."""
    decoded = decode(file, encoding)
    return replace(
        text_of(file.name, decoded.text.removeprefix("\ufeff")),
        encoding=decoded.encoding,
        notes=decoded.notes,
        is_marked=file.data.startswith(codecs.BOM_UTF8),
    )


def text_of(name: str, text: str) -> Text:
    """Return characters as the text of a file called `name`."""
    lines = partial(_held_lines, text)
    return Text(name, "", (), is_marked=False, lines=lines, whole=lambda: text)


def _held_lines(text: str, end: str) -> Iterator[str]:
    return (match.group() for match in _LINES[end].finditer(text))


# ---- on the disk ----------------------------------------------------------------------------


def path_source(path: str | Path) -> PathSource:
    """Return the file at `path`, or say why it cannot be read; its size does not matter."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the files in it, or zip them")
        source = PathSource(path, path.stat().st_size)
        source.open().close()
        return source
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read: {error.strerror or error}")


def read_whole(source: Source) -> SourceFile:
    """Return a file with its bytes, unless it is over the limit for those."""
    if isinstance(source, SourceFile):
        return source
    refuse_large(source.name, source.size)
    with source.open() as stream:
        return SourceFile(source.name, stream.read())


def stored_text(source: Source, encoding: str | None = None) -> Text:
    """Return the text of a file that is never held, decoded as `files.decode` would.

    It is gone through once here: a byte of no encoding, or a NUL, is found wherever it is.
    """
    head = read_head(source, HEAD_BYTES)
    if encoding and not _is_known(encoding):
        return held_text(read_whole(source), encoding)
    if not any(chunk.strip() for chunk in _chunks(source)):
        raise empty_file(source.name, source.size)
    refuse_binary(source)
    found, notes = _decide(source, head, encoding)
    opened = partial(_opened, source, _codec(found, head))

    def whole() -> str:
        refuse_large(source.name, source.size)
        with opened(ANY_END) as stream:
            return stream.read().removeprefix("\ufeff")

    return Text(
        source.name,
        found,
        notes,
        head.startswith(codecs.BOM_UTF8),
        lines=partial(_stored_lines, opened),
        whole=whole,
    )


def read_head(source: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file."""
    with source.open() as stream:
        return stream.read(size)


def _is_known(encoding: str) -> bool:
    """Whether a codec decodes text piece by piece; one that is none at all is refused elsewhere."""
    try:
        b"\n".decode(encoding)
    except UnicodeDecodeError:
        pass  # of two bytes a character, or more
    except (LookupError, ValueError):
        return False
    return codecs.lookup(encoding).name.replace("_", "-") not in _WHOLE_ONLY


def _codec(encoding: str, head: bytes) -> str:
    """The name of the codec that decodes in pieces what `encoding` decodes at once.

    Of UTF-16 and UTF-32 without a byte order mark only the latter takes the machine's order.
    """
    name = codecs.lookup(encoding).name
    marks = {
        "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
        "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    }
    if name not in marks or head.startswith(marks[name]):
        return name
    return f"{name}-{'le' if sys.byteorder == 'little' else 'be'}"


def _stored_lines(opened: Callable[[str], io.TextIOWrapper], end: str) -> Iterator[str]:
    with opened(end) as stream:
        first = stream.readline().removeprefix("\ufeff")
        if first:
            yield first
        yield from stream


def _opened(source: Source, encoding: str, end: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(source.open(), encoding=encoding, newline=end)


def _chunks(source: Source) -> Iterator[bytes]:
    with source.open() as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


# ---- the encoding, decided by all bytes -----------------------------------------------------


class _Undecodable(Exception):
    """A byte that is not of an encoding, and where in the file it is."""

    def __init__(self, byte: int, position: int) -> None:
        super().__init__(byte, position)
        self.byte, self.position = byte, position


class _Scan(NamedTuple):
    """What is to be known of a decoded text before it is used."""

    is_empty: bool
    nul: tuple[int, int] | None  # the line and the position of the first NUL


def _decide(source: Source, head: bytes, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """The encoding of a file and what to note about it; a file that has none is refused."""
    name, notes = (encoding, ()) if encoding else encoding_by_head(head, source.size)
    try:
        scan = _scan(source, _codec(name, head))
    except _Undecodable as fault:
        if encoding or name != "utf-8":
            raise wrong_encoding(source.name, name, fault.byte, fault.position) from None
        name, scan = "windows-1252", _scan_windows_1252(source, fault)
        notes = (read_as_windows_1252(fault.byte, fault.position, _around(source, fault.position)),)
    if scan.is_empty:
        raise empty_file(source.name, source.size)
    if scan.nul:
        raise holds_nul(source.name, *scan.nul)
    return name, notes


def _scan_windows_1252(source: Source, fault: _Undecodable) -> _Scan:
    try:
        return _scan(source, "windows-1252")
    except _Undecodable:
        raise of_no_encoding(source.name, fault.byte, fault.position) from None


def _scan(source: Source, encoding: str) -> _Scan:
    decoder = codecs.getincrementaldecoder(encoding)()
    is_empty, nul = True, None
    fed, characters, lines = 0, 0, 1
    chunks = _chunks(source)
    is_last = False
    while not is_last:
        chunk = next(chunks, b"")
        is_last, fed = not chunk, fed + len(chunk)
        try:
            text = decoder.decode(chunk, final=is_last)
        except UnicodeDecodeError as error:
            # The codec was given what it held back and this chunk: all up to here.
            position = fed - len(error.object) + error.start
            raise _Undecodable(error.object[error.start], position) from None
        is_empty = is_empty and not (text if characters else text.removeprefix("\ufeff"))
        if nul is None and (at := text.find("\0")) >= 0:
            nul = (lines + text.count("\n", 0, at), characters + at)
        characters += len(text)
        lines += text.count("\n")
    return _Scan(is_empty, nul)


def _around(source: Source, position: int) -> str:
    """The characters on both sides of a byte, in an encoding of one byte a character."""
    start = max(0, position - AROUND)
    with source.open() as stream:
        if stream.seekable():
            stream.seek(start, os.SEEK_SET)
        else:
            stream.read(start)
        return stream.read(position + AROUND - start).decode("windows-1252")
