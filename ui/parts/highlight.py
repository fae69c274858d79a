"""Turn sentences and their spans into escaped HTML: tinted marks, each followed by its type."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from engine.text import Sentence, Span
from ui.charts.palette import type_colors as type_colors

# Tints blend with the background and text keeps the theme's color, so both themes work.
STYLE = """<style>
.gl-sentence { display: grid; grid-template-columns: 2.6rem minmax(0, 44rem); column-gap: .9rem;
  padding: .3rem 0; line-height: 1.75; overflow-wrap: anywhere; }
.gl-number { text-align: right; opacity: .6; font-size: .8rem; line-height: 1.75rem;
  font-variant-numeric: tabular-nums; user-select: none; }
.gl-document { margin: 1.1rem 0 .3rem 3.5rem; font-size: .8rem; font-weight: 600; opacity: .7;
  overflow-wrap: anywhere; }
.gl-document:first-child { margin-top: .2rem; }
.gl-note { font-size: .82rem; opacity: .75; line-height: 1.5; }
.gl-mark { color: inherit; padding: .1em .3em; border-radius: .25em; box-decoration-break: clone;
  -webkit-box-decoration-break: clone; border-bottom: 2px solid var(--type);
  background: color-mix(in srgb, var(--type) 22%, transparent); }
.gl-type { margin-left: .4em; font-size: .7em; font-weight: 600; opacity: .8; user-select: none; }
.gl-legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .875rem; }
.gl-legend .gl-mark { padding: .05em .45em; }
.gl-notes { margin: 0; padding-left: 1.2rem; font-size: .875rem; overflow-wrap: anywhere; }
</style>"""


class Mark(NamedTuple):
    """A typed span of a sentence's text, half-open, in code points."""

    start: int
    end: int
    entity_type: str


class Line(NamedTuple):
    """A sentence to show: its number in the corpus, its document, its text, marks and notes."""

    number: int
    document: str
    text: str
    marks: Sequence[Mark] = ()
    notes: Sequence[str] = ()


def marks(sentence: Sentence, spans: Iterable[Span]) -> list[Mark]:
    """Return token spans as marks on the sentence's text."""
    places = ((*sentence.offsets(span), span.entity_type) for span in spans)
    return [Mark(start - sentence.start, end - sentence.start, name) for start, end, name in places]


def highlight(text: str, marks: Iterable[Mark], colors: Mapping[str, str]) -> str:
    """Return `text` as escaped HTML, with each mark tinted and followed by its type."""
    pieces, position = [], 0
    for mark in sorted(marks):
        if not position <= mark.start < mark.end <= len(text):
            raise ValueError(f"{mark} overlaps another mark or leaves the text ({len(text)} long)")
        pieces.append(escape(text[position : mark.start]))
        pieces.append(
            f'<mark class="gl-mark" style="--type:{colors[mark.entity_type]}">'
            f"{escape(text[mark.start : mark.end])}"
            f'<span class="gl-type">{escape(mark.entity_type)}</span></mark>'
        )
        position = mark.end
    return "".join((*pieces, escape(text[position:])))


def highlight_lines(lines: Iterable[Line], colors: Mapping[str, str]) -> str:
    """Return the sentences as numbered HTML, grouped under their document's name."""
    pieces, document = [], None
    for line in lines:
        if line.document != document:
            document = line.document
            pieces.append(f'<div class="gl-document">{escape(document)}</div>')
        notes = "".join(f'<div class="gl-note">{escape(note)}</div>' for note in line.notes)
        pieces.append(
            f'<div class="gl-sentence"><span class="gl-number">{line.number:,}</span>'
            f'<div dir="auto">{highlight(line.text, line.marks, colors)}{notes}</div></div>'
        )
    return f"<div>{''.join(pieces)}</div>"


def legend(counts: Mapping[str, int], colors: Mapping[str, str]) -> str:
    """Return the types as HTML, each with its color and its number of matches."""
    items = (
        f'<span><mark class="gl-mark" style="--type:{colors[name]}">{escape(name)}</mark> '
        f"{count:,}</span>"
        for name, count in counts.items()
    )
    return f'<div class="gl-legend">{"".join(items)}</div>'


def bullets(sentences: Iterable[str]) -> str:
    """Return the sentences as an HTML list."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="gl-notes">{items}</ul>'


def plain_markdown(text: str) -> str:
    """Escape `text` so that markdown shows it as it is.

    >>> plain_markdown("a_b.txt")
    'a\\\\_b\\\\.txt'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
