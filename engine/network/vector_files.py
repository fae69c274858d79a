"""Read files of word vectors: index their words once, then read vectors from the disk."""

import codecs
import errno
import gzip
import shutil
import tempfile
import weakref
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.text import InputError

VectorRows = tuple[Mapping[str, int], NDArray[np.float32]]  # spelling -> row, and the rows
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_LONGEST_LINE = 1 << 20  # bytes; a line of a thousand dimensions has about ten thousand
_CHUNK = 1 << 20  # bytes read from a binary file at a time
_MOST_DIMENSIONS = 10_000
_BLANKS = b" \t\r\n"  # fewer than strip() removes: in some files a form feed is a word


class _Row(NamedTuple):
    """A word of a file, with its numbers as bytes."""

    number: int  # of its line, or of the word in a binary file
    offset: int  # of its first byte
    word: bytes
    numbers: bytes


class VectorFile:
    """An index of a file's words: twenty bytes per word, while the vectors stay on the disk."""

    def __init__(self, name: str, stream: IO[bytes], *, is_binary: bool) -> None:
        self._name, self._stream, self._is_binary = name, stream, is_binary
        weakref.finalize(self, stream.close)
        self.dimension, rows = (_binary_rows if is_binary else _text_rows)(stream, name)
        hashes, offsets, numbers = array("q"), array("q"), array("I")
        for row in rows:
            hashes.append(hash(row.word))
            offsets.append(row.offset)
            numbers.append(row.number)
        # The first row of a word counts, so rows with the same hash keep their order.
        order = np.argsort(np.array(hashes, np.int64), kind="stable")
        self._hashes = np.array(hashes, np.int64)[order]
        self._offsets = np.array(offsets, np.int64)[order]
        self._numbers = np.array(numbers, np.uint32)[order]

    def look_up(self, spellings: Iterable[str]) -> VectorRows:
        """Return the vectors of the spellings that the file contains."""
        words = {spelling.encode("utf-8", "surrogatepass"): spelling for spelling in spellings}
        wanted = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
        first = np.searchsorted(self._hashes, wanted).tolist()
        after = np.searchsorted(self._hashes, wanted, side="right").tolist()
        row_of: dict[str, int] = {}
        vectors: list[NDArray[np.float32]] = []
        for (word, spelling), start, stop in zip(words.items(), first, after, strict=True):
            for place in range(start, stop):  # several if words share a hash
                vector = self._vector_at(place, word)
                if vector is not None:
                    row_of[spelling] = len(vectors)
                    vectors.append(vector)
                    break
        return row_of, np.array(vectors, dtype=np.float32).reshape(-1, self.dimension)

    def _vector_at(self, place: int, word: bytes) -> NDArray[np.float32] | None:
        """Return the vector at this place, or None if it belongs to another word."""
        self._stream.seek(int(self._offsets[place]))
        number = int(self._numbers[place])
        if self._is_binary:
            record = self._stream.read(len(word) + 1 + 4 * self.dimension)
            if not record.startswith(word + b" "):
                return None
            vector = np.frombuffer(record[len(word) + 1 :], dtype="<f4").astype(np.float32)
            return _checked(vector, f"{self._name} word {number:,}")
        line = self._stream.readline(_LONGEST_LINE).rstrip(_BLANKS)
        word_there, numbers = _word_and_numbers(line, self.dimension, self._name, number)
        if word_there != word:
            return None
        return _numbers(numbers, self.dimension, f"{self._name} line {number:,}")


def open_vector_file(path: Path) -> VectorFile:
    """Open a file of word vectors and index all of its words."""
    check_is_file(path)
    is_binary = ".bin" in [suffix.lower() for suffix in path.suffixes[-2:]]
    try:
        return VectorFile(path.name, _unpacked(path), is_binary=is_binary)
    except (OSError, EOFError, zlib.error) as error:
        is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        advice = "unpack it where there is room" if is_full else "get the file again"
        raise InputError(f"{path} cannot be read ({error}); {advice}") from error


def check_is_file(path: Path) -> None:
    """Raise InputError if there is no such file."""
    if not path.is_file():
        raise InputError(
            f'"{path}" is not a file; word vectors come from "glove", "none" or a file '
            "(.txt, .vec or .bin, also packed as .gz)"
        )


def _unpacked(path: Path) -> IO[bytes]:
    """Open the file, unpacked if its first bytes say that it is gzip."""
    raw = path.open("rb")
    head = raw.read(len(_ZIP))
    raw.seek(0)
    if head == _ZIP:
        raw.close()
        raise InputError(f"{path.name} is a zip archive; unpack it and name the file inside")
    if not head.startswith(_GZIP):
        return raw
    # Look-ups jump to any place in the file, which is slow inside an archive.
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - closed by its only user
    try:
        with raw, gzip.open(raw) as packed:
            shutil.copyfileobj(packed, unpacked)
    except BaseException:
        unpacked.close()
        raise
    unpacked.seek(0)
    return unpacked


def _sizes(line: bytes) -> tuple[int, int] | None:
    """Return (words, dimensions) of a word2vec header; None for any other line."""
    fields = line.split()
    if len(fields) != 2 or not all(f.isdigit() and len(f) < 16 for f in fields):
        return None
    return int(fields[0]), int(fields[1])


