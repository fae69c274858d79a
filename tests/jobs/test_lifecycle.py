"""Jobs as people use them: real processes, killed and stopped, and their database rows."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.process import end_group, reap, start_process
from engine.jobs.reports import Report, Superseded, open_report
from engine.jobs.rows import job_from, job_row, set_process
from engine.jobs.speeds import SPEEDS
from engine.jobs.worker.kinds import do_work
from engine.jobs.worker.process import do_job
from engine.network.device import set_threads
from engine.network.transformer import contextual_features
from engine.projects.store import reading, writing
from engine.projects.workspace import duplicate_project
from engine.system.processes import Process, host_name, is_alive, process_of
from engine.text.model import InputError
from tests.support.small_project import PRIORS, TINY, make_small_project, source, tiny_request
from tests.support.tiny_encoders import save_tiny_bert
from tests.support.waiting import wait_until

LONG = {"epochs": 100_000}
KILL = os.kill  # some tests replace it


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    set_threads(1)


@pytest.fixture(autouse=True)
def exits(monkeypatch):
    """A job that runs in this process must not end it: such a call is recorded instead."""
    calls = []
    monkeypatch.setattr("engine.jobs.worker.process.os._exit", calls.append)
    yield calls
    assert calls == []


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder for all tests of this file."""
    folder = tmp_path_factory.mktemp("data")
    before = os.environ.get("GLOSSA_DATA")
    os.environ["GLOSSA_DATA"] = str(folder)
    yield folder
    os.environ.pop("GLOSSA_DATA")
    if before is not None:
        os.environ["GLOSSA_DATA"] = before


@pytest.fixture
def project(data):
    """A project per test; none of its processes outlives the test."""
    project = make_small_project()
    (project.folder.parent / SPEEDS).unlink(missing_ok=True)  # no test knows another one's speeds
    yield project
    jobs.end_all(project)


def wait_for(project, id, condition):
    """Poll as a page does until the job meets the condition."""
    wait_until(lambda: condition(jobs.get_job(project, id)), f"job {id}", every=0.05)
    return jobs.get_job(project, id)


def stored_state(project, id):
    with reading(project.folder) as db:
        return job_row(db, id)["state"]


def ended(job):
    return not job.is_active


def has_epochs(project, count):
    return lambda job: len(jobs.epochs(project, job.id)) >= count


def weights(project, id, method="mpn"):
    job = jobs.get_job(project, id)
    return (jobs.run_folder(job, method) / "tagger-0.safetensors").read_bytes()


def done_here(project, request):
    """Run a job in this process, without starting another."""
    job = jobs.create(project, request)
    do_job(project, job.id)
    return jobs.get_job(project, job.id)


# ---- real processes -------------------------------------------------------------------------


def start_script(project, job, script):
    """Run a job in its own process, by a script that may delay it."""
    begin = (
        "import sys, time\n"
        "from engine.jobs.worker.process import do_job\n"
        "from engine.projects.workspace import open_project\n"
        "project, job = open_project(sys.argv[1]), sys.argv[2]\n"
    )
    return start_process(
        [sys.executable, "-c", begin + script, project.id, job.id],
        job.folder / "log.txt",
        folder=job.folder,
        environment=os.environ | {"PYTHONPATH": os.getcwd()},
    )


def test_rounds_of_the_linear_confidence_are_recorded_and_drawn(project):
    settings = {"confidence_model": "linear", "is_suited_to_labels": True, "ensemble": 2}
    job = jobs.create(project, tiny_request(methods=("conf_mpu",), settings=settings))
    assert do_job(project, job.id) == "done"
    table = jobs.epochs(project, job.id)
    assert table.groupby("stage").size().to_dict() == {"confidence": 5, "training": 4}
    histogram = jobs.confidence_histogram(project, job.id)
    assert histogram[["labeled", "unlabeled"]].sum().sum() == sum(
        file.tokens for file in project.text_files()
    )
    assert jobs.results(project, job.id).cards["conf_mpu"].taggers == 2


