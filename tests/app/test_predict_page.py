import csv
import io
import json
from dataclasses import replace

import pytest

from engine import jobs
from engine.formats.contract import WriteOptions
from engine.projects.store import writing
from engine.run_folder.card import PREDICTIONS, read_card, write_card
from engine.run_folder.origin import mark_imported
from engine.run_folder.predictions import write_predictions
from engine.text.model import Entity
from tests.support.archives import zipped
from tests.support.finished_runs import end_job, finish_run, make_project
from tests.support.pages import checked, open_page
from tests.support.pages import html as texts
from tests.support.waiting import wait_until
from ui.views.predict import state as prediction

TEXT = "She had gout. Zofran helped.\n"


@pytest.fixture
def trained(monkeypatch):
    """A project with a run; jobs are stored but no process starts."""
    project = make_project()
    finish_run(project)
    monkeypatch.setattr(jobs, "start", jobs.create)
    return project


def show(project):
    return checked(open_page("predict", project.id).run())


def ask(page, text=TEXT):
    page.text_area(key="predict_text").set_value(text)
    return page.button(key="predict_start").click().run()


def finish(project, findings=(("gout", "Disease", 0.9), ("Zofran", "Chemical", 0.4))):
    """Write what the process of the newest prediction would write."""
    job = jobs.list_jobs(project, "predict")[0]
    corpus = jobs.predicted_corpus(project, job.id)
    document = corpus.documents[0]
    entities = tuple(
        Entity(start, start + len(surface), entity_type, score, "conf_mpu")
        for surface, entity_type, score in findings
        for start in [document.text.index(surface)]
    )
    write_predictions(job.folder / PREDICTIONS, {document.id: entities})
    return end_job(project, job)


def test_page_says_that_nothing_is_trained():
    page = show(make_project())
    assert "Nothing is trained in this project yet" in texts(page)
    assert not page.text_area


def test_pasted_text_is_predicted_with_the_most_trusted_method(trained):
    page = checked(ask(show(trained)))
    job = jobs.list_jobs(trained, "predict")[0]
    assert job.request["method"] == "conf_mpu"
    assert job.request["files"] == ["Pasted text.txt"]
    assert page.get("progress")[0].proto.text == "Starting"


def test_what_was_found_is_marked_counted_and_listed(trained):
    ask(show(trained))
    finish(trained)
    page = show(trained)
    assert "Conf-MPU found 2 entities" in [element.value for element in page.subheader]
    assert 'gout<span class="gl-type">Disease</span></mark>' in texts(page)
    assert page.dataframe[0].value["text"].tolist() == ["gout", "Zofran"]
    page = checked(page.slider(key="predict_least_score").set_value(0.5).run())
    assert "Conf-MPU found 1 entity" in [element.value for element in page.subheader]
    assert "Zofran<span" not in texts(page)


def test_another_method_can_be_chosen(trained):
    page = show(trained)
    run = jobs.list_jobs(trained, "train")[0]
    page.segmented_control(key=f"predict_method_{run.id}").set_value("mpu").run()
    checked(ask(page))
    assert jobs.list_jobs(trained, "predict")[0].request["method"] == "mpu"


def test_files_are_read_before_a_process_is_started(trained):
    page = show(trained)
    page = checked(page.segmented_control(key="predict_kind").set_value("Upload files").run())
    page.file_uploader[0].set_value([("a.txt", b"%PDF-1.7", "text/plain")])
    page = page.button(key="predict_start").click().run()
    assert page.error[0].value.replace("\\", "").startswith("a.txt is a PDF file.")
    assert jobs.list_jobs(trained, "predict") == []


def test_files_can_be_predicted_line_by_line(trained):
    page = show(trained)
    page = checked(page.segmented_control(key="predict_kind").set_value("Upload files").run())
    page.file_uploader[0].set_value([("a.txt", b"gout here\ngout there\n", "text/plain")])
    page.toggle(key="predict_lines").set_value(True)
    checked(page.button(key="predict_start").click().run())
    job = jobs.list_jobs(trained, "predict")[0]
    assert len(jobs.predicted_corpus(trained, job.id).documents) == 2


