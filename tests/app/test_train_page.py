"""The Train page before, during and after a run; the tests write job rows as a process would."""

import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.reports import Report
from engine.jobs.speeds import Speed, keep_speeds
from engine.planning.methods import METHODS
from engine.projects.store import writing
from engine.projects.workspace import (
    create_project,
    data_folder,
    sample_project,
    untrained_sample,
)
from engine.settings import TRAINING_PRESETS, training_settings
from engine.text.model import InputError
from tests.support.finished_runs import end_job, make_project
from tests.support.pages import caption_text as captions
from tests.support.pages import checked, open_page, progress, table
from tests.support.pages import html as texts
from tests.support.small_project import PRIORS, make_small_project, tiny_request
from tests.support.waiting import wait_until
from ui.parts import sidebar, variants, wording
from ui.views.train import form as train_form
from ui.views.train import live as train_live
from ui.views.train import page as train
from ui.views.train import state as state

EPOCH = {"risk": 0.5, "positive": 0.3, "negative": 0.2, "bounded": 0.1, "seconds": 2.0}


@pytest.fixture
def started(monkeypatch):
    """The requests that the page started; no process starts."""
    asked = []

    def start(project, request):
        asked.append(request)
        return jobs.create(project, request)

    monkeypatch.setattr(train.jobs, "start", start)
    return asked


def show(project):
    return checked(open_page("train", project.id).run())


def begin(project, request=None):
    """A run whose process is this one: it is alive, so the run counts as running."""
    job = jobs.create(project, request or jobs.TrainRequest(preset="quick"))
    report = Report(project.folder, job)
    report.claim()
    assert report.begin()
    return report


def report_epochs(report, method="mpn", stage="training", count=3, total=12):
    rows = [
        {"method": method, "stage": stage, "epoch": i, "epochs": total, **EPOCH}
        | {"tokens_per_second": 1_000.0}
        for i in range(1, count + 1)
    ]
    report.epochs(rows, stage=stage, method=method, share=0.25, seconds_left=42.0)


# ---- before a run ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "phrases", "said"),
    [
        (b"", b"gout\n", "No text yet."),
        (b"He had gout.\n", b"", "No dictionaries yet."),
        (b"He had gout.\n", b"measles\n", "The dictionaries match nothing in this text"),
    ],
    ids=["no text", "no dictionary", "no match"],
)
def test_page_says_what_is_missing(text, phrases, said):
    project = create_project("Half")
    if text:
        project.add_text([SourceFile("notes.txt", text)])
    if phrases:
        project.add_dictionaries([SourceFile("Disease.txt", phrases)])
    page = show(project)
    assert said in texts(page)
    assert not page.button


def test_page_estimates_the_work_of_a_run_before_it_starts():
    page = show(untrained_sample())
    shown = texts(page)
    assert "<b>17,605</b> tokens in <b>793</b> sentences" in shown
    assert "Chemical</mark> 642" in shown and "Disease</mark> 983" in shown
    # 793 sentences are 25 batches of 32. Each method trains a tagger and its student, 12 epochs
    # each: 3 * 24 * 25 steps. Conf-MPU has five rounds before them.
    assert "Epochs: MPN 24 · MPU 24 · Conf-MPU 29<br>1,800 steps in total" in shown
    assert "<b>Roughly " in shown and "not measured here yet" in shown
    assert "No runs yet" in captions(page)
    assert page.code[-1].value == "glossa train --project sample --preset balanced"


def test_a_new_project_knows_the_time_that_another_one_measured():
    settings = training_settings("balanced")
    keep_speeds(data_folder(), settings, [Speed("mpn", "training", 17_605.0)])
    assert "</b> on this machine, as measured" in texts(show(sample_project()))


