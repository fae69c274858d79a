"""The health of a project's dictionaries: what hurts, what a person kept, and how it is mended."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict

from engine.dictionaries import Dictionary, list_phrases
from engine.health import ADD, AS_WRITTEN, MUTE, Health, HealthEntry, check_health, mend
from engine.labels import DistantLabels, DoubtfulPhrase
from engine.projects.likely import kept_likely, likely_file_key
from engine.projects.project import Project
from engine.text import Sentence

_KEPT = "health_kept"  # a choice: the keys of entries that a person keeps
_DOUBTFUL = "health_doubtful"  # what a training doubts, and in which text
_DONE = {MUTE: "Muted", AS_WRITTEN: "Only as written:", ADD: "Added"}


def health_of(
    project: Project,
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    sentences: Sequence[Sentence],
) -> Health:
    """Return what hurts in the dictionaries that made these labels, without what a person kept."""
    return check_health(
        dictionaries,
        labels,
        sentences,
        doubtful=_doubtful(project),
        kept=kept_entries(project),
    )


def keep_doubtful(project: Project, phrases: Sequence[DoubtfulPhrase]) -> None:
    """Remember the phrases that a training found the text to contradict."""
    found = {"text": project.text_key(), "phrases": [asdict(phrase) for phrase in phrases]}
    project.set_choice(_DOUBTFUL, found)


def doubts_key(project: Project) -> str:
    """Return what changes whenever a training or a search for names doubts other phrases."""
    return f"{likely_file_key(project)} {json.dumps(project.choice(_DOUBTFUL))}"


def _doubtful(project: Project) -> tuple[DoubtfulPhrase, ...]:
    """Return the phrases of this text that the latest training or search for names doubts."""
    likely, trained = kept_likely(project), project.choice(_DOUBTFUL)
    doubtful = list(likely.doubtful) if likely else []
    if isinstance(trained, dict) and trained.get("text") == project.text_key():
        with suppress(TypeError, KeyError, ValueError):
            doubtful += [
                DoubtfulPhrase(
                    str(row["phrase"]),
                    str(row["entity_type"]),
                    int(row["match_count"]),
                    str(row["looks_like"]),
                )
                for row in trained["phrases"]
            ]
    return tuple(doubtful)


def mend_dictionaries(
    project: Project, entries: Sequence[HealthEntry], action: str | None = None
) -> int:
    """Mend these entries, as they propose or all by one `action`; return the version."""
    version = project.dictionary_version()
    changed = mend(project.dictionaries_at(version), entries, action)
    by_action: dict[str, list[str]] = {}
    for entry in entries:
        done = ADD if entry.proposal == ADD else action or entry.proposal
        if done in _DONE and not entry.group:
            by_action.setdefault(done, []).extend(text for text, _ in entry.phrases)
    parts = [f"{_DONE[done]} {list_phrases(texts)}" for done, texts in by_action.items()]
    parts += [f"{_DONE[MUTE]} {entry.name}" for entry in entries if entry.group and action == MUTE]
    return project.save_dictionaries(changed, "; ".join(parts), based_on=version)


def kept_entries(project: Project) -> frozenset[str]:
    """Return the keys of the entries that a person keeps."""
    return frozenset(map(str, project.choice(_KEPT, ())))


def keep_entries(project: Project, keys: Iterable[str], *, are_kept: bool = True) -> None:
    """Remember that these entries are kept as they are, or forget it."""
    kept = kept_entries(project)
    project.set_choice(_KEPT, sorted(kept.union(keys) if are_kept else kept.difference(keys)))