def _check_sizes(name: str, sizes: tuple[int, int]) -> None:
    words, dimension = sizes
    if not words or not 0 < dimension <= _MOST_DIMENSIONS:
        raise InputError(
            f"{name} line 1 promises no words, or vectors without 1 to {_MOST_DIMENSIONS:,} "
            "dimensions; get the file again"
        )


def _ends_early(name: str, count: int) -> InputError:
    return InputError(
        f"{name} ends after {count:,} words, but its line 1 promises more; "
        "get the file again, or correct that line"
    )


def _checked(vector: NDArray[np.float32], place: str) -> NDArray[np.float32]:
    if not np.isfinite(vector).all():
        raise InputError(f"{place}: a number is infinite or not a number; get the file again")
    return vector


# ---- text files: a word and its numbers on each line ----------------------------------------


def _text_rows(stream: IO[bytes], name: str) -> tuple[int, Iterator[_Row]]:
    lines = _lines(stream, name)
    first = next(lines, None)
    if first is None:
        raise InputError(f"{name} is empty; get the file again")
    number, _, line = first
    sizes = _sizes(line)
    if sizes:
        _check_sizes(name, sizes)
        return sizes[1], _parsed(lines, name, sizes[1], promised=sizes[0])
    fields = line.split()[1:]
    _numbers(b" ".join(fields), len(fields), f"{name} line {number:,}")
    return len(fields), _parsed(chain([first], lines), name, len(fields))


def _parsed(
    lines: Iterable[tuple[int, int, bytes]], name: str, dimension: int, promised: int = 0
) -> Iterator[_Row]:
    count = 0
    for number, offset, line in lines:
        yield _Row(number, offset, *_word_and_numbers(line, dimension, name, number))
        count += 1
    if count < promised:
        raise _ends_early(name, count)


def _lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, offset, line) without trailing blanks; empty lines are skipped."""
    read_line = partial(stream.readline, _LONGEST_LINE)
    offset = 0
    for number, line in enumerate(iter(read_line, b""), start=1):
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            raise InputError(
                f"{name} line {number:,} is longer than {_LONGEST_LINE:,} bytes, so this is not "
                "a text file of word vectors; a binary one must have a name that ends in .bin"
            )
        start, offset = offset, offset + len(line)
        if number == 1 and line.startswith(codecs.BOM_UTF8):
            start, line = start + len(codecs.BOM_UTF8), line.removeprefix(codecs.BOM_UTF8)
        if line := line.rstrip(_BLANKS):
            yield number, start, line


def _word_and_numbers(line: bytes, dimension: int, name: str, number: int) -> tuple[bytes, bytes]:
    """Split a line after its word, which may itself have spaces (". . ." in GloVe 840B)."""
    if line.count(b" ") == dimension:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    words = fields[:-dimension]
    # "word 0.1 0.2" before the last `dimension` numbers: too many numbers, not a long word.
    if not words or (len(words) > 1 and all(_is_number(field) for field in words[1:])):
        raise InputError(
            f"{name} line {number:,}: expected a word and {dimension} numbers, got "
            f"{len(fields) - 1}; get the file again (the name of a binary one must end in .bin)"
        )
    return b" ".join(words), b" ".join(fields[-dimension:])


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(text: bytes, dimension: int, place: str) -> NDArray[np.float32]:
    fields = text.split()
    if not fields or len(fields) != dimension:
        raise InputError(f"{place}: expected a word and numbers; this is not a file of vectors")
    try:
        with np.errstate(over="ignore"):  # beyond float32 becomes infinite, and is refused below
            vector = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError:
        # Never with the text itself: a crafted run may name a file that is nobody's business.
        wrong = next(i for i, field in enumerate(fields, start=2) if not _is_number(field))
        raise InputError(f"{place}: field {wrong:,} is not a number; get the file again") from None
    return _checked(vector, place)


# ---- word2vec's binary files: a word, a space, and its float32 numbers ----------------------


def _binary_rows(stream: IO[bytes], name: str) -> tuple[int, Iterator[_Row]]:
    header = stream.readline(_LONGEST_LINE)
    sizes = _sizes(header)
    if sizes is None:
        raise InputError(
            f"{name} does not begin with its numbers of words and dimensions, as word2vec's "
            "binary files do; for a fastText model, name its .vec file"
        )
    _check_sizes(name, sizes)
    return sizes[1], _records(stream, name, sizes, len(header))


def _records(stream: IO[bytes], name: str, sizes: tuple[int, int], offset: int) -> Iterator[_Row]:
    """Yield the rows from `offset` on, with one chunk of the file in memory at a time."""
    count, dimension = sizes
    buffer, position = b"", 0  # the buffer starts at `offset` in the file
    for index in range(count):
        space = buffer.find(b" ", position)
        while space < 0 or len(buffer) <= space + 4 * dimension:
            if space < 0 and len(buffer) - position > _LONGEST_LINE:
                raise InputError(f"{name} word {index + 1:,} has no end; get the file again")
            chunk = stream.read(_CHUNK)
            if not chunk:
                raise _ends_early(name, index)
            offset += position
            buffer, position = buffer[position:] + chunk, 0
            space = buffer.find(b" ")
        end = space + 1 + 4 * dimension
        # Some programs end each record with a line break, some do not.
        word = buffer[position:space].lstrip(b"\n")
        start = offset + space - len(word)
        yield _Row(index + 1, start, word, buffer[space + 1 : end])
        position = end
