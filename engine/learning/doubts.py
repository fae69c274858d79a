"""Find phrases of the dictionaries that the text contradicts.

A dictionary may list everyday words ("the", "in") or give a phrase the wrong type. Models that have
not seen a phrase's words judge its matches (see `linear`). Two kinds of doubt are sure enough to
act on: an everyday word whose places look no more like an entity than unlabeled text does, and a
phrase that clearly looks like another type. Neither needs human labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import is_common_word, is_stop_word
from engine.labels import DistantLabels, DoubtfulPhrase
from engine.learning.assembly import make_inputs
from engine.learning.linear import entity_scores, linear_types, number_words, shared_by_spelling
from engine.learning.training_data import TrainingData
from engine.network import Stopped, TokenFeatures, WordInputs, choose_device
from engine.planning import FEW_WORDS, labeled_words, likely_share
from engine.settings import MOST_LIKELY, Settings

_ORDINARY = 0.9  # share of the unlabeled tokens that an everyday word must be ahead of
_MOSTLY = 0.5  # share of its tokens in capitals from which a match is an abbreviation
_CLEARLY = 0.5  # mean margin by which another type is ahead
_ROUNDS = 3
_PASSES = 2  # the second one learns without what the first one doubted
_FEW_DOUBTED = 0.01  # share of the labeled tokens; with fewer, there is no second pass

_Floats = npt.NDArray[np.float32]
_Flags = npt.NDArray[np.bool_]
_Labels = npt.NDArray[np.int16]


def find_doubtful_phrases(
    data: TrainingData,
    labels: DistantLabels,
    entity_prior: float,
    settings: Settings,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[DoubtfulPhrase, ...]:
    """Return the phrases that the text contradicts, those with most matches first.

    A type never loses all of its matches. Raises Stopped if `should_stop` says so.
    """
    if not len(labels.kept):
        return ()
    spans = _Spans(labels)
    # A linear model sees no lexicon bits: they equal the labels.
    bare = replace(data, lexicon=None)
    inputs = make_inputs(bare, replace(settings, encoder="bilstm"), choose_device())
    assert isinstance(inputs, WordInputs)
    features = TokenFeatures(inputs, settings.seed)
    has_many_words = labeled_words(data.sentences, data.labels) >= FEW_WORDS
    is_everyday = np.array([_is_everyday(text) for text in labels.phrases["phrase"]], bool)
    is_everyday &= spans.mean(_in_capitals(data.sentences)) < _MOSTLY
    judged, looks_like = data.labels, np.zeros(len(spans.token_counts), np.int16)
    is_doubted = np.zeros(len(spans.token_counts), bool)
    for _ in range(_PASSES):
        if should_stop and should_stop():
            raise Stopped
        prior = entity_prior * (judged > 0).sum() / max((data.labels > 0).sum(), 1)
        scores = _scores(data, features, judged, float(prior), settings)
        ordinary = np.quantile(scores[judged == 0], _ORDINARY) if (judged == 0).any() else 0
        is_doubted = is_everyday & (spans.mean(scores) < ordinary)
        looks_like[:] = 0
        if has_many_words:
            other, margins = _other_types(data, spans, inputs, judged, settings)
            is_other = ~is_doubted & (margins > _CLEARLY)
            looks_like[is_other] = other[is_other]
            is_doubted |= is_other
        is_doubted &= spans.token_counts > 0
        _spare_whole_types(is_doubted, labels)
        in_doubt = spans.tokens_of(is_doubted)
        judged = np.where(in_doubt, np.int16(0), data.labels)
        if in_doubt.sum() < _FEW_DOUBTED * (data.labels > 0).sum():
            break
    rows = np.flatnonzero(is_doubted)
    table = labels.phrases.iloc[rows]
    doubtful = [
        DoubtfulPhrase(text, name, int(spans.match_counts[i]), ("", *data.types)[looks_like[i]])
        for i, text, name in zip(rows, table["phrase"], table["entity_type"], strict=True)
    ]
    return tuple(sorted(doubtful, key=lambda phrase: (-phrase.match_count, phrase.phrase)))


class _Spans:
    """The kept matches as ranges of token numbers, grouped by phrase.

    Phrases that differ only in writing share their matches.
    """

    def __init__(self, labels: DistantLabels) -> None:
        kept = labels.kept
        also = labels.also[labels.also["match"].isin(kept.index)]
        rows = pd.concat([kept, kept.loc[also["match"]].assign(phrase=also["phrase"].to_numpy())])
        first = labels.bounds[rows["sentence"].to_numpy()]
        self.starts = first + rows["start"].to_numpy()
        self.ends = first + rows["end"].to_numpy()
        self.phrases = rows["phrase"].to_numpy()
        self.token_total = int(labels.bounds[-1])
        count = len(labels.phrases)
        self.match_counts = np.bincount(self.phrases, minlength=count)
        self.token_counts = np.bincount(self.phrases, self.ends - self.starts, count)

    def mean(self, values: _Floats | _Flags) -> npt.NDArray[np.float64]:
        """Return the mean over the tokens of each phrase's matches; 0 without a match."""
        running = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        sums = running[self.ends] - running[self.starts]
        totals = np.bincount(self.phrases, sums, len(self.token_counts))
        means: npt.NDArray[np.float64] = totals / np.maximum(self.token_counts, 1)
        return means

    def tokens_of(self, is_chosen: _Flags) -> _Flags:
        """Return which tokens the matches of the chosen phrases cover."""
        chosen = is_chosen[self.phrases]
        steps = np.zeros(self.token_total + 1, np.int64)
        np.add.at(steps, self.starts[chosen], 1)
        np.add.at(steps, self.ends[chosen], -1)
        covered: _Flags = np.cumsum(steps)[:-1] > 0
        return covered


