from dataclasses import replace

import numpy as np

from engine.runs.speed import measure_speeds, sample_sentences
from tests.support.planted import SMALL, Planted
from tests.support.tiny_encoders import save_tiny_bert


def test_a_speed_is_measured_of_every_stage():
    speeds = measure_speeds(Planted(sentence_count=60).data, SMALL, ("mpn", "conf_mpu"))
    assert set(speeds) == {
        ("mpn", "training"),
        ("conf_mpu", "confidence"),
        ("conf_mpu", "training"),
    }
    assert all(speed > 0 for speed in speeds.values())


def test_what_a_frozen_encoder_takes_is_measured_too(tmp_path):
    encoder = str(save_tiny_bert(tmp_path))
    settings = replace(SMALL, contextual_layer=1, encoder_name=encoder)
    speeds = measure_speeds(Planted(sentence_count=60).data, settings, ("mpn",))
    assert set(speeds) == {("", "prepare"), ("mpn", "training")}
    assert speeds["", "prepare"] > 0


def test_a_sample_has_labels_of_every_type():
    planted = Planted(sentence_count=60)
    labels = np.zeros_like(planted.labels)
    labels[-2:] = [1, 2]  # in the last sentence
    sample = sample_sentences(replace(planted.data, labels=labels), 5)
    assert len(sample.sentences) in (5, 6)
    assert len(sample.labels) == sum(map(len, sample.sentences))
    assert sample.sentences[-1] == planted.sentences[-1]
    assert sample.labels[-2:].tolist() == [1, 2]


def test_a_sample_larger_than_the_text_is_the_whole_text():
    planted = Planted(sentence_count=20)
    sample = sample_sentences(planted.data, 1_000)
    assert list(sample.sentences) == list(planted.sentences)
    assert np.array_equal(sample.labels, planted.labels)
