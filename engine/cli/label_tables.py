"""Print tables about distant labels: coverage, conflicts, precision and missing phrases."""

from collections.abc import Mapping, Sequence

import pandas as pd

from engine.cli import console
from engine.cli.score import say_evaluation
from engine.cli.terminal import MOST_ROWS, heading, note_all, say, say_more
from engine.labels import (
    Abbreviation,
    CaseDecision,
    Coverage,
    DistantLabels,
    conflicts,
    dictionary_entities,
    missing_candidates,
)
from engine.scoring import (
    Judgements,
    checked_precision,
    evaluate_documents,
    judgements_from_gold,
    kept_matches,
    noisy_phrases,
)
from engine.text import Document, Entity, Sentence


def say_coverage(
    figures: Coverage,
    by_type: pd.DataFrame,
    by_dictionary: pd.DataFrame,
    never: Coverage | None = None,
) -> None:
    """Print how much of the text is labeled, by type and by dictionary.

    `never` counts the phrases that are never an entity.
    """
    heading("Coverage")
    say(
        f"{figures.labeled_tokens:,} of {figures.tokens:,} tokens labeled "
        f"({console.percent(figures.token_share)}), "
        f"{figures.matched_sentences:,} of {figures.sentences:,} sentences have a match "
        f"({console.percent(figures.sentence_share)}), "
        f"{figures.used_phrases:,} of {figures.phrases:,} phrases used "
        f"({console.percent(figures.phrase_share)})."
    )
    say("Coverage is not recall. For precision and recall give --gold, or judge a --sample.")
    columns = {
        "phrases": "phrases",
        "phrases_used": "used",
        "matches": "matches",
        "tokens": "tokens",
        "token_share": "tokens %",
        "sentences": "sentences",
    }
    say("\n" + console.table(by_type, {"entity_type": "type", **columns}))
    say("\n" + console.table(by_dictionary, {"dictionary": "dictionary", **columns}))
    if never is not None:
        say(
            f"\nNever an entity: {never.used_phrases:,} of {never.phrases:,} phrases in "
            f"{never.matches:,} places, which are not labeled."
        )
    for row in by_dictionary[by_dictionary["matches"] == 0].itertuples():
        note_all(
            [
                f'"{row.dictionary}" matches nothing in this text (0 of {row.phrases:,} phrases). '
                "Try a freer --match, or check the language"
            ]
        )


def say_adaptation(
    cases: Sequence[CaseDecision],
    added: pd.DataFrame,
    abbreviations: int,
    first_abbreviations: Sequence[Abbreviation],
) -> None:
    """Print what the text decided about matching, and the labels that come of it.

    `added` is what `added_labels` returns; of the abbreviations that label, the first are shown.
    """
    heading("Matching, as the text decides")
    for case in cases:
        say(str(case))
    total = int(added["matches"].sum())
    say(f"This adds {total:,} {'label' if total == 1 else 'labels'} to those in exact letter case.")
    if not added.empty:
        columns = {"text": "text", "entity_type": "type", "phrase": "phrase", "reason": "reason"}
        say("\n" + console.table(added.head(MOST_ROWS), columns | {"matches": "matches"}))
        say_more(len(added))
    if abbreviations:
        heading(f"Abbreviations ({abbreviations:,}; remove them with --mute)")
        columns = {"short": "short", "long": "long", "entity_type": "type"}
        columns |= {"document": "document", "matches": "matches"}
        say(console.table(pd.DataFrame(first_abbreviations[:MOST_ROWS]), columns))
        say_more(abbreviations)


def say_conflicts(counted: pd.DataFrame, total: int) -> None:
    """Print which phrases of different types overlap, and which one won; most times first."""
    if not total:
        return
    heading(f"Conflicts between types ({total:,})")
    say(console.table(counted.head(MOST_ROWS)))
    say_more(len(counted))


def count_conflicts(labels: DistantLabels, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return how often each pair of phrases was in conflict, most times first."""
    table = conflicts(labels, sentences)
    keys = ["winner", "winner_type", "loser", "loser_type", "rule"]
    counted = table.groupby(keys, sort=False).size().reset_index(name="times")
    return counted.sort_values("times", ascending=False, kind="stable")


def say_precision(
    labels: DistantLabels,
    documents: Sequence[Document],
    sentences: Sequence[Sentence],
    gold: Mapping[str, tuple[Entity, ...]] | None,
    checked: Judgements,
) -> None:
    """Print precision against gold, precision by the checked sample, and noisy phrases."""
    matches = kept_matches(labels, sentences)
    if gold is not None:
        evaluation = evaluate_documents(documents, gold, dictionary_entities(labels, documents))
        heading(f"Against gold ({len(gold):,} of {len(documents):,} documents)")
        say_evaluation(evaluation)
    if checked:
        heading("Precision by the checked sample")
        for by in ("entity_type", "dictionary"):
            precision = checked_precision(matches, checked, by=by)
            columns = {by: by.replace("_", " "), "matches": "matches", "checked": "checked"}
            shares = {"precision": "precision %", "low": "low %", "high": "high %"}
            say(console.table(precision, columns | shares) + "\n")
    judged = {**(judgements_from_gold(matches, gold) if gold is not None else {}), **checked}
    noisy = noisy_phrases(matches, judged)
    noisy = noisy[(noisy["estimated_false"] >= 1) | (noisy["flags"] != "")]
    if not noisy.empty:
        heading("Phrases that may be noisy (remove them with --mute)")
        columns = {"phrase": "phrase", "entity_type": "type", "matches": "matches"}
        rest = {"checked": "checked", "precision": "precision %", "estimated_false": "est. false"}
        say(console.table(noisy.head(MOST_ROWS), columns | rest | {"flags": "flags"}))
        say_more(len(noisy))


def say_missing(labels: DistantLabels, sentences: Sequence[Sentence]) -> None:
    """Print frequent n-grams that no dictionary matches."""
    table = missing_candidates(labels, sentences)
    if table.empty:
        return
    heading("Frequent and unmatched: maybe missing from your dictionary")
    columns = {"phrase": "phrase", "entity_type": "like", "count": "times"}
    say(console.table(table.head(MOST_ROWS), {**columns, "documents": "documents"}))
