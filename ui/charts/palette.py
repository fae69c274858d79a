"""The colors of entity types (eight, shared) and of methods, the same on every page and export."""

from collections.abc import Iterable

# Okabe and Ito's colors, safe for color-blind eyes; yellow, faint on white, comes last.
PALETTE = (
    *("#E69F00", "#56B4E9", "#009E73", "#CC79A7"),
    *("#D55E00", "#0072B2", "#999999", "#F0E442"),
)
# None is the color of an entity type. Contrast is 3:1 or more on the light and the dark page.
METHOD_COLORS = {
    "dictionary": "#7d8791",
    "mpn": "#a86a35",
    "mpu": "#8a63d2",
    "conf_mpu": "#d1375b",
    "bnpu": "#3f7fc4",
    "early_stopped": "#4d8f3c",
    "autoner": "#b8860b",
    "supervised": "#b0529f",
    "gold": "#757d1c",
    "review": "#1f8a8a",
}
METHOD_DASHES = {  # plotly's names of line styles
    "dictionary": "dash",
    "mpn": "dot",
    "mpu": "dashdot",
    "conf_mpu": "solid",
    "bnpu": "longdash",
    "early_stopped": "dot",
    "autoner": "dash",
    "supervised": "solid",
    "gold": "solid",
    "review": "solid",
}


def type_colors(types: Iterable[str]) -> dict[str, str]:
    """Return a color for each type, in the order of their names; the ninth has the first again.

    >>> type_colors(["Disease", "Chemical"])
    {'Chemical': '#E69F00', 'Disease': '#56B4E9'}
    """
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(sorted(set(types)))}