def test_a_training_runs_to_its_end_in_a_process_of_its_own(project):
    methods = ("mpn", "conf_mpu")
    job = jobs.start(project, tiny_request(methods=methods))
    assert job.state == "queued"
    assert job.pid not in (None, os.getpid())
    job = wait_for(project, job.id, ended)
    assert (job.state, job.message, job.share, job.seconds_left) == ("done", "", 1.0, None)
    assert job.created_at < job.started_at < job.finished_at
    results = jobs.results(project, job.id)
    assert set(results.entities) == set(results.cards) == set(methods)
    assert set(results.scores) == {"dictionary", *methods}
    table = jobs.epochs(project, job.id)
    counts = table.groupby(["method", "stage"]).size().to_dict()
    assert counts == {("mpn", "training"): 2, ("conf_mpu", "confidence"): 2,
                      ("conf_mpu", "training"): 2}  # fmt: skip
    histogram = jobs.confidence_histogram(project, job.id)
    assert histogram[["labeled", "unlabeled"]].sum().sum() == sum(
        file.tokens for file in project.text_files()
    )
    scores = jobs.confidence_scores(project, job.id)
    assert scores.keys() == {"unlabeled", "all"}
    assert scores["all"]["support"] > scores["unlabeled"]["support"] > 0
    assert {(s.state, s.share) for s in jobs.stages(project, job.id)} == {("done", 1.0)}
    assert any("MPN, training: epoch 2 of 2" in line for line in jobs.log_tail(project, job.id))
    # The next training of this network can be timed.
    assert jobs.estimate(project, tiny_request(methods=methods)) > 0


def test_epochs_missed_by_a_killed_job_are_recorded_when_it_resumes(project):
    settings = {"epochs": 3, "confidence_epochs": 2, "confidence_folds": 2}
    job = jobs.create(project, tiny_request(methods=("conf_mpu",), settings=settings))
    heard = []

    def work_until(should_stop):
        report = open_report(project.folder, job.id)
        report.claim()
        assert report.begin()
        try:
            do_work(project, report, should_stop, heard.append)
        finally:
            report.finish("cancelled")  # otherwise this process would be ended as the job's process
        return jobs.epochs(project, job.id).drop(columns="at")  # when they were recorded

    whole = work_until(lambda: len(heard) == 5)  # four of the confidence, one of the tagger
    assert len(whole) == 5
    with writing(project.folder) as db:
        db.execute("DELETE FROM job_epochs WHERE job = ? AND epoch IN (1, 4)", (job.id,))
    assert len(jobs.epochs(project, job.id)) == 2
    jobs.requeue(project, jobs.get_job(project, job.id))
    pd.testing.assert_frame_equal(work_until(lambda: True), whole)
    assert len(heard) == 5


def test_a_killed_training_resumes_to_the_same_weights(project):
    request = tiny_request(settings={"epochs": 40})
    job = jobs.create(project, request)
    start_script(
        project,
        job,
        "heard = []\n"
        "def hang_in_the_third(progress):\n"
        "    heard.append(progress)\n"
        "    if len(heard) == 3: time.sleep(3600)\n"
        "do_job(project, job, hang_in_the_third)\n",
    )
    job = wait_for(project, job.id, has_epochs(project, 2))
    os.kill(job.pid, signal.SIGKILL)
    job = wait_for(project, job.id, ended)
    assert job.state == "interrupted"
    assert job.message.endswith("Finished epochs are kept; Resume goes on from there.")
    before = len(jobs.epochs(project, job.id))
    assert 2 <= before < 40
    resumed = jobs.resume(project, job.id)
    assert resumed.id == job.id
    assert resumed.pid != job.pid
    assert wait_for(project, job.id, ended).state == "done"
    assert len(jobs.epochs(project, job.id)) == 40
    log = "\n".join(jobs.log_tail(project, job.id))
    assert "epoch 40 of 40" in log and "epoch 1 of 40" not in log  # it did not start again
    straight = done_here(project, request)
    assert weights(project, job.id) == weights(project, straight.id)


