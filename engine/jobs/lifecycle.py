"""Start, watch, cancel and resume jobs, which train and predict in processes of their own.

job = start(project, TrainRequest(preset="quick"))    # stores a row and starts a process
get_job(project, job.id).share                        # how far it is; any process may ask
cancel(project, job.id)                               # stops within seconds, keeps its epochs
resume(project, job.id)                               # continues after the last finished epoch
results(project, job.id).entities["conf_mpu"]         # what was found

No torch in here. A job outlives the page and the server that started it: any later process finds
its row and its process. Watching costs one read, so a page may do it every second.
"""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.files import write_error, written_whole
from engine.jobs.origin import names_of_run, refuse_unasked_job
from engine.jobs.plan import check_room
from engine.jobs.process import end_group, start_process
from engine.jobs.requests import (
    QUEUED_KINDS,
    PredictRequest,
    Request,
    ShardsRequest,
    TwinRequest,
    check_request,
    kind_of,
    request_record,
)
from engine.jobs.results import (
    LOG,
    TEXTS,
    find_job,
    run_folder,
    twin_folder,
)
from engine.jobs.rows import (
    TABLES_OF_A_JOB,
    Job,
    is_job_id,
    job_from,
    job_row,
    job_rows,
    next_turn,
    process_from,
    set_process,
)
from engine.jobs.watch import settle
from engine.projects import ACTIVE, Project, reading, touch, writing
from engine.run_folder import has_card, refuse_unasked
from engine.system import is_left_behind, now
from engine.text import InputError

_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds `engine`


# ---- start and resume -----------------------------------------------------------------------


def start(project: Project, request: Request) -> Job:
    """Store a job and start its process, which waits while another job trains."""
    return _launch(project, create(project, request))


def create(project: Project, request: Request) -> Job:
    """Store a queued job for a process to do; InputError when the request cannot be fulfilled."""
    check_request(request)
    _check_project(project, request)
    _sweep_runs(project)
    check_room(project, request)
    at, id = now(), f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    folder = project.jobs_folder / id
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise write_error(folder, error) from error
    try:
        _store(project, request, id, at)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return find_job(project, id)


def _sweep_runs(project: Project) -> None:
    """Delete old folders of jobs that have no row: a process was killed when it made or deleted it.

    Recent ones stay, since another process may be about to store the row.
    """
    with reading(project.folder) as db:
        known = {row["id"] for row in job_rows(db)}
    for path in project.jobs_folder.glob("*"):
        if is_job_id(path.name) and path.name not in known and is_left_behind(path):
            shutil.rmtree(path, ignore_errors=True)


def _store(project: Project, request: Request, id: str, at: str) -> None:
    """Write the files of a new job, then its row."""
    if isinstance(request, PredictRequest):
        # Numbered, because a name from an upload must never become a path.
        for i, file in enumerate(request.files):
            with written_whole(project.jobs_folder / id / TEXTS / str(i)) as out:
                out.write(file.data)
    row: dict[str, Any] = {
        "id": id,
        "kind": kind_of(request),
        "state": "queued",
        "stage": "waiting",
        "created_at": at,
        "queued_at": at,
        "request": json.dumps(request_record(request)),
        "dictionary_version": project.dictionary_version(),
        "labels_key": project.labels_key(),
        "text_key": project.text_key(),
        "match_preset": project.match_preset(),
    }
    with writing(project.folder) as db:
        row["turn"] = next_turn(db)
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        db.execute(f"INSERT INTO jobs ({columns}) VALUES ({marks})", tuple(row.values()))
        touch(db)


def resume(project: Project, id: str) -> Job:
    """Start an ended job again, at the end of the queue; it continues where it stopped.

    A job that is already active is returned as it is: someone else was faster.
    """
    job = get_job(project, id)
    return job if job.is_active else _launch(project, requeue(project, job))


def requeue(project: Project, job: Job) -> Job:
    """Store an ended job as queued again, for a process that continues it."""
    if not job.can_resume:
        raise InputError(f"job {job.id} is {job.state}; there is nothing to resume")
    refuse_unasked_job(project, job)
    if job.kind not in ("predict", "shards") and job.text_key != project.text_key():
        raise InputError(
            "the text was changed since this job began, so it cannot go on. Start a new one"
        )
    with writing(project.folder) as db:
        if json.loads(job_row(db, job.id)["request"]) != job.request:
            raise InputError(
                "this job was started with settings that this version of Glossa does not have, so "
                "it cannot go on. Start a new one"
            )
        changed = db.execute(
            "UPDATE jobs SET state = 'queued', stage = 'waiting', message = '', attempt = ?,"
            " turn = ?, queued_at = ?, pid = 0, heartbeat_at = '', stop_at = '', finished_at = ''"
            " WHERE id = ? AND attempt = ? AND state = ?",
            (job.attempt + 1, next_turn(db), now(), job.id, job.attempt, job.state),
        )
        if changed.rowcount != 1:
            raise InputError(f"job {job.id} was started by someone else just now")
    return find_job(project, job.id)


