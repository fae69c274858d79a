"""Read JSON dictionaries: lists of phrases by type, records with a term, or spaCy patterns."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from engine.dictionaries.layouts import (
    CASE_COLUMNS,
    ID_COLUMNS,
    LABEL_COLUMNS,
    TERM_COLUMNS,
    Content,
    Skip,
    make_phrase,
    match_from_cells,
)
from engine.dictionaries.model import Phrase
from engine.dictionaries.patterns import token_pattern_text
from engine.files import Record, SourceFile, read_records
from engine.settings import ReadOptions

_TOKEN_KEYS = ("TEXT", "LOWER", "ORTH")
_KNOWN_FIELDS = frozenset((*TERM_COLUMNS, *LABEL_COLUMNS, *ID_COLUMNS, *CASE_COLUMNS, "pattern"))


def read_json(file: SourceFile, options: ReadOptions, list_type: str) -> Content:
    """Return the phrases of {"Type": [...]}, of records with a term, or of spaCy patterns."""
    records = read_records(file, options)
    flat = [_lowered(r.value) for r in records.items if _is_flat(r.value)]
    fields = sorted({key for record in flat for key in record})
    match, notes = match_from_cells([str(record.get("case_sensitive", "")) for record in flat])
    if lower_count := sum(_is_lower(record.get("pattern")) for record in flat):
        asks = "pattern asks" if lower_count == 1 else "patterns ask"
        choice = "choose how case counts for the whole dictionary"
        notes = (*notes, f"{lower_count:,} {asks} for LOWER; {choice}")
    if unused := [key for key in fields if key not in _KNOWN_FIELDS]:
        notes = (*notes, f"fields not used: {', '.join(unused[:8])}")
    return Content(
        chain.from_iterable(_from_value(record) for record in records.items),
        (*records.notes, *notes),
        match,
        layout=f"has the fields {', '.join(fields[:8])}" if fields else "holds phrases only",
        remedy="add a label to each record",
        blank="only empty lists",
    )


def _is_flat(value: object) -> bool:
    """Return whether this is a record of one phrase, not lists of phrases by type."""
    return isinstance(value, dict) and not all(isinstance(item, list) for item in value.values())


def _lowered(value: dict[str, Any]) -> dict[str, Any]:
    return {key.lower(): item for key, item in value.items()}


def _is_lower(pattern: object) -> bool:
    tokens = pattern if isinstance(pattern, list) else []
    keys = {key.upper() for token in tokens if isinstance(token, dict) for key in token}
    return keys == {"LOWER"} and _joined(tokens) is not None


def _from_value(record: Record) -> Iterator[Phrase | Skip]:
    if isinstance(record.value, str):
        yield make_phrase(record.value, "", record.line)
    elif _is_flat(record.value):
        yield _from_fields(_lowered(record.value), record.line)
    elif isinstance(record.value, dict):
        for entity_type, phrases in record.value.items():
            yield from (_from_listed(phrase, entity_type) for phrase in phrases)
    else:
        yield Skip("value", "without text left out", record.line)


def _from_listed(phrase: object, entity_type: str) -> Phrase | Skip:
    # A list inside a mapping has no line number.
    if isinstance(phrase, str):
        return make_phrase(phrase, entity_type, 0)
    return Skip("value", "without text left out", 0)


def _from_fields(fields: dict[str, Any], line: int) -> Phrase | Skip:
    label = next((fields[name] for name in LABEL_COLUMNS if fields.get(name)), "")
    canonical = next((fields[name] for name in ID_COLUMNS if fields.get(name)), "")
    term = next((fields[name] for name in ("pattern", *TERM_COLUMNS) if name in fields), None)
    if isinstance(term, list):
        term = token_pattern_text(term) if (words := _joined(term)) is None else words
    if not isinstance(term, str):
        return Skip("record", "without a term left out", line)
    return make_phrase(term, label if isinstance(label, str) else "", line, str(canonical))


def _joined(tokens: list[Any]) -> str | None:
    """Return the phrase that a spaCy token pattern spells out; None if it is not plain text."""
    words = []
    for token in tokens:
        if not isinstance(token, dict) or len(token) != 1:
            return None
        [(key, word)] = token.items()
        if key.upper() not in _TOKEN_KEYS or not isinstance(word, str):
            return None
        words.append(word)
    return " ".join(words)
