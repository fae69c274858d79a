"""Read and write files for every command, and print results and notes."""

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.export import write_export_card
from engine.files import read_source
from engine.formats import WriteOptions, WriteReport, read_corpus, writable_format, write_corpus
from engine.settings import LIMITS, NO_LIMITS, Limits, ReadOptions
from engine.system import note_all as note_all
from engine.text import Corpus, FileReport, InputError

MOST_ROWS = 10  # of a table that could be long


def heading(text: str) -> None:
    """Print an underlined heading."""
    say(f"\n{text}\n{'=' * len(text)}")


def say(text: str) -> None:
    """Print a result to standard output without delay.

    If nobody reads it any more (as after `head`), the command goes on without printing, because
    it may still have a file to write.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _print_no_more()
    except OSError as error:
        _print_no_more()
        reason = error.strerror or error
        raise InputError(f"the result cannot be printed: {reason}") from error


def _print_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_more(count: int) -> None:
    """Print how many rows of a long table were left out."""
    if count > MOST_ROWS:
        say(f"… and {count - MOST_ROWS:,} more")


def read_files(
    paths: Sequence[str], options: argparse.Namespace, format: str | None = None
) -> Corpus:
    """Return the corpus in these files; print what was detected and what was changed."""
    files = [read_source(path, limits_of(options)) for path in paths]
    corpus = read_corpus(files, read_options(options), format)
    tell_files(corpus.files)
    note_all(corpus.notes)
    return corpus


def tell_files(reports: Iterable[FileReport]) -> None:
    """Print a line per file to standard error: its format, encoding and content."""
    for report in reports:
        print(f"read: {_described(report)}", file=sys.stderr)


def _described(report: FileReport) -> str:
    """Return what was detected, so that a wrong guess is seen before its results are."""
    delimiter = {"\t": "tab", " ": "space"}.get(report.delimiter, report.delimiter)
    parts = [
        report.format,
        report.encoding,
        f'delimiter "{delimiter}"' if delimiter else "",
        f'text in "{report.text_column}"' if report.text_column else "",
        f'id in "{report.id_column}"' if report.id_column else "",
        _counted(report.documents, "document", "documents"),
        _counted(report.entities, "entity", "entities"),
    ]
    return f"{report.name}: {', '.join(part for part in parts if part)}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if count else ""


def read_options(options: argparse.Namespace) -> ReadOptions:
    """Return the reading options of the command line."""
    return ReadOptions(
        text_column=options.text_column,
        id_column=options.id_column,
        lines_are_documents=options.lines,
        encoding=options.encoding,
        skip_bad_lines=options.skip_bad_lines,
        language=options.language,
    )


def limits_of(options: argparse.Namespace, limits: Limits = LIMITS) -> Limits:
    """Return what files may cost to read: as given, or with --no-limits whatever it takes."""
    return NO_LIMITS if options.no_limits else limits


def write_file(
    corpus: Corpus, options: argparse.Namespace, card: Mapping[str, Any] | None = None
) -> WriteReport:
    """Write the corpus as the command line asks, its card beside it, and print how much it is."""
    report = write_corpus(corpus, options.out, options.format, write_options(options))
    tell_written(report, options, card)
    return report


def typed_command(options: argparse.Namespace) -> str:
    """Return the command as a person could type it again."""
    return shlex.join(["glossa", *options.typed])


def write_options(options: argparse.Namespace) -> WriteOptions:
    """Return the writing options of the command line."""
    return WriteOptions(options.essential, options.excel, options.utf16_offsets)


def tell_written(
    report: WriteReport, options: argparse.Namespace, card: Mapping[str, Any] | None = None
) -> None:
    """Print how many rows were written and what was changed; write the card beside the file."""
    note_all(f"{Path(options.out).name}: {note}" for note in report.notes)
    say(f"\nWrote {report.rows:,} rows to {options.out}.")
    if card:
        write_card(options.out, card, writable_format(options.out, options.format).name)


def write_card(path: str | Path, card: Mapping[str, Any], format: str) -> None:
    """Write the card beside a result; the result itself is safe if this fails."""
    try:
        write_export_card(path, card, format)
    except InputError as error:
        note_all([f"the result has no card: {error}"])
