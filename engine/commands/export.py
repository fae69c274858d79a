"""`export`: entities of a project become a file of any format, or all of it a zip."""

import argparse
from collections.abc import Mapping

from engine import jobs
from engine.commands.inputs import named_project
from engine.commands.terminal import note_all, say, write_file
from engine.distant import dictionary_entities
from engine.enrichment import known_phrases, mark_known
from engine.formats.writing import writable_format
from engine.project import Project
from engine.project_labels import labels_of
from engine.reviewed import reviewed_entities
from engine.selection import Selection, select
from engine.settings import MATCH_PRESETS
from engine.text import Corpus, EntitiesByDocument, Entity, InputError
from engine.workspace import write_project_zip

Entities = Mapping[str, tuple[Entity, ...]]
_BEST_FIRST = ("conf_mpu", "mpu", "mpn")  # where no gold says which was best


def export_command(options: argparse.Namespace) -> None:
    """Write what was asked for; what is checked before it is computed is said at once."""
    project = named_project(options.project)
    if options.zip:
        write_project_zip(project, options.zip)
        say(f"Wrote project {project.id} to {options.zip}.")
        return
    if not options.out:
        raise InputError("name the file to write with --out, or --zip FILE for all of the project")
    if not 0 <= options.least_score <= 1:
        raise InputError(f"--least-score is between 0 and 1, not {options.least_score:g}")
    writable_format(options.out, options.format)
    corpus = project.corpus()
    selection = Selection(tuple(options.types), options.least_score, options.documents)
    found = _gold(project, corpus) if options.gold else _entities(project, corpus, options)
    chosen = select(corpus.documents, found, selection, only_annotated=options.gold)
    there = {entity.entity_type for of in found.values() for entity in of}
    if absent := [name for name in selection.types if name not in there]:
        note_all([f"no entity is of type {' or '.join(absent)}"])
    write_file(chosen, options)


def _gold(project: Project, corpus: Corpus) -> EntitiesByDocument:
    aligned = project.gold(corpus)
    if aligned is None:
        raise InputError(
            "this project has no gold. Add some on the page Text, or with: "
            f"python -m engine import --project {project.id} --gold FILE"
        )
    return aligned.entities


def _entities(project: Project, corpus: Corpus, options: argparse.Namespace) -> Entities:
    if options.dictionary_labels:
        return _matched(project, corpus)
    known = known_phrases(project.dictionaries(), MATCH_PRESETS[project.match_preset()])
    if not options.reviewed:
        return mark_known(corpus.documents, _found(project, corpus, options), known)
    has_run = options.job or any(job.state == "done" for job in jobs.list_jobs(project, "train"))
    reviewed = reviewed_entities(
        project.review_effect(corpus.documents),
        _found(project, corpus, options) if has_run else {},
        _matched(project, corpus),
    )
    return mark_known(corpus.documents, reviewed, known)


def _matched(project: Project, corpus: Corpus) -> Entities:
    labels = labels_of(project, documents=lambda: corpus.documents)
    return dictionary_entities(labels, corpus.documents)


def _found(project: Project, corpus: Corpus, options: argparse.Namespace) -> Entities:
    """The entities of a run's method, as far as the text is still there."""
    if options.job:
        job = jobs.get_job(project, options.job)
    else:
        done = [job for job in jobs.list_jobs(project, "train") if job.state == "done"]
        if not done:
            raise InputError(
                "this project has no finished run. Train one, or export --dictionary-labels"
            )
        job = done[0]
    results = jobs.results(project, job.id)
    if not results.entities:
        raise InputError(f"run {job.id} has found nothing yet: it is {job.state}")
    method = options.method or _best(results)
    if method not in results.entities:
        raise InputError(f"run {job.id} has no {method}; it has {', '.join(results.entities)}")
    say(f"Run {job.id}, {method}.")
    return _still_there(results.entities[method], corpus)


def _still_there(found: Entities, corpus: Corpus) -> Entities:
    """Leave out, and say so, what lies in text that was removed since."""
    lengths = {document.id: len(document.text) for document in corpus.documents}
    kept = {
        id: tuple(entity for entity in of if entity.end <= lengths[id])
        for id, of in found.items()
        if id in lengths
    }
    lost = sum(map(len, found.values())) - sum(map(len, kept.values()))
    if lost:
        note_all([f"{lost:,} entities left out: their text is no longer in the project"])
    return kept


def _best(results: jobs.Results) -> str:
    """The method with the highest F1 against gold, else by what the paper found."""

    def rank(method: str) -> tuple[float, int]:
        f1 = results.scores.get(method, {}).get("overall", {}).get("f1") or 0.0
        place = _BEST_FIRST.index(method) if method in _BEST_FIRST else len(_BEST_FIRST)
        return (f1, -place)

    return max(results.entities, key=rank)
