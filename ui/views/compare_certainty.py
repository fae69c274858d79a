"""The tab Certainty: how the scores of entities are spread, and how far they can be trusted."""

import streamlit as st

from engine.calibration import calibration_error, reliability, score_histogram
from engine.pool import within
from ui import charts_certainty, parts
from ui.chart_style import CONFIG
from ui.state import comparison as state


def show(found: state.Comparison) -> None:
    """Draw the histogram of scores and, with gold, how many of each score are right."""
    pool = within(found.pool, found.annotated) if found.gold else found.pool
    histogram = score_histogram(pool, found.gold)
    if histogram.empty:
        st.info("None of these gives scores; the trained methods do.")
        return
    st.subheader("Scores of what is found", anchor=False)
    figure = charts_certainty.histogram_figure(histogram, found.colors)
    st.plotly_chart(figure, key="chart_histogram", config=CONFIG)
    spread = "A score is the mean probability of the type over the words of an entity."
    st.caption(
        f"{spread} In the method's color: right by the gold; in gray: wrong."
        if found.gold
        else spread
    )
    if not found.gold:
        st.caption("Whether a score of 0.9 means that 90 % are right can be seen with gold only.")
        return
    st.subheader("How far to trust a score", anchor=False)
    table = reliability(pool, found.gold)
    figure = charts_certainty.reliability_figure(table, found.colors)
    st.plotly_chart(figure, key="chart_reliability", config=CONFIG)
    errors = [f"{name} {100 * error:.1f}" for name, error in calibration_error(table).items()]
    st.caption(
        parts.plain(
            "On the dotted line a score says how many are right; below it the method is surer than "
            f"it should be. Stretches with fewer than {charts_certainty.FEWEST_ENTITIES} entities "
            f"are left out. Mean distance from the line, in points: {', '.join(errors)}."
        )
    )
