"""A generated corpus whose true entities are known, and settings that learn it fast."""

import numpy as np

from engine.learning.training_data import TrainingData
from engine.settings import Settings

TYPES = ("Drug", "Disease")
SUFFIXES = {"Drug": ("mab", "olol", "pril", "vir"), "Disease": ("itis", "osis", "emia", "oma")}
PLAIN = ("water", "food", "rest", "help", "advice", "change", "pain relief", "exercise")
PATTERNS = (
    "the patient took {Drug} every day",
    "{Drug} was given for {Disease} at once",
    "signs of {Disease} were seen after surgery",
    "there was no {Disease} in this group",
    "treatment with {Drug} had no effect on {Disease}",
    # The same contexts without a name, so that the context does not reveal the entity.
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


# Cross-entropy learns the labels by heart, wrong negatives too; MAE would ignore some of them.
LEARNING = {
    "loss": "cross_entropy",
    "entity_weight": 3.0,
    "dropout": 0.0,
    "character_dropout": 0.0,  # only their spelling tells the planted names from other words
    "batch_size": 48,
    "epochs": 15,
    "confidence_epochs": 8,
    "learning_rate": 0.02,
    "confidence_learning_rate": 0.01,
}


class Planted:
    """Sentences with their gold, and labels from a dictionary of 40 % of the names."""

    def __init__(self, sentence_count=240, seed=0):
        random = np.random.default_rng(seed)
        names = {name: self._names(name, random) for name in TYPES}
        known = {word for words in names.values() for word in words[:16]}
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

    def labeled_recall(self, probs):
        return float((probs.argmax(axis=1) == self.gold)[self.labels > 0].mean())
