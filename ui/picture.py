"""The picture on the first page: what goes in, what happens, what comes out."""

from html import escape

_STEPS = (
    ("Dictionary", "Phrases you know,", "each with its type"),
    ("Distant labels", "Where they are", "found in your text"),
    ("PU learning", "A tagger that does not", "trust the gaps"),
    ("Entities", "Those in no", "dictionary as well"),
)
_WIDTH, _HEIGHT, _STEP = 176, 104, 216


def path_picture() -> str:
    """Return the four steps as SVG in the colors of the theme, with a text for screen readers."""
    boxes = "".join(_box(i, *step) for i, step in enumerate(_STEPS))
    arrows = "".join(_arrow(i) for i in range(1, len(_STEPS)))
    width = _STEP * (len(_STEPS) - 1) + _WIDTH + 2
    said = "A dictionary becomes distant labels, PU learning makes a tagger of them, and the "
    said += "tagger finds entities."
    return (
        f'<svg class="gl-picture" role="img" aria-label="{escape(said)}" '
        f'viewBox="0 0 {width} {_HEIGHT + 2}" xmlns="http://www.w3.org/2000/svg">'
        f"{boxes}{arrows}</svg>"
    )


def _box(i: int, title: str, first: str, second: str) -> str:
    x = 1 + i * _STEP
    middle = x + _WIDTH / 2
    return (
        f'<rect x="{x}" y="1" width="{_WIDTH}" height="{_HEIGHT}" rx="10" '
        'fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".3"/>'
        f"{_mark(i, middle)}"
        f'<text x="{middle}" y="58" text-anchor="middle" font-size="16" font-weight="600" '
        f'fill="currentColor">{escape(title)}</text>'
        f'<text x="{middle}" y="77" text-anchor="middle" font-size="12.5" fill="currentColor" '
        f'fill-opacity=".8">{escape(first)}</text>'
        f'<text x="{middle}" y="93" text-anchor="middle" font-size="12.5" fill="currentColor" '
        f'fill-opacity=".8">{escape(second)}</text>'
    )


def _mark(i: int, middle: float) -> str:
    """A small sign over each title: a list, one word marked, a curve, more words marked."""
    left = middle - 38
    if i == 0:
        return _line(left + 16, 18, 44, "#E69F00") + _line(left + 16, 28, 30, "#56B4E9")
    if i == 2:
        curve = f"M{left + 8} 32 C {left + 30} 32, {left + 26} 14, {left + 68} 13"
        return f'<path d="{curve}" fill="none" stroke="#009E73" stroke-width="4"/>'
    words = _line(left, 18, 20) + _line(left + 54, 18, 22) + _line(left + 34, 28, 42)
    second = "#56B4E9" if i == 3 else None
    return words + _line(left + 24, 18, 26, "#E69F00") + _line(left, 28, 30, second)


def _line(x: float, y: float, length: float, color: str | None = None) -> str:
    look = f'stroke="{color}"' if color else 'stroke="currentColor" stroke-opacity=".35"'
    return f'<path d="M{x} {y}h{length}" {look} stroke-width="5" stroke-linecap="round"/>'


def _arrow(i: int) -> str:
    x = 1 + i * _STEP - (_STEP - _WIDTH) + 6
    y = _HEIGHT / 2
    return (
        f'<path d="M{x} {y}h22m-8 -7l8 7l-8 7" fill="none" stroke="currentColor" '
        'stroke-opacity=".6" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/>'
    )
