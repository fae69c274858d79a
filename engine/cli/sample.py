"""Write a sample of matches as a CSV file to judge, and read the verdicts back."""

import argparse
from collections.abc import Sequence

import pandas as pd

from engine.cli.terminal import note_all, say
from engine.files import find_column, read_source, read_table, written_whole
from engine.formats import WriteOptions, row_writer
from engine.labels import DistantLabels
from engine.scoring import Judgement, Judgements, Place, draw_sample, kept_matches
from engine.settings import ReadOptions
from engine.text import InputError, Sentence

_VERDICTS = {"y": "correct", "n": "wrong", "u": "unsure"}
_COLUMNS = ["document", "start", "end", "text", "entity_type", "phrase", "dictionary", "context"]


def write_sample(
    options: argparse.Namespace, labels: DistantLabels, sentences: Sequence[Sentence]
) -> None:
    """Write a random sample of matches for a person to judge."""
    sample = draw_sample(kept_matches(labels, sentences), options.sample_size, options.seed)
    sample = sample[_COLUMNS].assign(verdict="")
    with written_whole(options.sample) as out:
        write_row = row_writer(out, WriteOptions())
        write_row(sample.columns)
        for row in sample.itertuples(index=False, name=None):
            write_row(row)
    say(
        f"\nWrote {len(sample):,} matches to judge to {options.sample}: put y, n or u under "
        f"verdict, then run again with --checked {options.sample}."
    )


def read_checked(path: str) -> Judgements:
    """Return the verdicts of a filled-in sample."""
    table = read_table(read_source(path), ReadOptions())
    header, *rows = table.rows
    names = ("document", "start", "end", "entity_type", "verdict")
    places = [find_column(header.cells, (name,)) for name in names]
    if None in places:
        raise InputError(
            f"{path} is not a sample written by --sample: it needs the columns {', '.join(names)}"
        )
    judgements: dict[Place, Judgement] = {}
    for row in rows:
        document, start, end, entity_type, verdict = (row.cells[i] for i in places if i is not None)
        key = verdict.strip().lower()[:1]
        if not key:
            continue
        if key not in _VERDICTS:
            raise InputError(f'{path} line {row.line:,}: the verdict "{verdict}" is not y, n or u')
        if not (start.isdecimal() and end.isdecimal()):
            raise InputError(
                f'{path} line {row.line:,}: start "{start}" and end "{end}" are not whole numbers. '
                "Leave all columns but verdict as they were written"
            )
        judgement = Judgement(document, int(start), int(end), entity_type, _VERDICTS[key])
        judgements[judgement.place] = judgement
    if not judgements:
        raise InputError(f"{path} has no verdict yet. Put y, n or u in its verdict column")
    return judgements


def check_verdicts(path: str, judgements: Judgements, matches: pd.DataFrame) -> None:
    """Note how many verdicts are about other matches; raise InputError if all of them are."""
    names = ("document", "start", "end", "entity_type")
    places = set(zip(*(matches[name] for name in names), strict=True))
    unknown = len(judgements.keys() - places)
    if unknown == len(judgements):
        raise InputError(
            f"{path} judges none of these matches. Draw the sample from the same texts with the "
            "same dictionaries"
        )
    if unknown:
        note_all([f"{path}: {unknown:,} of {len(judgements):,} verdicts are on other matches"])
