"""Trained methods become predictions, with the phrases they repeat, and scores."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.commands.terminal import note_all
from engine.commands.work_setup import (
    Labeled,
    Work,
    context_folder,
    predict_corpus,
)
from engine.confidence_scores import score_confidence_of_documents
from engine.distant import dictionary_entities
from engine.experiment import Run
from engine.metrics import Evaluation, Scores, evaluate_documents
from engine.predictions import write_predictions
from engine.run_card import PREDICTIONS
from engine.runs import load_run, write_scores
from engine.text import EntitiesByDocument, Entity

Found = Mapping[str, tuple[Entity, ...]]
TRAINED = 0.95  # share of a whole job that is over when its methods are trained


def predict_all(work: Work, labeled: Labeled, folders: Mapping[str, Path]) -> bool:
    """Write what each method finds, and its scores where there is gold; False when stopped."""
    corpus = labeled.corpus
    matched = dictionary_entities(labeled.labels, corpus.documents)
    gold = work.project.gold(corpus)
    scores: dict[str, Any] = {}
    if gold is not None:
        note_all(gold.notes)
        scores["dictionary"] = _record(evaluate_documents(corpus.documents, gold.entities, matched))
    for i, (method, folder) in enumerate(folders.items()):

        def on_share(share: float, method: str = method, before: int = i) -> None:
            of_all = (before + share) / len(folders)
            work.report.progress(
                stage="predict",
                method=method,
                share=TRAINED + (1 - TRAINED) * of_all,
                seconds_left=None,
            )

        on_share(0.0)
        trained = load_run(folder)
        found = predict_corpus(work, trained, corpus, on_share, context_folder(work.project))
        if found is None:
            return False
        write_predictions(folder / PREDICTIONS, with_phrases(found, matched))
        if gold is not None:
            evaluation = evaluate_documents(corpus.documents, gold.entities, found)
            scores[method] = _record(evaluation)
            write_scores(folder, {"train": _figures(evaluation.overall)})
            work.report.fact("scores", scores)
            if trained.confidence is not None:
                _score_confidence(work, labeled, gold.entities, trained)
    return True


def _score_confidence(work: Work, labeled: Labeled, gold: EntitiesByDocument, trained: Run) -> None:
    """Write how right the confidence is that Conf-MPU was trained with."""
    assert trained.confidence is not None
    scores = score_confidence_of_documents(
        trained.confidence.values,
        labeled.labels.labels,
        labeled.corpus.documents,
        gold,
        threshold=trained.settings.confidence_threshold,
    )
    figures = {"unlabeled": _figures(scores.unlabeled), "all": _figures(scores.all)}
    work.report.fact("confidence_scores", figures)


def with_phrases(found: Found, matched: Found) -> dict[str, tuple[Entity, ...]]:
    """Return what was found, with the phrase where a dictionary matches the very same."""
    known = {(id, e.start, e.end, e.entity_type): e for id, of in matched.items() for e in of}

    def described(id: str, entity: Entity) -> Entity:
        match = known.get((id, entity.start, entity.end, entity.entity_type))
        if match is None:
            return replace(entity, in_dictionary=False)
        return replace(
            entity,
            in_dictionary=True,
            matched_phrase=match.matched_phrase,
            canonical_id=match.canonical_id,
        )

    return {id: tuple(described(id, entity) for entity in of) for id, of in found.items()}


def _record(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "overall": _figures(evaluation.overall),
        "by_type": {name: _figures(scores) for name, scores in evaluation.by_type.items()},
        "tokens": _figures(evaluation.tokens),
        "errors": dict(evaluation.errors),
    }


def _figures(scores: Scores) -> dict[str, Any]:
    return {
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
        "correct": scores.correct,
        "predicted": scores.predicted,
        "support": scores.support,
    }
