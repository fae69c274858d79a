"""What an import brings is checked once; what Glossa never writes is refused in one sentence."""

import hashlib
import io
import json
import sqlite3
import zipfile
from dataclasses import fields
from random import Random

import numpy as np
import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.jobs.requests import KINDS
from engine.projects import schema
from engine.projects.store import writing
from engine.projects.workspace import import_project_zip, write_project_zip
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project, record_f1

NESTED = "[" * 100_000 + "]" * 100_000


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def project(tmp_path):
    project = make_project()
    run = finish_run(project)
    record_f1(project, run.id, {"mpu": 0.5})
    project.add_decision("review", "notes", 7, 11, "Disease", "accepted")
    project.set_gold([SourceFile("g.csv", b"doc_id,start,end,label\nnotes,7,11,Disease\n")])
    with writing(project.folder) as db:
        db.execute("UPDATE jobs SET id = '20260101-000000-ab12'")
        db.execute("UPDATE job_facts SET job = '20260101-000000-ab12'")
    run.folder.rename(run.folder.with_name("20260101-000000-ab12"))
    return project


@pytest.fixture
def members(project, tmp_path):
    write_project_zip(project, tmp_path / "p.zip")
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def refusal(members, data):
    """The one sentence with which an import is refused; nothing of it is left."""
    before = sorted(data.iterdir())
    with pytest.raises(InputError) as caught:
        import_project_zip(packed(members))
    assert sorted(data.iterdir()) == before
    message = str(caught.value)
    assert len(message) <= 300
    assert "\n" not in message
    assert ".new-" not in message
    return message


def changed(members, tmp_path, statement, *values):
    path = tmp_path / "changed.db"
    path.write_bytes(members["project.db"])
    db = sqlite3.connect(path)
    assert db.execute(statement, values).rowcount != 0
    db.commit()
    db.close()
    return {**members, "project.db": path.read_bytes()}


def test_the_project_itself_is_imported(members):
    back = import_project_zip(packed(members))
    assert jobs.list_jobs(back)[0].id == "20260101-000000-ab12"
    assert set(jobs.results(back, "20260101-000000-ab12").entities) == {"conf_mpu", "mpu"}


@pytest.mark.parametrize("role", ["text", "gold"])
@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data + b"\n"])
def test_a_text_that_is_not_the_one_that_was_stored_is_refused(members, data, role, change):
    [name] = [name for name in members if name.startswith(f"{role}/")]
    message = refusal({**members, name: change(members[name])}, data)
    assert message.startswith(f"the zip: {name} is not the file that was stored as ")


# ---- rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "value", "where"),
    [
        ("UPDATE jobs SET created_at = ?", "0001-01-01T00:00:00+23:59", "created_at"),
        ("UPDATE jobs SET finished_at = ?", "9999-12-31T23:59:59-23:59", "finished_at"),
        ("UPDATE files SET added_at = ?", "soon", "added_at"),
        ("UPDATE decisions SET decided_at = ?", "0001-01-01T00:00:00+23:59", "decided_at"),
        ("UPDATE files SET options = ?", "[]", "options"),
        ("UPDATE files SET options = ?", '{"encoding": 7}', "options"),
        ("UPDATE files SET options = ?", NESTED, "options"),
        ("UPDATE files SET renamed = ?", '["a"]', "renamed"),
        ("UPDATE files SET renamed = ?", '{"a": 1}', "renamed"),
        ("UPDATE files SET name = CAST(? AS TEXT)", b"\xff\xfe", "name is not UTF-8"),
        ("UPDATE files SET tokens = ?", "many", "tokens"),
        ("UPDATE files SET tokens = ?", -1, "tokens"),
        ("UPDATE facts SET value = CAST(? AS TEXT)", b"\xff", "value is not UTF-8"),
        ("UPDATE jobs SET request = ?", "no JSON", "request"),
        ("UPDATE jobs SET request = ?", "[]", "request"),
        ("UPDATE jobs SET request = ?", NESTED, "request"),
        ("UPDATE jobs SET request = json_set(request, '$.seed', ?)", "0/../../x", "request"),
        ("UPDATE jobs SET request = json_set(request, '$.methods', ?)", "mpu", "request"),
        ("UPDATE jobs SET request = json_set(request, '$.methods[0]', ?)", "../x", "request"),
        ("UPDATE jobs SET request = json_set(request, '$.settings', ?)", 5, "request"),
        ("UPDATE jobs SET request = json_set(request, '$.more', ?)", 5, "request"),
        ("UPDATE jobs SET id = ?", "../../x", "id"),
        ("UPDATE jobs SET kind = ?", "evil", "kind"),
        ("UPDATE jobs SET state = ?", "flying", "state"),
        ("UPDATE jobs SET share = ?", 7.5, "share"),
        ("UPDATE jobs SET pid = ?", "x", "pid"),
        ("UPDATE job_facts SET value = ?", "{", "value"),
        ("UPDATE job_facts SET value = ?", '{"mpu": 5}', "value"),
        ("UPDATE job_facts SET value = ?", NESTED, "value"),
        ("UPDATE choices SET value = ?", NESTED, "value"),
        ("INSERT INTO choices VALUES ('check_size', ?)", '["a"]', "value"),
        ("UPDATE decisions SET verdict = ?", "perhaps", "verdict"),
        ("UPDATE dictionary_versions SET version = ?", -3, "version"),
        ("UPDATE dictionary_versions SET reason = ?", b"\x00", "reason"),
    ],
)
def test_a_row_that_we_never_write_is_named(members, tmp_path, data, statement, value, where):
    message = refusal(changed(members, tmp_path, statement, value), data)
    table = statement.split()[2 if statement.startswith("INSERT") else 1]
    assert message.startswith(f"the zip: project.db holds what no project holds (table {table}")
    assert message.endswith(f": {where}). Download the project again")


