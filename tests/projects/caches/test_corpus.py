"""Parsed text is restored from its arrays exactly, or not at all."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.projects.caches import corpus as corpus_cache
from engine.projects.caches.corpus import load_corpora, load_ids, reader_version, store_corpora
from engine.text.model import Corpus, Entity, FileReport
from engine.text.tokenization import make_document
from tests.support.corpora import corpora
from tests.support.damage import CUTS, changed_bytes, cut_short, swap_array

TWO = [
    Corpus(
        (make_document("a", "Fever came. Rash went."), make_document("b", "")),
        {"a": (Entity(0, 5, "Disease", score=0.5, method="gold"),), "b": ()},
        (FileReport("a.txt", "txt", notes=("one", "two")),),
    ),
    Corpus((), {"elsewhere": (Entity(0, 1, "Disease"),)}),
]


@given(st.lists(corpora() | corpora(pretokenized=True, plain_types=False), max_size=3))
def test_corpora_come_back_as_they_were(stored):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "read.npz")
        store_corpora(stored, path)
        assert load_corpora(path) == stored
        assert load_ids(path) == [[d.id for d in corpus.documents] for corpus in stored]


def test_empty_documents_reports_and_annotations_of_others_come_back(tmp_path):
    store_corpora(TWO, tmp_path / "read.npz")
    assert load_corpora(tmp_path / "read.npz") == TWO


def test_half_a_surrogate_pair_comes_back(tmp_path):
    stored = [Corpus((make_document("d\ud800", "fever \ud83d rash"),))]
    store_corpora(stored, tmp_path / "read.npz")
    assert load_corpora(tmp_path / "read.npz") == stored


def test_a_missing_file_gives_none(tmp_path):
    assert load_corpora(tmp_path / "read.npz") is None
    assert load_ids(tmp_path / "read.npz") is None


@pytest.mark.parametrize("share", CUTS)
def test_a_truncated_file_gives_none(tmp_path, share):
    path = tmp_path / "read.npz"
    store_corpora(TWO, path)
    cut_short(path, share)
    assert load_corpora(path) is None


def test_any_changed_byte_gives_none_or_the_same(tmp_path):
    path = tmp_path / "read.npz"
    store_corpora(TWO, path)
    for _ in changed_bytes(path):
        assert load_corpora(path) in (None, TWO)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sentences", np.zeros((1, 3), np.int64)),
        ("sentences", np.array([0, 6, 3, 0], np.int32)),
        ("documents", np.array([[10**6, 2, 6, 0, 0], [0, 0, 0, 0, 0]])),
        ("tokens", np.array([99], np.int32)),
        ("sentences", np.zeros(0, np.int32)),
        ("ids", np.frombuffer(b"[]", np.uint8)),
        ("text", np.frombuffer(b"\xff", np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_together_give_none(tmp_path, name, value):
    path = tmp_path / "read.npz"
    store_corpora(TWO, path)
    swap_array(path, name, value)
    assert load_corpora(path) is None


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "read.npz"
    with open(path, "wb") as out:
        np.savez(out, about=np.array([{"files": []}], object))
    assert load_corpora(path) is None


def test_a_cache_that_cannot_be_written_is_not_an_error(tmp_path):
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    store_corpora(TWO, tmp_path / "cache" / "read.npz")
    assert load_corpora(tmp_path / "cache" / "read.npz") is None


def test_changed_code_does_not_read_an_old_cache(tmp_path, monkeypatch):
    before = reader_version()
    monkeypatch.setattr(corpus_cache, "_LIBRARIES", ("regex",))
    assert corpus_cache.reader_version.__wrapped__() != before
