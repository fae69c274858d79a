"""`score`: compare predicted entities with gold; print precision, recall and F1."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from engine.cli import console
from engine.cli.terminal import note_all, read_files, say
from engine.formats import align, gold_of
from engine.scoring import (
    Evaluation,
    Scores,
    compare_entities,
    evaluate_documents,
    overall,
    score_record,
)
from engine.text import Entity, InputError

Entities = Mapping[str, Sequence[Entity]]


def score_command(options: argparse.Namespace) -> None:
    """Compare predicted entities with gold ones and print the scores."""
    gold = gold_of(read_files([options.gold], options))
    predicted = read_files([options.predicted], options)
    if not predicted.documents and not predicted.entities:
        predicted = replace(predicted, entities=dict.fromkeys(gold.entities, ()))
    documents = (
        (read_files(options.text, options).documents if options.text else ())
        or gold.documents
        or predicted.documents
    )
    if documents:
        aligned = align(documents, gold)
        note_all(f"{options.gold}: {note}" for note in aligned.notes)
        has_entities = any(predicted.entities.values())
        entities = align(documents, predicted).entities if has_entities else {}
        _note_differences(options, aligned.entities, entities)
        evaluation = evaluate_documents(documents, aligned.entities, entities)
        _print_scores(options, evaluation.by_type, evaluation.overall, evaluation)
        return
    if not gold.entities:
        raise InputError(f"{options.gold} holds no annotations to score against")
    if not gold.entities.keys() & predicted.entities.keys():
        raise InputError(
            f"{options.predicted} and {options.gold} have no document in common (the first is "
            f'"{next(iter(predicted.entities))}" in one, "{next(iter(gold.entities))}" in the '
            "other). Give gold for the same documents"
        )
    _note_differences(options, gold.entities, predicted.entities)
    with_gold = {id: entities for id, entities in predicted.entities.items() if id in gold.entities}
    by_type = compare_entities(gold.entities, with_gold)
    _print_scores(options, by_type, overall(by_type), None)


def _note_differences(options: argparse.Namespace, gold: Entities, predicted: Entities) -> None:
    """Note documents without gold, and documents with gold but without a prediction."""
    extra = [id for id in predicted if id not in gold]
    if extra:
        note_all(
            [
                f"{options.predicted}: {len(extra):,} of {len(predicted):,} documents have no "
                f'gold and are not counted, e.g. "{extra[0]}"'
            ]
        )
    missing = [id for id in gold if id not in predicted]
    if predicted and missing:
        note_all(
            [
                f"{options.predicted}: {len(missing):,} of {len(gold):,} documents with gold have "
                f'no prediction; their entities count as missed, e.g. "{missing[0]}"'
            ]
        )


def _print_scores(
    options: argparse.Namespace,
    by_type: Mapping[str, Scores],
    total: Scores,
    evaluation: Evaluation | None,
) -> None:
    if options.json:
        result: dict[str, object] = {
            "gold": options.gold,
            "predicted": options.predicted,
            "overall": score_record(total),
            "by_type": {name: score_record(scores) for name, scores in by_type.items()},
        }
        if evaluation:
            result["tokens"] = score_record(evaluation.tokens)
            result["errors"] = dict(evaluation.errors)
        say(json.dumps(result))
    elif evaluation:
        say_evaluation(evaluation)
    else:
        say(console.table(score_table(by_type, total)))


def say_evaluation(evaluation: Evaluation) -> None:
    """Print scores per type, token scores and kinds of errors."""
    say(console.table(score_table(evaluation.by_type, evaluation.overall)))
    errors = ", ".join(f"{count:,} {name}" for name, count in evaluation.errors.items())
    say(
        f"\nTokens: precision {console.percent(evaluation.tokens.precision)}, "
        f"recall {console.percent(evaluation.tokens.recall)}. Errors: {errors}."
    )


def score_table(by_type: Mapping[str, Scores], total: Scores) -> pd.DataFrame:
    """Return a table with one row per type, and a last row for all types together."""
    rows = [
        {
            "type": name,
            "precision %": scores.precision,
            "recall %": scores.recall,
            "F1 %": scores.f1,
            "correct": scores.correct,
            "predicted": scores.predicted,
            "gold": scores.support,
        }
        for name, scores in [*by_type.items(), ("all", total)]
    ]
    return console.columns_of(rows)
