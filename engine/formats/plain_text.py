"""Read plain text files into documents, and lines for the other formats."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from engine.files import ANY_END, Text
from engine.formats.contract import Format, whole_reader
from engine.formats.drafts import Draft, Faults, Totals
from engine.settings import ReadOptions
from engine.text import FileReport, InputError, make_document

# Not splitlines(): here U+2028, form feeds and the like are characters of the text.
_LINE_END = re.compile(r"\r\n|\r|\n")

Item = TypeVar("Item")
Value = TypeVar("Value")


class TextReading:
    """One pass over a file that is one document, or has one document per line."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self._text, self._options = text, options

    def drafts(self) -> Iterator[Draft]:
        if not self._options.lines_are_documents:
            yield Draft(self._text.stem, partial(make_document, text=self._text.whole()))
            return
        stem = self._text.stem
        lines = (line for line in plain_lines(self._text) if line.strip())
        for number, line in enumerate(lines, start=1):
            yield Draft(f"{stem}-{number:06d}", partial(make_document, text=line))

    def report(self, totals: Totals) -> FileReport:
        return FileReport(
            name=self._text.name,
            format="txt",
            encoding=self._text.encoding,
            documents=totals.documents,
            notes=(*self._text.notes, *totals.notes),
        )


read = whole_reader(TextReading)


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` without line ends, whichever system wrote them.

    >>> split_lines("a\\r\\nb\\x0cc\\n")
    ['a', 'b\\x0cc', '']
    """
    return _LINE_END.split(text)


def plain_lines(text: Text) -> Iterator[str]:
    """Yield the lines of `text` without line ends, whichever system wrote them."""
    return (line.rstrip("\r\n") for line in text.lines(ANY_END))


def parse_lines(
    name: str,
    lines: Iterable[tuple[int, Item]],
    parse: Callable[[Item], Value],
    options: ReadOptions,
    faults: Faults,
) -> Iterator[Value]:
    """Yield the value of each numbered line; add the faults of bad lines to `faults`.

    Without `options.skip_bad_lines` the first fault is raised with its line, but after the last
    line: the reader of the lines may raise another fault first.
    """
    rest = iter(lines)
    for number, line in rest:
        try:
            value = parse(line)
        except InputError as error:
            faults.add(f"{name} line {number:,}: {error}")
            if not options.skip_bad_lines:
                deque(rest, maxlen=0)
                raise InputError(f"{faults.first}, or skip bad lines", "skip_bad_lines") from None
        else:
            yield value


FORMAT = Format("txt", "plain text", (".txt",), read, reading=TextReading)
