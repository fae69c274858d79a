"""Draw a sentence as escaped HTML, with one lane of marks per method below the text.

The text is on top, once. Below it, each method has a lane, and each mark is right under its words.
Text and lanes wrap together: a word and the marks below it are one column, and all columns have
the same height.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from math import isnan
from typing import NamedTuple

from engine.scoring import Pool
from engine.text import Sentence

_SPACE = re.compile(r"\s+")
_WORD_JOINER = "\u2060"  # no width, and no line break beside it
_LONGEST_COLUMN = 40  # characters; a longer column is cut between words, so that it can wrap
_LONGEST_NAME = 18
_FEWEST_CHARACTERS = 16  # per line on the narrowest screen; lane names are repeated for each line

# Heights are multiples of --u, so that the lane names line up with the lanes without a script:
# 1.5 for the text, 1 per lane, 0.5 below.
STYLE = """<style>
.gl-lanes { --u: 1.25rem; --line: color-mix(in srgb, currentColor 16%, transparent); }
.gl-block { display: grid; column-gap: .9rem; padding: .35rem 0;
  grid-template-columns: 2.6rem max-content minmax(0, 46rem); }
.gl-block > .gl-number { line-height: calc(1.5 * var(--u)); }
.gl-names { height: 0; min-height: 100%; overflow: hidden; white-space: pre; text-align: right;
  padding-top: calc(.5 * var(--u)); line-height: var(--u); font-size: .75rem; opacity: .7;
  user-select: none; box-sizing: border-box; }
.gl-columns { line-height: 1; overflow: hidden; }
.gl-w, .gl-c { vertical-align: top; white-space: pre; max-width: 100%; overflow: hidden;
  text-overflow: ellipsis; height: calc((var(--n) + 2) * var(--u));
  line-height: calc(1.5 * var(--u)); }
.gl-w { display: inline-block; background: repeating-linear-gradient(transparent 0,
  transparent calc(.5 * var(--u) - 1px), var(--line) calc(.5 * var(--u) - 1px),
  var(--line) calc(.5 * var(--u)), transparent calc(.5 * var(--u)), transparent var(--u))
  0 calc(1.5 * var(--u)) / 100% calc(var(--n) * var(--u)) no-repeat; }
.gl-c { display: inline-flex; flex-direction: column; }
.gl-c > b { font-weight: inherit; flex: none; height: calc(1.5 * var(--u)); }
.gl-c u { text-decoration: none; }
.gl-c.d u { text-decoration: underline dotted 1.5px; text-underline-offset: .25em; }
.gl-c > i { flex: none; height: var(--u); box-sizing: border-box; font-style: normal;
  font-size: .65rem; font-weight: 600; line-height: calc(var(--u) - 5px); background:
  linear-gradient(var(--line), var(--line)) 0 calc(.5 * var(--u) - 1px) / 100% 1px no-repeat; }
.gl-c > i.m { background: color-mix(in srgb, var(--type) 24%, transparent); margin: 1px 0 1px;
  height: calc(var(--u) - 2px); border-bottom: 2px solid var(--type); padding: 0 .22em; }
.gl-c > i.s { border-radius: .25em 0 0 .25em; }
.gl-c > i.e { border-radius: 0 .25em .25em 0; }
.gl-c > i.s.e { border-radius: .25em; }
.gl-c.g > i.e { margin-right: .28em; }
</style>"""


class LaneMark(NamedTuple):
    """A typed span that a method marks in the sentence's text, half-open, with its score."""

    start: int
    end: int
    entity_type: str
    score: float | None = None


class Lane(NamedTuple):
    """A method and its marks in one sentence."""

    name: str
    marks: Sequence[LaneMark]


class Block(NamedTuple):
    """A sentence to compare: its number in the corpus, and one lane per method."""

    number: int
    sentence: Sentence
    lanes: Sequence[Lane]


class Column(NamedTuple):
    """Words with the same marks in every lane, the gap after them, and each lane's mark or None."""

    text: str
    gap: str
    start: int
    end: int
    marks: tuple[LaneMark | None, ...]


def columns(sentence: Sentence, lanes: Sequence[Lane]) -> list[Column]:
    """Cut the sentence into columns that all lanes share.

    An unmarked word is its own column. A mark that begins or ends inside a token covers all of it.
    """
    starts = sentence.starts
    ends = [start + len(token) for start, token in zip(starts, sentence.tokens, strict=True)]
    covers = [_cover(starts, ends, lane.marks) for lane in lanes]
    rows = list(zip(*covers, strict=True)) if lanes else [()] * len(starts)

    def key(i: int) -> object:
        return rows[i] if any(mark is not None for mark in rows[i]) else i

    cut = []
    for _, group in groupby(range(len(starts)), key=key):
        for first, last in _pieces(list(group), starts, ends):
            following = starts[last + 1] if last + 1 < len(starts) else ends[last]
            text, gap = (
                sentence.text[starts[first] : ends[last]],
                sentence.text[ends[last] : following],
            )
            cut.append(Column(text, gap, starts[first], ends[last], rows[first]))
    return cut


