"""The data model: documents of tokenized sentences, and spans and entities in them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
class Sentence:
    """Tokens of one sentence; ``text[starts[i]:]`` begins with ``tokens[i]``.

    `starts` count from the beginning of the sentence, so most are small integers, which Python
    caches: a large corpus takes less memory. Add `start` for positions in the document.
    """

    document_id: str
    index: int  # 0-based within the document
    start: int  # where the sentence begins in the document
    text: str  # exactly document.text[start : start + len(text)]
    tokens: tuple[str, ...]
    starts: tuple[int, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def offsets(self, span: Span) -> tuple[int, int]:
        """Return the document offsets (start, end) of a span of this sentence."""
        last = span.end - 1
        return (
            self.start + self.starts[span.start],
            self.start + self.starts[last] + len(self.tokens[last]),
        )


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an id, exactly as uploaded, and its sentences."""

    id: str
    text: str
    sentences: tuple[Sentence, ...]
    tokens_given: bool = False  # the file was tokenized; its tokens are kept
    cut_sentences: int = 0  # how many sentences were over the limit and were cut


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
        return [f"{report.name}: {note}" for report in self.files for note in report.notes]


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
    taken: list[set[int]] = [set() for _ in document.sentences]
    spans: list[list[Span]] = [[] for _ in document.sentences]
    snapped: list[Entity] = []
    cut: list[Entity] = []
    dropped: list[Entity] = []
    sentence_starts = [sentence.start for sentence in document.sentences]
    order = sorted(entities, key=lambda e: (e.start - e.end, e.start, e.entity_type))
    for entity in order:
        i = max(bisect_right(sentence_starts, entity.start) - 1, 0)
        # An entity in the white space before a sentence belongs to the sentence it reaches.
        while i + 1 < len(document.sentences) and document.sentences[i].end <= entity.start:
            i += 1
        covered = _tokens_under(document.sentences[i], entity) if document.sentences else range(0)
        if not covered or not taken[i].isdisjoint(covered):
            dropped.append(entity)
            continue
        span = Span(covered.start, covered.stop, entity.entity_type)
        start, end = document.sentences[i].offsets(span)
        if entity.end > document.sentences[i].end:
            cut.append(entity)
        elif (start, end) != (entity.start, entity.end):
            snapped.append(entity)
        taken[i].update(covered)
        spans[i].append(span)
    return Fitted(
        tuple(tuple(sorted(in_sentence, key=lambda s: s.start)) for in_sentence in spans),
        tuple(snapped),
        tuple(cut),
        tuple(dropped),
    )


def _tokens_under(sentence: Sentence, entity: Entity) -> range:
    """Return the indices of the tokens that share at least one character with the entity."""
    start, end = entity.start - sentence.start, entity.end - sentence.start
    first = max(bisect_right(sentence.starts, start) - 1, 0)
    if sentence.starts[first] + len(sentence.tokens[first]) <= start:
        first += 1
    return range(first, bisect_left(sentence.starts, end))