def test_a_table_with_other_columns_is_refused(members, tmp_path, data):
    crafted = changed(members, tmp_path, "ALTER TABLE jobs RENAME COLUMN share TO part")
    assert "table jobs has other columns" in refusal(crafted, data)


def test_every_field_of_every_request_has_a_check():
    assert {kind: {field.name for field in fields(cls)} for kind, cls in KINDS.items()} == {
        kind: set(checks) for kind, checks in schema.REQUESTS.items()
    }


# ---- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["runs", "text", "dictionaries", "gold"])
def test_a_file_in_place_of_a_folder_is_refused(members, data, name):
    kept = {path: content for path, content in members.items() if not path.startswith(name)}
    assert f'"{name}" is a file' in refusal({**kept, name: b"x"}, data)


def card_of(members):
    return next(name for name in members if name.endswith("mpu-seed0/run.json"))


@pytest.mark.parametrize(
    "changes",
    [
        {"types": None},
        {"types": ["A", "A"], "priors": [0.8, 0.1, 0.1]},
        {"types": [7]},
        {"priors": [float("nan"), 0.5]},
        {"priors": [10**400, 0.5]},
        {"taggers": 10**9},
        {"settings": []},
        {"settings": {"epochs": "many"}},
        {"versions": {"torch": 2}},
    ],
)
def test_a_card_that_we_never_write_is_refused(members, data, changes):
    path = card_of(members)
    card = json.dumps(json.loads(members[path]) | changes)
    message = refusal({**members, path: card}, data)
    assert "run.json cannot be read; the run is damaged" in message
    assert message.endswith("take runs/20260101-000000-ab12 out of the zip")


def test_a_card_of_nested_brackets_is_refused(members, data):
    assert "run.json cannot be read" in refusal({**members, card_of(members): NESTED}, data)


def test_a_run_of_an_older_layout_is_imported(members):
    path = card_of(members)
    card = json.dumps(json.loads(members[path]) | {"layout": 1})
    assert import_project_zip(packed({**members, path: card}))


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def huge(shape):
    stream = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        huge((10**13,)),
        huge((0, 10**13)),
        npy(np.array([{"a": 1}], dtype=object)),
        npy(np.array(["a"])),
        npy(np.array([1, 2])),
        npy(np.array([[0.5]])),
        npy(np.array([0.5, np.nan])),
        npy(np.array([7.0])),
        npy(np.array([0.5, 0.5]))[:-1],
        b"",
        b"\x93NUMPY\x09\x00",
    ],
)
def test_an_array_that_we_never_write_is_refused(members, data, content):
    path = card_of(members).replace("run.json", "confidence.npy")
    assert "confidence.npy cannot be read" in refusal({**members, path: content}, data)


