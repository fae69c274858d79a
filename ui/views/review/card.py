"""Draw a review item as escaped HTML: its sentence in context, and each method's opinion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from engine.review import DICTIONARY, Item
from engine.text import Document, Sentence
from ui.parts import wording
from ui.parts.highlight import Mark, highlight

STYLE = """<style>
.gl-card { line-height: 1.8; max-width: 46rem; overflow-wrap: anywhere; }
.gl-card-text { font-size: 1.15rem; }
.gl-around { opacity: .55; font-size: .95rem; }
.gl-where { font-size: .8rem; font-weight: 600; opacity: .7; padding-bottom: .3rem; }
.gl-opinions { border-collapse: collapse; font-size: .9rem; margin: 0; }
.gl-opinions th, .gl-opinions td { text-align: left; font-weight: 400; border: none;
  padding: .15rem 1.2rem .15rem 0; vertical-align: baseline; overflow-wrap: anywhere; }
.gl-opinions th { white-space: nowrap; font-weight: 600; }
.gl-opinions td:last-child { text-align: right; font-variant-numeric: tabular-nums; padding: 0; }
.gl-opinions thead td { font-size: .78rem; opacity: .65; }
.gl-none { opacity: .6; }
</style>"""
_LONGEST_AROUND = 240  # characters of the sentences before and after


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentence or sentences around an item, with the tokens' document offsets."""

    start: int
    end: int
    tokens: tuple[tuple[int, int], ...]
    before: str  # the sentence before; "" at the start of the document
    after: str
    number: int  # of the first sentence, counted from 1; 0 outside any sentence


def passage(document: Document, item: Item) -> Passage:
    """Return the passage around an item: every sentence that it touches."""
    inside = [
        i for i, s in enumerate(document.sentences) if s.start < item.end and item.start < s.end
    ]
    if not inside:  # it lies in the white space between sentences
        return Passage(item.start, item.end, ((item.start, item.end),), "", "", 0)
    first, last = inside[0], inside[-1]
    tokens = [place for i in inside for place in _places(document.sentences[i])]
    before = document.sentences[first - 1].text if first > 0 else ""
    following = document.sentences[last + 1 : last + 2]
    return Passage(
        min(document.sentences[first].start, item.start),
        max(document.sentences[last].end, item.end),
        tuple(tokens),
        before,
        following[0].text if following else "",
        first + 1,
    )


def covered(passage: Passage, item: Item) -> tuple[int, int]:
    """Return the first and the last token that the item touches."""
    touched = [
        i for i, (start, end) in enumerate(passage.tokens) if start < item.end and item.start < end
    ]
    return (touched[0], touched[-1]) if touched else (0, 0)


def _places(sentence: Sentence) -> list[tuple[int, int]]:
    return list(zip(*sentence.token_bounds(), strict=True))


def card(document: Document, passage: Passage, mark: Mark, colors: Mapping[str, str]) -> str:
    """Return the passage with one span marked; `mark` is in document offsets."""
    text = document.text[passage.start : passage.end]
    start, end = mark.start - passage.start, mark.end - passage.start
    shown = highlight(text, [Mark(start, end, mark.entity_type)], colors)
    before = passage.before[-_LONGEST_AROUND:]
    before = before if before == passage.before else f"…{before}"
    after = passage.after[:_LONGEST_AROUND]
    after = after if after == passage.after else f"{after}…"
    where = f"{document.id}, sentence {passage.number:,}" if passage.number else document.id
    return (
        f'<div class="gl-card" dir="auto"><div class="gl-where">{escape(where)}</div>'
        f'<span class="gl-around">{escape(before)} </span>'
        f'<span class="gl-card-text">{shown}</span>'
        f'<span class="gl-around"> {escape(after)}</span></div>'
    )


def opinions(
    item: Item, document: Document, colors: Mapping[str, str], *, is_known: Callable[[], bool]
) -> str:
    """Return a table with one row per method: what it finds here, and its score.

    `is_known` tells whether the dictionaries hold the phrase; it is called only if they do not
    match here.
    """
    rows = []
    for method, entity in item.opinions:
        name = escape(wording.method_name(method))
        if entity is None:
            said = f'<span class="gl-none">{escape(_silence(method, is_known))}</span>'
            score = ""
        else:
            surface = document.text[entity.start : entity.end]
            whole = [Mark(0, len(surface), entity.entity_type)]
            said = highlight(surface, whole, colors)
            score = "" if entity.score is None else f"{entity.score:.2f}"
        rows.append(f"<tr><th>{name}</th><td>{said}</td><td>{score}</td></tr>")
    head = "<tr><td></td><td>Finds here</td><td>Score</td></tr>"
    return f'<table class="gl-opinions"><thead>{head}</thead>{"".join(rows)}</table>'


def _silence(method: str, is_known: Callable[[], bool]) -> str:
    if method != DICTIONARY:
        return "nothing here"
    return "knows the phrase, but does not match here" if is_known() else "does not know the phrase"


def chips(document: Document, passage: Passage, first: int, last: int, color: str) -> str:
    """Return the passage token by token, with those from `first` to `last` marked."""
    pieces = []
    for i, (start, end) in enumerate(passage.tokens):
        look = f' style="--type:{color}"' if first <= i <= last else ""
        name = "gl-mark" if first <= i <= last else "gl-token"
        pieces.append(f'<span class="{name}"{look}>{escape(document.text[start:end])}</span>')
    return f'<div class="gl-card gl-card-text" dir="auto">{" ".join(pieces)}</div>'


def history(counts: Mapping[str, int], finds: tuple[int, int]) -> str:
    """Return what is known about a phrase, as a sentence.

    >>> history({"accepted": 2, "rejected": 1}, (14, 9))
    'Found 14 times in 9 documents. So far accepted twice, rejected once.'
    >>> history({}, (1, 1))
    'Found only here. No decisions about it so far.'
    """
    number, documents = finds
    where = f"{_times(number)} in {documents:,} document{'s'[: documents != 1]}"
    verdicts = [
        f"{verdict} {_times(counts[verdict])}"
        for verdict in ("accepted", "rejected", "edited")
        if counts.get(verdict)
    ]
    decided = f"So far {', '.join(verdicts)}." if verdicts else "No decisions about it so far."
    return f"Found {'only here' if number == 1 else where}. {decided}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def type_keys(types: Sequence[str]) -> dict[str, str]:
    """Return the key that assigns each type: 1 to 9, in the order of names.

    >>> type_keys(["Disease", "Chemical"])
    {'Chemical': '1', 'Disease': '2'}
    """
    return {name: str(number) for number, name in enumerate(sorted(types)[:9], start=1)}
