"""Read lines and columns of a file into phrases, and name what is skipped, in order."""

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from engine.dictionaries.model import Phrase, type_name
from engine.dictionaries.patterns import is_pattern
from engine.files import Row, SourceFile, decode, find_column, read_table
from engine.settings import MATCH_PRESETS, MatchOptions, ReadOptions
from engine.text import InputError

TERM_COLUMNS = ("term", "phrase", "surface", "entity", "name", "synonym", "text")
LABEL_COLUMNS = ("label", "type", "category", "class", "entity_type")
ID_COLUMNS = ("canonical_id", "id")
CASE_COLUMNS = ("case_sensitive",)
ADD_HEADER = "Add a header line such as term,label"

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Skip:
    """Something in a file that is not a phrase; the note reads "3 {noun}s {why}"."""

    noun: str
    why: str
    line: int


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file before its phrases are checked; a phrase may still lack a type."""

    items: Iterable[Phrase | Skip]
    notes: tuple[str, ...] = ()
    match: MatchOptions | None = None
    is_list: bool = False  # only phrases, which get the type for lists
    layout: str = ""  # "has the columns term, source", for the message about missing labels
    remedy: str = ""  # "add a label column"
    blank: str = "only empty lines"  # what to call the content when there is no phrase
    has_labels: bool = True  # labels have a place in the file, so a missing one has a line


def make_phrase(text: str, entity_type: str, line: int, canonical_id: str = "") -> Phrase:
    """Return a phrase with white space tidied; types are interned because they repeat."""
    return Phrase(tidy(text), _interned_type(entity_type), canonical_id.strip(), line)


@lru_cache(maxsize=1_000)
def _interned_type(entity_type: str) -> str:
    return sys.intern(type_name(entity_type))


def tidy(text: str) -> str:
    """Return a phrase with white space tidied; inside a pattern, it may have a meaning."""
    text = text.strip()
    return text if is_pattern(text) else " ".join(text.split())


# ---- one phrase per line --------------------------------------------------------------------


def read_text(file: SourceFile, options: ReadOptions, list_type: str) -> Content:
    """Return one phrase per line, or two columns if most lines contain a tab."""
    decoded = decode(file, options.encoding)
    text = decoded.text.removeprefix("\ufeff")
    if "\t" in text and (content := _tabbed(file.name, text, options, list_type)):
        return replace(content, notes=(*decoded.notes, *content.notes))
    return Content(_phrase_lines(text, list_type), decoded.notes, is_list=True)


def _phrase_lines(text: str, list_type: str) -> Iterator[Phrase | Skip]:
    # Not splitlines(), which also ends lines at form feeds and U+2028.
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        clean = tidy(line)
        if clean.startswith("#"):
            yield Skip("comment line", "skipped", number)
        elif clean:
            yield Phrase(clean, list_type, "", number)


def _tabbed(name: str, text: str, options: ReadOptions, list_type: str) -> Content | None:
    """Read tab-separated columns without quotes, as AutoNER and INCEpTION write to .txt files."""
    numbered = enumerate(io.StringIO(text, newline=None), start=1)
    lines = [Row(number, tuple(line.strip().split("\t"))) for number, line in numbered]
    comments = [row for row in lines if row.cells[0].startswith("#")]
    rows = [row for row in lines if row.cells[0] and not row.cells[0].startswith("#")]
    widths = Counter(len(row.cells) for row in rows)
    if widths[1] * 2 >= len(rows):
        return None  # the tabs are only white space
    width = widths.most_common(1)[0][0]
    odd = [row for row in rows if len(row.cells) != width]
    if odd and not options.skip_bad_lines:
        raise InputError(
            f"{name} line {odd[0].line:,} has {len(odd[0].cells)} fields, expected {width}. "
            "Put one tab between fields, or skip bad lines",
            fix="skip_bad_lines",
        )
    content = _table_content(name, [row for row in rows if len(row.cells) == width], list_type)
    skips = (
        *(Skip("comment line", "skipped", row.line) for row in comments),
        *(Skip("line", "of another width left out", row.line) for row in odd),
    )
    return replace(content, items=chain(skips, content.items))


# ---- columns --------------------------------------------------------------------------------


def read_columns(file: SourceFile, options: ReadOptions, list_type: str) -> Content:
    """Return the rows of a .csv or .tsv file, with or without a header line."""
    table = read_table(file, options, "\t" if file.extension == ".tsv" else None)
    content = _table_content(file.name, table.rows, list_type)
    return replace(content, notes=(*table.notes, *content.notes))


def _table_content(name: str, rows: Sequence[Row], list_type: str) -> Content:
    width = len(rows[0].cells)
    if width == 1:
        return _one_column(rows, list_type)
    if _has_header(rows):
        return _with_header(name, rows)
    if width > 2:
        raise InputError(
            f"{name} has {width} columns, and its first line names none of them. {ADD_HEADER}"
        )
    return _two_columns(name, rows)


def _one_column(rows: Sequence[Row], list_type: str) -> Content:
    notes: tuple[str, ...] = ()
    if _has_header(rows):
        notes = (f"first line read as the column's name: {rows[0].cells[0].strip()}",)
        rows = rows[1:]
    phrases = (make_phrase(row.cells[0], list_type, row.line) for row in rows)
    return Content(phrases, notes, is_list=True, blank="only a header line")


def _has_header(rows: Sequence[Row]) -> bool:
    header = rows[0].cells
    known = [find_column(header, TERM_COLUMNS), find_column(header, LABEL_COLUMNS)]
    columns = [column for column in known if column is not None]
    if len(columns) != 1:
        return bool(columns)
    # One known name may be a coincidence: in "Acme,Entity", "Entity" can be every row's type.
    [column] = columns
    return all(row.cells[column] != header[column] for row in rows[1:])


def _with_header(name: str, rows: Sequence[Row]) -> Content:
    header = tuple(cell.strip() for cell in rows[0].cells)
    listed = ", ".join(header)
    term = find_column(header, TERM_COLUMNS)
    if term is None:
        raise InputError(
            f"{name} has the columns {listed}: which one holds the phrases? Name that one term"
        )
    label, canonical = find_column(header, LABEL_COLUMNS), find_column(header, ID_COLUMNS)
    case = find_column(header, CASE_COLUMNS)
    match, notes = match_from_cells(_column(rows[1:], case))
    used = (term, label, canonical, case)
    unused = [cell for i, cell in enumerate(header) if i not in used and cell]
    if unused:
        notes = (*notes, f"columns not used: {', '.join(unused)}")
    cells = zip(_column(rows[1:], label), _column(rows[1:], canonical), rows[1:], strict=True)
    return Content(
        (make_phrase(row.cells[term], kind, row.line, id) for kind, id, row in cells),
        notes,
        match,
        layout=f"has the columns {listed}",
        remedy="add a label column" if label is None else "fill the label column",
        has_labels=label is not None,
        blank="only a header line",
    )


def _column(rows: Sequence[Row], column: int | None) -> list[str]:
    return [""] * len(rows) if column is None else [row.cells[column] for row in rows]


def match_from_cells(cells: Sequence[str]) -> tuple[MatchOptions | None, tuple[str, ...]]:
    """Return the options of a case_sensitive column, if all its rows agree, and notes."""
    answers = {_TRUTH.get(cell.strip().lower()) for cell in set(cells)}
    if answers == {True}:
        return MATCH_PRESETS["strict"], ()
    if answers == {False}:
        return MATCH_PRESETS["balanced"], ()
    if answers <= {None}:
        return None, ()
    return None, ("case_sensitive differs from row to row; it was ignored",)


def _two_columns(name: str, rows: Sequence[Row]) -> Content:
    """Read two columns without a header: types are the column with few distinct values."""
    values = [{row.cells[i].strip() for row in rows} for i in (0, 1)]
    label = 0 if len(values[0]) < len(values[1]) else 1
    few, many = values[label], values[1 - label]
    if len(few) * 2 > len(many):
        raise InputError(
            f"{name} has two columns and no header, and either could be the type "
            f"({len(values[0]):,} and {len(values[1]):,} different values). {ADD_HEADER}"
        )
    order = "the type first, then the phrase" if label == 0 else "the phrase first, then the type"
    examples = ", ".join(sorted(few)[:3]) + (" …" if len(few) > 3 else "")
    note = f"no header line; read as {order} (types: {examples})"
    return Content(
        (make_phrase(row.cells[1 - label], row.cells[label], row.line) for row in rows),
        (note,),
        layout="has two columns",
        remedy="fill the type column",
    )
