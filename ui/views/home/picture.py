"""The picture on the Home page: what goes in, what happens, what comes out."""

from base64 import b64encode
from html import escape

_STEPS = (
    ("Dictionary", "Phrases you know, each with its type"),
    ("Distant labels", "Where these phrases occur in your text"),
    ("PU learning", "A tagger that allows for missing labels"),
    ("Entities", "Including those no dictionary lists"),
)
_GREY = "#8b96a1"  # visible on a light and on a dark page


def path_picture() -> str:
    """Return the four steps as HTML, each with a small drawing, a title and a line of text."""
    steps = "".join(
        f'<div class="gl-step">{_image(_DRAWINGS[i])}<b>{escape(title)}</b>'
        f"<span>{escape(explanation)}</span></div>"
        for i, (title, explanation) in enumerate(_STEPS)
    )
    return f'<div class="gl-path">{steps}</div>'


def _image(drawing: str) -> str:
    """Return an SVG as an image, because st.html removes SVG elements.

    It needs no alt text: the words beside it say the same.
    """
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 34" width="96" height="34" '
        f'fill="none" stroke-linecap="round">{drawing}</svg>'
    )
    return f'<img alt="" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'


def _line(x: int, y: int, length: int, color: str = _GREY) -> str:
    return f'<path d="M{x} {y}h{length}" stroke="{color}" stroke-width="6"/>'


_CHEMICAL, _DISEASE = "#E69F00", "#56B4E9"
_WORDS = _line(4, 9, 16) + _line(58, 9, 32) + _line(50, 25, 26)
_DRAWINGS = (
    _line(4, 5, 44, _CHEMICAL) + _line(4, 17, 30, _DISEASE) + _line(4, 29, 52, _DISEASE),
    _WORDS + _line(30, 9, 18, _CHEMICAL) + _line(4, 25, 36),
    '<path d="M4 30C40 30 34 8 90 5" stroke="#009E73" stroke-width="5"/>'
    f'<path d="M4 31h88" stroke="{_GREY}" stroke-width="2"/>',
    _WORDS + _line(30, 9, 18, _CHEMICAL) + _line(4, 25, 36, _DISEASE),
)
