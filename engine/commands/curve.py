"""`curve`: shares of the dictionary, times methods, times seeds, become a CSV of points."""

import argparse
import csv
import io
import sys
from dataclasses import asdict, fields
from pathlib import Path

from engine import console
from engine.commands.inputs import read_given_dictionaries, read_gold, read_texts
from engine.commands.terminal import heading, say
from engine.commands.train import NAMES, Reporter, make_settings, parse_methods
from engine.curve import CurvePlan, Point, coverage_curve
from engine.files import written_whole
from engine.text import InputError


def curve_command(options: argparse.Namespace) -> None:
    """Train every cell of the curve, writing the points as they come."""
    plan = CurvePlan(
        fractions=parse_numbers("--fractions", options.fractions, 1, 100),
        methods=parse_methods(options.methods),
        seeds=parse_numbers("--seeds", options.seeds, 0, 1_000_000),
        settings=make_settings(options),
        match=options.match,
    )
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    gold = read_gold(options, corpus)
    points: list[Point] = []

    def on_points(found: list[Point]) -> None:
        points.extend(found)
        _write(Path(options.out), points)

    coverage_curve(
        corpus.documents,
        dictionaries,
        plan,
        Path(f"{options.out}.runs"),
        gold=gold,
        workers=options.workers,
        on_progress=Reporter(sys.stderr.isatty()),
        on_points=on_points,
    )
    heading("Coverage curve" if gold else "Coverage curve, without gold: counts, not accuracy")
    say(console.table(console.columns_of([_row(point) for point in points])))
    say(f"\nWrote {len(points):,} points to {options.out}; its runs are in {options.out}.runs.")


def parse_numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """Return the whole numbers of a list such as "20,40,60"."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or not all(least <= number <= most for number in numbers):
        raise InputError(
            f"{option} takes whole numbers from {least} to {most:,}, parted by commas, got {text!r}"
        )
    return sorted(set(numbers))


def _write(path: Path, points: list[Point]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Point)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(point) for point in points)
    with written_whole(path) as out:
        out.write(text.getvalue().encode())


def _row(point: Point) -> dict[str, object]:
    return {
        "dictionary": f"{point.fraction} %",
        "method": NAMES.get(point.method, point.method),
        "seed": point.seed,
        "precision %": point.precision,
        "recall %": point.recall,
        "F1 %": point.f1,
        "tokens labeled %": point.token_coverage,
        "entities": point.n_entities,
    }
