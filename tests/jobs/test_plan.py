"""Estimates from stored speeds, computed by hand."""

import pytest

from engine import jobs
from engine.jobs import plan as job_plan
from engine.jobs.plan import makespan, needed_bytes
from engine.jobs.requests import settings_of
from engine.jobs.speeds import machine_name, network_key
from engine.projects.store import writing
from engine.system.moments import now
from tests.support.small_project import TINY, make_small_project, tiny_request


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    monkeypatch.setattr(job_plan.os, "cpu_count", lambda: 2)
    return make_small_project(has_gold=False)


def measure(project, **speeds):
    """Store tokens per second; names are method__stage."""
    with writing(project.folder) as db:
        for name, speed in speeds.items():
            method, _, stage = name.rpartition("__")
            db.execute(
                "INSERT INTO job_speeds VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (name, machine_name(), network_key(settings_of(tiny_request())), method, stage,
                 speed, "cpu", now()),
            )  # fmt: skip


def tokens(project):
    return sum(file.tokens for file in project.text_files())


def test_without_measurements_there_is_no_estimate(project):
    assert jobs.estimate(project, tiny_request()) is None


def test_an_estimate_is_epochs_times_tokens_by_speed(project):
    measure(project, mpn__training=100.0)
    assert jobs.estimate(project, tiny_request()) == pytest.approx(2 * tokens(project) / 100)


def test_the_latest_speed_counts_and_time_around_the_epochs_is_added(project):
    measure(project, mpn__training=1.0)
    measure(project, again__mpn__training=1.0)
    measure(project, __prepare=50.0, __predict=200.0)
    with writing(project.folder) as db:
        db.execute("UPDATE job_speeds SET method = 'mpn', tokens_per_second = 100"
                   " WHERE job LIKE 'again%'")  # fmt: skip
    # 2 epochs at 100, once at 50, once at 200
    expected = tokens(project) * (2 / 100 + 1 / 50 + 1 / 200)
    assert jobs.estimate(project, tiny_request()) == pytest.approx(expected)


def test_methods_are_trained_side_by_side(project):
    measure(project, mpn__training=100.0, conf_mpu__confidence=50.0, conf_mpu__training=100.0)
    # conf_mpu: 2 epochs at 50 and 2 at 100; mpn and mpu, 2 epochs each, fill the other core. mpu
    # was not measured: an epoch costs what it costs the others.
    request = tiny_request(methods=("mpn", "mpu", "conf_mpu"))
    expected = tokens(project) * (2 / 50 + 2 / 100)
    assert jobs.estimate(project, request) == pytest.approx(expected)


def test_a_curve_is_shares_times_cells(project):
    measure(project, mpn__training=100.0)
    request = jobs.CurveRequest((20, 100), ("mpn",), (0, 1, 2), "quick", TINY)
    # Three seeds on two cores: two rounds per share.
    assert jobs.estimate(project, request) == pytest.approx(2 * 2 * 2 * tokens(project) / 100)


def test_a_tagger_per_type_takes_its_time_per_type(project):
    measure(project, bnpu__training=100.0)
    # 2 epochs for each of the 2 types of the dictionaries
    expected = 2 * 2 * tokens(project) / 100
    assert jobs.estimate(project, tiny_request(methods=("bnpu",))) == pytest.approx(expected)


def test_folds_train_on_the_rest(project):
    measure(project, conf_mpu__confidence=100.0, conf_mpu__training=100.0)
    request = tiny_request(methods=("conf_mpu",), settings={"confidence_folds": 4})
    # 4 taggers x 2 epochs on 3/4 of the tokens, and 2 epochs on all
    expected = tokens(project) * (8 * 3 / 4 + 2) / 100
    assert jobs.estimate(project, request) == pytest.approx(expected)


def test_speed_of_another_network_is_not_used(project):
    measure(project, mpn__training=100.0)
    assert jobs.estimate(project, tiny_request(settings={"batch_size": 16})) is None


@pytest.mark.parametrize(("workers", "seconds"), [(1, 12), (2, 7), (3, 5), (9, 5)])
def test_makespan_starts_the_longest_first(workers, seconds):
    assert makespan([3, 5, 4], workers) == seconds


def test_a_transformer_needs_disk_space_for_its_checkpoints(project):
    small = needed_bytes(project, tiny_request())
    large = needed_bytes(project, tiny_request(encoder="transformer"))
    assert small < 20_000_000
    assert 800_000_000 < large < 1_200_000_000


def test_a_frozen_encoder_of_your_own_takes_disk_space_in_every_run(project, tmp_path):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "model.safetensors").write_bytes(bytes(1_000_000))

    def needed(name):
        settings = TINY | {"contextual_layer": 1, "encoder_name": name}
        return needed_bytes(project, tiny_request(methods=("mpn", "mpu"), settings=settings))

    assert needed(str(tmp_path / "encoder")) == needed("minilm") + 2 * 1_000_000
