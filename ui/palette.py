"""Colors: entity types share eight, methods have their own; the same on every page and export."""

from collections.abc import Iterable

# Okabe and Ito's colors, safe for color-blind eyes; yellow, faint on white, comes last.
PALETTE = (
    *("#E69F00", "#56B4E9", "#009E73", "#CC79A7"),
    *("#D55E00", "#0072B2", "#999999", "#F0E442"),
)
# None of them an entity's color; each 3:1 or more against both the light and the dark page.
METHOD_COLORS = {
    "dictionary": "#7d8791",
    "mpn": "#a86a35",
    "mpu": "#8a63d2",
    "conf_mpu": "#d1375b",
    "gold": "#757d1c",
    "review": "#1f8a8a",
}
METHOD_DASHES = {  # plotly's names of line styles
    "dictionary": "dash",
    "mpn": "dot",
    "mpu": "dashdot",
    "conf_mpu": "solid",
    "gold": "solid",
    "review": "solid",
}


def type_colors(types: Iterable[str]) -> dict[str, str]:
    """Return a color for each type, by sorted name; after eight types they begin again.

    >>> type_colors(["Disease", "Chemical"])
    {'Chemical': '#E69F00', 'Disease': '#56B4E9'}
    """
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(sorted(set(types)))}
