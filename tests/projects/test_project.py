"""A project keeps text, gold, dictionaries and choices on disk, even with several writers."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase, fingerprint
from engine.files.sources import SourceFile, path_source
from engine.formats.reading import read_corpus
from engine.projects import texts as project_text
from engine.projects.files import load_source
from engine.projects.workspace import create_project, open_project
from engine.settings import DEFAULT_MATCH_PRESET, NO_LIMITS, Limits, MatchOptions, ReadOptions
from engine.text.model import Entity, InputError
from tests.support.waiting import LIMIT

ROOT = Path(__file__).parents[2]
NOTES = SourceFile("notes.txt", b"Fever came. Rash went.\r\n")
TABLE = SourceFile("table.csv", b"id,text\na,Aspirin helped.\nb,Fever came.\n")
DISEASES = SourceFile("Disease.txt", b"fever\nrash\n")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return create_project("Notes")


def ids(project):
    return [document.id for document in project.corpus().documents]


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---- itself ---------------------------------------------------------------------------------


def test_a_name_is_one_line_of_what_can_be_shown(project):
    project.rename("  Étude\n\x00 <b>1</b>  ")
    assert open_project(project.id).name == "Étude <b>1</b>"


def test_an_empty_name_is_refused(project):
    with pytest.raises(InputError, match="the project has no name"):
        project.rename(" \n\u200b")
    assert project.name == "Notes"


def test_size_counts_what_is_in_the_folder(project):
    before = project.size()
    (project.folder / "runs").mkdir()
    (project.folder / "runs" / "weights").write_bytes(b"x" * 5000)
    assert project.size() == before + 5000


def test_jobs_have_a_folder_in_the_project(project):
    assert project.jobs_folder == project.folder / "runs"


# ---- text -----------------------------------------------------------------------------------


def test_text_is_kept_byte_for_byte_and_read_as_one_corpus(project):
    assert project.text_key() == ""
    assert project.corpus().documents == ()
    assert project.add_text([NOTES, TABLE]) == read_corpus([NOTES, TABLE]).notes
    assert project.corpus() == read_corpus([NOTES, TABLE])
    first, second = project.text_files()
    assert (project.folder / first.path).read_bytes() == NOTES.data
    assert (first.name, first.bytes, first.documents, first.sentences, first.tokens) == (
        "notes.txt", 24, 1, 2, 6,
    )  # fmt: skip
    assert (second.name, second.documents) == ("table.csv", 2)
    assert first.added_at.tzinfo is not None


def test_text_is_the_same_without_its_read_form(project):
    project.add_text([NOTES])
    project.add_text([TABLE])
    corpus = project.corpus()
    for path in (project.folder / "cache").iterdir():
        path.unlink()
    assert open_project(project.id).corpus() == corpus
    assert len(list((project.folder / "cache").iterdir())) == 2  # made again


def test_text_is_not_tokenized_twice(project, monkeypatch):
    project.add_text([NOTES, TABLE])
    monkeypatch.setattr(project_text, "read_corpus", None)
    assert ids(project) == ["notes", "a", "b"]


def test_a_damaged_read_form_is_ignored(project):
    project.add_text([NOTES])
    [path] = (project.folder / "cache").iterdir()
    path.write_bytes(b"PK\x03\x04 nonsense")
    assert project.corpus() == read_corpus([NOTES])


def test_options_are_kept_with_the_file(project):
    options = ReadOptions(lines_are_documents=True, encoding="utf-8")
    project.add_text([SourceFile("lines.txt", b"Fever came.\nRash went.\n")], options)
    assert project.text_files()[0].options == options
    assert len(open_project(project.id).corpus().documents) == 2


def test_a_bad_file_leaves_everything_as_it_was(project):
    project.add_text([NOTES])
    before, key = files_in(project.folder), project.text_key()
    with pytest.raises(InputError, match=r"picture\.txt is a PNG image"):
        project.add_text([TABLE, SourceFile("picture.txt", b"\x89PNG...")])
    assert (files_in(project.folder), project.text_key()) == (before, key)


def test_no_files_and_files_over_the_limit_are_refused(project):
    with pytest.raises(InputError, match="no files were given"):
        project.add_text([])
    with pytest.raises(InputError, match=r"notes\.txt is 0 MB; the limit is 0 MB per file"):
        project.add_text([replace(NOTES, limits=Limits(file_mb=0))])


def test_limits_hold_for_a_file_on_disk_and_not_for_one_that_the_project_has(project, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(NOTES.data)
    with pytest.raises(InputError, match=r"notes\.txt holds more than 2 tokens"):
        project.add_text([path_source(path, Limits(tokens=2))])
    project.add_text([path_source(path)])
    [stored] = project.text_files()
    assert load_source(project.folder, stored).limits == NO_LIMITS


def test_the_same_file_is_not_added_twice(project):
    project.add_text([NOTES])
    key = project.text_key()
    notes = project.add_text([NOTES, NOTES])
    assert notes == ["notes.txt is in the project already; it was not added again"] * 2
    assert (len(project.text_files()), project.text_key()) == (1, key)


def test_a_duplicate_id_gets_a_number_and_a_note(project):
    project.add_text([TABLE])
    notes = project.add_text([SourceFile("more.csv", b"id,text\nb,Rash.\nc,Cold.\n")])
    assert notes[-1] == 'more.csv: 1 ids were used by another file already; "~2" was added to them'
    assert ids(project) == ["a", "b", "b~2", "c"]
    assert {s.document_id for s in project.corpus().sentences} == {"a", "b", "b~2", "c"}


def test_ids_stay_as_they_are_when_other_files_come_and_go(project):
    project.add_text([SourceFile("1.csv", b"id,text\na,One.\n")])
    project.add_text([SourceFile("2.csv", b"id,text\na,Two.\n")])
    project.add_text([SourceFile("3.csv", b"id,text\na~2,Three.\n")])
    texts = {document.id: document.text for document in project.corpus().documents}
    assert texts == {"a": "One.", "a~2": "Two.", "a~2~2": "Three."}
    project.remove_text(project.text_files()[0].id)
    assert ids(project) == ["a~2", "a~2~2"]


def test_the_key_depends_on_the_content_and_nothing_else(project):
    project.add_text([NOTES])
    key = project.text_key()
    project.add_text([TABLE])
    assert project.text_key() not in ("", key)
    project.remove_text(project.text_files()[1].id)
    assert project.text_key() == key
    other = create_project("Other")
    other.add_text([NOTES])
    assert other.text_key() == key


def test_removing_one_of_several_keeps_the_read_form_of_the_others(project, monkeypatch):
    project.add_text([NOTES, TABLE])
    notes = project.text_files()[0]
    project.remove_text(notes.id)
    assert not (project.folder / notes.path).exists()
    monkeypatch.setattr(project_text, "read_corpus", None)
    assert ids(project) == ["a", "b"]
    project.remove_text(project.text_files()[0].id)
    assert (ids(project), project.text_key()) == ([], "")
    assert files_in(project.folder) == ["project.db"]


def test_removing_a_missing_file_says_so(project):
    with pytest.raises(InputError, match=r'there is no text file "\.\./x"'):
        project.remove_text("../x")


def test_text_and_annotations_of_brat_belong_together(project):
    pair = [
        SourceFile("case.ann", b"T1\tDisease 0 5\tFever\n"),
        NOTES,
        SourceFile("case.txt", b"Fever came."),
    ]
    project.add_text(pair)
    assert project.corpus() == read_corpus(pair)
    assert project.corpus().entities == {"case": (Entity(0, 5, "Disease", method="gold"),)}
    project.remove_text(next(f.id for f in project.text_files() if f.name == "case.ann"))
    assert [file.name for file in project.text_files()] == ["notes.txt"]


def test_annotations_of_another_files_documents_find_them(project):
    project.add_text([TABLE])
    project.add_text([SourceFile("e.csv", b"doc_id,start,end,text,label\nb,0,5,Fever,Disease\n")])
    assert [e.entity_type for e in project.corpus().entities["b"]] == ["Disease"]
    key = project.text_key()
    with pytest.raises(InputError, match='lies outside document "b", which has 11 characters'):
        project.add_text([SourceFile("f.csv", b"doc_id,start,end,text,label\nb,0,50,x,Disease\n")])
    assert project.text_key() == key


def test_annotations_that_no_longer_fit_are_left_out_with_a_note(project):
    project.add_text([SourceFile("e.csv", b"doc_id,start,end,text,label\nb,0,50,x,Disease\n")])
    project.add_text([TABLE])
    corpus = project.corpus()
    assert corpus.entities["b"] == ()
    assert corpus.notes[-1] == "e.csv: 1 entities lie outside their documents; left out"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\me\\a b.txt", "a b.txt"),
        ("nul\x00l.txt", "null.txt"),
        ("right\u202etxt.txt", "righttxt.txt"),
        ("日本語 ノート.txt", "日本語 ノート.txt"),
        (f"{'long' * 100}.txt", f"{('long' * 100)[:180]}.txt"),
        ("-rf.txt", "-rf.txt"),
    ],
)
def test_file_names_are_kept_for_people_and_made_safe_for_disks(project, name, kept):
    project.add_text([SourceFile(name, b"Fever came.")])
    [stored] = project.text_files()
    assert stored.name == kept
    path = project.folder / stored.path
    assert path.parent == project.folder / "text"
    assert path.name.isascii() and len(path.name) < 100 and path.is_file()


def test_a_row_that_points_outside_the_project_is_refused(project):
    project.add_text([NOTES])
    with project.writing() as db:
        db.execute("UPDATE files SET id = '../../secret'")
    with pytest.raises(InputError, match="that cannot be"):
        project.text_files()


def test_a_missing_original_is_explained_in_one_sentence(project):
    project.add_text([NOTES])
    for file in ("text", "cache"):
        for path in (project.folder / file).iterdir():
            path.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        project.corpus()


# ---- gold -----------------------------------------------------------------------------------

GOLD = SourceFile("gold.csv", b"doc_id,start,end,text,label\nb,0,5,Fever,Disease\n")


def test_gold_files_are_aligned_with_the_text(project):
    project.add_text([TABLE])
    assert project.gold(project.corpus()) is None
    project.set_gold([GOLD])
    gold = project.gold(project.corpus())
    assert [(e.start, e.end, e.entity_type) for e in gold.entities["b"]] == [(0, 5, "Disease")]
    [stored] = project.gold_files()
    assert (project.folder / stored.path).read_bytes() == GOLD.data


def test_without_gold_files_the_annotations_of_text_files_count(project):
    annotated = {"id": "x", "text": "Fever came.", "spans": [{"start": 0, "end": 5, "label": "D"}]}
    project.add_text([NOTES, SourceFile("p.jsonl", json.dumps(annotated).encode())])
    gold = project.gold(project.corpus())
    assert {id: len(entities) for id, entities in gold.entities.items()} == {"x": 1}
    assert project.gold_key() == ""


def test_new_gold_replaces_the_old(project):
    project.add_text([TABLE])
    project.set_gold([GOLD])
    [old], key = project.gold_files(), project.gold_key()
    project.set_gold([SourceFile("g2.csv", GOLD.data.replace(b"Disease", b"Symptom"))])
    assert [file.name for file in project.gold_files()] == ["g2.csv"]
    assert project.gold_key() not in ("", key)
    assert not (project.folder / old.path).exists()
    project.remove_gold()
    assert (project.gold_files(), project.gold_key()) == ([], "")
    assert project.gold(project.corpus()) is None


def test_gold_that_does_not_fit_leaves_everything_as_it_was(project):
    project.add_text([TABLE])
    project.set_gold([GOLD])
    before, key = files_in(project.folder), project.gold_key()
    with pytest.raises(InputError, match="annotates none of these documents"):
        project.set_gold([SourceFile("other.csv", GOLD.data.replace(b"\nb,", b"\nz,"))])
    with pytest.raises(InputError, match="holds no annotations"):
        project.set_gold([NOTES])
    assert (files_in(project.folder), project.gold_key()) == (before, key)


def test_gold_may_come_before_the_text(project):
    with pytest.raises(InputError, match="holds no annotations"):
        project.set_gold([NOTES])
    project.set_gold([GOLD])
    project.add_text([TABLE])
    assert list(project.gold(project.corpus()).entities) == ["b"]


# ---- dictionaries ---------------------------------------------------------------------------


def test_every_change_of_dictionaries_is_a_version_and_old_ones_stay(project):
    assert (project.dictionary_version(), project.dictionary_key()) == (0, "")
    assert project.dictionaries() == []
    assert project.add_dictionaries([DISEASES]) == []
    first = project.dictionaries()
    assert [p.text for d in first for p in d.phrases] == ["fever", "rash"]
    second = [mute(first[0], [("fever", "Disease")])]
    assert project.save_dictionaries(second, "Muted fever") == 2
    assert project.dictionaries() == second
    assert project.dictionaries_at(1) == first
    assert project.restore_dictionaries(1) == 3
    assert project.dictionaries() == first
    assert [(v.version, v.reason, v.phrases) for v in project.dictionary_history()] == [
        (3, "Restored version 1", 2), (2, "Muted fever", 2), (1, "Added Disease.txt", 2),
    ]  # fmt: skip
    assert project.dictionary_key() == fingerprint(first)


def test_every_field_of_a_dictionary_is_restored(project):
    dictionary = Dictionary(
        'odd "name".txt',
        (
            Phrase("fièvre\u200b", "Maladie", "C:1", 3),
            Phrase("half \ud800 pair", "Größe", "", 0),
            Phrase("fever", "Disease", "C:1", 7),
        ),
        MatchOptions(ignore_case=False, exact_acronym_letters=2),
        priority=-3,
        is_enabled=False,
        muted=frozenset({("fever", "Disease"), ("fièvre\u200b", "Maladie")}),
        notes=("1 duplicate phrase removed",),
    )
    project.save_dictionaries([dictionary, Dictionary("empty", ())], "Odd")
    assert open_project(project.id).dictionaries() == [dictionary, Dictionary("empty", ())]


def test_the_same_dictionaries_are_the_same_version(project):
    project.add_dictionaries([DISEASES])
    assert project.save_dictionaries(project.dictionaries(), "Nothing changed") == 1
    renamed = [replace(project.dictionaries()[0], name="Illness.txt")]
    key, labels = project.dictionary_key(), project.labels_key()
    assert project.save_dictionaries(renamed, "Renamed") == 2
    # The matches are the same, but the labels name another dictionary as their source.
    assert project.dictionary_key() == key
    assert project.labels_key() != labels


def test_dictionaries_with_the_same_name_get_numbers(project):
    project.add_dictionaries([DISEASES])
    project.add_dictionaries([SourceFile("Disease.txt", b"cold\n")])
    assert [d.name for d in project.dictionaries()] == ["Disease.txt", "Disease.txt~2"]


def test_bad_dictionaries_change_nothing(project):
    with pytest.raises(InputError, match="is no dictionary"):
        project.add_dictionaries([DISEASES, SourceFile("x.pdf", b"%PDF")])
    assert project.dictionary_version() == 0


def test_a_change_made_elsewhere_is_not_overwritten_when_asked(project):
    project.add_dictionaries([DISEASES])
    mine = [mute(project.dictionaries()[0], [("rash", "Disease")])]
    project.save_dictionaries([], "Another window cleared them")
    with pytest.raises(InputError, match="changed elsewhere since version 1"):
        project.save_dictionaries(mine, "Muted rash", based_on=1)
    assert project.save_dictionaries(mine, "Muted rash", based_on=2) == 3


@pytest.mark.parametrize("version", [-1, 2, 99])
def test_a_missing_version_says_so(project, version):
    project.add_dictionaries([DISEASES])
    with pytest.raises(InputError, match=f"there is no version {version}"):
        project.dictionaries_at(version)


def test_a_damaged_version_says_so_and_others_can_be_restored(project):
    project.add_dictionaries([DISEASES])
    project.save_dictionaries([], "Cleared")
    path = project.folder / "dictionaries" / "v0002.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match=r"v0002\.json of this project cannot be read"):
        project.dictionaries()
    assert project.restore_dictionaries(1) == 3
    assert len(project.dictionaries()) == 1


def test_a_file_without_a_row_is_not_a_version(project):
    project.add_dictionaries([DISEASES])
    (project.folder / "dictionaries" / "v0002.json").write_bytes(b"[")  # its writer was killed
    assert project.dictionary_version() == 1
    assert project.save_dictionaries([], "Cleared") == 2
    assert project.dictionaries() == []


def test_the_labels_key_depends_on_text_dictionaries_and_preset(project):
    keys = [project.labels_key()]
    project.add_text([NOTES])
    keys.append(project.labels_key())
    project.add_dictionaries([DISEASES])
    keys.append(project.labels_key())
    project.set_match_preset("loose")
    keys.append(project.labels_key())
    assert len(set(keys)) == 4
    project.set_match_preset("adaptive")
    assert project.labels_key() == keys[2]


def test_the_match_preset_is_remembered(project):
    assert project.match_preset() == "adaptive"
    project.set_match_preset("strict")
    assert open_project(project.id).match_preset() == "strict"
    with pytest.raises(ValueError, match="match preset must be one of"):
        project.set_match_preset("wild")


def test_dictionaries_and_match_preset_are_saved_together(project):
    project.add_dictionaries([DISEASES])
    assert project.save_dictionaries([], "Cleared", match_preset="loose") == 2
    assert project.match_preset() == "loose"
    assert project.save_dictionaries([], "Only the preset", match_preset="strict") == 2
    assert project.match_preset() == "strict"


@pytest.mark.parametrize("step", ["set_choice", "touch"])
def test_a_failure_leaves_dictionaries_and_match_preset_as_they_were(project, monkeypatch, step):
    project.add_dictionaries([DISEASES])
    before = project.dictionaries()

    def fail(*arguments):
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(f"engine.projects.store.{step}", fail)
        with pytest.raises(OSError, match="no room"):
            project.save_dictionaries([], "Cleared", match_preset="loose")
    assert (project.dictionary_version(), project.dictionaries()) == (1, before)
    assert project.match_preset() == DEFAULT_MATCH_PRESET


@pytest.mark.parametrize(
    "change", [{"match_preset": "wild"}, {"match_preset": "loose", "based_on": 7}]
)
def test_a_refused_change_leaves_dictionaries_and_match_preset_as_they_were(project, change):
    project.add_dictionaries([DISEASES])
    with pytest.raises((ValueError, InputError)):
        project.save_dictionaries([], "Cleared", **change)
    assert (project.dictionary_version(), project.match_preset()) == (1, DEFAULT_MATCH_PRESET)


def test_a_project_without_a_stored_preset_is_of_an_earlier_version(project):
    with project.writing() as db:
        db.execute("DELETE FROM choices")
    assert open_project(project.id).match_preset() == "balanced"


@pytest.mark.parametrize("value", [None, 0, "x", [1, {"a": None}], {"ü": [True, 1.5]}])
def test_choices_are_any_json(project, value):
    assert project.choice("colour", "none") == "none"
    project.set_choice("colour", value)
    assert open_project(project.id).choice("colour", "none") == value


# ---- several at once, and killed ------------------------------------------------------------


def start(script, project, *arguments):
    """Run Python in a process of its own, on the project."""
    lines = [
        "import os, signal, sys",
        "from engine.files.sources import SourceFile",
        "from engine.projects import files, store, texts",
        "from engine.projects.workspace import open_project",
        "project = open_project(sys.argv[1])",
        script,
    ]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "GLOSSA_DATA": str(project.folder.parent),
    }  # fmt: skip
    command = [sys.executable, "-c", "\n".join(lines), project.id, *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, errors = process.communicate(timeout=LIMIT)
    return process.returncode, errors


WORK = """
for i in range(8):
    text = f"id,text\\nsame,Text {sys.argv[2]} {i}.\\n".encode()
    project.add_text([SourceFile(f"{sys.argv[2]}{i}.csv", text)])
    project.add_dictionaries([SourceFile(f"{sys.argv[2]}{i}.txt", b"fever")])
    project.add_decision("review", "same", i, i + 1, sys.argv[2], "accepted")
    project.set_choice(f"{sys.argv[2]}{i}", i)
