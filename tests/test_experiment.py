"""The whole path, on a corpus whose truth is known because it was planted."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine import experiment
from engine.device import set_threads
from engine.experiment import (
    TrainingData,
    check_data,
    data_warnings,
    predict_documents,
    probabilities,
    run,
    run_supervised,
)
from engine.settings import Settings
from engine.text import InputError
from engine.tokenization import make_tokenized_document
from tests.test_encoders import save_tiny_bert

TYPES = ("Drug", "Disease")
SUFFIXES = {"Drug": ("mab", "olol", "pril", "vir"), "Disease": ("itis", "osis", "emia", "oma")}
PLAIN = ("water", "food", "rest", "help", "advice", "change", "pain relief", "exercise")
PATTERNS = (
    "the patient took {Drug} every day",
    "{Drug} was given for {Disease} at once",
    "signs of {Disease} were seen after surgery",
    "there was no {Disease} in this group",
    "treatment with {Drug} had no effect on {Disease}",
    # The same places without a name: what stands around a word does not give it away.
    "the patient took {plain} every day",
    "signs of {plain} were seen after surgery",
    "there was no {plain} in this group",
    "all of them went home after two weeks and came back later",
    "{plain} was given for {plain} at once",
)
SMALL = Settings(
    word_vectors="none",
    hidden_size=16,
    character_size=16,
    dropout=0.2,
    batch_size=16,
    epochs=2,
    confidence_epochs=2,
    learning_rate=0.01,
    confidence_learning_rate=0.005,
)


class Planted:
    """Sentences with their gold, and labels from a dictionary of 40 % of the names."""

    def __init__(self, sentence_count=240, seed=0):
        random = np.random.default_rng(seed)
        names = {name: self._names(name, random) for name in TYPES}
        known = {word for of in names.values() for word in of[:16]}
        self.sentences, gold, labels = [], [], []
        for _ in range(sentence_count):
            pattern = PATTERNS[random.integers(len(PATTERNS))]
            tokens = []
            for word in pattern.split():
                name = word.strip("{}")
                if name in TYPES:
                    token = names[name][random.integers(40)]
                    tokens.append(token)
                    gold.append(TYPES.index(name) + 1)
                    labels.append(gold[-1] if token in known else 0)
                    continue
                words = PLAIN[random.integers(len(PLAIN))].split() if name == "plain" else [word]
                tokens += words
                gold += [0] * len(words)
                labels += [0] * len(words)
            self.sentences.append(tokens)
        self.gold = np.array(gold, np.int16)
        self.labels = np.array(labels, np.int16)
        self.known = known
        self.names = names
        self.data = TrainingData(self.sentences, self.labels, TYPES)
        self.priors = np.bincount(self.gold, minlength=3) / len(self.gold)

    @staticmethod
    def _names(entity_type, random):
        def stem():
            return "".join(
                random.choice(list("bdfgklnrtz")) + random.choice(list("aeiou")) for _ in range(3)
            )

        return [f"{stem()}{random.choice(SUFFIXES[entity_type])}" for _ in range(40)]

    def hidden_recall(self, probs):
        """Return the share of names outside the dictionary that get their own type."""
        is_hidden = (self.gold > 0) & (self.labels == 0)
        return float((probs.argmax(axis=1) == self.gold)[is_hidden].mean())


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    set_threads(1)
    yield
    set_threads(before)


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def small():
    """A corpus for tests of how a run goes, not of what it learns."""
    return Planted(sentence_count=60)


def settings_for(method, **changes):
    return replace(SMALL, method=method, **changes)


def test_planted_dictionary_leaves_most_entity_tokens_unlabeled(planted):
    unlabeled = (planted.labels[planted.gold > 0] == 0).mean()
    assert 0.5 < unlabeled < 0.7
    assert (planted.gold[planted.labels > 0] == planted.labels[planted.labels > 0]).all()


def test_conf_mpu_finds_the_names_that_mpn_gives_up(planted):
    recalls = {}
    for method in ("mpn", "conf_mpu"):
        settings = settings_for(method, epochs=20, confidence_epochs=8, entity_weight=3.0)
        recalls[method] = [
            planted.hidden_recall(
                probabilities(
                    run(planted.data, planted.priors, replace(settings, seed=seed)),
                    planted.sentences,
                )
            )
            for seed in range(3)
        ]
    means = {method: np.mean(of) for method, of in recalls.items()}
    assert means["conf_mpu"] > 0.5, recalls
    assert means["conf_mpu"] > means["mpn"] + 0.2, recalls
