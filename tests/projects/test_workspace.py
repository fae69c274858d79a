"""Projects are listed, made, opened, copied, zipped and deleted; nothing reaches outside."""

import io
import os
import sqlite3
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.files.sources import SourceFile
from engine.projects import archive as project_zip
from engine.projects import connection, workspace
from engine.projects.project import Project
from engine.projects.workspace import (
    ProjectSummary,
    create_project,
    data_folder,
    delete_project,
    duplicate_project,
    import_project_zip,
    list_projects,
    open_project,
    reset_sample,
    sample_project,
    write_project_zip,
)
from engine.settings import LIMITS
from engine.system.moments import now
from engine.text.model import InputError
from tests.support import archives
from tests.support.waiting import LIMIT

ROOT = Path(__file__).parents[2]
NOTES = SourceFile("notes.txt", b"Fever came. Rash went.\r\n")


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("GLOSSA_DATA", str(folder))
    return folder


def filled(name="Notes"):
    project = create_project(name)
    project.add_text([NOTES, SourceFile("brat.zip", zipped({"a.txt": b"Fever.", "a.ann": b""}))])
    project.add_dictionaries([SourceFile("Disease.txt", b"fever\nrash\n")])
    project.set_gold([SourceFile("g.csv", b"doc_id,start,end,text,label\nnotes,0,5,Fever,D\n")])
    project.add_decision("review", "notes", 0, 5, "Disease", "accepted")
    project.set_choice("preset", "quick")
    run = project.jobs_folder / "20261116-053001-ab12" / "mpu"
    run.mkdir(parents=True)
    (run / "model.safetensors").write_bytes(bytes(range(256)) * 100)
    return project


def new_job(kind, state, **columns):
    """Return the statement that adds a job."""
    row = {
        "id": f"20260101-000000-{len(kind):03}{kind[0] == 'c':d}", "kind": kind, "state": state,
        "created_at": "2026-01-01", "queued_at": "2026-01-01", "turn": 1,
        "request": '{"methods": ["mpu"], "preset": "quick"}',
        "dictionary_version": 1, "labels_key": "", "text_key": "", "match_preset": "loose",
        **columns,
    }  # fmt: skip
    return f"INSERT INTO jobs ({', '.join(row)}) VALUES {tuple(row.values())}"


def zipped(members):
    return archives.zipped(members).data


