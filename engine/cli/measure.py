"""`measure`: estimate how good a run is from judged items, without gold; write and read items."""

import argparse
import csv
import io
from pathlib import Path

from engine.cli import console
from engine.cli.export import named_run
from engine.cli.inputs import named_project
from engine.cli.terminal import heading, say
from engine.export import (
    JUDGING_COLUMNS,
    EntitySets,
    Measured,
    default_method,
    default_run,
    judging_rows,
    measure,
    methods_with_entities,
    runs_with_entities,
    store_answers,
)
from engine.files import find_column, path_source, read_table, written_whole
from engine.jobs import Job
from engine.planning import title_of
from engine.projects import Project
from engine.scoring import Place
from engine.settings import ReadOptions
from engine.text import InputError


def measure_command(options: argparse.Namespace) -> None:
    """Store answers and write the next items, if asked; print the estimate of each method."""
    project = named_project(options.project)
    job = named_run(project, options.job) if options.job else _latest_run(project)
    methods = methods_with_entities(job)
    if options.method and options.method not in methods:
        raise InputError(f"run {job.id} has no {options.method}; it has {', '.join(methods)}")
    judged = options.method or default_method(project, job)
    sets = EntitySets(project, project.corpus())
    if options.answers:
        count = store_answers(sets, job, judged, _read_answers(Path(options.answers)))
        say(f"Stored {count:,} answer{'s'[: count != 1]} about {title_of(judged)}.")
    _say_estimates(sets, job, [options.method] if options.method else methods)
    if options.items:
        rows = judging_rows(sets, job, judged)
        _write_items(Path(options.items), rows)
        say(
            f"\nWrote {len(rows):,} items about {title_of(judged)} to {options.items}. Fill in the "
            "column answer, then give the file with --answers."
        )


def _latest_run(project: Project) -> Job:
    job = default_run(runs_with_entities(project))
    if job is None:
        raise InputError(
            "this project has no finished run, so there is nothing to judge. Train one"
        )
    return job


def _say_estimates(sets: EntitySets, job: Job, methods: list[str]) -> None:
    heading(f"Estimated from judged items, run {job.id}")
    by_method = {method: measure(sets, job, method) for method in methods}
    say(console.table(console.columns_of([_row(*pair) for pair in by_method.items()])))
    if not any(measured.scores for measured in by_method.values()):
        say(
            "\nNo method is judged enough. Judge items in the app (page Review, tab Measure), or "
            "write them to a file with --items."
        )


def _row(method: str, measured: Measured) -> dict[str, object]:
    scores = measured.scores
    row: dict[str, object] = {"method": title_of(method), "judged": measured.answered}
    for name in ("precision", "recall", "f1"):
        share = getattr(scores, name) if scores else None
        row[name if name != "f1" else "F1"] = (
            f"{console.percent(share.value)} ({console.percent(share.low)} to "
            f"{console.percent(share.high)})"
            if share
            else ""
        )
    return row | {"to judge next": len(measured.left)}


def _write_items(path: Path, rows: list[dict[str, object]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, JUDGING_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with written_whole(path) as out:
        out.write(text.getvalue().encode())


def _read_answers(path: Path) -> dict[Place, str]:
    """Return the answers in a file that `--items` wrote, where there are some."""
    head, *rows = read_table(path_source(path), ReadOptions()).rows
    needed = [name for name in JUDGING_COLUMNS if name not in ("text", "question")]
    columns = {name: find_column(head.cells, (name,)) for name in needed}
    if absent := [name for name, column in columns.items() if column is None]:
        raise InputError(
            f"{path.name} has no column {absent[0]}. Give a file that --items wrote, with answers"
        )
    answers: dict[Place, str] = {}
    for row in rows:
        id, start, end, entity_type, answer = (row.cells[columns[name] or 0] for name in needed)
        if not answer.strip():
            continue
        if not (start.isdecimal() and end.isdecimal()):
            raise InputError(f"{path.name}, line {row.line}: start and end are whole numbers")
        answers[id, int(start), int(end), entity_type] = answer
    return answers