def make_blocks(pool: Pool, sentences: Sequence[Sentence], numbers: Sequence[int]) -> list[Block]:
    """Return these sentences, by number in the corpus, with one lane per entity set of the pool."""
    sentence_numbers = pool.places["sentence"].to_numpy()
    starts, ends, types = (pool.places[name].to_numpy() for name in ("start", "end", "type"))
    blocks = []
    for i in numbers:
        sentence = sentences[i]
        first, last = sentence_numbers.searchsorted([i, i + 1]).tolist()
        lanes = []
        for k, name in enumerate(pool.names):
            marks = [
                LaneMark(
                    int(starts[row]) - sentence.start,
                    int(ends[row]) - sentence.start,
                    pool.types[types[row]],
                    None if isnan(pool.scores[row, k]) else float(pool.scores[row, k]),
                )
                for row in range(first, last)
                if pool.is_marked[row, k]
            ]
            lanes.append(Lane(name, marks))
        blocks.append(Block(i + 1, sentence, lanes))
    return blocks


def lanes_html(blocks: Iterable[Block], colors: Mapping[str, str]) -> str:
    """Return the sentences with their lanes as numbered HTML, grouped by document."""
    pieces, document = [], None
    for block in blocks:
        if block.sentence.document_id != document:
            document = block.sentence.document_id
            pieces.append(f'<div class="gl-document">{escape(document)}</div>')
        pieces.append(block_html(block, colors))
    return f'<div class="gl-lanes">{"".join(pieces)}</div>'


def block_html(block: Block, colors: Mapping[str, str]) -> str:
    """Return one sentence with its lanes as HTML; all text is escaped."""
    names = [lane.name for lane in block.lanes]
    shown = "\n".join(
        escape(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")
        for name in names
    )
    # One set of names for each line that the text may wrap into; extra names are cut off.
    beside = f"\n{shown}\n\n" * (2 + len(block.sentence.text) // _FEWEST_CHARACTERS)
    body = _columns_html(columns(block.sentence, block.lanes), names, colors)
    return (
        f'<div class="gl-block" style="--n:{len(names)}">'
        f'<span class="gl-number">{block.number:,}</span>'
        f'<div class="gl-names" aria-hidden="true">{beside}</div>'
        f'<div class="gl-columns" dir="auto">{body}</div></div>'
    )


# ---- columns --------------------------------------------------------------------------------


def _cover(
    starts: Sequence[int], ends: Sequence[int], marks: Sequence[LaneMark]
) -> list[LaneMark | None]:
    """Return the mark on each token; where marks of a lane overlap, the one that begins first."""
    cover: list[LaneMark | None] = [None] * len(starts)
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        first = bisect_right(ends, mark.start)
        last = bisect_left(starts, mark.end)
        if first < last and all(other is None for other in cover[first:last]):
            cover[first:last] = [mark] * (last - first)
    return cover


def _pieces(
    tokens: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last token of each piece, none too long; a token is never cut."""
    first = tokens[0]
    for i in tokens[1:]:
        if ends[i] - starts[first] > _LONGEST_COLUMN:
            yield first, i - 1
            first = i
    yield first, tokens[-1]


# ---- HTML -----------------------------------------------------------------------------------


def _columns_html(row: Sequence[Column], names: Sequence[str], colors: Mapping[str, str]) -> str:
    """Join the columns; no line break where the text has no gap, unless it gets too long."""
    pieces, glued = [], 0
    for column in row:
        pieces.append(_column_html(column, names, colors))
        glued = 0 if column.gap else glued + len(column.text)
        if 0 < glued <= _LONGEST_COLUMN:
            pieces.append(_WORD_JOINER)
    return "".join(pieces)


def _column_html(column: Column, names: Sequence[str], colors: Mapping[str, str]) -> str:
    # A line break in the text would break the column.
    text, gap = escape(_SPACE.sub(" ", column.text)), escape(_SPACE.sub(" ", column.gap))
    if not any(column.marks):
        return f'<span class="gl-w">{text}{gap}</span>'
    differs = len({mark and mark[:3] for mark in column.marks}) > 1
    classes = " ".join(("gl-c", *(["d"] if differs else []), *(["g"] if gap else [])))
    cells = "".join(
        _cell_html(mark, name, column, colors)
        for mark, name in zip(column.marks, names, strict=True)
    )
    return f'<span class="{classes}"><b><u>{text}</u>{gap}</b>{cells}</span>'


def _cell_html(mark: LaneMark | None, name: str, column: Column, colors: Mapping[str, str]) -> str:
    if mark is None:
        return "<i></i>"
    begins, stops = mark.start >= column.start, mark.end <= column.end
    classes = "m" + " s" * begins + " e" * stops
    score = "" if mark.score is None else f", score {mark.score:.2f}"
    title = escape(f"{name}: {mark.entity_type}{score}")
    label = escape(mark.entity_type) if begins else ""
    color = colors[mark.entity_type]
    return f'<i class="{classes}" style="--type:{color}" title="{title}">{label}</i>'