def test_a_run_starts_with_what_was_chosen(started):
    page = show(untrained_sample())
    page.checkbox(key="train_method_mpn").uncheck()
    page.radio(key="train_preset").set_value("quick")
    checked(page.run())
    page.number_input(key="train_epochs_quick_bilstm").set_value(3)
    page.number_input(key="train_entity_weight_quick_bilstm").set_value(2.0)
    page.selectbox(key="train_loss_quick_bilstm").set_value("gce")
    page.number_input(key="train_seed").set_value(7)
    checked(page.run())
    assert page.code[-1].value == (
        "glossa train --project sample --preset quick --methods mpu,conf_mpu --seed 7 "
        "--set epochs=3 entity_weight=2.0 loss=gce"
    )
    checked(page.button(key="train_start").click().run())
    assert started == [
        jobs.TrainRequest(
            ("mpu", "conf_mpu"),
            "quick",
            settings={"epochs": 3, "entity_weight": 2.0, "loss": "gce"},
            seed=7,
        )
    ]
    assert page.info[0].value == "The run has started\\."


def test_a_comparison_on_hidden_phrases_is_asked_for_by_a_checkbox(started):
    page = show(untrained_sample())
    assert "Roughly" in texts(page) and "--hide" not in page.code[-1].value
    checked(page.checkbox(key="train_hidden").check().run())
    assert page.code[-1].value == "glossa train --project sample --preset balanced --hide 0.1"
    checked(page.button(key="train_start").click().run())
    assert [request.hide for request in started] == [0.1]


# ---- letter case and abbreviations ----------------------------------------------------------


def test_page_says_what_letter_case_and_abbreviations_add_and_shows_them_when_opened():
    project = untrained_sample()
    page = show(project)
    assert (
        "Disease: letter case is ignored, 108 labels added; Chemical: letter case is ignored, 100 "
        "labels added; 30 abbreviations, 47 labels added."
    ) in captions(page)
    assert not [frame for frame in page.dataframe if "short" in frame.value]
    page.session_state["train_variants"] = True
    checked(page.run())
    assert table(page, "letter_case")["By letter case"].tolist() == [100, 108]
    key = f"table_abbreviations_{project.labels_key()}"
    page.session_state[key] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    checked(page.run())
    checked(page.button(key="variants_mute").click().run())
    assert project.dictionary_history()[0].reason == "Muted “ATRA”"
    assert "30 abbreviations, 43 labels added, 1 muted." in captions(page)


def test_page_offers_adaptive_matching_to_a_project_with_another(monkeypatch):
    project = untrained_sample()
    project.set_match_preset("balanced")
    page = show(project)
    assert "Matching is balanced. Adaptive matching would add 47 labels." in captions(page)
    assert not [button for button in page.button if button.key == "variants_switch"]
    page.session_state["train_variants"] = True
    checked(page.run())
    checked(page.button(key="variants_switch").click().run())
    assert project.match_preset() == "adaptive"
    assert "30 abbreviations" in captions(page)
    # A large text is matched again only when someone asks for it.
    project.set_match_preset("strict")
    monkeypatch.setattr(variants, "SMALL", 10)
    monkeypatch.setattr(variants.state, "advice", None)
    assert "Matching is strict. See what adaptive matching would change." in captions(show(project))


def test_the_line_names_the_types_with_most_labels():
    phrases = {f"Type{i}.txt": b"gout\n" if i == 4 else f"word{i}\n".encode() for i in range(5)}
    page = show(
        make_project(b"Gout. Word0 and word1, word2, word3, word4.\n", dictionaries=phrases)
    )
    assert "Type4: letter case is ignored, 1 label added; " in captions(page)
    assert "; 2 more types; no abbreviations." in captions(page)


def test_every_preset_is_explained():
    [preset] = [radio for radio in show(untrained_sample()).radio if radio.label == "Preset"]
    assert list(preset.proto.captions) == [wording.TRAINING_PRESETS[o] for o in TRAINING_PRESETS]
    assert all(len(text) <= 90 for text in preset.proto.captions)  # one line


