"""State of the page Review: the chosen queue, the decisions, and the item being edited.

The project stores the queue, its length and every decision at once, so that a refreshed page,
another tab or a restarted server continues at the same item.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from engine import jobs
from engine.dictionaries import NEVER
from engine.jobs import Job, TrainRequest
from engine.labels import LIKELY
from engine.projects import Project
from engine.review import (
    DICTIONARY,
    Decision,
    Item,
    Items,
    Numbers,
    ReviewProgress,
    count_finds,
    make_items,
    make_queue,
    measure_progress,
    pending,
)
from engine.scoring import Marks
from engine.text import EntitiesByDocument, InputError
from ui.state import findings, labels, likely
from ui.state.review_setup import Setup, remember

KIND = "review"
_EDIT, _PASSED = "review_edit", "review_passed"
_PROBLEM = "review_problem"
_KEPT = 4
_MANY = " · "  # separates the queue's name from the id of decisions made together


# ---- which queue ----------------------------------------------------------------------------


def widget_key(project: Project, name: str) -> str:
    """Return the key of a widget; each project has its own widgets."""
    return f"review_{name}_{project.id}"


def take(project: Project, name: str) -> None:
    """Store the current value of the widget with this name."""
    remember(project, **{name: st.session_state[widget_key(project, name)]})


def chosen_run(project: Project, chosen: Setup) -> Job | None:
    """Return the run under review: the chosen one, else the latest; None without runs."""
    runs = findings.runs(project)
    return next((job for job in runs if job.id == chosen.run), runs[0] if runs else None)


def queue(project: Project, job: Job | None, chosen: Setup) -> list[Item]:
    """Return the first items of the queue, including decided ones."""
    items = _items(project, job)
    return [items[i] for i in _rows(project, job, chosen)[: chosen.size].tolist()]


def queue_length(project: Project, job: Job | None, chosen: Setup) -> int:
    """Return the number of all items in this order."""
    return len(_rows(project, job, chosen))


@dataclass(frozen=True, slots=True)
class Standing:
    """The items of a queue that are left, and the progress so far."""

    left: list[Item]
    progress: ReviewProgress


def standing(project: Project, items: Sequence[Item], chosen: Setup) -> Standing:
    """Return the items that still need a decision, and the progress so far."""
    taken = findings.decisions(project)
    left = pending(items, taken, with_skipped=chosen.has_skipped)
    if chosen.has_skipped:  # an item skipped again must not return immediately
        passed = st.session_state.get(_PASSED, set())
        left = [item for item in left if item.id not in passed]
    return Standing(left, measure_progress(items, taken))


def begin_size(project: Project, chosen: Setup) -> None:
    """Set the value of the size widget before it is first drawn."""
    st.session_state.setdefault(widget_key(project, "size"), chosen.size)


def take_more(project: Project, size: int) -> None:
    """Work through this many items from now on."""
    remember(project, size=size)
    st.session_state[widget_key(project, "size")] = size


def ask_again(project: Project) -> None:
    """Ask about skipped items again, until they are decided or skipped once more."""
    st.session_state[_PASSED] = set()
    remember(project, has_skipped=True)


def finds(project: Project, job: Job | None, surface: str) -> tuple[int, int]:
    """Return how often this phrase occurs among the items, and in how many documents."""
    folded = _folded_texts(_key(project, job), project, job)
    return count_finds(_items(project, job), np.flatnonzero(folded == surface.casefold()))


def is_known(project: Project, item: Item) -> bool:
    """Return whether the dictionaries hold the phrase of an item."""
    return item.text in findings.known(project)


# ---- decisions ------------------------------------------------------------------------------


def decide(
    project: Project,
    item: Item,
    verdict: str,
    order: str,
    new: tuple[int, int, str] | None = None,
) -> None:
    """Store a decision; `new` is the corrected start, end and type of an edited item."""
    stop_editing()
    start, end, entity_type = new or (None, None, None)
    with _problems_kept():
        project.add_decision(
            KIND,
            *item.place,
            verdict,
            new_start=start,
            new_end=end,
            new_type=entity_type,
            source=item.method,
            queue=order,
            surface=item.text,
        )
        st.session_state.setdefault(_PASSED, set()).add(item.id)


def accept_all(project: Project, items: Sequence[Item], order: str) -> None:
    """Accept several items at once; one undo takes all of them back."""
    stop_editing()
    name = f"{order}{_MANY}{len(items)} at once {secrets.token_hex(3)}"
    accepted = [
        Decision(0, KIND, *i.place, "accepted", source=i.method, queue=name, surface=i.text)
        for i in items
    ]
    with _problems_kept():
        project.add_decisions(accepted)


def take_back(project: Project) -> None:
    """Undo the last decision, or all decisions that were made together with it."""
    stop_editing()
    st.session_state.pop(_PASSED, None)
    with _problems_kept():
        last = project.undo_decision(KIND)
        if last is not None and _MANY in last.queue:
            while project.undo_decision(KIND, last.queue):
                pass


@contextmanager
def _problems_kept() -> Iterator[None]:
    """Keep an error until the page is drawn: a callback cannot show it in its place."""
    try:
        yield
    except InputError as error:
        st.session_state[_PROBLEM] = error


def take_problem() -> InputError | None:
    """Return, once, why the last decision could not be stored; None if it was stored."""
    return st.session_state.pop(_PROBLEM, None)


def decision_table(project: Project) -> pd.DataFrame:
    """Return the decisions of the review as a table, the latest first."""
    texts = findings.documents(project)
    rows = [
        {
            "decided_at": d.decided_at,
            "verdict": d.verdict,
            "text": d.surface,
            "entity_type": d.entity_type,
            "changed": _changed(d, texts[d.document_id].text if d.document_id in texts else ""),
            "document": d.document_id,
            "source": d.source,
        }
        for d in reversed(project.decisions(KIND))
    ]
    return pd.DataFrame(rows)


def _changed(decision: Decision, text: str) -> str:
    if decision.verdict != "edited":
        return ""
    words = text[decision.new_start : decision.new_end]
    return str(decision.new_type) if words == decision.surface else f"{words} ({decision.new_type})"


# ---- editing --------------------------------------------------------------------------------


def edited(item: Item) -> tuple[int, int] | None:
    """Return the first and last token of the item while it is edited, else None."""
    stored = st.session_state.get(_EDIT)
    return stored[1:] if stored and stored[0] == item.id else None


def edit(item: Item, first: int, last: int) -> None:
    """Start editing the boundaries of an item, or move them."""
    st.session_state[_EDIT] = (item.id, first, last)


def stop_editing() -> None:
    """Stop editing and keep the boundaries as they were."""
    st.session_state.pop(_EDIT, None)


def dictionary_types(project: Project) -> list[str]:
    """Return the entity types that an item can get: those of the dictionaries."""
    held = labels.dictionaries(project)
    return sorted({name for dictionary in held for name in dictionary.types} - {NEVER})


# ---- training again -------------------------------------------------------------------------


def train_again(project: Project, job: Job) -> Job:
    """Start a training like that of `job` that also learns from the decisions."""
    request = TrainRequest(
        methods=tuple(job.request["methods"]),
        preset=job.request["preset"],
        encoder=job.request["encoder"],
        settings=job.request["settings"],
        seed=job.request["seed"],
        priors=job.request["priors"],
        use_decisions=True,
    )
    return jobs.start(project, request)


# ---- caches ---------------------------------------------------------------------------------


def _key(project: Project, job: Job | None) -> tuple[object, ...]:
    run = (job.id, job.attempt, *findings.methods_of(job)) if job is not None else ()
    others = project.opinions_key()
    return (project.id, project.labels_key(), run, likely.sent_key(project), others)


def _items(project: Project, job: Job | None) -> Items:
    return _made_items(_key(project, job), project, job)


def _rows(project: Project, job: Job | None, chosen: Setup) -> Numbers:
    return _queue((*_key(project, job), chosen.order, chosen.seed), project, job)


@st.cache_resource(max_entries=_KEPT, show_spinner="Comparing the methods")
def _made_items(key: tuple[object, ...], _project: Project, _job: Job | None) -> Items:
    texts = findings.documents(_project).values()
    marks = findings.marks_by_method(_project, _job)
    matched = {DICTIONARY: marks.pop(DICTIONARY)} if DICTIONARY in marks else {}
    sets: dict[str, EntitiesByDocument | Marks] = dict(marks)
    sets |= {**findings.opinions_by_name(_project), **matched}
    if sent := likely.sent_entities(_project):
        sets[LIKELY] = sent
    return make_items(texts, sets)


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Sorting the queue")
def _queue(key: tuple[object, ...], _project: Project, _job: Job | None) -> Numbers:
    *_, order, seed = key
    return make_queue(
        _items(_project, _job),
        str(order),
        int(str(seed)),
        lambda surfaces: findings.known(_project).hold(surfaces),
    )


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _folded_texts(
    key: tuple[object, ...], _project: Project, _job: Job | None
) -> npt.NDArray[np.object_]:
    return _items(_project, _job).folded_texts()
