"""Beside the journey: what a new user is told without gold, and what a key press does about it."""

import re

import pytest
from playwright.sync_api import expect

from engine import jobs
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from tests.browser.steps import (
    HOME,
    figure,
    main,
    open_tab,
    press,
    see_page,
    settle,
    upload,
    write_number,
)
from tests.support.finished_runs import finish_run, make_project

pytestmark = pytest.mark.browser

TEXT = b"He took gout pills in the house, in pain. In time the gout was less. No gout.\n"
WIDTHS = (1440, 900)


def fits(page):
    """Tell whether nothing is wider than the window."""
    width = page.viewport_size["width"]
    return page.evaluate("document.documentElement.scrollWidth") <= width


def mute_in(page):
    """Choose to mute “in” before an upload is saved."""
    settle(page)
    choices = main(page).get_by_role("radiogroup", name="What to do with “in”")
    choices.get_by_text("Mute all").click()
    expect(main(page)).to_contain_text("Will be saved with 1 phrase muted.")


@pytest.fixture(scope="module")
def noted(server):
    """A project with text alone."""
    project = create_project("Notes")
    project.add_text([SourceFile("notes.txt", TEXT)])
    return project


@pytest.fixture(scope="module")
def wordlist(tmp_path_factory):
    path = tmp_path_factory.mktemp("lists") / "Disease.txt"
    path.write_text("gout\nin\nthe\n", encoding="utf-8")
    return path


# ---- the checklist --------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_home_names_the_next_step_and_goes_there(visitor, noted, width):
    page = visitor(f"?project={noted.id}")
    page.set_viewport_size({"width": width, "height": 1200})
    see_page(page, HOME)
    steps = main(page).locator(".st-key-home_steps").get_by_role("button")
    expect(steps.first).to_contain_text("3 sentences of text")
    expect(main(page).locator(".gl-next")).to_have_text("Add a dictionary")
    assert fits(page)
    press(page, "Go there")
    see_page(page, "Dictionaries")
    page.close()


# ---- the health of dictionaries -------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_an_upload_shows_what_hurts_before_it_is_saved(visitor, noted, wordlist, width):
    page = visitor(f"dictionaries?project={noted.id}")
    page.set_viewport_size({"width": width, "height": 1200})
    see_page(page, "Dictionaries")
    upload(page, "Add dictionaries", wordlist)
    expect(main(page)).to_contain_text("2 phrases look wrong: about 4 matches")
    entries = main(page).locator(".gl-health")
    expect(entries).to_have_count(2)
    expect(entries.first).to_contain_text("3 matches, about 3 wrong")
    assert fits(page)
    mute_in(page)
    assert noted.dictionary_version() == 0
    press(page, "Discard")
    expect(entries).to_have_count(0)
    page.close()


def test_phrases_are_mended_and_the_change_is_undone(visitor, noted, wordlist):
    page = visitor(f"dictionaries?project={noted.id}")
    see_page(page, "Dictionaries")
    upload(page, "Add dictionaries", wordlist)
    mute_in(page)
    press(page, "Save to the project")
    expect(main(page)).to_contain_text("Saved Disease.txt with 3 phrases, as version 1.")
    assert [d.muted for d in noted.dictionaries()] == [{("in", "Disease")}]
    # The panel is open after an upload, and has what was left.
    entry = main(page).locator(".gl-health")
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("the")
    press(page, "Mute all (proposed)")
    expect(main(page)).to_contain_text("Muted “the”.")
    expect(entry).to_have_count(0)
    assert noted.dictionary_version() == 2
    press(page, "Undo")
    expect(entry).to_have_count(1)
    assert [d.muted for d in noted.dictionaries()] == [{("in", "Disease")}]
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_kind_of_names_is_muted_with_one_click(visitor, server, width):
    names = [f"{letter}olim receptor" for letter in "abcdefghijklmnopqrstuvwx"]
    project = create_project(f"Kinds {width}")
    text = b"He took aspirin. The bolim receptor and the colim receptor were seen. " * 4
    project.add_text([SourceFile("notes.txt", text)])
    lines = "\n".join(["aspirin", *names]).encode()
    project.add_dictionaries([SourceFile("Chemical.txt", lines)])
    page = visitor(f"labels?project={project.id}")
    page.set_viewport_size({"width": width, "height": 1200})
    see_page(page, "Distant labels")
    open_tab(page, "Noisy phrases")
    entry = main(page).locator(".gl-health")
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("Names that end with “receptor”")
    expect(entry).to_contain_text("8 matches")
    assert fits(page)
    press(page, "Mute all")
    expect(main(page)).to_contain_text("Muted names that end with “receptor”.")
    expect(entry).to_have_count(0)
    assert len(project.dictionaries()[0].muted) == 24
    press(page, "Undo")
    expect(entry).to_have_count(1)
    page.close()


