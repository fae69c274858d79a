"""A job is done by the function of its kind. Everything from here on may use torch."""

from collections.abc import Callable

from engine.commands.epoch_lines import say_epoch
from engine.commands.work_curve import curve_job
from engine.commands.work_predict import predict_job
from engine.commands.work_setup import Work
from engine.commands.work_train import probe_job, train_job
from engine.job_reports import Report
from engine.job_requests import CurveRequest, PredictRequest, ProbeRequest
from engine.job_results import stored_request
from engine.progress import OnProgress
from engine.project import Project


def do_work(
    project: Project,
    report: Report,
    should_stop: Callable[[], bool],
    on_progress: OnProgress | None,
) -> bool:
    """Do what was asked of a job; False when it was stopped on the way."""
    work = Work(project, report, should_stop, on_progress or say_epoch)
    request = stored_request(report.job)
    if isinstance(request, CurveRequest):
        return curve_job(work, request)
    if isinstance(request, PredictRequest):
        return predict_job(work, request)
    if isinstance(request, ProbeRequest):
        return probe_job(work, request)
    return train_job(work, request)
