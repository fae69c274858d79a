"""Draw the state of a coverage curve as a grid of escaped HTML: shares across, methods down."""

from collections.abc import Mapping
from html import escape

import pandas as pd

STATES = {  # by the job's name for a state: the words and the sign to show
    "queued": ("waiting", "·"),
    "running": ("training", "▸"),
    "done": ("done", "✓"),
    "failed": ("failed", "✕"),
}
STYLE = """<style>
.gl-cells { overflow-x: auto; }
.gl-cells table { border-collapse: separate; border-spacing: 3px; font-size: .82rem; }
.gl-cells th { font-weight: 400; opacity: .75; padding: .15rem .6rem; text-align: center;
  white-space: nowrap; }
.gl-cells th[scope=row] { text-align: right; }
.gl-cells td { padding: .15rem .6rem; border-radius: .3rem; white-space: nowrap;
  text-align: center; min-width: 5.2rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
.gl-cells td.running { background: color-mix(in srgb, #3778ad 35%, transparent); }
.gl-cells td.done { background: color-mix(in srgb, #2e8b57 26%, transparent); }
.gl-cells td.failed { background: color-mix(in srgb, #b0505e 35%, transparent); }
</style>"""


def cells_html(cells: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Return the grid, with one row per method, or per method and seed if there are several seeds.

    cells: fraction, method, seed, state, message. Methods come in the order of `names`.
    """
    fractions = sorted(cells["fraction"].unique().tolist())
    seeds = sorted(cells["seed"].unique().tolist())
    known = {
        (row["method"], row["seed"], row["fraction"]): (row["state"], row["message"])
        for row in cells.to_dict("records")
    }
    head = "".join(f'<th scope="col">{fraction} %</th>' for fraction in fractions)
    rows = []
    order = {method: i for i, method in enumerate(names)}
    for method in sorted(cells["method"].unique(), key=lambda name: order.get(name, len(order))):
        for seed in seeds:
            name = names.get(method, method) + (f", seed {seed}" if len(seeds) > 1 else "")
            states = (known.get((method, seed, fraction), ("", "")) for fraction in fractions)
            cells_of_row = "".join(_cell(state, message) for state, message in states)
            rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells_of_row}</tr>')
    return (
        f'<div class="gl-cells"><table><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(state: str, message: str) -> str:
    if state not in STATES:
        return "<td></td>"
    word, sign = STATES[state]
    title = f' title="{escape(message)}"' if message else ""
    return f'<td class="{state}"{title}>{sign} {word}</td>'
