"""Gather what is known about a project for its checklist, cheaply.

Counts that need the labels or the results of a run are computed once and kept in the project's
cache. A large text is not labeled for them: its labels count only if a page or a command has made
them before, and its phrases are not checked here. What cannot be known that way stays unknown.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine import jobs
from engine.export import EXPORTED, methods_with_entities, runs_with_entities
from engine.files import written_whole
from engine.guide.steps import OPTIONAL, ProjectFacts, Step, next_step, next_steps
from engine.jobs import Job, TrainRequest, scores_of
from engine.labels import DistantLabels
from engine.projects import (
    CACHE,
    Project,
    doubts_key,
    health_of,
    kept_entries,
    labels_of,
    stored_labels,
)
from engine.review import DICTIONARY, Decision, Item, make_items, make_queue, pending
from engine.run_folder import PREDICTIONS, read_marks
from engine.scoring import marks_of_labels
from engine.text import Document, InputError, Sentence

_SKIPPED = "skipped_steps"  # a choice: step -> its count when it was skipped
_FILE = "guide.json"
_SMALL_TOKENS, _SMALL_PHRASES = 50_000, 20_000  # labeled at once, in less than a second
_MOST_TOKENS = 300_000  # beyond, disagreements are not counted
_MOST_PLACES = 5_000  # kept one by one; beyond, only their number


def project_steps(project: Project) -> tuple[Step, ...]:
    """Return the checklist of a project."""
    return next_steps(project_facts(project))


def skip_step(project: Project, key: str) -> Step | None:
    """Leave out an optional step until there is more to do in it; return the next step."""
    if key not in OPTIONAL:
        raise InputError(f'"{key}" cannot be skipped; choose one of {", ".join(OPTIONAL)}')
    facts = project_facts(project)
    counts = {"phrases": facts.doubtful, "review": facts.disagreements}
    skipped = {**facts.skipped, key: counts.get(key) or 0}
    project.set_choice(_SKIPPED, skipped)
    return next_step(project_steps(project))


def project_facts(project: Project) -> ProjectFacts:
    """Return what is known about a project without computing for long."""
    files = project.text_files()
    tokens = sum(file.tokens for file in files)
    phrases = _phrase_count(project)
    kept = _Kept(project)
    matches = doubtful = None
    has_gold = bool(project.gold_key())
    if tokens and phrases:
        is_small = tokens <= _SMALL_TOKENS and phrases <= _SMALL_PHRASES
        matches, doubtful = _label_facts(project, kept, is_small=is_small)
    run = next(iter(runs_with_entities(project)), None)
    if run is not None and not has_gold:
        has_gold = any(
            "f1" in scores.get("overall", {}) for scores in scores_of(project, run.id).values()
        )
    if tokens and not has_gold and tokens <= _SMALL_TOKENS:
        has_gold = _has_gold(project, kept)
    decisions = [*project.decisions("check"), *project.decisions("review")]
    training = jobs.training_job(project)
    seconds = jobs.estimate(project, TrainRequest())
    facts = ProjectFacts(
        sentences=sum(file.sentences for file in files),
        phrases=phrases,
        matches=matches,
        doubtful=doubtful,
        has_gold=has_gold,
        judged=sum(d.kind == "check" and d.verdict in ("accepted", "rejected") for d in decisions),
        methods=len(methods_with_entities(run)) if run else 0,
        is_training=training is not None and training.kind == "train",
        is_outdated=run is not None and run.labels_key != project.labels_key(),
        disagreements=_disagreements(project, kept, run, decisions, tokens) if run else None,
        reviewed=sum(d.kind == "review" for d in decisions),
        train_seconds=jobs.rough_estimate(project, TrainRequest()) if seconds is None else seconds,
        is_time_measured=seconds is not None,
        is_exported=bool(project.choice(EXPORTED)),
        skipped=_skipped(project),
    )
    kept.write()
    return facts


def doubtful_phrases(project: Project, labels: DistantLabels) -> list[tuple[str, str]]:
    """Return the phrases, with their types, that the health of the dictionaries calls wrong."""
    dictionaries = project.dictionaries_at(project.dictionary_version())
    sentences = _sentences(project.corpus().documents)
    harmful = health_of(project, dictionaries, labels, sentences).harmful
    return [pair for entry in harmful for pair in entry.phrases]


# ---- facts that are kept --------------------------------------------------------------------


class _Kept:
    """Counts in the project's cache, each with the key of what it was made from."""

    def __init__(self, project: Project) -> None:
        self._path = project.folder / CACHE / _FILE
        self._is_changed = False
        self._records: dict[str, Any] = {}
        with suppress(OSError, ValueError, RecursionError):
            records = json.loads(self._path.read_bytes())
            self._records = records if isinstance(records, dict) else {}

    def get(self, name: str, key: str) -> Any:
        """Return the value kept under this key; None if there is none."""
        record = self._records.get(name)
        is_current = isinstance(record, dict) and record.get("key") == key
        return record.get("value") if isinstance(record, dict) and is_current else None

    def set(self, name: str, key: str, value: Any) -> None:
        self._records[name] = {"key": key, "value": value}
        self._is_changed = True

    def write(self) -> None:
        if self._is_changed:
            with suppress(InputError), written_whole(self._path, is_synced=False) as out:
                out.write(json.dumps(self._records).encode())


