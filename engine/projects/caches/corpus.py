"""Cache text that was read, so that a large project opens without tokenizing again.

A file that is missing, damaged or made by other code is ignored, and the originals are read.
Nothing in it is unpickled.
"""

import json
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.files import written_whole
from engine.projects.caches.code_version import code_version, sources_of
from engine.settings import LIMITS
from engine.system import without_collection
from engine.text import Corpus, Document, Entity, FileReport, InputError, Layout

_LIBRARIES = ("regex", "sentencex")
_DAMAGE = (
    OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile,
    NotImplementedError, MemoryError,
)  # fmt: skip
_ENTITY = attrgetter(*(field.name for field in fields(Entity)))
_Arrays = dict[str, npt.NDArray[Any]]


@cache
def reader_version() -> str:
    """Return a hash of the code that reads text, so that text read by other code is not used."""
    return code_version(_reader_sources(), _LIBRARIES, LIMITS)


def _reader_sources() -> dict[str, bytes]:
    """Return the readers and this module, with all that they import."""
    return sources_of([__name__, "engine.formats"])


def store_corpora(corpora: Sequence[Corpus], path: Path) -> None:
    """Write the corpora. Without room on disk nothing is written: they can be read again."""
    with suppress(InputError), written_whole(path, is_synced=False) as out:
        np.savez(out, allow_pickle=False, **_to_arrays(corpora))


def load_corpora(path: Path) -> list[Corpus] | None:
    """Return the corpora stored at `path`; None if the originals have to be read."""
    try:
        with _stored(path) as stored, without_collection():
            return _from_arrays({name: stored[name] for name in stored.files})
    except _DAMAGE:
        return None


def load_ids(path: Path) -> list[list[str]] | None:
    """Return only the document ids of stored corpora."""
    try:
        with _stored(path) as stored:
            return [[str(id) for id in ids] for ids in _unpacked(stored["ids"])]
    except _DAMAGE:
        return None


@contextmanager
def _stored(path: Path) -> Iterator[Any]:
    # Opened here, because numpy does not close a file that is cut short.
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
        yield stored


# ---- corpora as arrays ----------------------------------------------------------------------


def _to_arrays(corpora: Sequence[Corpus]) -> _Arrays:
    documents = [document for corpus in corpora for document in corpus.documents]
    # JSON can contain lone surrogates, and so can a text that was read from it.
    text = "".join(document.text for document in documents).encode("utf-8", "surrogatepass")
    rows = [
        (len(d.text), len(d.sentences), d.token_count, d.tokens_given, d.cut_sentences)
        for d in documents
    ]
    return {
        "about": _packed([_about(corpus) for corpus in corpora]),
        "ids": _packed([[document.id for document in corpus.documents] for corpus in corpora]),
        "text": np.frombuffer(text, np.uint8),
        "documents": np.array(rows, np.int64).reshape(len(rows), 5),
        "sentences": _joined(document.layout.sentences for document in documents),
        "tokens": _joined(document.layout.tokens for document in documents),
    }


def _joined(parts: "Iterable[array[int]]") -> npt.NDArray[np.int32]:
    return np.frombuffer(b"".join(part.tobytes() for part in parts), np.int32)


def _from_arrays(arrays: _Arrays) -> list[Corpus]:
    ids = _unpacked(arrays["ids"])
    documents = _documents(arrays, [id for in_corpus in ids for id in in_corpus])
    corpora = []
    for about, in_corpus in zip(_unpacked(arrays["about"]), ids, strict=True):
        corpora.append(_from_about(about, tuple(next(documents) for _ in in_corpus)))
    if next(documents, None) is not None:
        raise ValueError("more documents than ids")
    return corpora


def _documents(arrays: _Arrays, ids: Sequence[str]) -> Iterator[Document]:
    text = arrays["text"].tobytes().decode("utf-8", "surrogatepass")
    sentences, tokens = (array("i", arrays[name].tobytes()) for name in ("sentences", "tokens"))
    rows = arrays["documents"].tolist()
    lengths = [sum(row[column] for row in rows) for column in range(3)]
    if lengths != [len(text), len(sentences) - len(rows), len(tokens) // 2]:
        raise ValueError("the arrays do not fit together")
    at = sentence = token = 0
    for id, (length, sentence_count, token_count, tokens_given, cut) in zip(ids, rows, strict=True):
        body = text[at : at + length]
        layout = Layout(
            tokens[2 * token : 2 * (token + token_count)],
            sentences[sentence : sentence + sentence_count + 1],
        )
        if (layout.sentences[0], layout.sentences[-1]) != (0, token_count):
            raise ValueError("the sentences hold other tokens than the document")
        yield Document(id, body, layout, bool(tokens_given), cut)
        at, token, sentence = at + length, token + token_count, sentence + sentence_count + 1


def _about(corpus: Corpus) -> dict[str, Any]:
    return {
        "files": [asdict(report) for report in corpus.files],
        "entities": {
            id: [_ENTITY(entity) for entity in entities] for id, entities in corpus.entities.items()
        },
    }


def _from_about(about: dict[str, Any], documents: tuple[Document, ...]) -> Corpus:
    return Corpus(
        documents,
        {id: tuple(Entity(*row) for row in rows) for id, rows in about["entities"].items()},
        tuple(FileReport(**{**file, "notes": tuple(file["notes"])}) for file in about["files"]),
    )


def _packed(value: object) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _unpacked(array: npt.NDArray[np.uint8]) -> Any:
    return json.loads(array.tobytes())
