"""MiniLM without transformers: the same weights, sub-words and features."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.network.encoders import MINILM, load_encoder, longest_window
from engine.network.minilm import open_plain_minilm
from engine.network.pretrained import encoder_alone
from engine.network.subwords import SubwordInputs
from engine.network.transformer import contextual_features, features_key
from engine.settings import training_settings

ROOT = Path(__file__).parents[2]
SENTENCES = [
    ["Aspirin", "induced", "hypotension", "."],
    ["[SEP]", "[MASK]", "is", "plain", "text", "[UNK]"],
    ["naïve", "αβ", "東京", "😀", "\u200b", "e\u0301", "ﬁ", "İ", "x" * 300],
    [],
    ["word"] * 200,  # several windows
]
# Prints what was imported once features are there.
FEATURES = """
import sys
import torch
from engine.network import context_of, open_pretrained
from engine.settings import training_settings
settings = training_settings("balanced")
cpu = torch.device("cpu")
features = context_of([["Aspirin", "helped"]], settings, cpu, open_pretrained(settings))
print(features.shape, "transformers" in sys.modules)
"""


@pytest.fixture(scope="module")
def whole():
    return load_encoder(MINILM)


def test_weights_are_those_that_transformers_loads(whole):
    ours, theirs = open_plain_minilm()[0].state_dict(), whole[0].state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert longest_window(*open_plain_minilm()) == longest_window(*whole)


def test_features_and_their_key_are_the_same(whole):
    keys, features = [], []
    for encoder, tokenizer in (open_plain_minilm(), whole):
        inputs = SubwordInputs(SENTENCES, tokenizer, window=128, stride=32)
        keys.append(features_key(inputs, encoder, 3))  # of the sub-words and the weights
        features.append(contextual_features(inputs, encoder, layer=3, precision="int8"))
    assert keys[0] == keys[1]
    np.testing.assert_array_equal(*features)


def test_features_need_no_transformers():
    done = subprocess.run(
        [sys.executable, "-c", FEATURES], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "(2, 384) False\n"


def test_a_gpu_and_other_encoders_take_transformers(monkeypatch):
    pretrained = encoder_alone(training_settings("balanced"))
    monkeypatch.setattr(pretrained, "_open_encoder", lambda: ("model", "tokenizer"))
    assert pretrained.frozen_encoder(torch.device("cuda")) == ("model", "tokenizer")
    pretrained = encoder_alone(training_settings("balanced"))
    assert pretrained.frozen_encoder(torch.device("cpu")) == open_plain_minilm()