def contents(folder):
    """Every file except the database and caches."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and path.name not in ("project.db", "imported.json")
        and path.parent.name != "cache"
    }


def everything(project):
    corpus = project.corpus()
    return (
        project.name, corpus, project.gold(corpus), project.dictionaries(),
        project.dictionary_history(), project.decisions("review"), project.choice("preset"),
        project.text_files(), project.text_key(), project.gold_key(), project.labels_key(),
        contents(project.folder),
    )  # fmt: skip


# ---- the folder -----------------------------------------------------------------------------


def test_the_data_folder_is_made_when_needed(data):
    assert not data.exists()
    assert data_folder() == data
    assert data.is_dir()


def test_without_the_variable_projects_live_in_data(tmp_path, monkeypatch):
    monkeypatch.delenv("GLOSSA_DATA")
    monkeypatch.chdir(tmp_path)
    assert data_folder() == tmp_path / "data"


def test_a_data_folder_that_cannot_be_made_is_explained_in_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(InputError, match="Set GLOSSA_DATA to a folder that can be written"):
        list_projects()


def test_data_is_kept_out_of_git_and_of_images():
    assert "/data/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "data" in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()


# ---- making and opening ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("My notes, 2nd", "my-notes-2nd-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("日本語", "project-"),
        ("Ünïcode\x00\n<script>", "unicode-script-"),
        ("x" * 500, f"{'x' * 30}-"),
    ],
)
def test_a_project_gets_a_safe_id_made_from_its_name(data, name, start):
    project = create_project(name)
    assert project.id.startswith(start) and workspace._ID.fullmatch(project.id)
    assert project.folder == data / project.id
    assert open_project(project.id) == project


def test_two_projects_may_have_the_same_name():
    first, second = create_project("Notes"), create_project("Notes")
    assert first.id != second.id
    assert first.name == second.name == "Notes"


def test_a_project_without_a_name_is_refused(data):
    with pytest.raises(InputError, match="the project has no name"):
        create_project("\n ")
    assert not data.exists()


@pytest.mark.parametrize(
    "id",
    [
        "", "abc", "x" * 41, "../data", "..", "....", "a/b/c", "a\\b\\c", "/etc", "sample\n",
        "\nsample", "sample\x00", "Sample", "ｓａｍｐｌｅ", "sämple", "sample ", "sam%2fple",
        ".new-123456", "sample\u200b", "C:data", "~root", None, 1234,
    ],
)  # fmt: skip
def test_an_invalid_id_opens_nothing(id):
    sample_project()
    for act in (open_project, delete_project, lambda id: duplicate_project(id, "Copy")):
        with pytest.raises(InputError, match="that is no project id"):
            act(id)


def test_an_unknown_id_says_so(data):
    with pytest.raises(InputError, match='there is no project "nothing-here"'):
        open_project("nothing-here")
    data_folder().joinpath("just-a-file").write_bytes(b"")
    with pytest.raises(InputError, match='there is no project "just-a-file"'):
        open_project("just-a-file")


def test_links_out_of_the_data_folder_are_not_followed(data, tmp_path):
    project = create_project("Notes")
    elsewhere = tmp_path / "elsewhere"
    project.folder.rename(elsewhere)
    (data / "linked").symlink_to(elsewhere)
    assert list_projects() == []
    with pytest.raises(InputError, match='there is no project "linked"'):
        open_project("linked")
    with pytest.raises(InputError, match='there is no project "linked"'):
        delete_project("linked")
    (data / "half-linked").mkdir()
    (data / "half-linked" / "project.db").symlink_to(elsewhere / "project.db")
    with pytest.raises(InputError, match="holds no project"):
        open_project("half-linked")


# ---- listing --------------------------------------------------------------------------------


def test_projects_are_listed_newest_first_with_their_figures():
    before = datetime.now(UTC)
    old, new = filled("Old"), create_project("New")
    assert [summary.id for summary in list_projects()] == [new.id, old.id]
    old.rename("Changed last")
    summary = list_projects()[0]
    assert (summary.id, summary.name, summary.problem) == (old.id, "Changed last", "")
    assert (summary.documents, summary.sentences, summary.tokens) == (2, 3, 8)
    assert (summary.dictionaries, summary.phrases, summary.last_job) == (1, 2, "")
    assert before < summary.modified < datetime.now(UTC)
    assert summary.bytes == old.size() > 25_600


def test_looking_at_a_project_does_not_change_when_it_was_modified():
    project = filled()
    [before] = list_projects()
    everything(open_project(project.id))
    assert list_projects() == [before]


def test_a_project_that_cannot_be_read_is_listed_with_its_problem(data):
    good = filled("Good")
    for name, content in (("no-database", None), ("text-inside", b"hello"), ("empty-file", b"")):
        (data / name).mkdir()
        if content is not None:
            (data / name / "project.db").write_bytes(content)
    cut = filled("Cut short")
    database = cut.folder / "project.db"
    database.write_bytes(database.read_bytes()[:5000])
    newer = create_project("Newer")
    with newer.writing() as db:
        db.execute("PRAGMA user_version = 99")
    other = create_project("Other")
    with other.writing() as db:
        db.execute("DROP TABLE files")
    problems = {summary.id: summary.problem for summary in list_projects()}
    assert problems.pop(good.id) == ""
    assert "project.db is missing" in problems.pop("no-database")
    assert "newer Glossa (project version 99; this Glossa reads 4)" in problems.pop(newer.id)
    assert len(problems) == 4
    assert all(problems.values()), problems


def test_a_newer_project_is_left_alone(data):
    project = filled()
    with project.writing() as db:
        db.execute("PRAGMA user_version = 99")
    before = (project.folder / "project.db").read_bytes()
    for act in (project.corpus, lambda: project.rename("x"), lambda: open_project(project.id)):
        with pytest.raises(InputError, match="Update Glossa to open it"):
            act()
    assert (project.folder / "project.db").read_bytes() == before


def test_folders_that_are_not_projects_are_not_listed(data):
    create_project("Notes")
    (data / "Thumbs.db").write_bytes(b"")
    (data / "UPPER-case").mkdir()
    (data / ".new-abcdef").mkdir()
    assert [summary.name for summary in list_projects()] == ["Notes"]


def test_the_last_job_is_listed():
    project = create_project("Notes")
    with project.writing() as db:
        db.execute(new_job("train", "done", created_at="2026-01-01"))
        db.execute(new_job("curve", "failed", created_at="2026-01-02"))
    assert list_projects()[0].last_job == "curve failed"


# ---- the sample -----------------------------------------------------------------------------


def test_the_sample_is_made_on_first_use_and_found_afterwards():
    project = sample_project()
    assert project.id == "sample"
    corpus = project.corpus()
    assert len(corpus.documents) == 78
    assert len(project.gold(corpus).entities) == 78
    assert [d.name for d in project.dictionaries()] == ["Chemical.txt", "Disease.txt"]
    project.rename("Mine")
    assert sample_project().name == "Mine"


def test_the_sample_can_be_reset():
    sample_project().save_dictionaries([], "Cleared")
    project = reset_sample()
    assert (project.id, project.dictionary_version()) == ("sample", 1)
    assert len(project.dictionaries()) == 2


def test_two_first_visitors_get_one_sample(data):
    script = (
        "from engine.projects import sample_project\n"
        "print(len(sample_project().corpus().documents))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    visitors = [
        subprocess.Popen(
            [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [visitor.communicate(timeout=LIMIT)[0] for visitor in visitors] == ["78\n"] * 3
    assert [path.name for path in data.iterdir()] == ["sample"]


# ---- copying and deleting -------------------------------------------------------------------


def test_a_copy_is_equal_under_another_name_and_independent():
    project = filled()
    copy = duplicate_project(project.id, "Copy")
    assert copy.name == "Copy"
    assert everything(copy)[1:] == everything(project)[1:]
    copy.remove_text(copy.text_files()[0].id)
    copy.undo_decision("review")
    assert len(project.text_files()) == 2
    assert len(project.decisions("review")) == 1


def test_running_jobs_are_interrupted_in_a_copy():
    project = create_project("Notes")
    with project.writing() as db:
        db.execute(new_job("train", "running", heartbeat_at=now(), pid=4321))
        db.execute(new_job("curve", "done", pid=4320))
    copy = duplicate_project(project.id, "Copy")
    with copy.reading() as db:
        rows = [tuple(row) for row in db.execute("SELECT kind, state, pid FROM jobs")]
    assert rows == [("train", "interrupted", 0), ("curve", "done", 4320)]


def test_deleting_a_project_deletes_its_folder_and_nothing_else(data, tmp_path):
    kept, gone = filled("Kept"), filled("Gone")
    (tmp_path / "outside.txt").write_bytes(b"mine")
    (gone.folder / "runs" / "link").symlink_to(tmp_path)
    delete_project(gone.id)
    assert [path.name for path in data.iterdir()] == [kept.id]
    assert (tmp_path / "outside.txt").read_bytes() == b"mine"
    with pytest.raises(InputError, match="there is no project"):
        open_project(gone.id)


def test_a_damaged_project_can_be_deleted(data):
    (data_folder() / "damaged").mkdir()
    (data / "damaged" / "project.db").write_bytes(b"nonsense")
    delete_project("damaged")
    assert list_projects() == []


def test_a_project_with_a_running_job_is_not_deleted():
    project = create_project("Notes")
    with project.writing() as db:
        db.execute(new_job("train", "running", heartbeat_at=now(), pid=4321))
    with pytest.raises(InputError, match="a job of this project is at work"):
        delete_project(project.id)
    with project.writing() as db:  # its process died long ago
        db.execute("UPDATE jobs SET heartbeat_at = '2026-01-01T00:00:00+00:00'")
    delete_project(project.id)
    assert list_projects() == []


def test_leftovers_of_killed_processes_are_deleted(data):
    for name in (".new-old", ".new-young", ".deleted-half"):
        (data_folder() / name).mkdir()
        (data / name / "file").write_bytes(b"")
    os.utime(data / ".new-old", (time.time() - 10 * 24 * 3600,) * 2)
    create_project("Notes")
    assert [path.name for path in data.glob(".*")] == [".new-young"]


# ---- zips -----------------------------------------------------------------------------------


def test_a_zip_restores_everything_byte_for_byte(tmp_path):
    project = filled()
    write_project_zip(project, tmp_path / "notes.zip")
    back = import_project_zip(tmp_path / "notes.zip")
    assert back.id != project.id
    assert everything(back) == everything(project)
    assert "runs/20261116-053001-ab12/mpu/model.safetensors" in contents(back.folder)
    assert everything(import_project_zip((tmp_path / "notes.zip").read_bytes()))[0] == "Notes"


def test_a_zip_leaves_out_what_can_be_made_again(tmp_path):
    project = filled()
    (project.folder / "text" / ".half.part").write_bytes(b"half")
    (project.folder / "runs" / "out").symlink_to("/etc/passwd")
    write_project_zip(project, tmp_path / "notes.zip")
    with zipfile.ZipFile(tmp_path / "notes.zip") as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"project.db", "text", "gold", "dictionaries", "runs"}
    assert not [name for name in names if name.endswith((".part", "out"))]


def test_a_zip_can_be_made_while_someone_writes(tmp_path):
    project = filled()
    with project.writing() as db:
        db.execute("UPDATE facts SET value = 'half done' WHERE key = 'name'")
        write_project_zip(project, tmp_path / "notes.zip")
    assert import_project_zip(tmp_path / "notes.zip").name == "Notes"


def test_a_zip_of_the_folder_itself_is_accepted(tmp_path, data):
    project = filled()
    members = {
        f"{project.id}/{path.relative_to(project.folder).as_posix()}": path.read_bytes()
        for path in project.folder.rglob("*")
        if path.is_file()
    }
    assert everything(import_project_zip(zipped(members))) == everything(project)


def test_the_read_form_in_an_imported_zip_is_not_trusted(tmp_path):
    project = filled()
    corpus = project.corpus()
    [cache, *_] = sorted((project.folder / "cache").iterdir())
    write_project_zip(project, tmp_path / "notes.zip")
    with zipfile.ZipFile(tmp_path / "notes.zip", "a") as archive:
        for path in (project.folder / "cache").iterdir():
            archive.writestr(f"cache/{path.name}", cache.read_bytes())
    back = import_project_zip(tmp_path / "notes.zip")
    assert not (back.folder / "cache").exists()
    assert back.corpus() == corpus


def good_members(tmp_path):
    write_project_zip(filled(), tmp_path / "good.zip")
    with zipfile.ZipFile(tmp_path / "good.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    "path", ["../evil", "runs/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "runs/..", "//x/y"]
)
def test_a_zip_with_a_path_that_leaves_it_is_refused(tmp_path, data, path):
    members = good_members(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="which leaves the archive"):
        import_project_zip(zipped({**members, path: b"evil"}))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_bomb_is_refused_and_leaves_nothing(tmp_path, data, monkeypatch):
    members = good_members(tmp_path)
    monkeypatch.setattr(project_zip, "LIMITS", replace(LIMITS, project_mb=1))
    before = sorted(tmp_path.rglob("*"))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("runs/bomb", bytes(2_000_000))
    with pytest.raises(InputError, match="unpacks to more than 1 MB"):
        import_project_zip(bomb.getvalue())
    # The same with a header that lies about the size.
    lying = bomb.getvalue().replace((2_000_000).to_bytes(4, "little"), (20).to_bytes(4, "little"))
    with pytest.raises(InputError, match=r"unpacks to more than 1 MB|damaged zip"):
        import_project_zip(lying)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_of_too_many_files_is_refused(tmp_path, monkeypatch):
    members = good_members(tmp_path)
    monkeypatch.setattr(project_zip, "LIMITS", replace(LIMITS, zip_members=3))
    with pytest.raises(InputError, match=r"files; the limit is 3"):
        import_project_zip(zipped(members))


def test_a_project_too_large_for_a_zip_says_so(tmp_path, monkeypatch):
    project = filled()
    monkeypatch.setattr(project_zip, "LIMITS", replace(LIMITS, project_mb=0))
    with pytest.raises(InputError, match="Delete old runs, or copy the folder"):
        write_project_zip(project, tmp_path / "notes.zip")
    assert not (tmp_path / "notes.zip").exists()


def test_a_link_in_a_zip_becomes_a_plain_file(tmp_path):
    link = zipfile.ZipInfo("runs/link")
    link.external_attr = 0o120777 << 16
    out = io.BytesIO(zipped(good_members(tmp_path)))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    back = import_project_zip(out.getvalue())
    assert not (back.folder / "runs" / "link").is_symlink()
    assert (back.folder / "runs" / "link").read_bytes() == b"/etc/passwd"


@pytest.mark.parametrize(
    ("zip_bytes", "message"),
    [
        (b"", "damaged zip archive"),
        (b"hello", "damaged zip archive"),
        (zipped({}), "holds no files"),
        (zipped({"notes.txt": b"Fever."}), r"no project of Glossa: it holds no project\.db"),
        (zipped({"project.db": b"hello"}), "damaged or no project of Glossa"),
        (zipped({"project.db": b""}), "damaged or no project of Glossa"),
        (zipped({"project.db/x": b""}), "no project of Glossa"),
        (zipped({"runs": b"", "runs/x": b""}), "cannot be written"),
    ],
)
def test_a_zip_that_is_not_a_project_is_refused_in_one_sentence(data, zip_bytes, message):
    with pytest.raises(InputError, match=message):
        import_project_zip(zip_bytes)
    assert list(data.iterdir()) == []


def test_a_missing_zip_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        import_project_zip(tmp_path / "none.zip")


def changed_database(tmp_path, *statements):
    """A project's zip with its database changed."""
    members = good_members(tmp_path)
    path = tmp_path / "changed.db"
    path.write_bytes(members["project.db"])
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return zipped({**members, "project.db": path.read_bytes()})


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 7", "made by a newer Glossa"),
        ("DROP TABLE decisions", "damaged or no project"),
        ("CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM files; END", "damaged or no"),
        ("CREATE VIEW v AS SELECT * FROM facts", "damaged or no project"),
        ("UPDATE files SET id = '../../../x' WHERE name = 'notes.txt'", r"table files, row 1: id"),
        ("UPDATE files SET options = '['", "holds what no project holds"),
        ("UPDATE files SET name = x'00'", "holds what no project holds"),
        ("UPDATE files SET added_at = x'00'", "holds what no project holds"),
        ("UPDATE decisions SET verdict = 'perhaps'", "holds what no project holds"),
        ("UPDATE decisions SET start = 'x'", "holds what no project holds"),
        ("UPDATE choices SET value = '{'", "holds what no project holds"),
        ("UPDATE dictionary_versions SET version = 3", r"v0003\.json of this project cannot"),
        ("UPDATE files SET id = '000000000000' WHERE name = 'notes.txt'", r"lacks .*notes\.txt"),
    ],
)
def test_a_zip_whose_database_is_not_ours_is_refused(tmp_path, data, statement, message):
    content = changed_database(tmp_path, statement)
    before = sorted(data.iterdir())
    with pytest.raises(InputError, match=message):
        import_project_zip(content)
    assert sorted(data.iterdir()) == before