def test_other_methods_are_off_until_they_are_chosen(started):
    page = show(untrained_sample())
    others = ("bnpu", "early_stopped", "autoner", "supervised")
    assert not any(page.checkbox(key=f"train_method_{name}").value for name in others)
    for name in ("mpn", "mpu"):
        page.checkbox(key=f"train_method_{name}").uncheck()
    page.checkbox(key="train_method_autoner").check()
    page.radio(key="train_preset").set_value("quick")
    checked(page.run())
    assert METHODS["autoner"].help in texts(page)
    assert page.code[-1].value == (
        "glossa train --project sample --preset quick --methods conf_mpu,autoner"
    )
    checked(page.button(key="train_start").click().run())
    assert started == [jobs.TrainRequest(("conf_mpu", "autoner"), "quick")]


def test_the_supervised_reference_is_offered_with_gold_only():
    page = show(make_small_project(has_gold=False))
    assert "train_method_autoner" in [box.key for box in page.checkbox]
    assert "train_method_supervised" not in [box.key for box in page.checkbox]


def test_another_preset_brings_its_own_settings():
    page = show(untrained_sample())
    assert page.number_input(key="train_epochs_balanced_bilstm").value == 12
    page.radio(key="train_preset").set_value("paper").run()
    assert page.number_input(key="train_epochs_paper_bilstm").value == 100
    page.segmented_control(key="train_encoder").set_value("transformer").run()
    assert page.number_input(key="train_epochs_paper_transformer").value == 5


def test_the_context_can_be_switched_off_and_on(started):
    page = show(untrained_sample())
    assert page.checkbox(key="train_context_balanced_bilstm").value
    checked(page.checkbox(key="train_context_balanced_bilstm").uncheck().run())
    assert page.code[-1].value.endswith("--preset balanced --set contextual_layer=0")
    checked(page.radio(key="train_preset").set_value("paper").run())
    assert not page.checkbox(key="train_context_paper_bilstm").value  # the paper has none
    checked(page.checkbox(key="train_context_paper_bilstm").check().run())
    assert page.code[-1].value.endswith("--preset paper --set contextual_layer=3")
    checked(page.segmented_control(key="train_encoder").set_value("transformer").run())
    assert "train_context_paper_transformer" not in [box.key for box in page.checkbox]


def test_nothing_can_be_started_without_a_method():
    page = show(untrained_sample())
    for method in ("mpn", "mpu", "conf_mpu"):
        page.checkbox(key=f"train_method_{method}").uncheck()
    checked(page.run())
    assert page.button(key="train_start").disabled and page.button(key="train_measure").disabled
    assert "Choose at least one method." in captions(page)


def test_few_labels_give_a_warning_and_a_type_without_labels_prevents_the_start():
    project = make_project()
    page = show(project)
    shown = [warning.value.replace("\\", "") for warning in page.warning]
    assert shown[0] == ("Chemical has 1 labeled tokens; with fewer than 20 results are unstable.")
    project.add_dictionaries([SourceFile("Gene.txt", b"TP53\n")])
    page = open_page("train", project.id).run()
    assert page.error[0].value.replace("\\", "") == (
        "Gene has no labeled token. Add phrases of that type, or leave the type out."
    )
    assert page.button(key="train_start").disabled


def test_the_speed_is_measured_with_the_same_settings_and_gives_the_time(started):
    project = untrained_sample()
    page = show(project)
    checked(page.button(key="train_measure").click().run())
    assert [jobs.kind_of(request) for request in started] == ["probe"]
    assert page.button(key="train_measure").label == "Measuring …"
    assert page.button(key="train_measure").disabled
    assert not page.button(key="train_start").disabled  # a measurement does not block a run


def test_decisions_can_be_learned_from(started):
    project = make_project()
    assert "train_decisions" not in [box.key for box in show(project).checkbox]
    project.add_decision("check", "notes", 7, 11, "Disease", "accepted", surface="gout")
    project.add_decision("review", "notes", 40, 44, "Chemical", "unsure", surface="Lead")
    page = show(project)
    assert page.checkbox(key="train_decisions").label == "Learn from your 1 decision"
    assert page.code[-1].value.endswith("--use-decisions")
    page.button(key="train_start").click().run()
    assert started[0].use_decisions


