"""Read CSV and TSV files with a column of texts, and the rows of the other CSV formats."""

import codecs
import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO

from engine.files import (
    Row,
    Source,
    Table,
    TableReading,
    Text,
    find_column,
    find_delimiter,
    open_text,
)
from engine.formats.contract import Format, WriteOptions, whole_reader
from engine.formats.drafts import Draft, Totals
from engine.formats.plain_text import plain_lines
from engine.settings import ReadOptions
from engine.text import FileReport, InputError, make_document

TEXT_COLUMNS = ("text", "sentence", "body", "abstract", "content", "document", "note")
ID_COLUMNS = ("doc_id", "id", "docid", "document_id", "pmid")
# A spreadsheet runs cells that begin like this as formulas, so they get a guard. Cells that already
# begin with a guard get one more, so that removing one always restores the cell.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class TextTableReading:
    """One pass over a file with one document per row, named by its id column or the file."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self._options = options
        self._table = TableReading(text, options)
        self._text_name, self._id_name = "", ""  # of the columns
        self._empty = 0

    def drafts(self) -> Iterator[Draft]:
        name, rows = self._table.text.name, self._table.rows()
        header = next(rows).cells
        text_column, id_column = self._columns(header, rows)
        count = 0
        for number, row in enumerate(rows, start=1):
            cells = row.cells
            if not cells[text_column].strip():
                self._empty += 1
                continue
            count += 1
            given = cells[id_column].strip() if id_column is not None else ""
            id = given or f"{self._table.text.stem}-{number:06d}"
            yield Draft(id, partial(make_document, text=cells[text_column]))
        if not count:
            raise InputError(
                f'{name} has nothing in its column "{self._text_name}". Nothing was added'
            )

    def _columns(self, header: tuple[str, ...], rows: Iterator[Row]) -> tuple[int, int | None]:
        name = self._table.text.name
        try:
            text_column = _text_column(name, header, self._options)
            id_column = _id_column(name, header, self._options, text_column)
        except InputError:
            deque(rows, maxlen=0)  # a fault of the table itself raises first
            raise
        self._text_name = header[text_column]
        self._id_name = "" if id_column is None else header[id_column]
        return text_column, id_column

    def report(self, totals: Totals) -> FileReport:
        return FileReport(
            name=self._table.text.name,
            format="table",
            encoding=self._table.text.encoding,
            delimiter=self._table.delimiter,
            text_column=self._text_name,
            id_column=self._id_name,
            documents=totals.documents,
            notes=(
                *self._table.notes,
                *([f"{self._empty:,} rows without text left out"] if self._empty else []),
                *totals.notes,
            ),
        )


read = whole_reader(TextTableReading)


def _text_column(name: str, header: tuple[str, ...], options: ReadOptions) -> int:
    if options.text_column:
        return named_column(name, header, options.text_column)
    column = find_column(header, TEXT_COLUMNS)
    if column is None:
        raise InputError(
            f"No text column found in {name}. Columns: {', '.join(header)}. "
            "Name the one that holds the text",
            fix="text_column",
        )
    return column


def _id_column(
    name: str, header: tuple[str, ...], options: ReadOptions, text_column: int
) -> int | None:
    if options.id_column:
        return named_column(name, header, options.id_column, fix="id_column")
    column = find_column(header, ID_COLUMNS)
    return None if column == text_column else column


def named_column(name: str, header: tuple[str, ...], asked: str, fix: str = "text_column") -> int:
    """Return the index of the column the user named, or say which columns there are."""
    column = find_column(header, (asked.strip().lower(),))
    if column is None:
        raise InputError(
            f'No column "{asked}" in {name}. Columns: {", ".join(header)}. Name one of these',
            fix=fix,
        )
    return column


def read_guarded_table(file: Source, options: ReadOptions) -> Table:
    """Return the rows of `file`, without the formula guards of a file written for Excel."""
    table = GuardedTable(open_text(file, options.encoding), options)
    rows = tuple(table.rows())
    return Table(rows, table.delimiter, table.text.encoding, table.notes)


class GuardedTable(TableReading):
    """The rows of a table we wrote, without the formula guards of a file written for Excel.

    The delimiter is detected in the header, whose cells hold none.
    """

    def __init__(self, text: Text, options: ReadOptions) -> None:
        header = next((line for line in plain_lines(text) if line.strip()), "")
        super().__init__(text, options, find_delimiter(header))

    def rows(self) -> Iterator[Row]:
        rows = super().rows()
        if not self.text.is_marked:
            return rows
        return (Row(row.line, tuple(map(_unguarded, row.cells))) for row in rows)


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def row_writer(out: IO[bytes], options: WriteOptions) -> Callable[[Iterable[object]], None]:
    """Return a function that writes one CSV row to `out`, after the byte order mark if asked."""
    if options.excel:
        out.write(codecs.BOM_UTF8)
    # With "\n" as line end, csv does not quote a cell that holds "\r".
    writer = csv.writer(_Rows(out), lineterminator="\r\n")

    def write_row(cells: Iterable[object]) -> None:
        writer.writerow([_guarded(str(cell)) for cell in cells] if options.excel else cells)

    return write_row


class _Rows:
    """The file that csv writes to: each row goes to `out` at once, with our line end."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def write(self, row: str) -> None:
        """Write one row; csv passes it whole."""
        self._out.write(row.removesuffix("\r\n").encode() + b"\n")


def _guarded(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


FORMAT = Format(
    "table", "CSV or TSV with a column of texts", (".csv", ".tsv"), read, reading=TextTableReading
)
