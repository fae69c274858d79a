"""The job that finds likely names: what it keeps, how long that holds, and how it stops."""

import numpy as np
import pytest

from engine import jobs
from engine.jobs.reports import Report
from engine.jobs.worker.kinds import do_work
from engine.jobs.worker.process import do_job
from engine.labels.likely import DoubtfulPhrase
from engine.network.device import set_threads
from engine.network.transformer import contextual_features
from engine.planning.methods import LINEAR_ROUNDS
from engine.projects.likely import keep_likely, kept_likely, likely_basis, likely_file_key
from engine.text.model import InputError
from tests.support.small_project import TINY, make_small_project, source, tiny_request
from tests.support.tiny_encoders import save_tiny_bert

BARE = {"word_vectors": "none", "contextual_layer": 0, "is_suited_to_labels": False}


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    set_threads(1)


@pytest.fixture
def project():
    return make_small_project()


def suggest(project, on_progress=None, **settings):
    job = jobs.create(project, jobs.SuggestRequest(settings=BARE | settings))
    do_job(project, job.id, on_progress or (lambda _: None))
    return jobs.get_job(project, job.id)


def test_likely_tokens_are_kept_for_every_token_of_the_text(project):
    heard = []
    job = suggest(project, heard.append)
    assert (job.state, job.share, len(heard)) == ("done", 1.0, LINEAR_ROUNDS)
    kept = kept_likely(project)
    count = sum(file.tokens for file in project.text_files())
    assert len(kept.tokens) == count == len(kept.tokens.is_open)
    assert kept.tokens.entity_types == ("Disease", "Drug")
    assert 0 < kept.tokens.share < 1
    assert kept.basis == likely_basis(project)
    # The likely ones are above the threshold, as training would cut them.
    likely = kept.tokens.classes(kept.tokens.count()) > 0
    assert kept.tokens.confidence[likely].min() > 0.5
    assert kept.tokens.confidence[kept.tokens.is_open & ~likely].max() <= 0.5
    assert kept.tokens.margins.min() >= 0 and kept.tokens.margins.max() <= 1


def test_doubtful_phrases_are_kept_and_older_files_have_none(project):
    suggest(project)
    kept = kept_likely(project)
    assert kept.doubtful == ()
    phrases = (DoubtfulPhrase("the", "Drug", 12, ""), DoubtfulPhrase("rash", "Drug", 1, "Disease"))
    keep_likely(project, kept._replace(doubtful=phrases))
    assert kept_likely(project).doubtful == phrases
    assert list(map(str, phrases)) == [
        '"the" (Drug, 12 matches, an everyday word)',
        '"rash" (Drug, 1 match, looks like Disease)',
    ]


def test_what_is_kept_tells_when_it_is_outdated(project):
    assert kept_likely(project) is None and likely_file_key(project) == ""
    suggest(project)
    basis, key = kept_likely(project).basis, likely_file_key(project)
    project.add_decision("review", "d0", 0, 3, "Drug", "rejected")
    assert likely_basis(project)._replace(decisions=basis.decisions) == basis
    assert likely_basis(project) != basis
    project.add_phrases([("water", "Drug")])
    assert likely_basis(project).labels != basis.labels
    assert kept_likely(project).basis == basis  # still readable: the text is the same
    project.add_text([source("more.txt", ["More text."])])
    assert kept_likely(project) is None
    suggest(project)
    assert kept_likely(project).basis == likely_basis(project)
    assert likely_file_key(project) != key


def test_tokens_that_a_person_rejected_are_not_open(project):
    text = project.corpus().documents[0].text
    project.add_decision("review", "d0", 0, text.index(" "), "Drug", "rejected")
    suggest(project)
    tokens = kept_likely(project).tokens
    assert not tokens.is_open[0] and tokens.confidence[0] < 0.01


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("margins"),
        lambda arrays: arrays.update(types=arrays["types"][:-1]),
        lambda arrays: arrays.update(types=arrays["types"] + 2),
        lambda arrays: arrays.update(confidence=arrays["confidence"].astype(np.float64)),
        lambda arrays: arrays.update(about=np.frombuffer(b"{", np.uint8)),
    ],
    ids=["missing", "short", "no name", "another kind", "no JSON"],
)
def test_a_damaged_file_counts_as_none(project, damage):
    suggest(project)
    path = project.folder / "cache" / "likely.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    damage(arrays)
    np.savez(path, **arrays)
    assert kept_likely(project) is None


def test_training_finds_the_text_encoded(project, tmp_path, monkeypatch):
    computed, shares = [], []

    def compute(inputs, *arguments, **options):
        if inputs.token_count > 1:  # loading a run encodes one token, to learn the sizes
            computed.append(inputs.token_count)
        return contextual_features(inputs, *arguments, **options)

    def progress(self, _real=Report.progress, **columns):
        shares.append(columns.get("share", -1))
        _real(self, **columns)

    monkeypatch.setattr("engine.network.frozen.contextual_features", compute)
    monkeypatch.setattr(Report, "progress", progress)
    monkeypatch.setattr("engine.jobs.worker.setup._REPORT_SECONDS", 0)
    encoder = {"contextual_layer": 1, "encoder_name": str(save_tiny_bert(tmp_path))}
    assert suggest(project, **encoder).state == "done"
    known = [share for share in shares if share >= 0]
    assert known == sorted(known) and any(0.1 < share <= 0.6 for share in known)
    job = jobs.create(project, tiny_request(settings=TINY | BARE | encoder))
    assert do_job(project, job.id) == "done"
    assert len(computed) == 1


def test_a_stopped_search_keeps_what_was_found_before(project):
    suggest(project)
    key = likely_file_key(project)
    job = jobs.create(project, jobs.SuggestRequest(settings=BARE))
    report, rounds = Report(project.folder, job), []
    report.claim()
    assert report.begin()
    assert not do_work(project, report, lambda: len(rounds) == 2, rounds.append)
    assert len(rounds) == 2
    assert likely_file_key(project) == key


def test_impossible_requests_are_refused_before_the_start(project):
    with pytest.raises(InputError, match="is not a preset"):
        jobs.create(project, jobs.SuggestRequest("fast"))
    with pytest.raises(InputError, match="hidden_size must be"):
        jobs.create(project, jobs.SuggestRequest(settings={"hidden_size": 0}))


def test_requests_are_stored_as_json_and_come_back(project):
    request = jobs.SuggestRequest("quick", BARE)
    job = jobs.create(project, request)
    assert (job.kind, job.request) == ("suggest", {"preset": "quick", "settings": BARE})
    assert jobs.stored_request(job) == request