@pytest.mark.parametrize(("length", "is_refused"), [(15, False), (14, True), (16, True)])
def test_a_confidence_of_another_length_than_the_text_is_refused(members, data, length, is_refused):
    path = card_of(members).replace("run.json", "confidence.npy")
    changed = {**members, path: npy(np.full(length, 0.5, np.float32))}
    if not is_refused:
        assert import_project_zip(packed(changed))
        return
    message = refusal(changed, data)
    assert f"confidence.npy has {length} numbers, but the text has another number" in message


def test_the_histogram_of_a_run_says_how_long_its_confidence_is(members, tmp_path):
    """The tokens of a file were counted when it was added, perhaps by another version."""
    path = card_of(members).replace("run.json", "confidence.npy")
    rows = json.dumps([{"low": 0, "high": 1, "labeled": 2, "unlabeled": 18}])
    statement = "INSERT INTO job_facts VALUES (?, 'confidence_histogram', ?)"
    changed_members = changed(members, tmp_path, statement, "20260101-000000-ab12", rows)
    assert import_project_zip(packed({**changed_members, path: npy(np.full(20, 0.5))}))


@pytest.mark.parametrize(
    "sizes",
    [
        {"hidden_size": 60_000},
        {"hidden_size": 10**400},
        {"character_size": 10**9},
        {"lexicon_window": 10**12},
        {"hidden_size": -5, "lexicon_window": 10**12},
        {"hidden_size": float("nan"), "lexicon_window": 10**12},
        {"hidden_size": 1.5},
    ],
)
def test_a_card_that_asks_for_a_huge_network_is_refused(members, data, sizes):
    path = card_of(members)
    card = json.loads(members[path])
    weights = path.replace("run.json", "tagger-0.safetensors")
    lexicon = {"options": {}, "dictionaries": [], "types": ["Disease"], "tokens_given": True}
    message = refusal(
        {
            **members,
            path: json.dumps(card | {"settings": card["settings"] | sizes}),
            weights: Random(0).randbytes(500_000),
            path.replace("run.json", "lexicon.json"): json.dumps(lexicon),
        },
        data,
    )
    assert "the run is damaged" in message or "cannot be read" in message


@pytest.mark.parametrize("content", [NESTED, "[]", '{"options": {}}', "7"])
def test_a_lexicon_that_we_never_write_is_refused(members, data, content):
    path = card_of(members).replace("run.json", "lexicon.json")
    assert "lexicon.json cannot be read" in refusal({**members, path: content}, data)


def test_predictions_that_we_never_write_are_refused(members, data):
    path = card_of(members).replace("run.json", "predictions.parquet")
    assert "predictions.parquet cannot be read" in refusal({**members, path: b"PAR1"}, data)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("phrases", [7]),
        ("phrases", None),
        ("types", [None]),
        ("phrase_types", [-1]),
        ("phrase_types", ["0"]),
        ("match", []),
        ("muted", [["gout", 7]]),
        ("is_enabled", "yes"),
        ("priority", "high"),
    ],
)
def test_a_dictionary_that_we_never_write_is_refused(members, data, tmp_path, key, value):
    path = "dictionaries/v0001.json"
    items = json.loads(members[path])
    items[0][key] = value
    assert "v0001.json of this project cannot be read" in refusal(
        with_dictionaries(members, tmp_path, json.dumps(items)), data
    )


def test_a_phrase_longer_than_any_sentence_is_refused(members, data, tmp_path):
    path = "dictionaries/v0001.json"
    items = json.loads(members[path])
    items[0]["phrases"][0] = "a " * 100_000
    assert "has more tokens than a sentence" in refusal(
        with_dictionaries(members, tmp_path, json.dumps(items)), data
    )


def test_dictionaries_of_nested_brackets_are_refused(members, data, tmp_path):
    assert "cannot be read" in refusal(with_dictionaries(members, tmp_path, NESTED), data)


def with_dictionaries(members, tmp_path, content):
    """The members with another first version of the dictionaries, and its hash in the database."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    statement = "UPDATE dictionary_versions SET sha256 = ? WHERE version = 1"
    crafted = changed(members, tmp_path, statement, digest)
    return {**crafted, "dictionaries/v0001.json": content}