def test_jobs_run_one_after_another_and_stop_when_asked(project):
    first = jobs.start(project, tiny_request(settings=LONG))
    second = jobs.start(project, tiny_request())
    wait_for(project, first.id, has_epochs(project, 1))
    waiting = wait_for(project, second.id, lambda job: job.message)
    assert (waiting.state, waiting.message) == ("queued", f"Waiting for job {first.id}.")
    assert jobs.active_job(project).id == first.id
    assert jobs.cancel(project, first.id).state == "stopping"
    stopped = wait_for(project, first.id, ended)
    assert stopped.state == "cancelled"
    assert list(jobs.run_folder(stopped, "mpn").glob("checkpoint-*.safetensors"))
    assert wait_for(project, second.id, ended).state == "done"
    wait_for(project, first.id, lambda job: not is_alive(process_of(first.pid)))


def test_a_job_can_be_stopped_while_it_trains_no_batches(project):
    # The sleep stands for reading, labeling or predicting, which do not check for a stop.
    script = (
        "import engine.jobs.worker.kinds as kinds\n"
        "kinds.do_work = lambda *arguments: time.sleep(3600)\n"
        "do_job(project, job, is_own_process=True)\n"
    )
    job = jobs.create(project, tiny_request())
    process = start_script(project, job, script)
    wait_for(project, job.id, lambda job: job.state == "running")
    jobs.cancel(project, job.id)
    # Read only the row: `get_job` would end the process from here after a while.
    wait_until(lambda: stored_state(project, job.id) == "cancelled", "the job ends itself")
    wait_until(lambda: not is_alive(process), "the process ends")


# ---- who is alive ---------------------------------------------------------------------------


@pytest.fixture
def sleeper(tmp_path):
    """A living process that is not a job and ignores SIGTERM."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    process = start_process(
        [sys.executable, "-c", f"{code}; time.sleep(3600)"],
        tmp_path / "log.txt",
        folder=tmp_path,
        environment=os.environ,
    )
    wait_until((tmp_path / "log.txt").read_text, "the process is deaf")
    yield process
    if is_alive(process):
        KILL(process.pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(process), "the process ends")
    reap()


def given_to(project, process, **columns):
    """A job whose row names a process."""
    job = jobs.create(project, tiny_request())
    with writing(project.folder) as db:
        set_process(db, job.id, job.attempt, process, project.folder)
        for name, value in columns.items():
            db.execute(f"UPDATE jobs SET {name} = ? WHERE id = ?", (value, job.id))
    return job.id


@pytest.fixture
def ago(monkeypatch):
    """Times before a fixed moment, at which the watch's clock is stopped."""
    moment = datetime.now(UTC)
    monkeypatch.setattr(
        "engine.system.moments.datetime",
        SimpleNamespace(now=lambda _zone: moment, fromisoformat=datetime.fromisoformat),
    )
    return lambda seconds: (moment - timedelta(seconds=seconds)).isoformat()


def test_a_living_process_is_adopted(project, sleeper):
    id = given_to(project, sleeper, state="running")
    assert jobs.get_job(project, id).state == "running"


def test_a_later_process_with_the_same_pid_is_not_adopted(project, sleeper, ago):
    earlier = Process(sleeper.pid, f"0{sleeper.began}", sleeper.host)
    id = given_to(project, earlier, state="running")
    assert jobs.get_job(project, id).state == "interrupted"
    # It is not ended in place of the job either.
    id = given_to(project, earlier, state="stopping", stop_at=ago(60))
    assert jobs.get_job(project, id).state == "cancelled"
    assert is_alive(sleeper)


def test_a_process_of_a_copied_project_is_not_adopted(project, sleeper):
    id = given_to(project, sleeper, state="running")
    copy = duplicate_project(project.id, "Copy")
    assert jobs.get_job(copy, id).state == "interrupted"
    assert jobs.get_job(project, id).state == "running"


def test_a_job_that_does_not_stop_is_ended_by_force(project, sleeper, ago):
    id = given_to(project, sleeper, state="stopping", stop_at=ago(11))
    assert jobs.get_job(project, id).state == "stopping"  # SIGTERM, which it ignores
    assert is_alive(sleeper)
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET stop_at = ? WHERE id = ?", (ago(21), id))
    assert wait_for(project, id, ended).state == "cancelled"
    assert not is_alive(sleeper)


def test_a_job_gets_time_to_stop(project, sleeper, ago):
    id = given_to(project, sleeper, state="stopping", stop_at=ago(9))
    assert jobs.get_job(project, id).state == "stopping"
    assert is_alive(sleeper)


