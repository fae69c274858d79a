"""Decode the bytes of a file: find its encoding, check all of it, and say what does not fit.

This is the only decoder. A file is decoded in blocks, whether its bytes are in memory or on disk.
"""

import codecs
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from engine.files.sources import (
    BLOCK,
    Source,
    SourceFile,
    read_blocks,
    read_head,
    read_whole,
    refuse_binary,
)
from engine.text import InputError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose little-endian mark is the first half of this one.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD_BYTES = 4_000  # enough to tell the encoding of most files
_AROUND = 12  # characters shown on either side of one that is not UTF-8
_BLOCK = BLOCK
# Codecs that give another result when they decode a file in blocks.
_WHOLE_ONLY = frozenset(("raw-unicode-escape", "unicode-escape"))
# Codecs of names on the internet, whose time grows with the square of the size, and of nothing.
_NOT_FOR_FILES = frozenset(("idna", "punycode", "undefined"))
# Codecs that accept half of a surrogate pair, which no file can be written with.
_ALLOW_SURROGATES = _WHOLE_ONLY | {"utf-7"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, the encoding it was read with, and notes for the user."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file whose every byte has been checked."""

    name: str  # as found, or as asked for
    codec: str  # Python's name for it, with the byte order
    notes: tuple[str, ...] = ()

    @property
    def decodes_in_blocks(self) -> bool:
        return self.codec not in _WHOLE_ONLY


def decode(file: SourceFile, encoding: str | None = None) -> Decoded:
    """Return the text of a file, line endings kept; `find_encoding` says how it is decoded."""
    known = find_encoding(file, encoding)
    return Decoded(file.data.decode(known.codec), known.name, known.notes)


def find_encoding(source: Source, encoding: str | None = None) -> Encoding:
    """Return how to decode a file, after decoding all of it once without keeping the text.

    In this order: the encoding asked for, a byte order mark, UTF-8, UTF-16 by its NUL bytes,
    Windows-1252. A file that is none of these is refused, and so is one that is empty, holds a NUL
    or half a surrogate pair, or is of a known binary format.
    """
    if not any(block.strip() for block in read_blocks(source, _BLOCK)):
        raise _empty_file(source)
    refuse_binary(source)
    head = read_head(source, _HEAD_BYTES)
    name, notes = (encoding, ()) if encoding else _encoding_by_head(head, source.size)
    try:
        codec = _codec(name, head)
        scan = _scan(source, codec)
    except InputError:
        raise
    except _Undecodable as fault:
        if encoding or name != "utf-8":
            raise _wrong_encoding(source.name, name, fault) from None
        name = codec = "windows-1252"
        scan = _scan_windows_1252(source, fault)
        notes = (_read_as_windows_1252(source, fault),)
    # No codec, one that is not for text, or (ValueError) not even a name.
    except (LookupError, ValueError):
        raise InputError(
            f'"{encoding}" is not an encoding; try utf-8, utf-16, windows-1252 or shift_jis',
            fix="encoding",
        ) from None
    if scan.is_empty:
        raise _empty_file(source)
    if scan.nul:
        raise _holds_nul(source.name, *scan.nul)
    if scan.surrogate:
        raise _holds_surrogate(source.name, name, *scan.surrogate)
    return Encoding(name, codec, notes)


# ---- which encoding -------------------------------------------------------------------------


def _encoding_by_head(head: bytes, size: int) -> tuple[str, tuple[str, ...]]:
    """Return what the first bytes say about the encoding, with a note if it is a guess.

    UTF-8 if they say nothing; the file may still turn out to be Windows-1252.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name, ()
    guess = _utf16_without_mark(head, size)
    return (guess, (f"read as {guess.upper()}",)) if guess else ("utf-8", ())


def _utf16_without_mark(head: bytes, size: int) -> str | None:
    """Mostly-Latin UTF-16 has a NUL in every second byte, always on the same side."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if size % 2 == 0 and max(even, odd) > len(head) * 0.3 and min(even, odd) == 0:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _codec(encoding: str, head: bytes) -> str:
    """Return the codec that decodes a file in blocks as `encoding` decodes it at once.

    For UTF-16 and UTF-32 without a byte order mark it names the byte order of this machine.
    """
    with suppress(UnicodeDecodeError):  # two or more bytes per character
        b"\n".decode(encoding)  # LookupError or ValueError if there is no such codec for text
    name = codecs.lookup(encoding).name
    if name in _NOT_FOR_FILES:
        raise LookupError(name)
    if name.replace("_", "-") in _WHOLE_ONLY:
        return name.replace("_", "-")
    marks = {
        "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
        "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    }
    if name not in marks or head.startswith(marks[name]):
        return name
    return f"{name}-{'le' if sys.byteorder == 'little' else 'be'}"


# ---- a pass over all bytes ------------------------------------------------------------------


class _Undecodable(Exception):
    """A byte that does not fit the encoding, and its position in the file."""

    def __init__(self, byte: int, position: int) -> None:
        super().__init__(byte, position)
        self.byte, self.position = byte, position

    def __str__(self) -> str:
        return f"byte 0x{self.byte:02X} at position {self.position:,}"


class _Scan(NamedTuple):
    """What has to be known about a text before it is used."""

    is_empty: bool
    nul: tuple[int, int] | None  # line and position of the first NUL
    surrogate: tuple[int, int] | None  # the same of the first half of a surrogate pair


def _scan(source: Source, codec: str) -> _Scan:
    is_empty, nul, surrogate = True, None, None
    characters, lines = 0, 1
    for text in _pieces(source, codec):
        is_empty = is_empty and not (text if characters else text.removeprefix("\ufeff"))
        if nul is None and (at := text.find("\0")) >= 0:
            nul = (lines + text.count("\n", 0, at), characters + at)
        if surrogate is None and codec in _ALLOW_SURROGATES and (half := _SURROGATE.search(text)):
            at = half.start()
            surrogate = (lines + text.count("\n", 0, at), characters + at)
        characters += len(text)
        lines += text.count("\n")
    return _Scan(is_empty, nul, surrogate)


def _pieces(source: Source, codec: str) -> Iterator[str]:
    """Yield the text of a file block by block; _Undecodable at the first byte that does not fit."""
    fed = 0
    try:
        if codec in _WHOLE_ONLY:
            data = read_whole(source).data
            fed = len(data)
            yield data.decode(codec)
            return
        decoder = codecs.getincrementaldecoder(codec)()
        for block in read_blocks(source, _BLOCK):
            fed += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # The codec was given the bytes it held back and this block: everything up to `fed`.
        position = fed - len(error.object) + error.start
        raise _Undecodable(error.object[error.start], position) from None


def _scan_windows_1252(source: Source, fault: _Undecodable) -> _Scan:
    try:
        return _scan(source, "windows-1252")
    except _Undecodable:
        raise InputError(
            f"{source.name} is not UTF-8 ({fault}), nor Windows-1252. "
            "Save it as UTF-8, or name its encoding",
            fix="encoding",
        ) from None


# ---- messages -------------------------------------------------------------------------------


def _empty_file(source: Source) -> InputError:
    return InputError(f"{source.name} is empty ({source.size} bytes). Nothing was added")


def _wrong_encoding(name: str, encoding: str, fault: _Undecodable) -> InputError:
    return InputError(
        f"{name} is not {encoding} ({fault}). Name the right encoding, or save the file as UTF-8",
        fix="encoding",
    )


def _read_as_windows_1252(source: Source, fault: _Undecodable) -> str:
    """Return the note on a file that is not UTF-8, with a word by which the user can check."""
    words = _around(source, fault.position).split()
    word = max(words, key=lambda w: sum(not c.isascii() for c in w), default="")
    return (
        f'is not UTF-8 ({fault}); read as Windows-1252, e.g. "{word}". '
        "If that looks wrong, name its encoding"
    )


def _around(source: Source, position: int) -> str:
    """Return the characters on both sides of a byte, in an encoding of one byte per character."""
    start = max(0, position - _AROUND)
    with source.open() as stream:
        if stream.seekable():
            stream.seek(start, os.SEEK_SET)
        else:
            stream.read(start)
        return stream.read(position + _AROUND - start).decode("windows-1252")


def _holds_nul(name: str, line: int, position: int) -> InputError:
    return InputError(
        f"{name} line {line:,} holds a NUL byte (character {position:,}), so it is not "
        "plain text. Save it as text again, or remove that byte"
    )


def _holds_surrogate(name: str, encoding: str, line: int, position: int) -> InputError:
    return InputError(
        f"{name} line {line:,} holds half a surrogate pair (character {position:,}) when it is "
        f"read as {encoding}. Name the right encoding, or correct that character",
        fix="encoding",
    )
