"""The tab Certainty: how the scores of entities are spread, and how far they can be trusted."""

import streamlit as st

from ui import charts_certainty, parts
from ui.chart_style import CONFIG
from ui.state import comparison as state
from ui.state import comparison_tables as tables


def show(found: state.Comparison) -> None:
    """Draw the histogram of scores and, with gold, how many of each score are right."""
    made = tables.certainty(found)
    if made.histogram.empty:
        st.info("None of these gives scores; the trained methods do.")
        return
    st.subheader("Scores of what is found", anchor=False)
    figure = tables.drawn(
        found,
        ("histogram",),
        lambda: charts_certainty.histogram_figure(made.histogram, found.colors),
    )
    st.plotly_chart(figure, key="chart_histogram", config=CONFIG)
    spread = "A score is the mean probability of the type over the words of an entity."
    st.caption(
        f"{spread} In the method's color: right by the gold; in gray: wrong."
        if found.gold
        else spread
    )
    if made.reliability is None:
        st.caption("Whether a score of 0.9 means that 90 % are right can be seen with gold only.")
        return
    st.subheader("How far to trust a score", anchor=False)
    table = made.reliability
    figure = tables.drawn(
        found, ("reliability",), lambda: charts_certainty.reliability_figure(table, found.colors)
    )
    st.plotly_chart(figure, key="chart_reliability", config=CONFIG)
    errors = [f"{name} {100 * error:.1f}" for name, error in made.errors.items()]
    st.caption(
        parts.plain(
            "On the dotted line a score says how many are right; below it the method is surer than "
            f"it should be. Stretches with fewer than {charts_certainty.FEWEST_ENTITIES} entities "
            f"are left out. Mean distance from the line, in points: {', '.join(errors)}."
        )
    )
