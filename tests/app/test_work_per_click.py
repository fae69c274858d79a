"""What a click costs the server, counted: opened databases, charts made, garbage collected."""

import sqlite3
import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit import config

from engine import jobs
from engine.projects import connection, workspace
from engine.projects.workspace import create_project, sample_project
from engine.scoring import checking
from tests.support.pages import checked, open_page
from ui.state import labels
from ui.views.compare import story

CONFIG = Path(__file__).parents[2] / "ui" / ".streamlit" / "config.toml"


@pytest.fixture
def counted(monkeypatch):
    """Count the calls of a function: `counted(owner, name)` returns a list that grows."""

    def count(owner, name):
        calls, original = [], getattr(owner, name)

        def call(*arguments, **options):
            calls.append(name)
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, call)
        return calls

    return count


def drawn(name, tab=""):
    """Return a page of the sample that was drawn once, so that its caches are filled."""
    page = open_page(name, sample_project().id)
    if tab:
        page.session_state[f"{name}_tab"] = tab
    return checked(page.run())


@pytest.mark.parametrize(
    "name", ["home", "text", "dictionaries", "labels", "train", "compare", "review", "export"]
)
def test_a_page_opens_the_database_once(name, counted):
    page = drawn(name)
    opened = counted(sqlite3, "connect")
    checked(page.run())
    assert len(opened) == 1


def test_a_page_does_not_open_other_projects(counted, monkeypatch):
    monkeypatch.setattr(connection, "_SETTLED_SECONDS", 0.0)
    monkeypatch.setattr(workspace, "_FRESH_SECONDS", 3600.0)
    for number in range(3):
        create_project(f"Project {number}")
    page = drawn("home")
    opened = counted(sqlite3, "connect")
    checked(page.run())
    assert len(opened) == 1


def test_the_sidebar_looks_for_the_active_job_once(counted):
    page = drawn("predict")
    looked = counted(jobs, "active_job")
    checked(page.run())
    assert len(looked) == 1


@pytest.mark.parametrize(
    ("name", "tab"),
    [
        ("text", ""),
        ("dictionaries", "Charts"),
        ("labels", "Coverage"),
        ("labels", "Conflicts"),
        ("train", ""),
        ("compare", ""),
        ("curves", ""),
    ],
)
def test_a_chart_is_made_and_converted_once(name, tab, counted):
    page = drawn(name, tab)
    shown = [chart.proto.spec for chart in page.get("plotly_chart")]
    assert shown
    made, converted = counted(go.Figure, "__init__"), counted(go.Figure, "to_dict")
    checked(page.run())
    assert not made
    assert not converted
    assert [chart.proto.spec for chart in page.get("plotly_chart")] == shown


def test_the_advice_on_compare_is_computed_once(counted):
    page = drawn("compare")
    computed = counted(story, "story_with_gold")
    checked(page.run())
    assert not computed


def test_no_click_waits_for_a_collection_of_all_garbage():
    # AppTest does not collect after a run, so that only the configuration can be checked.
    option = "runner.postScriptGC"
    assert option in config._config_options_template, "Streamlit has no such option any more"
    runner = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["runner"]
    assert runner["postScriptGC"] is False


def test_a_judgement_looks_at_neither_gold_nor_flags_again(counted):
    st.cache_resource.clear()  # another test may have judged the same match
    drawn("labels", "Noisy phrases")
    calls = [
        counted(labels, name) for name in ("noisy_phrases", "judgements_from_gold", "joined_flags")
    ]
    page = drawn("labels", "Precision")
    looked_up = counted(checking, "_judged")
    checked(page.button(key="check_accepted").click().run())
    assert len(looked_up) == 1  # for both of its tables
    drawn("labels", "Noisy phrases")
    assert [len(made) for made in calls] == [1, 0, 0] and len(looked_up) == 2