def _is_everyday(phrase: str) -> bool:
    """Return whether the phrase is one common word, or stop words alone.

    Terms are often made of common words ("heart disease"), so longer phrases are spared.
    """
    words = phrase.casefold().split()
    return (len(words) == 1 and is_common_word(words[0])) or all(map(is_stop_word, words))


def _in_capitals(sentences: Sequence[Sequence[str]]) -> _Flags:
    """Return which tokens are written in capitals, as "HIT" is, which is no everyday word."""
    tokens = (len(token) > 1 and token.isupper() for tokens in sentences for token in tokens)
    return np.fromiter(tokens, bool)


def _scores(
    data: TrainingData, features: TokenFeatures, judged: _Labels, prior: float, settings: Settings
) -> _Floats:
    """Return how much each token looks like an entity, shared by tokens of one spelling."""
    open_tokens = np.flatnonzero(judged == 0)
    share = min(likely_share(judged, prior), MOST_LIKELY)
    scores = entity_scores(
        features,
        number_words(data.sentences, is_folded=True),
        judged > 0,
        open_tokens,
        round(share * len(open_tokens)),
        seed=settings.seed,
        rounds=_ROUNDS,
    )
    return shared_by_spelling(scores, data.sentences)


def _other_types(
    data: TrainingData, spans: _Spans, inputs: WordInputs, judged: _Labels, settings: Settings
) -> tuple[_Labels, npt.NDArray[np.float64]]:
    """Return, for each phrase, the type its matches look like most and by how much it is ahead."""
    guess = linear_types(data.sentences, inputs, judged, len(data.types), settings)
    is_other = guess.types != data.labels
    margins = spans.mean(guess.margins * is_other)
    votes = [spans.mean((guess.types == i) & is_other) for i in range(1, len(data.types) + 1)]
    return (np.argmax(votes, axis=0) + 1).astype(np.int16), margins


def _spare_whole_types(is_doubted: _Flags, labels: DistantLabels) -> None:
    """Take back the doubts about a type if nothing else of it would be left."""
    kept_phrases = np.unique(labels.kept["phrase"])
    types = labels.phrases["entity_type"].to_numpy()
    for name in set(types[kept_phrases]):
        of_type = kept_phrases[types[kept_phrases] == name]
        if is_doubted[of_type].all():
            is_doubted[of_type] = False
