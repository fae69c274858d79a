"""Label or predict a whole corpus of shards, in stages, and return one report."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.dictionaries import Dictionary
from engine.labels import decide_cases, match_options
from engine.run_folder import dictionary_facts, new_card, read_card, run_facts
from engine.settings import DEFAULT_MATCH_PRESET, MatchOptions
from engine.shards.figures import (
    LabelReport,
    PredictReport,
    added_counts,
    label_report,
    predict_report,
)
from engine.shards.patterns import Slow, has_patterns, slow_patterns, without_slow
from engine.shards.shards import OWN_FOLDER, Shard, ShardOptions, find_shards, foreign_files
from engine.shards.stores import is_temporary, open_store
from engine.shards.tasks import CountTask, LabelTask, PatternTask, Task, pack_run
from engine.shards.work import Executor, Fault, Stage, StageProgress, run_stage
from engine.text import InputError

JOB_FILE = f"{OWN_FOLDER}/job.json"
CARD_FILE = f"{OWN_FOLDER}/card.json"
_NAMED = 3  # files that a message names

R = TypeVar("R")
OnProgress = Callable[[StageProgress], None]


@dataclass(frozen=True, slots=True)
class ShardedResult(Generic[R]):
    """The report on all shards that are done, and the faults of the others."""

    report: R
    shards: int
    done: int
    skipped: int  # finished before, by an earlier start of the same job
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    is_stopped: bool = False


def label_shards(
    texts: Sequence[str],
    dictionaries: Sequence[Dictionary],
    options: ShardOptions,
    executor: Executor,
    match: MatchOptions | str = DEFAULT_MATCH_PRESET,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ShardedResult[LabelReport]:
    """Label every shard; the labels are those that all shards as one corpus would get.

    Before that, a stage finds patterns that take too long in any shard, and where the text decides
    about letter case, a stage counts spellings in all shards.
    """
    matching = match if isinstance(match, str) else asdict(match)
    shards, match = _begin("label", texts, options), match_options(match)
    readable, faults = shards, list[Fault]()

    def run(task: Task) -> Stage:
        """Do the shards that the stages before could do."""
        nonlocal readable
        stage = run_stage(task, readable, executor, on_progress, should_stop)
        readable = [shard for shard in readable if shard in stage.records]
        faults.extend(stage.faults)
        return stage

    def result(stage: Stage, report: LabelReport) -> ShardedResult[LabelReport]:
        whole = replace(stage, faults=tuple(faults))
        if not stage.is_stopped:
            facts = {"dictionaries": dictionary_facts(dictionaries), "matching": matching}
            _write_card("what the dictionaries match", texts, options, stage, facts)
        return _result(report, shards, whole, options, executor)

    stopped = Stage({}, (), 0, is_stopped=True)
    slow: list[Slow] = []
    if has_patterns(dictionaries):
        stage = run(PatternTask(dictionaries, match, options))
        if stage.is_stopped:
            return result(stopped, label_report([], dictionaries, None))
        slow = slow_patterns(stage.figures(shards), dictionaries)
    usable, cases = without_slow(dictionaries, slow), None
    if any((d.match or match).is_adaptive for d in dictionaries if d.is_enabled):
        stage = run(CountTask(usable, match, options))
        if stage.is_stopped:
            return result(stopped, label_report([], dictionaries, None))
        cases = decide_cases(dictionaries, added_counts(stage.figures(shards), usable, match))
    stage = run(LabelTask(usable, match, options, cases))
    notes = [pattern.note for pattern in slow]
    return result(stage, label_report(stage.figures(shards), dictionaries, cases, notes))


def predict_shards(
    texts: Sequence[str],
    run_folder: Path,
    options: ShardOptions,
    executor: Executor,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    is_trusted: bool = False,
) -> ShardedResult[PredictReport]:
    """Find the entities of every shard with a trained run."""
    options = replace(options, read=replace(options.read, keep_entities=False))
    task = pack_run(run_folder, options, is_trusted=is_trusted)
    shards = _begin("predict", texts, options)
    stage = run_stage(task, shards, executor, on_progress, should_stop)
    report = predict_report(stage.figures(shards))
    if not stage.is_stopped:
        run = run_facts(read_card(run_folder), run_folder.name)
        facts = {"run": run, "entities": int(report.entities)}
        _write_card("what a trained method found", texts, options, stage, facts)
    return _result(report, shards, stage, options, executor)


def _write_card(
    what: str,
    texts: Sequence[str],
    options: ShardOptions,
    stage: Stage,
    facts: Mapping[str, Any],
) -> None:
    """Write what made the results beside them, so that they can be traced and made again."""
    card = new_card(
        what, texts=list(texts), format=options.format, shards=len(stage.records), **facts
    )
    options.store.write(CARD_FILE, (json.dumps(card, indent=2) + "\n").encode())


def _begin(kind: str, texts: Sequence[str], options: ShardOptions) -> list[Shard]:
    """Return the shards; refuse a folder of results that would mix with something else."""
    out = options.store
    for text in texts:
        place = open_store(text).root
        if out.root == place or out.root.startswith(f"{place}/"):
            raise InputError(f"{options.out} lies in {text}. Name another folder for the results")
    shards = find_shards(texts, options)
    foreign = foreign_files(options, shards)
    if foreign:
        named = ", ".join(foreign[:_NAMED]) + (", …" if len(foreign) > _NAMED else "")
        raise InputError(
            f"{options.out} holds {len(foreign):,} files that are no results of these shards "
            f"({named}). Name an empty folder, or delete them"
        )
    # Workers on other machines look for this file, to see whether they share the folder.
    about = {"kind": kind, "shards": len(shards), "texts": list(texts)}
    out.write(JOB_FILE, json.dumps(about, indent=1).encode())
    return shards


def _result(
    report: R, shards: Sequence[Shard], stage: Stage, options: ShardOptions, executor: Executor
) -> ShardedResult[R]:
    notes = [note for record in stage.in_order(shards) for note in record.notes]
    if not stage.is_stopped and not stage.faults:
        _sweep(options)
    return ShardedResult(
        report,
        len(shards),
        len(stage.records),
        stage.skipped,
        stage.faults,
        (*executor.notes, *notes),
        stage.is_stopped,
    )


def _sweep(options: ShardOptions) -> None:
    """Delete what killed workers left half written, now that everything is done."""
    store = options.store
    for file in store.files():
        if is_temporary(file.name):
            store.delete(file.name)