@pytest.mark.parametrize(
    ("content", "said"), [(b"gout here", ""), (b"", "a.txt is empty")], ids=["good", "bad"]
)
def test_a_zip_is_read_in_a_process_of_its_own_before_the_job_starts(trained, content, said):
    page = show(trained)
    page = checked(page.segmented_control(key="predict_kind").set_value("Upload files").run())
    file = zipped({"a.txt": content})
    page.file_uploader[0].set_value([(file.name, file.data, "application/zip")])
    page = checked(page.button(key="predict_start").click().run())
    assert jobs.list_jobs(trained, "predict") == []
    assert "Reading" in page.get("progress")[0].proto.text
    errors = []

    def is_read():
        errors.extend(error.value for error in page.run().error)
        return errors or jobs.list_jobs(trained, "predict")

    wait_until(is_read, "the file is read", every=0.2)
    assert [error.replace("\\", "")[: len(said)] for error in errors] == ([said] if said else [])
    assert len(jobs.list_jobs(trained, "predict")) == (not said)


@pytest.mark.parametrize("kind", ["Paste text", "Upload files"])
def test_predicting_without_text_is_explained(trained, kind):
    page = show(trained)
    page = checked(page.segmented_control(key="predict_kind").set_value(kind).run())
    page = page.button(key="predict_start").click().run()
    assert "then press the button" in page.error[0].value.replace("\\", "")


def test_earlier_predictions_can_be_opened_again_and_deleted(trained):
    ask(show(trained), "He had gout.")
    finish(trained, [("gout", "Disease", 0.9)])
    ask(show(trained), "Zofran helped.")
    finish(trained, [("Zofran", "Chemical", 0.9)])
    page = show(trained)
    assert "Zofran<span" in texts(page)
    choice = next(box for box in page.selectbox if box.label == "Predictions so far")
    page = checked(choice.select(choice.options[1]).run())
    assert "gout<span" in texts(page)
    assert "gout<span" in texts(show(trained))  # after a refresh as well
    page = checked(show(trained).button(key="predict_delete").click().run())
    assert len(jobs.list_jobs(trained, "predict")) == 1
    assert "Zofran<span" in texts(page)


def test_a_failed_prediction_says_why_and_can_be_tried_again(trained, monkeypatch):
    ask(show(trained))
    job = jobs.list_jobs(trained, "predict")[0]
    end_job(trained, job, "failed", "The weights are *gone*.")
    page = show(trained)
    assert page.warning[0].value == r"The weights are \*gone\*\."
    resumed = []
    monkeypatch.setattr(jobs, "resume", lambda project, id: resumed.append(id))
    page.button(key="predict_again").click().run()
    assert resumed == [job.id]


def test_downloads_contain_what_is_shown(trained):
    ask(show(trained))
    job = finish(trained)
    predicted = prediction.predicted_text(trained, job, 0.5)
    data = prediction.written(predicted, "entities", WriteOptions())
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert [(row["text"], row["start"], row["score"]) for row in rows] == [("gout", "8", "0.9000")]


def test_a_text_without_entities_is_still_shown(trained):
    ask(show(trained))
    finish(trained, [])
    page = show(trained)
    assert "Conf-MPU found 0 entities" in [element.value for element in page.subheader]
    assert "She had gout." in texts(page)


def test_an_imported_run_asks_before_it_uses_a_file_of_this_machine(trained):
    run = jobs.list_jobs(trained, "train")[0]
    folder = jobs.run_folder(run, "conf_mpu")
    card = read_card(folder)
    write_card(folder, replace(card, settings=replace(card.settings, word_vectors="/secret.txt")))
    mark_imported(run.folder)
    page = show(trained)
    assert 'It uses "/secret.txt", which is no part' in page.warning[0].value.replace("\\", "")
    assert page.button(key="predict_start").disabled
    page = checked(page.button(key=f"predict_trust_{run.id}_conf_mpu").click().run())
    assert not page.warning
    assert checked(ask(page)) and jobs.list_jobs(trained, "predict")


@pytest.fixture
def with_context(trained):
    """The run of `trained`, as if it read a layer of a transformer."""
    run = jobs.list_jobs(trained, "train")[0]
    for method in run.request["methods"]:
        folder = jobs.run_folder(run, method)
        card = read_card(folder)
        write_card(folder, replace(card, settings=replace(card.settings, contextual_layer=3)))
    return run


def test_a_run_without_a_transformer_offers_no_twin(trained):
    assert "predict_twin" not in [button.key for button in show(trained).button]


