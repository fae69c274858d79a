"""The panel of the dictionary's health: on Dictionaries, on Distant labels, a line on Train."""

import threading

import pytest

from engine.projects import kept_entries
from tests.support.finished_runs import make_project
from tests.support.pages import captions, checked, html, open_page
from tests.support.waiting import wait_until
from ui.parts import health

TEXT = b"He took gout pills in the house, in pain. In time the gout was less. No gout.\n"
LINE = "1 phrase looks wrong: about 3 matches"


@pytest.fixture
def project():
    return make_project(TEXT, dictionaries={"Disease.txt": b"gout\nin\n"})


def show(name, project, tab=None):
    page = open_page(name, project.id)
    if tab:
        page.session_state[f"{name}_tab"] = tab
    return checked(page.run())


def muted(project):
    return [pair for dictionary in project.dictionaries() for pair in dictionary.muted]


@pytest.mark.parametrize("name, place", [("labels", "Noisy phrases"), ("dictionaries", None)])
def test_an_entry_is_muted_and_the_change_is_undone(project, name, place):
    page = show(name, project, place)
    shown = html(page)
    assert "<b>“in”</b>" in shown and "stop word" in shown and "3 matches, about 3 wrong" in shown
    assert shown.count('class="gl-health-example"') == 3
    checked(page.button(key=f"health_mute_{name}_0").click().run())
    assert muted(project) == [("in", "Disease")]
    assert "<b>“in”</b>" not in html(page)
    assert any("Muted" in text for text in captions(page))
    checked(page.button(key=f"health_undo_{name}").click().run())
    assert muted(project) == []
    assert "<b>“in”</b>" in html(page)


def test_what_is_kept_stays_away_until_it_is_undone(project):
    page = show("dictionaries", project)
    checked(page.button(key="health_keep_dictionaries_0").click().run())
    assert kept_entries(project) and not muted(project)
    assert "<b>“in”</b>" not in html(show("dictionaries", project))
    checked(page.button(key="health_undo_dictionaries").click().run())
    assert not kept_entries(project)


def test_phrases_match_only_as_written_and_all_proposals_are_accepted(project):
    page = show("dictionaries", project)
    checked(page.button(key="health_as_written_dictionaries_0").click().run())
    assert [d.as_written for d in project.dictionaries()] == [{("in", "Disease")}]
    checked(page.button(key="health_accept_dictionaries").click().run())
    assert muted(project) == [("in", "Disease")]


RECEPTORS = b"".join(b"%colim receptor\n" % letter for letter in b"abcdefghijklmnopqrstuvwx")
OF_A_KIND = b"The bolim receptor and the colim receptor. " * 3


@pytest.mark.parametrize("name, place", [("labels", "Noisy phrases"), ("dictionaries", None)])
def test_a_kind_of_names_is_muted_with_one_click_and_the_change_is_undone(name, place):
    project = make_project(OF_A_KIND, dictionaries={"Protein.txt": RECEPTORS})
    page = show(name, project, place)
    shown = html(page)
    assert "<b>Names that end with “receptor”</b>" in shown
    assert "24 things in the dictionary have a name that ends with “receptor”" in shown
    assert "about 0 wrong" not in shown  # nobody knows
    assert shown.count('class="gl-health-example"') == 3  # of two phrases
    checked(page.button(key=f"health_mute_{name}_kind_0").click().run())
    assert len(muted(project)) == 24
    assert "that end with" not in html(page)
    assert any("Muted names that end with “receptor”" in text for text in captions(page))
    checked(page.button(key=f"health_undo_{name}").click().run())
    assert muted(project) == []
    assert "that end with" in html(page)


def test_a_kind_that_a_person_looks_for_is_not_asked_about_again():
    project = make_project(OF_A_KIND, dictionaries={"Protein.txt": RECEPTORS})
    page = show("dictionaries", project)
    checked(page.button(key="health_keep_dictionaries_kind_0").click().run())
    assert "that end with" not in html(show("dictionaries", project))
    assert not muted(project)


@pytest.mark.parametrize("name", ["labels", "train"])
def test_a_line_says_how_many_phrases_look_wrong(project, name):
    page = show(name, project)
    assert any(LINE in text.value.replace("\\", "") for text in page.markdown)
    page = show("dictionaries", project)
    checked(page.button(key="health_mute_dictionaries_0").click().run())
    assert not any("look" in text.value for text in show(name, project).markdown)


def test_a_large_dictionary_is_checked_while_the_page_is_shown(project, monkeypatch):
    may_end, check = threading.Event(), health.health_of

    def slow_check(*inputs):
        assert may_end.wait(60)
        return check(*inputs)

    monkeypatch.setattr(health, "AT_ONCE", 0)
    monkeypatch.setattr(health, "health_of", slow_check)
    page = show("labels", project)
    assert "Checking the dictionaries …" in captions(page)
    assert not any(LINE in text.value for text in page.markdown)
    assert not health.is_checked(project)  # as a second later, when the line is drawn again
    may_end.set()
    wait_until(lambda: health.is_checked(project), "the check")
    page = show("labels", project)
    assert "Checking the dictionaries …" not in captions(page)
    assert any(LINE in text.value.replace("\\", "") for text in page.markdown)
