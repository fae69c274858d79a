"""CSV and TSV files with a column of texts become documents; other CSV formats share its rows."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import IO

from engine.delimited import Row, Table, find_column, find_delimiter, read_table
from engine.files import SourceFile
from engine.formats.contract import Format, WriteOptions
from engine.formats.ids import unique_ids
from engine.formats.plain_text import decode_text, document_notes, split_lines
from engine.settings import ReadOptions
from engine.text import Corpus, FileReport, InputError
from engine.tokenization import make_document

TEXT_COLUMNS = ("text", "sentence", "body", "abstract", "content", "document", "note")
ID_COLUMNS = ("doc_id", "id", "docid", "document_id", "pmid")
# A spreadsheet runs cells that begin so. Cells with a guard of their own get one more, so that
# taking one away always gives back what was written.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return a document for each row with text, named by its id column or after the file."""
    table = read_table(file, options)
    header = table.rows[0].cells
    text_column = _text_column(file.name, header, options)
    id_column = _id_column(file.name, header, options, text_column)
    names, texts = _names_and_texts(file, table, text_column, id_column)
    ids, renamed = unique_ids(names)
    documents = tuple(map(make_document, ids, texts))
    empty = len(table.rows) - 1 - len(texts)
    report = FileReport(
        name=file.name,
        format="table",
        encoding=table.encoding,
        delimiter=table.delimiter,
        text_column=header[text_column],
        id_column="" if id_column is None else header[id_column],
        documents=len(documents),
        notes=(
            *table.notes,
            *([f"{empty:,} rows without text left out"] if empty else []),
            *document_notes(documents, renamed),
        ),
    )
    return Corpus(documents, files=(report,))


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
        return named_column(name, header, options.id_column)
    column = find_column(header, ID_COLUMNS)
    return None if column == text_column else column


def named_column(name: str, header: tuple[str, ...], asked: str) -> int:
    """Return the index of the column a person asked for, or say which columns there are."""
    column = find_column(header, (asked.strip().lower(),))
    if column is None:
        raise InputError(
            f'No column "{asked}" in {name}. Columns: {", ".join(header)}. Name one of these',
            fix="text_column",
        )
    return column


def _names_and_texts(
    file: SourceFile, table: Table, text_column: int, id_column: int | None
) -> tuple[list[str], list[str]]:
    names, texts = [], []
    for number, row in enumerate(table.rows[1:], start=1):
        if not row.cells[text_column].strip():
            continue
        given = row.cells[id_column].strip() if id_column is not None else ""
        names.append(given or f"{file.stem}-{number:06d}")
        texts.append(row.cells[text_column])
    if not texts:
        raise InputError(
            f'{file.name} has nothing in its column "{table.rows[0].cells[text_column]}". '
            "Nothing was added"
        )
    return names, texts


def read_guarded_table(file: SourceFile, options: ReadOptions) -> Table:
    """Return the rows of `file`, without the formula guards of a file written for Excel.

    The delimiter is taken from the header, whose cells are known to hold none.
    """
    lines = split_lines(decode_text(file, options).text)
    header = next((line for line in lines if line.strip()), "")
    table = read_table(file, options, find_delimiter(header))
    if not file.data.startswith(codecs.BOM_UTF8):
        return table
    rows = (Row(row.line, tuple(map(_unguarded, row.cells))) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def row_writer(out: IO[bytes], options: WriteOptions) -> Callable[[Iterable[object]], None]:
    """Return a function that writes one CSV row to `out`, after the byte order mark if asked."""
    if options.excel:
        out.write(codecs.BOM_UTF8)
    buffer = io.StringIO(newline="")
    # With "\n" alone as its line end, csv leaves a cell that holds "\r" unquoted.
    writer = csv.writer(buffer, lineterminator="\r\n")

    def write_row(cells: Iterable[object]) -> None:
        writer.writerow([_guarded(str(cell)) if options.excel else cell for cell in cells])
        out.write(buffer.getvalue().removesuffix("\r\n").encode() + b"\n")
        buffer.seek(0)
        buffer.truncate()

    return write_row


def _guarded(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


FORMAT = Format("table", "CSV or TSV with a column of texts", (".csv", ".tsv"), read=read)
