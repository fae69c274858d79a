"""Make project.zip, the sample project with its results: `make sample`.

The three methods and a coverage curve are trained with the preset quick. The first items of the
review are decided as the gold says, likely missing names are searched for, and Conf-MPU finds
entities in texts that were kept apart. project.json has a hash of everything this depends on, and
tests/test_sample_results.py fails when one of them is another today.
"""

import ast
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from engine import jobs
from engine.export import METHOD_ORDER
from engine.files import SourceFile
from engine.jobs import CurveRequest, Job, PredictRequest, Request, SuggestRequest, TrainRequest
from engine.labels import dictionary_entities
from engine.projects import (
    CACHE,
    SAMPLE_FOLDER,
    SAMPLE_LIKELY,
    SAMPLE_ZIP,
    Project,
    labels_of,
    untrained_sample,
    write_project_zip,
    writing,
)
from engine.review import DICTIONARY, ORDERS, Decision, Item, make_items, make_queue
from engine.settings import training_settings
from engine.text import Entity

ROOT = Path(__file__).resolve().parents[1]
ABOUT = SAMPLE_FOLDER / "project.json"
FORMAT = 1  # of project.zip; raise it when another change makes the stored one useless
PRESET = "quick"
METHOD = "conf_mpu"  # predicts on new text
DECISIONS, NEW_TEXTS = 12, 3
# Decides which weights, scores and names come out.
CODE = (
    "engine/experiment.py", "engine/labels", "engine/learning", "engine/network", "engine/planning",
)  # fmt: skip
BEGAN = time.perf_counter()


def main() -> None:
    """Make the project in a temporary data folder, and pack it."""
    basis = fingerprints()
    with tempfile.TemporaryDirectory(prefix="glossa-sample-") as folder:
        os.environ["GLOSSA_DATA"] = folder
        project = untrained_sample()
        fill(project)
        shrink(project)
        write_project_zip(project, SAMPLE_ZIP)
    ABOUT.write_text(json.dumps(basis, indent=2) + "\n", encoding="utf-8")
    say(f"wrote {SAMPLE_ZIP}, {SAMPLE_ZIP.stat().st_size / 1e6:.1f} MB")


def say(text: str) -> None:
    """Print a line, with the seconds since this program began."""
    print(f"{time.perf_counter() - BEGAN:4.0f} s  {text}", flush=True)  # noqa: T201


# ---- results --------------------------------------------------------------------------------


def fill(project: Project) -> None:
    """Do once what a person would do on the pages."""
    run = work(project, TrainRequest(preset=PRESET))
    project.add_decisions(list(decided(project, run)))
    work(project, SuggestRequest())
    work(project, CurveRequest(preset=PRESET))
    lines = (SAMPLE_FOLDER / "score.jsonl").read_bytes().splitlines()[:NEW_TEXTS]
    file = SourceFile("new reports.jsonl", b"\n".join(lines))
    work(project, PredictRequest(run.id, METHOD, (file,)))


def work(project: Project, request: Request) -> Job:
    """Run a job to its end."""
    job = jobs.create(project, request)
    command = [sys.executable, "-m", "engine", "work", "--project", project.id, "--job", job.id]
    subprocess.run(command, cwd=ROOT, check=True)
    job = jobs.get_job(project, job.id)
    if job.state != "done":
        sys.exit(f"the {job.kind} job ended as {job.state}: {job.message}")
    say(f"{job.kind} job done")
    return job


def decided(project: Project, run: Job) -> Iterator[Decision]:
    """Decide on the first places of the default review, as the gold says: the right item if any."""
    corpus = project.corpus()
    gold = project.gold(corpus)
    assert gold is not None
    entities = jobs.results(project, run.id).entities
    sets = {method: entities[method] for method in METHOD_ORDER if method in entities}
    sets[DICTIONARY] = dictionary_entities(labels_of(project), corpus.documents)
    items = make_items(corpus.documents, sets)
    places: dict[tuple[str, int], list[Decision]] = {}
    for i in make_queue(items, ORDERS[0]).tolist():
        item = items[i]
        known = gold.entities.get(item.document_id, ())
        places.setdefault((item.document_id, item.group), []).append(decision(item, known))
    for decisions in list(places.values())[:DECISIONS]:
        yield next((d for d in decisions if d.verdict == "accepted"), decisions[0])


