"""Likely names on the pages Distant labels, Train and Review; no search runs here."""

import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.reports import Report
from engine.projects.workspace import create_project, untrained_sample
from engine.review.items import DICTIONARY
from tests.support.finished_runs import end_job
from tests.support.likely import keep_words
from tests.support.pages import caption_text as captions
from tests.support.pages import checked, open_page, plain, press, table
from tests.support.pages import html as texts
from ui.state import likely
from ui.state.review_setup import setup
from ui.views.review import state as review_state
from ui.views.train import form as train_form

TEXT = (
    b"He had gout. Later, renal failure came with gout. Lead was found, and cadmium. "
    b"Cadmium is bad. Renal failure ended.\n"
)
WORDS = {
    "renal": ("Disease", 0.9),
    "failure": ("Disease", 0.9),
    "Renal": ("Disease", 0.9),
    "cadmium": ("Chemical", 0.8),
    "Cadmium": ("Chemical", 0.7),
}


@pytest.fixture
def project():
    project = create_project("Own")
    project.add_text([SourceFile("notes.txt", TEXT)])
    project.add_dictionaries(
        [SourceFile("Disease.txt", b"gout\n"), SourceFile("Chemical.txt", b"lead\n")]
    )
    return project


@pytest.fixture
def searched(monkeypatch):
    """The searches that a page started; no process starts."""
    asked = []

    def start(project, request):
        asked.append(request)
        return jobs.create(project, request)

    monkeypatch.setattr(likely.jobs, "start", start)
    return asked


def show_labels(project):
    page = open_page("labels", project.id)
    page.session_state["labels_tab"] = "Missing names"
    return checked(page.run())


def select(page, project, rows):
    key = f"table_likely_{project.labels_key()}"
    page.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    return checked(page.run())


def has_table(page):
    return any("margin" in frame.value for frame in page.dataframe)


# ---- distant labels -------------------------------------------------------------------------


def test_before_a_search_the_tab_offers_it_and_lists_frequent_words(searched):
    page = show_labels(untrained_sample())
    assert not has_table(page)
    assert table(page, "count")["phrase"].tolist()[:2] == ["mirtazapine", "encephalopathy"]
    checked(page.button(key="missing_find").click().run())
    assert searched == [jobs.SuggestRequest()]


def test_a_running_search_shows_its_progress_and_can_be_cancelled(project):
    job = jobs.create(project, jobs.SuggestRequest())
    report = Report(project.folder, job)
    report.claim()
    assert report.begin()
    report.progress(stage="context", share=0.4)
    page = show_labels(project)
    shown = [plain(bar.proto.text) for bar in page.get("progress")]
    assert "40 % · Encoding the text with the frozen encoder" in shown
    assert not [button for button in page.button if button.key == "missing_find"]
    page.button(key="missing_cancel").click().run()
    assert report.state() == "stopping"


def test_a_failed_search_says_why(project):
    job = jobs.create(project, jobs.SuggestRequest())
    end_job(project, job, "failed", "the disk is full")
    page = open_page("labels", project.id)
    page.session_state["labels_tab"] = "Missing names"
    page.run()
    assert [plain(error.value) for error in page.error] == ["The disk is full."]
    assert page.button(key="missing_find")


def test_names_are_listed_and_added_to_a_dictionary(project):
    keep_words(project, WORDS)
    page = show_labels(project)
    rows = table(page, "margin")
    assert set(rows["phrase"].str.lower()) == {"renal failure", "cadmium"}
    assert rows["entity_type"].tolist() == ["Disease", "Chemical"]
    assert rows["places"].tolist() == [2, 2]
    assert page.button(key="missing_add").disabled and page.button(key="missing_send").disabled
    page = select(page, project, [0])
    assert page.button(key="missing_add").label == "Add 1 name to the dictionaries"
    checked(page.button(key="missing_add").click().run())
    [added] = [d for d in project.dictionaries() if d.name == "From suggestions"]
    assert [(p.text.lower(), p.entity_type) for p in added.phrases] == [
        ("renal failure", "Disease")
    ]
    # The list stays, without what was added, and offers a new search.
    page = show_labels(project)
    assert set(table(page, "margin")["phrase"].str.lower()) == {"cadmium"}
    assert "changed since this search" in captions(page)
    assert page.button(key="missing_find").label == "Search again"


def test_a_fresh_search_offers_no_other(project):
    keep_words(project, WORDS)
    page = show_labels(project)
    assert not [button for button in page.button if button.key == "missing_find"]


