"""The tabs Agreement and Types: who finds the same, and which type becomes which."""

import streamlit as st

from ui import charts_compare, charts_matrix, parts
from ui.chart_style import CONFIG
from ui.state import comparison as state
from ui.state import comparison_tables as tables


def show(found: state.Comparison) -> None:
    """Draw how far each two agree, what one alone finds, and which combinations there are."""
    made = tables.agreement(found)
    if not len(found.pool.places):
        st.info("None of these finds an entity, so there is nothing to agree on.")
        return
    if len(found.pool.names) > 1:
        st.subheader("How far they agree", anchor=False)
        figure = tables.drawn(
            found, ("agreement",), lambda: charts_matrix.agreement_figure(made.matrix)
        )
        st.plotly_chart(figure, key="chart_agreement", config=CONFIG)
        st.caption(
            "Of all entities that either of two finds, the share that both find, with the same "
            "words and the same type."
        )
    if len(found.names) < 2:
        st.info("Choose a second method to see what each finds alone.")
        return
    st.subheader("Found only by one", anchor=False)
    figure = tables.drawn(
        found, ("alone",), lambda: charts_compare.alone_figure(made.alone, found.colors)
    )
    st.plotly_chart(figure, key="chart_alone", config=CONFIG)
    st.subheader("Found by which", anchor=False)
    figure = tables.drawn(
        found,
        ("combinations",),
        lambda: charts_compare.combinations_figure(made.combinations, found.colors),
    )
    st.plotly_chart(figure, key="chart_combinations", config=CONFIG)
    st.caption(
        "Each bar is the entities that exactly the methods with a filled dot below it find"
        f"{'; gold is left out' if found.gold else ''}."
    )


def show_types(found: state.Comparison) -> None:
    """Draw what becomes of the types of one side in another."""
    names = found.pool.names
    if len(names) < 2:
        st.info("Choose two to compare their types.")
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
    table = tables.confused(found, str(rows), str(columns))
    figure = charts_matrix.confusion_figure(table, str(rows), str(columns))
    st.plotly_chart(figure, key="chart_confusion", config=CONFIG)
    st.caption(
        parts.plain(
            f"Each entity of {rows} counts once, under the type that {columns} gives to the words "
            f"it shares most of, whatever the edges; “none” where {columns} has nothing. The last "
            f"row is what only {columns} finds."
        )
    )
