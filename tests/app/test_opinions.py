"""What another system found is a lane in Compare and an opinion in Review."""

import pytest

from engine.files.sources import SourceFile
from tests.support.finished_runs import finish_run, make_project
from tests.support.pages import checked, html, open_page, plain, press
from tests.support.waiting import wait_until
from ui.views.review import state as review

# "He had gout and chronic kidney disease. Lead was found. Nothing else."
OPINION = b"doc_id,start,end,label\nnotes,7,11,Disease\nnotes,56,63,Person\n"


@pytest.fixture
def project():
    return make_project()


def show(project, page="compare", **state):
    app = open_page(page, project.id)
    for key, value in state.items():
        app.session_state[key] = value
    return checked(app.run())


def add(page, name, data=OPINION):
    [uploader] = [u for u in page.file_uploader if u.label == "Add an opinion"]
    page = checked(uploader.set_value([("p.csv", data, "text/csv")]).run())
    [box] = [box for box in page.text_input if box.label == "Name"]
    return press(checked(box.set_value(name).run()), "Save")


def test_an_opinion_is_added_shown_as_a_lane_and_removed(project):
    finish_run(project)
    page = checked(add(show(project, compare_opinions=True), "Anna"))
    assert "Saved 2 entities as the opinion Anna" in plain(page.success[0].value)
    page = show(project, compare_tab="Sentences", compare_kind_1="All")
    assert "Anna: Person" in html(page)
    assert "Anna" in [plain(str(option)) for option in page.pills[0].options]
    for tab in ("Overview", "Agreement", "Types", "Certainty", "Two runs"):
        show(project, compare_tab=tab)
    page = checked(press(show(project, compare_opinions=True), "Use as labels"))
    assert project.dictionaries()[-1].name == "Anna (opinion)"
    page = checked(press(show(project, compare_opinions=True), "Remove"))
    assert project.opinions() == []


def test_without_a_run_an_opinion_is_compared_with_the_dictionaries(project):
    page = add(show(project, compare_opinions=True), "Anna")
    for tab in ("Overview", "Agreement", "Sentences", "Types", "Certainty", "Two runs"):
        page = show(project, compare_tab=tab)
        assert "Anna" in [plain(str(option)) for option in page.pills[0].options]


def test_offsets_that_do_not_fit_are_explained_and_nothing_is_kept(project):
    page = add(show(project, compare_opinions=True), "Anna", OPINION.replace(b"7,11", b"8,999"))
    assert "lies outside document" in plain(page.error[0].value)
    assert project.opinions() == []


def test_an_opinion_is_reviewed_like_what_a_method_finds(project):
    finish_run(project)
    project.add_opinion("Anna", [SourceFile("p.csv", OPINION)])
    page = show(project, "review")
    assert "Anna" in html(page)
    [job] = review.findings.runs(project)
    items = review._items(project, job)
    assert "Anna" in items.methods and items.methods[-1] == "dictionary"
    found = {item.text: item.method for item in items}
    assert found["Nothing"] == "Anna"


def test_a_large_opinion_is_read_by_a_process_of_its_own(project, monkeypatch):
    monkeypatch.setattr("ui.state.uploads.is_read_at_once", lambda files: False)
    finish_run(project)
    page = add(show(project, compare_opinions=True), "Anna")
    wait_until(lambda: not page.run().get("progress"), "it is saved", every=0.2)
    assert [opinion.name for opinion in project.opinions()] == ["Anna"]