# ---- priors ---------------------------------------------------------------------------------


def test_priors_are_estimated_on_request_and_kept_until_the_labels_change():
    project = make_small_project()
    page = show(project)
    assert table(page, "prior")["source"].tolist() == ["estimated when the run starts"] * 2
    checked(page.button(key="train_estimate").click().run())
    first = table(page, "prior")
    assert first["source"].tolist() == ["estimated"] * 2
    assert (first["prior"] >= first["labeled"] - 1e-9).all()
    assert table(show(project), "prior")["prior"].tolist() == first["prior"].tolist()
    project.set_match_preset("loose")
    assert table(show(project), "prior")["source"].tolist() == ["estimated when the run starts"] * 2


def edit_priors(page, project, *values):
    known = tuple(state.priors(project))
    key = f"train_priors_{project.labels_key()}_{hash(known)}"
    edited = {i: {"prior": value} for i, value in enumerate(values)}
    page.session_state[key] = {"edited_rows": edited, "added_rows": [], "deleted_rows": []}
    return page.run()


def test_given_priors_are_used_for_training(started):
    project = make_small_project()
    page = checked(edit_priors(show(project), project, 12.5, 20.0))
    assert page.code[-1].value.endswith("--preset balanced --priors Disease=0.125 Drug=0.2")
    page.button(key="train_start").click().run()
    assert started[0].priors == {"Disease": 0.125, "Drug": 0.2}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((60.0, 53.0), "Priors must be > 0 and sum to < 1 (now 1.13)."),
        ((12.5,), "Drug has no prior. Give one for each type, or estimate them."),
    ],
    ids=["too much", "one is missing"],
)
def test_impossible_priors_are_refused(values, said):
    project = make_small_project()
    page = edit_priors(show(project), project, *values)
    assert page.error[0].value.replace("\\", "") == said
    assert page.button(key="train_start").disabled


def test_unchanged_estimates_are_not_sent_with_the_run():
    known = [state.Prior("Drug", 0.1, 0.123456789, "estimated")]
    assert state.chosen_priors(known, {"Drug": 0.123456789}) is None
    assert state.chosen_priors(known, {"Drug": 0.2}) == {"Drug": 0.2}
    assert state.chosen_priors(known, {"Drug": None}) is None
    with pytest.raises(InputError, match="sum to < 1"):
        state.chosen_priors(known, {"Drug": 1.5})


# ---- while it runs --------------------------------------------------------------------------


def test_a_run_in_progress_is_shown_with_its_stages_and_curves():
    project = untrained_sample()
    epochs = {"epochs": 12, "confidence_epochs": 8}
    report = begin(project, jobs.TrainRequest(preset="quick", settings=epochs))
    report_epochs(report, "mpn", count=3)
    report_epochs(report, "conf_mpu", "confidence", count=8, total=8)
    page = show(project)
    assert progress(page).startswith("25 % · Conf-MPU: estimating the confidence")
    assert progress(page).endswith("so far · about 42 s left")
    assert "You can close this page" in captions(page)
    stages = texts(page).partition('<ol class="gl-stages">')[2].partition("</ol>")[0]
    assert 'aria-label="done">✓</span> Labels and priors' in stages
    assert 'aria-label="running">●</span> MPN: tagger 25 %' in stages
    assert 'aria-label="done">✓</span> Conf-MPU: confidence' in stages
    assert 'aria-label="waiting">○</span> Find and score entities' in stages
    assert len(page.get("plotly_chart")) >= 4  # risk, two parts, bound, and the confidence's risk


def test_a_run_that_has_no_epoch_yet_says_so():
    project = untrained_sample()
    begin(project)
    page = show(project)
    assert "Appears after the first epoch." in captions(page)
    assert not page.get("plotly_chart")


