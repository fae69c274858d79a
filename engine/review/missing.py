"""List the names that a linear model finds likely and that no dictionary holds."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from engine.dictionaries import Dictionary
from engine.labels import (
    DistantLabels,
    LikelyName,
    LikelyTokens,
    likely_names,
    likeness_of_names,
    match_options,
)
from engine.review.decisions import Decision
from engine.review.enrichment import (
    KnownPhrases,
    dictionary_candidates,
    fold_surface,
    known_phrases,
)
from engine.settings import MatchOptions
from engine.text import Document, Entity, Sentence

MISSING_COLUMNS = (
    "phrase", "entity_type", "margin", "places", "documents", "confidence", "examples",
)  # fmt: skip


def suggestions(
    documents: Sequence[Document],
    likely: LikelyTokens,
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    match: str,
    *,
    decisions: Iterable[Decision] = (),
) -> pd.DataFrame:
    """Return the likely names of the text that these dictionaries lack, as `missing_names` does."""
    options = match_options(match)
    known = known_phrases(dictionaries, options, labels.folding)
    table = missing_names(
        documents, likely_names(documents, likely), known, options, decisions=decisions
    )
    sentences = [sentence for document in documents for sentence in document.sentences]
    return ranked_by_likeness(table, labels, sentences)


def ranked_by_likeness(
    table: pd.DataFrame, labels: DistantLabels, sentences: Sequence[Sentence]
) -> pd.DataFrame:
    """Return the names that look most like matches of the dictionaries first.

    The confidence tells which tokens are likely; it is no good at telling whole names from parts of
    them. Names that cannot be compared come last, in the order that they had.
    """
    likeness = likeness_of_names(labels, sentences, table["phrase"])
    if not likeness:
        return table
    values = np.array([likeness.get(phrase, -np.inf) for phrase in table["phrase"]])
    return table.iloc[np.argsort(-values, kind="stable")].reset_index(drop=True)


def missing_names(
    documents: Sequence[Document],
    names: Iterable[LikelyName],
    known: KnownPhrases,
    options: MatchOptions,
    *,
    decisions: Iterable[Decision] = (),
) -> pd.DataFrame:
    """Return one row per unknown name and type, the most convincing first (MISSING_COLUMNS).

    What convinces is a high confidence, a clear type and several places. Names that a person
    rejected more often than accepted are left out. `examples` is a list of up to three.
    """
    entities: defaultdict[str, list[Entity]] = defaultdict(list)
    margins: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    texts = {document.id: document.text for document in documents}
    for id, entity, margin in names:
        entities[id].append(entity)
        surface = fold_surface(texts[id][entity.start : entity.end], options)
        margins[surface, entity.entity_type].append(margin)
    table = dictionary_candidates(documents, entities, known, options, decisions=decisions)
    keys = zip(table["phrase"], table["entity_type"], strict=True)
    table["margin"] = [
        float(np.mean(margins[fold_surface(phrase, options), name])) for phrase, name in keys
    ]
    table = table.rename(
        columns={"count": "places", "mean_score": "confidence", "contexts": "examples"}
    )
    weight = table["confidence"] * table["margin"] * np.log2(1 + table["places"].astype(float))
    order = np.argsort(-weight.to_numpy(float), kind="stable")
    return table[list(MISSING_COLUMNS)].iloc[order].reset_index(drop=True)