def decision(item: Item, gold: tuple[Entity, ...]) -> Decision:
    """Accept what the gold has, correct what overlaps it, and reject the rest."""
    overlapping = [g for g in gold if g.start < item.end and item.start < g.end]
    verdict, new = ("edited", overlapping[0]) if overlapping else ("rejected", None)
    if any((g.start, g.end, g.entity_type) == item.place[1:] for g in overlapping):
        verdict, new = "accepted", None
    return Decision(
        0,
        "review",
        *item.place,
        verdict,
        new.start if new else None,
        new.end if new else None,
        new.entity_type if new else None,
        source=item.method,
        queue=ORDERS[0],
        surface=item.text,
    )


# ---- a small zip ----------------------------------------------------------------------------


def shrink(project: Project) -> None:
    """Keep only what the pages show and a prediction needs, and nothing about this machine."""
    for path in project.folder.rglob("tagger-*.safetensors"):
        weights = load_file(path)
        save_file({name: halved(array) for name, array in weights.items()}, path)
    for job in jobs.list_jobs(project):
        (job.folder / jobs.LOG).unlink(missing_ok=True)
        if job.kind == "curve":  # its points are in the database
            for path in sorted(job.folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    (project.folder / CACHE / SAMPLE_LIKELY).rename(project.folder / SAMPLE_LIKELY)
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET pid = 0, began = '', host = '', place = ''")
        db.execute("DELETE FROM job_speeds")  # or times would be estimated for this machine


def halved(array: np.ndarray) -> np.ndarray:
    """Return the array with 16 bits per number; loading it gives 32 again."""
    return array.astype(np.float16) if array.dtype == np.float32 else array


# ---- is it stale? ---------------------------------------------------------------------------


def fingerprints() -> dict[str, str | int]:
    """Return a hash of everything that the results depend on, by a name for people."""
    settings = json.dumps(asdict(training_settings(PRESET)), sort_keys=True)
    sources = [path for name in CODE for path in sorted(modules(ROOT / name))]
    return {
        "format": FORMAT,
        "text": hashed((SAMPLE_FOLDER / "train.jsonl").read_bytes()),
        "new text": hashed((SAMPLE_FOLDER / "score.jsonl").read_bytes()),
        "gold": hashed((SAMPLE_FOLDER / "gold.csv").read_bytes()),
        "dictionaries": hashed(
            *(p.read_bytes() for p in sorted((SAMPLE_FOLDER / "dictionary").glob("*.txt")))
        ),
        "settings of the preset": hashed(settings.encode()),
        "code": hashed(*(statements(p.read_text(encoding="utf-8")).encode() for p in sources)),
    }


def stale() -> list[str]:
    """Return what has changed since project.zip was made."""
    stored = json.loads(ABOUT.read_bytes())
    return [name for name, value in fingerprints().items() if stored.get(name) != value]


def hashed(*contents: bytes) -> str:
    """Return a short hash of these contents, in this order."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(f"{len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def modules(path: Path) -> Iterator[Path]:
    """Return the modules of a package, or one module by itself."""
    yield from [path] if path.is_file() else path.rglob("*.py")


def statements(source: str) -> str:
    """Return a module's code without comments, docstrings and blank lines: they change nothing.

    >>> statements('"About."\\n\\nx = 1  # one\\n')
    'x = 1'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                for row in range(first.lineno, (first.end_lineno or first.lineno) + 1):
                    lines[row - 1] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


if __name__ == "__main__":
    main()
