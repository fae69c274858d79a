"""Ask before a job of an imported project opens files or models that are no part of the project."""

from engine.jobs.requests import (
    PredictRequest,
    ShardsRequest,
    TwinRequest,
    request_from,
    settings_of,
)
from engine.jobs.results import find_job, run_folder
from engine.jobs.rows import Job
from engine.projects import Project
from engine.run_folder import allow, refuse_unasked, to_ask, to_ask_of_run

_OF_RUNS = ("predict", "shards", "twin")  # kinds of jobs that use a run of another job


def names_to_ask(project: Project, job: Job) -> tuple[str, ...]:
    """Return the files and models that the user must allow before an imported job is resumed."""
    if job.kind in _OF_RUNS:
        run = find_job(project, job.request["run"])
        return names_of_run(run, job.request["method"])
    request = request_from(job.kind, job.request)
    assert not isinstance(request, PredictRequest | ShardsRequest | TwinRequest)
    return to_ask(job.folder, settings_of(request))


def names_of_run(run: Job, method: str) -> tuple[str, ...]:
    """Return the files and models that the user must allow before this method predicts."""
    return to_ask_of_run(run_folder(run, method))


def allow_names_of_run(run: Job, method: str) -> None:
    """Let an imported method use all that it names."""
    allow(run.folder, names_of_run(run, method))


def refuse_unasked_job(project: Project, job: Job) -> None:
    """Raise InputError if an imported job names what the user has not allowed."""
    refuse_unasked(names_to_ask(project, job))


def allow_names(project: Project, job: Job) -> None:
    """Let an imported job use all that it names."""
    names = names_to_ask(project, job)
    owner = find_job(project, job.request["run"]) if job.kind in _OF_RUNS else job
    allow(owner.folder, names)
