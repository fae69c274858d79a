"""The tab Sentences: each sentence with one lane per method, and filters to find differences."""

from collections.abc import Sequence

import streamlit as st

from engine.jobs import Job
from engine.projects import Project
from engine.scoring import Filter
from ui.charts.palette import type_colors
from ui.parts import elements
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state import corpus, review_setup
from ui.views.compare import lanes

PAGE_SIZE = 25
ALL, DISAGREE, WRONG = "All", "Disagree", "Differ from gold"
ANY = "Any"


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw the filters and the sentences that match them, page by page."""
    wanted, words = show_filters(comparison)
    shown = tables.sentences_like(project, comparison, wanted, words)
    if not shown:
        st.info("No sentence matches these filters.", icon=":material/info:")
        return
    place = st.container()
    pages = -(-len(shown) // PAGE_SIZE)
    # The key contains the filters, so that a new filter starts at the first page.
    page = st.pagination(pages, key=f"compare_page {wanted} {words}") if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    here = shown[first : first + PAGE_SIZE]
    with place:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"Sentences {first + 1:,}–{first + len(here):,} of {len(shown):,}. Words with a "
                "dotted line: the methods differ."
            )
            show_review_button(project, comparison)
        elements.legend(comparison.pool.types)
        blocks = lanes.make_blocks(comparison.pool, corpus.sentences(project), here)
        st.html(lanes.STYLE)
        st.html(lanes.lanes_html(blocks, type_colors(comparison.pool.types)))


def show_filters(comparison: state.Comparison) -> tuple[Filter, str]:
    """Draw the filters; return them and the words to search for."""
    kinds = [ALL]
    if len(comparison.voices) > 1:
        kinds.append(DISAGREE)
    if comparison.gold:
        kinds.append(WRONG)
    with st.container(horizontal=True, vertical_alignment="top"):
        kind = st.segmented_control(
            "Sentences",
            kinds,
            default=kinds[1] if len(kinds) > 1 else ALL,
            required=True,
            key=f"compare_kind_{len(kinds)}",
            help="Disagree: the trained methods mark something differently. A phrase that the "
            "dictionaries do not list does not count. Differ from gold: at least one method "
            "differs from gold.",
        )
        only_in = st.selectbox(
            "Only in",
            [ANY, *comparison.names],
            key=f"compare_only_{'|'.join(comparison.names)}",
            help="Sentences with an entity that only this method finds.",
            width=150,
        )
        types = st.multiselect(
            "Types",
            comparison.pool.types,
            key="compare_types",
            placeholder="All types",
            width=190,
        )
        low, high = show_score_range(comparison)
        words = st.text_input(
            "Search", key="compare_search", placeholder="Words in the text", width=170
        )
    return make_filter(comparison, str(kind), str(only_in), types, (low, high)), words.strip()


def show_score_range(comparison: state.Comparison) -> tuple[float, float]:
    """Draw the range of scores, if a method gives scores."""
    if not comparison.trained:
        return (0.0, 1.0)
    return st.slider(
        "Score",
        0.0,
        1.0,
        (0.0, 1.0),
        step=0.05,
        key="compare_score",
        help="Sentences with an entity whose score is in this range.",
        width=170,
    )


def make_filter(
    comparison: state.Comparison,
    kind: str,
    only_in: str,
    types: Sequence[str],
    scores: tuple[float, float],
) -> Filter:
    """Return the chosen filters as the engine's filter."""
    disputed: tuple[str, ...] = ()
    if kind == DISAGREE:
        disputed = comparison.voices
    elif kind == WRONG and comparison.gold:
        disputed = (comparison.gold, *(comparison.trained or comparison.names))
    is_any = only_in == ANY
    return Filter(
        disputed_by=disputed,
        types=tuple(types),
        marked_by=() if is_any else (only_in,),
        missed_by=() if is_any else tuple(name for name in comparison.names if name != only_in),
        least_score=scores[0],
        most_score=scores[1],
    )


def show_review_button(project: Project, comparison: state.Comparison) -> None:
    """Draw the button that opens Review with what a run's methods disagree on."""
    job: Job | None = next((choice.job for choice in comparison.chosen if choice.job), None)
    if job is None:
        return
    if st.button(
        "Send to Review",
        key="compare_review",
        icon=":material/fact_check:",
        help="Opens Review with the entities that the methods of this run disagree on most.",
    ):
        review_setup.remember(project, run=job.id, order="disagreement")
        elements.go_to("review")
