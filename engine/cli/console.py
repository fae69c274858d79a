"""Format tables and figures as plain text, and show progress, on a terminal or in a pipe."""

import sys
from collections.abc import Mapping, Sequence
from typing import Never

import pandas as pd
from tqdm import tqdm

_WIDEST_CELL = 60


def table(frame: pd.DataFrame, columns: dict[str, str] | None = None) -> str:
    """Return `frame` as aligned text, with numbers on the right.

    `columns` picks columns and gives their headings. Under a heading that ends in "%", shares
    between 0 and 1 are printed as percent.
    """
    if columns:
        frame = frame[list(columns)].rename(columns=columns)
    headings = [str(column) for column in frame.columns]
    cells = [
        [_cell(value, heading) for value, heading in zip(row, headings, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    is_number = [
        all(_is_figure(row[i]) for row in cells) and bool(cells) for i in range(len(headings))
    ]
    widths = [
        max(len(heading), *(len(row[i]) for row in cells)) if cells else len(heading)
        for i, heading in enumerate(headings)
    ]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ).rstrip()
        for row in [headings, ["-" * width for width in widths], *cells]
    ]
    return "\n".join(lines)


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal, or a dash if it is unknown."""
    return "–" if share is None or pd.isna(share) else f"{100 * share:.1f} %"


def _cell(value: object, heading: str) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "–"
    if heading.endswith("%") and isinstance(value, float):
        return f"{100 * value:.1f}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 1]}…"


def _is_figure(cell: str) -> bool:
    return cell == "–" or cell.replace(",", "").replace(".", "").lstrip("-").isdigit()


def bar_on_terminal(what: str, total: int, unit: str) -> "tqdm[Never] | None":
    """Return a progress bar on standard error; None where that is not a terminal."""
    if not sys.stderr.isatty():
        return None
    return tqdm(total=total, desc=what, unit=f" {unit}", file=sys.stderr)


class ProgressBar:
    """A progress bar on a terminal; in a pipe, one line at the end.

    A bar that was interrupted does not print "done".
    """

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._bar = bar_on_terminal(what, total, unit)

    def __enter__(self) -> "ProgressBar":
        return self

    def advance(self, count: int) -> None:
        """Move on by `count` units."""
        if self._bar is not None:
            self._bar.update(count)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif kind is None:
            print(f"{self._what}: {self._total:,} {self._unit} done", file=sys.stderr)


def columns_of(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return rows as a frame; whole numbers stay whole where values are missing."""
    return pd.DataFrame(rows, dtype=object)
