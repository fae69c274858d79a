"""What the kinds of jobs have in common: the job at hand, its texts and labels, predictions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.commands.predict import groups
from engine.context import keep_context
from engine.device import choose_device
from engine.dictionary import Dictionary
from engine.distant import DistantLabels
from engine.experiment import Run, predict_documents, run_context
from engine.job_plan import Speed, machine_name, network_key
from engine.job_reports import Report
from engine.pretrained import Tokens, has_context
from engine.progress import OnProgress
from engine.project import Project
from engine.project_files import CACHE
from engine.project_labels import labels_of
from engine.settings import Settings
from engine.text import Corpus, Entity, InputError
from engine.training_data import tokens_of
from engine.transformer import Stopped

_REPORT_SECONDS = 0.5  # between two reports of how far something is


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
    labels = labels_of(
        project,
        job.dictionary_version,
        job.match_preset,
        documents=lambda: corpus.documents,
        dictionaries_at=lambda _: dictionaries,
    )
    return Labeled(corpus, dictionaries, labels, len(labels.labels))


def context_folder(project: Project) -> Path:
    """Return where the runs of a project share what frozen encoders see of its text."""
    return project.folder / CACHE / "context"


def keep_project_context(work: Work, sentences: Tokens, settings: Settings) -> bool:
    """Have the frozen encoder, if there is one, look at the text; False when stopped on the way."""
    if not has_context(settings):
        return True
    watch, heard = Stopwatch(), 0.0

    def on_share(share: float) -> None:
        nonlocal heard
        if watch.seconds - heard > _REPORT_SECONDS:
            heard = watch.seconds
            work.report.progress(message=f"{100 * share:.0f} % of the text is read.")

    work.report.progress(stage="context")
    folder = context_folder(work.project)
    try:
        keep_context(
            sentences, settings, choose_device(), folder,
            on_share=on_share, should_stop=work.should_stop,
        )  # fmt: skip
    except Stopped:
        return False
    work.report.progress(message="")
    return True


def predict_corpus(
    work: Work,
    trained: Run,
    corpus: Corpus,
    on_share: Callable[[float], None],
    cache: Path | None = None,
) -> dict[str, tuple[Entity, ...]] | None:
    """Return what a run finds, some documents at a time; None when stopped.

    `cache` is where the features of the corpus are kept, if it is one that was trained on.
    """
    context = run_context(trained, corpus.documents, cache) if cache else None
    entities: dict[str, tuple[Entity, ...]] = {}
    begin = 0
    for group in groups(corpus.documents):
        if work.should_stop():
            return None
        end = begin + sum(map(len, tokens_of(group)))
        rows = None if context is None else context[begin:end]
        entities |= predict_documents(trained, group, work.report.job.id, rows)
        on_share(len(entities) / len(corpus.documents))
        begin = end
    return entities


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
