"""One small file per format, made by our own writers; the same bytes every time."""

import io
import os
import tempfile
import uuid
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from unittest.mock import patch

from engine.dictionaries.layouts import make_phrase
from engine.dictionaries.model import Dictionary
from engine.export.dictionary_writing import write_patterns, write_phrases
from engine.files.sources import SourceFile
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.projects.project import Project
from engine.projects.workspace import write_project_zip
from engine.run_folder.card import PREDICTIONS
from engine.text.model import Corpus, Entity
from engine.text.tokenization import make_document
from tests.support.archives import zipped
from tests.support.finished_runs import finish_run, make_project

TEXTS = {
    "note 1": "Fever came with IL-2.\nThe patient took aspirin (ASA), 5.5\u00a0mg. ASA helped.",
    "12": 'He said "gout", na\u00efve; chronic kidney disease | 東京 😀.\r\nNothing else, =1+1.',
    "empty": "",
    "ünï": "A rash. Rash\tagain, cafe\u0301 and #lead. O B-LOC -DOCSTART- done.",
}
_SURFACES = {"Fever": "Disease", "gout": "Disease", "aspirin": "Chemical", "rash": "Cell line"}
PROJECT = "seed-0001"


@dataclass(frozen=True, slots=True)
class Seed:
    """A file, and what is done with it (a name in `targets.TARGETS`)."""

    name: str
    data: bytes
    target: str


@cache
def corpus() -> Corpus:
    documents = tuple(make_document(id, text) for id, text in TEXTS.items())
    entities: dict[str, tuple[Entity, ...]] = {}
    for document in documents[:3]:
        entities[document.id] = tuple(
            Entity(start, start + len(surface), kind, method="gold", source="x", canonical_id="D1")
            for surface, kind in _SURFACES.items()
            if (start := document.text.find(surface)) >= 0
        )
    return Corpus(documents, entities)


def dictionaries() -> list[Dictionary]:
    phrases = [make_phrase(text, kind, 1, f"D:{text}") for text, kind in _SURFACES.items()]
    return [Dictionary("Disease.txt", tuple(phrases)), Dictionary("other", tuple(phrases[:2]))]


@cache
def seeds() -> tuple[Seed, ...]:
    """Return all seeds, in the same order every time."""
    project = project_files()
    return (
        *_text_seeds(),
        *_dictionary_seeds(),
        Seed("project.zip", _zip(project), "project zip"),
        Seed("project.db", project["project.db"], "database"),
        *(
            Seed(Path(name).name, data, "run folder")
            for name, data in project.items()
            if "/mpu" in name and Path(name).name in ("run.json", PREDICTIONS)
        ),
    )


@cache
def project_files() -> dict[str, bytes]:
    """Return the files of a project with text, gold, dictionaries, decisions and a finished run."""
    return _project_members()


def _text_seeds() -> list[Seed]:
    found = []
    for format in FORMATS.values():
        for options in (WriteOptions(), WriteOptions(excel=True, utf16_offsets=True)):
            if format.write is None:
                continue
            out = io.BytesIO()
            format.write(corpus(), out, options)
            name = "seed.txt" if format.name == "pubtator" else f"seed{format.extensions[0]}"
            if not any(seed.data == out.getvalue() for seed in found):
                found.append(Seed(name, out.getvalue(), "text"))
    brat = next(seed.data for seed in found if seed.name == "seed.zip")
    with zipfile.ZipFile(io.BytesIO(brat)) as archive:
        pair = {f"one{Path(n).suffix}": archive.read(n) for n in archive.namelist()[:2]}
    table = "id,text\n" + "".join(f'{id},"{text}"\n' for id, text in TEXTS.items() if id != "12")
    texts = {f"{id}.txt": text.encode() for id, text in TEXTS.items() if text}
    plain = "\n".join(TEXTS.values())
    return [
        *found,
        Seed("plain.txt", plain.encode(), "text"),
        Seed("plain16.txt", plain.encode("utf-16"), "text"),
        Seed("plain1252.txt", "naïve café\nrash".encode("windows-1252"), "text"),
        Seed("table.csv", table.encode(), "text"),
        Seed("table.tsv", table.replace(",", "\t").encode(), "text"),
        Seed("texts.zip", zipped(texts).data, "text"),
        Seed("pair.zip", zipped(pair).data, "text"),
        Seed("gold.csv", next(s.data for s in found if s.name == "seed.csv"), "gold"),
        Seed("gold.jsonl", next(s.data for s in found if s.name == "seed.jsonl"), "gold"),
    ]


def _dictionary_seeds() -> list[Seed]:
    rows, patterns = io.BytesIO(), io.BytesIO()
    write_phrases(dictionaries(), rows)
    write_patterns(dictionaries(), patterns)
    files = {
        "Disease.txt": "# comment\nfever\ngout\nIL-2\nna\u00efve\n東京\n".encode(),
        "tabbed.txt": b"Disease\tfever\nDisease\tgout\nChemical\taspirin\nDisease\trash\n",
        "phrases.csv": rows.getvalue(),
        "case.csv": b"term,label,case_sensitive,source\nfever,Disease,yes,x\ngout,Disease,no,\n",
        "two.csv": b"fever,Disease\ngout,Disease\nrash,Disease\naspirin,Chemical\n",
        "patterns.jsonl": patterns.getvalue(),
        "tokens.jsonl": b'{"label": "Disease", "pattern": [{"LOWER": "kidney"}, {"TEXT": "x"}]}\n',
        "lists.json": b'{"Disease": ["fever", "gout"], "Chemical": ["aspirin"]}',
        "records.json": b'[{"term": "fever", "label": "Disease", "id": 7}, "gout", null]',
    }
    archive = zipped({**files, "notes.md": b"#"}, "dictionaries.zip")
    every = [*files.items(), (archive.name, archive.data)]
    return [Seed(name, data, "dictionary") for name, data in every]


# ---- a project ------------------------------------------------------------------------------


class _StoppedClock(datetime):
    @classmethod
    def now(cls, tz: object = None) -> "datetime":  # type: ignore[override]
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def _project_members() -> dict[str, bytes]:
    numbers = iter(range(10**6))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(patch.dict(os.environ, {"GLOSSA_DATA": folder}))
        stack.enter_context(patch("engine.system.moments.datetime", _StoppedClock))
        stack.enter_context(patch("engine.jobs.lifecycle.datetime", _StoppedClock))
        stack.enter_context(patch("uuid.uuid4", lambda: uuid.UUID(int=next(numbers) << 80)))
        hexes = patch("secrets.token_hex", lambda size=4: f"{next(numbers):0{2 * size}x}")
        stack.enter_context(hexes)
        project = make_project()
        _fill(project)
        path = Path(folder, "project.zip")
        write_project_zip(project, path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in sorted(archive.namelist())}


def _fill(project: Project) -> None:
    project.set_gold([SourceFile("g.csv", b"doc_id,start,end,label\nnotes,7,11,Disease\n")])
    project.add_decision("review", "notes", 7, 11, "Disease", "accepted")
    project.set_choice("preset", "quick")
    finish_run(project)


def _zip(members: dict[str, bytes]) -> bytes:
    return zipped(members).data
