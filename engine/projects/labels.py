"""The distant labels of a project: read from its cache, or made and kept there."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.dictionaries import Dictionary
from engine.labels import DistantLabels, label, labels_after_muting
from engine.projects.caches.labels import kept_labels, labels_path, load_labels
from engine.projects.project import Project
from engine.text import Document


class EarlierLabels(NamedTuple):
    """Labels of an earlier version of the dictionaries: those after a mute follow from them."""

    key: str  # of the project's labels, at that version
    version: int
    labels: DistantLabels


def labels_of(
    project: Project,
    version: int | None = None,
    preset: str | None = None,
    *,
    documents: Callable[[], Sequence[Document]] | None = None,
    dictionaries_at: Callable[[int], Sequence[Dictionary]] | None = None,
    earlier: EarlierLabels | None = None,
) -> DistantLabels:
    """Return the labels of the project's text by a version of its dictionaries and a preset.

    Without `version` and `preset`, those in use count. Text and dictionaries are read only if the
    labels have to be made; `documents` and `dictionaries_at` save that reading for callers that
    hold them already. `earlier` saves matching when only some phrases were muted since.
    """
    wanted = project.dictionary_version() if version is None else version
    matching = preset or project.match_preset()
    read = dictionaries_at or project.dictionaries_at

    def make() -> DistantLabels:
        dictionaries = read(wanted)
        # The text may have changed, and a reset sample numbers its versions anew.
        if earlier and earlier.key == project.labels_key(earlier.version, matching):
            labels = labels_after_muting(earlier.labels, read(earlier.version), dictionaries)
            if labels is not None:
                return labels
        texts = documents() if documents else project.corpus().documents
        # One worker: more would fork this process, which may have other threads.
        return label(texts, dictionaries, matching)

    return kept_labels(project.folder, lambda: project.labels_key(wanted, matching), make)


def stored_labels(project: Project) -> DistantLabels | None:
    """Return the current labels if they were made before; None if the text has to be labeled."""
    return load_labels(labels_path(project.folder, project.labels_key()))
