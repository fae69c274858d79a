"""Entities become tables to read elsewhere: methods side by side, and surfaces counted."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

from engine.enrichment import KnownPhrases, context, fold_surface
from engine.formats.contract import WriteOptions
from engine.formats.text_table import row_writer
from engine.review import DICTIONARY
from engine.settings import MatchOptions
from engine.text import Document, EntitiesByDocument, Entity

SURFACE_COLUMNS = (
    "text_norm", "label", "count", "doc_count", "mean_score", "in_dictionary", "example",
)  # fmt: skip
_GOLD = "gold"


def write_comparison(
    documents: Iterable[Document],
    found: Mapping[str, EntitiesByDocument],
    out: IO[bytes],
    options: WriteOptions = WriteOptions(),
) -> int:
    """Write one row a stretch with the label that each method gives it; return the rows.

    Columns: doc_id, sent_id, start, end, text, label_* and score_* a method, n_agree (methods,
    gold not counted, that give the most frequent label), disagreement (their labels differ; the
    dictionary's silence is no label of its own).
    """
    methods = list(found)
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
        for (start, end), by_method in _by_stretch(document, found).items():
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


def _by_stretch(
    document: Document, found: Mapping[str, EntitiesByDocument]
) -> dict[tuple[int, int], dict[str, Entity]]:
    """What each method has at each stretch, in text order."""
    stretches: dict[tuple[int, int], dict[str, Entity]] = {}
    for method, by_document in found.items():
        for entity in by_document.get(document.id, ()):
            stretches.setdefault((entity.start, entity.end), {})[method] = entity
    return dict(sorted(stretches.items()))


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
    """Write one row a surface and type, the most frequent first; return the rows.

    Surfaces that match alike under `match` are one, and text_norm is their most frequent spelling
    on one line. mean_score is empty where nothing has one.
    """
    surfaces: dict[tuple[str, str], _Surface] = {}
    for document in documents:
        for entity in entities.get(document.id, ()):
            text = document.text[entity.start : entity.end]
            key = (fold_surface(text, match) or text, entity.entity_type)
            of = surfaces.get(key)
            if of is None:
                around = context(document.text, entity.start, entity.end)
                of = surfaces[key] = _Surface(is_known=text in known, example=around)
            of.spellings[" ".join(text.split())] += 1
            of.documents.add(document.id)
            of.scores += [] if entity.score is None else [entity.score]
    write_row = row_writer(out, options)
    write_row(SURFACE_COLUMNS)
    for key, of in sorted(surfaces.items(), key=lambda item: (-item[1].count, item[0])):
        mean = f"{sum(of.scores) / len(of.scores):.4f}" if of.scores else ""
        counts = (of.count, len(of.documents))
        write_row([of.text, key[1], *counts, mean, str(of.is_known).lower(), of.example])
    return len(surfaces)
