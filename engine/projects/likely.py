"""Likely entities of a project's text: a job finds them and keeps them here, pages read them."""

import hashlib
import json
import zipfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.files import written_whole
from engine.labels import DoubtfulPhrase, LikelyTokens
from engine.projects.caches.corpus import reader_version
from engine.projects.caches.labels import labels_path
from engine.projects.files import CACHE
from engine.projects.project import Project

_FILE = "likely.npz"
_DAMAGE = (
    OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile,
    NotImplementedError, MemoryError,
)  # fmt: skip
_SETTLED = ("accepted", "rejected", "edited")


class Basis(NamedTuple):
    """Hashes of what likely entities depend on."""

    text: str  # with another text they mean nothing
    labels: str  # text, dictionaries and matching
    decisions: str


class KeptLikely(NamedTuple):
    """Likely entities as they were found, and from what."""

    tokens: LikelyTokens
    doubtful: tuple[DoubtfulPhrase, ...]  # phrases that the text contradicts
    basis: Basis


def likely_basis(project: Project, version: int | None = None, preset: str | None = None) -> Basis:
    """Return what likely entities depend on, as it is now or with these dictionaries."""
    decided = [
        decision.id
        for kind in ("check", "review")
        for decision in project.decisions(kind)
        if decision.verdict in _SETTLED
    ]
    return Basis(
        _hash(project.text_key(), reader_version()),
        labels_path(project.folder, project.labels_key(version, preset)).stem,
        _hash(*map(str, decided)),
    )


def keep_likely(project: Project, kept: KeptLikely) -> None:
    """Store what was found, in place of what was found before."""
    tokens = kept.tokens
    about = {
        "types": tokens.entity_types,
        "share": tokens.share,
        "factor": tokens.factor,
        "basis": kept.basis,
        "doubtful": [asdict(phrase) for phrase in kept.doubtful],
    }
    with written_whole(_path(project), is_synced=False) as out:
        np.savez(
            out,
            allow_pickle=False,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            confidence=tokens.confidence,
            types=tokens.types,
            margins=tokens.margins,
            is_open=tokens.is_open,
        )


def kept_likely(project: Project) -> KeptLikely | None:
    """Return what was found in the text as it is now; None if nothing was.

    The dictionaries may have changed since: compare `basis` with `likely_basis`.
    """
    with suppress(*_DAMAGE):
        kept = _read(_path(project))
        if kept.basis.text == _hash(project.text_key(), reader_version()):
            return kept
    return None


def adopt_likely(project: Project, path: Path) -> None:
    """Move a file of likely entities into the project, as found in what it holds now.

    A file that cannot be read is only deleted: a search finds the names again.
    """
    with suppress(*_DAMAGE):
        keep_likely(project, _read(path)._replace(basis=likely_basis(project)))
    path.unlink(missing_ok=True)


def likely_file_key(project: Project) -> str:
    """Return what changes whenever other likely entities are stored; "" if there are none."""
    with suppress(OSError):
        about = _path(project).stat()
        return f"{about.st_mtime_ns}-{about.st_size}"
    return ""


def _path(project: Project) -> Path:
    return project.folder / CACHE / _FILE


def _read(path: Path) -> KeptLikely:
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
        about = json.loads(stored["about"].tobytes())
        basis = Basis(*map(str, about["basis"]))
        tokens = LikelyTokens(
            stored["confidence"],
            stored["types"],
            stored["margins"],
            stored["is_open"],
            tuple(map(str, about["types"])),
            float(about["share"]),
            float(about["factor"]),
        )
        doubtful = tuple(DoubtfulPhrase(**item) for item in about.get("doubtful", ()))
    _check(tokens)
    return KeptLikely(tokens, doubtful, basis)


def _check(tokens: LikelyTokens) -> None:
    kinds = (np.float16, np.int16, np.float16, np.bool_)
    columns = (tokens.confidence, tokens.types, tokens.margins, tokens.is_open)
    for column, kind in zip(columns, kinds, strict=True):
        if column.dtype != kind or column.shape != (len(tokens),):
            raise ValueError("the arrays do not fit together")
    if ((tokens.types < 1) | (tokens.types > len(tokens.entity_types))).any():
        raise ValueError("a type has no name")


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
