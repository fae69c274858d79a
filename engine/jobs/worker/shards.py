"""Shards jobs: find entities in a large corpus, in processes of this machine or on a cluster."""

import os
import time
from contextlib import ExitStack

from engine.jobs import ShardsRequest, find_job, run_folder
from engine.jobs.worker.setup import ActiveJob
from engine.shards import (
    Executor,
    LocalExecutor,
    RayExecutor,
    ShardOptions,
    StageProgress,
    check_allowed,
    predict_shards,
)
from engine.text import InputError

_REPORT_SECONDS = 0.5
_NAMED = 10  # faults that are kept


def shards_job(active: ActiveJob, request: ShardsRequest) -> bool:
    """Find entities in every shard; return False when stopped on the way."""
    check_allowed((request.texts, request.out))
    report, told = active.report, 0.0
    report.progress(stage="reading")

    def tell(progress: StageProgress) -> None:
        nonlocal told
        if time.monotonic() - told < _REPORT_SECONDS:
            return
        told = time.monotonic()
        report.progress(
            stage="predict",
            method=request.method,
            share=progress.size / max(progress.all_size, 1),
            seconds_left=progress.seconds_left,
            message=f"{progress.shards:,} of {progress.all_shards:,} shards",
        )

    with ExitStack() as stack:
        executor: Executor = LocalExecutor(os.cpu_count() or 1)
        if request.address:
            executor = stack.enter_context(RayExecutor(request.address))
        result = predict_shards(
            [request.texts],
            run_folder(find_job(active.project, request.run), request.method),
            ShardOptions(request.out, request.format),
            executor,
            tell,
            active.should_stop,
        )
    if result.is_stopped:
        return False
    found = result.report
    report.fact("notes", list(dict.fromkeys(result.notes))[:_NAMED])
    report.fact(
        "shards",
        {
            "done": result.done,
            "shards": result.shards,
            "documents": found.documents,
            "tokens": found.tokens,
            "entities": dict(
                zip(found.by_type["entity_type"], map(int, found.by_type["entities"]), strict=True)
            ),
            "faults": [fault.reason for fault in result.faults[:_NAMED]],
        },
    )
    if not result.done:
        raise InputError(f"no shard could be done, the first because: {result.faults[0].reason}")
    return True
