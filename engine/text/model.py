"""The data model: documents of tokenized sentences, and spans and entities in them."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from sys import intern
from typing import overload

import numpy as np
import numpy.typing as npt

from engine.text.messages import one_line


class InputError(ValueError):
    """A problem the user can solve (a file, an option, a full disk); the message is shown as it is.

    It is one line of at most 300 characters, whatever names it quotes. It says what is wrong, with
    the value; where; and what to do. `fix` names the option that may solve it (encoding,
    text_column, id_column, skip_bad_lines, entity_type, format): a page offers it, and the command
    line names it. `fixes` are all such options, where there are several.
    """

    def __init__(self, message: str, fix: str = "", *others: str) -> None:
        super().__init__(one_line(message))
        self.fix = fix
        self.fixes = tuple(dict.fromkeys(name for name in (fix, *others) if name))


@dataclass(frozen=True, slots=True)
class Span:
    """A typed range of tokens of one sentence: ``tokens[start:end]``."""

    start: int
    end: int
    entity_type: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"span must satisfy 0 <= start < end, got {self.start}..{self.end}")


@dataclass(frozen=True, slots=True)
class Entity:
    """A typed range of characters of a document (the end not included), and where it came from.

    The engine computes with spans; files hold entities.
    """

    start: int
    end: int
    entity_type: str
    score: float | None = None  # 0-1; None for dictionary and gold
    method: str = ""  # dictionary, mpn, mpu, conf_mpu, gold, review
    source: str = ""  # dictionary file or run name
    in_dictionary: bool | None = None
    matched_phrase: str = ""
    canonical_id: str = ""
    run_id: str = ""
    review_status: str = ""  # "", accepted, rejected, edited

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"entity must satisfy 0 <= start < end, got {self.start}..{self.end}")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the tokens of a document are, by sentence; 8 bytes per token.

    Arrays, because a tuple of strings and a tuple of numbers take ten times as much.
    """

    tokens: "array[int]"  # start and end of each token, one after the other
    sentences: "array[int]"  # how many tokens are before each sentence; at the end, of all

    @classmethod
    def of(cls, sentences: Iterable[Iterable[tuple[int, int]]]) -> "Layout":
        """Return the layout of tokens given as (start, end), by sentence."""
        tokens, counts = array("i"), array("i", (0,))
        for bounds in sentences:
            for pair in bounds:
                tokens.extend(pair)
            if len(tokens) // 2 > counts[-1]:
                counts.append(len(tokens) // 2)
        return cls(tokens, counts)

    def touched(self, start: int, end: int) -> range:
        """Return the numbers of the tokens that share a character with ``text[start:end]``."""
        # Starts and ends alternate and never fall, so half a position is the number of a token.
        first = bisect_right(self.tokens, start) // 2
        return range(first, (bisect_left(self.tokens, end) + 1) // 2)


NO_TOKENS = Layout.of([])


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a document; ``text[starts[i]:]`` begins with ``tokens[i]``.

    It reaches from the beginning of its first token to the end of its last. The document holds all
    of it; a loop over tokens or starts should keep them in a variable.
    """

    document: "Document" = field(repr=False)
    index: int  # 0-based within the document

    @property
    def document_id(self) -> str:
        return self.document.id

    @property
    def start(self) -> int:
        """Where the sentence begins in the document."""
        layout = self.document.layout
        return layout.tokens[2 * layout.sentences[self.index]]

    @property
    def end(self) -> int:
        layout = self.document.layout
        return layout.tokens[2 * layout.sentences[self.index + 1] - 1]

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def tokens(self) -> tuple[str, ...]:
        counts = self.document.layout.sentences
        return self.document.tokens[counts[self.index] : counts[self.index + 1]]

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each token begins, from the beginning of the sentence."""
        starts, _ = self.token_bounds()
        first = starts[0]
        return tuple([start - first for start in starts])

    def __len__(self) -> int:
        """Return the number of tokens."""
        counts = self.document.layout.sentences
        return counts[self.index + 1] - counts[self.index]

    def offsets(self, span: Span) -> tuple[int, int]:
        """Return the document offsets (start, end) of a span of this sentence."""
        layout = self.document.layout
        first = layout.sentences[self.index]
        return layout.tokens[2 * (first + span.start)], layout.tokens[2 * (first + span.end) - 1]

    def surface(self, start: int, end: int) -> str:
        """Return the text from one token up to another, which is not included."""
        layout, first = self.document.layout, self.document.layout.sentences[self.index]
        bounds = layout.tokens[2 * (first + start)], layout.tokens[2 * (first + end) - 1]
        return self.document.text[slice(*bounds)]

    def token_bounds(self) -> "tuple[array[int], array[int]]":
        """Return where the tokens begin and end in the document."""
        layout = self.document.layout
        first, last = layout.sentences[self.index], layout.sentences[self.index + 1]
        places = layout.tokens[2 * first : 2 * last]
        return places[::2], places[1::2]


@dataclass(frozen=True, slots=True)
class Sentences(Sequence[Sentence]):
    """The sentences of a document, made when they are asked for."""

    document: "Document"

    def __len__(self) -> int:
        return len(self.document.layout.sentences) - 1

    @overload
    def __getitem__(self, place: int) -> Sentence: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Sentence, ...]: ...

    def __getitem__(self, place: int | slice) -> Sentence | tuple[Sentence, ...]:
        if isinstance(place, slice):
            return tuple(Sentence(self.document, i) for i in range(len(self))[place])
        return Sentence(self.document, range(len(self))[place])

    def __iter__(self) -> Iterator[Sentence]:
        return map(partial(Sentence, self.document), range(len(self)))


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an id, exactly as uploaded, and where its sentences and tokens are.

    >>> document = Document("d", "It helped.", Layout.of([[(0, 2), (3, 9), (9, 10)]]))
    >>> [sentence.tokens for sentence in document.sentences]
    [('It', 'helped', '.')]
    """

    id: str
    text: str
    layout: Layout = field(default=NO_TOKENS, hash=False, repr=False)
    tokens_given: bool = False  # the file was tokenized; its tokens are kept
    cut_sentences: int = 0  # how many sentences were over the limit and were cut
    _tokens: tuple[str, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def sentences(self) -> Sentences:
        return Sentences(self)

    @property
    def token_count(self) -> int:
        return len(self.layout.tokens) // 2

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of all sentences; cut from the text when first asked for, then kept."""
        if self._tokens is None:
            places = self.layout.tokens
            cuts = map(slice, places[::2], places[1::2])
            # Interning keeps one copy of each distinct token, so each takes only a pointer.
            tokens = tuple(map(intern, map(self.text.__getitem__, cuts)))
            object.__setattr__(self, "_tokens", tokens)
            return tokens
        return self._tokens

    def tokens_by_sentence(self) -> Iterator[tuple[str, ...]]:
        """Yield the tokens of each sentence; faster than asking the sentences."""
        tokens = self.tokens
        return (tokens[first:last] for first, last in pairwise(self.layout.sentences))


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found in one file and what was decided about it, to show to the user."""

    name: str
    format: str
    encoding: str = ""
    delimiter: str = ""
    text_column: str = ""
    id_column: str = ""
    documents: int = 0
    entities: int = 0
    notes: tuple[str, ...] = ()  # sentences: what was fixed, skipped, dropped or assumed


EntitiesByDocument = Mapping[str, Sequence[Entity]]  # by document id


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, and the entities of those that are annotated.

    A document whose id is in `entities` is annotated, even if it has no entity. About a document
    whose id is missing there, nothing is known.
    """

    documents: tuple[Document, ...]
    entities: Mapping[str, tuple[Entity, ...]] = field(default_factory=dict)
    files: tuple[FileReport, ...] = ()

    @property
    def sentences(self) -> Iterator[Sentence]:
        return (sentence for document in self.documents for sentence in document.sentences)

    @property
    def notes(self) -> list[str]:
        return [
            one_line(f"{report.name}: {note}") for report in self.files for note in report.notes
        ]


# ---- spans <-> tags -------------------------------------------------------------------------


def tags_from_spans(spans: Iterable[Span], token_count: int) -> list[str]:
    """Return IOB2 tags for non-overlapping spans.

    >>> tags_from_spans([Span(0, 2, "LOC"), Span(2, 3, "LOC")], 4)
    ['B-LOC', 'I-LOC', 'B-LOC', 'O']
    """
    tags = ["O"] * token_count
    for span in spans:
        tags[span.start] = f"B-{span.entity_type}"
        for i in range(span.start + 1, span.end):
            tags[i] = f"I-{span.entity_type}"
    return tags


def spans_from_tags(tags: Sequence[str]) -> list[Span]:
    """Return the spans of a tag sequence in IOB1, IOB2, IOBES or BILOU.

    An I- that continues nothing opens a span, as in IOB1.

    >>> spans_from_tags(["I-LOC", "I-LOC", "B-LOC", "O", "S-PER"])
    [Span(start=0, end=2, entity_type='LOC'), Span(start=2, end=3, entity_type='LOC'), \
Span(start=4, end=5, entity_type='PER')]
    """
    spans: list[Span] = []
    start, current = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, entity_type = tag.partition("-")
        continues = prefix in ("I", "E", "L", "M") and entity_type == current
        if current and not continues:
            spans.append(Span(start, i, current))
            current = ""
        if entity_type and not continues:
            start, current = i, entity_type
        if current and prefix in ("E", "S", "L", "U"):
            spans.append(Span(start, i + 1, current))
            current = ""
    return spans


# ---- spans <-> classes ----------------------------------------------------------------------


def spans_from_classes(classes: npt.NDArray[np.integer], types: Sequence[str]) -> list[Span]:
    """Return the maximal runs of one class (0 = none, i = ``types[i - 1]``).

    >>> spans_from_classes(np.array([0, 1, 1, 2]), ("LOC", "PER"))
    [Span(start=1, end=3, entity_type='LOC'), Span(start=3, end=4, entity_type='PER')]
    """
    padded = np.concatenate(([0], classes, [0]))
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [
        Span(int(start), int(end), types[int(classes[start]) - 1])
        for start, end in pairwise(edges)
        if classes[start] != 0
    ]


def classes_from_spans(
    spans: Iterable[Span], token_count: int, types: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Return one class per token (0 = none, i = ``types[i - 1]``)."""
    classes = np.zeros(token_count, dtype=np.int16)
    for span in spans:
        classes[span.start : span.end] = types.index(span.entity_type) + 1
    return classes


# ---- spans <-> entities ---------------------------------------------------------------------


def entities_from_spans(sentence: Sentence, spans: Iterable[Span], method: str) -> list[Entity]:
    """Return the spans of a sentence as entities of its document."""
    return [Entity(*sentence.offsets(span), span.entity_type, method=method) for span in spans]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Entities as spans of tokens, by sentence, and the entities that were changed to fit."""

    spans: tuple[tuple[Span, ...], ...]  # one tuple per sentence
    snapped: tuple[Entity, ...] = ()  # began or ended inside a token; extended to the whole token
    cut: tuple[Entity, ...] = ()  # continued after the end of a sentence; cut there
    dropped: tuple[Entity, ...] = ()  # covered no token, or overlapped a longer entity

    @property
    def notes(self) -> list[str]:
        return fit_notes(len(self.snapped), len(self.cut), len(self.dropped))


def fit_notes(snapped: int, cut: int, dropped: int) -> list[str]:
    """Return the notes about entities that were changed to fit tokens."""
    return [
        f"{count} {what}"
        for count, what in (
            (snapped, "entities began or ended inside a token; widened to it"),
            (cut, "entities ran past the end of a sentence; cut there"),
            (dropped, "entities left out: inside a longer one, or on no token"),
        )
        if count
    ]


def spans_from_entities(document: Document, entities: Iterable[Entity]) -> Fitted:
    """Return the entities as token spans; of overlapping ones, keep the longest, then the first.

    No entity is an error. Those that were extended, cut or dropped are listed.
    """
    taken: set[int] = set()
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    snapped: list[Entity] = []
    cut: list[Entity] = []
    dropped: list[Entity] = []
    places, counts = document.layout.tokens, document.layout.sentences
    order = sorted(entities, key=lambda e: (e.start - e.end, e.start, e.entity_type))
    for entity in order:
        covered = document.layout.touched(entity.start, entity.end)
        i = bisect_right(counts, covered.start) - 1
        covered = covered[: counts[i + 1] - covered.start] if covered else covered
        if not covered or not taken.isdisjoint(covered):
            dropped.append(entity)
            continue
        span = Span(covered.start - counts[i], covered.stop - counts[i], entity.entity_type)
        if entity.end > places[2 * counts[i + 1] - 1]:
            cut.append(entity)
        elif (places[2 * covered.start], places[2 * covered.stop - 1]) != (
            entity.start,
            entity.end,
        ):
            snapped.append(entity)
        taken.update(covered)
        spans[i].append(span)
    return Fitted(
        tuple(
            tuple(sorted(spans[i], key=lambda span: span.start)) if i in spans else ()
            for i in range(len(document.sentences))
        ),
        tuple(snapped),
        tuple(cut),
        tuple(dropped),
    )
