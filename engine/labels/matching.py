"""Find every place of the dictionaries' phrases in a text, and how the text spells them there."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from engine.dictionaries import (
    EXACT,
    OTHER_CASE,
    Dictionary,
    Phrase,
    active_phrases,
    fold,
    is_acronym,
    is_pattern,
    spelling,
)
from engine.labels.phrase_index import make_index
from engine.labels.vocabulary import IGNORED, UNKNOWN, Entries, Vocabulary, join_entries
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import words

_NOT_AT_ALL = -1  # a spelling in which the phrase does not match

# Where phrases stand in a sentence: start token, end token, and the ids of the phrases with these
# tokens (several if dictionaries or spellings share them).
Occurrence = tuple[int, int, tuple[int, ...]]
# Sentence, start, end (token indices), phrase id and spelling of each place.
PLACE_COLUMNS = ("sentence", "start", "end", "phrase", "spelling")
Rows = npt.NDArray[np.int32]
Bounds = npt.NDArray[np.int64]  # sentence i is tokens[bounds[i]:bounds[i + 1]]


def is_indexed(dictionary: Dictionary, phrase: Phrase) -> bool:
    """Return whether a phrase is looked for by its tokens.

    Patterns are found by `patterns`, and phrases with places of their own by `placed`.
    """
    return dictionary.places is None and not is_pattern(phrase.text)


class Matcher:
    """Finds the phrases of several dictionaries in sentences."""

    def __init__(
        self,
        dictionaries: Sequence[Dictionary],
        default: MatchOptions,
        *,
        tokens_given: bool,
        folding: Collection[str] | None = (),
        tokens: int = 0,
    ) -> None:
        """Index the phrases; `tokens` says how many tokens will be searched.

        `folding` names the types whose adaptive phrases ignore letter case. Those of other types
        match only in their own case or with more capitals: "Japan" matches "JAPAN", never "japan".
        With None, before that is decided, all of them ignore case.
        """
        self.phrases: list[Phrase] = []  # by phrase id
        self.dictionary_of: list[int] = []  # phrase id -> index into `dictionaries`
        self._in_index: list[bool] = []  # by phrase id
        self._dictionaries = dictionaries
        self._options = [dictionary.match or default for dictionary in dictionaries]
        # Made once: every option is checked when it is made.
        self._with_case = [replace(options, ignore_case=False) for options in self._options]
        self._tokens_given = tokens_given
        self._folding = folding
        self._spellings: dict[tuple[int, tuple[str, ...]], int] = {}
        vocabularies: dict[MatchOptions, tuple[Vocabulary, list[Entries]]] = {}
        for number, (dictionary, options) in enumerate(
            zip(dictionaries, self._options, strict=True)
        ):
            active = list(active_phrases(dictionary))
            vocabulary, entries = vocabularies.setdefault(options, (Vocabulary(options), []))
            in_index = [is_indexed(dictionary, phrase) for phrase in active]
            self._in_index += in_index
            # What other modules find has no tokens here.
            texts = [p.text if here else "" for p, here in zip(active, in_index, strict=True)]
            entries += vocabulary.add(texts, len(self.phrases), tokens_given=tokens_given)
            self.phrases += active
            self.dictionary_of += [number] * len(active)
        self._indexes = [
            (vocabulary, make_index(join_entries(entries), tokens))
            for vocabulary, entries in vocabularies.values()
        ]

    def find(self, tokens: Sequence[str], bounds: Bounds) -> Rows:
        """Return one row per place of a phrase in the sentences; see PLACE_COLUMNS."""
        rows = [np.zeros((0, 4), np.int32)]
        for vocabulary, index in self._indexes:
            # A token of no phrase after each sentence keeps phrases from running past its end.
            edges = bounds[:-1] + np.arange(len(bounds) - 1)
            codes = np.full(len(tokens) + len(edges), UNKNOWN, np.int32)
            codes[np.arange(len(tokens)) + np.repeat(np.arange(len(edges)), np.diff(bounds))] = (
                vocabulary.codes(tokens)
            )
            considered = np.flatnonzero(codes != IGNORED)
            starts, ends, phrase_ids = index.find(codes[considered])
            starts, ends = considered[starts], considered[ends - 1] + 1
            sentence = np.searchsorted(edges, starts, side="right") - 1
            first = edges[sentence]
            columns = (sentence, starts - first, ends - first, phrase_ids)
            rows.append(np.column_stack(columns).astype(np.int32))
        places = np.concatenate(rows)
        spelled = self._spelled(places, tokens, bounds)
        matches: Rows = np.column_stack([places, spelled])[spelled != _NOT_AT_ALL]
        return matches

    def scan(self, tokens: Sequence[str]) -> list[Occurrence]:
        """Return every occurrence of a phrase in one sentence, by start and end."""
        places: dict[tuple[int, int], list[int]] = {}
        for _, start, end, phrase_id, _ in self.find(tokens, np.array([0, len(tokens)])).tolist():
            places.setdefault((start, end), []).append(phrase_id)
        return [(*place, tuple(sorted(ids))) for place, ids in sorted(places.items())]

    def is_adaptive(self, phrase_id: int) -> bool:
        """Return whether the text decides on the letter case of a phrase."""
        options = self._options[self.dictionary_of[phrase_id]]
        return options.is_adaptive and self._in_index[phrase_id]

    def adaptive_phrases(self) -> npt.NDArray[np.bool_]:
        """Return for each phrase whether the text decides on its letter case."""
        by_dictionary = np.array([options.is_adaptive for options in self._options], bool)
        numbers = np.array(self.dictionary_of, np.intp)
        is_adaptive: npt.NDArray[np.bool_] = by_dictionary[numbers] & np.array(self._in_index, bool)
        return is_adaptive

    # ---- how the text spells a phrase -------------------------------------------------------

    def _spelled(self, places: Rows, tokens: Sequence[str], bounds: Bounds) -> Rows:
        """Return how the text spells the phrase at each place; see `_spelling`."""
        spelled = np.full(len(places), EXACT, np.int32)
        ids, number = np.unique(places[:, 3], return_inverse=True)
        depends = np.fromiter(map(self._depends_on_case, ids.tolist()), bool, len(ids))
        rows = np.flatnonzero(depends[number])
        known = self._spellings
        sentence, start, end, phrase = places[rows].T
        first = bounds[sentence]
        for row, phrase_id, at, to in zip(
            rows.tolist(),
            phrase.tolist(),
            (first + start).tolist(),
            (first + end).tolist(),
            strict=True,
        ):
            surface = tuple(tokens[at:to])
            value = known.get((phrase_id, surface))
            if value is None:
                value = known[phrase_id, surface] = self._spelling(phrase_id, surface)
            if value:
                spelled[row] = value
        return spelled

    def _depends_on_case(self, phrase_id: int) -> bool:
        options = self._options[self.dictionary_of[phrase_id]]
        return options.is_adaptive or self._is_cased(phrase_id)

    def _is_cased(self, phrase_id: int) -> bool:
        """Return whether a phrase matches only in its own case although others ignore it."""
        number = self.dictionary_of[phrase_id]
        options, phrase = self._options[number], self.phrases[phrase_id]
        return options.ignore_case and (
            (phrase.text, phrase.entity_type) in self._dictionaries[number].as_written
            or is_acronym(phrase.text, options.exact_acronym_letters)
        )

    def _spelling(self, phrase_id: int, surface: tuple[str, ...]) -> int:
        """Return how these tokens, at which the phrase was found, spell it; see `spelling`.

        Other than in adaptive dictionaries, any spelling that matches counts as exact.
        """
        number = self.dictionary_of[phrase_id]
        options, with_case = self._options[number], self._with_case[number]
        phrase = self.phrases[phrase_id]
        if self._is_cased(phrase_id):
            forms = phrase_tokens(phrase.text, options, tokens_given=self._tokens_given)
            wanted = {folded_tokens(form, with_case) for form in forms}
            if folded_tokens(surface, with_case) not in wanted:
                return _NOT_AT_ALL
        if not options.is_adaptive:
            return EXACT
        text, written = phrase.text, " ".join(surface)
        if text.lower() == written.lower():  # the usual case
            spelled = spelling(text, written)
        else:
            forms = phrase_tokens(text, options, tokens_given=self._tokens_given)
            written = "".join(folded_tokens(surface, with_case))
            spelled = min(
                spelling("".join(folded_tokens(form, with_case)), written) for form in forms
            )
        is_decided = self._folding is not None and phrase.entity_type not in self._folding
        return _NOT_AT_ALL if is_decided and spelled == OTHER_CASE else spelled


def folded_tokens(tokens: Iterable[str], options: MatchOptions) -> tuple[str, ...]:
    """Return the tokens as they are compared, without those that are ignored."""
    folded = (fold(token, options) for token in tokens)
    return tuple(token for token in folded if token)


def phrase_tokens(
    phrase: str, options: MatchOptions, *, tokens_given: bool
) -> list[tuple[str, ...]]:
    """Return the token sequences to look for.

    In text that we tokenize, the phrase is tokenized in the same way. Text that came as tokens may
    be split differently: there we also split the phrase at its spaces, and with every option off
    (strict) only there.
    """
    if not tokens_given:
        return [tuple(words(phrase))]
    given = tuple(phrase.split())
    if options == MATCH_PRESETS["strict"]:
        return [given]
    ours = tuple(words(phrase))
    return [given] if given == ours else [given, ours]