def test_the_confidence_is_drawn_once_it_is_known():
    project = untrained_sample()
    report = begin(project)
    bins = [{"low": 0.0, "high": 0.5, "labeled": 1, "unlabeled": 90}]
    bins += [{"low": 0.5, "high": 1.0, "labeled": 9, "unlabeled": 10}]
    report.fact("confidence_histogram", bins)
    page = show(project)
    assert "Labeled tokens should be on the right" in captions(page)
    assert "Against gold" not in captions(page)
    figures = {"precision": 0.52, "recall": 0.293, "f1": 0.375}
    report.fact("confidence_scores", {"unlabeled": figures, "all": figures})
    assert (
        "Against gold: of the unlabeled tokens above the threshold, 52.0 % are part of an entity; "
        "of all unlabeled tokens that are part of an entity, 29.3 % are above it."
    ) in captions(show(project))


def test_a_second_run_is_queued_and_can_be_removed(started):
    project = untrained_sample()
    begin(project)
    page = show(project)
    assert page.button(key="train_start").label == "Queue this run"
    assert "A run is in progress (started just now)" in captions(page)
    checked(page.button(key="train_start").click().run())
    [waiting] = [job for job in jobs.list_jobs(project) if job.state == "queued"]
    assert "Waiting: balanced run of MPN, MPU, Conf-MPU" in captions(page)
    checked(page.button(key=f"train_cancel_{waiting.id}").click().run())
    assert jobs.get_job(project, waiting.id).state == "stopping"


def test_cancel_asks_the_run_to_stop():
    project = untrained_sample()
    report = begin(project)
    page = show(project)
    checked(page.button(key="train_cancel").click().run())
    assert report.state() == "stopping"
    assert progress(page) == "Stopping; finished epochs are kept"
    assert page.button(key="train_cancel").disabled
    report.finish("cancelled", "Stopped. Finished epochs are kept; Resume goes on from there.")
    page = show(project)
    assert page.info[0].value.replace("\\", "").startswith("The latest run was cancelled. Stopped.")
    assert page.button(key="train_resume")


def test_a_run_may_end_while_its_page_is_drawn(monkeypatch):
    project = untrained_sample()
    report = begin(project)
    report_epochs(report)
    drawn = train_live.show

    def draw_and_end(project):
        drawn(project)
        report.finish("done", "")

    monkeypatch.setattr(train_live, "show", draw_and_end)
    assert "gl-stages" in texts(show(project))


def test_a_click_works_if_the_run_ends_between_sidebar_and_page(monkeypatch):
    project = untrained_sample()
    report = begin(project)
    drawn = sidebar.show

    def draw_and_end(groups):
        drawn(groups)
        report.finish("cancelled", "Stopped.")

    with monkeypatch.context() as once:
        once.setattr(sidebar, "show", draw_and_end)
        page = show(project)
    asked = []
    monkeypatch.setattr(train_live.jobs, "resume", lambda project, id: asked.append(id))
    page.button(key="train_resume").click().run()
    assert asked == [report.job.id]


def test_a_click_works_if_the_run_ends_while_it_is_handled(monkeypatch, started):
    project = untrained_sample()
    report = begin(project)
    page = show(project)
    training_job = train_live.training_job

    def find_and_end(project):
        job = training_job(project)
        if job is not None:
            report.finish("done")
        return job

    monkeypatch.setattr(train_live, "training_job", find_and_end)
    page.button(key="train_start").click().run()
    assert len(started) == 1


def test_page_says_that_a_run_would_wait_for_a_curve():
    project = untrained_sample()
    begin(project, jobs.CurveRequest(preset="quick"))
    page = show(project)
    assert page.info[0].value.startswith("Coverage curves are in progress")
    assert page.button(key="train_start").label == "Queue this run"


@pytest.mark.parametrize(("end", "box"), [("failed", "error"), ("interrupted", "warning")])
def test_an_unfinished_run_says_why_and_can_be_resumed(monkeypatch, end, box):
    project = untrained_sample()
    job = end_job(project, jobs.create(project, jobs.TrainRequest()), end, "the disk is *full*")
    page = open_page("train", project.id).run()
    assert not page.exception
    said = getattr(page, box)[0].value
    became = {"failed": "failed", "interrupted": "was interrupted"}[end]
    assert said == f"The latest run {became}\\. The disk is \\*full\\*\\."
    asked = []
    monkeypatch.setattr(train_live.jobs, "resume", lambda project, id: asked.append(id))
    page.button(key="train_resume").click().run()
    assert asked == [job.id]


