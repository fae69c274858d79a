"""Write tables about entities: methods side by side, and phrases with their counts."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

from engine.formats import WriteOptions, row_writer
from engine.review import DICTIONARY, KnownPhrases, context, fold_surface
from engine.settings import MatchOptions
from engine.text import Document, EntitiesByDocument, Entity

SURFACE_COLUMNS = (
    "text_norm", "label", "count", "doc_count", "mean_score", "in_dictionary", "example",
)  # fmt: skip
_GOLD = "gold"


def write_comparison(
    documents: Iterable[Document],
    sets: Mapping[str, EntitiesByDocument],
    out: IO[bytes],
    options: WriteOptions = WriteOptions(),
) -> int:
    """Write one row per span with the label that each method gives it; return the row count.

    Columns: doc_id, sent_id, start, end, text, label_* and score_* per method, n_agree (how many
    methods give the most frequent label; gold does not count), disagreement (whether the methods'
    labels differ; a dictionary that finds nothing does not count as a different label).
    """
    methods = list(sets)
    write_row = row_writer(out, options)
    write_row(
        [
            *("doc_id", "sent_id", "start", "end", "text"),
            *(f"label_{method}" for method in methods),
            *(f"score_{method}" for method in methods),
            *("n_agree", "disagreement"),
        ]
    )
    rows = 0
    for document in documents:
        for (start, end), by_method in _by_span(document, sets).items():
            labels = {m: by_method[m].entity_type if m in by_method else "" for m in methods}
            votes = Counter(label for method, label in labels.items() if _votes(method, label))
            agree = max((n for label, n in votes.items() if label), default=0)
            write_row(
                [
                    document.id,
                    _sentence_number(document, start),
                    start,
                    end,
                    document.text[start:end],
                    *labels.values(),
                    *(_score(by_method.get(method)) for method in methods),
                    agree,
                    str(len(votes) > 1).lower(),
                ]
            )
            rows += 1
    return rows


def _votes(method: str, label: str) -> bool:
    return method != _GOLD and (label != "" or method != DICTIONARY)


def _by_span(
    document: Document, sets: Mapping[str, EntitiesByDocument]
) -> dict[tuple[int, int], dict[str, Entity]]:
    """Return what each method finds at each span, in text order."""
    spans: dict[tuple[int, int], dict[str, Entity]] = {}
    for method, by_document in sets.items():
        for entity in by_document.get(document.id, ()):
            spans.setdefault((entity.start, entity.end), {})[method] = entity
    return dict(sorted(spans.items()))


def _sentence_number(document: Document, position: int) -> int | str:
    i = bisect_right(document.sentences, position, key=lambda sentence: sentence.start) - 1
    return i if i >= 0 else ""


def _score(entity: Entity | None) -> str:
    return "" if entity is None or entity.score is None else f"{entity.score:.4f}"


@dataclass(slots=True)
class _Surface:
    spellings: Counter[str] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    scores: list[float] = field(default_factory=list)
    is_known: bool = False
    example: str = ""

    @property
    def count(self) -> int:
        return self.spellings.total()

    @property
    def text(self) -> str:
        return min(self.spellings, key=lambda spelling: (-self.spellings[spelling], spelling))


def write_surfaces(
    documents: Iterable[Document],
    entities: EntitiesByDocument,
    out: IO[bytes],
    *,
    known: KnownPhrases,
    match: MatchOptions,
    options: WriteOptions = WriteOptions(),
) -> int:
    """Write one row per phrase and type, the most frequent first; return the row count.

    Spellings that match alike under `match` are one phrase; text_norm is the most frequent one, on
    one line. mean_score is empty if no entity has a score.
    """
    surfaces: dict[tuple[str, str], _Surface] = {}
    for document in documents:
        for entity in entities.get(document.id, ()):
            text = document.text[entity.start : entity.end]
            key = (fold_surface(text, match) or text, entity.entity_type)
            surface = surfaces.get(key)
            if surface is None:
                around = context(document.text, entity.start, entity.end)
                surface = surfaces[key] = _Surface(is_known=text in known, example=around)
            surface.spellings[" ".join(text.split())] += 1
            surface.documents.add(document.id)
            surface.scores += [] if entity.score is None else [entity.score]
    write_row = row_writer(out, options)
    write_row(SURFACE_COLUMNS)
    for key, surface in sorted(surfaces.items(), key=lambda item: (-item[1].count, item[0])):
        scores = surface.scores
        write_row(
            [
                surface.text,
                key[1],
                surface.count,
                len(surface.documents),
                f"{sum(scores) / len(scores):.4f}" if scores else "",
                str(surface.is_known).lower(),
                surface.example,
            ]
        )
    return len(surfaces)