def test_one_click_makes_a_fast_twin(trained, with_context):
    page = checked(show(trained).button(key="predict_twin").click().run())
    job = jobs.list_jobs(trained, "twin")[0]
    assert job.request == {"run": with_context.id, "method": "conf_mpu"}
    assert page.get("progress")[0].proto.text == "Making a fast twin"
    checked(page.button(key="predict_twin_cancel").click().run())
    assert jobs.get_job(trained, job.id).state == "stopping"


def test_why_a_twin_was_not_made_is_shown(trained, with_context):
    show(trained).button(key="predict_twin").click().run()
    end_job(trained, jobs.list_jobs(trained, "twin")[0], "failed", "the text holds no words")
    page = show(trained)
    assert [warning.value for warning in page.warning] == ["the text holds no words"]
    assert page.button(key="predict_twin")


def test_a_twin_predicts_when_asked(trained, with_context):
    folder = jobs.twin_folder(with_context, "conf_mpu")
    card = read_card(folder.parent)
    write_card(folder, replace(card, made_from={"twin_of": "x", "agreement": 0.934}))
    page = show(trained)
    toggle = page.toggle(key=prediction.twin_key(with_context.id, "conf_mpu"))
    assert "93" in toggle.help and not toggle.value
    ask(page)
    assert jobs.list_jobs(trained, "predict")[0].request["is_fast"] is False
    page = show(trained)
    page.toggle(key=prediction.twin_key(with_context.id, "conf_mpu")).set_value(True).run()
    ask(page)
    assert jobs.list_jobs(trained, "predict")[0].request["is_fast"] is True


# ---- a large corpus -------------------------------------------------------------------------


def show_large(project):
    page = show(project)
    return checked(page.segmented_control(key="predict_kind").set_value("Large corpus").run())


def test_a_large_corpus_is_handed_to_the_cluster_that_is_named(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_SHARDS", str(tmp_path))
    page = show_large(trained)
    page.text_input(key="predict_shards").set_value(str(tmp_path / "texts"))
    page.text_input(key="predict_shards_out").set_value(str(tmp_path / "out"))
    page.text_input(key="predict_shards_address").set_value("10.0.0.1:6379")
    page = checked(page.button(key="predict_start").click().run())
    [job] = jobs.list_jobs(trained, "shards")
    assert (job.request["method"], job.request["address"]) == ("conf_mpu", "10.0.0.1:6379")
    with writing(trained.folder) as db:
        db.execute(
            "UPDATE jobs SET stage = 'predict', share = 0.3, seconds_left = 120,"
            " message = '12 of 40 shards' WHERE kind = 'shards'"
        )
    bars = show_large(trained).get("progress")
    shown = [bar.proto.text.replace("\\", "") for bar in bars]
    assert "12 of 40 shards, about 2 min to go" in shown


def test_figures_and_faults_of_a_large_corpus_are_shown(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_SHARDS", str(tmp_path))
    run = jobs.list_jobs(trained, "train")[0]
    job = jobs.create(
        trained, jobs.ShardsRequest(run.id, "mpu", f"{tmp_path}/texts", f"{tmp_path}/out")
    )
    figures = {"done": 39, "shards": 40, "documents": 80, "tokens": 900}
    figures |= {"entities": {"Disease": 7}, "faults": ["b.jsonl line 1: not JSON."]}
    with writing(trained.folder) as db:
        row = (job.id, json.dumps(figures))
        db.execute("INSERT INTO job_facts (job, key, value) VALUES (?, 'shards', ?)", row)
    end_job(trained, job)
    page = show_large(trained)
    assert "MPU found 7 entities" in [element.value for element in page.subheader]
    assert page.dataframe[0].value["entities"].tolist() == [7]
    assert "line 1" in page.warning[0].value


def test_a_corpus_outside_the_allowed_folders_is_refused(trained):
    page = show_large(trained)
    assert "GLOSSA_SHARDS" in page.info[0].value
    page.text_input(key="predict_shards").set_value("/etc")
    page.text_input(key="predict_shards_out").set_value("/tmp/out")
    page = page.button(key="predict_start").click().run()
    assert "is not in the folders that the app may use" in page.error[0].value
    assert jobs.list_jobs(trained, "shards") == []
