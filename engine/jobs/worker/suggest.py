"""Suggest jobs: find likely names that the dictionaries lack, without training a network."""

from engine.experiment import prepare
from engine.jobs import SuggestRequest, settings_of
from engine.jobs.worker.setup import (
    ActiveJob,
    context_folder,
    keep_project_context,
    read_and_label,
)
from engine.learning import Epoch, Progress, find_likely_tokens
from engine.network import Stopped, Tokens
from engine.planning import CONFIDENCE, LINEAR_ROUNDS
from engine.projects import KeptLikely, keep_likely, likely_basis

_PREPARED, _ENCODED, _ROUNDED = 0.1, 0.6, 0.9  # shares of the whole job


def suggest_job(active: ActiveJob, request: SuggestRequest) -> bool:
    """Find likely entities and keep them in the project; return False when stopped on the way.

    What a person decided counts. A resumed job begins anew: all but its encoding is quick, and the
    encoding is kept.
    """
    job, settings = active.report.job, settings_of(request)
    basis = likely_basis(active.project, job.dictionary_version, job.match_preset)
    text = read_and_label(active)
    review = active.project.review_effect(text.corpus.documents)

    def encode(sentences: Tokens) -> None:
        if not keep_project_context(active, sentences, settings, (_PREPARED, _ENCODED)):
            raise Stopped

    def on_epoch(epoch: Epoch) -> None:
        share = _ENCODED + (_ROUNDED - _ENCODED) * epoch.number / LINEAR_ROUNDS
        left = (LINEAR_ROUNDS - epoch.number) * epoch.seconds
        active.report.progress(share=share, seconds_left=left)
        active.on_progress(Progress("conf_mpu", CONFIDENCE, epoch, LINEAR_ROUNDS, left))

    active.report.progress(stage="priors", share=_PREPARED / 2)
    try:
        prepared = prepare(
            text.corpus.documents,
            text.dictionaries,
            match=job.match_preset,
            settings=settings,
            labels=text.labels,
            accepted=review.accepted,
            rejected=review.rejected,
            cache=context_folder(active.project),
            encode=encode,
            should_stop=active.should_stop,
        )
        active.report.fact("notes", list(prepared.notes))
        encode(prepared.data.sentences)
        active.report.progress(stage="suggest", share=_ENCODED)
        tokens = find_likely_tokens(
            prepared.data,
            prepared.priors.values,
            settings,
            on_epoch=on_epoch,
            should_stop=active.should_stop,
        )
    except Stopped:
        return False
    keep_likely(active.project, KeptLikely(tokens, prepared.doubtful, basis))
    return True
