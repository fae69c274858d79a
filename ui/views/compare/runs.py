"""The tab Two runs: how two results differ in scores, settings and entities."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from engine import jobs
from engine.formats import Aligned
from engine.jobs import Job, run_card
from engine.projects import Project
from engine.scoring import difference
from ui.parts import elements
from ui.parts.download import with_card
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state import findings
from ui.views.compare import score_table
from ui.views.compare.score_table import Cell, Group, share

MOST_ROWS = 1_000  # shown; all of them are in the download
SHARES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


def show(project: Project, runs: Sequence[Job], gold: Aligned | None) -> None:
    """Draw the choice of two results, then their differences."""
    methods = state.methods(runs, has_gold=False, has_dictionary=bool(project.dictionary_version()))
    methods += [f"{state.OPINION}{name}" for name in findings.opinions_by_name(project)]
    offered = {choice.key: choice for choice in state.every_choice(runs, methods)}
    if len(offered) < 2:
        st.info("There is only one result so far. Train another method to compare it with.")
        return
    keys, run_names = list(offered), findings.run_names(runs)

    def name(key: str) -> str:
        job = offered[key].job
        return f"{offered[key].name} · {run_names[job.id]}" if job else offered[key].name

    old, new = default_pair(runs, keys)
    with st.container(horizontal=True):
        before = st.selectbox(
            "From",
            keys,
            index=keys.index(old),
            format_func=name,
            key=f"compare_before_{len(keys)}",
            width=340,
        )
        rest = [key for key in keys if key != before]
        after = st.selectbox(
            "To",
            rest,
            index=rest.index(new) if new in rest else 0,
            format_func=name,
            key=f"compare_after_{before}_{len(keys)}",
            width=340,
        )
    two = state.named([offered[str(before)], offered[str(after)]])
    comparison = state.compare(project, two, gold)
    show_scores(project, comparison, two)
    show_options(project, two)
    show_entities(project, comparison, two)


def default_pair(runs: Sequence[Job], keys: Sequence[str]) -> tuple[str, str]:
    """Return what to compare at first: the best method of the latest run, before and now.

    Without an earlier run of that method, the other side is the first set there is.
    """
    if not runs:  # only dictionaries and opinions
        return keys[0], keys[1]
    new = f"{runs[0].id}/{findings.methods_of(runs[0])[0]}"
    method = new.partition("/")[2]
    earlier = [f"{job.id}/{method}" for job in runs[1:]]
    old = next((key for key in (*earlier, *keys) if key in keys and key != new), keys[0])
    return old, new


def show_scores(
    project: Project, comparison: state.Comparison, two: Sequence[state.ComparedSet]
) -> None:
    """Draw the scores of both, and whether the difference could be chance."""
    st.subheader("Scores", anchor=False)
    if comparison.gold is None:
        st.info("Without gold there are no scores to compare.", icon=":material/info:")
        return
    table = difference(tables.scored(project, comparison), two[0].name, two[1].name)
    rows = {
        SHARES[row["share"]]: [
            share(row["before"])._replace(worth=None),
            share(row["after"])._replace(worth=None),
            gap(row["difference"], row["low"], row["high"]),
            Cell("–" if row["better"] != row["better"] else f"{100 * row['better']:.0f} %"),
        ]
        for row in table.to_dict("records")
    }
    headings = ["", f"{two[0].name} (%)", f"{two[1].name} (%)", "Difference (points)"]
    headings.append(f"{two[1].name} is higher in")
    st.html(score_table.STYLE)
    st.html(score_table.groups_html(headings, [Group("", rows)], {}))
    st.caption(
        elements.plain(
            f"“{two[1].name} is higher in”: the share of 1,000 random resamples of the text in "
            "which it scores higher. Near 50 %, neither is better; above 97 %, the difference is "
            "unlikely to be chance."
        )
    )


def gap(value: float, low: float, high: float) -> Cell:
    """Return a difference in points with its interval.

    >>> gap(0.031, 0.012, 0.049)
    Cell(text='+3.1', worth=None, interval='+1.2 to +4.9')
    """
    if value != value:
        return Cell("–")
    return Cell(f"{100 * value:+.1f}", interval=f"{100 * low:+.1f} to {100 * high:+.1f}")


def show_options(project: Project, two: Sequence[state.ComparedSet]) -> None:
    """Draw the settings that differ."""
    st.subheader("Settings", anchor=False)
    sides = [options(project, choice) for choice in two]
    # Dictionary matching has no training settings; only settings that both have can differ.
    rows = [
        {"option": name, "before": sides[0][name], "after": sides[1][name]}
        for name in sides[0]
        if name in sides[1] and sides[0][name] != sides[1][name]
    ]
    if not rows:
        st.caption("The settings that both have are the same.")
        return
    headings = {"option": "Setting", "before": two[0].name, "after": two[1].name}
    elements.show_table(pd.DataFrame(rows), headings, "table_options")


def options(project: Project, choice: state.ComparedSet) -> Mapping[str, str]:
    """Return the settings of a set: for dictionary matches only dictionaries and matching."""
    if choice.job is None:
        return {
            "dictionaries": f"v{project.dictionary_version()}",
            "matching": project.match_preset(),
        }
    job = choice.job
    card = run_card(jobs.run_folder(job, choice.method))
    settings = asdict(card.settings) if card else {}
    learned = "yes" if job.request.get("use_decisions") else "no"
    return {
        "dictionaries": f"v{job.dictionary_version}",
        "matching": job.match_preset,
        "preset": str(job.request["preset"]),
        "decisions used": learned,
        **{name: str(value) for name, value in settings.items() if name != "method"},
    }


def show_entities(
    project: Project, comparison: state.Comparison, two: Sequence[state.ComparedSet]
) -> None:
    """Draw the entities that only one of the two finds, or that have another type."""
    st.subheader("Changed entities", anchor=False)
    changed = tables.changed(comparison, two[0].name, two[1].name)
    if changed.empty:
        st.caption("Both find exactly the same entities.")
        return
    only_before = int((changed["after"] == "").sum())
    only_after = int((changed["before"] == "").sum())
    with st.container(horizontal=True):
        both = comparison.pool.column(two[0].name) & comparison.pool.column(two[1].name)
        elements.figure("In both", elements.count(int(both.sum())))
        elements.figure("Gone", elements.count(only_before), f"only in {two[0].name}")
        elements.figure("New", elements.count(only_after), f"only in {two[1].name}")
        elements.figure("Other type", elements.count(len(changed) - only_before - only_after))
    columns: dict[str, Any] = {"text": "Text", "before": two[0].name, "after": two[1].name}
    if comparison.gold:
        columns["gold"] = "Gold"
    columns |= {
        "score": st.column_config.NumberColumn("Score", format="%.2f"),
        "document": "Document",
        "context": "Sentence",
    }
    shown = tables.with_words(project, changed.head(MOST_ROWS))
    elements.show_table(shown, columns, "table_changed")
    more = len(changed) - MOST_ROWS
    if more > 0:
        st.caption(f"{more:,} more are in the download.")
    with st.container(horizontal=True):
        with_card(
            "Download changed entities (CSV)",
            lambda: tables.with_words(project, changed).to_csv(index=False).encode(),
            "changed-entities.csv",
            key="download_changed",
            facts=lambda: state.card(project, two, "entities that two sets do not share"),
        )
