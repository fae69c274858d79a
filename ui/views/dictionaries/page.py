"""The page Dictionaries: add them, see what they match, edit phrases, choose the matching."""

import shlex

import pandas as pd
import streamlit as st

from engine.projects import Project
from ui.charts import dictionaries as charts
from ui.charts.palette import type_colors
from ui.charts.style import CONFIG
from ui.parts import elements, health
from ui.state import current
from ui.state.figures import kept_figure
from ui.views.dictionaries import changes as dictionary_changes
from ui.views.dictionaries import phrases as dictionary_phrases
from ui.views.dictionaries import state as state
from ui.views.dictionaries import upload as dictionary_upload

TABS = ("Dictionaries", "Phrases", "Charts", "Versions")
EMPTY = (
    "No dictionaries yet. One phrase per line in Disease.txt, or a CSV with the columns term and "
    "label."
)


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Dictionaries",
        "Lists of phrases, each with a type. Where they match the text, they become the distant "
        "labels that a tagger learns from.",
        elements.project_chips(project),
    )
    if not project.dictionary_version() or not state.read_dictionaries(project):
        dictionary_upload.show(project)
        elements.empty_state(EMPTY, "Or look at the sample on the home page", "home")
        show_versions_when_emptied(project)
    else:
        show_dictionaries(project)
    st.divider()
    if project.dictionary_version():
        elements.next_step("Distant labels", "labels")
    elements.command(command_line(project))


def show_dictionaries(project: Project) -> None:
    """Draw the tabs, below the preview of a change if there is one."""
    dictionary_changes.show_draft(project)
    grid, phrases, plots, versions = st.tabs(TABS, key="dictionaries_tab", on_change="rerun")
    with grid:
        if grid.open:
            show_health(project)
            dictionary_changes.show_grid(project)
            dictionary_upload.show(project)
    with phrases:
        if phrases.open:
            dictionary_phrases.show(project)
    with plots:
        if plots.open:
            show_charts(project)
    with versions:
        if versions.open:
            show_versions(project)


def show_health(project: Project) -> None:
    """Draw what hurts in the dictionaries; open after an upload, closed otherwise."""
    found = health.health(project)
    if found is None or not (found.entries or found.kinds):
        health.show_undo(project, "dictionaries")
        return
    number, what = len(found.entries), "phrase"
    if not found.entries:
        number, what = len(found.kinds), "kind"
    title = str(found) or f"{elements.plural(number, what)} to look at"
    with st.expander(
        elements.plain(title),
        expanded=state.was_uploaded(project),
        icon=":material/health_and_safety:",
        key="dictionaries_health",
    ):
        health.show(project, "dictionaries", is_titled=True)


def command_line(project: Project) -> str:
    """Return the command that adds the same dictionaries."""
    names = [dictionary.name for dictionary in state.read_dictionaries(project)] or ["Disease.txt"]
    listed = [*names[:5], *(["…"] if len(names) > 5 else [])]
    line = ["glossa", "import", "--project", project.id, "--dictionary", *listed]
    return shlex.join(line)


# ---- charts ---------------------------------------------------------------------------------


def show_charts(project: Project) -> None:
    """Draw the matches by type, by phrase and by length of the phrase."""
    tables = state.chart_tables(project)
    if tables is None:
        elements.empty_state("No text yet, so there are no matches.", "Add text", "text")
        return
    if tables.ranks.empty:
        st.info("No phrase matches this text, so there is nothing to draw.")
        return
    colors = type_colors(tables.by_type["entity_type"])
    st.subheader("Matches by type", anchor=False)
    draw(kept_figure(charts.type_figure, tables.by_type, colors), "types")
    with elements.side_by_side("dictionary_charts"):
        show_frequent(tables, colors)
        show_spread(tables, colors)


def show_frequent(tables: state.ChartTables, colors: dict[str, str]) -> None:
    """Draw the most frequent phrases by name."""
    with st.container():
        st.subheader("The most frequent phrases", anchor=False)
        st.caption("A phrase with far more matches than the others may be an everyday word.")
        draw(kept_figure(charts.top_figure, tables.ranks, colors), "top")


def show_spread(tables: state.ChartTables, colors: dict[str, str]) -> None:
    """Draw how matches are distributed over phrases and over their lengths."""
    with st.container():
        st.subheader("The long tail", anchor=False)
        st.caption("Every phrase with a match, by rank. A few phrases cause most matches.")
        draw(kept_figure(charts.tail_figure, tables.ranks, colors), "tail")
        st.subheader("Length of phrases", anchor=False)
        st.caption("Matches of phrases with one word, two words, and so on.")
        draw(kept_figure(charts.length_figure, tables.lengths), "lengths")


def draw(figure: object, name: str) -> None:
    """Draw a figure without a toolbar."""
    st.plotly_chart(figure, key=f"dictionaries_chart_{name}", config=CONFIG)


# ---- versions -------------------------------------------------------------------------------


def show_versions(project: Project) -> None:
    """Draw all versions, and the control that restores an earlier one."""
    history = project.dictionary_history()
    table = pd.DataFrame(
        {
            "version": [entry.version for entry in history],
            "saved": [entry.saved_at for entry in history],
            "reason": [entry.reason for entry in history],
            "phrases": [entry.phrases for entry in history],
        }
    )
    columns = {
        "version": "Version",
        "saved": st.column_config.DatetimeColumn("Saved (UTC)", format="YYYY-MM-DD HH:mm"),
    }
    columns |= {"reason": "What was done", "phrases": "Phrases"}
    st.caption("Every change is saved as a version. No version is ever lost.")
    elements.show_table(table, columns, "dictionaries_versions")
    earlier = [entry.version for entry in history[1:]]
    if not earlier:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = st.selectbox("Version", earlier, key="dictionaries_restore", width=160)
        if st.button("Restore this version", key="dictionaries_restore_button"):
            number = project.restore_dictionaries(version)
            current.say(f"Version {version} is in force again, as version {number}.")
            st.rerun()


def show_versions_when_emptied(project: Project) -> None:
    """Draw the versions if all dictionaries were removed, so that they can be restored."""
    if project.dictionary_version():
        st.subheader("Earlier versions", anchor=False)
        show_versions(project)
