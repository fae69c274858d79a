"""Read and write entities as CSV, one row per entity."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import partial
from typing import IO

from engine.files import Source, find_column
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    surface,
    whole_writer,
)
from engine.formats.drafts import Faults
from engine.formats.plain_text import parse_lines
from engine.formats.text_table import named_column, read_guarded_table, row_writer
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity, FileReport, InputError, Sentence

COLUMNS = (
    "doc_id", "sent_id", "entity_id", "start", "end", "text", "label", "score", "method", "source",
    "in_dictionary", "matched_term", "canonical_id", "sent_start", "sent_end", "token_start",
    "token_end", "sentence", "run_id", "review_status",
)  # fmt: skip
ESSENTIAL_COLUMNS = ("doc_id", "sent_id", "start", "end", "text", "label", "score")
_NEEDED = {
    "doc_id": ("doc_id", "docid", "document_id", "pmid", "id"),
    "start": ("start",),
    "end": ("end",),
    "label": ("label", "type", "entity_type"),
}
_TRUTH = {"true": True, "1": True, "false": False, "0": False, "": None}


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write one row per entity, in the order of the corpus; only the header if there is none."""
    columns = ESSENTIAL_COLUMNS if options.essential_columns else COLUMNS
    write_row = row_writer(out, options)
    write_row(columns)
    rows = unscored = 0
    for document, entities in pairs:
        for entity in entities or ():
            cells = _cells(document, entity)
            write_row([cells.get(column, "") for column in columns])
            rows += 1
            unscored += entity.score is not None and not _has_score(entity)
    counts = {
        "entities left out: the text of their document is not here": overview.lost,
        "scores are not numbers; left empty": unscored,
    }
    notes = tuple(f"{count:,} {what}" for what, count in counts.items() if count)
    none = () if rows else ("no entities; the file holds the header only",)
    return WriteReport(rows, (*notes, *none))


write = whole_writer(write_each)


def _cells(document: Document, entity: Entity) -> dict[str, object]:
    sentence = _sentence_at(document, entity.start)
    known = "" if entity.in_dictionary is None else str(entity.in_dictionary).lower()
    return {
        "doc_id": document.id,
        "entity_id": f"{document.id}:{entity.start}-{entity.end}:{entity.entity_type}",
        "start": entity.start,
        "end": entity.end,
        "text": surface(document, entity),
        "label": entity.entity_type,
        "score": f"{entity.score:.4f}" if _has_score(entity) else "",
        "method": entity.method,
        "source": entity.source,
        "in_dictionary": known,
        "matched_term": entity.matched_phrase,
        "canonical_id": entity.canonical_id,
        "run_id": entity.run_id,
        "review_status": entity.review_status,
        **(_place(sentence, entity) if sentence else {}),
    }


def _sentence_at(document: Document, position: int) -> Sentence | None:
    places, counts = document.layout.tokens, document.layout.sentences
    # Starts and ends alternate and never fall, so this is the last token that begins by then.
    token = (bisect_right(places, position) + 1) // 2 - 1
    i = bisect_right(counts, token) - 1
    return document.sentences[i] if i >= 0 and position < places[2 * counts[i + 1] - 1] else None


def _place(sentence: Sentence, entity: Entity) -> dict[str, object]:
    """Return where an entity lies in its sentence; no end if it continues in the next one."""
    starts, ends = sentence.token_bounds()
    start, end = starts[0], ends[-1]
    place: dict[str, object] = {
        "sent_id": sentence.index,
        "sentence": sentence.document.text[start:end],
        "sent_start": entity.start - start,
        "sent_end": entity.end - start if entity.end <= end else "",
    }
    first, last = bisect_left(starts, entity.start), bisect_left(starts, entity.end)
    if first < last and (starts[first], ends[last - 1]) == (entity.start, entity.end):
        place |= {"token_start": first, "token_end": last}
    return place


def _has_score(entity: Entity) -> bool:
    return entity.score is not None and math.isfinite(entity.score)


# ---- reading --------------------------------------------------------------------------------


def read(file: Source, options: ReadOptions) -> Corpus:
    """Return the entities of `file` by document id, without documents: their text is elsewhere."""
    table = read_guarded_table(file, options)
    header = table.rows[0].cells
    columns = _columns(file.name, header, options)
    rows = ((row.line, row.cells) for row in table.rows[1:])
    faults = Faults()
    parsed = list(parse_lines(file.name, rows, partial(_entity, columns), options, faults))
    entities: dict[str, list[Entity]] = {}
    for document_id, entity in parsed:
        entities.setdefault(document_id, []).append(entity)
    report = FileReport(
        name=file.name,
        format="entities",
        encoding=table.encoding,
        delimiter=table.delimiter,
        id_column=header[columns["doc_id"]],
        entities=len(parsed),
        notes=(*table.notes, *faults.notes(), *([] if parsed else ["holds no entities"])),
    )
    return Corpus((), {id: tuple(listed) for id, listed in entities.items()}, (report,))


def _columns(name: str, header: tuple[str, ...], options: ReadOptions) -> dict[str, int]:
    """Return the index of each known column; the four that place an entity are required."""
    columns = {}
    for wanted, names in {**{name: (name,) for name in COLUMNS}, **_NEEDED}.items():
        column = find_column(header, names)
        if wanted == "doc_id" and options.id_column:
            column = named_column(name, header, options.id_column, fix="id_column")
        if column is not None:
            columns[wanted] = column
        elif wanted in _NEEDED:
            raise InputError(
                f"No {wanted} column found in {name}. Columns: {', '.join(header)}. "
                "Entities need doc_id, start, end and label"
            )
    return columns


def _entity(columns: Mapping[str, int], cells: tuple[str, ...]) -> tuple[str, Entity]:
    def cell(name: str) -> str:
        return cells[columns[name]] if name in columns else ""

    for needed in ("doc_id", "label"):
        if not cell(needed).strip():
            raise InputError(f"{needed} is empty. Fill it in")
    start, end = whole_number("start", cell("start")), whole_number("end", cell("end"))
    if end <= start:
        raise InputError(f"end {end} is not after start {start}. Correct it")
    if (known := cell("in_dictionary").strip().lower()) not in _TRUTH:
        raise InputError(f'in_dictionary "{known}" is neither true nor false. Correct it')
    return cell("doc_id"), Entity(
        start,
        end,
        cell("label"),
        score=_score(cell("score").strip()),
        # A file without a method column was annotated by people.
        method=cell("method") if "method" in columns else "gold",
        source=cell("source"),
        in_dictionary=_TRUTH[known],
        matched_phrase=cell("matched_term"),
        canonical_id=cell("canonical_id"),
        run_id=cell("run_id"),
        review_status=cell("review_status"),
    )


def whole_number(what: str, cell: str) -> int:
    """Return the number of characters in a cell, or say that it is no whole number."""
    digits = cell.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise InputError(f'{what} "{cell[:40]}" is not a whole number of characters. Correct it')
    return int(digits)


def _score(cell: str) -> float | None:
    try:
        score = float(cell) if cell else None
    except ValueError:
        score = math.nan
    if score is not None and not 0 <= score <= 1:
        raise InputError(f'score "{cell[:40]}" is not a number from 0 to 1. Correct it')
    return score


FORMAT = Format(
    "entities", "CSV, one row per entity", (".csv",), read, write, write_each=write_each
)
