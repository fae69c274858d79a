"""The tab Certainty: the distribution of entity scores, and how reliable they are."""

import streamlit as st

from ui.charts import certainty as charts_certainty
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.state import comparison as state
from ui.state import comparison_tables as tables


def show(comparison: state.Comparison) -> None:
    """Draw the histogram of scores and, with gold, the share of correct entities by score."""
    made = tables.certainty(comparison)
    if made.histogram.empty:
        st.info("None of these gives scores. Choose a trained method.")
        return
    st.subheader("Distribution of scores", anchor=False)
    figure = tables.drawn(
        comparison,
        ("histogram",),
        lambda: charts_certainty.histogram_figure(made.histogram, comparison.colors),
    )
    st.plotly_chart(figure, key="chart_histogram", config=CONFIG)
    meaning = "A score is the mean probability of the type over the words of an entity."
    legend = " Colored: correct according to gold. Gray: wrong."
    st.caption(meaning + legend if comparison.gold else meaning)
    if made.reliability is None:
        st.caption("Only gold can show whether a score of 0.9 means that 90 % are correct.")
        return
    st.subheader("How reliable scores are", anchor=False)
    table = made.reliability
    figure = tables.drawn(
        comparison,
        ("reliability",),
        lambda: charts_certainty.reliability_figure(table, comparison.colors),
    )
    st.plotly_chart(figure, key="chart_reliability", config=CONFIG)
    errors = [f"{name} {100 * error:.1f}" for name, error in made.errors.items()]
    st.caption(
        elements.plain(
            "On the dotted line, a score equals the share of correct entities; below it, the "
            "method is overconfident. Score ranges with fewer than "
            f"{charts_certainty.FEWEST_ENTITIES} entities are left out. Mean distance from the "
            f"line, in points: {', '.join(errors)}."
        )
    )
