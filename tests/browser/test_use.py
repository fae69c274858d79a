"""Steps 8 to 10: review by keyboard, predict on new text, export entities and the project."""

import csv
import re

import pytest
from playwright.sync_api import expect

from engine import jobs
from engine.projects.workspace import list_projects
from tests.browser import journey
from tests.browser.steps import (
    choose_row,
    download,
    follow,
    main,
    open_tab,
    press,
    see_page,
    settle,
    upload,
)

pytestmark = pytest.mark.browser

PASTED = "A 😀 patient with gout took ibuprofen.\nThen lithium, valproate and again ibuprofen.\n"


@pytest.fixture(scope="module")
def page(visitor, trained):
    return visitor(f"review?project={trained.id}")


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts(project):
    return [decision.verdict for decision in project.decisions("review")]


def test_review_works_by_keyboard(page, trained):
    see_page(page, "Review")
    progress = main(page).get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"\d+ of \d+"))

    def decide(key, expected):
        """Press a key and return the text before it; one decision may settle several items."""
        before = progress.inner_text()
        page.keyboard.press(key)
        expect(progress).not_to_have_text(before)
        settle(page)
        assert verdicts(trained) == expected
        return before

    # A key works once its button exists, and buttons are drawn after the progress.
    expect(main(page).get_by_role("button", name=re.compile("^Accept"))).to_be_enabled()
    decide("y", ["accepted"])
    decide("n", ["accepted", "rejected"])
    types = main(page).get_by_role("button", name=re.compile(r"^\w+ Shortcut [12]$"))
    [other] = [button for button in types.all() if button.is_enabled()]
    before = decide(other.inner_text()[-1], ["accepted", "rejected", "edited"])
    decide("z", ["accepted", "rejected"])
    expect(progress).to_have_text(before)


def test_candidates_become_a_new_version_of_the_dictionaries(page, trained):
    version = trained.dictionary_version()
    open_tab(page, "Dictionary candidates")
    choose_row(page, "review_candidates")
    expect(main(page)).to_contain_text(f"Version {version} → {version + 1}")
    press(page, "Add 1 phrase to the dictionaries")
    expect(main(page)).to_contain_text(f"the dictionaries are now at version {version + 1}.")
    assert "From review" in [dictionary.name for dictionary in trained.dictionaries()]


def test_the_next_run_learns_from_decisions(page, trained):
    open_tab(page, "Decide")
    press(page, "Train again with 2 decisions")
    see_page(page, "Train")
    expect(page.get_by_role("heading", name="Run in progress")).to_be_visible()
    job = jobs.list_jobs(trained, "train")[0]
    assert job.request["use_decisions"]
    # One run is enough to look at: this one is ended from the strip in the sidebar.
    page.get_by_test_id("stSidebar").get_by_role("button", name="Cancel").click()
    expect(main(page)).to_contain_text("The latest run was cancelled.")


def test_a_method_reads_pasted_text(page, trained):
    follow(page, "Predict")
    page.get_by_role("textbox", name="Your text").fill(PASTED)
    page.get_by_role("textbox", name="Your text").press("Control+Enter")
    press(page, "Find entities")
    heading = page.get_by_role("heading", name=re.compile(r"found \d+ entit"))
    expect(heading).to_be_visible()
    expect(main(page).locator(".gl-sentence").first).to_contain_text("A 😀 patient")
    entities = rows(download(page, "Download"))
    assert all(PASTED[int(row["start"]) : int(row["end"])] == row["text"] for row in entities)
    assert f"found {len(entities)} " in heading.inner_text()


def test_what_is_exported_is_in_the_text(page, trained):
    follow(page, "Export")
    expect(main(page)).to_contain_text("all offsets verified")
    texts = {document.id: document.text for document in trained.corpus().documents}
    entities = rows(download(page, "Download"))
    assert entities
    for row in entities:
        assert texts[row["doc_id"]][int(row["start"]) : int(row["end"])] == row["text"]
    main(page).get_by_text("Dictionary labels", exact=True).click()
    expect(main(page)).to_contain_text("What the dictionaries match")
    labels = rows(download(page, "Download"))
    note = [row["text"] for row in labels if row["doc_id"] == "note"]
    muted = {"lead", "cold"}  # if the earlier test files ran too
    assert [text for text in note if text not in muted] == [
        "kidney stones",
        "Denosumab",
        "kidney stones",
    ]


def test_the_report_opens_without_the_app(page, trained, visitor):
    report = download(page, "Report (HTML)").read_text(encoding="utf-8")
    assert journey.NAME in report
    assert "http://" not in report.replace("http://www.w3.org/", "")


def test_a_project_is_restored_from_its_zip(page, trained, tmp_path):
    path = tmp_path / "journey.zip"
    path.write_bytes(download(page, "Project (zip)").read_bytes())
    follow(page, "Home")
    upload(page, "Zip file of a project", path)
    press(page, "Import project")
    see_page(page, "Text")
    expect(page).not_to_have_url(re.compile(trained.id))
    new, old = [s for s in list_projects() if s.name == journey.NAME]
    assert (new.documents, new.sentences, new.phrases) == (
        old.documents,
        old.sentences,
        old.phrases,
    )
    follow(page, "Compare")
    expect(page.locator("table").get_by_text("Conf-MPU").first).to_be_visible()
