"""Uploads are read in a process of its own: same answers, limits, cancelling, nothing left over."""

import os
import signal
import subprocess
import sys
import time

import pytest

from engine.files import SourceFile
from engine.jobs import ReaderLimits, reader, start_import, start_reading
from engine.jobs.reader_process import TASKS
from engine.projects import (
    CACHE,
    create_project,
    delete_project,
    import_project_zip,
    open_project,
    preview_dictionaries,
    preview_from,
    preview_text,
    previews,
    texts,
    zipped_project,
)
from engine.settings import ReadOptions
from engine.system import watched
from engine.text import InputError
from tests.support.archives import zipped
from tests.support.waiting import LIMIT, wait_until

OPTIONS = ReadOptions()
JSONL = SourceFile(
    "notes.jsonl", b'{"id": "a", "text": "He has gout."}\n{"id": "b", "text": "Fever. Rash."}\n'
)
LONG = SourceFile("long.txt", b"ab cd. " * 700_000)  # some 5 MB: far from read when cancelled


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return create_project("Reader")


def ended(project, task, files, options=OPTIONS, limits=None, **more):
    reading = start_reading(project.folder, task, files, options, limits or ReaderLimits(), **more)
    assert reading.wait(LIMIT)
    return reading


def left_over(project):
    return [*(project.folder / CACHE).glob("reading-*"), *(project.folder / "text").glob("*")]


def test_a_preview_is_the_same_as_in_this_process(project):
    outcome = ended(project, "preview_text", [JSONL]).outcome()
    assert preview_from(outcome) == preview_text(project.folder, [JSONL], OPTIONS)
    assert preview_from(outcome).documents == 2


def test_text_is_saved_straight_into_the_project(project):
    reading = ended(project, "save_text", [JSONL])
    assert reading.outcome() == {"notes": [], "files": 1, "sentences": 3}
    assert reading.share == 1
    assert [document.id for document in project.corpus().documents] == ["a", "b"]
    assert not list((project.folder / CACHE).glob("reading-*"))


def test_dictionaries_are_shown_and_saved_under_the_chosen_types(project):
    file = SourceFile("Disease.txt", b"gout\nfever\n")
    outcome = ended(project, "preview_dictionaries", [file], entity_type="").outcome()
    assert preview_from(outcome) == preview_dictionaries([file], OPTIONS, "")
    saved = ended(
        project,
        "save_dictionaries",
        [file],
        entity_type="",
        types=[("Disease.txt", "Disease", "Illness")],
        is_replacing=False,
    ).outcome()
    assert saved == {"names": ["Disease.txt"], "phrases": 2}
    assert project.dictionaries()[0].types == ("Illness",)


def test_dictionaries_that_were_shown_are_not_read_again_to_be_saved(project, monkeypatch):
    files = [
        SourceFile("Disease.txt", b"gout\nfever\nfever\n"),
        SourceFile("terms.csv", b"term,id\nrash,1\n"),
    ]
    counted, read = [], previews.read_dictionaries
    monkeypatch.setattr(
        previews,
        "read_dictionaries",
        lambda *args: (counted.append(args[0][0].name), read(*args))[1],
    )
    shown = TASKS["preview_dictionaries"](project, files, OPTIONS, entity_type="Sign")
    assert counted == ["Disease.txt", "terms.csv", "terms.csv"]  # the second names no type
    assert TASKS["preview_dictionaries"](project, files, OPTIONS, entity_type="Sign") == shown
    more = {"types": [("terms.csv", "Sign", "Symptom")], "is_replacing": False}
    saved = TASKS["save_dictionaries"](project, files, OPTIONS, entity_type="Sign", **more)
    assert len(counted) == 3 and saved == {"names": ["Disease.txt", "terms.csv"], "phrases": 3}
    [diseases, signs] = project.dictionaries()
    assert signs.types == ("Symptom",) and len(diseases.phrases) == 2 and diseases.notes
    assert not list((project.folder / CACHE).glob("*.json"))
    # Other options, another type, other bytes: read anew.
    for changed in (
        {"options": ReadOptions(encoding="latin-1")},
        {"entity_type": "Other"},
        {"files": [SourceFile("Disease.txt", b"gout\n")]},
    ):
        before = len(counted)
        given = {"files": files, "options": OPTIONS, "entity_type": "Sign", **changed}
        TASKS["preview_dictionaries"](project, **given)
        assert len(counted) > before


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b'{"dictionaries": [{}], "messages": []}', b"[" * 9000]
)
def test_a_damaged_cache_of_dictionaries_is_not_used(project, damage):
    file = SourceFile("Disease.txt", b"gout\n")
    shown = TASKS["preview_dictionaries"](project, [file], OPTIONS, entity_type="")
    [path] = (project.folder / CACHE).glob("*.json")
    path.write_bytes(damage)
    assert TASKS["preview_dictionaries"](project, [file], OPTIONS, entity_type="") == shown


