import numpy as np
import pytest
import torch

from engine.network import packed
from engine.network.encoders import load_encoder
from engine.network.packed import chosen_precision, is_packable, packed_encoder
from engine.network.subwords import SubwordInputs
from engine.network.transformer import contextual_features, features_key
from tests.support.tiny_encoders import save_tiny_bert, save_tiny_roberta

WORDS = ["aspirin", "induced", "hypotension", "in", "patients", "COX-2", "naïve"]
RANDOM = np.random.default_rng(0)
SENTENCES = [[str(w) for w in RANDOM.choice(WORDS, size=n)] for n in (3, 40, 1, 12, 0, 7, 5, 7)]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return load_encoder(str(save_tiny_bert(tmp_path_factory.mktemp("encoder"))))


@pytest.fixture(scope="module")
def inputs(loaded):
    return SubwordInputs(SENTENCES, loaded[1], window=30, stride=8)


def padded_features(inputs, encoder, layer, monkeypatch):
    """The layer as transformers computes it, with padding and a mask."""
    monkeypatch.setattr("engine.network.transformer.is_packable", lambda _: False)
    features = contextual_features(inputs, encoder, layer=layer, dtype=np.float32)
    monkeypatch.undo()
    return features


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_float32_equals_what_transformers_computes(loaded, inputs, monkeypatch, layer):
    theirs = padded_features(inputs, loaded[0], layer, monkeypatch)
    ours = contextual_features(inputs, loaded[0], layer=layer, dtype=np.float32)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(("precision", "share"), [("int8", 0.03), ("bfloat16", 0.03)])
def test_fewer_bits_change_the_features_little(loaded, inputs, monkeypatch, precision, share):
    exact = padded_features(inputs, loaded[0], 2, monkeypatch)
    rounded = contextual_features(inputs, loaded[0], layer=2, precision=precision, dtype=np.float32)
    error = np.linalg.norm(rounded - exact) / np.linalg.norm(exact)
    assert 0 < error < share


def test_int8_features_of_a_sentence_do_not_depend_on_the_others(loaded):
    alone, together = (
        contextual_features(
            SubwordInputs(sentences, loaded[1], window=30, stride=8),
            loaded[0],
            layer=2,
            precision="int8",
        )
        for sentences in (SENTENCES[3:4], SENTENCES[3:])
    )
    np.testing.assert_allclose(together[: len(alone)], alone, atol=2e-3)


def test_a_repeated_sentence_is_read_once(loaded, monkeypatch):
    inputs = SubwordInputs([["a", "b"], ["b"], ["a", "b"], []], loaded[1])
    read = []
    pack = inputs.packed
    monkeypatch.setattr(inputs, "packed", lambda chosen: read.extend(chosen) or pack(chosen))
    features = contextual_features(inputs, loaded[0], layer=1)
    assert sorted(read) == [0, 1, 3]
    np.testing.assert_array_equal(features[3:5], features[:2])
    assert (features != 0).any(axis=1).all()


def test_the_same_subwords_in_other_tokens_are_another_sentence(loaded):
    inputs = SubwordInputs([["in", "in"], ["inin"], ["in", "in"]], loaded[1])
    assert inputs.first_alike().tolist() == [0, 1, 0]


def test_weights_are_rounded_once_per_encoder(loaded):
    assert packed_encoder(loaded[0], 2, "int8") is packed_encoder(loaded[0], 2, "int8")
    assert packed_encoder(loaded[0], 2, "int8") is not packed_encoder(loaded[0], 1, "int8")


def test_the_key_names_a_precision_other_than_float32(loaded, inputs):
    keys = [features_key(inputs, loaded[0], 1, name) for name in ("float32", "int8", "bfloat16")]
    assert len(set(keys)) == 3
    assert keys[0] == features_key(inputs, loaded[0], 1)  # as before there was a choice


@pytest.mark.parametrize(
    ("has_amx", "has_vnni", "chosen"),
    [(True, True, "bfloat16"), (False, True, "int8"), (False, False, "float32")],
)
def test_auto_is_what_the_processor_computes_fastest(
    loaded, monkeypatch, has_amx, has_vnni, chosen
):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: has_vnni)
    assert chosen_precision("auto", loaded[0], "cpu") == chosen
    assert chosen_precision("float32", loaded[0], "cpu") == "float32"
    assert chosen_precision("auto", loaded[0], "cuda") == "float32"


def test_other_encoders_stay_in_float32(tmp_path):
    encoder, tokenizer = load_encoder(str(save_tiny_roberta(tmp_path)))
    assert not is_packable(encoder)
    assert chosen_precision("int8", encoder, "cpu") == "float32"
    inputs = SubwordInputs([["aspirin"], ["aspirin"]], tokenizer, window=30, stride=8)
    features = contextual_features(inputs, encoder, layer=1)
    np.testing.assert_array_equal(features[0], features[1])


def test_long_texts_are_read_in_parts(loaded, inputs, monkeypatch):
    whole = contextual_features(inputs, loaded[0], layer=2, dtype=np.float32)
    monkeypatch.setattr(packed, "_ROWS", dict.fromkeys(packed._ROWS, 5))
    packed._made.clear()
    parts = contextual_features(inputs, loaded[0], layer=2, dtype=np.float32)
    packed._made.clear()
    np.testing.assert_allclose(parts, whole, atol=1e-5)