@pytest.mark.parametrize(("age", "state"), [(5, "running"), (31, "interrupted")])
def test_on_another_machine_the_heartbeat_decides(project, age, state, ago):
    elsewhere = Process(os.getpid(), "1", f"not-{host_name()}")
    id = given_to(project, elsewhere, state="running", heartbeat_at=ago(age))
    assert jobs.get_job(project, id).state == state


@pytest.mark.parametrize(("age", "state"), [(5, "queued"), (31, "interrupted")])
def test_a_job_whose_process_never_began_is_given_up(project, age, state, ago):
    job = jobs.create(project, tiny_request())
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET queued_at = ?", (ago(age),))
    assert jobs.get_job(project, job.id).state == state


def test_processes_are_distinguished_by_pid_and_start_time():
    here = process_of(os.getpid())
    assert is_alive(here)
    assert here == process_of(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", ""])
    process = process_of(child.pid)
    child.wait()
    assert not is_alive(process)


def test_a_process_that_has_ended_is_not_alive_before_its_parent_knows(tmp_path):
    process = start_process(
        [sys.executable, "-c", ""], tmp_path / "log", folder=tmp_path, environment=os.environ
    )
    wait_until(lambda: not is_alive(process), "the process ends")


# ---- jobs inside another program ------------------------------------------------------------


def test_a_finished_job_never_ends_the_program_that_did_it(project, monkeypatch, exits):
    monkeypatch.setattr("engine.jobs.reports._LOOK_SECONDS", 0.002)
    monkeypatch.setattr("engine.jobs.reports._BEAT_SECONDS", 0.004)
    monkeypatch.setattr("engine.jobs.worker.kinds.do_work", lambda *_: True)
    finish = Report.finish

    def finish_and_wait(report, *arguments):
        finish(report, *arguments)
        time.sleep(0.01)  # a heartbeat that still runs reads the row now

    monkeypatch.setattr(Report, "finish", finish_and_wait)
    for is_own_process in [False, True] * 100:
        job = jobs.create(project, tiny_request())
        assert do_job(project, job.id, is_own_process=is_own_process) == "done"
    assert exits == []


def test_a_deleted_job_stops_and_the_program_goes_on(project, monkeypatch):
    job = jobs.create(project, tiny_request())

    def work(project, report, should_stop, on_progress):
        with project.writing() as db:
            db.execute("DELETE FROM jobs")
        until = time.monotonic() + 60
        while not should_stop() and time.monotonic() < until:
            time.sleep(0.01)
        return not should_stop()

    monkeypatch.setattr("engine.jobs.worker.kinds.do_work", work)
    assert do_job(project, job.id) == "superseded"


def test_a_job_that_is_slow_to_stop_is_waited_for_here(project, monkeypatch):
    monkeypatch.setattr("engine.jobs.worker.process._GRACE_SECONDS", 0.0)
    job = jobs.create(project, tiny_request())

    def work(project, report, should_stop, on_progress):
        jobs.cancel(project, report.job.id)
        until = time.monotonic() + 60
        while not should_stop() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # longer than the grace period of a separate process
        return False

    monkeypatch.setattr("engine.jobs.worker.kinds.do_work", work)
    assert do_job(project, job.id) == "cancelled"


def test_the_process_that_asks_is_never_signaled(project, monkeypatch, ago):
    signals = []
    monkeypatch.setattr("engine.jobs.process.os.kill", lambda *call: signals.append(call))
    monkeypatch.setattr("engine.jobs.process.os.killpg", lambda *call: signals.append(call))
    id = given_to(project, process_of(os.getpid()), state="running")
    jobs.end_all(project)
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET state = 'stopping', stop_at = ?", (ago(60),))
    assert jobs.get_job(project, id).state == "stopping"
    assert signals == []
    open_report(project.folder, id).finish("done")


def test_a_process_that_leads_our_own_group_is_signaled_alone(sleeper, monkeypatch):
    signals = []
    monkeypatch.setattr("engine.jobs.process.os.kill", lambda *call: signals.append(call))
    monkeypatch.setattr("engine.jobs.process.os.getpgid", lambda _pid: sleeper.pid)
    assert end_group(sleeper, by_force=True)
    assert signals == [(sleeper.pid, signal.SIGKILL)]


# ---- rows -----------------------------------------------------------------------------------


def test_one_job_trains_at_a_time_first_come_first_served(project):
    first, second = (jobs.create(project, tiny_request()) for _ in range(2))
    probe = jobs.create(project, jobs.ProbeRequest(("mpn",), "quick", settings=TINY))
    reports = [open_report(project.folder, job.id) for job in (first, second, probe)]
    assert not reports[1].begin()
    assert reports[1].waits_for() == first.id
    assert reports[2].begin()  # short, and beside the others
    assert reports[0].begin()
    reports[0].finish("done")
    assert reports[1].waits_for() == ""
    assert reports[1].begin()


def test_a_resumed_job_goes_to_the_end_of_the_queue(project):
    first, second = (jobs.create(project, tiny_request()) for _ in range(2))
    open_report(project.folder, first.id).finish("failed", "Because.")
    again = jobs.requeue(project, jobs.get_job(project, first.id))
    assert (again.state, again.message, again.attempt) == ("queued", "", 2)
    assert open_report(project.folder, first.id).waits_for() == second.id


def test_a_process_given_up_for_dead_cannot_disturb_its_successor(project):
    job = jobs.create(project, tiny_request())
    old = open_report(project.folder, job.id)
    old.finish("interrupted", "Lost.")
    again = jobs.requeue(project, jobs.get_job(project, job.id))
    for write in (
        old.claim,
        old.begin,
        old.beat,
        old.state,
        lambda: old.progress(share=0.9),
        lambda: old.finish("done"),
    ):
        with pytest.raises(Superseded):
            write()
    assert jobs.get_job(project, job.id) == again


def test_cancelling_what_has_ended_changes_nothing(project):
    job = jobs.create(project, tiny_request())
    open_report(project.folder, job.id).finish("done")
    assert jobs.cancel(project, job.id).state == "done"
    with pytest.raises(InputError, match="is done; there is nothing to resume"):
        jobs.resume(project, job.id)


def test_a_job_that_waits_is_cancelled_at_once(project):
    first, second = (jobs.create(project, tiny_request()) for _ in range(2))
    process = process_of(os.getpid())
    with writing(project.folder) as db:
        set_process(db, first.id, 1, process, project.folder)
    jobs.cancel(project, second.id)
    assert do_job(project, second.id) == "cancelled"
    assert jobs.get_job(project, second.id).state == "cancelled"
    open_report(project.folder, first.id).finish("done")


def test_a_job_is_not_resumed_on_another_text(project):
    job = jobs.create(project, tiny_request())
    open_report(project.folder, job.id).finish("interrupted")
    project.add_text([source("more.txt", ["There was no arthritis in this group."])])
    with pytest.raises(InputError, match="the text was changed since this job began"):
        jobs.resume(project, job.id)


@pytest.mark.parametrize(
    "change",
    [
        {"a_field_of_old": 1},
        {"settings": {"a_setting_of_old": 2, "epochs": 3}},
        {"settings": {"loss": "a loss of old", "epochs": 3}},
    ],
)
def test_a_job_of_an_older_version_opens_but_is_not_resumed(project, change):
    job = jobs.create(project, tiny_request(settings={"epochs": 3}))
    open_report(project.folder, job.id).finish("interrupted")
    with writing(project.folder) as db:
        stored = json.dumps({**job.request, **change})
        db.execute("UPDATE jobs SET request = ? WHERE id = ?", (stored, job.id))
    (listed,) = jobs.list_jobs(project)
    request = jobs.request_from(listed.kind, listed.request)
    assert jobs.settings_of(request).epochs == 3
    with pytest.raises(InputError, match="settings that this version of Glossa does not have"):
        jobs.resume(project, job.id)
    assert jobs.get_job(project, job.id).state == "interrupted"


def test_deleting_a_job_takes_its_files_and_rows(project):
    job = done_here(project, tiny_request(settings={"epochs": 1}))
    assert (job.folder / "mpn-seed0").is_dir()
    jobs.delete_job(project, job.id)
    assert jobs.list_jobs(project) == []
    assert not job.folder.exists()
    with reading(project.folder) as db:
        assert db.execute("SELECT count(*) FROM job_epochs").fetchone()[0] == 0
    with pytest.raises(InputError, match=f'this project has no job "{job.id}"'):
        jobs.get_job(project, job.id)


def test_folders_of_jobs_that_were_left_half_deleted_are_swept(project):
    job = jobs.create(project, tiny_request())
    names = ("20200101-000000-abcd", "20200102-000000-abcd", "notes")
    for name in names:
        (project.jobs_folder / name).mkdir()
        (project.jobs_folder / name / "file").write_bytes(b"")
    for name in (job.id, names[0], names[2]):
        os.utime(project.jobs_folder / name, (0, 0))
    other = jobs.create(project, tiny_request())
    left = {path.name for path in project.jobs_folder.iterdir()}
    assert left == {job.id, other.id, *names[1:]}


def test_an_active_job_is_not_deleted(project):
    job = jobs.create(project, tiny_request())
    with pytest.raises(InputError, match="is still queued"):
        jobs.delete_job(project, job.id)


def test_a_project_without_jobs_has_none(project):
    assert jobs.list_jobs(project) == []
    assert jobs.active_job(project) is None
    assert jobs.estimate(project, tiny_request()) is None


# ---- what cannot be done --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"priors": {"Drug": 0.1}},
            "priors and entity types differ in Disease; give one prior per type",
        ),
        ({"settings": {"encoder_name": "/no/such"}, "encoder": "transformer"}, "/no/such"),
    ],
)
def test_a_failed_job_says_why_in_one_sentence(project, change, sentence):
    job = done_here(project, tiny_request(**change))
    assert job.state == "failed"
    assert sentence in job.message
    assert "\n" not in job.message
    assert job.message.endswith((".", "?"))
    assert "Traceback (most recent call last):" in jobs.log_tail(project, job.id)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("first line\nsecond"), "Stopped by an error (RuntimeError: first line). "),
        (MemoryError(), "Training ran out of memory: a process was killed. Retry with a smaller "),
    ],
)
def test_an_unforeseen_error_is_explained_in_one_sentence(project, monkeypatch, error, sentence):
    def fail(*_):
        raise error

    monkeypatch.setattr("engine.jobs.worker.kinds.train_job", fail)
    job = done_here(project, tiny_request())
    assert (job.state, job.message[: len(sentence)]) == ("failed", sentence)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (tiny_request(methods=()), "no method is chosen"),
        (tiny_request(methods=("best",)), '"best" is not a method'),
        (tiny_request(preset="fast"), '"fast" is not a preset'),
        (tiny_request(encoder="gpt"), '"gpt" is not an encoder'),
        (tiny_request(settings={"tau": 1}), '"tau" is not a setting that can be changed'),
        (tiny_request(settings={"seed": 1}), '"seed" is not a setting that can be changed'),
        (tiny_request(settings={"epochs": "many"}), "a whole number from 1 to 100,000, got 'many'"),
        (tiny_request(settings={"epochs": 0}), "a whole number from 1 to 100,000, got 0"),
        (jobs.CurveRequest(fractions=(0,)), "from 1 to 100; got 0"),
        (jobs.CurveRequest(seeds=()), "none is chosen"),
        (jobs.PredictRequest("20200101-000000-abcd", "mpn"), "this project has no job"),
    ],
)
def test_impossible_requests_are_refused_before_the_start(project, request_, sentence):
    with pytest.raises(InputError) as refused:
        jobs.start(project, request_)
    assert sentence in str(refused.value)
    assert jobs.list_jobs(project) == []


