"""The tab Sentences: one sentence, one lane a method, and filters to find where they differ."""

from collections.abc import Sequence

import streamlit as st

from engine.agreement import Filter
from engine.jobs import Job
from engine.project import Project
from ui import lanes, parts
from ui.palette import type_colors
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state import corpus

PAGE_SIZE = 25
ALL, DISAGREE, WRONG = "All", "Disagree", "Not as gold"
ANY = "Any"


def show(project: Project, found: state.Comparison) -> None:
    """Draw the filters and the sentences that they let through, page by page."""
    wanted, words = show_filters(found)
    shown = tables.sentences_like(project, found, wanted, words)
    if not shown:
        st.info("No sentence is like this. Choose other filters.", icon=":material/info:")
        return
    place = st.container()
    pages = -(-len(shown) // PAGE_SIZE)
    # Other filters, another key: the first page again.
    page = st.pagination(pages, key=f"compare_page {wanted} {words}") if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    here = shown[first : first + PAGE_SIZE]
    with place:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"Sentences {first + 1:,}–{first + len(here):,} of {len(shown):,}. Dotted words: "
                "the lanes differ."
            )
            show_review_button(project, found)
        parts.legend(found.pool.types)
        blocks = lanes.make_blocks(found.pool, corpus.sentences(project), here)
        st.html(lanes.STYLE)
        st.html(lanes.lanes_html(blocks, type_colors(found.pool.types)))


def show_filters(found: state.Comparison) -> tuple[Filter, str]:
    """Draw the filters; return them, and the words to find."""
    kinds = [ALL]
    if len(found.voices) > 1:
        kinds.append(DISAGREE)
    if found.gold:
        kinds.append(WRONG)
    with st.container(horizontal=True, vertical_alignment="top"):
        kind = st.segmented_control(
            "Sentences",
            kinds,
            default=kinds[1] if len(kinds) > 1 else ALL,
            required=True,
            key=f"compare_kind_{len(kinds)}",
            help="Disagree: the trained methods mark something differently; what a dictionary "
            "does not hold is no opinion of it. Not as gold: one of them differs from the gold.",
        )
        only_in = st.selectbox(
            "Only in",
            [ANY, *found.names],
            key=f"compare_only_{'|'.join(found.names)}",
            help="Something that this method finds and none of the others.",
            width=150,
        )
        types = st.multiselect(
            "Types",
            found.pool.types,
            key="compare_types",
            placeholder="All types",
            width=190,
        )
        low, high = show_score_range(found)
        words = st.text_input(
            "Search", key="compare_search", placeholder="Words in the text", width=170
        )
    return make_filter(found, str(kind), str(only_in), types, (low, high)), words.strip()


def show_score_range(found: state.Comparison) -> tuple[float, float]:
    """Draw the range of scores, where a method gives some."""
    if not found.trained:
        return (0.0, 1.0)
    return st.slider(
        "Score",
        0.0,
        1.0,
        (0.0, 1.0),
        step=0.05,
        key="compare_score",
        help="Sentences with an entity that a method gives a score in this range.",
        width=170,
    )


def make_filter(
    found: state.Comparison,
    kind: str,
    only_in: str,
    types: Sequence[str],
    scores: tuple[float, float],
) -> Filter:
    """Return what was chosen as the engine's filter."""
    disputed: tuple[str, ...] = ()
    if kind == DISAGREE:
        disputed = found.voices
    elif kind == WRONG and found.gold:
        disputed = (found.gold, *(found.trained or found.names))
    is_any = only_in == ANY
    return Filter(
        disputed_by=disputed,
        types=tuple(types),
        marked_by=() if is_any else (only_in,),
        missed_by=() if is_any else tuple(name for name in found.names if name != only_in),
        least_score=scores[0],
        most_score=scores[1],
    )


def show_review_button(project: Project, found: state.Comparison) -> None:
    """Draw the button that opens the review of what a run's methods disagree on."""
    job: Job | None = next((choice.job for choice in found.chosen if choice.job), None)
    if job is None:
        return
    if st.button(
        "Send to Review",
        key="compare_review",
        icon=":material/fact_check:",
        help="Opens Review with what the methods of this run disagree on most, one at a time.",
    ):
        tables.send_to_review(project, job)
        parts.go_to("review")
