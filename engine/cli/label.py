"""`label`: label texts with dictionaries, and print how good the labels are."""

import argparse
from collections.abc import Mapping
from dataclasses import replace

from engine.cli import console
from engine.cli.inputs import match_preset, read_given_dictionaries, read_gold, read_texts
from engine.cli.label_tables import (
    count_conflicts,
    say_adaptation,
    say_conflicts,
    say_coverage,
    say_missing,
    say_precision,
)
from engine.cli.sample import check_verdicts, read_checked, write_sample
from engine.cli.terminal import note_all, typed_command, write_file
from engine.formats import writable_format
from engine.labels import (
    Coverage,
    added_labels,
    coverage_by_dictionary,
    coverage_by_type,
    dictionary_entities,
    label,
    measure_coverage,
)
from engine.run_folder import dictionary_facts, new_card, text_facts
from engine.scoring import kept_matches
from engine.text import Entity, InputError


def label_command(options: argparse.Namespace) -> None:
    """Label texts with dictionaries; print coverage and precision; write the entities."""
    if options.out:
        writable_format(options.out, options.format)  # refuse a wrong ending before the work
    preset = match_preset(options)
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    gold = read_gold(options, corpus)
    checked = read_checked(options.checked) if options.checked else {}
    sentences = list(corpus.sentences)
    with console.ProgressBar("Matching", len(sentences), "sentences") as progress:
        labels = label(
            corpus.documents,
            dictionaries,
            preset,
            workers=options.workers,
            on_progress=progress.advance,
        )
    note_all(labels.notes)
    figures = measure_coverage(labels)
    if not figures.matches:
        raise InputError(nothing_matches(figures, preset))
    if checked:
        check_verdicts(options.checked, checked, kept_matches(labels, sentences))
    never = measure_coverage(labels.never) if labels.never is not None else None
    say_coverage(figures, coverage_by_type(labels), coverage_by_dictionary(labels), never)
    if labels.adaptation is not None:
        used = [short for short in labels.adaptation.abbreviations if not short.is_muted]
        say_adaptation(labels.adaptation.cases, added_labels(labels, sentences), len(used), used)
    say_conflicts(count_conflicts(labels, sentences), figures.conflicts)
    say_precision(labels, corpus.documents, sentences, gold, checked)
    say_missing(labels, sentences)
    if options.sample:
        write_sample(options, labels, sentences)
    if options.out:
        entities = dictionary_entities(labels, corpus.documents)
        card = new_card(
            "what the dictionaries match",
            command=typed_command(options),
            project={"id": options.project} if options.project else None,
            text=text_facts(corpus),
            dictionaries=dictionary_facts(dictionaries),
            matching=preset,
            entities=sum(map(len, entities.values())),
        )
        write_file(replace(corpus, entities=_with_gold(entities, gold, options)), options, card)


def nothing_matches(figures: Coverage, preset: str) -> str:
    """Say that the dictionaries match nothing, and what to try."""
    freer = {"strict": "adaptive", "adaptive": "balanced", "balanced": "loose"}.get(preset)
    advice = f"Try --match {freer}, or check" if freer else "Check"
    return (
        f"no dictionary matches anything in this text (0 of {figures.phrases:,} phrases in "
        f"{figures.sentences:,} sentences). {advice} that both are in the same language. "
        "Nothing was written"
    )


def _with_gold(
    entities: Mapping[str, tuple[Entity, ...]],
    gold: Mapping[str, tuple[Entity, ...]] | None,
    options: argparse.Namespace,
) -> Mapping[str, tuple[Entity, ...]]:
    """Add gold for the formats that have a column for it: benchmark and tokens."""
    if gold is None or writable_format(options.out, options.format).name not in (
        "benchmark",
        "tokens",
    ):
        return entities
    return {
        id: (*labeled, *(replace(entity, method="gold") for entity in gold.get(id, ())))
        for id, labeled in entities.items()
    }
