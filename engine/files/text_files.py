"""Read the text of a file line by line or at once, whether its bytes are in memory or on disk."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.files.decoding import Encoding, decode, find_encoding
from engine.files.sources import (
    Source,
    SourceFile,
    read_head,
    read_whole,
    refuse_large,
)

ANY_END, NEWLINE = "", "\n"  # what ends a line: "\r", "\n" and "\r\n", or "\n" alone
_LINES = {
    ANY_END: re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+"),
    NEWLINE: re.compile(r"[^\n]*\n|[^\n]+"),
}


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file without its byte order mark, and how its bytes were decoded."""

    name: str
    encoding: str
    notes: tuple[str, ...]
    is_marked: bool  # begins with the byte order mark of UTF-8
    lines: Callable[[str], Iterator[str]]  # called with ANY_END or NEWLINE; line ends are kept
    whole: Callable[[], str]  # all of it at once

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def extension(self) -> str:
        return Path(self.name).suffix.lower()


def open_text(source: Source, encoding: str | None = None) -> Text:
    """Return the text of a file, or say why its bytes cannot be decoded.

    All bytes are checked here. The text of a file in memory is then held; a file on disk is decoded
    again each time its lines are read.
    """
    if isinstance(source, SourceFile):
        return _held_text(source, encoding)
    known = find_encoding(source, encoding)
    if not known.decodes_in_blocks:
        return _held_text(read_whole(source), encoding)
    return Text(
        source.name,
        known.name,
        known.notes,
        _is_marked(source),
        lines=partial(_stored_lines, source, known),
        whole=partial(_stored_whole, source, known),
    )


def text_of(name: str, text: str) -> Text:
    """Return characters as the text of a file called `name`."""
    return _text(name, text, "", (), is_marked=False)


def _held_text(file: SourceFile, encoding: str | None) -> Text:
    decoded = decode(file, encoding)
    text = decoded.text.removeprefix("\ufeff")
    return _text(file.name, text, decoded.encoding, decoded.notes, is_marked=_is_marked(file))


def _text(name: str, text: str, encoding: str, notes: tuple[str, ...], *, is_marked: bool) -> Text:
    lines = partial(_held_lines, text)
    return Text(name, encoding, notes, is_marked, lines=lines, whole=lambda: text)


def _held_lines(text: str, end: str) -> Iterator[str]:
    return (match.group() for match in _LINES[end].finditer(text))


def _stored_lines(source: Source, encoding: Encoding, end: str) -> Iterator[str]:
    with _opened(source, encoding, end) as stream:
        first = stream.readline().removeprefix("\ufeff")
        if first:
            yield first
        yield from stream


def _stored_whole(source: Source, encoding: Encoding) -> str:
    refuse_large(source.name, source.size, source.limits)
    with _opened(source, encoding, ANY_END) as stream:
        return stream.read().removeprefix("\ufeff")


def _opened(source: Source, encoding: Encoding, end: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(source.open(), encoding=encoding.codec, newline=end)


def _is_marked(source: Source) -> bool:
    return read_head(source, len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
