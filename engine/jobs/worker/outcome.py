"""Predict with the trained methods of a job, name the phrases they repeat, and score them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.experiment import Run, predict, score
from engine.jobs.worker.setup import ActiveJob, Entities, LabeledText, context_folder
from engine.labels import dictionary_entities
from engine.network import Stopped
from engine.run_folder import PREDICTIONS, write_predictions
from engine.runs import load_run, write_scores
from engine.scoring import Evaluation, score_confidence_of_documents, score_record
from engine.system import note_all
from engine.text import EntitiesByDocument, Entity

TRAINED = 0.95  # share of a whole job that is done when its methods are trained


def predict_all(
    active: ActiveJob, text: LabeledText, folders: Mapping[str, Path], part: float = 1.0
) -> bool:
    """Write what each method finds, and its scores if there is gold; return False when stopped.

    `part` is the share of the whole job that is done at the end.
    """
    corpus = text.corpus
    matched = dictionary_entities(text.labels, corpus.documents)
    gold = active.project.gold(corpus)
    scores: dict[str, Any] = {}
    if gold is not None:
        note_all(gold.notes)
        scores["dictionary"] = _record(score(corpus.documents, gold.entities, matched))
    for i, (method, folder) in enumerate(folders.items()):

        def on_share(share: float, method: str = method, before: int = i) -> None:
            predicted = (before + share) / len(folders)
            active.report.progress(
                stage="predict",
                method=method,
                share=part * (TRAINED + (1 - TRAINED) * predicted),
                seconds_left=None,
            )

        on_share(0.0)
        trained = load_run(folder)
        try:
            entities = predict(
                trained,
                corpus.documents,
                active.report.job.id,
                cache=context_folder(active.project),
                on_share=on_share,
                should_stop=active.should_stop,
            )
        except Stopped:
            return False
        write_predictions(folder / PREDICTIONS, with_phrases(entities, matched))
        if gold is not None:
            evaluation = score(corpus.documents, gold.entities, entities)
            scores[method] = _record(evaluation)
            write_scores(folder, {"train": score_record(evaluation.overall)})
            active.report.fact("scores", scores)
            if trained.confidence is not None:
                _score_confidence(active, text, gold.entities, trained)
    return True


def _score_confidence(
    active: ActiveJob, text: LabeledText, gold: EntitiesByDocument, trained: Run
) -> None:
    """Store how right the confidence is that a run was trained with."""
    assert trained.confidence is not None
    scores = score_confidence_of_documents(
        trained.confidence.values,
        text.labels.labels,
        text.corpus.documents,
        gold,
        threshold=trained.settings.confidence_threshold,
    )
    figures = {"unlabeled": score_record(scores.unlabeled), "all": score_record(scores.all)}
    active.report.fact("confidence_scores", figures)


def with_phrases(entities: Entities, matched: Entities) -> dict[str, tuple[Entity, ...]]:
    """Return the entities, with the phrase where a dictionary matches the very same span."""
    known = {
        (id, match.start, match.end, match.entity_type): match
        for id, matches in matched.items()
        for match in matches
    }

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

    return {
        id: tuple(described(id, entity) for entity in of_document)
        for id, of_document in entities.items()
    }


def _record(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "overall": score_record(evaluation.overall),
        "by_type": {name: score_record(scores) for name, scores in evaluation.by_type.items()},
        "tokens": score_record(evaluation.tokens),
        "errors": dict(evaluation.errors),
    }
