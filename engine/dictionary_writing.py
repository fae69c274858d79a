"""Dictionaries become files that other tools, and this one, can read."""

import json
from collections.abc import Iterable
from typing import IO

from engine.dictionary import Dictionary, active_phrases
from engine.formats.contract import WriteOptions
from engine.formats.text_table import row_writer


def write_phrases(
    dictionaries: Iterable[Dictionary], out: IO[bytes], options: WriteOptions = WriteOptions()
) -> int:
    """Write the phrases that may match as a CSV: term, label, canonical_id, source; return rows."""
    write_row = row_writer(out, options)
    write_row(("term", "label", "canonical_id", "source"))
    rows = 0
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            write_row((phrase.text, phrase.entity_type, phrase.canonical_id, dictionary.name))
            rows += 1
    return rows


def write_patterns(dictionaries: Iterable[Dictionary], out: IO[bytes]) -> int:
    """Write the phrases that may match as patterns of spaCy's EntityRuler and of Prodigy.

    One JSON object a line; a phrase that several dictionaries hold under one type is one pattern.
    """
    seen: set[tuple[str, str]] = set()
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            key = (phrase.text, phrase.entity_type)
            if key in seen:
                continue
            seen.add(key)
            pattern = {"label": phrase.entity_type, "pattern": phrase.text}
            if phrase.canonical_id:
                pattern["id"] = phrase.canonical_id
            # Half a surrogate pair has no UTF-8; escaped it can be written and read again.
            line = json.dumps(pattern, ensure_ascii=False)
            out.write(line.encode("utf-8", "backslashreplace") + b"\n")
    return len(seen)