def _label_facts(project: Project, kept: _Kept, *, is_small: bool) -> tuple[int | None, int | None]:
    """Return the number of matches and of doubtful phrases."""
    key = json.dumps(
        [project.labels_key(), doubts_key(project), sorted(kept_entries(project)), is_small]
    )
    value = kept.get("labels", key)
    is_count = isinstance(value, list) and len(value) == 2 and isinstance(value[0], int)
    if is_count and isinstance(value[1], int | None):
        return value[0], value[1]
    labels = None
    with suppress(InputError):
        labels = labels_of(project) if is_small else stored_labels(project)
    if labels is None:
        return None, None
    counts = len(labels.kept), len(doubtful_phrases(project, labels)) if is_small else None
    kept.set("labels", key, list(counts))
    return counts


def _has_gold(project: Project, kept: _Kept) -> bool:
    """Return whether a small text carries annotations itself."""
    key = project.text_key()
    value = kept.get("gold", key)
    if not isinstance(value, bool):
        value = False
        with suppress(InputError):
            value = project.gold(project.corpus()) is not None
        kept.set("gold", key, value)
    return value


def _disagreements(
    project: Project, kept: _Kept, run: Job, decisions: Iterable[Decision], tokens: int
) -> int | None:
    """Return how many items of the queue of disagreements no decision settles."""
    methods = methods_with_entities(run)
    key = json.dumps([project.labels_key(), run.id, run.attempt, methods])
    value = kept.get("disagreements", key)
    if not _is_queue(value):
        value = None
        if tokens <= _MOST_TOKENS:
            with suppress(InputError):
                value = _disputed(project, run, methods)
        if value is None:
            return None
        kept.set("disagreements", key, value)
    taken = list(decisions)
    if not taken:
        return int(value["total"])
    if value["places"] is None:
        return max(0, int(value["total"]) - sum(d.kind == "review" for d in taken))
    items = (Item(d, a, b, "", t, "", None, (), a) for d, a, b, t in value["places"])
    return len(pending(items, taken))


def _disputed(project: Project, run: Job, methods: Iterable[str]) -> dict[str, Any] | None:
    corpus = project.corpus()
    labels = stored_labels(project)
    sets = {method: read_marks(jobs.run_folder(run, method) / PREDICTIONS) for method in methods}
    if labels is not None:  # else the trained methods alone
        sets[DICTIONARY] = marks_of_labels(labels, _sentences(corpus.documents))
    items = make_items(corpus.documents, sets)
    rows = make_queue(items, "disagreement")
    if len(rows) > _MOST_PLACES:
        return {"total": len(rows), "places": None}
    return {"total": len(rows), "places": [list(items[int(i)].place) for i in rows]}


def _is_queue(value: object) -> bool:
    """Return whether a kept queue is as we write it: the cache is a file like any other."""
    if not isinstance(value, dict) or not isinstance(value.get("total"), int):
        return False
    places = value.get("places")
    return places is None or (
        isinstance(places, list)
        and all(
            isinstance(place, list) and [type(part) for part in place] == [str, int, int, str]
            for place in places
        )
    )


def _sentences(documents: Sequence[Document]) -> list[Sentence]:
    return [sentence for document in documents for sentence in document.sentences]


def _phrase_count(project: Project) -> int:
    history = project.dictionary_history()
    return history[0].phrases if history else 0


def _skipped(project: Project) -> Mapping[str, int]:
    stored = project.choice(_SKIPPED)
    if not isinstance(stored, dict):
        return {}
    return {k: v for k, v in stored.items() if k in OPTIONAL and isinstance(v, int)}