def test_the_log_is_shown_as_text():
    project = untrained_sample()
    report = begin(project)
    (report.job.folder / "log.txt").write_text("# not a heading <b>", encoding="utf-8")
    assert "# not a heading <b>" in [code.value for code in show(project).code]


# ---- history --------------------------------------------------------------------------------


def finished(project, request, f1=None):
    report = begin(project, request)
    report_epochs(report, count=12)
    if f1 is not None:
        overall = {"precision": 0.9, "recall": 0.6, "f1": f1, "predicted": 9, "support": 12}
        report.fact("scores", {"mpn": {"overall": overall}})
    report.fact(
        "priors",
        [{"entity_type": "Drug", "value": 0.1, "source": "given", "labeled_share": 0.05}],
    )
    report.finish("done")
    return report.job


def test_history_lists_runs_with_their_scores_and_shows_the_latest_in_full():
    project = make_small_project()
    job = finished(project, tiny_request(), f1=0.72)
    page = show(project)
    row = table(page, "f1_mpn").iloc[0]
    assert row[["id", "state", "preset", "methods", "dictionaries"]].tolist() == [
        job.id,
        "Done",
        "Quick",
        "MPN",
        "v1",
    ]
    assert row["f1_mpn"] == pytest.approx(72)
    assert f"Run {job.id}" in texts(page)
    assert table(page, "labeled_share")["value"].tolist() == [10.0]
    shown = next(frame.value for frame in page.dataframe if list(frame.value) == ["what", "value"])
    settings = dict(zip(shown["what"], shown["value"], strict=True))
    assert settings["Hidden size"] == "8"
    assert settings["Priors"] == "Disease 10.00 %, Drug 10.00 %"
    assert page.success[0].value.startswith("The latest run is done.")


def test_two_runs_are_compared_by_what_differs():
    project = make_small_project()
    first = finished(project, tiny_request(), f1=0.72)
    finished(project, tiny_request(seed=3, settings={"epochs": 5}), f1=0.5)
    page = show(project)
    checked(page.selectbox(key="history_other").set_value(first.id).run())
    differences = table(page, "first")
    assert differences.values.tolist() == [
        ["Seed", "3", "0"],
        ["Epochs", "5", "2"],
        ["F1 of MPN (%)", "50.0", "72.0"],
    ]


def test_page_says_when_two_runs_have_the_same_settings():
    project = make_small_project()
    first, second = (finished(project, tiny_request()) for _ in range(2))
    assert state.differences(project, first, second).empty
    page = show(project)
    page.selectbox(key="history_other").set_value(first.id).run()
    assert "The two runs have the same settings and scores." in [info.value for info in page.info]


def test_a_run_of_older_dictionaries_says_so():
    project = make_small_project()
    finished(project, tiny_request())
    project.add_dictionaries([SourceFile("More.csv", b"term,label\nxyz,Drug\n")])
    page = show(project)
    assert table(page, "dictionaries")["dictionaries"].tolist() == ["v1 (now v2)"]
    assert "The text, dictionaries or matching have changed since." in captions(page)


def test_a_run_can_be_deleted():
    project = make_small_project()
    job = finished(project, tiny_request())
    page = show(project)
    checked(page.button(key="history_delete").click().run())
    assert jobs.list_jobs(project) == []
    assert not job.folder.exists()
    assert "No runs yet" in captions(page)


def test_a_run_deleted_elsewhere_does_not_break_the_page():
    project = make_small_project()
    first = finished(project, tiny_request())
    second = finished(project, tiny_request())
    page = show(project)
    page.selectbox(key="history_run").set_value(first.id).run()
    jobs.delete_job(project, first.id)
    checked(page.run())
    assert table(page, "state")["id"].tolist() == [second.id]


