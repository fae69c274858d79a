"""Detect the format of a file from its name and first lines."""

import csv
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeGuard

from engine.files import (
    NEWLINE,
    TEXT_EXTENSIONS,
    Source,
    SourceFile,
    Text,
    decode,
    file_delimiter,
    open_text,
    read_head,
    read_whole,
    text_of,
)
from engine.formats.packed import BY_ENDING
from engine.formats.pairing import extension, stem
from engine.settings import ReadOptions
from engine.text import InputError

_HEAD_BYTES = 200_000
_PUBTATOR_LINE = re.compile(r"[^|\t\n]+\|[ta]\|")
_BENCHMARK_LINE = re.compile(r"\S+ (?:O|[BIESLUM]-\S+) \d{1,3}")
_CONLL_LINE = re.compile(r"\S.*[ \t](?:O|[BIESLUM]-\S+)")
_LIST_GAP = re.compile(r"[\s,]*")
_CONLL_EXTENSIONS = (".conll", ".bio", ".iob", ".iob2")


def detect_format(
    file: Source, options: ReadOptions | None = None, text: Text | None = None
) -> str:
    """Return the name of the format `file` is most likely written in.

    `text` is the text of the file, if it has been opened already.
    """
    ending = extension(file)
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    if ending in (".csv", ".tsv"):
        return _table_format(file.name, _head(file, options, text))
    if ending in (".jsonl", ".json"):
        return _json_format(_head(file, options, text))
    if ending in _CONLL_EXTENSIONS:
        head = _head(file, options, text)
        return "benchmark" if _all_lines(head, _BENCHMARK_LINE) else "conll"
    if ending == ".pubtator":
        return "pubtator"
    if ending == ".txt":
        return _text_format(_head(file, options, text))
    if ending == ".ann":
        raise InputError(
            f"{file.name} is brat's annotation of a text that is not here. "
            f"Give {stem(file)}.txt with it, or zip both"
        )
    decode(read_whole(file))  # raises InputError if it is a Word file, an image, an archive
    if ending == ".zip":
        raise InputError(f"{file.name} is not a zip archive. Zip the files again")
    which = f'ending in "{ending}"' if ending else "without an ending"
    raise InputError(f"{file.name}: files {which} are not known. Supported: {TEXT_EXTENSIONS}")


def column_names(file: Source, options: ReadOptions | None = None) -> list[str]:
    """Return the columns of a CSV or TSV file, or the keys of a JSON file's first record."""
    if extension(file) in (".csv", ".tsv"):
        return _header(file.name, _head(file, options))
    if extension(file) in (".jsonl", ".json"):
        first = next(_records(_head(file, options)), None)
        return list(first) if isinstance(first, dict) else []
    return []


def _header(name: str, head: str) -> list[str]:
    first = head.lstrip("\r\n").splitlines()[:1]
    return next(csv.reader(first, delimiter=file_delimiter(text_of(name, head))), [])


def _head(file: Source, options: ReadOptions | None, text: Text | None = None) -> str:
    # Cut at the end of a line: half a character would make the encoding look wrong.
    data = read_head(file, _HEAD_BYTES)
    if len(data) < file.size and b"\n" in data:
        data = data[: data.rindex(b"\n")]
    encoding = options.encoding if options else None
    try:
        return decode(SourceFile(file.name, data), encoding).text.removeprefix("\ufeff")
    except InputError:
        # A long first line was cut inside a character, so the whole file decides.
        text = text or open_text(file, encoding)
        return _first_characters(text, _HEAD_BYTES)


def _first_characters(text: Text, count: int) -> str:
    lines: list[str] = []
    for line in text.lines(NEWLINE):
        lines.append(line[:count])
        count -= len(lines[-1])
        if not count:
            break
    return "".join(lines)


def _table_format(name: str, head: str) -> str:
    names = {cell.strip().lower() for cell in _header(name, head)}
    if {"start", "end"} <= names and names & {"label", "type", "entity_type"}:
        return "entities"
    if "token" in names and "token_id" in names:
        return "tokens"
    return "table"


def _json_format(head: str) -> str:
    """Return the format of the first record that shows one; one without annotations may not."""
    return next((name for name in map(_record_format, _records(head)) if name), "jsonl")


def _record_format(record: object) -> str | None:
    if isinstance(record, list):
        return "spacy" if record[1:] and isinstance(record[1], dict) else None
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("data"), dict):
        return "label_studio"
    if "spans" in record or _are_objects(record.get("tokens")):
        return "prodigy"
    if isinstance(record.get("label"), list) or isinstance(record.get("labels"), list):
        return "doccano"
    entities = record.get("entities")
    if _are_objects(entities) and "start_offset" in entities[0]:
        return "doccano"
    return None


def _are_objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _records(head: str) -> Iterator[object]:
    """Yield the items of the file's list, or the values on its lines; None for a bad line."""
    text = head.strip()
    whole = _value(text)
    if isinstance(whole, list) and whole and isinstance(whole[0], dict | list):
        yield from whole
    elif whole is not None:
        yield whole
    elif text.startswith("[") and _value(text.partition("\n")[0]) is None:
        yield from _items_of_cut_list(text)
    else:
        yield from map(_value, text.split("\n"))


def _value(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _items_of_cut_list(text: str) -> Iterator[object]:
    """Yield the items of a list whose end is not in the head of the file."""
    decoder = json.JSONDecoder()
    position = 1
    with suppress(ValueError, RecursionError):
        while True:
            position = _LIST_GAP.match(text, position).end()  # type: ignore[union-attr]
            value, position = decoder.raw_decode(text, position)
            yield value


def _text_format(head: str) -> str:
    lines = [line for line in head.splitlines() if line.strip()]
    if lines and _PUBTATOR_LINE.match(lines[0]):
        return "pubtator"
    if _all_lines(head, _BENCHMARK_LINE):
        return "benchmark"
    return "conll" if _all_lines(head, _CONLL_LINE) else "txt"


def _all_lines(head: str, pattern: re.Pattern[str]) -> bool:
    """Return whether the first lines (up to 200 that are not blank) all match the pattern."""
    lines = [line.rstrip() for line in head.splitlines() if line.strip()][:200]
    lines = [line for line in lines if not line.startswith(("#", "-DOCSTART-"))]
    return bool(lines) and all(pattern.fullmatch(line) for line in lines)
