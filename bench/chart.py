"""Draw the figures on top of bench/README.md, and print their table.

Both come from bench/results/headline.csv. Rows without F1 are left out.

    python -m bench.chart
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
TITLES = {
    "bc5cdr_big": "BC5CDR Big",
    "bc5cdr_small": "BC5CDR Small",
    "conll_dict": "CoNLL Dict",
    "conll_kb": "CoNLL KB",
}
COLORS = ("#b4b9c0", "#92bde6", "#e69f3c", "#1d5fa6", "#3f9a76", "#9a5fb0")  # in order of systems

WIDTH, LEFT, RIGHT, TOP = 760, 130, 80, 92
BAR, GAP = 20, 22  # height of a bar, space between settings
LEGEND_COLUMNS = 4


@dataclass(frozen=True)
class Row:
    """The score of one system on one setting; the deviation is None for a single seed."""

    setting: str
    system: str
    f1: Decimal  # as written, so that 75.35 is shown as 75.4
    deviation: Decimal | None
    seeds: str  # "1 2 3"; empty if nothing is drawn at random
    commit: str


def read_rows(path: Path = RESULTS / "headline.csv") -> list[Row]:
    """Return the rows of the file that have an F1."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                line["setting"],
                line["system"],
                Decimal(line["f1"]),
                Decimal(line["deviation"]) if line["deviation"] else None,
                line["seeds"],
                line["commit"],
            )
            for line in csv.DictReader(file)
            if line["f1"]
        ]


def make_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with one line per system; the best of each setting is bold."""
    settings = _settings(rows)
    best = {setting: max(row.f1 for row in rows if row.setting == setting) for setting in settings}
    lines = [
        f"| F1 on valid.txt | {' | '.join(TITLES[setting] for setting in settings)} | measured |",
        "|---" * (len(settings) + 2) + "|",
    ]
    for system in _systems(rows):
        scored = {row.setting: row for row in rows if row.system == system}
        cells = [_cell(scored.get(setting), best[setting]) for setting in settings]
        lines.append(f"| {system} | {' | '.join(cells)} | {_measured(scored.values())} |")
    return "\n".join(lines)


def make_svg(rows: Sequence[Row]) -> str:
    """Return a picture with one bar per row, grouped by setting."""
    systems = _systems(rows)
    colors = dict(zip(systems, COLORS[: len(systems)], strict=True))  # no color stands for two
    body: list[str] = []
    for place, system in enumerate(systems):
        line, column = divmod(place, LEGEND_COLUMNS)
        x, y = 20 + column * (WIDTH - 40) / LEGEND_COLUMNS, 50 + line * 20
        body.append(f'<rect x="{x:g}" y="{y}" width="12" height="12" fill="{colors[system]}"/>')
        body.append(_text(x + 18, y + 11, system))
    y = TOP
    for setting in _settings(rows):
        group = sorted(
            (row for row in rows if row.setting == setting),
            key=lambda row: systems.index(row.system),
        )
        middle = y + len(group) * BAR / 2 + 5
        body.append(_text(LEFT - 12, middle, TITLES[setting], 'text-anchor="end"'))
        for row in group:
            body += _bar(row, y, colors[row.system])
            y += BAR
        y += GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" '
            f'width="{WIDTH}" height="{y}" role="img" '
            'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#22262b">',
            "<title>Strict span F1 on valid.txt by setting and system</title>",
            f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>',
            _text(20, 28, "Strict span F1 on valid.txt, percent", 'font-size="16"'),
            *body,
            f'<path d="M{LEFT} {TOP - 8}V{y - GAP + 8}" stroke="#5c636b"/>',
            "</svg>\n",
        ]
    )


def main() -> None:
    """Write the picture and print the table."""
    rows = read_rows()
    (RESULTS / "headline.svg").write_text(make_svg(rows), encoding="utf-8")
    print(make_table(rows))


def _settings(rows: Sequence[Row]) -> list[str]:
    return [setting for setting in TITLES if any(row.setting == setting for row in rows)]


def _systems(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.system for row in rows))


def _score(row: Row) -> str:
    return f"{row.f1:.1f}" if row.deviation is None else f"{row.f1:.1f} ± {row.deviation:.1f}"


def _cell(row: Row | None, best: Decimal) -> str:
    if row is None:
        return "–"
    return f"**{_score(row)}**" if row.f1 == best else _score(row)


def _measured(rows: Iterable[Row]) -> str:
    """Return the seeds and the commit of the rows, as "seeds 1 2 3, 8d01f1d"."""
    said = {
        f"{'seeds' if ' ' in row.seeds else 'seed'} {row.seeds}, {row.commit}"
        if row.seeds
        else row.commit: None
        for row in rows
    }
    return "; ".join(said)


def _bar(row: Row, y: float, color: str) -> list[str]:
    width = float(row.f1) * (WIDTH - LEFT - RIGHT) / 100
    return [
        f'<rect x="{LEFT}" y="{y + 1}" width="{width:.1f}" height="{BAR - 2}" fill="{color}"/>',
        _text(LEFT + width + 6, y + BAR / 2 + 5, _score(row)),
    ]


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}"{" " * bool(attributes)}{attributes}>{escape(text)}</text>'
    )


if __name__ == "__main__":
    main()
