"""Phrases and sentences meet: every place where a dictionary phrase stands in the text.

flashtext holds the phrases. It sees neither the raw text nor the raw phrases, on which its case
folding shifts offsets and its idea of a word is ASCII, but token codes: each distinct token of the
dictionaries is one character, and a space stands between tokens. A phrase of three words is a key
of five characters, so the trie is several times smaller than over the letters, and a match cannot
begin or end inside a token. Its trie is walked here, from every token that begins a phrase, because
its own `extract_keywords` reports only the leftmost longest phrase: nested and overlapping ones,
which other types may need, would take a second walk.
"""

from collections.abc import Sequence
from dataclasses import replace
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
        self._vocabulary: dict[str, str] = {}  # folded token -> code
        self._code_of: dict[str, str] = {}  # token as in the text -> code; grows while scanning
        self._phrase_ids: list[tuple[int, ...]] = [()]  # by leaf; flashtext needs leaves > 0
        self._acronyms: dict[int, set[tuple[str, ...]]] = {}  # phrase id -> its tokens, cased

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
            self._acronyms.setdefault(phrase_id, set()).add(self._with_case(tokens))

    def scan(self, tokens: Sequence[str]) -> list[Found]:
        """Return every phrase that stands in `tokens`, nested and overlapping ones included."""
        known = self._code_of
        codes = [known.get(token) or self._learn_code(token) for token in tokens]
        indices: Sequence[int] = range(len(tokens))
        if self._options.ignore_hyphens and _SKIPPED in codes:
            indices = [i for i, code in enumerate(codes) if code != _SKIPPED]
            codes = [codes[i] for i in indices]
        trie = self._processor.keyword_trie_dict
        found: list[Found] = []
        for k, code in enumerate(codes):
            if code[0] not in trie:
                continue
            for stop, leaf in _phrases_from(trie, codes, k):
                start, end = indices[k], indices[stop - 1] + 1
                if ids := self._allowed(self._phrase_ids[leaf], tokens[start:end]):
                    found.append((start, end, ids))
        return found

    def _allowed(self, phrase_ids: tuple[int, ...], tokens: Sequence[str]) -> tuple[int, ...]:
        """The phrases that may match these very tokens: acronyms only in their own case."""
        if not self._acronyms or self._acronyms.keys().isdisjoint(phrase_ids):
            return phrase_ids
        surface = self._with_case(tokens)
        return tuple(
            i for i in phrase_ids if i not in self._acronyms or surface in self._acronyms[i]
        )

    def _with_case(self, tokens: Sequence[str]) -> tuple[str, ...]:
        folded = (fold(token, self._exact_options) for token in tokens)
        return tuple(token for token in folded if token)

    def _make_code(self, folded: str) -> str:
        code = self._vocabulary.get(folded)
        if code is None:
            code = _code(len(self._vocabulary))
            self._vocabulary[folded] = code
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
) -> list[tuple[str, ...]]:
    """Return the token sequences under which `phrase` is looked for.

    In text that we tokenize, the phrase is tokenized alike. Text that came in tokens may have
    split differently: there the phrase's own spaces count too, and with every option off (strict)
    nothing else does.
    """
    if not tokens_given:
        return [tokenize(phrase)[0]]
    given = tuple(phrase.split())
    if options == MATCH_PRESETS["strict"]:
        return [given]
    ours, _ = tokenize(phrase)
    return [given] if given == ours else [given, ours]


def _code(number: int) -> str:
    digits = chr(_FIRST_CODE + number % _CODES)
    while number >= _CODES:
        number = number // _CODES - 1
        digits = chr(_FIRST_CODE + number % _CODES) + digits
    return digits


def _phrases_from(trie: Any, codes: Sequence[str], start: int) -> list[tuple[int, int]]:
    """(end, leaf) of every phrase that begins at a code of the sentence."""
    node = trie
    ends: list[tuple[int, int]] = []
    for stop in range(start, len(codes)):
        for character in codes[stop]:
            node = node.get(character)
            if node is None:
                return ends
        if _LEAF in node:
            ends.append((stop + 1, node[_LEAF]))
        node = node.get(" ")
        if node is None:
            return ends
    return ends
