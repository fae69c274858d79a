"""Steps 1 to 4: from the first visit to distant labels of known precision."""

import re

import pytest
from playwright.sync_api import expect

from engine.projects.workspace import SAMPLE_ID, delete_project, list_projects, open_project
from tests.browser import journey
from tests.browser.steps import (
    HOME,
    choose_row,
    edit_cell,
    figure,
    follow,
    main,
    number,
    open_tab,
    press,
    see_page,
    settle,
    upload,
)

pytestmark = pytest.mark.browser


def project_of(page):
    """Return the project of the page's address, as it is on the disk."""
    return open_project(page.url.rpartition("project=")[2])


@pytest.fixture(scope="module")
def page(visitor):
    """The visitor's tab, on a server without the projects that other files have made."""
    for project in list_projects():
        if project.id != SAMPLE_ID:
            delete_project(project.id)
    return visitor()


def test_first_visit_explains_offers_and_opens_the_sample(page):
    see_page(page, HOME)
    expect(page).to_have_url(re.compile(r"/\?project=sample$"))
    expect(main(page)).to_contain_text("Bring text and dictionaries of your field")
    expect(page.locator(".gl-step img")).to_have_count(4)
    expect(page.locator(".gl-project-name")).to_have_text(["Sample: medical abstracts"])
    press(page, "Open the sample project")
    see_page(page, "Distant labels")
    expect(page).to_have_url(re.compile(r"/labels\?project=sample$"))
    mark = page.locator("mark.gl-mark", has_text="kidney stones").first
    expect(mark).to_have_text("kidney stonesDisease")
    # Tinted, whatever the theme: neither transparent nor the default yellow of <mark>.
    tint = mark.evaluate("e => getComputedStyle(e).backgroundColor")
    assert tint not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 0)")


def test_text_is_previewed_and_saved_only_when_asked(page, files):
    follow(page, "Home")
    page.get_by_role("textbox", name="Name of the new project").fill(journey.NAME)
    press(page, "Create project")
    see_page(page, "Text")
    expect(page).to_have_url(re.compile(r"/text\?project=journey-[0-9a-f]+$"))
    upload(page, "Add text files", *files.text)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(figure(page, "Documents")).to_have_text("25")
    expect(main(page)).to_contain_text("No text yet")
    press(page, "Save to the project")
    expect(page.get_by_text(re.compile(r"Saved 3 files with \d+ sentences\."))).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_have_count(0)
    expect(figure(page, "Documents")).to_have_text("25")


def test_gold_is_previewed_and_saved(page, files):
    open_tab(page, "Gold (for scoring)")
    expect(page.get_by_text("No gold yet.")).to_be_visible()
    upload(page, "Add gold", files.gold)
    expect(figure(page, "Annotated documents")).to_have_text("24")
    press(page, "Save as gold")
    expect(page.get_by_text("Saved gold for 24 documents.")).to_be_visible()


def test_dictionaries_keep_the_type_that_was_guessed_or_given(page, files):
    follow(page, "Dictionaries")
    upload(page, "Add dictionaries", files.diseases)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    press(page, "Save to the project")
    expect(page.get_by_text("Saved Disease.txt with 575 phrases, as version 1.")).to_be_visible()

    upload(page, "Add dictionaries", files.chemicals)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    settle(page)
    edit_cell(page, "dictionary_files", 2, "Chemical", "Drug")  # "Save as type"
    settle(page)
    press(page, "Save to the project")
    expect(page.get_by_text("Saved Chemical.txt with 449 phrases, as version 2.")).to_be_visible()
    [chemicals, diseases] = sorted(project_of(page).dictionaries(), key=lambda d: d.name)
    assert (chemicals.types, diseases.types) == (("Drug",), ("Disease",))


def test_a_phrase_is_found_and_muted(page):
    open_tab(page, "Phrases")
    page.get_by_role("textbox", name="Search").fill("cold")
    page.keyboard.press("Enter")
    expect(main(page)).to_contain_text("Phrases 1–3 of 3.")
    choose_row(page, "phrases_table")
    expect(main(page)).to_contain_text("1 phrase selected")
    press(page, "Mute")
    expect(main(page)).to_contain_text("Muted “cold”. The dictionaries are at version 3.")


def test_a_change_is_previewed_before_it_is_applied(page):
    open_tab(page, "Dictionaries")
    page.get_by_text("Loose", exact=True).click()
    press(page, "Preview changes")
    expect(page.get_by_text("Not applied yet")).to_be_visible()
    expect(figure(page, "New matches")).to_have_text(re.compile(r"\+[1-9]"))
    expect(main(page).locator("mark.gl-mark").first).to_be_visible()
    assert project_of(page).match_preset() == "adaptive"
    press(page, "Apply")
    expect(main(page)).to_contain_text("Matching adaptive → loose.")
    expect(page.get_by_text("Not applied yet")).to_have_count(0)
    assert project_of(page).match_preset() == "loose"


def test_a_sample_is_judged_with_the_keyboard_and_the_interval_narrows(page):
    follow(page, "Distant labels")
    expect(figure(page, "Precision")).to_have_text(re.compile(r"^\d+\.\d %$"))
    open_tab(page, "Precision")
    page.get_by_text("Check a sample by hand as well").click()
    progress = page.get_by_test_id("stProgress")
    expect(progress).to_contain_text(re.compile(r"\b0 of \d"))
    widths = []
    for judged, key in enumerate("yynuyyyy", start=1):
        page.keyboard.press(key)
        expect(progress).to_contain_text(re.compile(rf"\b{judged} of \d+, so far"))
        settle(page)
        low, high = re.search(r"\[(\d+)–(\d+)\]", progress.inner_text()).groups()
        widths.append(int(high) - int(low))
    verdicts = [decision.verdict for decision in project_of(page).decisions("check")]
    assert sorted(verdicts) == ["accepted"] * 6 + ["rejected", "unsure"]
    assert widths[-1] < widths[3] < widths[0]


def test_a_muted_phrase_changes_the_figures(page):
    before = number(figure(page, "Token coverage").inner_text())
    open_tab(page, "Text")
    page.get_by_role("combobox", name="Phrase", exact=True).fill("lead")
    page.get_by_role("option", name=re.compile(r"^lead \(")).click()
    card = page.locator(".st-key-phrase_card")
    expect(card).to_contain_text("lead")
    settle(page)
    card.get_by_role("button", name="Mute").click()
    expect(main(page)).to_contain_text("Muted “lead” (Drug).")
    settle(page)
    assert number(figure(page, "Token coverage").inner_text()) < before
