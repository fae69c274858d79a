"""What hurts in uploaded dictionaries is shown, and mended, before they are saved."""

import pytest

from engine.files.sources import SourceFile
from engine.projects import kept_entries
from engine.projects.workspace import create_project
from tests.support.archives import zipped
from tests.support.pages import captions, checked, html, open_page, plain, press, upload
from tests.support.waiting import wait_until

TEXT = b"He took gout pills in the house, in pain. In time the gout was less. No gout.\n"
DISEASE = ("Disease.txt", b"gout\nin\n", "text/plain")


@pytest.fixture
def project():
    project = create_project("Mine")
    project.add_text([SourceFile("notes.txt", TEXT)])
    return project


def show(project):
    page = open_page("dictionaries", project.id)
    page.session_state["dictionaries_tab"] = "Dictionaries"
    return checked(page.run())


def choose(page, choice, number=0):
    return checked(page.button_group[number].set_value(choice).run())


def saved(project, page):
    checked(press(page, "Save to the project"))
    [dictionary] = project.dictionaries()
    return dictionary


def test_the_worst_phrase_is_shown_with_examples_and_nothing_is_done_unasked(project):
    page = upload(show(project), DISEASE)
    assert "1 phrase looks wrong: about 3 matches" in [plain(e.label) for e in page.expander]
    shown = html(page)
    assert "<b>“in”</b>" in shown and "3 matches, about 3 wrong" in shown
    assert shown.count('class="gl-health-example"') == 3
    assert not saved(project, page).muted


@pytest.mark.parametrize(
    ("choice", "muted", "as_written"),
    [("mute", {("in", "Disease")}, set()), ("as written", set(), {("in", "Disease")})],
)
def test_a_phrase_is_mended_before_saving(project, choice, muted, as_written):
    page = choose(upload(show(project), DISEASE), choice)
    assert any("Will be saved with 1 phrase" in text for text in captions(page))
    dictionary = saved(project, page)
    assert (dictionary.muted, dictionary.as_written) == (muted, as_written)


def test_what_is_kept_before_saving_is_not_asked_again(project):
    page = choose(upload(show(project), DISEASE), "keep")
    assert not saved(project, page).muted
    assert kept_entries(project)
    assert "<b>“in”</b>" not in html(show(project))


def test_every_proposal_is_accepted_and_one_is_taken_back(project):
    page = upload(show(project), ("Disease.txt", b"gout\nin\nthe\n", ""))
    page = checked(press(page, "Accept 2 proposals"))
    page = choose(page, "keep")
    assert saved(project, page).muted == {("the", "Disease")}


def test_types_given_before_saving_count(project):
    page = upload(show(project), DISEASE)
    [key] = [editor.key for editor in page.data_editor]
    page.session_state[key] = {"edited_rows": {0: {"type": "Sickness"}}}
    page = choose(checked(page.run()), "mute")
    assert "Sickness · stop word" in html(page)
    assert saved(project, page).muted == {("in", "Sickness")}


def test_phrases_alone_are_judged_without_text():
    project = create_project("Empty")
    page = upload(show(project), ("Disease.txt", b"gout\nin\nThe\nhouse\n", ""))
    assert "2 phrases look wrong" in [plain(e.label) for e in page.expander]
    assert "Stop words" in html(page) and "“The”, “in”" in html(page)
    assert any("Judged by the phrases alone" in text for text in captions(page))
    page = choose(page, "mute")
    assert saved(project, page).muted == {("in", "Disease"), ("The", "Disease")}


def test_a_clean_dictionary_is_said_to_be_clean(project):
    page = upload(show(project), ("Disease.txt", b"gout\n", ""))
    assert any("No phrase looks wrong" in text for text in captions(page))


def test_phrases_that_are_never_an_entity_are_not_judged(project):
    page = upload(show(project), DISEASE)
    [toggle] = [toggle for toggle in page.toggle if toggle.label == "Never an entity"]
    page = checked(toggle.set_value(True).run())
    assert not page.button_group


def test_files_that_a_process_reads_are_judged_by_a_process(project):
    file = zipped({"Disease.txt": DISEASE[1]}, "all.zip")
    page = upload(show(project), (file.name, file.data, "application/zip"))
    wait_until(lambda: page.run().button_group, "it is read and checked", every=0.2)
    page = press(choose(page, "mute"), "Save to the project")
    wait_until(lambda: not page.run().get("progress"), "it is saved", every=0.2)
    assert [d.muted for d in project.dictionaries()] == [{("in", "Disease")}]
