"""On a fresh machine, every page of the sample project shows a result at once."""

import pytest

from engine import jobs
from engine.projects.workspace import open_project
from tests.support.pages import checked, html, open_page, progress, table

NOTHING = ('class="gl-empty"', "Nothing is trained", "No runs yet")


def show(name, **state):
    page = open_page(name, "sample")
    for key, value in state.items():
        page.session_state[key] = value
    return checked(page.run())


@pytest.mark.parametrize(
    "name", ["text", "dictionaries", "labels", "train", "compare", "curves", "review", "predict"]
)
def test_no_page_says_that_there_is_nothing_yet(name):
    page = show(name)
    said = html(page) + " ".join(caption.value for caption in page.caption)
    assert not [words for words in NOTHING if words in said]
    assert not page.warning


def test_compare_shows_the_scores_of_three_methods():
    scores = html(show("compare")).partition('<div class="gl-scores">')[2]
    for method in ("Conf-MPU", "MPU", "MPN"):
        assert f"</span>{method}</th>" in scores


def test_curves_show_a_chart():
    assert show("curves").get("plotly_chart")


def test_review_has_decided_items_and_the_next_one():
    page = show("review")
    assert int(progress(page).partition(" of 50, ")[0]) >= 12  # one may settle its neighbours
    assert any('class="gl-card"' in element.value for element in page.html)


def test_missing_names_are_listed():
    page = show("labels", labels_tab="Missing names")
    assert len(table(page, "margin")) > 20


def test_train_lists_the_run_with_its_epochs():
    page = show("train")
    assert page.get("plotly_chart")


def test_predict_shows_new_text_and_takes_more(monkeypatch):
    page = show("predict")
    [heading] = [h.value for h in page.subheader if "found" in h.value]
    assert heading.startswith("Conf-MPU found ")
    monkeypatch.setattr(jobs, "start", jobs.create)
    page.text_area(key="predict_text").set_value("She took lithium for mania.")
    checked(page.button(key="predict_start").click().run())
    assert len(jobs.list_jobs(open_project("sample"), "predict")) == 2
