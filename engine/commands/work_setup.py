"""What the kinds of jobs have in common: the job at hand, its texts and labels, predictions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.commands.predict import groups
from engine.dictionary import Dictionary
from engine.distant import DistantLabels, label
from engine.experiment import OnProgress, predict_documents
from engine.formats import write_corpus
from engine.job_plan import Speed, machine_name, network_key
from engine.job_reports import Report
from engine.labels_cache import kept_labels
from engine.project import Project
from engine.runs import load_run
from engine.settings import Settings
from engine.text import Corpus, Entity, InputError


@dataclass(frozen=True, slots=True)
class Work:
    """A job at hand."""

    project: Project
    report: Report
    should_stop: Callable[[], bool]
    on_progress: OnProgress  # hears of every epoch, beside the rows of the job


@dataclass(frozen=True, slots=True)
class Labeled:
    """The project's text and dictionaries as the job was started with, and their labels."""

    corpus: Corpus
    dictionaries: list[Dictionary]
    labels: DistantLabels
    tokens: int


def read_and_label(work: Work) -> Labeled:
    """Return what the job learns from; the dictionaries are those of its start, edited or not."""
    job, project = work.report.job, work.project
    work.report.progress(stage="reading")
    if project.text_key() != job.text_key:
        raise InputError("the text was changed while this job waited. Start it again")
    corpus = project.corpus()
    if not any(document.sentences for document in corpus.documents):
        raise InputError("the text of this project holds no words")
    dictionaries = project.dictionaries_at(job.dictionary_version)
    work.report.progress(stage="labels")
    labels = kept_labels(
        project.folder,
        lambda: project.labels_key(job.dictionary_version, job.match_preset),
        # One worker: several are forked, and the heart of this process is a thread.
        lambda: label(corpus.documents, dictionaries, job.match_preset),
    )
    return Labeled(corpus, dictionaries, labels, len(labels.labels))


def predict_corpus(
    work: Work, folder: Path, corpus: Corpus, on_share: Callable[[float], None]
) -> dict[str, tuple[Entity, ...]] | None:
    """Return what the run in `folder` finds, some documents at a time; None when stopped."""
    trained = load_run(folder)
    entities: dict[str, tuple[Entity, ...]] = {}
    for group in groups(corpus.documents):
        if work.should_stop():
            return None
        entities |= predict_documents(trained, group, work.report.job.id)
        on_share(len(entities) / len(corpus.documents))
    return entities


def write_predictions(path: Path, corpus: Corpus, entities: dict[str, tuple[Entity, ...]]) -> None:
    """Write entities as the file that `job_results` reads."""
    write_corpus(replace(corpus, entities=entities), path, "entities")


def write_speeds(work: Work, settings: Settings, device: str, speeds: Sequence[Speed]) -> None:
    """Keep measured speeds for the estimates of later jobs."""
    work.report.speeds(
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