def test_markup_in_types_is_shown_as_text():
    project = create_project("x")
    project.add_text([SourceFile("a.txt", b"He had gout and gout.\n")])
    project.add_dictionaries([SourceFile("<b onclick=x>T.txt", b"gout\n")])
    page = show(project)
    assert "<b onclick" not in texts(page)
    assert "&lt;b onclick=x&gt;T" in texts(page)


# ---- for real -------------------------------------------------------------------------------


def test_a_tiny_run_goes_from_start_to_scores(monkeypatch):
    project = make_small_project()
    request = tiny_request(methods=("mpn", "autoner"))
    monkeypatch.setattr(train_form, "show", lambda project: (request, ""))
    page = show(project)
    checked(page.button(key="train_start").click().run())

    def is_over():
        checked(page.run())
        return not jobs.list_jobs(project)[0].is_active

    wait_until(is_over, "the end of the run", every=0.5)
    [job] = jobs.list_jobs(project)
    assert (job.state, job.message) == ("done", "")
    checked(page.run())
    assert "AutoNER: tagger" in texts(page)
    assert table(page, "f1_mpn")[["f1_mpn", "f1_autoner"]].notna().all(axis=None)
    for name in ("compare", "review", "export", "predict"):
        checked(open_page(name, project.id).run())
    compared = open_page("compare", project.id).run()
    assert "autoner" in compared.pills[0].value
    assert set(PRIORS) == set(table(page, "labeled_share")["entity_type"])


def test_pages_can_be_opened_while_rows_are_written():
    project = untrained_sample()
    report = begin(project)
    with writing(project.folder):  # another process is in the middle of a write
        page = open_page("train", project.id).run()
    assert not page.exception
    report.finish("done")


# ---- transformers ---------------------------------------------------------------------------


def test_the_menu_of_transformers_begins_with_the_one_that_comes_along(started):
    page = show(untrained_sample())
    menu = page.selectbox(key="train_transformer")
    assert menu.value == "minilm" and menu.options[-1] == "A folder of your own"
    assert "BioClinical ModernBERT (English)" in menu.options
    assert "encoder_name" not in page.code[-1].value


def test_the_menu_says_which_transformers_know_the_language(started):
    project = untrained_sample()
    project.set_language("de")
    page = show(project)
    menu = page.selectbox(key="train_transformer")
    assert "MiniLM (English, not German)" in menu.options
    assert "XLM-RoBERTa (100 languages, with German)" in menu.options
    assert "General text; English, not German; built in" in captions(page)


def test_a_transformer_that_is_not_here_is_downloaded_on_request(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "ui.views.train.encoder.subprocess.Popen", lambda command, **_: asked.append(command)
    )
    page = show(untrained_sample())
    name = "FacebookAI/roberta-base"
    page.selectbox(key="train_transformer").set_value(name).run()
    assert [error.value for error in page.error] == [
        "Download RoBERTa first\\, or choose MiniLM\\."
    ]
    assert "about 500 MB to download; license MIT" in captions(page)
    page.button(key="train_download_FacebookAI--roberta-base").click().run()
    assert asked[0][-4:] == ["encoders", "--download", name, "--note"]
    assert page.button(key="train_start").disabled


def test_a_downloaded_transformer_and_a_folder_of_ones_own_are_used(tmp_path):
    from engine.projects import data_folder

    project = untrained_sample()
    here = data_folder() / ".encoders" / "FacebookAI--roberta-base"
    for folder in (here, tmp_path / "mine"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"")
    page = show(project)
    page.selectbox(key="train_transformer").set_value("FacebookAI/roberta-base").run()
    assert f"encoder_name={here}" in page.code[-1].value
    page.selectbox(key="train_transformer").set_value("own").run()
    assert page.button(key="train_start").disabled
    checked(page.text_input(key="train_own_encoder").set_value(str(tmp_path / "mine")).run())
    assert f"encoder_name={tmp_path / 'mine'}" in page.code[-1].value
