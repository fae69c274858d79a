import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.cli.command_line import main
from engine.experiment import make_twin, probabilities, run
from engine.learning.distillation import soft_risk
from engine.learning.twin import span_agreement, twin_settings
from engine.network.transformer import Stopped
from engine.run_folder.card import read_card
from engine.runs.saved import load_run, save_run, save_twin
from engine.settings import training_settings
from engine.text.model import InputError
from engine.text.tokenization import make_tokenized_document
from tests.support.planted import LEARNING, SMALL, TYPES, Planted
from tests.support.tiny_encoders import save_tiny_bert

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL_TWIN = {"hidden_size": 16, "batch_size": 32, "learning_rate": 0.02, "dropout": 0.0}


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def documents(planted):
    return [make_tokenized_document("d", planted.sentences)]


@pytest.fixture(scope="module")
def teacher(planted, tmp_path_factory):
    encoder = str(save_tiny_bert(tmp_path_factory.mktemp("encoder")))
    context = {"contextual_layer": 1, "encoder_name": encoder, "encoder_precision": "auto"}
    settings = replace(SMALL, method="mpu", **LEARNING | context)
    return run(planted.data, planted.priors, settings)


def small_settings(teacher, **changes):
    return replace(twin_settings(teacher.settings, 10**6), **SMALL_TWIN | changes)


def test_a_twin_finds_about_what_its_teacher_finds(teacher, planted, documents):
    twin = make_twin(teacher, documents, settings=small_settings(teacher, epochs=20))
    untrained = make_twin(teacher, documents, settings=small_settings(teacher, learning_rate=1e-8))
    assert twin.agreement > (untrained.agreement or 0)  # on few sentences, so it is rough
    classes = probabilities(teacher, planted.sentences).argmax(axis=1)
    same = probabilities(twin.run, planted.sentences).argmax(axis=1) == classes
    assert same[classes > 0].mean() > 0.8
    assert twin.run.types == teacher.types and twin.run.odds == 1
    assert twin.run.taggers[0].lstm.input_size == 16 + 8  # characters, casing, no layer


def test_a_twin_is_a_run_whose_card_says_what_it_was_made_from(teacher, documents, tmp_path):
    twin = make_twin(teacher, documents, settings=small_settings(teacher, epochs=1))
    save_twin(tmp_path / "fast", twin, "mpu-seed0")
    card = read_card(tmp_path / "fast")
    assert card.made_from == {
        "twin_of": "mpu-seed0",
        "sentences": 240,
        "tokens": len(twin.data.labels),
        "agreement": twin.agreement,
    }
    assert card.method == "mpu" and not (tmp_path / "fast" / "encoder").exists()
    loaded = load_run(tmp_path / "fast")
    text = twin.data.sentences[:5]
    np.testing.assert_allclose(probabilities(loaded, text), probabilities(twin.run, text))


def test_cards_of_earlier_runs_were_made_from_nothing(teacher, planted, tmp_path):
    save_run(tmp_path, teacher, data=planted.data)
    path = tmp_path / "run.json"
    record = json.loads(path.read_text())
    del record["made_from"], record["settings"]["encoder_precision"]
    path.write_text(json.dumps(record))
    card = read_card(tmp_path)
    assert card.made_from == {} and card.settings.encoder_precision == "float32"


def test_longer_texts_are_seen_fewer_times():
    settings = training_settings("balanced")
    epochs = [twin_settings(settings, tokens).epochs for tokens in (1, 10**6, 10**8)]
    assert epochs == [20, 4, 3]


def test_twins_that_make_no_sense_are_refused(teacher, documents):
    with pytest.raises(InputError, match="has no transformer"):
        twin_settings(training_settings("paper"), 1)
    for method in ("bnpu", "autoner"):
        with pytest.raises(InputError, match="cannot have a twin"):
            twin_settings(replace(training_settings("quick"), method=method), 1)
    with pytest.raises(InputError, match="no words in it"):
        make_twin(teacher, [make_tokenized_document("d", [])])
    with pytest.raises(Stopped):
        make_twin(teacher, documents, should_stop=lambda: True)


def test_the_soft_risk_is_least_at_the_teachers_probabilities():
    probs = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    at_best = soft_risk(probs.log(), probs).objective
    for other in (torch.zeros(2, 3), probs.log() * 2, probs.log().flip(1)):
        assert soft_risk(other, probs).objective > at_best


def test_agreement_counts_whole_spans():
    theirs = np.eye(3)[[0, 1, 1, 0, 2]]
    ours = np.eye(3)[[0, 1, 0, 0, 2]]
    bounds, both = np.array([0, 3, 5]), np.array([0, 1])
    assert span_agreement(theirs, theirs, bounds, both, TYPES) == 1
    assert span_agreement(ours, theirs, bounds, both, TYPES) == 0.5
    assert span_agreement(ours, theirs, bounds, both[1:], TYPES) == 1
    assert span_agreement(ours[:1], theirs[:1], np.array([0, 1]), both[:1], TYPES) is None


def test_the_command_makes_a_twin_and_tells_how_far_it_agrees(
    teacher, planted, tmp_path, monkeypatch, capsys
):
    save_run(tmp_path / "mpu-seed0", teacher, data=planted.data)
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(tokens) for tokens in planted.sentences[:60]))
    monkeypatch.setattr(
        "engine.experiment.twin_settings",
        lambda settings, tokens: replace(
            twin_settings(settings, tokens), **SMALL_TWIN | {"epochs": 1}
        ),
    )
    command = ["twin", str(tmp_path / "mpu-seed0"), "--text", str(text), "--out"]
    assert main([*command, str(tmp_path / "fast")]) == 0
    out = capsys.readouterr().out
    assert "epoch 1 of 1" in out and f"glossa predict --run {tmp_path / 'fast'}" in out
    assert read_card(tmp_path / "fast").made_from["twin_of"] == "mpu-seed0"
    assert main([*command, str(tmp_path / "fast")]) == 2
    assert "holds a run already" in capsys.readouterr().err
