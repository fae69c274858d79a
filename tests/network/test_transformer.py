import os
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save
from transformers import AlbertConfig, AlbertModel

from engine.network import device
from engine.network.encoders import load_encoder
from engine.network.subwords import SubwordInputs, pool
from engine.network.transformer import (
    Stopped,
    TransformerTagger,
    cached_features,
    contextual_features,
    features_key,
)
from tests.support.tiny_encoders import save_tiny_bert, save_tiny_roberta

WORDS = ["aspirin", "induced", "hypotension", "in", "patients", "COX-2", "naïve", "\u200b"]
RANDOM = np.random.default_rng(0)
SENTENCES = [[str(w) for w in RANDOM.choice(WORDS, size=n)] for n in (3, 40, 1, 12, 0, 7, 5)]


@pytest.fixture(scope="module", params=[save_tiny_bert, save_tiny_roberta])
def loaded(request, tmp_path_factory):
    return load_encoder(str(request.param(tmp_path_factory.mktemp("encoder"))))


@pytest.fixture(scope="module")
def encoder(loaded):
    return loaded[0]


@pytest.fixture(scope="module")
def inputs(loaded):
    return SubwordInputs(SENTENCES, loaded[1], window=30, stride=8)


def tagger_of(encoder):
    torch.manual_seed(1)
    return TransformerTagger(encoder, classes=3, dropout=0.5).eval()


@given(chosen=st.lists(st.integers(0, len(SENTENCES) - 1), min_size=1, unique=True))
def test_batch_composition_never_changes_a_sentences_logits(encoder, inputs, chosen):
    tagger = tagger_of(encoder)
    with torch.no_grad():
        together = tagger(inputs.batch(chosen))
        alone = torch.cat([tagger(inputs.batch([i])) for i in chosen])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_logits_have_a_row_for_each_token_and_a_column_for_each_class(encoder, inputs):
    logits = tagger_of(encoder)(inputs.batch([1, 0]))
    assert logits.shape == (43, 3)


def test_logits_of_a_batch_without_tokens_are_empty(encoder, inputs):
    assert tagger_of(encoder)(inputs.batch([4])).shape == (0, 3)


def test_mixed_precision_changes_logits_little_and_keeps_float32(encoder, inputs, monkeypatch):
    tagger, batch = tagger_of(encoder), inputs.batch([0, 1])
    plain = tagger(batch)
    monkeypatch.setattr(device, "_has_bfloat16", lambda _: True)  # as a GPU would say
    mixed = tagger(batch)
    assert mixed.dtype == torch.float32
    assert not torch.equal(mixed, plain)
    torch.testing.assert_close(mixed, plain, atol=0.05, rtol=0.05)
    mixed.sum().backward()
    gradients = [p.grad for p in tagger.parameters() if p.grad is not None]
    assert gradients and all(g.dtype == torch.float32 and g.isfinite().all() for g in gradients)
    tagger.zero_grad()


@pytest.mark.parametrize(("has_amx", "has_avx"), [(False, False), (True, False), (False, True)])
def test_a_cpu_predicts_in_full_precision_and_trains_in_bfloat16_where_it_is_fast(
    encoder, inputs, monkeypatch, has_amx, has_avx
):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_avx)
    cpu = torch.device("cpu")
    assert isinstance(device.mixed_precision(cpu), nullcontext)
    assert tagger_of(encoder)(inputs.batch([0])).dtype == torch.float32
    is_plain = isinstance(device.mixed_precision(cpu, is_training=True), nullcontext)
    assert is_plain == (not has_amx and not has_avx)


def test_dropout_acts_in_training_only(encoder, inputs):
    tagger, batch = tagger_of(encoder), inputs.batch([0])
    torch.testing.assert_close(tagger(batch), tagger(batch), atol=0, rtol=0)
    tagger.train()
    assert not torch.equal(tagger(batch), tagger(batch))
    tagger.eval()


