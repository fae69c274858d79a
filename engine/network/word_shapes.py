"""Turn words into casing classes and character ids, which also work for unknown words."""

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# The first that fits counts. Casing looks at letters only: "il-2" is all lower.
CASING_CLASSES = (
    "padding",  # no word, or an empty one
    "numeric",  # digits only: "1996"
    "mainly numeric",  # more than half digits: "1,000", "500mg"
    "all lower",  # "aspirin"
    "all upper",  # "AIDS"
    "initial upper",  # "Aspirin", "McDonald"
    "contains digit",  # "mRNA2", "-5"
    "other",  # "mRNA", "(", "東京"
)

# Saved taggers depend on these ids: add new characters only at the end.
_UNKNOWN, _FIRST = 1, 2  # 0 is padding
_ASCII = "".join(map(chr, range(ord(" "), ord("~") + 1)))
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"  # in either case, with or without accents
_ID_OF = {character: _FIRST + i for i, character in enumerate(_ASCII + _GREEK)}
ALPHABET_SIZE = _FIRST + len(_ID_OF)

# Characters that Unicode does not decompose.
_BASES = str.maketrans("ÆæØøÐðÞþßŁłĐđŒœı‐‑‒–—―−‘’‚“”„′", "AaOoDdTtsLlDdOoi-------'''\"\"\"'")


def casing_classes(words: Sequence[str]) -> NDArray[np.int8]:
    """Return the casing class of each word, an index into CASING_CLASSES.

    >>> casing_classes(["1996", "500mg", "in", "AIDS", "Rome"]).tolist()
    [1, 2, 3, 4, 5]
    """
    class_of = {word: _casing_class(word) for word in set(words)}
    return np.fromiter((class_of[word] for word in words), dtype=np.int8, count=len(words))


def _casing_class(word: str) -> int:
    digit_count = sum(character.isdigit() for character in word)
    fits = (
        not word,
        digit_count == len(word),
        2 * digit_count > len(word),
        word.islower(),
        word.isupper(),
        word[:1].isupper(),
        digit_count > 0,
        True,
    )
    return fits.index(True)


def character_ids(words: Sequence[str], longest: int = 30) -> tuple[NDArray[np.int16], int]:
    """Return the characters of each word, (words, longest), and the size of the alphabet.

    The alphabet is fixed: 0 for padding, 1 for an unknown character, then one id per printable
    ASCII character and per Greek letter. Accents are dropped ("é" is "e"). A word longer than
    `longest` is cut in the middle: its beginning and its end are kept.

    >>> character_ids(["ab", "é"], longest=3)[0].tolist() == [[67, 68, 0], [71, 0, 0]]
    True
    """
    if longest < 1:
        raise ValueError(f"longest must be at least 1, got {longest}")
    row_of = {word: row for row, word in enumerate(dict.fromkeys(words))}
    shortened = [_shortened(word, longest) for word in row_of]
    codes = np.array(shortened, dtype=f"U{longest}").view(np.uint32).reshape(-1, longest)
    ids = _id_by_code("".join(shortened))[codes]
    rows = np.fromiter((row_of[word] for word in words), dtype=np.int64, count=len(words))
    return ids[rows], ALPHABET_SIZE


def lower_ids(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return character ids with those of A to Z replaced by those of a to z.

    >>> lower_ids(character_ids(["Ab"], 2)[0]).tolist() == character_ids(["ab"], 2)[0].tolist()
    True
    """
    is_capital = (ids >= _ID_OF["A"]) & (ids <= _ID_OF["Z"])
    return np.where(is_capital, ids + (_ID_OF["a"] - _ID_OF["A"]), ids)


def _shortened(word: str, longest: int) -> str:
    # Composed first, so that both ways to write "é" are one character. NUL would read as padding.
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    if len(word) > longest:
        last = longest // 2
        word = word[: longest - last] + word[len(word) - last :]
    return word.replace("\0", "\ufffd")


def _id_by_code(text: str) -> NDArray[np.int16]:
    """Return a table from code point to id that covers the characters of `text`."""
    characters = set(text)
    table = np.zeros(max(map(ord, characters), default=0) + 1, dtype=np.int16)
    for character in characters:
        table[ord(character)] = _character_id(character)
    return table


def _character_id(character: str) -> int:
    base = unicodedata.normalize("NFKD", character)[0].translate(_BASES)
    return _ID_OF.get(base) or _ID_OF.get(base.casefold()[0], _UNKNOWN)
