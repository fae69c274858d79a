"""Estimated scores of runs from judged samples: what to judge next, the answers, the estimate.

Every answer is stored in the project at once. Answers about a run measure that run only.
"""

from collections.abc import Sequence

import streamlit as st

from engine.export import MEASURE, Measured, measured_source, measured_units
from engine.jobs import Job
from engine.projects import Project
from engine.review import answers
from engine.scoring import JudgedScores, Place, Units, judged_scores, to_judge
from engine.text import InputError
from ui.state import corpus, current, findings

_KEPT = 8


def measured(project: Project, job: Job, method: str) -> Measured:
    """Return what the answers say about a method, and what to judge next."""
    source = measured_source(job, method)
    stored = [d for d in project.decisions(MEASURE) if d.source == source]
    key = (project.id, project.text_key(), source, job.attempt, tuple(d.id for d in stored))
    return _measured(key, project, job, method)


def estimates(project: Project, judged: Sequence[tuple[str, Job, str]]) -> dict[str, JudgedScores]:
    """Return the estimated scores of the methods that have them, by name."""
    sources = {decision.source for decision in project.decisions(MEASURE)}
    scores = {
        name: measured(project, job, method).scores
        for name, job, method in judged
        if measured_source(job, method) in sources
    }
    return {name: estimate for name, estimate in scores.items() if estimate is not None}


def answer(project: Project, job: Job, method: str, place: Place, verdict: str) -> None:
    """Store an answer: accepted, a number of names, or unsure. For a callback."""
    text = findings.documents(project)[place[0]].text
    try:
        project.add_decision(
            MEASURE,
            *place,
            verdict,
            source=measured_source(job, method),
            queue=measured_source(job, method),
            surface=text[place[1] : place[2]],
        )
    except InputError as error:
        current.say(str(error), "error")


def take_back(project: Project, job: Job, method: str) -> None:
    """Undo the latest answer about this method. For a callback."""
    try:
        project.undo_decision(MEASURE, measured_source(job, method))
    except InputError as error:
        current.say(str(error), "error")


# ---- caches ---------------------------------------------------------------------------------
# Streamlit leaves arguments that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _measured(key: tuple[object, ...], _project: Project, _job: Job, _method: str) -> Measured:
    source = measured_source(_job, _method)
    said = answers(_project.decisions(MEASURE), source, findings.documents(_project))
    units = _units(key[:-1], _project, _job, _method)
    return Measured(
        to_judge(units, said),
        sum(answer is not None for answer in said.values()),
        judged_scores(units, said),
    )


@st.cache_resource(max_entries=_KEPT, show_spinner="Drawing a sample")
def _units(key: tuple[object, ...], _project: Project, _job: Job, _method: str) -> Units:
    documents = corpus.read_corpus(_project).documents
    return measured_units(documents, findings.found(_project, _job, _method), _job)
