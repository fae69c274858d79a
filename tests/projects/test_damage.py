"""Damage to a project's own database is one sentence, with a way out."""

import sqlite3

import pytest

from engine import jobs
from engine.projects.workspace import list_projects, open_project
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project, record_f1


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


@pytest.fixture
def project():
    project = make_project()
    record_f1(project, finish_run(project).id, {"mpu": 0.5})
    return project


def change(project, statement, *values):
    db = sqlite3.connect(project.folder / "project.db")
    db.execute(statement, values)
    db.commit()
    db.close()


def use(project):
    """Read what pages read."""
    project.text_files()
    project.choice("match_preset")
    project.dictionary_history()
    project.labels_key()
    project.decisions("review")
    for job in jobs.list_jobs(project):
        jobs.scores_of(project, job.id)
        jobs.curve_points(project, job.id)


@pytest.mark.parametrize("value", ["{", "[" * 100_000, "[]", b"\xff"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE files SET options = CAST(? AS TEXT)",
        "UPDATE files SET renamed = CAST(? AS TEXT)",
        "UPDATE jobs SET request = CAST(? AS TEXT)",
    ],
)
def test_a_damaged_value_is_one_sentence_with_a_way_out(project, statement, value):
    change(project, statement, value)
    assert_explained(project)


@pytest.mark.parametrize("value", ["{", "[" * 100_000, b"\xff"])
@pytest.mark.parametrize("table", ["choices", "job_facts"])
def test_damaged_choices_and_facts_are_explained(project, table, value):
    change(project, f"UPDATE {table} SET value = CAST(? AS TEXT)", value)
    assert_explained(project)


@pytest.mark.parametrize(
    "statement", ["DROP TABLE jobs", "ALTER TABLE jobs RENAME COLUMN created_at TO made"]
)
def test_a_missing_table_or_column_is_explained(project, statement):
    change(project, statement)
    assert_explained(project)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jobs SET share = 'much'",
        "UPDATE jobs SET pid = 'x'",
        "UPDATE jobs SET kind = 'evil'",
        "UPDATE jobs SET request = json_set(request, '$.methods', 5)",
        "UPDATE jobs SET request = json_remove(request, '$.preset')",
        "UPDATE job_facts SET value = '[]'",
        "INSERT INTO job_points SELECT id, 20, 0, 'mpu', '[]' FROM jobs",
        "UPDATE files SET name = x'ff'",
        "UPDATE files SET tokens = 'many'",
        """UPDATE files SET renamed = '{"a": []}'""",
        "ALTER TABLE files RENAME COLUMN unit TO odd",
        "UPDATE dictionary_versions SET phrases = 'many'",
        "UPDATE dictionary_versions SET sha256 = x'00'",
        "ALTER TABLE dictionary_versions RENAME COLUMN key TO odd",
        "UPDATE decisions SET \"start\" = 'x'",
        "UPDATE decisions SET new_type = ''",
        "UPDATE decisions SET verdict = 'perhaps'",
        "UPDATE decisions SET surface = x'ff'",
        'ALTER TABLE decisions RENAME COLUMN "start" TO odd',
        "DROP TABLE facts",
        "DROP TABLE choices",
    ],
)
def test_a_value_of_another_kind_is_explained(project, statement):
    project.add_decision("review", "notes", 7, 11, "Disease", "accepted")
    change(project, statement)
    assert_explained(project)


@pytest.mark.parametrize("value", ["'0001-01-01T00:00:00+23:59'", "'soon'"])
def test_a_moment_that_is_none_is_no_error(project, value):
    change(project, f"UPDATE jobs SET created_at = {value}")
    use(project)


@pytest.mark.parametrize("count", ["'many'", "9e999"])
def test_a_project_whose_counts_are_no_counts_says_so_in_the_list(project, count):
    change(project, f"UPDATE dictionary_versions SET phrases = {count}")
    assert "is damaged" in list_projects()[0].problem


def test_a_preset_that_is_a_list_is_that_of_earlier_projects(project):
    change(project, "UPDATE choices SET value = '[]' WHERE key = 'match_preset'")
    assert project.match_preset() == "balanced"


def test_a_database_whose_schema_is_no_text_is_explained(project):
    path = project.folder / "project.db"
    data = path.read_bytes()
    assert data.count(b"CREATE TABLE facts (key TEXT") == 1
    path.write_bytes(data.replace(b"CREATE TABLE facts (key", b"CREATE TABLE facts \xe6key"))
    assert_explained(project)


def test_a_copy_that_an_interrupted_update_left_is_named(project):
    (project.folder / "project.db").write_bytes(b"x" * 5_000)
    (project.folder / "project.db.v2").write_bytes(b"")
    with pytest.raises(InputError, match=r"Rename project\.db\.v2 beside it to project\.db"):
        open_project(project.id)
    assert list_projects()[0].problem


def assert_explained(project):
    with pytest.raises(InputError) as caught:
        use(project)
    message = str(caught.value)
    assert "damaged" in message
    assert "Put back a backup" in message
    assert len(message) <= 300
    assert "\n" not in message