def test_a_training_step_reaches_the_encoder_and_lowers_the_loss(tmp_path):
    encoder, tokenizer = load_encoder(str(save_tiny_bert(tmp_path)))
    batch = SubwordInputs(SENTENCES, tokenizer, window=30, stride=8).batch([0, 1, 3])
    tagger = tagger_of(encoder)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-2)
    labels = batch.tokens % 2
    losses = []
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(tagger(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert encoder.embeddings.word_embeddings.weight.grad.abs().sum() > 0
    assert losses[-1] < losses[0]


def test_weights_go_through_safetensors_unchanged(tmp_path):
    folder = str(save_tiny_bert(tmp_path))
    (first, tokenizer), (second, _) = load_encoder(folder), load_encoder(folder)
    batch = SubwordInputs(SENTENCES, tokenizer).batch([0])
    trained, fresh = tagger_of(first), TransformerTagger(second, classes=3)
    torch.nn.init.normal_(first.embeddings.word_embeddings.weight)
    fresh.eval().load_state_dict(load(save(trained.state_dict())))
    torch.testing.assert_close(fresh(batch), trained(batch), atol=0, rtol=0)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_contextual_features_equal_the_hidden_states_of_each_sentence(encoder, inputs, layer):
    features = contextual_features(inputs, encoder, layer=layer, batch_tokens=64, dtype=np.float32)
    for i in (0, 1, 2, 3, 5, 6):
        batch = inputs.batch([i])
        with torch.no_grad():
            states = encoder(
                input_ids=batch.input_ids,
                attention_mask=batch.attention_mask,
                output_hidden_states=True,
            ).hidden_states
        expected = pool(states[layer], batch).numpy()
        np.testing.assert_allclose(features[batch.tokens.numpy()], expected, atol=1e-5)


def test_contextual_features_work_where_layers_share_weights(inputs):
    torch.manual_seed(0)
    config = AlbertConfig(
        vocab_size=500, embedding_size=8, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=32,
    )  # fmt: skip
    features = contextual_features(inputs, AlbertModel(config), layer=1)
    assert features.shape == (inputs.token_count, 16)
    assert np.isfinite(features).all()


def test_contextual_features_are_the_same_twice_and_leave_the_mode_alone(encoder, inputs):
    encoder.train()
    first = contextual_features(inputs, encoder, layer=1)
    second = contextual_features(inputs, encoder, layer=1)
    assert encoder.training
    encoder.eval()
    assert first.dtype == np.float16
    np.testing.assert_array_equal(first, second)


def test_contextual_features_refuse_a_layer_that_does_not_exist(encoder, inputs):
    with pytest.raises(ValueError, match="layer must be 0 to 2 for this encoder, got 3"):
        contextual_features(inputs, encoder, layer=3)


def test_cached_features_are_computed_once_and_mapped_after_that(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return np.arange(6, dtype=np.float16).reshape(2, 3)

    first = cached_features(tmp_path / "cache", "key", compute)
    second = cached_features(tmp_path / "cache", "key", compute)
    assert len(calls) == 1
    assert isinstance(first, np.memmap) and isinstance(second, np.memmap)
    np.testing.assert_array_equal(second, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("kept", [0, 20, -3], ids=["empty", "half a header", "rows missing"])
def test_cached_features_are_computed_again_when_the_file_is_damaged(tmp_path, kept):
    cached_features(tmp_path, "key", lambda: np.zeros((2, 3)))
    path = next(tmp_path.glob("*.npy"))
    path.write_bytes(path.read_bytes()[:kept])
    made_again = cached_features(tmp_path, "key", lambda: np.ones((2, 3)))
    np.testing.assert_array_equal(made_again, np.ones((2, 3)))


def test_features_of_the_three_texts_that_were_used_last_are_kept(tmp_path):
    for moment, key in enumerate("abc"):
        cached_features(tmp_path, key, lambda: np.zeros((2, 3)))
        os.utime(tmp_path / f"features-{key}.npy", (moment, moment))
    for key in "ad":  # a is used again, then b is the oldest
        cached_features(tmp_path, key, lambda: np.zeros((2, 3)))
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["features-a.npy", "features-c.npy", "features-d.npy"]


def test_contextual_features_report_progress_and_stop_when_asked(encoder, inputs):
    shares = []
    contextual_features(inputs, encoder, layer=1, batch_tokens=16, on_share=shares.append)
    assert len(shares) > 2 and shares == sorted(shares) and shares[-1] == 1
    with pytest.raises(Stopped):
        contextual_features(
            inputs, encoder, layer=1, batch_tokens=16, on_share=shares.append,
            should_stop=lambda: shares[-1] < 1 and shares[-1] > 0,
        )  # fmt: skip
    assert shares[-1] < 1


def test_features_key_changes_with_layer_text_and_weights(tmp_path):
    encoder, tokenizer = load_encoder(str(save_tiny_bert(tmp_path)))
    inputs = SubwordInputs([["in"]], tokenizer)
    keys = [features_key(inputs, encoder, layer) for layer in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
    assert features_key(SubwordInputs([["with"]], tokenizer), encoder, 1) != keys[0]
    with torch.no_grad():
        encoder.embeddings.word_embeddings.weight[7] += 1
    assert features_key(inputs, encoder, 1) != keys[0]