# ---- a judged sample ------------------------------------------------------------------------


def test_key_presses_measure_a_method(visitor, server):
    project = make_project(name="Judged")
    finish_run(project)
    page = visitor(f"review?project={project.id}")
    see_page(page, "Review")
    open_tab(page, "Measure")
    tab = page.get_by_role("tabpanel", name="Measure")
    progress = tab.get_by_test_id("stProgress")
    unsure = tab.get_by_role("button", name=re.compile("^Unsure"))
    right = tab.get_by_role("button", name=re.compile("^Right"))
    for count in range(1, 20):
        expect(progress).to_contain_text(f"{count - 1} judged")
        settle(page)
        if not unsure.is_visible():
            break
        page.keyboard.press("y" if right.is_visible() else "0")
        expect(progress).to_contain_text(f"{count} judged")
    expect(main(page)).to_contain_text("Everything in this text is judged.")
    # Every entity is right and no name is missing: the estimate is exact.
    for name in ("Precision", "Recall", "F1"):
        expect(figure(page, f"{name}, estimated")).to_have_text("100 %")
    expect(main(page)).to_contain_text("100 to 100 %")
    page.keyboard.press("b")
    expect(progress).to_contain_text(f"{count - 2} judged")
    assert {d.verdict for d in project.decisions("measure")} <= {"accepted", "0"}
    assert project.decisions("review") == []  # keys of the tab Decide are off
    page.close()


# ---- hidden phrases -------------------------------------------------------------------------


def test_hidden_phrases_say_which_method_to_take(visitor, server):
    project = create_project("Hidden")
    names = [f"zol{chr(97 + i // 26)}{chr(97 + i % 26)}ine" for i in range(120)]
    lines = "".join(f"He took {name} for a week. Then he slept well.\n" for name in names)
    project.add_text([SourceFile("notes.txt", lines.encode())])
    project.add_dictionaries([SourceFile("Drug.txt", "\n".join(names).encode())])
    page = visitor(f"train?project={project.id}")
    see_page(page, "Train")
    main(page).get_by_role("radiogroup", name="Preset").get_by_text("Quick", exact=True).click()
    settle(page)
    main(page).get_by_text("Conf-MPU", exact=True).first.click()
    settle(page)
    main(page).get_by_text("Compare on hidden phrases", exact=True).click()
    main(page).get_by_text("Advanced", exact=True).click()
    write_number(page, "Epochs", 2)
    press(page, "Start")
    expect(page.get_by_text("The latest run is done.")).to_be_visible()
    [run] = jobs.list_jobs(project, "train")
    assert jobs.hidden_found(project, run.id).keys() == {"mpn", "mpu"}
    page.close()
    page = visitor(f"compare?project={project.id}")
    see_page(page, "Compare")
    story = main(page).locator(".gl-story")
    expect(story).to_contain_text(re.compile(r"Take MP[NU]: .* phrases hidden from training"))
    expect(main(page)).to_contain_text("Compared on hidden phrases")
    expect(main(page)).to_contain_text("This compares runs; it says more than you will get")
    expect(main(page)).to_contain_text("How many epochs to train for.")
    page.close()
