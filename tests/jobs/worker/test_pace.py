import pytest

from engine.jobs.worker.pace import Pace

PLAN = {"conf_mpu": {"confidence": 4, "training": 6}, "mpn": {"training": 10}}


def test_share_counts_epochs_of_all_tasks():
    pace = Pace(PLAN, workers=1)
    assert (pace.share, pace.seconds_left) == (0, None)
    pace.hear("conf_mpu", "confidence", 1, 2.0)
    assert pace.share == pytest.approx(1 / 20)
    pace.hear("mpn", "training", 5, 4.0)
    assert pace.share == pytest.approx(6 / 20)


def test_seconds_left_follow_the_epochs_of_each_task_side_by_side():
    pace = Pace(PLAN, workers=2)
    pace.hear("conf_mpu", "confidence", 1, 2.0)  # 9 left, 18 s
    pace.hear("mpn", "training", 5, 4.0)  # 5 left, 20 s
    assert pace.seconds_left == pytest.approx(20)


def test_a_task_without_reports_is_assumed_as_fast_as_the_others():
    pace = Pace(PLAN, workers=1)
    pace.hear("mpn", "training", 9, 3.0)  # 1 left; conf_mpu has 10
    assert pace.seconds_left == pytest.approx(33)


def test_a_resumed_task_has_its_first_stage_behind_it():
    pace = Pace(PLAN, workers=1)
    pace.hear("conf_mpu", "training", 3, 1.0)
    assert pace.share == pytest.approx(7 / 20)


def test_finished_tasks_leave_nothing():
    pace = Pace(PLAN, workers=2)
    for task in PLAN:
        pace.finish(task)
    assert pace.share == 1
    pace.hear("mpn", "training", 10, 1.0)
    assert pace.seconds_left == 0
