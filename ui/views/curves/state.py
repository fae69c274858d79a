"""Coverage curves: the jobs that train them, their points so far, and the user's actions."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import jobs
from engine.jobs import CurveRequest, Job, probe_of
from engine.projects import Project
from ui.state import current

SHARES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)  # percent
MOST_SEEDS = 10
_KEPT = 8


def curves(project: Project) -> list[Job]:
    """Return the curves of the project, newest first."""
    return jobs.list_jobs(project, "curve")


def chosen_key(curve_jobs: Sequence[Job]) -> str:
    """Return the key of the curve picker; it changes with a new curve, so that this is chosen."""
    return f"curves_job_{curve_jobs[0].id if curve_jobs else ''}"


def points(project: Project, job: Job) -> pd.DataFrame:
    """Return the points so far."""
    if job.is_active:
        return jobs.curve_points(project, job.id)
    return _points((project.id, job.id, job.attempt, job.state), project)


def cells(project: Project, job: Job) -> pd.DataFrame:
    """Return one cell per share, method and seed, with its state."""
    return jobs.curve_cells(project, job.id)


# ---- what the user does ---------------------------------------------------------------------


def start(project: Project, request: CurveRequest) -> None:
    """Start a curve, or queue it."""
    jobs.start(project, request)
    current.say("The curve has started. Its points appear below as they are done.")


def measure(project: Project, request: CurveRequest) -> None:
    """Measure how fast its methods train on this machine, to estimate the time."""
    jobs.start(project, probe_of(request))


def say(message: str) -> None:
    """Keep the error of a callback for the page header."""
    current.say(message, "error")


def is_measuring(project: Project) -> bool:
    """Return whether a measurement is in progress."""
    return any(job.is_active for job in jobs.list_jobs(project, "probe"))


# Streamlit leaves parameters that begin with an underscore out of the cache key.


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _points(key: tuple[object, ...], _project: Project) -> pd.DataFrame:
    return jobs.curve_points(_project, str(key[1]))
