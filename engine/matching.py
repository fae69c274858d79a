"""Phrases and sentences meet: every place where a dictionary phrase stands in the text.

flashtext does the scanning. It sees neither the raw text nor the raw phrases, on which its case
folding shifts offsets and its idea of a word is ASCII, but token codes: each distinct token of the
dictionaries is one character, and a space stands between tokens. A phrase of three words is a key
of five characters, so the trie is several times smaller and the scan several times shorter than
over the letters, and a match cannot begin or end inside a token.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from flashtext import KeywordProcessor

from engine.dictionary import Dictionary, Phrase, active_phrases
from engine.folding import fold, is_acronym
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.tokenization import tokenize

# Codes are characters between these two, all in the two-byte plane and none a surrogate; the
# token after the last one takes two characters, and so on.
_FIRST_CODE, _CODES = 0x100, 0xD700
_UNKNOWN = "\x01"  # a token of no phrase
_SKIPPED = "\x02"  # a token that is passed over
_LEAF = "_keyword_"  # flashtext's own key for "a phrase ends here"


# A phrase in a sentence: start token, end token, and the ids of the phrases with these tokens
# (several when dictionaries or spellings share them).
Found = tuple[int, int, tuple[int, ...]]


class PhraseIndex:
    """All phrases that are compared under the same options, in one flashtext processor."""

    def __init__(self, options: MatchOptions) -> None:
        self._options = options
        # What an acronym is compared in: everything folded but its case.
        self._exact_options = replace(options, ignore_case=False)
        self._processor = KeywordProcessor(case_sensitive=True)
        self._processor.non_word_boundaries = {_UNKNOWN}
        self._vocabulary: dict[str, str] = {}  # folded token -> code
        self._code_of: dict[str, str] = {}  # token as in the text -> code; grows while scanning
        self._phrase_ids: list[tuple[int, ...]] = [()]  # by leaf; flashtext needs leaves > 0
        self._acronyms: dict[int, tuple[str, ...]] = {}  # phrase id -> tokens with their case

    def add(self, phrase: Phrase, phrase_id: int, tokens: Sequence[str]) -> None:
        """Make `phrase` findable as the sequence `tokens`."""
        key = " ".join(
            self._make_code(folded) for token in tokens if (folded := fold(token, self._options))
        )
        if not key:
            return
        leaf = self._processor[key]
        if leaf is None:
            self._processor[key] = len(self._phrase_ids)
            self._phrase_ids.append((phrase_id,))
        elif phrase_id not in self._phrase_ids[leaf]:
            self._phrase_ids[leaf] += (phrase_id,)
        if self._options.ignore_case and is_acronym(
            phrase.text, self._options.exact_acronym_letters
        ):
            self._acronyms[phrase_id] = self._with_case(tokens)

    def scan(self, tokens: Sequence[str]) -> list[Found]:
        """Return every phrase that stands in `tokens`, nested and overlapping ones included."""
        codes = [self._code_of.get(token) or self._learn_code(token) for token in tokens]
        indices: Sequence[int] = range(len(tokens))
        if self._options.ignore_hyphens and _SKIPPED in codes:
            indices = [i for i, code in enumerate(codes) if code != _SKIPPED]
            codes = [codes[i] for i in indices]
        coded = " ".join(codes)
        regions = self._processor.extract_keywords(coded, span_info=True)
        if not regions:
            return []
        starts = _token_starts(codes, len(coded))
        found: list[Found] = []
        # flashtext reports the leftmost longest; what begins inside it is found by walking on.
        for _, region_start, region_end in regions:
            for k in range(bisect_left(starts, region_start), bisect_left(starts, region_end)):
                for char_end, leaf in self._phrases_from(coded, starts[k]):
                    start, end = indices[k], indices[bisect_left(starts, char_end) - 1] + 1
                    if ids := self._allowed(self._phrase_ids[leaf], tokens[start:end]):
                        found.append((start, end, ids))
        return found

    def _phrases_from(self, coded: str, position: int) -> list[tuple[int, int]]:
        """(end, leaf) of every phrase that begins at a character of the coded sentence."""
        node: Any = self._processor.keyword_trie_dict
        ends: list[tuple[int, int]] = []
        for i in range(position, len(coded)):
            char = coded[i]
            if char == " " and _LEAF in node:
                ends.append((i, node[_LEAF]))
            node = node.get(char)
            if node is None:
                return ends
        if _LEAF in node:
            ends.append((len(coded), node[_LEAF]))
        return ends

    def _allowed(self, phrase_ids: tuple[int, ...], tokens: Sequence[str]) -> tuple[int, ...]:
        """The phrases that may match these very tokens: acronyms only in their own case."""
        if self._acronyms.keys().isdisjoint(phrase_ids):
            return phrase_ids
        surface = self._with_case(tokens)
        return tuple(i for i in phrase_ids if self._acronyms.get(i, surface) == surface)

    def _with_case(self, tokens: Sequence[str]) -> tuple[str, ...]:
        folded = (fold(token, self._exact_options) for token in tokens)
        return tuple(token for token in folded if token)

    def _make_code(self, folded: str) -> str:
        code = self._vocabulary.get(folded)
        if code is None:
            code = _code(len(self._vocabulary))
            self._vocabulary[folded] = code
            self._processor.non_word_boundaries.update(code)
        return code

    def _learn_code(self, token: str) -> str:
        folded = fold(token, self._options)
        code = self._vocabulary.get(folded, _UNKNOWN) if folded else _SKIPPED
        self._code_of[token] = code
        return code


class Matcher:
    """Several dictionaries, ready to be found in sentences."""

    def __init__(
        self, dictionaries: Sequence[Dictionary], default: MatchOptions, *, tokens_given: bool
    ) -> None:
        self.phrases: list[Phrase] = []  # by phrase id
        self.dictionary_of: list[int] = []  # phrase id -> index into `dictionaries`
        self._indexes: dict[MatchOptions, PhraseIndex] = {}
        for number, dictionary in enumerate(dictionaries):
            options = dictionary.match or default
            index = self._indexes.setdefault(options, PhraseIndex(options))
            for phrase in active_phrases(dictionary):
                for tokens in phrase_tokens(phrase.text, options, tokens_given=tokens_given):
                    index.add(phrase, len(self.phrases), tokens)
                self.phrases.append(phrase)
                self.dictionary_of.append(number)

    def scan(self, tokens: Sequence[str]) -> list[Found]:
        """Return every phrase of every dictionary that stands in `tokens`."""
        if len(self._indexes) == 1:
            return next(iter(self._indexes.values())).scan(tokens)
        return [found for index in self._indexes.values() for found in index.scan(tokens)]


def phrase_tokens(
    phrase: str, options: MatchOptions, *, tokens_given: bool
) -> set[tuple[str, ...]]:
    """Return the token sequences under which `phrase` is looked for.

    In text that we tokenize, the phrase is tokenized alike. Text that came in tokens may have
    split differently: there the phrase's own spaces count too, and with every option off (strict)
    nothing else does.
    """
    ours, _ = tokenize(phrase)
    if not tokens_given:
        return {ours}
    given = tuple(phrase.split())
    return {given} if options == MATCH_PRESETS["strict"] else {given, ours}


def _code(number: int) -> str:
    digits = chr(_FIRST_CODE + number % _CODES)
    while number >= _CODES:
        number = number // _CODES - 1
        digits = chr(_FIRST_CODE + number % _CODES) + digits
    return digits


def _token_starts(codes: Sequence[str], coded_length: int) -> Sequence[int]:
    """Where each token's code begins: every second character, unless some codes are longer."""
    if coded_length == 2 * len(codes) - 1:
        return range(0, coded_length, 2)
    return list(accumulate((len(code) + 1 for code in codes[:-1]), initial=0))
