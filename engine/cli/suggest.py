"""`suggest`: list likely names that the dictionaries lack, before any network is trained."""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from engine import jobs
from engine.cli import console
from engine.cli.encoding_bar import watch_context
from engine.cli.inputs import match_preset, project_of, read_given_dictionaries, read_texts
from engine.cli.keyboard import STOPPED, stopped_by_keyboard
from engine.cli.options import parse_changes
from engine.cli.terminal import heading, note_all, say, typed_command, write_card
from engine.experiment import prepare
from engine.export import summary_card
from engine.files import written_whole
from engine.formats import WriteOptions, row_writer
from engine.jobs import SuggestRequest, settings_of
from engine.jobs.worker import do_job
from engine.labels import DoubtfulPhrase, LikelyTokens
from engine.learning import find_likely_tokens
from engine.network import Stopped, Tokens
from engine.planning import LINEAR_ROUNDS
from engine.projects import Project, kept_likely, labels_of
from engine.review import suggestions
from engine.run_folder import new_card
from engine.text import InputError

_MOST_ROWS = 30  # printed; the file has all
_COLUMNS = {
    "phrase": "name",
    "entity_type": "type",
    "margin": "margin %",
    "places": "places",
    "confidence": "confidence %",
    "example": "example",
}


class _Suggestions(NamedTuple):
    likely: LikelyTokens
    names: pd.DataFrame
    doubtful: Sequence[DoubtfulPhrase]


def suggest_command(options: argparse.Namespace) -> None:
    """Print likely names that the dictionaries lack, and phrases in them that look wrong.

    The names are written as CSV.
    """
    project = project_of(options)
    if project and options.match and options.match != project.match_preset():
        raise InputError("--project brings its own --match; change it in the app, or leave it out")
    request = SuggestRequest(options.preset, parse_changes(options))
    made = _in_project(project, request) if project else _on_files(options, request)
    likely, table = made.likely, made.names
    share = likely.count() / max(likely.open_count, 1)
    heading("Likely names that the dictionaries lack")
    say(
        f"About {likely.count():,} unlabeled tokens are likely entities "
        f"({console.percent(share)} of the unlabeled text)."
    )
    if table.empty:
        say("All names among them are in the dictionaries already.")
    else:
        shown = table.head(_MOST_ROWS)
        shown = shown.assign(example=[examples[0] for examples in shown["examples"]])
        say(console.table(shown, _COLUMNS))
    if len(table) > _MOST_ROWS:
        rest = len(table) - _MOST_ROWS
        say(f"… and {rest:,} more{'' if options.out else '; write all with --out'}")
    if made.doubtful:
        heading("Phrases that the text contradicts")
        say("A training mutes them; set is_label_checked=false to learn from them all the same.")
        for phrase in made.doubtful:
            say(f"  {phrase}")
    if options.out:
        _write(Path(options.out), table)
        write_card(options.out, _card(options, project, request), "csv")
        say(f"\nWrote {len(table):,} rows to {options.out}.")


def _card(
    options: argparse.Namespace, project: Project | None, request: SuggestRequest
) -> dict[str, Any]:
    what, command = "likely names that the dictionaries lack", typed_command(options)
    if project:
        return summary_card(project, what, command=command, asked=asdict(request))
    return new_card(
        what, command=command, texts=options.text, dictionaries=options.dictionary,
        matching=match_preset(options), settings=asdict(settings_of(request)),
    )  # fmt: skip


def _on_files(options: argparse.Namespace, request: SuggestRequest) -> _Suggestions:
    settings, match = settings_of(request), match_preset(options)
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    with tempfile.TemporaryDirectory() as folder, stopped_by_keyboard() as should_stop:

        def encode(sentences: Tokens) -> None:
            watch_context(sentences, settings, Path(folder), should_stop)

        try:
            prepared = prepare(
                corpus.documents,
                dictionaries,
                match=match,
                settings=settings,
                cache=Path(folder),
                encode=encode,
                workers=options.workers,
                should_stop=should_stop,
            )
            note_all(prepared.notes)
            data = prepared.data
            encode(data.sentences)
            if should_stop():
                raise SystemExit(STOPPED)
            with console.ProgressBar("Estimating", LINEAR_ROUNDS, "rounds") as progress:
                likely = find_likely_tokens(
                    data,
                    prepared.priors.values,
                    settings,
                    on_epoch=lambda _: progress.advance(1),
                    should_stop=should_stop,
                )
        except Stopped:
            raise SystemExit(STOPPED) from None
    names = suggestions(corpus.documents, likely, dictionaries, prepared.labels, match)
    return _Suggestions(likely, names, prepared.doubtful)


def _in_project(project: Project, request: SuggestRequest) -> _Suggestions:
    """Do a job of the project, whose result the app shows, too."""
    job = jobs.create(project, request)
    with console.ProgressBar("Estimating", LINEAR_ROUNDS, "rounds") as progress:
        state = do_job(project, job.id, lambda _: progress.advance(1))
        if state == "cancelled":
            raise SystemExit(STOPPED)
        kept = kept_likely(project)
        if state != "done" or kept is None:
            message = jobs.get_job(project, job.id).message
            raise InputError(message or f"job {job.id} was taken over by another process")
    note_all(jobs.job_notes(project, job.id))
    corpus = project.corpus()
    names = suggestions(
        corpus.documents,
        kept.tokens,
        project.dictionaries_at(job.dictionary_version),
        labels_of(project, job.dictionary_version, job.match_preset),
        job.match_preset,
        decisions=[*project.decisions("check"), *project.decisions("review")],
    )
    return _Suggestions(kept.tokens, names, kept.doubtful)


def _write(path: Path, table: pd.DataFrame) -> None:
    written = table.assign(
        margin=[f"{margin:.4f}" for margin in table["margin"]],
        confidence=[f"{confidence:.4f}" for confidence in table["confidence"]],
        examples=[" | ".join(examples) for examples in table["examples"]],
    )
    with written_whole(path) as out:
        write_row = row_writer(out, WriteOptions())
        write_row(written.columns)
        for row in written.itertuples(index=False, name=None):
            write_row(row)
