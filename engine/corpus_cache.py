"""A read corpus as one file of arrays, so that a large project opens without tokenizing again.

Only ever a shortcut: a file that is absent, damaged or of another reader is passed over, and the
originals are read. Nothing in it is unpickled.
"""

import gc
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.files import written_whole
from engine.settings import LIMITS
from engine.text import Corpus, Document, Entity, FileReport, InputError, Sentence

_ENGINE = Path(__file__).resolve().parent
# Whatever decides which documents, sentences and tokens a file becomes.
_READERS = ("tokenization.py", "text.py", "files.py", "delimited.py", "json_records.py")
_LIBRARIES = ("regex", "sentencex")
_DAMAGE = (
    OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile,
    NotImplementedError,
)  # fmt: skip
_Arrays = dict[str, npt.NDArray[Any]]


@cache
def reader_version() -> str:
    """Return a hash of the code that reads text; a file made by other code does not count."""
    digest = hashlib.sha256(repr((LIMITS, [version(name) for name in _LIBRARIES])).encode())
    for path in [
        *(_ENGINE / name for name in _READERS),
        *sorted((_ENGINE / "formats").glob("*.py")),
    ]:
        digest.update(path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:16]


def store_corpus(corpus: Corpus, path: Path) -> None:
    """Write the corpus to `path`; when there is no room it is left out, as it can be read again."""
    with suppress(InputError), written_whole(path) as out:
        np.savez(out, **_to_arrays(corpus))  # type: ignore[arg-type]


def load_corpus(path: Path) -> Corpus | None:
    """Return the corpus stored at `path`, or None when it has to be read from the originals."""
    try:
        with np.load(path, allow_pickle=False) as stored, _without_collection():
            return _from_arrays({name: stored[name] for name in stored.files})
    except _DAMAGE:
        return None


def load_ids(path: Path) -> list[str] | None:
    """Return only the document ids of a stored corpus."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return [str(id) for id in _unpacked(stored["ids"])]
    except _DAMAGE:
        return None


# ---- a corpus as arrays ---------------------------------------------------------------------


def _to_arrays(corpus: Corpus) -> _Arrays:
    numbers: dict[str, int] = {}
    sentences = list(corpus.sentences)
    tokens = [numbers.setdefault(token, len(numbers)) for s in sentences for token in s.tokens]
    about = {
        "files": [asdict(report) for report in corpus.files],
        "entities": {id: [asdict(entity) for entity in of] for id, of in corpus.entities.items()},
    }
    text = "".join(document.text for document in corpus.documents)
    return {
        "about": _packed(about),
        "ids": _packed([document.id for document in corpus.documents]),
        "vocabulary": _packed(list(numbers)),
        # JSON can hold half a surrogate pair; so can a text that was read from it.
        "text": np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8),
        "documents": _table(
            [
                (len(d.text), len(d.sentences), d.tokens_given, d.cut_sentences)
                for d in corpus.documents
            ],
            4,
        ),
        "sentences": _table([(s.start, len(s.text), len(s.tokens)) for s in sentences], 3),
        "tokens": np.array(tokens, np.int32),
        "starts": np.array([start for s in sentences for start in s.starts], np.int32),
    }


def _from_arrays(arrays: _Arrays) -> Corpus:
    about, ids = _unpacked(arrays["about"]), _unpacked(arrays["ids"])
    # Interned as the tokenizer does it: one copy of each distinct token.
    vocabulary = [sys.intern(token) for token in _unpacked(arrays["vocabulary"])]
    text = arrays["text"].tobytes().decode("utf-8", "surrogatepass")
    tokens = [vocabulary[number] for number in arrays["tokens"].tolist()]
    starts = arrays["starts"].tolist()
    rows = arrays["sentences"].tolist()
    if len(tokens) != len(starts) or sum(row[2] for row in rows) != len(tokens):
        raise ValueError("the arrays do not fit together")
    token_ends = list(accumulate((row[2] for row in rows), initial=0))
    documents, at, first = [], 0, 0
    for id, (length, count, tokens_given, cut) in zip(
        ids, arrays["documents"].tolist(), strict=True
    ):
        body = text[at : at + length]
        sentences = []
        for index in range(count):
            begin, size, _ = rows[first + index]
            here = slice(token_ends[first + index], token_ends[first + index + 1])
            sentences.append(
                Sentence(
                    id, index, begin, body[begin : begin + size],
                    tuple(tokens[here]), tuple(starts[here]),
                )
            )  # fmt: skip
        documents.append(Document(id, body, tuple(sentences), bool(tokens_given), cut))
        at += length
        first += count
    if at != len(text) or first != len(rows):
        raise ValueError("the arrays do not fit together")
    return Corpus(
        tuple(documents),
        {id: tuple(Entity(**entity) for entity in of) for id, of in about["entities"].items()},
        tuple(FileReport(**{**of, "notes": tuple(of["notes"])}) for of in about["files"]),
    )


def _table(rows: list[tuple[int, ...]], columns: int) -> npt.NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(len(rows), columns)


def _packed(value: object) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _unpacked(array: npt.NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())


@contextmanager
def _without_collection() -> Iterator[None]:
    """Many small objects are made and none is dropped; looking for garbage would double the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
