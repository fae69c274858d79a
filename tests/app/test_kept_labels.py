"""Labels are computed once: not again after a restart, and not for all text after a mute."""

import pytest
import streamlit as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels import label
from tests.support.finished_runs import make_project
from tests.support.labelings import assert_same
from tests.support.pages import open_page
from ui.state import labels as state


@pytest.fixture
def project():
    st.cache_resource.clear()
    return make_project()


@pytest.fixture
def no_labeling(project, monkeypatch):
    """The page was open once; from now on nothing may be labeled."""

    def never(*_, **__):
        raise AssertionError("labeled again")

    assert not open_page("labels", project.id).run().exception
    monkeypatch.setattr("engine.projects.labels.label", never)


def opened(project):
    page = open_page("labels", project.id).run()
    assert not page.exception
    assert not page.error
    return page


def labeled(project):
    return label(project.corpus().documents, project.dictionaries(), project.match_preset())


def test_a_restarted_server_does_not_label_again(project, no_labeling):
    st.cache_resource.clear()  # what a restart leaves in memory
    assert opened(project).metric[0].value
    assert_same(state.labels(project), labeled(project))


def test_muting_a_phrase_does_not_label_again(project, no_labeling):
    state.mute(project, [("gout", "Disease")])
    assert opened(project).metric[0].value
    assert_same(state.labels(project), labeled(project))
    state.unmute(project, [("gout", "Disease")])  # the labels from before are still there
    opened(project)
    assert_same(state.labels(project), labeled(project))


def test_other_changes_label_again(project):
    opened(project)
    state.relabel(project, "gout", "Disease", "Illness")
    opened(project)
    assert_same(state.labels(project), labeled(project))


def test_new_dictionaries_get_new_labels(project):
    opened(project)
    project.save_dictionaries([Dictionary("d", (Phrase("kidney", "Organ"),))], "another")
    assert_same(state.labels(project), labeled(project))
