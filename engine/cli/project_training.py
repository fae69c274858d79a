"""`train` and `curve` with --project: do a job of the project in this process."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from engine import jobs
from engine.cli.curve import CURVE, say_points, write_points
from engine.cli.epoch_lines import EpochLines, epochs_of_all
from engine.cli.keyboard import STOPPED
from engine.cli.options import parse_changes, parse_methods, parse_numbers, parse_priors
from engine.cli.terminal import note_all, say, typed_command, write_card
from engine.cli.train import say_comparison, say_hidden
from engine.dictionaries import active_types
from engine.export import curve_card
from engine.jobs import CurveRequest, TrainRequest, settings_of, stored_request
from engine.jobs.worker import do_job
from engine.labels import dictionary_entities
from engine.projects import Project, labels_of
from engine.runs import Point
from engine.system import print_aside
from engine.text import Entity, InputError


def train_in_project(project: Project, options: argparse.Namespace) -> None:
    """Train in the project, as the app does, and print how the methods compare."""
    if options.out:
        raise InputError("runs of a project are kept in it; leave out --out")
    job = _done(project, _job(project, options, train_request(options)))
    note_all(jobs.job_notes(project, job.id))
    corpus = project.corpus()
    gold = project.gold(corpus)
    labels = labels_of(
        project, job.dictionary_version, job.match_preset, documents=lambda: corpus.documents
    )
    entities: dict[str, Mapping[str, tuple[Entity, ...]]] = {
        "dictionary": dictionary_entities(labels, corpus.documents),
        **jobs.results(project, job.id).entities,
    }
    say_comparison(corpus, entities, gold.entities if gold else None)
    say_hidden(jobs.hidden_found(project, job.id))
    say(
        f"\nRun {job.id} is in project {project.id}; write what it found with: glossa "
        f"export --project {project.id} --run {job.id} --out entities.csv"
    )


def curve_in_project(project: Project, options: argparse.Namespace) -> None:
    """Train the cells of a curve in the project, as the app does, and print the points."""
    job = _done(project, _job(project, options, curve_request(options)))
    table = jobs.curve_points(project, job.id).astype(object)
    records = table.where(table.notna(), None).to_dict("records")
    points = [Point(**{str(name): value for name, value in row.items()}) for row in records]
    cells = jobs.curve_cells(project, job.id)
    for cell in cells[cells["state"] == "failed"].itertuples():
        note_all([f"{cell.fraction} %, {cell.method}, seed {cell.seed}: {cell.message}"])
    say_points(points, has_gold=any(point.f1 is not None for point in points))
    if options.out:
        write_points(Path(options.out), points)
        card = curve_card(project, jobs.get_job(project, job.id), CURVE)
        write_card(options.out, card | {"command": typed_command(options)}, "csv")
        say(f"\nWrote {len(points):,} points to {options.out}.")
    say(f"\nCurve {job.id} is in project {project.id}.")


def train_request(options: argparse.Namespace) -> TrainRequest:
    """Return the training that the options of `train` ask for."""
    return TrainRequest(
        tuple(parse_methods(options.methods)),
        options.preset,
        options.encoder,
        parse_changes(options),
        options.seed,
        parse_priors(options.priors) or None,
        options.use_decisions,
        options.hide,
    )


def curve_request(options: argparse.Namespace) -> CurveRequest:
    """Return the curve that the options of `curve` ask for."""
    return CurveRequest(
        tuple(parse_numbers("--fractions", options.fractions, 1, 100)),
        tuple(parse_methods(options.methods)),
        tuple(parse_numbers("--seeds", options.seeds, 0, 1_000_000)),
        options.preset,
        parse_changes(options),
        options.encoder,
    )


def _job(project: Project, options: argparse.Namespace, request: jobs.Request) -> jobs.Job:
    if options.resume:
        job = jobs.get_job(project, options.resume)
        if options.trust:
            jobs.allow_names(project, job)
        return jobs.requeue(project, job)
    return jobs.create(project, request)


def _done(project: Project, job: jobs.Job) -> jobs.Job:
    """Do the job and return its row; exit or raise InputError when it does not finish."""
    print_aside(f"note: job {job.id} of project {project.id}")
    with EpochLines(_epochs(project, job)) as lines:
        state = do_job(project, job.id, lines)
    job = jobs.get_job(project, job.id)
    if state == "cancelled":
        say(f"Stopped. Go on with: --project {project.id} --resume {job.id}")
        raise SystemExit(STOPPED)
    if state != "done":
        raise InputError(job.message or f"job {job.id} was taken over by another process")
    return job


def _epochs(project: Project, job: jobs.Job) -> int:
    """Return how many epochs the job has in all."""
    request = stored_request(job)
    assert isinstance(request, TrainRequest | CurveRequest)
    times = 1
    if isinstance(request, CurveRequest):
        times = len(request.fractions) * len(request.seeds)
    elif request.hide:
        times = 2
    dictionaries = project.dictionaries_at(job.dictionary_version)
    types = len(active_types(dictionaries))
    return epochs_of_all(request.methods, settings_of(request), types=types, times=times)
