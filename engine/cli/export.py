"""`export`: write the entities of a project in any format, or the whole project as a zip."""

import argparse
from pathlib import Path

from engine import jobs
from engine.cli import console
from engine.cli.inputs import named_project
from engine.cli.terminal import note_all, say, typed_command, write_file
from engine.export import (
    DICTIONARY,
    GOLD,
    REVIEWED,
    RUN,
    EntitySets,
    ExportChoice,
    Selection,
    choose_entities,
    default_method,
    default_run,
    estimated_scores,
    filter_entities,
    methods_with_entities,
    note_export,
    project_card,
    runs_with_entities,
    with_known,
)
from engine.formats import writable_format
from engine.jobs import Job
from engine.projects import Project, sweep_beside, write_project_zip
from engine.text import InputError


def export_command(options: argparse.Namespace) -> None:
    """Write what the options ask for; check them before any work is done."""
    project = named_project(options.project)
    if options.zip:
        write_project_zip(project, options.zip)
        say(f"Wrote project {project.id} to {options.zip}.")
        return
    if not options.out:
        raise InputError("name the file to write with --out, or --zip FILE for the whole project")
    if not 0 <= options.least_score <= 1:
        raise InputError(f"--least-score is between 0 and 1, not {options.least_score:g}")
    writable_format(options.out, options.format)
    sweep_beside(Path(options.out))
    job = _run(project, options)
    choice = _choice(project, job, options)
    sets = EntitySets(project, project.corpus())
    chosen = choose_entities(sets, choice, job)
    _say_estimate(sets, choice, job)
    note_all([chosen.note] if chosen.note else [])
    if absent := [name for name in choice.selection.types if name not in chosen.types]:
        note_all([f"no entity is of type {' or '.join(absent)}"])
    corpus = with_known(sets, choice, filter_entities(sets, choice, chosen))
    write_file(corpus, options, project_card(project, choice, job, corpus, typed_command(options)))
    note_export(project)


def _say_estimate(sets: EntitySets, choice: ExportChoice, job: Job | None) -> None:
    """Print how good the run is by the sample that a person judged, if there is one."""
    if choice.what != RUN or job is None or not choice.method:
        return
    scores = estimated_scores(sets, job, choice.method)
    if scores is None:
        return
    parts = [
        f"{name} {console.percent(share.value)} ({console.percent(share.low)} to "
        f"{console.percent(share.high)})"
        for name, share in (
            ("precision", scores.precision),
            ("recall", scores.recall),
            ("F1", scores.f1),
        )
    ]
    judged = f"{scores.judged:,} judgement{'s'[: scores.judged != 1]}"
    say(f"Estimated from {judged}: {', '.join(parts)}.")


def _choice(project: Project, job: Job | None, options: argparse.Namespace) -> ExportChoice:
    selection = Selection(tuple(options.types), options.least_score, options.documents)
    if options.gold or options.dictionary_labels:
        return ExportChoice(GOLD if options.gold else DICTIONARY, selection=selection)
    what = REVIEWED if options.reviewed else RUN
    if job is None:
        return ExportChoice(what, selection=selection)
    method = options.method or default_method(project, job)
    methods = methods_with_entities(job)
    if method not in methods:
        raise InputError(f"run {job.id} has no {method}; it has {', '.join(methods)}")
    say(f"Run {job.id}, {method}.")
    return ExportChoice(what, job.id, method, selection)


def _run(project: Project, options: argparse.Namespace) -> Job | None:
    """Return the run to export; None where the export needs none or, if reviewed, has none."""
    if options.gold or options.dictionary_labels:
        return None
    if not options.job:
        job = default_run(runs_with_entities(project))
        if job is None and not options.reviewed:
            raise InputError(
                "this project has no finished run. Train one, or export --dictionary-labels"
            )
        return job
    return named_run(project, options.job)


def named_run(project: Project, id: str) -> Job:
    """Return the run of this id; InputError if it is no training, or has found nothing."""
    job = jobs.get_job(project, id)
    if job.kind != "train":
        raise InputError(f"job {job.id} is a {job.kind} job; --run takes the id of a training")
    if not methods_with_entities(job):
        raise InputError(f"run {job.id} has found nothing yet: it is {job.state}")
    return job