def test_another_text_makes_the_names_disappear(project):
    keep_words(project, WORDS)
    project.add_text([SourceFile("more.txt", b"More text.\n")])
    assert not has_table(show_labels(project))


def test_without_likely_names_the_tab_says_so(project):
    keep_words(project, {})
    assert show_labels(project).info[0].value.startswith("No likely name is missing")


# ---- review ---------------------------------------------------------------------------------


def test_names_that_are_sent_to_review_are_asked_about_there(project):
    keep_words(project, WORDS)
    assert len(review_state.queue(project, None, setup(project))) == 0
    page = select(show_labels(project), project, [0])
    checked(page.button(key="missing_send").click().run())
    assert setup(project).order == "unseen"
    items = review_state.queue(project, None, setup(project))
    assert [(item.text, item.method) for item in items] == [
        ("renal failure", "likely"),
        ("Renal failure", "likely"),
    ]
    page = checked(open_page("review", project.id).run())
    assert "Likely name" in texts(page)
    review_state.decide(project, items[0], "rejected", "unseen")
    assert set(likely.table(project)["phrase"].str.lower()) == {"cadmium"}


def test_names_in_review_do_not_change_where_methods_disagree(project):
    keep_words(project, WORDS)
    likely.send(project, [("cadmium", "Chemical")])
    items = review_state._items(project, None)
    assert items.methods == (DICTIONARY, "likely")
    assert len(review_state.queue(project, None, setup(project))) == 0


# ---- train ----------------------------------------------------------------------------------


def show_train(project, preset="balanced", model="linear"):
    page = checked(open_page("train", project.id).run())
    page.radio(key="train_preset").set_value(preset)
    checked(page.run())
    page.selectbox(key=f"train_confidence_model_{preset}_bilstm").set_value(model)
    return checked(page.run())


def keys(page):
    widgets = (*page.slider, *page.button, *page.number_input)
    return {widget.key for widget in widgets}


def test_before_a_search_the_page_offers_it(project, searched):
    page = show_train(project)
    assert not page.slider
    checked(page.button(key="train_likely_find").click().run())
    assert searched == [jobs.SuggestRequest()]


def test_with_a_network_there_is_no_slider(project):
    keep_words(project, WORDS)
    page = show_train(project, model="network")
    assert not page.slider and "train_likely_find" not in keys(page)
    assert {"train_confidence_epochs_balanced_bilstm",
            "train_confidence_threshold_balanced_bilstm"} <= keys(page)  # fmt: skip


def test_the_slider_cuts_the_confidence_and_sets_the_share(project):
    tokens = keep_words(project, WORDS)
    page = show_train(project)
    assert "train_confidence_epochs_balanced_bilstm" not in keys(page)
    assert "train_confidence_threshold_balanced_bilstm" not in keys(page)
    share = 100 * 6 / tokens.open_count
    assert f"About <b>6</b> unlabeled tokens are likely entities (<b>{share:.1f} %" in texts(page)
    assert "Just left out: <i>Cadmium, cadmium" in texts(page)
    assert "confidence_share" not in page.code[-1].value
    [slider] = page.slider
    slider.set_value(0.5)
    checked(page.run())
    assert "About <b>3</b> unlabeled tokens" in texts(page)
    assert "Just kept as non-entities: <i>" in texts(page)
    assert "confidence_share=0.5" in page.code[-1].value


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        (0.2, "About <b>8</b> unlabeled tokens"),  # (0.4 - 3 / 27) / (1 - 3 / 27) of 24
        (0.01, "the dictionaries already label all entities"),
    ],
)
def test_given_priors_move_the_cut(project, monkeypatch, prior, said):
    tokens = keep_words(project, WORDS)
    assert (len(tokens), tokens.open_count) == (27, 24)
    given = {"Chemical": prior, "Disease": prior}
    monkeypatch.setattr(train_form, "show_priors", lambda _: (given, ""))
    page = show_train(project)
    assert said in texts(page) + captions(page)


def test_train_leads_to_the_tab_of_all_likely_names(project):
    keep_words(project, WORDS)
    page = checked(press(show_train(project), "See all likely names"))
    assert has_table(page)


def test_an_outdated_search_is_offered_again(project):
    keep_words(project, WORDS)
    project.add_phrases([("cadmium", "Chemical")])
    page = show_train(project)
    assert not page.slider
    assert press(page, "Find likely missing names")


def test_few_labeled_words_are_a_warning(project):
    page = checked(open_page("train", project.id).run())
    warnings = [plain(warning.value) for warning in page.warning]
    assert "Only 2 distinct words are labeled; a larger dictionary helps most." in warnings
