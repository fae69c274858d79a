"""The language of a text: detected by its most frequent words, and what follows from it.

Sentence splitting and stop words follow the language in use. It is a context variable, because it
belongs to a whole task (a page of a project, a job, a command) and not to one call.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice

import regex
import stopwordsiso

from engine.settings import ENGLISH, LANGUAGES

_MOST_WORDS = 20_000  # of a text that are looked at
_FEWEST_WORDS = 30  # below them, nothing is decided
_LEAST_SHARE = 0.15  # of the words, from which the stop words of a language decide
_WORD = regex.compile(r"\p{L}+")

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def current_language() -> str:
    """Return the code of the language in use."""
    return _language.get()


def use_language(code: str | None) -> None:
    """Let what follows in this thread use a language; English if it is unknown."""
    _language.set(code if code in LANGUAGES else ENGLISH)


@contextmanager
def in_language(code: str | None) -> Iterator[None]:
    """Use a language inside the block; English if it is unknown."""
    before = _language.get()
    use_language(code)
    try:
        yield
    finally:
        _language.set(before)


def detect_language(texts: Iterable[str]) -> str:
    """Return the code of the language whose stop words make up most of the texts.

    English if the texts are too short to tell, or in a language that we have no stop words of.

    >>> detect_language(["Der Patient hat eine Erkältung und nimmt jeden Tag Aspirin."] * 9)
    'de'
    """
    words = (word for text in texts for word in _WORD.findall(text[:_MOST_WORDS].lower()))
    counts = Counter(islice(words, _MOST_WORDS))
    total = counts.total()
    if total < _FEWEST_WORDS:
        return ENGLISH
    shares = {
        code: sum(count for word, count in counts.items() if word in stop_words(code)) / total
        for code in LANGUAGES
    }
    best = max(shares, key=lambda code: (shares[code], code == ENGLISH))
    return best if shares[best] >= _LEAST_SHARE else ENGLISH


@cache
def stop_words(code: str) -> frozenset[str]:
    """Return the words of a language that have no meaning by themselves, in lower case."""
    return frozenset(stopwordsiso.stopwords(code))
