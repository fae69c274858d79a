"""Write dictionaries as CSV or as patterns for spaCy and Prodigy."""

import json
from collections.abc import Iterable
from typing import IO, Any

from engine.dictionaries import (
    REGEX,
    Dictionary,
    active_phrases,
    enabled_phrases,
    is_pattern,
    token_rules,
)
from engine.formats import WriteOptions, row_writer


def write_phrases(
    dictionaries: Iterable[Dictionary], out: IO[bytes], options: WriteOptions = WriteOptions()
) -> int:
    """Write the active phrases as CSV (term, label, canonical_id, source); return the row count.

    Phrases that are never an entity are among them.
    """
    write_row = row_writer(out, options)
    write_row(("term", "label", "canonical_id", "source"))
    rows = 0
    for dictionary in dictionaries:
        for phrase in enabled_phrases(dictionary):
            write_row((phrase.text, phrase.entity_type, phrase.canonical_id, dictionary.name))
            rows += 1
    return rows


def write_patterns(dictionaries: Iterable[Dictionary], out: IO[bytes]) -> int:
    """Write the active phrases as patterns for spaCy's EntityRuler and Prodigy; return how many.

    One JSON object per line; the same phrase and type in several dictionaries is one pattern. A
    regular expression over a whole sentence has no form there, and is left out.
    """
    seen: set[tuple[str, str]] = set()
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            key = (phrase.text, phrase.entity_type)
            if key in seen or phrase.text.startswith(REGEX):
                continue
            seen.add(key)
            pattern: dict[str, Any] = {"label": phrase.entity_type, "pattern": phrase.text}
            if is_pattern(phrase.text):
                pattern["pattern"] = token_rules(phrase.text)
            if phrase.canonical_id:
                pattern["id"] = phrase.canonical_id
            # Half a surrogate pair has no UTF-8 form; escaped, it can be written and read again.
            line = json.dumps(pattern, ensure_ascii=False)
            out.write(line.encode("utf-8", "backslashreplace") + b"\n")
    return len(seen)
