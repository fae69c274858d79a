"""Predict jobs: a trained run finds entities in new texts."""

from engine.commands.work_setup import Work, predict_corpus, write_predictions
from engine.formats import read_corpus
from engine.job_requests import PredictRequest
from engine.job_results import PREDICTIONS, find_job, run_folder
from engine.text import InputError


def predict_job(work: Work, request: PredictRequest) -> bool:
    """Find entities in the job's texts; False when stopped on the way."""
    work.report.progress(stage="reading")
    corpus = read_corpus(request.files, request.options)
    if not any(document.sentences for document in corpus.documents):
        raise InputError("these files hold no words to look at")
    work.report.fact("notes", list(corpus.notes))
    run = find_job(work.project, request.run)
    work.report.progress(stage="predict", method=request.method, share=0.1)
    found = predict_corpus(
        work,
        run_folder(run, request.method),
        corpus,
        lambda share: work.report.progress(share=0.1 + 0.9 * share),
    )
    if found is None:
        return False
    write_predictions(work.report.job.folder / PREDICTIONS, corpus, found)
    return True