def test_gold_is_shown_and_saved(project):
    project.add_text([JSONL])
    gold = SourceFile("gold.csv", b"doc_id,start,end,label\na,7,11,Disease\n")
    preview = preview_from(ended(project, "preview_gold", [gold]).outcome())
    assert (preview.documents, preview.entities) == (1, {"Disease": 1})
    ended(project, "save_gold", [gold]).outcome()
    assert project.gold(project.corpus()).entities.keys() == {"a"}


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("preview_text", SourceFile("a.txt", b"%PDF-1.7 ...")),
        ("read_for_prediction", SourceFile("a.csv", b"key;words\n1;gout\n")),
        ("save_text", SourceFile("a.jsonl", b'{"text": "gout"}\n{"text": \n')),
        ("preview_text", SourceFile("a.txt", b"\x82\xa0\x81\x41")),
        ("preview_text", SourceFile("a.zip", b"PK\x03\x04 no zip")),
    ],
    ids=["PDF", "column", "JSON", "encoding", "zip"],
)
def test_a_bad_file_gets_the_same_sentence_and_the_same_fixes(project, task, file):
    with pytest.raises(InputError) as here:
        project.add_text([file])
    with pytest.raises(InputError) as apart:
        ended(project, task, [file]).outcome()
    assert (str(apart.value), apart.value.fixes) == (str(here.value), here.value.fixes)
    assert project.text_files() == [] and left_over(project) == []


def test_cancelling_stops_it_and_leaves_nothing(project):
    reading = start_reading(project.folder, "save_text", [LONG], OPTIONS)
    wait_until(lambda: reading.share > 0, "the process reads")
    reading.cancel()
    assert reading.wait(LIMIT)
    assert reading.is_cancelled
    with pytest.raises(InputError, match=r"^reading long\.txt was cancelled; nothing was changed$"):
        reading.outcome()
    assert project.text_files() == [] and left_over(project) == []


def test_too_much_memory_is_one_sentence(project):
    limits = ReaderLimits(memory_mb=50)  # less than the process itself needs
    reading = ended(project, "save_text", [LONG], limits=limits)
    with pytest.raises(InputError, match=r"needs more than 50 MB of memory\. Split it"):
        reading.outcome()
    assert project.text_files() == [] and left_over(project) == []


def test_too_much_time_is_one_sentence(project):
    limits = ReaderLimits(cpu_seconds=1)
    reading = ended(project, "save_text", [SourceFile("x.txt", LONG.data * 4)], limits=limits)
    with pytest.raises(InputError, match=r"takes more than 1 seconds\. Split it"):
        reading.outcome()
    assert project.text_files() == [] and left_over(project) == []


def test_a_crash_is_one_sentence(project):
    reading = start_reading(project.folder, "save_text", [LONG], OPTIONS)
    wait_until(lambda: reading.share > 0, "the process reads")
    os.kill(reading._child.pid, signal.SIGKILL)
    assert reading.wait(LIMIT)
    with pytest.raises(InputError, match=r"ended too early \(signal 9\)\. Try again"):
        reading.outcome()
    assert project.text_files() == []
    ended(project, "save_text", [JSONL]).outcome()
    assert len(project.corpus().documents) == 2


