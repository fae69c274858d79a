"""CSV and TSV files become rows with line numbers, their delimiter found, their faults named."""

import csv
import io
import sys
from collections import Counter
from dataclasses import dataclass

from engine.files import SourceFile, decode
from engine.settings import ReadOptions
from engine.text import InputError

_DELIMITERS = ("\t", ",", ";", "|")
_SAMPLE_LINES = 200
# A cell may hold a whole book; Python's own limit of 131,072 characters is for untrusted streams.
csv.field_size_limit(sys.maxsize)


@dataclass(frozen=True, slots=True)
class Row:
    line: int  # 1-based line of the file on which the row begins
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a delimited file (the header, if any, is the first of them)."""

    rows: tuple[Row, ...]
    delimiter: str
    encoding: str
    notes: tuple[str, ...] = ()


def read_table(file: SourceFile, options: ReadOptions, delimiter: str | None = None) -> Table:
    """Return the rows of `file`, all as wide as its first row.

    A row of another width is an error that names its line, or is left out and counted when
    `options.skip_bad_lines` is set. A cell that a quote opens and none closes is an error.
    """
    decoded = decode(file, options.encoding)
    text = decoded.text.removeprefix("\ufeff")
    delimiter = delimiter or file_delimiter(file, text)
    rows = _parse(file.name, text, delimiter)
    if not rows:
        raise InputError(f"{file.name} holds no rows. Nothing was added")
    width = len(rows[0].cells)
    ragged = [row for row in rows if len(row.cells) != width]
    notes = decoded.notes
    if ragged and not options.skip_bad_lines:
        raise InputError(_ragged_message(file.name, ragged, width), fix="skip_bad_lines")
    if ragged:
        rows = [row for row in rows if len(row.cells) == width]
        notes = (*notes, _left_out(ragged))
    return Table(tuple(rows), delimiter, decoded.encoding, notes)


def file_delimiter(file: SourceFile, text: str) -> str:
    """Return the delimiter of a file: a tab when its name says so and its first line has one."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return "\t" if file.extension == ".tsv" and "\t" in first else find_delimiter(text)


def find_delimiter(text: str) -> str:
    """Return the delimiter that splits the first rows most evenly, a comma when none does.

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
    """Return the index of the first header cell called one of `names`, whatever its case.

    Earlier names win over earlier columns.
    """
    lowered = [cell.strip().lower() for cell in header]
    return next((lowered.index(name) for name in names if name in lowered), None)


def _parse(name: str, text: str, delimiter: str) -> list[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(Row(line, tuple(cells)))
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
    return rows


def _left_out(ragged: list[Row]) -> str:
    where = ", ".join(f"{row.line:,}" for row in ragged[:5]) + (" …" if len(ragged) > 5 else "")
    if len(ragged) == 1:
        return f"1 row of another width left out (line {where})"
    return f"{len(ragged):,} rows of another width left out (lines {where})"


def _ragged_message(name: str, ragged: list[Row], width: int) -> str:
    first = ragged[0]
    more = f" {len(ragged):,} lines like this." if len(ragged) > 1 else ""
    return (
        f"{name} line {first.line:,} has {len(first.cells)} fields, expected {width}.{more} "
        "Put quotes around cells that hold the delimiter, or skip bad lines"
    )