"""


def test_processes_that_write_at_once_lose_nothing(project):
    workers = [start(WORK, project, name) for name in "ab"]
    assert [finish(worker) for worker in workers] == [(0, ""), (0, "")]
    corpus = project.corpus()
    assert len(project.text_files()) == 16
    assert len({document.id for document in corpus.documents}) == 16
    assert len({document.text for document in corpus.documents}) == 16
    assert len(project.dictionaries()) == project.dictionary_version() == 16
    assert len(project.decisions("review")) == 16
    assert sorted(project.choice(f"{name}{i}") for name in "ab" for i in range(8)) == sorted(
        [*range(8)] * 2
    )


KILL = "os.kill(os.getpid(), signal.SIGKILL)"
MOMENTS = {
    "before any byte": f"texts.store_files = lambda *_: {KILL}",
    "while bytes are written": (
        f"def half(file):\n    yield b'half'\n    {KILL}\nfiles.read_blocks = half"
    ),
    "before the copies are read": f"texts.with_counts = lambda *_: {KILL}",
    "before the copies are synced": f"texts.sync = lambda *_: {KILL}",
    "before the read form": f"texts.store_corpora = lambda *_: {KILL}",
    "before the rows": f"texts._insert = lambda *_: {KILL}",
    "between rows and commit": f"texts.note_change = lambda *_: {KILL}",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_process_killed_while_adding_text_leaves_the_project_as_it_was(project, moment):
    project.add_text([NOTES])
    key = project.text_key()
    add = "project.add_text([SourceFile('big.txt', b'Cold came. ' * 1000)])"
    code, _ = finish(start(f"{MOMENTS[moment]}\n{add}", project))
    assert code == -signal.SIGKILL
    assert (project.text_key(), ids(project)) == (key, ["notes"])
    project.add_text([TABLE])
    assert ids(project) == ["notes", "a", "b"]


def test_a_process_killed_while_saving_dictionaries_leaves_them_as_they_were(project):
    project.add_dictionaries([DISEASES])
    script = f"store.touch = lambda db: {KILL}\nproject.save_dictionaries([], 'Cleared')"
    assert finish(start(script, project))[0] == -signal.SIGKILL
    assert project.dictionary_version() == 1
    assert project.save_dictionaries([], "Cleared again") == 2


def test_leftovers_of_a_killed_process_are_deleted_once_they_are_old(project):
    project.add_text([NOTES])
    kept = files_in(project.folder)
    left = [project.folder / name for name in ("text/x-big.txt", "text/.x.part", "cache/x.npz")]
    for path in left:
        path.write_bytes(b"left")
    project.set_gold([SourceFile("g.csv", b"doc_id,start,end,text,label\nnotes,0,5,Fever,D\n")])
    assert all(path.exists() for path in left)  # their writer may be about to rename them
    for path in left:
        os.utime(path, (time.time() - 2 * 24 * 3600,) * 2)
    project.remove_gold()
    assert files_in(project.folder) == kept


def test_a_writer_that_blocks_too_long_is_explained_in_one_sentence(project, monkeypatch):
    monkeypatch.setattr("engine.projects.connection._BUSY_SECONDS", 0.1)
    with (
        project.writing(),
        pytest.raises(InputError, match="another process has been writing to this project"),
    ):
        project.rename("Other")
    assert project.name == "Notes"


def test_readers_do_not_wait_for_a_writer(project, monkeypatch):
    monkeypatch.setattr("engine.projects.connection._BUSY_SECONDS", 0.1)
    with project.writing() as db:
        db.execute("UPDATE facts SET value = 'half done' WHERE key = 'name'")
        assert project.name == "Notes"
    assert project.name == "half done"


def test_an_error_inside_a_transaction_undoes_all_of_it(project):
    with pytest.raises(KeyError), project.writing() as db:
        db.execute("UPDATE facts SET value = 'half done' WHERE key = 'name'")
        raise KeyError
    assert project.name == "Notes"


def test_a_full_disk_is_explained_in_one_sentence_and_changes_nothing(project, monkeypatch):
    connect = sqlite3.connect

    def tight(*arguments, **options):
        db = connect(*arguments, **options)
        db.execute("PRAGMA max_page_count = 1")  # its present size, and not a page more
        return db

    with monkeypatch.context() as patch:
        patch.setattr("engine.projects.connection.sqlite3.connect", tight)
        with pytest.raises(InputError, match=r"no room left on the disk for .*nothing was stored"):
            project.set_choice("long", "x" * 100_000)
    assert project.choice("long") is None


def test_a_project_can_be_read_on_a_read_only_disk(project):
    project.add_text([NOTES])
    # SQLite cannot make the file that readers share, as on a full or a read-only disk.
    (project.folder / "project.db-shm").mkdir()
    assert (open_project(project.id).name, ids(project)) == ("Notes", ["notes"])
    with pytest.raises(InputError, match=r"cannot be written|could not be read or written"):
        project.rename("Other")
