import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from engine.run_folder.predictions import read_entities, read_marks, write_predictions
from engine.scoring.marks import marks_of_entities
from engine.text.model import Entity, InputError
from tests.support.corpora import corpora

FIRST = Entity(
    7, 11, "Disease", 0.123456789, "conf_mpu", "a.txt", True, "Gout", "MESH:1", "run-1", "accepted"
)
ENTITIES = {
    'say "a,\nb"': (FIRST, Entity(17, 22, "Cell, line", None, "conf_mpu", in_dictionary=False)),
    "NA": (Entity(0, 4, "null", 1.0, "mpu"),),
    "007": (Entity(0, 4, "Disease", 0.0, "mpu", matched_phrase="naïve"),),
}


def rows(marks):
    """The marks as tuples, in no order; an unknown score is -1."""
    scores = np.nan_to_num(marks.score, nan=-1.0).tolist()
    places = (getattr(marks, name).tolist() for name in ("document", "start", "end", "type"))
    return sorted(
        (marks.document_ids[d], start, end, marks.types[t], score)
        for d, start, end, t, score in zip(*places, scores, strict=True)
    )


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "predictions.parquet"
    write_predictions(path, ENTITIES)
    return path


def test_predictions_are_read_as_they_were_written(path):
    entities = read_entities(path)
    assert entities == ENTITIES
    assert list(entities) == list(ENTITIES)


def test_predictions_are_read_as_columns(path):
    assert rows(read_marks(path)) == rows(marks_of_entities(ENTITIES))
    assert read_marks(path).document_ids == tuple(ENTITIES)


@given(corpora(plain_types=False))
def test_any_entities_survive(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("run") / "predictions.parquet"
    write_predictions(path, corpus.entities)
    assert read_entities(path) == {id: es for id, es in corpus.entities.items() if es}
    assert rows(read_marks(path)) == rows(marks_of_entities(corpus.entities))


def test_half_a_surrogate_pair_survives(tmp_path):
    entities = {"d\ud800": (Entity(0, 4, "Disease", matched_phrase="\udc00x"),)}
    write_predictions(tmp_path / "p", entities)
    assert read_entities(tmp_path / "p") == entities
    assert read_marks(tmp_path / "p").document_ids == ("d\ud800",)


@pytest.mark.parametrize("entities", [{}, {"d": ()}])
def test_no_entities_are_no_rows(tmp_path, entities):
    write_predictions(tmp_path / "p", entities)
    assert read_entities(tmp_path / "p") == {}
    assert rows(read_marks(tmp_path / "p")) == []


def test_a_document_named_twice_keeps_all_its_entities(path):
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table]), path)
    assert read_entities(path) == {id: entities * 2 for id, entities in ENTITIES.items()}


def test_a_large_file_is_compact(tmp_path):
    many = {
        f"d{i}": tuple(Entity(j, j + 4, "Disease", 0.5, "mpu", run_id="r") for j in range(20))
        for i in range(1_000)
    }
    write_predictions(tmp_path / "p", many)
    assert (tmp_path / "p").stat().st_size < 100_000  # as CSV it takes two megabytes
    assert read_entities(tmp_path / "p") == many


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("start", -1, "ends before it starts"),
        ("end", 7, "ends before it starts"),
        ("score", 7.0, "a score is not between 0 and 1"),
        ("score", float("nan"), "a score is not between 0 and 1"),
        ("score", float("inf"), "a score is not between 0 and 1"),
        ("document", "", "document is empty"),
        ("entity_type", "", "entity_type is empty"),
        ("entity_type", None, "entity_type is missing"),
        ("start", "7", "start is"),
        ("document", 7, "document is int64"),
    ],
)
def test_predictions_that_someone_changed_are_explained(path, name, value, fault):
    table = pq.read_table(path)
    column = [value, *table[name].to_pylist()[1:]]
    if isinstance(value, str | int) and type(value) is not type(column[1]):
        column = [value] * len(column)
    changed = table.set_column(table.column_names.index(name), name, pa.array(column))
    pq.write_table(changed, path)
    for read in (read_entities, read_marks):
        with pytest.raises(InputError, match=f"the run is damaged .*{fault}"):
            read(path)


@pytest.mark.parametrize("name", ["document", "entity_type", "matched_phrase"])
def test_a_row_that_refers_to_a_string_that_is_not_there_is_explained(path, monkeypatch, name):
    """Damaged bytes can say so; writing such a file is not possible."""
    table = pq.read_table(path)
    codes = pa.array(range(1, len(table) + 1), pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x"]), safe=False)
    broken = table.set_column(table.column_names.index(name), name, column)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda _, columns: broken.select(columns))
    readers = [read_entities] if name == "matched_phrase" else [read_entities, read_marks]
    for read in readers:
        with pytest.raises(InputError, match=r"the run is damaged .*out of bounds"):
            read(path)


@pytest.mark.parametrize("content", [b"", b"doc_id,start\nd,1\n", b"PAR1" * 9])
def test_a_file_that_is_not_parquet_is_explained(tmp_path, content):
    (tmp_path / "p").write_bytes(content)
    for read in (read_entities, read_marks):
        with pytest.raises(InputError, match="the run is damaged"):
            read(tmp_path / "p")


def test_a_missing_file_and_a_missing_column_are_explained(tmp_path, path):
    with pytest.raises(InputError, match="the run is damaged"):
        read_entities(tmp_path / "gone")
    pq.write_table(pq.read_table(path).drop_columns("score"), path)
    for read in (read_entities, read_marks):
        with pytest.raises(InputError, match="it has no column score"):
            read(path)


def test_a_cut_file_is_explained(path):
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="the run is damaged"):
        read_entities(path)
