"""A file's name and first lines tell its format."""

import csv
import json
import re

from engine.delimited import find_delimiter
from engine.files import TEXT_EXTENSIONS, SourceFile, decode
from engine.settings import ReadOptions
from engine.text import InputError

_HEAD_BYTES = 200_000
_PUBTATOR_LINE = re.compile(r"[^|\t\n]+\|[ta]\|")
_BENCHMARK_LINE = re.compile(r"\S+ (?:O|[BIESLUM]-\S+) \d{1,3}")
_CONLL_LINE = re.compile(r"\S.*[ \t](?:O|[BIESLUM]-\S+)")
_CONLL_EXTENSIONS = (".conll", ".bio", ".iob", ".iob2")


def detect_format(file: SourceFile, options: ReadOptions | None = None) -> str:
    """Return the name of the format `file` is most likely written in."""
    if file.extension in (".csv", ".tsv"):
        return _table_format(_head(file, options))
    if file.extension in (".jsonl", ".json"):
        return _json_format(_head(file, options))
    if file.extension in _CONLL_EXTENSIONS:
        return "benchmark" if _all_lines(_head(file, options), _BENCHMARK_LINE) else "conll"
    if file.extension == ".pubtator":
        return "pubtator"
    if file.extension == ".txt":
        return _text_format(_head(file, options))
    if file.extension == ".ann":
        raise InputError(
            f"{file.name} is brat's annotation of a text that is not here. "
            f"Give {file.stem}.txt with it, or zip both"
        )
    decode(file)  # says so when it is a Word file, an image, an archive
    raise InputError(
        f'{file.name}: files ending in "{file.extension}" are not known. '
        f"Supported: {TEXT_EXTENSIONS}"
    )


def _head(file: SourceFile, options: ReadOptions | None) -> str:
    # Cut at a line's end, lest half a character make the encoding look wrong.
    data = file.data[:_HEAD_BYTES]
    if len(data) < len(file.data) and b"\n" in data:
        data = data[: data.rindex(b"\n")]
    encoding = options.encoding if options else None
    try:
        return decode(SourceFile(file.name, data), encoding).text.removeprefix("\ufeff")
    except InputError:
        # A long first line was cut inside a character; the whole file decides.
        return decode(file, encoding).text[:_HEAD_BYTES].removeprefix("\ufeff")


def _table_format(head: str) -> str:
    first = head.lstrip("\r\n").splitlines()[:1]
    header = next(csv.reader(first, delimiter=find_delimiter(head)), [])
    names = {cell.strip().lower() for cell in header}
    if {"start", "end"} <= names and names & {"label", "type", "entity_type"}:
        return "entities"
    if "token" in names and "token_id" in names:
        return "tokens"
    return "table"


def _json_format(head: str) -> str:
    record = _first_record(head)
    if isinstance(record, list):
        return "spacy" if record[1:] and isinstance(record[1], dict) else "jsonl"
    if not isinstance(record, dict):
        return "jsonl"
    if isinstance(record.get("data"), dict):
        return "label_studio"
    if "spans" in record:
        return "prodigy"
    if isinstance(record.get("label", record.get("labels")), list):
        return "doccano"
    entities = record.get("entities")
    if isinstance(entities, list) and any("start_offset" in e for e in entities if e):
        return "doccano"
    return "jsonl"


def _first_record(head: str) -> object:
    """The first JSON value of the file, or of the list that the file is; None when unreadable."""
    text = head.lstrip()
    decoder = json.JSONDecoder()
    try:
        value, _ = decoder.raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        # The head of a long list is cut off; its first element may still be whole.
        try:
            return decoder.raw_decode(text[1:].lstrip())[0] if text[:1] == "[" else None
        except (json.JSONDecodeError, RecursionError):
            return None
    is_list_of_records = isinstance(value, list) and value and isinstance(value[0], dict | list)
    return value[0] if is_list_of_records else value


def _text_format(head: str) -> str:
    lines = [line for line in head.splitlines() if line.strip()]
    if lines and _PUBTATOR_LINE.match(lines[0]):
        return "pubtator"
    if _all_lines(head, _BENCHMARK_LINE):
        return "benchmark"
    return "conll" if _all_lines(head, _CONLL_LINE) else "txt"


def _all_lines(head: str, pattern: re.Pattern[str]) -> bool:
    """Whether the first lines (up to 200 that are not blank) all have the pattern's shape."""
    lines = [line.rstrip() for line in head.splitlines() if line.strip()][:200]
    lines = [line for line in lines if not line.startswith(("#", "-DOCSTART-"))]
    return bool(lines) and all(pattern.fullmatch(line) for line in lines)
