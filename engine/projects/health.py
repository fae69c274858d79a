"""The health of a project's dictionaries: what hurts, what a person kept, and how it is mended."""

from collections.abc import Iterable, Sequence

from engine.dictionaries import Dictionary, list_phrases
from engine.health import ADD, AS_WRITTEN, MUTE, Health, HealthEntry, check_health, mend
from engine.labels import DistantLabels
from engine.projects.likely import kept_likely
from engine.projects.project import Project
from engine.text import Sentence

_KEPT = "health_kept"  # a choice: the keys of entries that a person keeps
_DONE = {MUTE: "Muted", AS_WRITTEN: "Only as written:", ADD: "Added"}


def health_of(
    project: Project,
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    sentences: Sequence[Sentence],
) -> Health:
    """Return what hurts in the dictionaries that made these labels, without what a person kept."""
    likely = kept_likely(project)
    return check_health(
        dictionaries,
        labels,
        sentences,
        doubtful=likely.doubtful if likely else (),
        kept=kept_entries(project),
    )


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
