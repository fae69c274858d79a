"""Labels are restored from their arrays exactly, or not at all."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.editing import mute
from engine.dictionaries.model import NEVER, Dictionary, Phrase
from engine.labels.distant import label
from engine.projects.caches import labels as labels_cache
from engine.projects.caches.labels import kept_labels, labels_path, load_labels, store_labels, tidy
from engine.settings import MATCH_PRESETS
from engine.text.tokenization import make_document
from tests.support.damage import CUTS, changed_bytes, cut_short, swap_array
from tests.support.labelings import DEFINING, assert_same, dictionaries, texts

DOCUMENTS = [make_document("a", "Kidney disease came. Lead went."), make_document("b", "")]
DICTIONARIES = [
    Dictionary("one", (Phrase("kidney disease", "Disease", "D1"), Phrase("kidney", "Disease"))),
    Dictionary("two", (Phrase("Kidney", "Organ"), Phrase("lead", "Chemical"))),
    Dictionary("three", (Phrase("LEAD", "Chemical"),), is_enabled=False),
]
LABELS = label(DOCUMENTS, DICTIONARIES)


ADAPTED = label(
    [*DOCUMENTS, make_document("c", "Kidney disease (KD), not KD.")], DICTIONARIES, "adaptive"
)


@given(dictionaries(DEFINING), texts(DEFINING), st.sampled_from(sorted(MATCH_PRESETS)))
def test_labels_come_back_as_they_were(given_dictionaries, documents, preset):
    labels = label(documents, given_dictionaries, preset)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.npz")
        store_labels(labels, path)
        loaded = load_labels(path)
    assert loaded is not None
    assert_same(loaded, labels)


def test_labels_of_nothing_and_half_a_surrogate_come_back(tmp_path):
    odd = [Dictionary("d\ud800", (Phrase("a \ud83d", "T"), Phrase("a \ud83d", "T", "x")))]
    for labels in (label([], []), label(DOCUMENTS, odd)):
        store_labels(labels, tmp_path / "labels.npz")
        loaded = load_labels(tmp_path / "labels.npz")
        assert loaded is not None
        assert_same(loaded, labels)


def test_never_lists_and_notes_come_back(tmp_path):
    lists = [*DICTIONARIES, Dictionary("never.txt", (Phrase("went", NEVER), Phrase("lead", NEVER)))]
    labels = replace(label(DOCUMENTS, lists), notes=("a pattern takes too long",))
    store_labels(labels, tmp_path / "labels.npz")
    loaded = load_labels(tmp_path / "labels.npz")
    assert loaded is not None and loaded.notes == labels.notes
    assert_same(loaded.never, labels.never)
    assert np.array_equal(loaded.known_negatives, labels.known_negatives)
    assert loaded.known_negatives.any()


# ---- what cannot be used --------------------------------------------------------------------


def test_a_missing_file_gives_none(tmp_path):
    assert load_labels(tmp_path / "labels.npz") is None


@pytest.mark.parametrize("share", CUTS)
def test_a_truncated_file_gives_none(tmp_path, share):
    path = tmp_path / "labels.npz"
    store_labels(LABELS, path)
    cut_short(path, share)
    assert load_labels(path) is None


def test_any_changed_byte_gives_none_or_the_same(tmp_path):
    path = tmp_path / "labels.npz"
    store_labels(LABELS, path)
    for _ in changed_bytes(path):
        if (loaded := load_labels(path)) is not None:
            assert_same(loaded, LABELS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lengths", np.zeros(1, np.int32)),
        ("lengths", np.zeros(3)),
        ("matches", np.array([[0, 0, 1, 9, 0, 0, -1]], np.int32)),
        ("matches", np.array([[0, 0, 1, 1, 99, 0, -1]], np.int32)),
        ("matches", np.array([[0, 0, 1, 1, 0, 0, 7]], np.int32)),
        ("matches", np.zeros((3, 2), np.int32)),
        ("also", np.array([[99, 0]], np.int32)),
        ("shorter", np.array([[0, 0, 1, 99]], np.int32)),
        ("phrases", np.full((4, 4), 50, np.int32)),
        ("phrases", np.zeros((1, 4), np.int64)),
        ("names", np.frombuffer(b"[]", np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_together_give_none(tmp_path, name, value):
    path = tmp_path / "labels.npz"
    store_labels(LABELS, path)
    swap_array(path, name, value)
    assert load_labels(path) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("adaptation", np.frombuffer(b"[[[1]], []]", np.uint8)),
        ("exact", np.zeros(1, np.int32)),
        ("defined_in", np.array([99], np.int32)),
        ("defined_in", np.array([[0]], np.int32)),
    ],
)
def test_decisions_that_do_not_fit_the_labels_are_none(tmp_path, name, value):
    path = tmp_path / "labels.npz"
    store_labels(ADAPTED, path)
    assert load_labels(path) is not None
    swap_array(path, name, value)
    assert load_labels(path) is None


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "labels.npz"
    with open(path, "wb") as out:
        np.savez(out, names=np.array([{"types": []}], object))
    assert load_labels(path) is None


# ---- kept by a project ----------------------------------------------------------------------


def never():
    raise AssertionError("labeled again")


def test_labels_are_made_once_and_kept_under_their_key(tmp_path):
    assert kept_labels(tmp_path, lambda: "k", lambda: LABELS) is LABELS
    assert_same(kept_labels(tmp_path, lambda: "k", never), LABELS)
    other = label(DOCUMENTS, [mute(DICTIONARIES[0], [("kidney", "Disease")])])
    assert kept_labels(tmp_path, lambda: "another", lambda: other) is other


def test_damaged_labels_are_made_again(tmp_path):
    kept_labels(tmp_path, lambda: "k", lambda: LABELS)
    labels_path(tmp_path, "k").write_bytes(b"PK")
    assert kept_labels(tmp_path, lambda: "k", lambda: LABELS) is LABELS
    assert_same(kept_labels(tmp_path, lambda: "k", never), LABELS)


def test_labels_are_not_kept_if_the_project_changed_meanwhile(tmp_path):
    keys = iter(["before", "after"])
    kept_labels(tmp_path, lambda: next(keys), lambda: LABELS)
    assert not labels_path(tmp_path, "before").exists()
    assert not labels_path(tmp_path, "after").exists()


def test_a_cache_that_cannot_be_written_is_not_an_error(tmp_path):
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    assert kept_labels(tmp_path, lambda: "k", lambda: LABELS) is LABELS


def test_changed_code_does_not_find_old_labels(tmp_path, monkeypatch):
    before = labels_path(tmp_path, "k")
    monkeypatch.setattr(labels_cache, "matching_version", lambda: "another")
    assert labels_path(tmp_path, "k") != before


# ---- limits ---------------------------------------------------------------------------------


def filled(folder, ages):
    """Files that were used so many seconds ago, by name."""
    for name, age in ages.items():
        path = folder / name
        path.write_bytes(b"1234")
        os.utime(path, (path.stat().st_mtime - age,) * 2)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_recently_used_files_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(labels_cache, "_MOST_FILES", 2)
    filled(tmp_path, {"a.npz": 30, "b.npz": 10, "c.npz": 20, "new.npz": 0})
    tidy(tmp_path / "new.npz")
    assert names(tmp_path) == ["b.npz", "new.npz"]


def test_large_files_are_deleted_to_make_room_for_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(labels_cache, "_MOST_BYTES", 3)
    filled(tmp_path, {"a.npz": 30, "new.npz": 0})
    tidy(tmp_path / "new.npz")
    assert names(tmp_path) == ["new.npz"]


def test_leftovers_of_a_killed_process_are_deleted_after_an_hour(tmp_path):
    filled(tmp_path, {".a.npz.x.part": 4000, ".b.npz.y.part": 10, "new.npz": 0})
    tidy(tmp_path / "new.npz")
    assert names(tmp_path) == [".b.npz.y.part", "new.npz"]


def test_labels_in_use_count_as_new(tmp_path, monkeypatch):
    monkeypatch.setattr(labels_cache, "_MOST_FILES", 2)
    kept_labels(tmp_path, lambda: "first", lambda: LABELS)
    kept_labels(tmp_path, lambda: "second", lambda: LABELS)
    for path in labels_path(tmp_path, "x").parent.iterdir():
        os.utime(path, (path.stat().st_mtime - 100,) * 2)
    kept_labels(tmp_path, lambda: "first", never)
    kept_labels(tmp_path, lambda: "third", lambda: LABELS)
    assert labels_path(tmp_path, "first").exists()
    assert not labels_path(tmp_path, "second").exists()
