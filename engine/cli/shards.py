"""`label` and `predict` on shards: folders and URLs of files, on this machine or on a cluster."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from engine.cli import console
from engine.cli.inputs import match_preset, read_given_dictionaries
from engine.cli.keyboard import STOPPED, stopped_by_keyboard
from engine.cli.label import nothing_matches
from engine.cli.label_tables import say_adaptation, say_conflicts, say_coverage
from engine.cli.terminal import (
    MOST_ROWS,
    heading,
    limits_of,
    note_all,
    read_options,
    say,
    write_options,
)
from engine.shards import (
    Executor,
    LabelReport,
    LocalExecutor,
    PredictReport,
    RayExecutor,
    ShardedResult,
    ShardOptions,
    StageProgress,
    is_sharded,
    label_shards,
    predict_shards,
)
from engine.text import InputError

_WORDS = {
    "patterns": "Trying patterns",
    "count": "Counting",
    "label": "Labeling",
    "predict": "Predicting",
}
_LINE_SECONDS = 30.0  # between lines of progress where there is no terminal
_DEFAULT_FORMAT = "jsonl"


def names_shards(options: argparse.Namespace) -> bool:
    """Return whether a command is to work on shards."""
    if options.address and options.engine != "ray":
        raise InputError("--address names a Ray cluster; add --engine ray")
    return bool(options.engine) or is_sharded(options.text)


def label_sharded(options: argparse.Namespace) -> None:
    """Label every shard with dictionaries; print the coverage of all of them."""
    for name in ("gold", "sample", "checked", "project"):
        if getattr(options, name):
            raise InputError(f"--{name} does not go with shards; try it on one file of them")
    given = _options(options)
    dictionaries, preset = read_given_dictionaries(options), match_preset(options)
    with _work(options) as (executor, progress, should_stop):
        result = label_shards(
            options.text, dictionaries, given, executor, preset, progress, should_stop
        )
    _end_if_unfinished(result.is_stopped, result.done, result.shards)
    report = result.report
    note_all(report.notes)
    if result.done and not report.coverage.matches:
        raise InputError(nothing_matches(report.coverage, preset))
    if result.done:
        _say_labels(report)
    _say_end(result, options)


def predict_sharded(options: argparse.Namespace) -> None:
    """Find entities in every shard with a trained run; print how many of each type."""
    given = _options(options)
    with _work(options) as (executor, progress, should_stop):
        result = predict_shards(
            options.text,
            Path(options.run_folder),
            given,
            executor,
            progress,
            should_stop,
            is_trusted=options.trust,
        )
    _end_if_unfinished(result.is_stopped, result.done, result.shards)
    if result.done:
        _say_predictions(result.report)
    _say_end(result, options)


def _options(options: argparse.Namespace) -> ShardOptions:
    if not options.out:
        raise InputError("name a folder or a URL for the results with --out")
    given = ShardOptions(
        options.out,
        options.format or _DEFAULT_FORMAT,
        read_options(options),
        limits_of(options),
        write_options(options),
    )
    if "://" not in options.out and Path(options.out).is_file():
        raise InputError(f"{options.out} is a file; with shards, --out is a folder or a URL")
    return given


@contextmanager
def _work(
    options: argparse.Namespace,
) -> "Iterator[tuple[Executor, ShardProgress, Callable[[], bool]]]":
    """Yield who does the work, who prints how far it is, and whether Ctrl-C was pressed."""
    with ExitStack() as stack:
        should_stop = stack.enter_context(stopped_by_keyboard())
        executor: Executor = LocalExecutor(options.workers)
        if options.engine == "ray":
            executor = stack.enter_context(RayExecutor(options.address))
        yield executor, stack.enter_context(ShardProgress()), should_stop


def _end_if_unfinished(is_stopped: bool, done: int, shards: int) -> None:
    if is_stopped:
        say(
            f"Stopped. {done:,} of {shards:,} shards are finished and are kept; the same command "
            "goes on after them."
        )
        raise SystemExit(STOPPED)


def _say_labels(report: LabelReport) -> None:
    say_coverage(report.coverage, report.by_type, report.by_dictionary, report.never)
    if report.cases is not None:
        say_adaptation(report.cases, report.added, report.abbreviations, report.first_abbreviations)
    say_conflicts(report.conflicts, report.coverage.conflicts)


def _say_predictions(report: PredictReport) -> None:
    heading("Entities")
    say(
        f"{report.entities:,} entities in {report.documents:,} documents "
        f"({report.sentences:,} sentences, {report.tokens:,} tokens)."
    )
    say("\n" + console.table(report.by_type.rename(columns={"entity_type": "type"})))


def _say_end(
    result: ShardedResult[LabelReport] | ShardedResult[PredictReport], options: argparse.Namespace
) -> None:
    notes = list(dict.fromkeys(result.notes))
    note_all(notes[:MOST_ROWS])
    if len(notes) > MOST_ROWS:
        note_all([f"{len(notes) - MOST_ROWS:,} more notes are in the records of the shards"])
    before = f", {result.skipped:,} of them before" if result.skipped else ""
    say(f"\nWrote {result.done:,} of {result.shards:,} shards to {options.out}{before}.")
    note_all(fault.reason for fault in result.faults[:MOST_ROWS])
    if result.faults:
        count = len(result.faults)
        raise InputError(
            f"{count:,} of {result.shards:,} shards could not be done, the first because: "
            f"{result.faults[0].reason.rstrip('.')}. The others are kept; the same command tries "
            "again"
        )


class ShardProgress:
    """Prints how far a stage is and how long it will take: one line, or a line now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._said, self._stage = clock, 0.0, ""
        self._is_terminal = sys.stderr.isatty()
        self._is_open = False  # a line was printed that is not ended

    def __enter__(self) -> "ShardProgress":
        return self

    def __call__(self, progress: StageProgress) -> None:
        is_last = progress.shards == progress.all_shards
        is_new = progress.stage != self._stage
        if is_new:
            self._end()
        due = self._clock() - self._said >= (0.2 if self._is_terminal else _LINE_SECONDS)
        if not (is_new or is_last or due):
            return
        self._said, self._stage = self._clock(), progress.stage
        line = progress_line(progress)
        if self._is_terminal:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
            self._is_open = True
        else:
            print(line, file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._is_open:
            print(file=sys.stderr)
            self._is_open = False


def progress_line(progress: StageProgress) -> str:
    """Return how far a stage is, and the time to go.

    >>> progress_line(StageProgress("label", 3, 12, 1_500_000, 6_000_000, 95))
    'Labeling: 3 of 12 shards, 1.5 of 6.0 MB, about 2 minutes to go'
    """
    size = f"{progress.size / 1e6:,.1f} of {progress.all_size / 1e6:,.1f} MB"
    line = (
        f"{_WORDS[progress.stage]}: {progress.shards:,} of {progress.all_shards:,} shards, {size}"
    )
    if progress.shards == progress.all_shards:
        return f"{line}, done"
    if progress.seconds_left is None:
        return line
    return f"{line}, about {_time(progress.seconds_left)} to go"


def _time(seconds: float) -> str:
    """Return a time in the unit that a person would use.

    >>> [_time(seconds) for seconds in (0.4, 59, 61, 5400)]
    ['1 second', '59 seconds', '1 minute', '1.5 hours']
    """
    if seconds < 60:
        count, unit = max(1, round(seconds)), "second"
    elif seconds < 3600:
        count, unit = round(seconds / 60), "minute"
    else:
        return f"{seconds / 3600:.1f} hours"
    return f"{count} {unit}{'' if count == 1 else 's'}"
