"""Fold tokens to the form in which phrases and text are compared."""

import unicodedata

import regex

from engine.settings import MatchOptions

_HYPHENS = frozenset("-‐‑‒–—―−﹣－")
_INVISIBLE = regex.compile(r"\p{Cf}")
_SIBILANT_PLURALS = ("ches", "shes", "sses", "xes", "tzes", "zzes")
_ACHES = regex.compile(r"(?<![eo])aches$")  # "headaches", but not "beaches" and "approaches"
_NOT_PLURALS = ("ss", "us", "is")


def fold(token: str, options: MatchOptions) -> str:
    """Return the token in the form that is compared; "" if it is ignored (a hyphen).

    >>> from engine.settings import MATCH_PRESETS
    >>> [fold(t, MATCH_PRESETS["loose"]) for t in ("Sjögren", "Tumors", "-")]
    ['sjogren', 'tumor', '']
    """
    if options.ignore_hyphens and token in _HYPHENS:
        return ""
    if options.ignore_unicode_form and not token.isascii():
        token = unicodedata.normalize("NFKC", _INVISIBLE.sub("", token) or token)
    if options.ignore_accents and not token.isascii():
        token = without_accents(token)
    if options.ignore_case:
        token = token.casefold()
        if options.ignore_unicode_form and not token.isascii():
            token = unicodedata.normalize("NFKC", token)  # folding can decompose letters
    if options.ignore_plurals:
        token = singular(token)
    return token


def without_accents(token: str) -> str:
    """Return `token` without its combining marks, unless it is made of nothing else."""
    parts = unicodedata.normalize("NFD", token)
    kept = "".join(c for c in parts if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", kept) or token


def singular(token: str) -> str:
    """Return an English plural without its ending, by spelling alone.

    >>> [singular(t) for t in ("tumors", "biopsies", "rashes", "virus", "gas")]
    ['tumor', 'biopsy', 'rash', 'virus', 'gas']
    """
    if len(token) < 4 or not token.endswith("s") or token.endswith(_NOT_PLURALS):
        return token
    if token.endswith("ies") and len(token) > 4:
        return token[:-3] + "y"
    if token.endswith(_SIBILANT_PLURALS) and not _ACHES.search(token):
        return token[:-2]
    return token[:-1]


EXACT, MORE_CAPITALS, OTHER_CASE = range(3)  # how the text spells a phrase


def spelling(phrase: str, text: str) -> int:
    """Return how the text spells a phrase; they differ in letter case at most.

    >>> [spelling("Sri Lanka", text) for text in ("Sri Lanka", "SRI Lanka", "sri LANKA")]
    [0, 1, 2]
    """
    if phrase == text:
        return EXACT
    if len(phrase) != len(text):  # "ß" and "SS", or a plural that is cut in lower case only
        is_raised = text.isupper()
    else:
        is_raised = all(b.isupper() for a, b in zip(phrase, text, strict=True) if a.isupper())
    return MORE_CAPITALS if is_raised else OTHER_CASE


def begins_lower(text: str) -> bool | None:
    """Return whether the first letter is lower case; None without upper and lower case.

    >>> [begins_lower(text) for text in ("5-fluorouracil", "Paris", "東京")]
    [True, False, None]
    """
    first = text[:1]  # nearly always a letter
    if first.islower() or first.isupper():
        return first.islower()
    return next((c.islower() for c in text if c.islower() or c.isupper()), None)


def is_acronym(phrase: str, longest: int) -> bool:
    """Return whether `phrase` is all capitals with at most `longest` letters.

    >>> is_acronym("IL-2", 4), is_acronym("Aids", 4), is_acronym("2", 4)
    (True, False, False)
    """
    # The usual cases, decided without looking at each letter.
    if phrase.islower() or (phrase.isascii() and not phrase.isupper()):
        return False
    letters = [c for c in phrase if c.isalpha()]
    return 0 < len(letters) <= longest and all(c.isupper() for c in letters)