def _launch(project: Project, job: Job) -> Job:
    command = [sys.executable, "-m", "engine", "work", "--project", project.id, "--job", job.id]
    try:
        process = start_process(
            command, job.folder / LOG, folder=_ROOT, environment=_environment(project)
        )
    except OSError as error:
        with writing(project.folder) as db:
            db.execute(
                "UPDATE jobs SET state = 'failed', finished_at = ?, message = ? WHERE id = ?",
                (now(), f"The process could not be started: {error.strerror or error}.", job.id),
            )
        return find_job(project, job.id)
    with writing(project.folder) as db:
        set_process(db, job.id, job.attempt, process, project.folder)
    return find_job(project, job.id)


def _environment(project: Project) -> Mapping[str, str]:
    """Our environment, extended so that the process finds the engine and the project."""
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))
    own = {"GLOSSA_DATA": str(project.folder.parent.absolute()), "PYTHONPATH": path}
    return {**os.environ, **own, "PYTHONUNBUFFERED": "1"}


def _check_project(project: Project, request: Request) -> None:
    if isinstance(request, PredictRequest | ShardsRequest | TwinRequest):
        _check_run(project, request)
    if isinstance(request, PredictRequest | ShardsRequest):  # of texts that are not the project's
        return
    if not project.text_key():
        raise InputError("this project has no text yet. Add some first")
    if not isinstance(request, TwinRequest) and not project.dictionary_version():
        raise InputError("this project has no dictionaries yet. Add some first")


def _check_run(project: Project, request: PredictRequest | ShardsRequest | TwinRequest) -> None:
    run = find_job(project, request.run)
    if isinstance(request, PredictRequest) and not request.files:
        raise InputError("there is no text to find entities in. Add some")
    if not has_card(run_folder(run, request.method)):
        raise InputError(f"run {request.run} has no trained {request.method}. Choose another")
    refuse_unasked(names_of_run(run, request.method))
    is_fast = isinstance(request, PredictRequest) and request.is_fast
    if is_fast and not has_card(twin_folder(run, request.method)):
        raise InputError(f"{request.method} of run {request.run} has no fast twin. Make one")


# ---- watch ----------------------------------------------------------------------------------


def list_jobs(project: Project, kind: str | None = None) -> list[Job]:
    """Return the jobs, newest first, after checking whether their processes still run."""
    settle(project.folder)
    with reading(project.folder) as db:
        rows = job_rows(db, "WHERE kind = ?", kind) if kind else job_rows(db)
        return [job_from(row, project.folder) for row in rows]


def get_job(project: Project, id: str) -> Job:
    """Return one job, after checking whether its process still runs."""
    settle(project.folder)
    return find_job(project, id)


def active_job(project: Project) -> Job | None:
    """Return the job to show as active: one that trains, else another, else a queued one."""
    return min(
        _active_jobs(project),
        key=lambda job: (job.state == "queued", job.kind not in QUEUED_KINDS),
        default=None,
    )


def training_job(project: Project) -> Job | None:
    """Return the job that trains or is next to; None if a new training would start at once."""
    active = [job for job in _active_jobs(project) if job.kind in QUEUED_KINDS]
    return min(active, key=lambda job: job.state == "queued", default=None)


def _active_jobs(project: Project) -> list[Job]:
    """Return the active jobs, oldest first; every click asks for them, so no other row is read."""
    settle(project.folder)
    with reading(project.folder) as db:
        rows = job_rows(db, f"WHERE state IN {ACTIVE}")
        return [job_from(row, project.folder) for row in reversed(rows)]


# ---- stop and delete ------------------------------------------------------------------------


def cancel(project: Project, id: str) -> Job:
    """Ask a job to stop, and return it; it stops within two seconds and keeps finished epochs.

    A job that does not stop is ended by force 10 and 20 seconds later, whenever it is looked at.
    """
    with writing(project.folder) as db:
        job_row(db, id)
        db.execute(
            "UPDATE jobs SET state = 'stopping', stop_at = ? WHERE id = ?"
            " AND state IN ('queued', 'running')",
            (now(), id),
        )
    return get_job(project, id)


def delete_job(project: Project, id: str) -> None:
    """Delete a job that has ended, with its results."""
    job = get_job(project, id)
    if job.is_active:
        raise InputError(f"job {id} is still {job.state}. Cancel it first")
    with writing(project.folder) as db:
        db.execute("DELETE FROM jobs WHERE id = ?", (id,))
        for table in TABLES_OF_A_JOB:
            db.execute(f"DELETE FROM {table} WHERE job = ?", (id,))
        touch(db)
    shutil.rmtree(job.folder, ignore_errors=True)


def end_all(project: Project) -> None:
    """End every process of the project at once, but never this one; then it can be deleted."""
    settle(project.folder)
    with reading(project.folder) as db:
        rows = job_rows(db, f"WHERE state IN {ACTIVE}")
    for row in rows:
        if (process := process_from(row)) is not None:
            end_group(process, by_force=True)
    settle(project.folder)