def test_a_process_named_in_an_imported_zip_is_not_ended(tmp_path):
    content = changed_database(
        tmp_path,
        new_job("train", "running", heartbeat_at="2999-01-01T00:00:00+00:00", pid=1),
    )
    with import_project_zip(content).reading() as db:
        assert tuple(db.execute("SELECT state, pid FROM jobs").fetchone()) == ("interrupted", 0)


def test_the_name_in_an_imported_zip_is_cleaned(tmp_path):
    content = changed_database(tmp_path, "UPDATE facts SET value = 'a' || char(10) || 'b'")
    assert import_project_zip(content).name == "a b"


def test_listed_projects_are_summaries():
    project = create_project("Notes")
    assert isinstance(project, Project)
    assert [type(summary) for summary in list_projects()] == [ProjectSummary]


# ---- what the list costs --------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """The ids of projects that the list read; a change counts as settled at once."""
    read, ids = workspace._read_summary, []

    def note(project):
        ids.append(project.id)
        return read(project)

    monkeypatch.setattr(workspace, "_read_summary", note)
    monkeypatch.setattr(connection, "_SETTLED_SECONDS", 0.0)
    return ids


def test_the_list_reads_only_projects_that_changed(reads):
    mine, yours = create_project("Mine"), create_project("Yours")
    expected = list_projects()
    reads.clear()
    assert list_projects() == expected
    assert reads == []
    yours.rename("Theirs")
    assert {summary.name for summary in list_projects()} == {"Mine", "Theirs"}
    assert reads == [yours.id]
    delete_project(mine.id)
    assert [summary.name for summary in list_projects()] == ["Theirs"]


