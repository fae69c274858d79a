"""Predictions on new text: start one, list earlier ones, and read their results.

A prediction is a job; its texts and entities are on disk, so a reloaded page shows them again.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO

import pandas as pd
import streamlit as st

from engine import jobs
from engine.export import card_bytes, prediction_card
from engine.files import SourceFile
from engine.formats import FORMATS, WriteOptions, read_corpus
from engine.jobs import Job, PredictRequest, ShardsRequest, TwinRequest
from engine.projects import Project
from engine.settings import ENGLISH, ReadOptions
from engine.text import Corpus, Document, Entity, Sentence
from ui.parts.highlight import Line, Mark
from ui.state import findings, labels, uploads

PASTED = "Pasted text.txt"
_CHOICE = "prediction"
_KEPT = 4
_COLUMNS = ("text", "entity_type", "score", "document", "sentence", "context")


# ---- starting a prediction ------------------------------------------------------------------


def start(
    project: Project, run: str, method: str, files: Sequence[SourceFile], lines: bool
) -> None:
    """Start a prediction, and show it from now on."""
    options = _options(project, lines=lines)
    read_corpus(files, options)  # fails here if files are unreadable, before a job starts
    _start(project, PredictRequest(run, method, tuple(files), options))


def _options(project: Project, *, lines: bool) -> ReadOptions:
    """Return how to read new text: as that of the project's language."""
    language = project.language()
    return ReadOptions(
        lines_are_documents=lines, language=None if language == ENGLISH else language
    )


def _start(project: Project, request: PredictRequest) -> None:
    is_fast = bool(st.session_state.get(twin_key(request.run, request.method)))
    job = jobs.start(project, replace(request, is_fast=is_fast))
    project.set_choice(_CHOICE, job.id)


def start_pasted(project: Project, run: str, method: str, text: str) -> None:
    """Start a prediction on a text that was typed or pasted."""
    start(project, run, method, [SourceFile(PASTED, text.encode())], lines=False)


def start_uploaded(
    project: Project, run: str, method: str, files: uploads.Uploads, lines: bool, slot: str
) -> None:
    """Start a prediction on files, or first let a process of its own check large ones.

    `checking` returns that process, and `start_checked` starts the prediction after it.
    """
    if files.is_read_at_once:
        start(project, run, method, files.load(), lines)
        return
    options = _options(project, lines=lines)
    uploads.forget(slot)
    uploads.read_apart(
        slot,
        (run, method, options, files.key),
        lambda: jobs.start_reading(project.folder, "read_for_prediction", files.load(), options),
    )


def start_checked(project: Project, files: uploads.Uploads, slot: str) -> bool:
    """Start the prediction on files that were checked; InputError if they cannot be read.

    Return False if the uploader holds other files by now.
    """
    (run, method, options, key), reading = uploads.taken(slot)
    reading.outcome()
    if key != files.key:
        return False
    _start(project, PredictRequest(run, method, tuple(files.load()), options))
    return True


def start_shards(project: Project, request: ShardsRequest) -> None:
    """Start a prediction of a large corpus."""
    jobs.start(project, request)


# ---- fast twins -----------------------------------------------------------------------------


def twin_key(run: str, method: str) -> str:
    """Return the key of the toggle that lets the fast twin of a method predict."""
    return f"predict_fast_{run}_{method}"


def can_have_twin(run: Job, method: str) -> bool:
    """Return whether the method is slow enough for a twin: it reads with a transformer."""
    card = jobs.run_card(jobs.run_folder(run, method))
    if card is None or method in ("bnpu", "autoner"):
        return False
    return card.settings.encoder == "transformer" or card.settings.contextual_layer > 0


def twin_agreement(run: Job, method: str) -> float | None:
    """Return how far the twin agrees with its method, 0 to 1; None if that is not known."""
    card = jobs.run_card(jobs.twin_folder(run, method))
    value = card.made_from.get("agreement") if card else None
    return float(value) if isinstance(value, int | float) else None


def has_twin(run: Job, method: str) -> bool:
    """Return whether the method has a fast twin."""
    return jobs.run_card(jobs.twin_folder(run, method)) is not None


def twin_job(project: Project, run: Job, method: str) -> Job | None:
    """Return the newest job that makes or made this twin."""
    wanted = {"run": run.id, "method": method}
    return next((job for job in jobs.list_jobs(project, "twin") if job.request == wanted), None)


def make_twin(project: Project, run: Job, method: str) -> None:
    """Start the job that makes the twin."""
    jobs.start(project, TwinRequest(run.id, method))


# ---- earlier predictions --------------------------------------------------------------------


def predictions(project: Project) -> dict[str, Job]:
    """Return the predictions by id, newest first."""
    return {job.id: job for job in jobs.list_jobs(project, "predict")}


