"""Predict jobs: find entities in new texts with a trained run."""

from engine.experiment import predict
from engine.jobs import PredictRequest, find_job, run_folder, twin_folder
from engine.jobs.worker.setup import ActiveJob
from engine.network import Stopped
from engine.projects import read_once
from engine.run_folder import PREDICTIONS, write_predictions
from engine.runs import CutTokens, load_run
from engine.text import InputError


def predict_job(active: ActiveJob, request: PredictRequest) -> bool:
    """Find entities in the job's texts; return False when stopped on the way."""
    report = active.report
    report.progress(stage="reading")
    [corpus] = read_once(report.job.folder, [request.files], request.options)
    if not any(document.sentences for document in corpus.documents):
        raise InputError("these files hold no words to look at")
    folder_of = twin_folder if request.is_fast else run_folder
    trained = load_run(folder_of(find_job(active.project, request.run), request.method))
    cut = CutTokens(trained)
    cut.add(corpus.documents)
    report.fact("notes", [*corpus.notes, *cut.notes])
    report.progress(stage="predict", method=request.method, share=0.1)
    try:
        entities = predict(
            trained,
            corpus.documents,
            report.job.id,
            on_share=lambda share: report.progress(share=0.1 + 0.9 * share),
            should_stop=active.should_stop,
        )
    except Stopped:
        return False
    write_predictions(report.job.folder / PREDICTIONS, entities)
    return True
