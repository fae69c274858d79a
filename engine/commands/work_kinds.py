"""Do a job with the function of its kind. Everything from here on may use torch."""

from collections.abc import Callable

from engine.commands.work_curve import curve_job
from engine.commands.work_predict import predict_job
from engine.commands.work_setup import ActiveJob
from engine.commands.work_train import probe_job, train_job
from engine.job_reports import Report
from engine.job_requests import CurveRequest, PredictRequest, ProbeRequest
from engine.job_results import stored_request
from engine.notes import print_aside
from engine.progress import OnProgress, epoch_line
from engine.project import Project


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
    if isinstance(request, ProbeRequest):
        return probe_job(active, request)
    return train_job(active, request)
