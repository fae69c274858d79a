"""Read CSV and TSV files into rows with line numbers; detect the delimiter and name faults."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import NamedTuple

from engine.files.sources import Source
from engine.files.text_files import ANY_END, Text, open_text
from engine.settings import ReadOptions
from engine.text import InputError

_DELIMITERS = ("\t", ",", ";", "|")
_SAMPLE_LINES = 200
_SHOWN_LINES = 5
# A cell may hold a whole book; Python's limit of 131,072 characters is too small for that.
csv.field_size_limit(sys.maxsize)


class Row(NamedTuple):  # a dataclass takes twice as long to make, and files have millions
    line: int  # 1-based line of the file on which the row begins
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a delimited file (the header, if any, is the first of them)."""

    rows: tuple[Row, ...]
    delimiter: str
    encoding: str
    notes: tuple[str, ...] = ()


def read_table(file: Source, options: ReadOptions, delimiter: str | None = None) -> Table:
    """Return the rows of `file`, all as wide as its first row.

    A row of another width is an error that names its line; with `options.skip_bad_lines` it is left
    out and counted. A quote that opens a cell and is never closed is an error.
    """
    reading = TableReading(open_text(file, options.encoding), options, delimiter)
    rows = tuple(reading.rows())
    return Table(rows, reading.delimiter, reading.text.encoding, reading.notes)


class TableReading:
    """The rows of a delimited file, one at a time; its notes are complete after the last row."""

    def __init__(self, text: Text, options: ReadOptions, delimiter: str | None = None) -> None:
        self.text = text
        self.delimiter = delimiter or file_delimiter(text)
        self._options = options
        self._ragged: list[Row] = []  # the first rows of another width
        self._ragged_count = 0

    @property
    def notes(self) -> tuple[str, ...]:
        left_out = (_left_out(self._ragged, self._ragged_count),) if self._ragged else ()
        return (*self.text.notes, *left_out)

    def rows(self) -> Iterator[Row]:
        """Yield the rows that are as wide as the first one.

        Without `skip_bad_lines`, rows of another width raise InputError after the last row.
        """
        name, width = self.text.name, 0
        for row in _parse(name, self.text.lines(ANY_END), self.delimiter):
            width = width or len(row.cells)
            if len(row.cells) == width:
                yield row
                continue
            self._ragged_count += 1
            if len(self._ragged) < _SHOWN_LINES:
                self._ragged.append(row)
        if not width:
            raise InputError(f"{name} holds no rows. Nothing was added")
        if self._ragged and not self._options.skip_bad_lines:
            message = _ragged_message(name, self._ragged[0], self._ragged_count, width)
            raise InputError(message, fix="skip_bad_lines")


def file_delimiter(text: Text) -> str:
    """Return the delimiter of a file: a tab if it is a .tsv file with a tab in its first line."""
    if text.extension == ".tsv" and _has_tab_in_first_line(text.lines(ANY_END)):
        return "\t"
    return find_delimiter("".join(islice(text.lines(ANY_END), _SAMPLE_LINES)))


def _has_tab_in_first_line(lines: Iterator[str]) -> bool:
    """Return whether the first line that is not blank has a tab; only "\\n" ends it."""
    for line in dropwhile(lambda line: not line.strip("\r\n"), lines):
        if "\t" in line:
            return True
        if line.endswith("\n"):
            break
    return False


def find_delimiter(text: str) -> str:
    """Return the delimiter that splits the first rows most evenly, a comma if none does.

    >>> find_delimiter("id;text\\n1;rash, fever\\n2;cough")
    ';'
    """
    sample = "\n".join(text.splitlines()[:_SAMPLE_LINES])

    def evenness(delimiter: str) -> tuple[float, int]:
        try:
            reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
            widths = Counter(len(cells) for cells in reader if cells)
        except csv.Error:
            return (0.0, 0)
        if not widths:
            return (0.0, 0)
        width, count = widths.most_common(1)[0]
        return (count / widths.total() if width > 1 else 0.0, width)

    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[1] > 1 else ","


def find_column(header: tuple[str, ...], names: tuple[str, ...]) -> int | None:
    """Return the index of the header cell with one of these names, in any case.

    Earlier names win over earlier columns.
    """
    lowered = [cell.strip().lower() for cell in header]
    return next((lowered.index(name) for name in names if name in lowered), None)


def _parse(name: str, lines: Iterator[str], delimiter: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            # The first cell tells nearly always.
            if cells and (cells[0].strip() or any(map(str.strip, cells))):
                yield Row(line, tuple(cells))
            line = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            raise InputError(
                f'{name} line {line:,}: a quote (") opens a cell here and none closes it. '
                "Close it, or double quotes that belong to the text"
            ) from None
        raise InputError(
            f"{name} line {line:,}: {error}. Put quotes around the cell and double those inside it"
        ) from None


def _left_out(ragged: list[Row], count: int) -> str:
    where = ", ".join(f"{row.line:,}" for row in ragged) + (" …" if count > len(ragged) else "")
    if count == 1:
        return f"1 row of another width left out (line {where})"
    return f"{count:,} rows of another width left out (lines {where})"


def _ragged_message(name: str, first: Row, count: int, width: int) -> str:
    more = f" {count:,} lines like this." if count > 1 else ""
    return (
        f"{name} line {first.line:,} has {len(first.cells)} fields, expected {width}.{more} "
        "Put quotes around cells that hold the delimiter, or skip bad lines"
    )
