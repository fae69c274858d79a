"""Figures about distant labels: coverage, conflicts, errors, and precision from judgements."""

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from ui.charts.style import BARS, TEXT, framed, shown

_MOST_BARS = 15
_MOST_TYPES = 12  # of a heat map; more are unreadable
_ACCENT = (55, 120, 173)  # of a heat map; not the color of a type or a method
# Kinds of errors: not the color of a type or a method, and different in lightness.
_ERROR_COLORS = {
    "boundary": "#9aa8b5",
    "type": "#b98c5f",
    "spurious": "#b0505e",
    "missed": "#566778",
}
ERROR_NAMES = {
    "boundary": "Other boundaries",
    "type": "Other type",
    "spurious": "Not an entity",
    "missed": "Missed",
}


def coverage_figure(along: pd.DataFrame) -> go.Figure:
    """Return the share of labeled tokens in each stretch of the corpus, as bars."""
    first, last = along["first_sentence"] + 1, along["last_sentence"] + 1
    bars = go.Bar(
        x=(first + last) / 2,
        y=100 * along["token_share"],
        width=0.85 * (last - first + 1),
        marker_color=BARS,
        customdata=pd.concat([first, last, along["tokens"]], axis=1),
        hovertemplate="Sentences %{customdata[0]:,}–%{customdata[1]:,}<br>"
        "%{y:.1f} % of %{customdata[2]:,} tokens labeled<extra></extra>",
    )
    figure = framed(bars, height=220)
    figure.update_xaxes(title="Sentence (number in the corpus)", showgrid=False)
    figure.update_yaxes(title="Labeled tokens (%)", rangemode="tozero", nticks=5)
    return figure


def matches_figure(by_dictionary: pd.DataFrame, colors: Mapping[str, str]) -> go.Figure:
    """Return the matches of each type and dictionary as bars, the most frequent first.

    by_dictionary: dictionary, entity_type, phrases, matches.
    """
    top = by_dictionary.sort_values("matches", ascending=False, kind="stable").head(_MOST_BARS)
    names = [
        f"{shown(entity_type)} · {shown(dictionary)}"
        for entity_type, dictionary in zip(top["entity_type"], top["dictionary"], strict=True)
    ]
    bars = go.Bar(
        x=top["matches"],
        # Positions, so that two long names that are cut to the same text keep separate bars.
        y=list(range(len(top))),
        orientation="h",
        width=0.6,
        marker_color=[colors[name] for name in top["entity_type"]],
        text=[f"{count:,}" for count in top["matches"]],
        textposition="outside",
        cliponaxis=False,
        customdata=list(zip(names, top["phrases"], strict=True)),
        hovertemplate="%{customdata[0]}<br>%{x:,} matches, %{customdata[1]:,} phrases"
        "<extra></extra>",
    )
    figure = framed(bars, height=90 + 38 * len(top))
    figure.update_xaxes(title="Matches (count)", rangemode="tozero", nticks=6, tickformat=",d")
    return _with_rows(figure, names)


def per_sentence_figure(table: pd.DataFrame) -> go.Figure:
    """Return the number of sentences by their number of matches; the last bar includes more.

    table: matches, sentences.
    """
    last = int(table["matches"].max())
    names = [f"{n} or more" if n == last else str(n) for n in table["matches"]]
    bars = go.Bar(
        x=names,
        y=table["sentences"],
        width=0.7,
        marker_color=BARS,
        text=[f"{count:,}" for count in table["sentences"]],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y:,} sentences with %{x} matches<extra></extra>",
    )
    figure = framed(bars, height=220)
    figure.update_layout(margin_t=24)  # for the number above the highest bar
    figure.update_xaxes(title="Matches per sentence (count)", showgrid=False, type="category")
    figure.update_yaxes(title="Sentences (count)", rangemode="tozero", nticks=5, tickformat=",d")
    return figure


