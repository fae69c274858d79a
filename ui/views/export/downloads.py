"""More files to download: summaries, dictionaries, the report, the project, the weights.

Each is made when its button is pressed, not before.
"""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import engine
from engine import jobs
from engine.export import (
    DICTIONARY,
    GOLD,
    REVIEWED,
    RUN,
    ChosenEntities,
    ExportChoice,
    card_bytes,
    model_card,
    project_card,
    summary_card,
    write_comparison,
    write_patterns,
    write_phrases,
    write_surfaces,
)
from engine.formats import WriteOptions
from engine.jobs import Job
from engine.labels import coverage_by_type
from engine.projects import Project, zipped_project
from engine.review import lot
from engine.run_folder import is_checkpoint
from engine.scoring import ALL_TYPES
from engine.text import Corpus, EntitiesByDocument, InputError, spans_from_entities
from ui.charts.palette import type_colors
from ui.parts import elements, wording
from ui.parts.highlight import Line, marks
from ui.state import comparison as compared
from ui.state import comparison_tables, corpus, findings, labels
from ui.views.export import state as export
from ui.views.export.report import Figure, MethodRow, Report, TypeRow, make_report

Facts = dict[str, Any]
_SENTENCES = 50


def surfaces(project: Project, choice: ExportChoice) -> bytes:
    """Return the surfaces of the chosen set with their counts, as CSV."""
    texts = export.selected(project, choice)
    known, match = findings.known(project), findings.match_options(project)
    return _in_memory(
        lambda out: write_surfaces(
            texts.documents, texts.entities, out, known=known, match=match, options=choice.options
        )
    )


def comparison(project: Project, job: Job | None, options: WriteOptions) -> bytes:
    """Return the dictionaries, all methods of a run and the gold side by side, as CSV."""
    sets = dict(reversed(findings.by_method(project, job).items()))
    if gold := export.gold(project):
        sets["gold"] = gold
    documents = corpus.read_corpus(project).documents
    return _in_memory(lambda out: write_comparison(documents, sets, out, options))


def phrases(project: Project, options: WriteOptions) -> bytes:
    """Return the dictionaries' phrases as CSV."""
    return _in_memory(lambda out: write_phrases(labels.dictionaries(project), out, options))


def patterns(project: Project) -> bytes:
    """Return the dictionaries' phrases as patterns for spaCy and Prodigy."""
    return _in_memory(lambda out: write_patterns(labels.dictionaries(project), out))


def project_zip(project: Project) -> bytes:
    """Return the whole project as a zip that the page Home can import."""
    return zipped_project(project)


def model_bundle(job: Job, method: str) -> bytes:
    """Return the folder of a trained method as a zip: weights, card, lexicon, predictions."""
    folder = jobs.run_folder(job, method)
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            is_left_out = is_checkpoint(path) or path.name.startswith(".")
            if path.is_file() and not is_left_out:
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
        card = model_card(job, method, "a trained method as it is, for glossa predict")
        archive.writestr("glossa.card.json", card_bytes(card, f"{folder.name}/", "run", None))
        archive.writestr(
            "README.txt",
            f"{method}, trained by Glossa in run {job.id}.\n\nFind entities in new text with:\n"
            f"  glossa predict --run {folder.name} new.txt --out entities.csv\n",
        )
    return out.getvalue()


def model_as(job: Job, method: str, form: str) -> bytes:
    """Return a trained method as another tool loads it, as a zip.

    A process of its own makes it, because that needs torch.
    """
    folder = jobs.run_folder(job, method)
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / f"{method}-{form}"
        command = [sys.executable, "-m", "engine", "export-model", str(folder)]
        command += ["--to", form, "--out", str(made)]
        root = Path(engine.__file__).resolve().parents[1]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["it ended without a message"]
            raise InputError(lines[-1].removeprefix("glossa export-model: "))
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(made.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(place).as_posix())
    return out.getvalue()


def _in_memory(write: Callable[[IO[bytes]], object]) -> bytes:
    out = BytesIO()
    write(out)
    return out.getvalue()


# ---- cards ----------------------------------------------------------------------------------


def chosen_card(project: Project, choice: ExportChoice, what: str) -> Facts:
    """Return what made a file about the chosen entities."""
    job = jobs.get_job(project, choice.run) if choice.run else None
    return project_card(project, choice, job, export.filtered(project, choice)) | {"what": what}


def whole_card(project: Project, what: str, job: Job | None = None) -> Facts:
    """Return what made a file about the project, and all methods of a run."""
    methods = findings.methods_of(job) if job else []
    return summary_card(project, what, [(job, method) for method in methods] if job else [])


# ---- the report -----------------------------------------------------------------------------


