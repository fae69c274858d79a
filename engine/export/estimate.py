"""Estimate the scores of a method in a project from the sample that a person judged."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine import jobs
from engine.export.choice import EntitySets, methods_with_entities
from engine.jobs import Job
from engine.projects import Project
from engine.review import answers
from engine.run_folder import CONFIDENCE, read_confidence
from engine.scoring import JudgedScores, Units, judged_scores, make_units
from engine.text import Document, EntitiesByDocument

MEASURE = "measure"  # the kind of the decisions


def measured_source(job: Job, method: str) -> str:
    """Return the source of the decisions that measure a method of a run."""
    return f"{job.id}/{method}"


def measured_units(documents: Sequence[Document], entities: EntitiesByDocument, job: Job) -> Units:
    """Return what to judge in the text; entities whose text is gone are left out."""
    lengths = {document.id: len(document.text) for document in documents}
    inside = {
        id: tuple(entity for entity in in_document if entity.end <= lengths[id])
        for id, in_document in entities.items()
        if id in lengths
    }
    return make_units(documents, inside, _confidence(documents, job))


def estimated_scores(sets: EntitySets, job: Job, method: str) -> JudgedScores | None:
    """Return the estimated scores of a method; None before enough is judged."""
    project: Project = sets.project
    source = measured_source(job, method)
    decisions = [d for d in project.decisions(MEASURE) if d.source == source]
    if not decisions:
        return None
    documents = sets.corpus.documents
    said = answers(decisions, source, {document.id: document for document in documents})
    return judged_scores(measured_units(documents, sets.predicted(job, method), job), said)


def _confidence(documents: Sequence[Document], job: Job) -> npt.NDArray[np.floating] | None:
    """The confidence that a method of the run estimated; None unless it is of this text."""
    tokens = sum(len(sentence) for document in documents for sentence in document.sentences)
    for method in methods_with_entities(job):
        path = jobs.run_folder(job, method) / CONFIDENCE
        if path.exists():
            values = read_confidence(path)
            return values if len(values) == tokens else None
    return None
