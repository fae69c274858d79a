from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.learning.assembly import make_inputs
from engine.learning.training_data import TrainingData
from engine.network import TokenFeatures, token_features
from engine.settings import Settings

CPU = torch.device("cpu")
SETTINGS = Settings(word_vectors="none")


def features_of(sentences, seed=0):
    labels = np.zeros(sum(map(len, sentences)), np.int16)
    inputs = make_inputs(TrainingData(sentences, labels, ("A",)), SETTINGS, CPU)
    return TokenFeatures(inputs, seed)


def rows_of(sentences, seed=0):
    return torch.cat([rows for _, rows in features_of(sentences, seed).rows()])


def test_every_column_is_standardized_or_constant():
    features = features_of([["Rome", "is", "1996"], ["il-2", "AIDS"], ["aspirin"]])
    rows = torch.cat([rows for _, rows in features.rows()])
    assert rows.shape == (6, features.size)
    plain = rows[:, : -token_features._RANDOM_UNITS - 1]
    deviation = plain.std(dim=0, correction=0)
    assert plain.mean(dim=0).abs().max() < 1e-5
    assert bool(((deviation - 1).abs() < 1e-3).logical_or(deviation == 0).all())
    assert bool((rows[:, -1] == 1).all())


def test_they_do_not_depend_on_how_many_tokens_are_made_at_once(monkeypatch):
    sentences = [["a", "b", "c"], ["d"], [], ["e", "f"]]
    whole = rows_of(sentences)
    monkeypatch.setattr(token_features, "_TOKENS_AT_ONCE", 2)
    assert torch.allclose(rows_of(sentences), whole, atol=1e-6)


def test_a_short_text_keeps_its_rows_and_a_long_one_makes_them_again(monkeypatch):
    features = features_of([["a", "b", "c"], ["d"]])
    (_, first), (_, again) = *features.rows(), *features.rows()
    assert again is first
    monkeypatch.setattr(token_features, "_TOKENS_KEPT", 3)
    features = features_of([["a", "b", "c"], ["d"]])
    (_, first), (_, again) = *features.rows(), *features.rows()
    assert again is not first and torch.equal(again, first)


def test_neighbours_end_at_the_sentence():
    before, after = token_features._neighbours(np.array([0, 2, 2, 3]))
    assert before.tolist() == [-1, 0, -1]
    assert after.tolist() == [1, -1, -1]


def test_words_with_the_same_ending_have_similar_letters():
    words = ["bevacizumab", "rituximab", "surgery"]
    inputs = make_inputs(
        TrainingData([words], np.zeros(3, np.int16), ("A",)), replace(SETTINGS), CPU
    )
    letters = token_features._hashed_ngrams(inputs.characters.numpy(), np.random.default_rng(0))
    alike = torch.nn.functional.cosine_similarity(letters[:1], letters[1:])
    assert alike[0] > alike[1] + 0.1


@pytest.mark.parametrize("sentences", [[], [[]], [[""]], [["東京", "\0"]]])
def test_odd_text_gives_rows_without_nan(sentences):
    features = features_of(sentences)
    rows = [rows for _, rows in features.rows()]
    assert sum(map(len, rows)) == sum(map(len, sentences))
    assert all(bool(part.isfinite().all()) for part in rows)
