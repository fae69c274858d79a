"""Dictionary candidates: phrases that a method found and no dictionary holds."""

import pandas as pd
import streamlit as st

from engine.jobs import Job
from engine.projects import Project
from engine.review import dictionary_candidates
from ui.state import findings

_KEPT = 4


def candidates(project: Project, job: Job, method: str) -> pd.DataFrame:
    """Return the phrases that a method found and the dictionaries do not hold."""
    taken = findings.decisions(project)
    last = max((decision.id for decision in taken), default=0)
    key = (project.id, project.labels_key(), job.id, job.attempt, method, len(taken), last)
    return _candidates(key, project, job, method)


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking for new phrases")
def _candidates(
    key: tuple[object, ...], _project: Project, _job: Job, _method: str
) -> pd.DataFrame:
    return dictionary_candidates(
        findings.documents(_project).values(),
        findings.found(_project, _job, _method),
        findings.known(_project),
        findings.match_options(_project),
        decisions=findings.decisions(_project),
    )