def test_the_list_reads_a_project_that_was_replaced_or_damaged(reads):
    mine, yours = create_project("Mine"), create_project("Yours")
    list_projects()
    (yours.folder / "project.db").replace(mine.folder / "project.db")
    assert {summary.name: bool(summary.problem) for summary in list_projects()} == {
        "Yours": False,
        yours.id: True,
    }
    (mine.folder / "project.db").write_bytes(b"x" * (mine.folder / "project.db").stat().st_size)
    assert all(summary.problem for summary in list_projects())


def test_the_list_notices_files_of_a_project_after_some_seconds(reads, monkeypatch):
    project = create_project("Mine")
    before = list_projects()[0].bytes
    (project.folder / "cache").mkdir()
    (project.folder / "cache" / "x").write_bytes(b"x" * 1_000)
    later = time.monotonic() + workspace._FRESH_SECONDS
    monkeypatch.setattr(workspace.time, "monotonic", lambda: later)
    assert list_projects()[0].bytes == before + 1_000


def test_a_project_that_changed_a_moment_ago_is_always_read(reads, monkeypatch):
    monkeypatch.setattr(connection, "_SETTLED_SECONDS", 3600.0)
    project = create_project("Mine")
    list_projects()
    list_projects()
    assert reads == [project.id, project.id]