def test_long_names_do_not_make_long_messages(project):
    reading = start_reading(project.folder, "save_text", [SourceFile("x" * 500, b"x")], OPTIONS)
    reading.cancel()
    assert reading.wait(LIMIT)
    with pytest.raises(InputError) as error:
        reading.outcome()
    assert len(str(error.value)) <= 300


def test_the_process_is_started_without_torch(project, monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert ended(project, "save_text", [JSONL]).outcome()["files"] == 1


def test_a_zip_that_was_read_whole_for_its_preview_is_not_read_again(project, monkeypatch):
    pair = {"a.txt": b"He has gout.", "a.ann": b"T1\tDisease 7 11\tgout\n"}
    file = zipped(pair, "pair.zip")
    preview = preview_from(ended(project, "preview_text", [file]).outcome())
    assert preview.is_whole and preview.entities == 1
    [kept] = (project.folder / CACHE).glob("*.npz")
    monkeypatch.setattr(texts, "read_corpus", None)  # would fail
    project.add_text([file])
    assert project.corpus().documents[0].text == "He has gout."
    assert list((project.folder / CACHE).glob("*.npz")) == [kept]


def test_what_a_killed_server_left_is_swept(project):
    place = project.folder / CACHE / "reading-0123"
    place.mkdir(parents=True)
    (place / "0").write_bytes(b"x")
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(place, (long_ago, long_ago))
    project.add_text([JSONL])
    assert not place.exists()


# ---- a project ------------------------------------------------------------------------------


def data_of(project):
    return sorted(path.name for path in project.folder.parent.iterdir())


def zip_of(project):
    project.add_text([JSONL])
    return SourceFile("p.zip", zipped_project(project))


def test_a_project_is_imported_for_its_owner(project):
    reading = start_import(zip_of(project), "ann@example.org")
    assert reading.wait(LIMIT)
    made = open_project(reading.outcome()["project"], "ann@example.org")
    assert [document.id for document in made.corpus().documents] == ["a", "b"]
    assert data_of(project) == sorted([project.id, made.id])
    with pytest.raises(InputError, match="there is no project"):
        open_project(made.id, "bob@example.org")


def test_an_import_gets_the_same_sentence_as_in_this_process(project):
    bad = zipped({"a.txt": b"x"}, "p.zip")
    with pytest.raises(InputError) as here:
        import_project_zip(bad.data)
    reading = start_import(bad)
    assert reading.wait(LIMIT)
    with pytest.raises(InputError) as there:
        reading.outcome()
    assert str(there.value) == str(here.value)
    assert data_of(project) == [project.id]


def test_an_import_can_be_stopped_at_any_step_and_leaves_nothing(project):
    file, steps = zip_of(project), []
    with watched(steps.append):
        imported = import_project_zip(file.data)
    delete_project(imported.id)
    assert len(steps) == 5  # a block of each of two files, their ends, and a check of the text

    def stop_at(step):
        done = []

        def watch(amount):
            if len(done) == step:
                raise InputError("stopped")
            done.append(amount)

        with watched(watch), pytest.raises(InputError, match=r"^stopped$"):
            import_project_zip(file.data)

    for step in range(len(steps)):
        stop_at(step)
        assert data_of(project) == [project.id]


def test_an_import_has_limits_and_says_what_to_do(project, monkeypatch):
    monkeypatch.setattr(reader, "_LOOK_SECONDS", 0.001)
    reading = start_import(zip_of(project), limits=ReaderLimits(memory_mb=1))
    assert reading.wait(LIMIT)
    with pytest.raises(InputError) as error:
        reading.outcome()
    assert str(error.value) == (
        "reading p.zip was stopped: it needs more than 1 MB of memory. "
        "Import it at the command line: glossa import --zip FILE"
    )
    assert data_of(project) == [project.id]


def test_what_a_killed_server_left_of_an_import_is_swept(project):
    gone = subprocess.run(
        [sys.executable, "-c", "from engine.projects import new_place; new_place().mkdir()"],
        env={**os.environ, "GLOSSA_DATA": str(project.folder.parent)},
        check=True,
    )
    assert gone.returncode == 0 and len(data_of(project)) == 2
    create_project("Another")
    assert not [name for name in data_of(project) if name.startswith(".")]
