"""The project of the journey: its files, and how to make it without the pages."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from engine.files.sources import read_source
from engine.projects.project import Project
from tests.browser.server import ROOT
from tests.support.waiting import LIMIT

NAME = "Journey"
SHORT = {"epochs": 8, "confidence_epochs": 3, "batch_size": 8}
SAMPLE = ROOT / "sample_data"
NOTE = "Seen 😀 for kidney stones, after lead. Denosumab was stopped; kidney stones and a cold.\r\n"


class Files(NamedTuple):
    """The files that the new user brings."""

    text: tuple[Path, ...]  # three files, 25 documents
    gold: Path  # for 24 of them
    chemicals: Path
    diseases: Path


def write_files(folder: Path) -> Files:
    """Write a part of the sample as someone's own files: JSON lines, CSV, plain text."""
    lines = (SAMPLE / "train.jsonl").read_text(encoding="utf-8").splitlines()[:24]
    documents = [json.loads(line) for line in lines]
    reports, letters, note = folder / "reports.jsonl", folder / "letters.csv", folder / "note.txt"
    reports.write_text("\n".join(lines[:16]) + "\n", encoding="utf-8")
    with open(letters, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text"])
        rows.writerows([document["id"], document["text"]] for document in documents[16:])
    note.write_bytes(NOTE.encode())
    gold = folder / "gold.csv"
    ids = {document["id"] for document in documents}
    with open(SAMPLE / "gold.csv", encoding="utf-8", newline="") as file:
        head, *rows_of_gold = file.read().splitlines()
    kept = [row for row in rows_of_gold if row.split(",", 1)[0] in ids]
    gold.write_text("\n".join([head, *kept]) + "\n", encoding="utf-8")
    for name in ("Chemical.txt", "Disease.txt"):
        (folder / name).write_bytes((SAMPLE / "dictionary" / name).read_bytes())
    return Files((reports, letters, note), gold, folder / "Chemical.txt", folder / "Disease.txt")


def fill(project: Project, files: Files) -> Project:
    """Add to the project what is missing."""
    if not project.text_key():
        project.add_text([read_source(path) for path in files.text])
    if not project.gold_key():
        project.set_gold([read_source(files.gold)])
    if not project.dictionary_version():
        project.add_dictionaries([read_source(files.chemicals), read_source(files.diseases)])
    return project


def work_off(project: Project, job_id: str) -> None:
    """Run a job to its end."""
    command = [sys.executable, "-m", "engine", "work", "--project", project.id, "--job", job_id]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=LIMIT)
