"""Write a coverage curve as one self-contained HTML page: figures and their data."""

from collections.abc import Mapping
from html import escape

import pandas as pd
import plotly.graph_objects as go
import plotly.io

from ui.charts.curves import MEASURES, coverage_figure, curve_figure

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222}h2{font-size:1.1rem;margin:2rem 0 .3rem}table{border-collapse:collapse;"
    "font-size:.85rem}td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #ddd}"
)


def curve_report(points: pd.DataFrame, names: Mapping[str, str], title: str) -> str:
    """Return the curve as a page with all figures and the table; all names are escaped."""
    has_scores = bool(points["f1"].notna().any())
    first = ["F1", "Precision", "Recall"] if has_scores else []
    figures = {name: curve_figure(points, MEASURES[name], names) for name in (*first, "Entities")}
    figures["Labeled tokens"] = coverage_figure(points)
    if has_scores:
        figures["F1 by labeled tokens"] = curve_figure(
            points, MEASURES["F1"], names, by_coverage=True
        )
    parts = []
    for i, (heading, figure) in enumerate(figures.items()):
        parts.append(f"<h2>{escape(heading)}</h2>{_html(figure, is_first=i == 0)}")
    table = points.drop(columns="run_id").to_html(
        index=False, na_rep="–", float_format="{:.4f}".format
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        "<p>Each share of the dictionary includes the phrases of the smaller shares. Lines are "
        "means over seeds; bands span the lowest to the highest value.</p>"
        f"{''.join(parts)}<h2>Data</h2>{table}</body></html>"
    )


def _html(figure: go.Figure, *, is_first: bool) -> str:
    figure.update_layout(font_color="#333")
    config = {"displaylogo": False, "responsive": True}
    return str(plotly.io.to_html(figure, full_html=False, include_plotlyjs=is_first, config=config))
