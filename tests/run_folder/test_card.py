import json
from pathlib import Path

import pytest

from engine.run_folder.card import (
    Checkpoint,
    checkpoint_path,
    checkpoints,
    confidence_beside,
    confidence_checkpoint,
    confidence_files,
    delete_checkpoints,
    has_card,
    read_card,
    remove_card,
    run_name,
    tagger_checkpoint,
    write_card,
)
from engine.text.model import InputError
from tests.support.finished_runs import make_card

ROOT = Path(__file__).parents[2]
KEY = "0123456789ab"


@pytest.fixture
def folder(tmp_path):
    write_card(tmp_path / "mpu-seed0", make_card("mpu-seed0", "mpu"))
    return tmp_path / "mpu-seed0"


def test_a_card_is_read_as_it_was_written(folder):
    card = make_card("mpu-seed0", "mpu")
    assert read_card(folder) == card
    assert (card.method, run_name("mpu", 0)) == ("mpu", folder.name)


def test_a_folder_without_a_card_is_not_a_finished_run(folder):
    assert has_card(folder)
    remove_card(folder)
    remove_card(folder)
    assert not has_card(folder)
    with pytest.raises(InputError, match=r"is not a finished run: it has no run\.json"):
        read_card(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run_id", 7),
        ("settings", {"epochs": "x", "unknown": 1}),
        ("settings", []),
        ("types", "Disease"),
        ("types", [1]),
        ("priors", [0.1]),
        ("priors", ["0.9", 0.1]),
        ("priors", None),
        ("history", [7]),
        ("history", [{"risk": "high"}]),
        ("confidence_histories", {}),
        ("versions", []),
        ("taggers", 0),
        ("taggers", 1.0),
        ("taggers", True),
        ("odds", "1"),
        ("odds", None),
        ("scores", None),
        ("vectors_fingerprint", 1),
        ("made_from", []),
    ],
)
def test_a_card_with_a_value_that_we_never_write_is_damaged(folder, key, value):
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(InputError, match=r"run\.json cannot be read; the run is damaged"):
        read_card(folder)


def test_checkpoints_are_found_by_the_names_they_were_given(tmp_path):
    first = checkpoint_path(tmp_path, KEY)
    expected = [
        Checkpoint(first, "training", 0),
        Checkpoint(tagger_checkpoint(first, 0), "training", 0),
        Checkpoint(tagger_checkpoint(first, 12), "training", 12),
        Checkpoint(confidence_checkpoint(first, 0), "confidence", 0),
        Checkpoint(confidence_checkpoint(first, 3), "confidence", 3),
    ]
    for checkpoint in expected:
        checkpoint.path.touch()
    confidence_beside(first).touch()
    (tmp_path / ".checkpoint-x.safetensors.a1.part").touch()
    (tmp_path / "checkpoint-other.txt").touch()
    (tmp_path / "confidence.npy").touch()
    assert set(checkpoints(tmp_path)) == set(expected)
    assert confidence_files(tmp_path) == [confidence_beside(first), tmp_path / "confidence.npy"]
    delete_checkpoints(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["confidence.npy"]


def test_the_name_of_the_card_is_written_in_one_place():
    sources = [*ROOT.glob("engine/**/*.py"), *ROOT.glob("ui/**/*.py"), *ROOT.glob("bench/*.py")]
    having = [path.name for path in sources if '"run.json"' in path.read_text(encoding="utf-8")]
    assert having == ["card.py"]
