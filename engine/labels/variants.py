"""List the labels that exist only because the text decided about letter case or abbreviations."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

import pandas as pd

from engine.labels.distant import DistantLabels, credits
from engine.text import Sentence

LETTER_CASE, ABBREVIATION = "letter case", "abbreviation"
COLUMNS = ("text", "entity_type", "phrase", "reason", "matches", "documents")


def added_labels(labels: DistantLabels, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return what adaptive matching labels and exact letter case would not, most matches first.

    One row per text, type and phrase. Empty if no option is adaptive.
    """
    rows: Counter[tuple[str, str, str, str]] = Counter()
    documents: defaultdict[tuple[str, str, str, str], set[str]] = defaultdict(set)
    if labels.adaptation is not None:
        short_forms = {
            (a.document, "".join(a.short.split()), a.entity_type)
            for a in labels.adaptation.abbreviations
        }
        credited = credits(labels).groupby("match")["phrase"].agg(list)
        phrases = labels.phrases["phrase"].to_numpy()
        compact = cache(_compact)  # of the phrases that match, which are few
        kept = labels.kept.loc[credited.index]
        for i, start, end, number, ids in zip(
            *(kept[name].tolist() for name in ("sentence", "start", "end", "type")),
            credited,
            strict=True,
        ):
            sentence, entity_type = sentences[i], labels.types[number - 1]
            tokens = sentence.tokens[start:end]
            surface = _compact("".join(tokens))
            forms = {compact(phrases[id]) for id in ids}
            if surface in forms:
                continue
            if surface.casefold() in {form.casefold() for form in forms}:
                reason = LETTER_CASE
            elif (sentence.document_id, "".join(tokens), entity_type) in short_forms:
                reason = ABBREVIATION
            else:
                continue  # a dictionary with looser options of its own
            text = " ".join(sentence.surface(start, end).split())
            key = (text, entity_type, phrases[ids[0]], reason)
            rows[key] += 1
            documents[key].add(sentence.document_id)
    table = [(*key, count, len(documents[key])) for key, count in rows.items()]
    return pd.DataFrame(table, columns=list(COLUMNS)).sort_values(
        ["matches", "text", "entity_type"], ascending=[False, True, True], ignore_index=True
    )


def _compact(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
