"""A block that keeps its connections reads what is there now, and leaves nothing open."""

import sqlite3

import pytest

from engine.projects.connection import DATABASE, kept_connections
from engine.projects.store import reading
from engine.projects.workspace import create_project, delete_project
from engine.text.model import InputError


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    return create_project("Mine")


@pytest.fixture
def opened(monkeypatch):
    """The connections that were opened."""
    connections, connect = [], sqlite3.connect

    def note(*arguments, **options):
        connections.append(connect(*arguments, **options))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", note)
    return connections


def is_open(db):
    try:
        db.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_one_connection_per_block(project, opened):
    with kept_connections():
        assert [project.name, project.text_key(), project.name] == ["Mine", "", "Mine"]
        with kept_connections():
            assert project.name == "Mine"
        assert len(opened) == 1 and is_open(opened[0])
    assert not is_open(opened[0])
    assert project.name == "Mine"
    assert len(opened) == 2 and not is_open(opened[1])


def test_each_reading_sees_the_latest_state(project):
    with kept_connections():
        assert project.name == "Mine"
        project.rename("Yours")
        assert project.name == "Yours"


def test_a_kept_connection_does_not_hold_on_to_a_moment(project):
    with kept_connections():
        assert project.name == "Mine"
        with sqlite3.connect(project.folder / DATABASE, timeout=0) as other:
            # Moves the log into the database, which a reader of an earlier moment would prevent.
            assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        other.close()


def test_readings_inside_each_other_have_their_own_connections(project, opened):
    with kept_connections():
        with project.reading() as outer:
            project.rename("Yours")
            with project.reading() as inner:
                assert inner is not outer
                assert inner.execute("SELECT value FROM facts WHERE key = 'name'").fetchone()
            assert outer.execute("SELECT value FROM facts WHERE key = 'name'").fetchone()[0] == (
                "Mine"
            )
        assert project.name == "Yours"
    assert not any(map(is_open, opened))


def test_another_database_at_the_same_place_is_read(project):
    other = create_project("Other")
    with kept_connections():
        assert project.name == "Mine"
        (other.folder / DATABASE).rename(project.folder / DATABASE)
        assert project.name == "Other"


def test_a_deleted_project_is_missed(project, opened):
    with kept_connections():
        assert project.name == "Mine"
        delete_project(project.id)
        with pytest.raises(InputError, match="holds no project"):
            assert project.name
    assert not any(map(is_open, opened))


def test_a_failed_reading_keeps_nothing(project, opened):
    with kept_connections():
        with pytest.raises(InputError, match="damaged"), reading(project.folder) as db:
            db.execute("SELECT * FROM no_such_table")
        assert not is_open(opened[-1])
        assert project.name == "Mine"