def report(project: Project, choice: ExportChoice, job: Job | None) -> bytes:
    """Return the report on the project, with sentences that show the chosen set."""
    texts = export.selected(project, choice)
    types = ChosenEntities(texts.entities).types
    names = {*types, *(name for d in labels.dictionaries(project) for name in d.types)}
    page = make_report(
        Report(
            project.name,
            f"{datetime.now(UTC):%-d %B %Y}",
            _figures(project),
            _type_rows(project),
            _method_rows(project, job),
            _sentences(texts),
            _whose(choice),
            type_colors(names),
            _notes(project, job),
        )
    )
    return page.encode("utf-8", "replace")


def _figures(project: Project) -> list[Figure]:
    texts = corpus.read_corpus(project)
    sentences = sum(len(document.sentences) for document in texts.documents)
    tokens = sum(document.token_count for document in texts.documents)
    figures = [Figure("Documents", f"{len(texts.documents):,}", f"{sentences:,} sentences")]
    if not project.dictionary_version():
        return [*figures, Figure("Tokens", f"{tokens:,}")]
    covered = labels.coverage(project)
    return [
        *figures,
        Figure(
            "Token coverage",
            elements.percent(covered.token_share),
            f"{covered.labeled_tokens:,} of {covered.tokens:,} tokens",
        ),
        Figure(
            "Sentences with a match",
            elements.percent(covered.sentence_share),
            f"{covered.matched_sentences:,} of {covered.sentences:,} sentences",
        ),
        Figure(
            "Phrases used",
            elements.percent(covered.phrase_share),
            f"{covered.used_phrases:,} of {covered.phrases:,} phrases",
        ),
        Figure("Conflicts", f"{covered.conflicts:,}", "lost to another type"),
    ]


def _type_rows(project: Project) -> list[TypeRow]:
    if not project.dictionary_version():
        return []
    table = coverage_by_type(labels.labels(project))
    columns = ["entity_type", "phrases", "phrases_used", "matches", "token_share"]
    return [TypeRow(*row) for row in table[columns].itertuples(index=False, name=None)]


def _method_rows(project: Project, job: Job | None) -> list[MethodRow]:
    """Return the dictionaries and the methods of the run, with scores where there is gold."""
    runs = [job] if job is not None else []
    wanted = compared.methods(
        runs, has_gold=False, has_dictionary=bool(project.dictionary_version())
    )
    chosen = compared.choices(runs, wanted)
    sizes = {c.method: sum(map(len, _entities(project, c).values())) for c in chosen}
    rows = [MethodRow(c.method, c.name, sizes[c.method]) for c in chosen]
    aligned = corpus.gold(project) if export.gold(project) else None
    if aligned is None or not chosen:
        return rows
    comparison = compared.compare(project, chosen, aligned)
    scores = comparison_tables.scores(project, comparison)
    overall = scores[scores["entity_type"] == ALL_TYPES].set_index("name")
    columns = ["precision", "recall", "f1", "f1_low", "f1_high"]
    return [
        MethodRow(row.method, row.name, row.entities, *map(_known, overall.loc[row.name, columns]))
        for row in rows
    ]


def _entities(project: Project, choice: compared.ComparedSet) -> EntitiesByDocument:
    if choice.job is None:
        return findings.matched(project)
    return findings.found(project, choice.job, choice.method)


def _known(share: float) -> float | None:
    return None if share != share else float(share)  # NaN: not known


def _sentences(texts: Corpus) -> list[Line]:
    """Return sentences with an entity, drawn at random; the same ones each time."""
    drawn = []
    number = 0
    for document in texts.documents:
        spans = spans_from_entities(document, texts.entities.get(document.id, ())).spans
        for sentence, here in zip(document.sentences, spans, strict=True):
            number += 1
            if here:
                chance = lot((document.id, sentence.index), seed=0)
                drawn.append((chance, number, sentence, here))
    chosen = sorted(sorted(drawn, key=lambda row: row[0])[:_SENTENCES], key=lambda row: row[1])
    return [
        Line(number, sentence.document_id, sentence.text, marks(sentence, here))
        for _, number, sentence, here in chosen
    ]


def _whose(choice: ExportChoice) -> str:
    name = wording.method_name(choice.method)
    names = {
        RUN: f"{name}, run {choice.run}",
        REVIEWED: "your decisions, then what the method found, then the dictionaries",
        DICTIONARY: "the dictionaries",
        GOLD: "the gold labels",
    }
    return names[choice.what]


def _notes(project: Project, job: Job | None) -> list[str]:
    notes = [f"Matching: {project.match_preset()}."]
    if project.dictionary_version():
        notes.append(f"Dictionaries: version {project.dictionary_version()}.")
    if job is not None:
        notes.append(f"Run {job.id}: preset {job.request['preset']}, seed {job.request['seed']}.")
        if findings.is_outdated(project, job):
            notes.append("Text, dictionaries or matching changed after this run.")
    return notes
