"""`curve` on files: train on growing shares of the dictionaries, and write the points as CSV."""

import argparse
import csv
import io
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

from engine.cli import console
from engine.cli.encoding_bar import watch_context
from engine.cli.epoch_lines import EpochLines, epochs_of_all
from engine.cli.inputs import match_preset, read_given_dictionaries, read_gold, read_texts
from engine.cli.keyboard import end_if_stopped, stopped_by_keyboard
from engine.cli.options import check_files_only, make_settings, parse_methods, parse_numbers
from engine.cli.terminal import heading, say, typed_command, write_card
from engine.dictionaries import active_types
from engine.files import written_whole
from engine.learning import tokens_of
from engine.planning import title_of
from engine.run_folder import dictionary_facts, new_card, text_facts
from engine.runs import CurvePlan, Point, Task, coverage_curve, features_folder, ready_tasks
from engine.shards import RayExecutor, train_on_cluster
from engine.text import InputError

CURVE = "the points of a coverage curve"


def curve_on_files(options: argparse.Namespace) -> None:
    """Train every cell of the curve; write the points of each share as soon as it is done."""
    check_files_only(options, "a CSV file for the points")
    if options.address and options.engine != "ray":
        raise InputError("--address names a Ray cluster; add --engine ray")
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

    def on_points(of_share: list[Point]) -> None:
        points.extend(of_share)
        write_points(Path(options.out), points)

    times = len(plan.fractions) * len(plan.seeds)
    types = len(active_types(dictionaries))
    epochs = epochs_of_all(plan.methods, plan.settings, types=types, times=times)
    folder = Path(f"{options.out}.runs").absolute()  # other machines look for it, too
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
                train_elsewhere=_trainer(options, should_stop),
            )
    end_if_stopped(should_stop())
    say_points(points, has_gold=gold is not None)
    card = new_card(
        CURVE,
        command=typed_command(options),
        text=text_facts(corpus),
        dictionaries=dictionary_facts(dictionaries),
        curve=asdict(plan),
    )
    write_card(options.out, card, "csv")
    say(f"\nWrote {len(points):,} points to {options.out}; its runs are in {options.out}.runs.")


def _trainer(
    options: argparse.Namespace, should_stop: Callable[[], bool]
) -> Callable[[list[Task]], None] | None:
    """Return what trains all cells on a cluster, or None if this machine does."""
    if options.engine != "ray":
        return None

    def train(tasks: list[Task]) -> None:
        waiting = ready_tasks(tasks, should_stop)
        with (
            RayExecutor(options.address),
            console.ProgressBar("Training", len(waiting), "cells") as progress,
        ):
            train_on_cluster(waiting, lambda _: progress.advance(1), should_stop)

    return train


def say_points(points: list[Point], *, has_gold: bool) -> None:
    """Print the points as a table."""
    heading("Coverage curve" if has_gold else "Coverage curve, without gold: counts, not accuracy")
    say(console.table(console.columns_of([_row(point) for point in points])))


def write_points(path: Path, points: list[Point]) -> None:
    """Write the points as CSV; the file is replaced as a whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Point)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(point) for point in points)
    with written_whole(path) as out:
        out.write(text.getvalue().encode())


def _row(point: Point) -> dict[str, object]:
    return {
        "dictionary": f"{point.fraction} %",
        "method": title_of(point.method),
        "seed": point.seed,
        "precision %": point.precision,
        "recall %": point.recall,
        "F1 %": point.f1,
        "tokens labeled %": point.token_coverage,
        "entities": point.n_entities,
    }
