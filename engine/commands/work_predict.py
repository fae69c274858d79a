"""Predict jobs: a trained run finds entities in new texts."""

from engine.commands.predict import CutTokens
from engine.commands.work_setup import Work, predict_corpus
from engine.formats import read_corpus
from engine.job_requests import PredictRequest
from engine.job_results import find_job, run_folder
from engine.predictions import write_predictions
from engine.run_card import PREDICTIONS
from engine.runs import load_run
from engine.text import InputError


def predict_job(work: Work, request: PredictRequest) -> bool:
    """Find entities in the job's texts; False when stopped on the way."""
    work.report.progress(stage="reading")
    corpus = read_corpus(request.files, request.options)
    if not any(document.sentences for document in corpus.documents):
        raise InputError("these files hold no words to look at")
    run = find_job(work.project, request.run)
    trained = load_run(run_folder(run, request.method))
    cut = CutTokens(trained)
    cut.add(corpus.documents)
    work.report.fact("notes", [*corpus.notes, *cut.notes])
    work.report.progress(stage="predict", method=request.method, share=0.1)
    found = predict_corpus(
        work,
        trained,
        corpus,
        lambda share: work.report.progress(share=0.1 + 0.9 * share),
    )
    if found is None:
        return False
    write_predictions(work.report.job.folder / PREDICTIONS, found)
    return True
