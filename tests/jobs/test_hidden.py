"""A training that compares its methods on hidden phrases."""

import pytest

from engine import jobs
from engine.export.choice import default_method
from engine.guide.advice import better_run, project_story
from engine.jobs.plan import needed_bytes
from engine.jobs.requests import TrainRequest, check_request, request_from
from engine.jobs.worker import train
from engine.jobs.worker.process import do_job
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project, record_hidden
from tests.support.small_project import make_small_project, tiny_request

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


def hide(project, **changes):
    request = tiny_request(hide=0.5, **changes)
    job = jobs.create(project, request)
    assert do_job(project, job.id, lambda _: None) == "done"
    return jobs.get_job(project, job.id)


# ---- the job --------------------------------------------------------------------------------


def test_the_run_learns_from_everything_and_the_comparison_from_less():
    project = make_small_project(sentence_count=200)
    job = hide(project)
    found = jobs.hidden_found(project, job.id)
    assert found.keys() == {"mpn"}
    result = found["mpn"]
    assert len(result.phrases) >= 10 and 0 <= result.share <= 1
    assert set(jobs.results(project, job.id).entities) == {"mpn"}
    # The final model is what a run without the comparison gives.
    plain = jobs.create(project, tiny_request())
    assert do_job(project, plain.id, lambda _: None) == "done"
    cards = [jobs.run_card(jobs.run_folder(j, "mpn")) for j in (job, plain)]
    assert cards[0].history[-1]["risk"] == cards[1].history[-1]["risk"]
    assert cards[0].dictionary_fingerprint == cards[1].dictionary_fingerprint
    assert jobs.hidden_found(project, plain.id) == {}
    # Only the result of the second training is kept, and its epochs are not those of the run.
    assert not (job.folder / "hidden").exists()
    assert len(jobs.epochs(project, job.id)) == len(jobs.epochs(project, plain.id))
    assert [stage.name for stage in jobs.stages(project, job.id)][-2:] == ["predict", "hidden"]


def test_other_settings_are_compared_on_the_same_phrases():
    project = make_small_project(sentence_count=200)
    one = jobs.hidden_found(project, hide(project).id)["mpn"]
    other = jobs.hidden_found(project, hide(project, seed=3, settings={"epochs": 1}).id)["mpn"]
    assert (one.phrases, one.words, one.rate) == (other.phrases, other.words, other.rate)


@pytest.mark.parametrize("method", ["mpn", "conf_mpu", "autoner"])
def test_hidden_words_are_counted_after_each_epoch(method):
    project = make_small_project(sentence_count=200)
    job = hide(project, methods=(method,), settings={"epochs": 3, "ensemble": 1})
    result = jobs.hidden_found(project, job.id)[method]
    assert len(result.after_epochs) == 3 and result.epochs >= 1
    assert result.after_epochs[-1] == sum(result.found)  # all of the text is in the part


def test_epochs_are_counted_in_the_processes_that_train_side_by_side(monkeypatch):
    monkeypatch.setattr(train, "side_by_side", lambda count, device: 2)
    project = make_small_project(sentence_count=200)
    found = jobs.hidden_found(project, hide(project, methods=("mpn", "mpu")).id)
    assert all(result.after_epochs for result in found.values())


def test_methods_with_epochs_or_taggers_of_their_own_get_no_suggestion():
    project = make_small_project(sentence_count=200)
    found = jobs.hidden_found(project, hide(project, methods=("bnpu", "early_stopped")).id)
    assert found.keys() == {"bnpu", "early_stopped"}
    assert not any(result.epochs or result.after_epochs for result in found.values())


def test_too_few_phrases_leave_the_run_and_a_note():
    project = make_small_project(sentence_count=20)
    job = hide(project)
    assert jobs.hidden_found(project, job.id) == {}
    assert set(jobs.results(project, job.id).entities) == {"mpn"}
    assert jobs.job_notes(project, job.id)[-1].startswith("not compared on hidden phrases: ")


def test_a_stopped_comparison_goes_on_when_it_is_resumed(monkeypatch):
    project = make_small_project(sentence_count=200)
    expected = jobs.hidden_found(project, hide(project).id)
    job = jobs.create(project, tiny_request(hide=0.5))

    def stop(*given, **named):
        raise train.Stopped

    with monkeypatch.context() as patch:
        patch.setattr(train, "compare_hidden", stop)
        do_job(project, job.id, lambda _: None)
    assert jobs.get_job(project, job.id).state != "done"
    jobs.requeue(project, jobs.get_job(project, job.id))
    assert do_job(project, job.id, lambda _: None) == "done"
    assert jobs.hidden_found(project, job.id) == expected


def test_a_request_from_before_hides_nothing():
    assert request_from("train", {"methods": ["mpn"], "preset": "quick"}).hide == 0
    with pytest.raises(InputError, match=r"at most 0\.5"):
        check_request(TrainRequest(hide=0.7))


def test_the_comparison_takes_room_and_time_of_its_own():
    project = make_small_project()
    plain, more = TrainRequest(), TrainRequest(hide=0.1)
    assert needed_bytes(project, more) > needed_bytes(project, plain)
    once, twice = (jobs.rough_estimate(project, request) for request in (plain, more))
    assert twice == pytest.approx(2 * once)


# ---- what it recommends ---------------------------------------------------------------------


def test_the_method_that_finds_more_is_recommended_and_exported():
    project = make_project()
    run = finish_run(project)
    assert default_method(project, run) == "conf_mpu"
    record_hidden(project, run.id, conf_mpu=0, mpu=2)
    assert default_method(project, run) == "mpu"
    story = project_story(project)
    assert story.method == "MPU"
    assert (
        "Of 40 words in 20 phrases hidden from training, it finds 40 again, Conf-MPU 0."
    ) in story.text
    assert "it says more than you will get on names your dictionary lacks." in story.caution
    assert "recall" not in str(story).lower() and "%" not in story.text.split("hidden")[1][:60]


def test_trust_decides_where_chance_could_have():
    project = make_project()
    run = finish_run(project)
    record_hidden(project, run.id, conf_mpu=1, mpu=1)
    story = project_story(project)
    assert story.method == "Conf-MPU" and "may be chance" in story.text
    assert default_method(project, run) == "conf_mpu"


def test_a_run_with_a_better_preset_is_named():
    project = make_project()
    before, after = finish_run(project), finish_run(project)
    record_hidden(project, before.id, conf_mpu=2, mpu=1)
    record_hidden(project, after.id, conf_mpu=1, mpu=0)
    sentence = better_run(project, after)
    assert sentence.startswith("Better: Conf-MPU of the run of ") and "preset quick" in sentence
    assert sentence.endswith("which finds 40 of the hidden words again, 20 here.")
    assert sentence in project_story(project).text
    assert better_run(project, before) == ""


def test_a_damaged_record_is_no_comparison():
    project = make_project()
    run = finish_run(project)
    record_hidden(project, run.id, conf_mpu=3, mpu=2)  # three of two words
    assert jobs.hidden_found(project, run.id).keys() == {"mpu"}
    assert project_story(project).method == "Conf-MPU"
