"""`curve`: shares of the dictionary, times methods, times seeds, become a CSV of points."""

import argparse
import csv
import io
from dataclasses import asdict, fields
from pathlib import Path

from engine import console
from engine.commands.context import watch_context
from engine.commands.epoch_lines import NAMES, EpochLines, epochs_of_all
from engine.commands.inputs import (
    match_preset,
    project_of,
    read_given_dictionaries,
    read_gold,
    read_texts,
)
from engine.commands.keyboard import stopped_by_keyboard
from engine.commands.terminal import heading, say
from engine.commands.train import (
    check_files_only,
    end_if_stopped,
    make_settings,
    parse_methods,
)
from engine.comparison import features_folder
from engine.curve import CurvePlan, Point, coverage_curve
from engine.files import written_whole
from engine.text import InputError
from engine.training_data import tokens_of


def curve_command(options: argparse.Namespace) -> None:
    """Train every cell of the curve, writing the points as they come."""
    if project := project_of(options):
        from engine.commands.project_training import curve_in_project

        curve_in_project(project, options)
        return
    check_files_only(options, "a CSV file for the points")
    plan = CurvePlan(
        fractions=parse_numbers("--fractions", options.fractions, 1, 100),
        methods=parse_methods(options.methods),
        seeds=parse_numbers("--seeds", options.seeds, 0, 1_000_000),
        settings=make_settings(options),
        match=match_preset(options),
    )
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    gold = read_gold(options, corpus)
    points: list[Point] = []

    def on_points(found: list[Point]) -> None:
        points.extend(found)
        write_points(Path(options.out), points)

    times = len(plan.fractions) * len(plan.seeds)
    types = len({name for of in dictionaries for name in of.types})
    epochs = epochs_of_all(plan.methods, plan.settings, types=types, times=times)
    folder = Path(f"{options.out}.runs")
    with stopped_by_keyboard() as should_stop:
        sentences = tokens_of(corpus.documents)
        watch_context(sentences, plan.settings, features_folder(folder), should_stop)
        with EpochLines(epochs) as lines:
            coverage_curve(
                corpus.documents,
                dictionaries,
                plan,
                folder,
                gold=gold,
                workers=options.workers,
                on_progress=lines,
                on_points=on_points,
                should_stop=should_stop,
            )
    end_if_stopped(should_stop())
    say_points(points, has_gold=gold is not None)
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


def say_points(points: list[Point], *, has_gold: bool) -> None:
    """Print the points as a table."""
    heading("Coverage curve" if has_gold else "Coverage curve, without gold: counts, not accuracy")
    say(console.table(console.columns_of([_row(point) for point in points])))


def write_points(path: Path, points: list[Point]) -> None:
    """Write the points as CSV, whole or not at all."""
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
