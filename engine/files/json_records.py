"""Read JSON and JSON-lines files into records with line numbers, and name faults."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.files.sources import Source
from engine.files.text_files import NEWLINE, Text, open_text
from engine.settings import ReadOptions
from engine.text import InputError

_BEYOND_PYTHON = "nested too deeply, or a number too long"
_SHOWN_LINES = 5
_DEEPEST = 200  # nested lists and objects; Python itself fails near 1,000
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_UNWRITABLE_ESCAPED = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


@dataclass(frozen=True, slots=True)
class Record:
    line: int  # 1-based line in a .jsonl file, 1-based position in a .json list
    value: Any


@dataclass(frozen=True, slots=True)
class Records:
    items: tuple[Record, ...]
    encoding: str
    notes: tuple[str, ...] = ()


def read_records(file: Source, options: ReadOptions) -> Records:
    """Return the records of a JSON list, a single JSON value, or one JSON value per line.

    A line that is not JSON is an error that names it; with `options.skip_bad_lines` it is left out
    and counted.
    """
    reading = RecordReading(open_text(file, options.encoding), options)
    items = tuple(reading.records())
    return Records(items, reading.text.encoding, reading.notes)


class RecordReading:
    """The records of a file, one at a time; its notes are complete after the last record.

    Only JSON lines are read without holding the file in memory. Lines that are not JSON raise
    InputError after the last line, with their number.
    """

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self.text = text
        self._options = options
        self._bad = _BadLines()

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.text.notes, *self._bad.notes)

    def records(self) -> Iterator[Record]:
        """Yield the items of the list that the file is, or the values on its lines."""
        whole = _whole(self.text)
        if whole is None:
            return self._lines()
        values = whole if isinstance(whole, list) else [whole]
        if not values:
            raise InputError(f"{self.text.name} holds an empty list. Nothing was added")
        return (Record(i, value) for i, value in enumerate(values, start=1))

    def _lines(self) -> Iterator[Record]:
        first, count = 0, 0
        # Only "\n" ends a line: JSON strings may hold U+2028 and the like.
        for number, line in enumerate(self.text.lines(NEWLINE), start=1):
            if not line.strip():
                continue
            try:
                value = _decoded(line.removesuffix("\n"))
            except json.JSONDecodeError as error:
                self._bad.add(number, f"{error.msg} at column {error.colno}")
            except (ValueError, RecursionError):
                self._bad.add(number, _BEYOND_PYTHON)
            else:
                first, count = first or number, count + 1
                yield Record(number, value)
        if self._bad.count and (not count or not self._options.skip_bad_lines):
            raise self._fault(first, count)

    def _fault(self, first: int, count: int) -> InputError:
        """Return what is wrong; `first` is the line of the first record, 0 if there is none."""
        name, line, fault = self.text.name, self._bad.lines[0], self._bad.fault
        if not count and self.text.extension != ".json":
            return InputError(
                f"{name} line {line:,}: not valid JSON ({fault}). "
                "The file holds no JSON. Nothing was added"
            )
        if self.text.extension == ".json" and (not count or line < first):
            # One JSON value over many lines: report its own fault, not that of its first line.
            line, fault = _fault_of_whole(self.text.whole())
            return InputError(f"{name} line {line:,}: not valid JSON ({fault}). Correct it")
        return InputError(
            f"{name} line {line:,}: not valid JSON ({fault}). {self._bad.count:,} of "
            f"{count + self._bad.count:,} lines. Correct it, or skip bad lines",
            fix="skip_bad_lines",
        )


class _BadLines:
    """How many lines are not JSON, the first few of them, and the fault of the first."""

    def __init__(self) -> None:
        self.count, self.fault = 0, ""
        self.lines: list[int] = []

    def add(self, line: int, fault: str) -> None:
        self.count += 1
        self.fault = self.fault or fault
        if len(self.lines) < _SHOWN_LINES:
            self.lines.append(line)

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.count:
            return ()
        more = " …" if self.count > len(self.lines) else ""
        where = ", ".join(f"{line:,}" for line in self.lines) + more
        if self.count == 1:
            return (f"1 line that is not JSON left out (line {where})",)
        return (f"{self.count:,} lines that are not JSON left out (lines {where})",)


def _whole(text: Text) -> Any:
    """Return the file as one JSON value, or None if it is JSON lines (or broken)."""
    lines = (line for line in text.lines(NEWLINE) if line.strip())
    first = next(lines, "")
    if first.lstrip()[:1] not in ("[", "{"):
        return None
    if _is_value(first) and next(lines, None) is not None:
        return None  # two values, which shows without holding the file
    try:
        return _decoded(text.whole())
    except (ValueError, RecursionError):
        return None


def _is_value(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _fault_of_whole(text: str) -> tuple[int, str]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno, f"{error.msg} at column {error.colno}"
    except (ValueError, RecursionError):
        pass
    return 1, _BEYOND_PYTHON


def _decoded(text: str) -> Any:
    """Return the value of a JSON text; RecursionError if it is nested too deeply."""
    value = json.loads(text)
    _check_depth(value)
    return _writable(value) if _may_be_unwritable(text) else value


def _check_depth(value: Any) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST + 1):
        if not level:
            return
        inside = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
    if level:
        raise RecursionError


def _may_be_unwritable(text: str) -> bool:
    """Return whether a text holds unwritable characters, escaped or not.

    Few files do, and replacing them takes longer than decoding. So does one pattern for all cases.
    """
    if "\0" in text or ("\\u" in text and _UNWRITABLE_ESCAPED.search(text)):
        return True
    return not text.isascii() and bool(_UNWRITABLE.search(text))


def _writable(value: Any) -> Any:
    """Replace what cannot be written by U+FFFD; the length stays, so offsets stay right.

    Half a surrogate pair cannot be written as UTF-8, and NUL in few formats.
    """
    if isinstance(value, str):
        return _UNWRITABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return value
