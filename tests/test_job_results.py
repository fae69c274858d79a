import pytest

from engine.formats import write_corpus
from engine.job_results import read_entities
from engine.text import Corpus, Entity, InputError
from engine.tokenization import make_document

DOCUMENT = make_document('say "a,\nb"', "He had gout\r\nand =lead.")
ENTITIES = (
    Entity(7, 11, "Disease", 0.9, "conf_mpu", run_id="conf_mpu-seed0"),
    Entity(17, 22, "Cell, line", None, "conf_mpu"),
)


def test_predictions_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "predictions.csv"
    write_corpus(Corpus((DOCUMENT,), {DOCUMENT.id: ENTITIES}), path)
    assert read_entities(path) == {DOCUMENT.id: ENTITIES}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("d,7,x,gout,0.9,mpu,r", "end"),
        ("d,9,7,gout,0.9,mpu,r", "is not after start"),
        ("d,7,9,gout,7,mpu,r", "score"),
        (",7,9,gout,0.9,mpu,r", "doc_id is empty"),
    ],
)
def test_predictions_that_someone_changed_are_explained(tmp_path, row, fault):
    path = tmp_path / "predictions.csv"
    path.write_text(f"doc_id,start,end,label,score,method,run_id\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=fault):
        read_entities(path)


def test_predictions_with_other_columns_are_read_too(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("id,start,end,label\nd,7,11,Disease\n", encoding="utf-8")
    assert read_entities(path) == {"d": (Entity(7, 11, "Disease", method="gold"),)}
