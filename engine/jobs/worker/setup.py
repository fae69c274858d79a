"""What all kinds of jobs share: the job at hand, its texts and labels, and measured speeds."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.dictionaries import Dictionary
from engine.jobs import Report, Speed, keep_speeds, machine_name, network_key
from engine.labels import DistantLabels
from engine.learning import OnProgress
from engine.network import Stopped, Tokens, choose_device, has_context, keep_context
from engine.projects import CACHE, Project, labels_of
from engine.settings import Settings
from engine.text import Corpus, Entity, InputError

Entities = Mapping[str, tuple[Entity, ...]]  # by document id
_REPORT_SECONDS = 0.5  # between two reports of how far something is


@dataclass(frozen=True, slots=True)
class ActiveJob:
    """The job that this process does."""

    project: Project
    report: Report
    should_stop: Callable[[], bool]
    on_progress: OnProgress  # hears every epoch, in addition to the rows of the job


@dataclass(frozen=True, slots=True)
class LabeledText:
    """The project's text and dictionaries as they were when the job started, and their labels."""

    corpus: Corpus
    dictionaries: list[Dictionary]
    labels: DistantLabels
    tokens: int


def read_and_label(active: ActiveJob) -> LabeledText:
    """Return what the job learns from; later edits of the dictionaries do not count."""
    job, project = active.report.job, active.project
    active.report.progress(stage="reading")
    if project.text_key() != job.text_key:
        raise InputError("the text was changed while this job waited. Start it again")
    corpus = project.corpus()
    if not any(document.sentences for document in corpus.documents):
        raise InputError("the text of this project holds no words")
    dictionaries = project.dictionaries_at(job.dictionary_version)
    active.report.progress(stage="labels")
    labels = labels_of(
        project,
        job.dictionary_version,
        job.match_preset,
        documents=lambda: corpus.documents,
        dictionaries_at=lambda _: dictionaries,
    )
    return LabeledText(corpus, dictionaries, labels, len(labels.labels))


def context_folder(project: Project) -> Path:
    """Return where the runs of a project share the contextual features of its text."""
    return project.folder / CACHE / "context"


def keep_project_context(
    active: ActiveJob,
    sentences: Tokens,
    settings: Settings,
    shares: tuple[float, float] | None = None,
) -> bool:
    """Compute the contextual features of the text, if there are any; return False when stopped.

    `shares` are the shares of the whole job that are done before and after; None: too few to show.
    """
    if not has_context(settings):
        return True
    watch, reported_at = Stopwatch(), 0.0

    def on_share(share: float) -> None:
        nonlocal reported_at
        if watch.seconds - reported_at > _REPORT_SECONDS:
            reported_at = watch.seconds
            done = {} if shares is None else {"share": (1 - share) * shares[0] + share * shares[1]}
            active.report.progress(message=f"{100 * share:.0f} % of the text is read.", **done)

    active.report.progress(stage="context")
    folder = context_folder(active.project)
    try:
        keep_context(
            sentences, settings, choose_device(), folder,
            on_share=on_share, should_stop=active.should_stop,
        )  # fmt: skip
    except Stopped:
        return False
    active.report.progress(message="")
    return True


def write_speeds(
    active: ActiveJob, settings: Settings, device: str, speeds: Sequence[Speed]
) -> None:
    """Keep measured speeds for the estimates of later jobs, in this project and in others."""
    keep_speeds(active.project.folder.parent, settings, [replace(s, device=device) for s in speeds])
    active.report.speeds(
        {
            "machine": machine_name(),
            "network": network_key(settings),
            "method": speed.method,
            "stage": speed.stage,
            "tokens_per_second": speed.tokens_per_second,
            "device": device,
        }
        for speed in speeds
    )


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        return max(time.perf_counter() - self._began, 1e-9)
