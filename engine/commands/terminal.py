"""What every command shares: reading and writing files, and saying what happened."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.files import read_source
from engine.formats import WriteOptions, WriteReport, read_corpus, write_corpus
from engine.settings import ReadOptions
from engine.text import Corpus

MOST_ROWS = 10  # of a table that could be long


def heading(text: str) -> None:
    say(f"\n{text}\n{'=' * len(text)}")


def say(text: str) -> None:
    print(text)


def note_all(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def say_more(count: int) -> None:
    if count > MOST_ROWS:
        say(f"… and {count - MOST_ROWS:,} more")


def read_files(
    paths: Sequence[str], options: argparse.Namespace, format: str | None = None
) -> Corpus:
    corpus = read_corpus([read_source(path) for path in paths], read_options(options), format)
    note_all(corpus.notes)
    return corpus


def read_options(options: argparse.Namespace) -> ReadOptions:
    return ReadOptions(
        text_column=options.text_column,
        id_column=options.id_column,
        lines_are_documents=options.lines,
        encoding=options.encoding,
        skip_bad_lines=options.skip_bad_lines,
    )


def write_file(corpus: Corpus, options: argparse.Namespace) -> WriteReport:
    write_options = WriteOptions(options.essential, options.excel, options.utf16_offsets)
    report = write_corpus(corpus, options.out, options.format, write_options)
    note_all(f"{Path(options.out).name}: {note}" for note in report.notes)
    say(f"\nWrote {report.rows:,} rows to {options.out}, all offsets verified.")
    return report
