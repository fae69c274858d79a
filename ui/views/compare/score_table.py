"""Draw tables that compare methods as escaped HTML, with the best of each column in bold."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import pandas as pd

STYLE = """<style>
.gl-scores { overflow: auto; max-height: 60rem; }
.gl-scores table { border-collapse: collapse; font-size: .9rem; width: 100%; max-width: 58rem;
  font-variant-numeric: tabular-nums; }
.gl-scores th, .gl-scores td { text-align: right; padding: .28rem .7rem; white-space: nowrap; }
.gl-scores thead th { font-weight: 600; opacity: .75; border-bottom: 1px solid
  color-mix(in srgb, currentColor 25%, transparent); }
.gl-scores th:first-child { text-align: left; padding-left: .2rem; font-weight: inherit; }
.gl-scores tr.g th { font-weight: 600; padding-top: .8rem; text-align: left; white-space: normal;
  overflow-wrap: anywhere; }
.gl-scores td b { font-weight: 700; }
.gl-scores td:has(b) { background: color-mix(in srgb, currentColor 7%, transparent); }
.gl-dot { display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .5em;
  background: var(--method); }
.gl-interval { opacity: .7; font-size: .92em; }
</style>"""
_DASH = "–"


class Cell(NamedTuple):
    """A number as text, its value for finding the best (None: not ranked), and its interval."""

    text: str
    worth: float | None = None
    interval: str = ""


class Group(NamedTuple):
    """Rows that are compared with each other: a heading, and the cells of each method."""

    heading: str
    rows: Mapping[str, Sequence[Cell]]


def groups_html(headings: Sequence[str], groups: Iterable[Group], colors: Mapping[str, str]) -> str:
    """Return a table with one row per method in each group; the best of each column is bold."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    pieces = []
    for group in groups:
        if group.heading:
            heading = escape(group.heading)
            pieces.append(f'<tr class="g"><th colspan="{len(headings)}">{heading}</th></tr>')
        best = _best(list(group.rows.values()))
        for name, cells in group.rows.items():
            dot = _dot(colors.get(name))
            pieces.append(f'<tr><th scope="row">{dot}{escape(name)}</th>')
            for cell, most in zip(cells, best, strict=True):
                is_best = most is not None and cell.worth == most
                pieces.append(f"<td>{_figure(cell, is_best)}</td>")
            pieces.append("</tr>")
    return (
        f'<div class="gl-scores"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(pieces)}</tbody></table></div>"
    )


def share(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """Return a share in percent, with its interval if there is one; a dash if it is unknown.

    >>> share(0.615, 0.589, 0.642)
    Cell(text='61.5', worth=61.5, interval='58.9–64.2')
    """
    if value is None or value != value:
        return Cell(_DASH)
    ends = ""
    if low is not None and high is not None and low == low:
        ends = f"{100 * low:.1f}–{100 * high:.1f}"
    return Cell(f"{100 * value:.1f}", round(100 * value, 1), ends)


def number(value: float | None, form: str = ",.0f") -> Cell:
    """Return a number that is not ranked as better or worse; a dash if it is unknown."""
    return Cell(_DASH if value is None or value != value else format(value, form))


def _figure(cell: Cell, is_best: bool) -> str:
    text = f"<b>{escape(cell.text)}</b>" if is_best else escape(cell.text)
    interval = f' <span class="gl-interval">{escape(cell.interval)}</span>'
    return text + (interval if cell.interval else "")


def _dot(color: str | None) -> str:
    return f'<span class="gl-dot" style="--method:{color}"></span>' if color else ""


def _best(rows: Sequence[Sequence[Cell]]) -> list[float | None]:
    """Return the highest value of each column; None where all values are the same."""
    best: list[float | None] = []
    for column in zip(*rows, strict=True):
        known = [cell.worth for cell in column if cell.worth is not None]
        best.append(max(known) if len(known) > 1 and min(known) < max(known) else None)
    return best


# ---- scores against gold --------------------------------------------------------------------


def scores_html(
    table: pd.DataFrame,
    mean_scores: Mapping[tuple[str, str], float],
    colors: Mapping[str, str],
    references: Collection[str] = (),
) -> str:
    """Return precision, recall and F1 of each method, one group per type.

    table: the result of `engine.scoring.bootstrap.score_table`.  mean_scores: by method and type.
    references: methods that learned from the gold, which are never the best.
    """
    groups = []
    for entity_type in dict.fromkeys(table["entity_type"]):
        rows = {}
        for row in table[table["entity_type"] == entity_type].to_dict("records"):
            name = str(row["name"])
            shares = [
                share(row[measure], row[f"{measure}_low"], row[f"{measure}_high"])
                for measure in ("precision", "recall", "f1")
            ]
            if name in references:
                shares = [cell._replace(worth=None) for cell in shares]
            # The mean over types has no counts.
            has_counts = row["predicted"] or row["gold"]
            counted = [
                number(row[column] if has_counts else None)
                for column in ("correct", "predicted", "gold")
            ]
            mean = number(mean_scores.get((name, str(entity_type))), ".2f")
            rows[name] = [*shares, *counted, mean]
        groups.append(Group(str(entity_type), rows))
    headings = ["Method", "Precision (%)", "Recall (%)", "F1 (%)"]
    headings += ["Correct", "Found", "In gold", "Mean score"]
    return groups_html(headings, groups, colors)
