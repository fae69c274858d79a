"""Label the lines of a chart at their ends, and move labels apart where they would overlap."""

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

_LINE_HEIGHT = 16  # pixels


class EndLabel(NamedTuple):
    """The name of a line and the point where it ends."""

    text: str
    color: str
    x: float
    y: float


def add_end_labels(
    figure: go.Figure, labels: Sequence[EndLabel], y_range: tuple[float, float]
) -> None:
    """Write each name to the right of its point; `y_range` is the range of the y-axis."""
    low, high = y_range
    pixels = max((figure.layout.height or 300) - 70, 50)  # without titles and ticks
    places = spread([label.y for label in labels], _LINE_HEIGHT * (high - low) / pixels)
    right = max((label.x for label in labels), default=0)
    for label, y in zip(labels, places, strict=True):
        # A line that ends early has its name at its own end; all other names share one column.
        figure.add_annotation(
            x=label.x if label.x < right else right,
            y=y,
            text=label.text,
            font={"color": label.color},
            xanchor="left",
            xshift=9,
            showarrow=False,
        )


def spread(values: Sequence[float], least: float) -> list[float]:
    """Move the values apart until they differ by at least `least`, staying near their places.

    >>> spread([1.0, 5.0, 1.0], 2.0)
    [0.0, 5.0, 2.0]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[tuple[float, list[int]]] = []  # the middle of a group, and its members
    for i in order:
        middle, members = values[i], [i]
        while groups and middle - groups[-1][0] < least * (len(members) + len(groups[-1][1])) / 2:
            members = groups.pop()[1] + members
            middle = sum(values[k] for k in members) / len(members)
        groups.append((middle, members))
    places = list(values)
    for middle, members in groups:
        for rank, i in enumerate(members):
            places[i] = middle + least * (rank - (len(members) - 1) / 2)
    return places