def conflicts_figure(counts: pd.DataFrame) -> go.Figure:
    """Return how often a match of one type (row) won over one of another (column).

    counts: winner_type, loser_type, times.
    """
    types = _frequent_types(counts)
    names = [shown(name) for name in types]
    grid = (
        counts.pivot_table(index="winner_type", columns="loser_type", values="times", aggfunc="sum")
        .reindex(index=types, columns=types)
        .fillna(0)
        .to_numpy(int)
    )
    positions = list(range(len(types)))
    cells = go.Heatmap(
        z=grid,
        x=positions,
        y=positions,
        xgap=3,
        ygap=3,
        zmin=0,
        colorscale=[[0, _accent(0.08)], [1, _accent(1)]],
        showscale=False,
        customdata=[[f"{a} won over {b}" for b in names] for a in names],
        hovertemplate="%{customdata}: %{z:,} times<extra></extra>",
    )
    strong = grid > 0.5 * max(grid.max(initial=0), 1)
    numbers = go.Scatter(
        x=positions * len(types),
        y=[row for row in positions for _ in types],
        mode="text",
        text=[f"{n:,}" for n in grid.ravel()],
        textfont={"color": ["#ffffff" if is_strong else TEXT for is_strong in strong.ravel()]},
        hoverinfo="skip",
    )
    figure = framed([cells, numbers], height=110 + 46 * len(types))
    figure.update_xaxes(title="Lost", tickvals=positions, ticktext=names, showgrid=False)
    return _with_rows(figure, names, title="Won")


def errors_figure(errors_by_type: Mapping[str, Mapping[str, int]]) -> go.Figure:
    """Return the kinds of errors per type as stacked bars, the type with most errors first."""
    types = sorted(errors_by_type, key=lambda name: -sum(errors_by_type[name].values()))
    types = types[:_MOST_BARS]
    names = [shown(name) for name in types]
    bars = [
        go.Bar(
            x=[errors_by_type[name][kind] for name in types],
            y=list(range(len(types))),
            name=ERROR_NAMES[kind],
            orientation="h",
            width=0.55,
            marker_color=color,
            customdata=names,
            hovertemplate=f"%{{customdata}}: %{{x:,}} {ERROR_NAMES[kind].lower()}<extra></extra>",
        )
        for kind, color in _ERROR_COLORS.items()
    ]
    figure = framed(bars, height=120 + 38 * len(types))
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        margin_t=36,
    )
    figure.update_xaxes(title="Errors (count)", rangemode="tozero", nticks=6, tickformat=",d")
    return _with_rows(figure, names)


def precision_figure(checked: pd.DataFrame, by: str) -> go.Figure:
    """Return precision with its 95 % interval per dictionary or type, the total last.

    checked: `by`, checked, precision, low, high; rows without judgements are left out.
    """
    rows = checked[checked["precision"].notna()]
    low, mid, high = (100 * rows[name].astype(float) for name in ("low", "precision", "high"))
    positions = list(range(len(rows)))
    names = [
        f"{shown(str(name))} ({count:,} checked)"
        for name, count in zip(rows[by], rows["checked"], strict=True)
    ]
    points = go.Scatter(
        x=mid,
        y=positions,
        mode="markers",
        marker={"size": 10, "color": _accent(1)},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": high - mid,
            "arrayminus": mid - low,
            "color": _accent(0.7),
            "thickness": 2,
            "width": 5,
        },
        customdata=list(zip(names, low, high, strict=True)),
        hovertemplate="%{customdata[0]}<br>%{x:.1f} % right, probably %{customdata[1]:.0f} to "
        "%{customdata[2]:.0f} %<extra></extra>",
    )
    beside = go.Scatter(
        x=[107] * len(rows),
        y=positions,
        mode="text",
        text=[f"{m:.0f} % [{a:.0f}–{b:.0f}]" for a, m, b in zip(low, mid, high, strict=True)],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
    )
    figure = framed([points, beside], height=90 + 40 * len(rows))
    figure.update_layout(margin_r=120)
    figure.update_xaxes(
        title="Precision (%), with its 95 % interval", range=[0, 107], tickvals=[*range(0, 101, 20)]
    )
    return _with_rows(figure, names)


def _with_rows(figure: go.Figure, names: Sequence[str], title: str | None = None) -> go.Figure:
    """Label the rows, the first on top."""
    figure.update_yaxes(
        title=title,
        tickvals=list(range(len(names))),
        ticktext=list(names),
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


def _frequent_types(counts: pd.DataFrame) -> list[str]:
    """Return the types with most conflicts, by name."""
    sides = (counts.groupby(name)["times"].sum() for name in ("winner_type", "loser_type"))
    total = pd.concat(list(sides)).groupby(level=0).sum()
    return sorted(total.sort_values(ascending=False, kind="stable").index[:_MOST_TYPES])


def _accent(strength: float) -> str:
    return f"rgba({', '.join(map(str, _ACCENT))}, {strength:g})"
