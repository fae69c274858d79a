"""Write a project's figures and sample sentences as one self-contained HTML page.

Styles and charts (SVG) are inside; there are no scripts or outside pictures, and a content security
policy forbids them. All text from files is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ui.charts.palette import METHOD_COLORS
from ui.parts import highlight
from ui.parts.highlight import Line

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """<style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto;
  padding: 2.5rem 1.5rem 4rem; color: #1c2733; background: #fff; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; }
p { margin: .3rem 0 1rem; max-width: 44rem; }
.quiet { opacity: .75; font-size: .9rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1.2rem 2.6rem; margin: 1.4rem 0; }
.figure b { display: block; font-size: 1.7rem; font-weight: 600; line-height: 1.3; }
.figure span { font-size: .85rem; opacity: .75; display: block; }
table { border-collapse: collapse; margin: .8rem 0 1.4rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem 1.4rem .35rem 0; text-align: right; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
th { font-size: .85rem; font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; max-width: 44rem; height: auto; display: block; }
svg text { fill: currentColor; font-size: 13px; }
@media (prefers-color-scheme: dark) { body { color: #e4e9ee; background: #14191f; } }
@media print { body { padding: 0; } .gl-sentence { break-inside: avoid; } }
</style>"""
_WIDTH, _ROW, _LEFT, _RIGHT = 700, 30, 190, 110  # of a chart, in SVG units
_LONGEST_NAME = 24
_GREY = "#7d8791"  # for methods without a color of their own


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with a line under it that explains it."""

    label: str
    value: str
    under: str = ""


@dataclass(frozen=True, slots=True)
class TypeRow:
    """What the dictionaries match of one entity type."""

    entity_type: str
    phrases: int
    phrases_used: int
    matches: int
    token_share: float


@dataclass(frozen=True, slots=True)
class MethodRow:
    """How many entities one method found and, where there is gold, its scores."""

    method: str
    name: str
    entities: int
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    low: float | None = None  # 95 % interval of F1
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The content of the report."""

    name: str  # the project's
    made_at: str
    figures: Sequence[Figure]
    types: Sequence[TypeRow]
    methods: Sequence[MethodRow]
    sentences: Sequence[Line]
    sentences_by: str  # who found the entities marked in them
    colors: Mapping[str, str]  # by entity type
    notes: Sequence[str] = ()


def make_report(report: Report) -> str:
    """Return the report as a whole HTML page."""
    has_scores = any(row.f1 is not None for row in report.methods)
    about_methods = _scores if has_scores else _methods
    sections = [
        f"<h1>{escape(report.name)}</h1>",
        f'<p class="quiet">Glossa, {escape(report.made_at)}</p>',
        _figures(report.figures),
        _coverage(report),
        about_methods(report.methods) if report.methods else "",
        _sentences(report),
        _notes(report.notes),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.name)}: report</title>\n{_STYLE}\n{highlight.STYLE}\n</head>\n"
        f"<body>\n{chr(10).join(filter(None, sections))}\n</body>\n</html>\n"
    )


# ---- sections -------------------------------------------------------------------------------


def _figures(figures: Iterable[Figure]) -> str:
    items = "".join(
        f'<div class="figure"><span>{escape(figure.label)}</span><b>{escape(figure.value)}</b>'
        f"<span>{escape(figure.under)}</span></div>"
        for figure in figures
    )
    return f'<div class="figures">{items}</div>'


def _coverage(report: Report) -> str:
    if not report.types:
        return ""
    bars = [
        Bar(row.entity_type, row.matches, f"{row.matches:,}", report.colors[row.entity_type])
        for row in report.types
    ]
    header = ("Type", "Phrases", "Phrases used", "Matches", "Tokens labeled")
    rows = [
        (
            row.entity_type,
            f"{row.phrases:,}",
            f"{row.phrases_used:,}",
            f"{row.matches:,}",
            _percent(row.token_share),
        )
        for row in report.types
    ]
    return (
        "<h2>What the dictionaries find</h2>"
        "<p>Matches per type. Coverage is not recall: it tells how much was labeled, not how much "
        f"should have been.</p>{bar_chart(bars)}{_table(header, rows)}"
    )


def _methods(methods: Sequence[MethodRow]) -> str:
    """Return how much each method finds; for projects without gold."""
    bars = [
        Bar(row.name, row.entities, f"{row.entities:,}", METHOD_COLORS.get(row.method, _GREY))
        for row in methods
    ]
    rows = [(row.name, f"{row.entities:,}") for row in methods]
    return (
        "<h2>What each method finds</h2>"
        "<p>Entities found. Without gold labels, nobody knows how many of them are "
        f"correct.</p>{bar_chart(bars)}{_table(('Method', 'Entities'), rows)}"
    )


def _scores(methods: Sequence[MethodRow]) -> str:
    dots = [
        Dot(row.name, row.f1, row.low, row.high, METHOD_COLORS.get(row.method, _GREY))
        for row in methods
        if row.f1 is not None
    ]
    has_intervals = any(row.low is not None for row in methods)
    interval = ("95 % interval of F1",) if has_intervals else ()
    header = ("Method", "Precision", "Recall", "F1", *interval, "Entities")
    rows = [
        (
            row.name,
            *map(_percent, (row.precision, row.recall, row.f1)),
            *((_interval(row),) if has_intervals else ()),
            f"{row.entities:,}",
        )
        for row in methods
    ]
    resampled = ", with 95 % intervals from resampling the text" if has_intervals else ""
    return (
        "<h2>Scores of each method</h2>"
        f"<p>F1 against the gold labels{resampled}. An entity counts as correct only with the same "
        f"words and the same type.</p>{dot_chart(dots)}{_table(header, rows)}"
    )


def _sentences(report: Report) -> str:
    if not report.sentences:
        return ""
    shown = highlight.highlight_lines(report.sentences, report.colors)
    return (
        "<h2>Sentences drawn at random</h2>"
        f"<p>{len(report.sentences):,} sentences, entities from: {escape(report.sentences_by)}.</p>"
        f"{shown}"
    )


def _notes(notes: Sequence[str]) -> str:
    return f"<h2>Notes</h2>{highlight.bullets(notes)}" if notes else ""


def _table(header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _interval(row: MethodRow) -> str:
    if row.low is None or row.high is None:
        return "–"
    return f"{100 * row.low:.1f}–{100 * row.high:.1f} %"


# ---- charts ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a bar chart."""

    name: str
    value: float
    label: str
    color: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A row of a dot chart: a share from 0 to 1, with its interval if known."""

    name: str
    value: float
    low: float | None
    high: float | None
    color: str


def bar_chart(bars: Sequence[Bar]) -> str:
    """Return horizontal bars as SVG, each with its name on the left and its value on the right."""
    most = max((bar.value for bar in bars), default=0) or 1
    room = _WIDTH - _LEFT - _RIGHT
    rows = []
    for i, bar in enumerate(bars):
        y, length = i * _ROW, room * bar.value / most
        rows.append(
            f"{_name(bar.name, y)}"
            f'<rect x="{_LEFT}" y="{y + 6}" width="{length:.1f}" height="{_ROW - 12}" rx="3" '
            f'fill="{bar.color}"/>'
            f'<text x="{_LEFT + length + 8:.1f}" y="{y + 20}">{escape(bar.label)}</text>'
        )
    return _svg("".join(rows), len(bars) * _ROW)


def dot_chart(dots: Sequence[Dot]) -> str:
    """Return shares as dots on an axis from 0 to 100 %, with intervals as lines."""
    room = _WIDTH - _LEFT - _RIGHT

    def x(share: float) -> str:
        return f"{_LEFT + room * share:.1f}"

    bottom = len(dots) * _ROW
    rows = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        rows.append(
            f'<path d="M{x(share)} 0V{bottom}" stroke="currentColor" stroke-opacity=".15"/>'
            f'<text x="{x(share)}" y="{bottom + 18}" text-anchor="middle" opacity=".75">'
            f"{100 * share:.0f} %</text>"
        )
    for i, dot in enumerate(dots):
        y = i * _ROW + _ROW / 2
        if dot.low is not None and dot.high is not None:
            rows.append(
                f'<path d="M{x(dot.low)} {y}H{x(dot.high)}" stroke="{dot.color}" '
                'stroke-width="5" stroke-opacity=".4" stroke-linecap="round"/>'
            )
        rows.append(
            f'{_name(dot.name, i * _ROW)}<circle cx="{x(dot.value)}" cy="{y}" r="6" '
            f'fill="{dot.color}"/>'
            f'<text x="{_WIDTH - _RIGHT + 24}" y="{y + 5}">{_percent(dot.value)}</text>'
        )
    return _svg("".join(rows), bottom + 26)


def _name(name: str, y: float) -> str:
    shown = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return f'<text x="{_LEFT - 12}" y="{y + 20}" text-anchor="end">{escape(shown)}</text>'


def _svg(content: str, height: float) -> str:
    return f'<svg role="img" viewBox="0 0 {_WIDTH} {height:.0f}">{content}</svg>'
