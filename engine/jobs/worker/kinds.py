"""Do a job with the function of its kind. Everything from here on may use torch."""

from collections.abc import Callable

from engine.jobs import (
    CurveRequest,
    PredictRequest,
    ProbeRequest,
    Report,
    ShardsRequest,
    SuggestRequest,
    TwinRequest,
    stored_request,
)
from engine.jobs.worker.curve import curve_job
from engine.jobs.worker.predict import predict_job
from engine.jobs.worker.setup import ActiveJob
from engine.jobs.worker.shards import shards_job
from engine.jobs.worker.suggest import suggest_job
from engine.jobs.worker.train import probe_job, train_job
from engine.jobs.worker.twin import twin_job
from engine.learning import OnProgress, epoch_line
from engine.projects import Project
from engine.system import print_aside


def do_work(
    project: Project,
    report: Report,
    should_stop: Callable[[], bool],
    on_progress: OnProgress | None,
) -> bool:
    """Do what was asked of a job; return False when it was stopped on the way.

    Epochs are printed to the log of the job unless `on_progress` hears them.
    """
    listener = on_progress or (lambda progress: print_aside(epoch_line(progress)))
    active = ActiveJob(project, report, should_stop, listener)
    request = stored_request(report.job)
    if isinstance(request, CurveRequest):
        return curve_job(active, request)
    if isinstance(request, PredictRequest):
        return predict_job(active, request)
    if isinstance(request, ShardsRequest):
        return shards_job(active, request)
    if isinstance(request, ProbeRequest):
        return probe_job(active, request)
    if isinstance(request, SuggestRequest):
        return suggest_job(active, request)
    if isinstance(request, TwinRequest):
        return twin_job(active, request)
    return train_job(active, request)
