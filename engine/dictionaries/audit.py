"""Find phrases in dictionaries that are likely to cause wrong matches, before any matching.

Only phrases that can match are audited: no muted phrases, and no disabled dictionaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import pandas as pd

from engine.dictionaries.folding import singular
from engine.dictionaries.model import Dictionary, active_phrases
from engine.dictionaries.patterns import is_pattern
from engine.settings import ENGLISH
from engine.text import current_language, stop_words, tokenize

_VERY_SHORT_CHARACTERS = 2
_SHORT_CHARACTERS = 3
_LONG_TOKENS = 12
_FIRST_SHARE = 0.1  # of general text: how much its most frequent word makes up
_RANKED_WORDS = 20_000  # an everyday word without a rank is rarer than these
_GERMAN = "de"
_IN_TWO_TYPES = "in two types"


@dataclass(frozen=True, slots=True)
class Audit:
    """What to know about the dictionaries; a list within a cell is written "a; b"."""

    summary: pd.DataFrame  # one row per dictionary
    two_types: pd.DataFrame  # one row per phrase with several types
    suspicious: pd.DataFrame  # one row per phrase with a flag


def audit_dictionaries(dictionaries: Sequence[Dictionary]) -> Audit:
    """Return the summary, the phrases under two types and the suspicious phrases."""
    two_types = _two_types(dictionaries)
    suspicious = _suspicious(dictionaries, two_types)
    return Audit(_summary(dictionaries, suspicious), _two_types_table(two_types), suspicious)


def phrase_flags(text: str) -> tuple[str, ...]:
    """Return why a phrase may match words that mean something else, judged by itself.

    >>> phrase_flags("it"), phrase_flags("lead"), phrase_flags("aspirin")
    (('stop word', 'very short'), ('common word',), ())
    """
    if is_pattern(text):
        return ()
    # German nouns have a capital. Elsewhere a capital tells the name "Lead" from the word "lead".
    word = text.lower() if current_language() == _GERMAN and not text.isupper() else text
    checks = (
        ("stop word", is_stop_phrase(text)),
        ("very short", len(text) <= _VERY_SHORT_CHARACTERS),
        ("short", len(text) == _SHORT_CHARACTERS),
        # The list has single words only, so most phrases need no lookup.
        ("common word", " " not in word and is_common_word(word) and not is_stop_word(word)),
        ("number", not any(map(str.isalpha, text))),
        ("long", _is_long(text)),
    )
    return tuple(flag for flag, is_raised in checks if is_raised)


def is_stop_word(word: str) -> bool:
    """Return whether a lower-case word has no meaning by itself (the, of, it).

    The language in use counts; see `engine.text.language`.
    """
    code = current_language()
    return word in (_words("stop_words") if code == ENGLISH else stop_words(code))


def is_common_word(word: str) -> bool:
    """Return whether a lower-case word is an everyday word of the language in use.

    Inflected forms count: in English by their endings, elsewhere because the lists hold the
    frequent ones.

    >>> [is_common_word(word) for word in ("patients", "received", "dosing", "warfarin")]
    [True, True, True, False]
    """
    code = current_language()
    return _is_common_in_english(word) if code == ENGLISH else _is_common_in(code, word)


@lru_cache(maxsize=100_000)
def _is_common_in_english(word: str) -> bool:
    forms = (word, singular(word), *_without_ending(word))
    known = _words("common_words"), _words("stop_words")
    return any(form in words for form in forms for words in known)


@lru_cache(maxsize=100_000)
def _is_common_in(code: str, word: str) -> bool:
    return word in stop_words(code) or any(form in _ranks(code) for form in _listed_forms(word))


def is_unit(text: str) -> bool:
    """Return whether this is a unit of measurement; letter case counts.

    >>> is_unit("mg"), is_unit("Mg")
    (True, False)
    """
    return text in _words("units")


def general_share(word: str) -> float:
    """Return how much of general text a lower-case everyday word makes up; 0 if it is none.

    The language in use counts. Frequencies fall with the rank (Zipf's law), and the first word has
    about a tenth of all. wordlists/README.md says where the ranks are from.

    >>> general_share("lead") > general_share("stroke") > general_share("warfarin")
    True
    """
    code = current_language()
    is_english = code == ENGLISH
    forms = (word, singular(word), *_without_ending(word)) if is_english else _listed_forms(word)
    ranks = _ranks(code)
    known = [ranks[form] for form in forms if form in ranks]
    if known:
        return _FIRST_SHARE / min(known)
    return _FIRST_SHARE / _RANKED_WORDS if is_common_word(word) else 0.0


def _listed_forms(word: str) -> tuple[str, str]:
    """Return the forms of a word to look for in the list of a language that is not English.

    The lists have "strasse" for "straße". Phrases come without an English plural's ending, which
    leaves "temp" of the French "temps".
    """
    folded = word.replace("ß", "ss")
    return folded, f"{folded}s"


def _without_ending(word: str) -> list[str]:
    """Return possible stems of a verb or adverb: "receiv" and "receive" for "received"."""
    stems = [word.removesuffix(ending) for ending in ("ed", "ing", "ly") if word.endswith(ending)]
    doubled = [stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]]
    return [*stems, *doubled, *(f"{stem}e" for stem in stems)]


@cache
def _ranks(code: str) -> dict[str, int]:
    name = "word_ranks" if code == ENGLISH else f"everyday_{code}"
    path = Path(__file__).parent / "wordlists" / f"{name}.txt"
    pairs = map(str.split, path.read_text(encoding="utf-8").splitlines())
    return {word: int(rank) for word, rank in pairs}


@cache
def _words(name: str) -> frozenset[str]:
    path = Path(__file__).parent / "wordlists" / f"{name}.txt"
    return frozenset(path.read_text(encoding="utf-8").split())


def _is_long(text: str) -> bool:
    if len(text) <= _LONG_TOKENS:
        return False
    # Most phrases are plain words; counting their spaces is ten times as fast as tokenizing.
    if text.isascii() and text.replace(" ", "").isalnum():
        return text.count(" ") >= _LONG_TOKENS
    return len(tokenize(text)[0]) > _LONG_TOKENS


def is_stop_phrase(text: str) -> bool:
    """Return whether all words are stop words; "IT" and "WHO" in capitals are not."""
    if text.isupper() and len(text) > 1:
        return False
    words = text.lower().split()
    return bool(words) and all(map(is_stop_word, words))


@dataclass(slots=True)
class _Listed:
    """Where one phrase is listed, in any case."""

    texts: set[str]
    types: set[str]
    dictionaries: set[str]


def _two_types(dictionaries: Sequence[Dictionary]) -> dict[str, _Listed]:
    """Return the phrases with more than one type, by their folded text."""
    first_type: dict[str, str] = {}
    ambiguous: dict[str, _Listed] = {}
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            key = phrase.text.casefold()
            if first_type.setdefault(key, phrase.entity_type) != phrase.entity_type:
                ambiguous.setdefault(key, _Listed(set(), set(), set()))
    if not ambiguous:
        return ambiguous
    # A second pass, so that only these few phrases need sets, not a million others.
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            if listed := ambiguous.get(phrase.text.casefold()):
                listed.texts.add(phrase.text)
                listed.types.add(phrase.entity_type)
                listed.dictionaries.add(dictionary.name)
    return ambiguous


def _two_types_table(ambiguous: dict[str, _Listed]) -> pd.DataFrame:
    rows = [
        (min(listed.texts), "; ".join(sorted(listed.types)), "; ".join(sorted(listed.dictionaries)))
        for _, listed in sorted(ambiguous.items())
    ]
    return pd.DataFrame(rows, columns=["phrase", "types", "dictionaries"])


def _suspicious(dictionaries: Sequence[Dictionary], two_types: dict[str, _Listed]) -> pd.DataFrame:
    rows = []
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            flags = phrase_flags(phrase.text)
            if phrase.text.casefold() in two_types:
                flags = (*flags, _IN_TWO_TYPES)
            if flags:
                rows.append((phrase.text, phrase.entity_type, dictionary.name, "; ".join(flags)))
    return pd.DataFrame(rows, columns=["phrase", "entity_type", "dictionary", "flags"])


def _summary(dictionaries: Sequence[Dictionary], suspicious: pd.DataFrame) -> pd.DataFrame:
    flagged = suspicious["dictionary"].value_counts()
    rows = [
        {
            "name": dictionary.name,
            "types": "; ".join(dictionary.types),
            "phrases": len(dictionary.phrases),
            "enabled": dictionary.is_enabled,
            "muted": sum((p.text, p.entity_type) in dictionary.muted for p in dictionary.phrases),
            "priority": dictionary.priority,
            "flagged": int(flagged.get(dictionary.name, 0)),
            "fingerprint": dictionary.fingerprint,
        }
        for dictionary in dictionaries
    ]
    columns = ["name", "types", "phrases", "enabled", "muted", "priority", "flagged", "fingerprint"]
    return pd.DataFrame(rows, columns=columns)
