"""JSON and JSON-lines files become records with line numbers, their faults named."""

import json
import re
from dataclasses import dataclass
from typing import Any

from engine.files import SourceFile, decode
from engine.settings import ReadOptions
from engine.text import InputError

_BEYOND_PYTHON = "nested too deeply, or a number too long"
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Record:
    line: int  # 1-based line in a .jsonl file, 1-based position in a .json list
    value: Any


@dataclass(frozen=True, slots=True)
class Records:
    items: tuple[Record, ...]
    encoding: str
    notes: tuple[str, ...] = ()


def read_records(file: SourceFile, options: ReadOptions) -> Records:
    """Return the records of a JSON list, a single JSON value, or one JSON value a line.

    A line that is not JSON is an error that names it, or is left out and counted when
    `options.skip_bad_lines` is set.
    """
    decoded = decode(file, options.encoding)
    text = decoded.text.removeprefix("\ufeff")
    whole = _whole(text)
    if whole is not None:
        values = whole if isinstance(whole, list) else [whole]
        items = [Record(i, value) for i, value in enumerate(values, start=1)]
        if not items:
            raise InputError(f"{file.name} holds an empty list. Nothing was added")
        return Records(tuple(items), decoded.encoding, decoded.notes)
    items, bad = _lines(text)
    if bad and (not items or not options.skip_bad_lines):
        fix = "skip_bad_lines" if items else ""
        raise InputError(_message(file, text, items, bad), fix)
    notes = (*decoded.notes, _left_out(bad)) if bad else decoded.notes
    return Records(tuple(items), decoded.encoding, notes)


def _message(file: SourceFile, text: str, items: list[Record], bad: list[tuple[int, str]]) -> str:
    line, fault = bad[0]
    if not items and file.extension != ".json":
        return (
            f"{file.name} line {line:,}: not valid JSON ({fault}). "
            "The file holds no JSON. Nothing was added"
        )
    if file.extension == ".json" and (not items or line < items[0].line):
        # Not JSON lines but one value over many lines: its own fault, not that of its first line.
        line, fault = _fault_of_whole(text)
        return f"{file.name} line {line:,}: not valid JSON ({fault}). Correct it"
    return (
        f"{file.name} line {line:,}: not valid JSON ({fault}). "
        f"{len(bad):,} of {len(items) + len(bad):,} lines. Correct it, or skip bad lines"
    )


def _left_out(bad: list[tuple[int, str]]) -> str:
    where = ", ".join(f"{line:,}" for line, _ in bad[:5]) + (" …" if len(bad) > 5 else "")
    if len(bad) == 1:
        return f"1 line that is not JSON left out (line {where})"
    return f"{len(bad):,} lines that are not JSON left out (lines {where})"


def _whole(text: str) -> Any:
    """The file as one JSON value, or None when it is JSON lines (or broken)."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return _mended(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _fault_of_whole(text: str) -> tuple[int, str]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno, f"{error.msg} at column {error.colno}"
    except (ValueError, RecursionError):
        pass
    return 1, _BEYOND_PYTHON


def _lines(text: str) -> tuple[list[Record], list[tuple[int, str]]]:
    items: list[Record] = []
    bad: list[tuple[int, str]] = []
    # Not splitlines(): JSON strings may hold U+2028 and other line ends that JSON allows.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            items.append(Record(number, _mended(json.loads(line))))
        except json.JSONDecodeError as error:
            bad.append((number, f"{error.msg} at column {error.colno}"))
        except (ValueError, RecursionError):
            bad.append((number, _BEYOND_PYTHON))
    return items, bad


def _mended(value: Any) -> Any:
    """Half a surrogate pair cannot be written as UTF-8, nor NUL in most formats: U+FFFD instead.

    The length stays the same, so offsets stay right.
    """
    if isinstance(value, str):
        return _UNWRITABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