def test_a_full_disk_is_reported_before_the_start(project, monkeypatch):
    usage = namedtuple("usage", "free")(7_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(InputError) as refused:
        jobs.start(project, tiny_request())
    assert str(refused.value) == (
        f"Only 7 MB left in {project.folder.parent}. Training needs about 10 MB. "
        "Delete old runs or enlarge the volume"
    )


def test_an_invalid_job_id_or_method_is_not_used_as_a_path(project):
    job = jobs.create(project, tiny_request())
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET id = '../..', state = 'done'")
    with pytest.raises(InputError, match=r"'\.\./\.\.' is no job"):
        jobs.delete_job(project, "../..")
    assert project.folder.exists()
    with pytest.raises(InputError, match="is not a method"):
        jobs.run_folder(job, "../../text")


def test_a_folder_that_cannot_be_made_is_explained_in_one_sentence(project):
    project.jobs_folder.write_text("in the way")
    with pytest.raises(InputError, match="cannot be written: "):
        jobs.create(project, tiny_request())


# ---- what jobs do ---------------------------------------------------------------------------


def test_runs_of_a_project_share_what_a_frozen_encoder_sees(project, tmp_path, monkeypatch):
    computed, stages, messages = [], [], []

    def compute(inputs, *arguments, **options):
        if inputs.token_count > 1:  # loading a run encodes one token, to learn the sizes
            computed.append(inputs.token_count)
        return contextual_features(inputs, *arguments, **options)

    def progress(self, _of=Report.progress, **columns):
        stages.append(columns.get("stage"))
        messages.append(columns.get("message"))
        _of(self, **columns)

    monkeypatch.setattr("engine.network.frozen.contextual_features", compute)
    monkeypatch.setattr(Report, "progress", progress)
    monkeypatch.setattr("engine.jobs.worker.setup._REPORT_SECONDS", 0)
    encoder = {"contextual_layer": 1, "encoder_name": str(save_tiny_bert(tmp_path))}
    for seed in (0, 1):
        assert done_here(project, tiny_request(settings=encoder, seed=seed)).state == "done"
    assert len(computed) == 1
    assert stages.count("context") == 2
    told = [message for message in messages if message is not None]
    # The second run uses the stored features.
    assert told[-3:] == ["100 % of the text is read.", "", ""]
    assert len(list((project.folder / "cache" / "context").iterdir())) == 1


def test_a_probe_makes_an_estimate_possible(project):
    probe = jobs.ProbeRequest(("mpn", "conf_mpu"), "quick", settings=TINY)
    assert done_here(project, probe).state == "done"
    one = jobs.estimate(project, tiny_request())
    assert one > 0
    more = jobs.estimate(project, tiny_request(settings={"epochs": 20}))
    assert more == pytest.approx(10 * one)
    assert jobs.estimate(project, tiny_request(settings={"hidden_size": 16})) is None


def test_a_curve_grows_cell_by_cell_and_resumes_where_it_was(project):
    request = jobs.CurveRequest((50, 100), ("mpn",), (3,), "quick", TINY)
    job = done_here(project, request)
    assert (job.state, job.message) == ("done", "")
    points = jobs.curve_points(project, job.id)
    assert points[["fraction", "method", "seed"]].values.tolist() == [
        [50, "dictionary", 0],
        [50, "mpn", 3],
        [100, "dictionary", 0],
        [100, "mpn", 3],
    ]
    cells = jobs.curve_cells(project, job.id)
    assert cells.values.tolist() == [[50, "mpn", 3, "done", ""], [100, "mpn", 3, "done", ""]]
    # As if it had been killed before the last share.
    with writing(project.folder) as db:
        db.execute("DELETE FROM job_points WHERE fraction = 100")
        db.execute("UPDATE jobs SET state = 'interrupted'")
    jobs.requeue(project, jobs.get_job(project, job.id))
    heard = []
    assert do_job(project, job.id, heard.append) == "done"
    assert heard == []  # the runs were already trained
    again = jobs.curve_points(project, job.id)
    assert again.drop(columns="seconds").equals(points.drop(columns="seconds"))


def test_a_stopped_curve_keeps_its_shares(project, monkeypatch):
    request = jobs.CurveRequest((50, 100), ("mpn",), (0,), "quick", TINY)
    job = jobs.create(project, request)

    is_told = []  # tells the worker to stop

    def work(project, report, should_stop, on_progress):
        is_told.append(should_stop)
        return do_work(project, report, should_stop, on_progress)

    def cancel(_progress):
        if len(jobs.curve_points(project, job.id)):
            jobs.cancel(project, job.id)
            wait_until(is_told[-1], "the wish to stop is heard")

    monkeypatch.setattr("engine.jobs.worker.kinds.do_work", work)
    assert do_job(project, job.id, cancel) == "cancelled"
    assert jobs.curve_points(project, job.id)["fraction"].tolist() == [50, 50]
    cells = jobs.curve_cells(project, job.id)
    assert cells["state"].tolist() == ["done", "queued"]
    jobs.requeue(project, jobs.get_job(project, job.id))
    assert do_job(project, job.id) == "done"
    assert jobs.curve_cells(project, job.id)["state"].tolist() == ["done", "done"]


def test_a_share_that_cannot_be_trained_does_not_stop_the_others(data):
    project = make_small_project()
    [drug, disease] = project.dictionaries()
    # 1 % of a dictionary is one phrase; of these, the first does not occur.
    unseen = type(disease.phrases[0])("not in the text", disease.phrases[0].entity_type)
    changed = type(disease)(disease.name, (unseen, *disease.phrases))
    project.save_dictionaries([drug, changed], "test")
    job = done_here(project, jobs.CurveRequest((1, 100), ("mpn",), (0,), "quick", TINY))
    cells = jobs.curve_cells(project, job.id)
    assert job.state == "done"
    assert cells[["fraction", "state"]].values.tolist() == [[1, "failed"], [100, "done"]]
    assert cells["message"].iloc[0].startswith("no token is labeled as ")
    assert jobs.curve_points(project, job.id)["fraction"].tolist() == [1, 100, 100]


def test_new_texts_are_predicted_with_a_run(project):
    run = done_here(project, tiny_request())
    files = (SourceFile("../new.txt", b"the patient took aspiril every day"),)
    job = done_here(project, jobs.PredictRequest(run.id, "mpn", files))
    assert (job.state, job.request["files"]) == ("done", ["../new.txt"])
    corpus = jobs.predicted_corpus(project, job.id)
    assert [document.text for document in corpus.documents] == [files[0].data.decode()]
    results = jobs.results(project, job.id)
    assert list(results.entities) == ["mpn"]
    assert corpus.entities == results.entities["mpn"]


def test_a_job_uses_the_dictionaries_of_its_start(project):
    job = jobs.create(project, tiny_request())
    before = project.dictionaries()
    project.save_dictionaries(before[:1], "one less")
    assert do_job(project, job.id) == "done"
    assert set(jobs.priors_of(project, job.id)["entity_type"]) == set(PRIORS)


def test_a_job_uses_the_decisions_of_its_start(project):
    corpus = project.corpus()
    document = next(d for d in corpus.documents if d.text.startswith("the patient took "))
    start = len("the patient took ")
    end = document.text.index(" ", start)
    project.add_decision("review", document.id, start, end, "Drug", "rejected")
    request = tiny_request(use_decisions=True)
    job = done_here(project, request)
    assert job.state == "done"
    plain = done_here(project, tiny_request())
    assert weights(project, job.id) != weights(project, plain.id)
    project.undo_decision("review")
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET state = 'interrupted' WHERE id = ?", (job.id,))
    jobs.requeue(project, jobs.get_job(project, job.id))
    heard = []
    do_job(project, job.id, heard.append)
    assert heard == []  # the same data as before: nothing to train


def test_the_supervised_reference_learns_from_gold(project):
    job = done_here(project, tiny_request(methods=("supervised",)))
    assert (job.state, list(jobs.results(project, job.id).scores)) == (
        "done",
        ["dictionary", "supervised"],
    )
    project.remove_gold()
    job = done_here(project, tiny_request(methods=("supervised",)))
    assert (job.state, job.message) == (
        "failed",
        "supervised learns from human labels, and there are none. Give gold.",
    )


def test_predictions_say_which_phrases_the_dictionaries_have(project):
    job = done_here(project, tiny_request(settings={"epochs": 15}))
    entities = [
        e
        for of_document in jobs.results(project, job.id).entities["mpn"].values()
        for e in of_document
    ]
    assert {entity.run_id for entity in entities} == {job.id}
    assert {bool(entity.matched_phrase) for entity in entities if entity.in_dictionary} == {True}


def test_requests_are_stored_as_json_and_come_back(project):
    request = tiny_request(methods=("mpu", "mpn"), seed=3, use_decisions=True)
    job = jobs.create(project, request)
    assert json.loads(json.dumps(job.request)) == job.request
    from engine.jobs.results import stored_request

    assert stored_request(job) == request
    with reading(project.folder) as db:
        assert job_from(job_row(db, job.id), project.folder) == job
    assert Report(project.folder, job).state() == "queued"