def newest_of_shards(project: Project) -> Job | None:
    """Return the latest prediction of a large corpus."""
    return next(iter(jobs.list_jobs(project, "shards")), None)


def names(predicted: Mapping[str, Job]) -> dict[str, str]:
    """Return a name for each prediction, by id: when, and on what text."""
    return findings.told_apart(
        {id: f"{job.created_at:%-d %b %Y, %H:%M}, {_asked(job)}" for id, job in predicted.items()}
    )


def _asked(job: Job) -> str:
    files = job.request["files"]
    first = "pasted text" if files == [PASTED] else files[0]
    return f"{first} and {len(files) - 1:,} more" if len(files) > 1 else first


def chosen(project: Project, predicted: Mapping[str, Job]) -> Job | None:
    """Return the prediction to show: the last one chosen, or else the newest."""
    newest = next(iter(predicted.values()), None)
    return predicted.get(project.choice(_CHOICE, ""), newest)


def choose(project: Project, key: str) -> None:
    """Show the prediction that a widget names."""
    project.set_choice(_CHOICE, st.session_state[key])


# ---- results --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PredictedText:
    """The texts of a prediction, with its entities as numbered lines and as a table."""

    corpus: Corpus
    lines: Sequence[Line]
    table: pd.DataFrame  # text, entity_type, score, document, sentence (number), context
    types: Sequence[str]  # predicted, and those of the dictionaries, so that colors stay the same
    notes: Sequence[str]


def predicted_text(project: Project, job: Job, least_score: float = 0.0) -> PredictedText:
    """Return the text of a finished prediction, with entities of at least this score."""
    return _predicted_text((project.id, job.id, job.attempt, least_score), project)


def counts(predicted: PredictedText) -> dict[str, int]:
    """Return the number of entities of each type."""
    return dict(sorted(Counter(predicted.table["entity_type"]).items()))


def written(predicted: PredictedText, format: str, options: WriteOptions) -> bytes:
    """Return the texts and entities as a file of this format."""
    out, write = BytesIO(), FORMATS[format].write
    assert write is not None
    write(predicted.corpus, out, options)
    return out.getvalue()


def card(project: Project, predicted: PredictedText, job: Job, format: str, name: str) -> bytes:
    """Return what made the file of a prediction, as JSON."""
    run = jobs.get_job(project, job.request["run"])
    origin = prediction_card(project, run, job.request["method"], predicted.corpus)
    return card_bytes(origin, name, format, written(predicted, format, WriteOptions()))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the results")
def _predicted_text(key: tuple[object, ...], _project: Project) -> PredictedText:
    _, job_id, _, least = key
    corpus = jobs.predicted_corpus(_project, str(job_id))
    entities = {
        document.id: tuple(
            entity
            for entity in corpus.entities.get(document.id, ())
            if (1.0 if entity.score is None else entity.score) >= float(str(least))
        )
        for document in corpus.documents
    }
    lines, rows = _lines_and_rows(corpus.documents, entities)
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    of_dictionaries = {
        name for dictionary in labels.dictionaries(_project) for name in dictionary.types
    }
    return PredictedText(
        Corpus(corpus.documents, entities, corpus.files),
        lines,
        table,
        sorted({*table["entity_type"], *of_dictionaries}),
        [*corpus.notes],
    )


def _lines_and_rows(
    documents: Sequence[Document], entities: Mapping[str, Sequence[Entity]]
) -> tuple[list[Line], list[tuple[object, ...]]]:
    lines: list[Line] = []
    rows: list[tuple[object, ...]] = []
    for document in documents:
        by_sentence = _by_sentence(document, entities[document.id])
        for i, sentence in enumerate(document.sentences):
            here, number = by_sentence.get(i, ()), len(lines) + 1
            lines.append(Line(number, document.id, sentence.text, _marks(sentence, here)))
            for e in here:
                surface = document.text[e.start : e.end]
                place = (document.id, number, sentence.text)
                rows.append((surface, e.entity_type, e.score, *place))
    return lines, rows


def _by_sentence(document: Document, entities: Sequence[Entity]) -> dict[int, list[Entity]]:
    """Return the entities by the number of the sentence they begin in, in text order."""
    starts = [sentence.start for sentence in document.sentences]
    by_sentence: dict[int, list[Entity]] = {}
    for entity in sorted(entities, key=lambda e: (e.start, e.end)):
        by_sentence.setdefault(max(bisect_right(starts, entity.start) - 1, 0), []).append(entity)
    return by_sentence


def _marks(sentence: Sentence, entities: Sequence[Entity]) -> list[Mark]:
    """Return the entities as marks on the sentence, cut off at its end."""
    marks, reached = [], 0
    for entity in entities:
        start, end = entity.start - sentence.start, min(entity.end, sentence.end) - sentence.start
        if reached <= start < end:
            marks.append(Mark(start, end, entity.entity_type))
            reached = end
    return marks
