"""The tabs Agreement and Types: which methods find the same, and which types they confuse."""

import streamlit as st

from ui.charts import compare as charts_compare
from ui.charts import matrix as charts_matrix
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state.figures import kept_figure


def show(comparison: state.Comparison) -> None:
    """Draw how far methods agree, what only one of them finds, and all combinations."""
    made = tables.agreement(comparison)
    if not len(comparison.pool.places):
        st.info("None of these methods found an entity, so there is nothing to compare.")
        return
    if len(comparison.pool.names) > 1:
        st.subheader("Agreement", anchor=False)
        figure = tables.drawn(
            comparison, ("agreement",), lambda: charts_matrix.agreement_figure(made.matrix)
        )
        st.plotly_chart(figure, key="chart_agreement", config=CONFIG)
        st.caption(
            "Of all entities that at least one of the two methods finds, the share that both find "
            "with the same words and the same type."
        )
    if len(comparison.names) < 2:
        st.info("Choose a second method to see what only one of them finds.")
        return
    st.subheader("Found by one method only", anchor=False)
    figure = tables.drawn(
        comparison, ("alone",), lambda: charts_compare.alone_figure(made.alone, comparison.colors)
    )
    st.plotly_chart(figure, key="chart_alone", config=CONFIG)
    st.subheader("Combinations of methods", anchor=False)
    figure = tables.drawn(
        comparison,
        ("combinations",),
        lambda: charts_compare.combinations_figure(made.combinations, comparison.colors),
    )
    st.plotly_chart(figure, key="chart_combinations", config=CONFIG)
    st.caption(
        "Each bar counts the entities found by exactly the methods with a filled dot below it"
        f"{'; gold is left out' if comparison.gold else ''}."
    )


def show_types(comparison: state.Comparison) -> None:
    """Draw the types of one method's entities by the types that another method gives them."""
    names = comparison.pool.names
    if len(names) < 2:
        st.info("Choose two methods to compare their types.")
        return
    with st.container(horizontal=True):
        rows = st.selectbox(
            "Rows",
            names,
            key=f"compare_rows_{'|'.join(names)}",
            width=240,
        )
        others = [name for name in names if name != rows]
        columns = st.selectbox(
            "Columns",
            others,
            index=len(others) - 1,
            key=f"compare_columns_{'|'.join(others)}",
            width=240,
        )
    table = tables.confused(comparison, str(rows), str(columns))
    figure = kept_figure(charts_matrix.confusion_figure, table, str(rows), str(columns))
    st.plotly_chart(figure, key="chart_confusion", config=CONFIG)
    st.caption(
        elements.plain(
            f"Each entity of {rows} counts once, under the type of the {columns} entity that "
            f"overlaps it most; “none” if there is no such entity. The last row counts what only "
            f"{columns} finds."
        )
    )
