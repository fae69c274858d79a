"""How many unlabeled tokens are likely entities, on the Train page, with a slider that cuts them.

Only for the linear confidence. The run estimates it anew, from the same features.
"""

from collections.abc import Mapping
from html import escape

import streamlit as st

from engine.planning import likely_share
from engine.projects import KeptLikely, Project
from engine.settings import Settings
from ui.charts import training as charts
from ui.charts.palette import type_colors
from ui.charts.style import CONFIG
from ui.parts import elements, likely_names
from ui.state import labels as labels_state
from ui.state import likely
from ui.state.figures import kept_figure

LEAST, MOST = 0.5, 2.0  # times what the priors say


def show(
    project: Project, base: Settings, key: str, priors: Mapping[str, float] | None
) -> float | None:
    """Draw the likely tokens; return the share that the user chose, None if nothing is known."""
    result = likely.kept(project)
    if result is None or not likely.is_fresh(project, result):
        show_offer(project)
        return None
    with st.container(border=True, gap="small", key="train_likely"):
        st.html('<div class="gl-box-title">Likely entities</div>')
        return show_cut(project, result, base, key, priors)


def show_offer(project: Project) -> None:
    """Draw one line that offers the search."""
    if likely.active_search(project) is None:
        st.caption(
            "Conf-MPU leaves likely entities out of the negatives. See how many and which, before "
            "you train:"
        )
    likely_names.show_search(project, "train_likely")


def show_cut(
    project: Project,
    result: KeptLikely,
    base: Settings,
    key: str,
    priors: Mapping[str, float] | None,
) -> float | None:
    """Draw the slider, what it means, the histogram and words near the cut."""
    tokens, share = result.tokens, None
    if priors is not None:
        share = likely_share(labels_state.labels(project).labels, sum(priors.values()))
    if not tokens.count(MOST, share):
        st.caption("As the priors say, the dictionaries already label all entities.")
        return None
    place = st.container()
    factor = st.slider(
        "Leave out (times what the priors say)",
        LEAST,
        MOST,
        min(max(base.confidence_share, LEAST), MOST),
        step=0.1,
        format="%.1f ×",
        key=f"train_share_{key}",
        help="Conf-MPU only: likely entities do not count as non-entities. Raise it if too few "
        "entities are found, lower it if too many are.",
    )
    count = tokens.count(factor, share)
    with place:
        shown = elements.percent(count / max(tokens.open_count, 1))
        st.html(
            f'<div class="gl-fact">About <b>{count:,}</b> unlabeled tokens are likely entities '
            f"(<b>{shown}</b> of the unlabeled text).</div>"
        )
    types = tokens.entity_types
    figure = kept_figure(
        charts.likely_figure,
        likely.histogram(project),
        type_colors(types),
        likely.cut_confidence(project, count),
    )
    st.plotly_chart(figure, key="chart_likely", config=CONFIG)
    above, below = likely.near_cut(project, count)
    st.html(words_html("Just left out", above) + words_html("Just kept as non-entities", below))
    if st.button(
        "See all likely names",
        key="train_likely_names",
        icon=":material/arrow_forward:",
        type="tertiary",
    ):
        labels_state.open_tab("Missing names")
        elements.go_to("labels")
    return float(factor)


def words_html(label: str, words: list[str]) -> str:
    """Return a few words after a label as HTML; nothing without words."""
    if not words:
        return ""
    return f'<div class="gl-fact">{label}: <i>{escape(", ".join(words))}</i></div>'
