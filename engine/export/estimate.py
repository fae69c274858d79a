"""Estimate the scores of a method in a project from the sample that a person judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine import jobs
from engine.export.choice import EntitySets, methods_with_entities
from engine.jobs import Job
from engine.review import NAME_COUNTS, Decision, answers
from engine.run_folder import CONFIDENCE, read_confidence
from engine.scoring import PASSAGE, JudgedScores, Place, Units, judged_scores, make_units, to_judge
from engine.text import Document, EntitiesByDocument, InputError

MEASURE = "measure"  # the kind of the decisions
_RIGHT, _UNSURE = ("y", "yes", "right"), ("u", "unsure")
_AROUND = 80  # characters of context on either side of an entity


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known about one method of a run from judgements."""

    left: tuple[Place, ...]  # to judge in this round
    answered: int  # judged so far, without "unsure"
    scores: JudgedScores | None  # None before the first round is complete


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
    source = measured_source(job, method)
    if not any(decision.source == source for decision in sets.project.decisions(MEASURE)):
        return None
    return measure(sets, job, method).scores


def measure(sets: EntitySets, job: Job, method: str) -> Measured:
    """Return what the judgements say about a method, and what to judge next."""
    documents = sets.corpus.documents
    by_id = {document.id: document for document in documents}
    said = answers(sets.project.decisions(MEASURE), measured_source(job, method), by_id)
    units = measured_units(documents, sets.predicted(job, method), job)
    return Measured(
        to_judge(units, said),
        sum(answer is not None for answer in said.values()),
        judged_scores(units, said),
    )


# ---- judged elsewhere -----------------------------------------------------------------------


def judging_rows(sets: EntitySets, job: Job, method: str) -> list[dict[str, object]]:
    """Return what to judge next, one row per item, with the question and room for the answer.

    Brackets mark what the method found. The answer to an entity is y, or how many true names it
    touches; to a passage, how many names in it no bracket touches; u for unsure.
    """
    documents = {document.id: document for document in sets.corpus.documents}
    found = sets.predicted(job, method)
    rows: list[dict[str, object]] = []
    for place in measure(sets, job, method).left:
        id, start, end, entity_type = place
        text = documents[id].text
        if entity_type == PASSAGE:
            marks = [(e.start, e.end) for e in found.get(id, ()) if e.start < end and start < e.end]
            shown = _bracketed(text, start, end, marks)
            question = "How many names do the brackets miss? 0 to 9, or u"
        else:
            shown = _bracketed(text, start - _AROUND, end + _AROUND, [(start, end)])
            question = f"Is it {entity_type}, with exactly these words? y; else how many names"
        values = (id, start, end, entity_type, shown, question, "")
        rows.append(dict(zip(JUDGING_COLUMNS, values, strict=True)))
    return rows


JUDGING_COLUMNS = ("document", "start", "end", "type", "text", "question", "answer")


def store_answers(sets: EntitySets, job: Job, method: str, given: Mapping[Place, str]) -> int:
    """Store answers to items of `judging_rows`; return how many. InputError names a wrong one."""
    documents = {document.id: document for document in sets.corpus.documents}
    known = set(measured_units(sets.corpus.documents, sets.predicted(job, method), job).places)
    source = measured_source(job, method)
    decisions = []
    for place, answer in given.items():
        if place not in known:
            raise InputError(
                f"{method} of run {job.id} was not asked about {place[0]}, {place[1]} to "
                f"{place[2]}. Give the file that was written for this run and method"
            )
        surface = documents[place[0]].text[place[1] : place[2]]
        verdict = _verdict(answer, is_passage=place[3] == PASSAGE)
        decisions.append(
            Decision(0, MEASURE, *place, verdict, source=source, queue=source, surface=surface)
        )
    sets.project.add_decisions(decisions)
    return len(decisions)


def _verdict(answer: str, *, is_passage: bool) -> str:
    folded = answer.strip().casefold()
    if folded in NAME_COUNTS:
        return folded
    if folded in _UNSURE:
        return "unsure"
    if folded in _RIGHT and not is_passage:
        return "accepted"
    first = "" if is_passage else "y, "
    raise InputError(f'the answer "{answer}" is not one of {first}0 to {NAME_COUNTS[-1]}, or u')


def _bracketed(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    """Return a part of the text on one line, with brackets around the marks."""
    start, end = max(start, 0), min(end, len(text))
    parts, last = [], start
    for first, stop in sorted(marks):
        first, stop = max(first, start), min(stop, end)
        parts += [text[last:first], "[", text[first:stop], "]"]
        last = stop
    return " ".join("".join([*parts, text[last:end]]).split())


def _confidence(documents: Sequence[Document], job: Job) -> npt.NDArray[np.floating] | None:
    """The confidence that a method of the run estimated; None unless it is of this text."""
    tokens = sum(len(sentence) for document in documents for sentence in document.sentences)
    for method in methods_with_entities(job):
        path = jobs.run_folder(job, method) / CONFIDENCE
        if path.exists():
            values = read_confidence(path)
            return values if len(values) == tokens else None
    return None
