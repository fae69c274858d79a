"""JSON and JSON-lines files become records with line numbers, their faults named."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.files import SourceFile
from engine.settings import ReadOptions
from engine.text import InputError
from engine.text_files import NEWLINE, Text, held_text

_BEYOND_PYTHON = "nested too deeply, or a number too long"
_SHOWN_LINES = 5
_DEEPEST = 200  # lists and objects inside one another; Python itself gives up near 1,000
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


def read_records(file: SourceFile, options: ReadOptions) -> Records:
    """Return the records of a JSON list, a single JSON value, or one JSON value a line.

    A line that is not JSON is an error that names it, or is left out and counted when
    `options.skip_bad_lines` is set.
    """
    reading = RecordReading(held_text(file, options.encoding), options)
    items = tuple(reading.records())
    return Records(items, reading.text.encoding, reading.notes)


class RecordReading:
    """The records of a file, one at a time; its notes are complete when all were taken.

    Only JSON lines are read without holding the file. Lines that are not JSON are told when it has
    been gone through, with their number.
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
        # Not any line end: JSON strings may hold U+2028 and others that JSON allows.
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
        """What is wrong with the lines; `first` is that of the first record, 0 if there is none."""
        name, line, fault = self.text.name, self._bad.lines[0], self._bad.fault
        if not count and self.text.extension != ".json":
            return InputError(
                f"{name} line {line:,}: not valid JSON ({fault}). "
                "The file holds no JSON. Nothing was added"
            )
        if self.text.extension == ".json" and (not count or line < first):
            # Not JSON lines but one value over many: its own fault, not that of its first line.
            line, fault = _fault_of_whole(self.text.whole())
            return InputError(f"{name} line {line:,}: not valid JSON ({fault}). Correct it")
        return InputError(
            f"{name} line {line:,}: not valid JSON ({fault}). {self._bad.count:,} of "
            f"{count + self._bad.count:,} lines. Correct it, or skip bad lines",
            fix="skip_bad_lines",
        )


class _BadLines:
    """How many lines are not JSON, the first of them, and what is wrong with the very first."""

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
    """The file as one JSON value, or None when it is JSON lines (or broken)."""
    lines = (line for line in text.lines(NEWLINE) if line.strip())
    first = next(lines, "")
    if first.lstrip()[:1] not in ("[", "{"):
        return None
    if _is_value(first) and next(lines, None) is not None:
        return None  # two values; there is no need to hold the file to see that
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
    """The value of a JSON text; RecursionError when it is nested too deep to be worked with."""
    value = json.loads(text)
    _check_depth(value)
    return _mended(value) if _may_be_unwritable(text) else value


def _check_depth(value: Any) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEEPEST + 1):
        if not level:
            return
        inside = (of.values() if isinstance(of, dict) else of for of in level)
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
    if level:
        raise RecursionError


def _may_be_unwritable(text: str) -> bool:
    """Whether there is anything to mend, as itself or escaped.

    Few files have any, and mending takes longer than decoding; so does a pattern that looks for
    all of it at once.
    """
    if "\0" in text or ("\\u" in text and _UNWRITABLE_ESCAPED.search(text)):
        return True
    return not text.isascii() and bool(_UNWRITABLE.search(text))


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
