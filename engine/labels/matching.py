"""Find every occurrence of the dictionaries' phrases in a sentence.

flashtext holds the phrases in a trie of token codes: each distinct token of the dictionaries is
one character, so a phrase of three words is a key of three letters. On the raw text flashtext's
case folding shifts offsets, its words are ASCII, and its trie is several times larger; on
codes a match cannot begin or end inside a token. We walk the trie ourselves, from every token that
begins a phrase, because `extract_keywords` reports only the leftmost longest phrase: nested and
overlapping ones, which other types may need, would take a second walk.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from flashtext import KeywordProcessor

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
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import InputError, words

# Codes are single characters of the two-byte plane, without surrogates. Beyond the last one, a
# token takes two: a lead that is not a code by itself, so that no code is a prefix of another.
_FIRST_CODE, _CODES = 0x100, 0xCF00
_FIRST_LEAD, _LEADS = 0xD000, 0x800
_UNKNOWN = "\x01"  # a token that is in no phrase
_SKIPPED = "\x02"  # a token that is ignored
_LEAF = "_keyword_"  # flashtext's own key for "a phrase ends here"


# Where phrases stand in a sentence: start token, end token, and the ids of the phrases with these
# tokens (several if dictionaries or spellings share them).
Occurrence = tuple[int, int, tuple[int, ...]]


class PhraseIndex:
    """All phrases that are compared under the same options, in one flashtext processor."""

    def __init__(self, options: MatchOptions) -> None:
        self._options = options
        # Acronyms, and phrases to match as written, are compared with their case, but otherwise
        # folded.
        self._exact_options = replace(options, ignore_case=False)
        self._processor = KeywordProcessor(case_sensitive=True)
        self._vocabulary: dict[str, str] = {}  # folded token -> code
        self._code_of: dict[str, str] = {}  # token as in the text -> code; grows while scanning
        self._phrase_ids: list[tuple[int, ...]] = [()]  # by leaf; flashtext needs leaves > 0
        self._cased: dict[int, set[tuple[str, ...]]] = {}  # phrase id -> its tokens, cased

    def add(
        self, phrase: Phrase, phrase_id: int, tokens: Sequence[str], *, as_written: bool = False
    ) -> None:
        """Add a phrase that is to be found as this sequence of tokens."""
        key = "".join(
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
        if self._options.ignore_case and (
            as_written or is_acronym(phrase.text, self._options.exact_acronym_letters)
        ):
            self._cased.setdefault(phrase_id, set()).add(self._with_case(tokens))

    def scan(self, tokens: Sequence[str]) -> list[Occurrence]:
        """Return every occurrence of a phrase in `tokens`, nested and overlapping ones included."""
        try:
            codes = list(map(self._code_of.__getitem__, tokens))
        except KeyError:
            codes = [self._code_of.get(token) or self._learn_code(token) for token in tokens]
        indices: Sequence[int] = range(len(tokens))
        if self._options.ignore_hyphens and _SKIPPED in codes:
            indices = [i for i, code in enumerate(codes) if code != _SKIPPED]
            codes = [codes[i] for i in indices]
        coded = "".join(codes)
        if len(coded) == len(codes):
            places = self._phrase_ends(coded, range(len(coded)))
        else:
            places = self._phrase_ends_of_long_codes(codes, coded)
        if len(codes) < len(tokens):
            places = [(indices[k], indices[stop - 1] + 1, ids) for k, stop, ids in places]
        if self._cased:
            kept = ((k, stop, self._allowed(ids, tokens[k:stop])) for k, stop, ids in places)
            places = [place for place in kept if place[2]]
        return places

    def _phrase_ends(self, coded: str, starts: Iterable[int]) -> list[Occurrence]:
        """Return the phrases that begin at one of `starts`, counted in characters."""
        trie: Any = self._processor.keyword_trie_dict
        phrase_ids, length = self._phrase_ids, len(coded)
        places: list[Occurrence] = []
        for start in starts:
            node = trie.get(coded[start])
            stop = start + 1
            while node is not None:
                if _LEAF in node:
                    places.append((start, stop, phrase_ids[node[_LEAF]]))
                if stop == length:
                    break
                node = node.get(coded[stop])
                stop += 1
        return places

    def _phrase_ends_of_long_codes(self, codes: Sequence[str], coded: str) -> list[Occurrence]:
        """Return the same, counted in tokens, where some codes are two characters long."""
        starts = list(accumulate(map(len, codes), initial=0))
        token_at = {position: token for token, position in enumerate(starts)}
        places = self._phrase_ends(coded, starts[:-1])
        return [(token_at[start], token_at[end], ids) for start, end, ids in places]

    def _allowed(self, phrase_ids: tuple[int, ...], tokens: Sequence[str]) -> tuple[int, ...]:
        """Return the phrases that may match these tokens, some of them only in their own case."""
        if self._cased.keys().isdisjoint(phrase_ids):
            return phrase_ids
        surface = self._with_case(tokens)
        return tuple(i for i in phrase_ids if i not in self._cased or surface in self._cased[i])

    def _with_case(self, tokens: Sequence[str]) -> tuple[str, ...]:
        return folded_tokens(tokens, self._exact_options)

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
    """Finds the phrases of several dictionaries in sentences."""

    def __init__(
        self,
        dictionaries: Sequence[Dictionary],
        default: MatchOptions,
        *,
        tokens_given: bool,
        folding: Collection[str] | None = (),
    ) -> None:
        """Index the phrases.

        `folding` names the types whose adaptive phrases ignore letter case. Those of other types
        match only in their own case or with more capitals: "Japan" matches "JAPAN", never "japan".
        With None, before that is decided, all of them ignore case.
        """
        self.phrases: list[Phrase] = []  # by phrase id
        self.dictionary_of: list[int] = []  # phrase id -> index into `dictionaries`
        self._options = [dictionary.match or default for dictionary in dictionaries]
        self._tokens_given = tokens_given
        self._patterns: set[int] = set()  # ids of phrases that are not in an index
        self._careful: set[int] = set()  # ids of phrases that match with more capitals only
        self._spellings: dict[tuple[int, tuple[str, ...]], int] = {}
        self._indexes: dict[MatchOptions, PhraseIndex] = {}
        for number, (dictionary, options) in enumerate(
            zip(dictionaries, self._options, strict=True)
        ):
            index = self._indexes.setdefault(options, PhraseIndex(options))
            is_decided = options.is_adaptive and folding is not None
            for phrase in active_phrases(dictionary):
                as_written = (phrase.text, phrase.entity_type) in dictionary.as_written
                # Patterns and phrases with places of their own are found by other modules.
                if is_pattern(phrase.text) or dictionary.places is not None:
                    self._patterns.add(len(self.phrases))
                    self.phrases.append(phrase)
                    self.dictionary_of.append(number)
                    continue
                for tokens in phrase_tokens(phrase.text, options, tokens_given=tokens_given):
                    index.add(phrase, len(self.phrases), tokens, as_written=as_written)
                if is_decided and phrase.entity_type not in (folding or ()):
                    self._careful.add(len(self.phrases))
                self.phrases.append(phrase)
                self.dictionary_of.append(number)

    @property
    def finds_out_of_order(self) -> bool:
        """Return whether `scan` may report a later start before an earlier one."""
        return len(self._indexes) > 1

    def scan(self, tokens: Sequence[str]) -> list[Occurrence]:
        """Return every occurrence of a phrase of any dictionary in `tokens`."""
        places = [place for index in self._indexes.values() for place in index.scan(tokens)]
        if self._careful and places:
            allowed = (
                (k, stop, self._allowed(ids, tuple(tokens[k:stop]))) for k, stop, ids in places
            )
            return [place for place in allowed if place[2]]
        return places

    def is_adaptive(self, phrase_id: int) -> bool:
        """Return whether the text decides on the letter case of a phrase."""
        options = self._options[self.dictionary_of[phrase_id]]
        return options.is_adaptive and phrase_id not in self._patterns

    def spelling(self, phrase_id: int, surface: tuple[str, ...]) -> int:
        """Return how these tokens, at which the phrase was found, spell it; see `spelling`.

        Other than in adaptive dictionaries, any spelling that matches counts as exact.
        """
        known = self._spellings.get((phrase_id, surface))
        if known is None:
            known = self._spellings[phrase_id, surface] = self._spelling(phrase_id, surface)
        return known

    def _spelling(self, phrase_id: int, surface: tuple[str, ...]) -> int:
        options = self._options[self.dictionary_of[phrase_id]]
        if not options.is_adaptive:
            return EXACT
        text, found = self.phrases[phrase_id].text, " ".join(surface)
        if text.lower() == found.lower():  # the usual case
            return spelling(text, found)
        with_case = replace(options, ignore_case=False)
        forms = phrase_tokens(text, options, tokens_given=self._tokens_given)
        found = "".join(folded_tokens(surface, with_case))
        return min(spelling("".join(folded_tokens(form, with_case)), found) for form in forms)

    def _allowed(self, phrase_ids: tuple[int, ...], surface: tuple[str, ...]) -> tuple[int, ...]:
        if self._careful.isdisjoint(phrase_ids):
            return phrase_ids
        return tuple(
            i
            for i in phrase_ids
            if i not in self._careful or self.spelling(i, surface) != OTHER_CASE
        )


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


def _code(number: int) -> str:
    if number < _CODES:
        return chr(_FIRST_CODE + number)
    lead, number = divmod(number - _CODES, _CODES)
    if lead >= _LEADS:
        raise InputError(f"the dictionaries hold more than {_CODES * _LEADS:,} distinct tokens")
    return chr(_FIRST_LEAD + lead) + chr(_FIRST_CODE + number)
