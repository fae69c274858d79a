"""Twin jobs: make the fast twin of a trained method from the project's text."""

from engine.experiment import make_twin
from engine.jobs import TwinRequest, find_job, run_folder, twin_folder
from engine.jobs.worker.setup import ActiveJob
from engine.learning import Progress
from engine.network import Stopped
from engine.runs import load_run, save_twin

_READ = 0.3  # share of the job after which the run has read the text


def twin_job(active: ActiveJob, request: TwinRequest) -> bool:
    """Make the twin and leave it in the folder of its run; return False when stopped on the way.

    A resumed job begins anew.
    """
    report, run = active.report, find_job(active.project, request.run)
    report.progress(stage="reading", method=request.method)
    corpus = active.project.corpus()
    teacher = load_run(run_folder(run, request.method))

    def on_progress(progress: Progress) -> None:
        share = _READ + (1 - _READ) * progress.epoch.number / progress.epochs
        report.progress(stage="training", share=share, seconds_left=progress.seconds_left)
        active.on_progress(progress)

    report.progress(stage="predict")
    try:
        twin = make_twin(
            teacher,
            corpus.documents,
            on_share=lambda share: report.progress(share=_READ * share),
            on_progress=on_progress,
            should_stop=active.should_stop,
        )
    except Stopped:
        return False
    save_twin(twin_folder(run, request.method), twin, run_folder(run, request.method).name)
    return True
