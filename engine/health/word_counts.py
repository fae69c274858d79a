"""How often words stand in a text, and in which letter case."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from engine.dictionaries import general_share, is_common_word
from engine.text import Sentence

_EVERYDAY_FACTOR = 3  # a word that the text has more often than this is a word of its subject


class WordCounts:
    """How often words stand in the text, and in which letter case."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.counts: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # away from the first token of a sentence
        self._lower: Counter[str] = Counter()
        # Counter counts tokens faster than a loop, so only distinct ones are looked at one by one.
        tokens = Counter(chain.from_iterable(sentence.tokens for sentence in sentences))
        first = Counter(sentence.tokens[0] for sentence in sentences)
        for token, count in tokens.items():
            word = token.casefold()
            self.counts[word] += count
            self._inside[word] += count - first[token]
            if token == word:
                self._lower[word] += count - first[token]
        self.total = max(self.counts.total(), 1)

    def lower_share(self, word: str) -> float:
        """Return how often the word is in lower case where a sentence does not force a capital."""
        # Two more places with a capital are assumed, so that a few places prove nothing.
        return self._lower[word] / (self._inside[word] + 2)

    def is_everyday(self, word: str) -> bool:
        """Return whether this is an everyday word that the text uses as other texts do.

        A text about strokes has "stroke" far more often than general English: then it is a word of
        the subject. One more is expected of each word, so that a few places prove nothing.
        """
        if not is_common_word(word):
            return False
        expected = general_share(word) * self.total
        return self.counts[word] <= _EVERYDAY_FACTOR * (expected + 1)
