"""Further files to take along: summaries, dictionaries, the report, the project, the weights.

Each is made when its button is pressed, not before.
"""

import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO

import engine
from engine import WriteOptions, jobs
from engine.bootstrap import ALL_TYPES
from engine.dictionary_writing import write_patterns, write_phrases
from engine.jobs import Job
from engine.project import Project
from engine.review_queue import lot
from engine.summaries import write_comparison, write_surfaces
from engine.text import EntitiesByDocument, spans_from_entities
from engine.workspace import write_project_zip
from ui import parts
from ui.highlight import Line, marks
from ui.palette import type_colors
from ui.report import Figure, MethodRow, Report, TypeRow, make_report
from ui.state import comparison as compared
from ui.state import comparison_tables, corpus, export, findings, labels

_LEFT_OUT = ("checkpoint", ".")  # beginnings of the names of files that a bundle does without
_SENTENCES = 50


def surfaces(project: Project, choice: export.Choice) -> bytes:
    """Return the surfaces of the chosen set, counted, as CSV."""
    of = export.selected(project, choice)
    known, match = findings.known(project), findings.match_options(project)
    return _in_memory(
        lambda out: write_surfaces(
            of.documents, of.entities, out, known=known, match=match, options=choice.options
        )
    )


def comparison(project: Project, job: Job | None, options: WriteOptions) -> bytes:
    """Return the dictionaries, all methods of a run and the gold side by side, as CSV."""
    found = dict(reversed(findings.by_method(project, job).items()))
    of_gold = export.gold(project)
    if of_gold:
        found["gold"] = of_gold
    texts = corpus.read_corpus(project).documents
    return _in_memory(lambda out: write_comparison(texts, found, out, options))


def phrases(project: Project, options: WriteOptions) -> bytes:
    """Return the dictionaries' phrases as CSV."""
    return _in_memory(lambda out: write_phrases(labels.dictionaries(project), out, options))


def patterns(project: Project) -> bytes:
    """Return the dictionaries' phrases as patterns of spaCy and Prodigy."""
    return _in_memory(lambda out: write_patterns(labels.dictionaries(project), out))


def project_zip(project: Project) -> bytes:
    """Return all of the project as a zip that the page Home can open again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.zip"
        write_project_zip(project, path)
        return path.read_bytes()


def model_bundle(job: Job, method: str) -> bytes:
    """Return the folder of a trained method as a zip: weights, card, lexicon, predictions."""
    folder = jobs.run_folder(job, method)
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith(_LEFT_OUT):
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
        archive.writestr(
            "README.txt",
            f"{method}, trained by Glossa in run {job.id}.\n\nFind entities in new text with:\n"
            f"  python -m engine predict --run {folder.name} new.txt --out entities.csv\n",
        )
    return out.getvalue()


def _in_memory(write: Callable[[IO[bytes]], object]) -> bytes:
    out = BytesIO()
    write(out)
    return out.getvalue()


# ---- the report -----------------------------------------------------------------------------


def report(project: Project, choice: export.Choice, job: Job | None) -> bytes:
    """Return the report on the project, with sentences that show the chosen set."""
    of = export.selected(project, choice)
    found = {e.entity_type for entities in of.entities.values() for e in entities}
    names = {*found, *(name for d in labels.dictionaries(project) for name in d.types)}
    page = make_report(
        Report(
            project.name,
            f"{datetime.now(UTC):%-d %B %Y}",
            _figures(project),
            _type_rows(project),
            _method_rows(project, job),
            _sentences(of),
            _whose(choice),
            type_colors(names),
            _notes(project, job),
        )
    )
    return page.encode("utf-8", "replace")


def _figures(project: Project) -> list[Figure]:
    texts = corpus.read_corpus(project)
    sentences, tokens = 0, 0
    for sentence in texts.sentences:
        sentences += 1
        tokens += len(sentence.tokens)
    figures = [Figure("Documents", f"{len(texts.documents):,}", f"{sentences:,} sentences")]
    if not project.dictionary_version():
        return [*figures, Figure("Tokens", f"{tokens:,}")]
    of = labels.coverage(project)
    return [
        *figures,
        Figure(
            "Token coverage",
            parts.percent(of.token_share),
            f"{of.labeled_tokens:,} of {of.tokens:,} tokens",
        ),
        Figure(
            "Sentences with a match",
            parts.percent(of.sentence_share),
            f"{of.matched_sentences:,} of {of.sentences:,} sentences",
        ),
        Figure(
            "Phrases used",
            parts.percent(of.phrase_share),
            f"{of.used_phrases:,} of {of.phrases:,} phrases",
        ),
        Figure("Conflicts", f"{of.conflicts:,}", "lost to another type"),
    ]


def _type_rows(project: Project) -> list[TypeRow]:
    if not project.dictionary_version():
        return []
    table = engine.coverage_by_type(labels.labels(project))
    columns = ["entity_type", "phrases", "phrases_used", "matches", "token_share"]
    return [TypeRow(*row) for row in table[columns].itertuples(index=False, name=None)]


def _method_rows(project: Project, job: Job | None) -> list[MethodRow]:
    """The dictionaries and the methods of the run; scored where there is gold."""
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
    return None if share != share else float(share)  # NaN is not known


def _sentences(of: engine.Corpus) -> list[Line]:
    """Sentences with an entity, drawn by lot: the same each time."""
    drawn = []
    number = 0
    for document in of.documents:
        spans = spans_from_entities(document, of.entities.get(document.id, ())).spans
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


def _whose(choice: export.Choice) -> str:
    name = parts.METHOD_NAMES.get(choice.method, choice.method)
    said = {
        export.RUN: f"{name}, run {choice.run}",
        export.REVIEWED: "what was reviewed, then what the method found, then the dictionaries",
        export.DICTIONARY: "the dictionaries",
        export.GOLD: "the gold labels",
    }
    return said[choice.what]


def _notes(project: Project, job: Job | None) -> list[str]:
    notes = [f"Matching: {project.match_preset()}."]
    if project.dictionary_version():
        notes.append(f"Dictionaries: version {project.dictionary_version()}.")
    if job is not None:
        notes.append(f"Run {job.id}: preset {job.request['preset']}, seed {job.request['seed']}.")
        if findings.is_outdated(project, job):
            notes.append("Text, dictionaries or matching were changed after this run.")
    return notes
