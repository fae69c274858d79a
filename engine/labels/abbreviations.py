"""Find abbreviations where a sentence defines them, by the rule of Schwartz and Hearst (2003).

"atrial fibrillation (AF)" and "AF (atrial fibrillation)" define AF. Read from the right, every
letter and digit of the short form must appear in the long form in this order, and the first one
must begin a word. The shortest such long form counts. Beyond the paper's rule a short form must
hold a capital, or "(see below)" and "(n = 20)" would be candidates, and be no name like "France".
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

_SHORTEST, _LONGEST = 2, 10  # characters of a short form
_MOST_WORDS = 2  # of a short form
_LONGEST_TITLE = 3  # letters of a short form with a capital at its beginning alone
_BREAKS = (",", ";")  # what follows them in the brackets is no part of the definition


class Definition(NamedTuple):
    """Where a sentence defines an abbreviation: token ranges, half-open."""

    short: tuple[int, int]
    long: tuple[int, int]


def find_definitions(tokens: Sequence[str], ends: Container[int] | None = None) -> list[Definition]:
    """Return the abbreviations that a sentence defines.

    With `ends`, only those whose long form ends before one of these tokens.

    >>> find_definitions("He has atrial fibrillation ( AF ) .".split())
    [Definition(short=(5, 6), long=(2, 4))]
    """
    definitions = []
    for opening, closing in _brackets(tokens):
        is_break = (i for i in range(opening, closing) if tokens[i] in _BREAKS)
        inner = (opening + 1, next(is_break, closing))
        definition = None
        if is_short_form(tokens[slice(*inner)]):
            if ends is None or opening in ends:
                definition = _defined(tokens, inner, (_farthest(tokens, inner), opening))
        elif ends is None or inner[1] in ends:
            before = (_first_of_word(tokens, opening - 1), opening)
            if is_short_form(tokens[slice(*before)]):
                definition = _defined(tokens, before, inner)
        if definition:
            definitions.append(definition)
    return definitions


def find_short_forms(
    shorts: Collection[tuple[str, ...]], sentences: Iterable[tuple[str, ...]]
) -> Mapping[tuple[str, ...], list[tuple[int, int, int]]]:
    """Return sentence, start and end of every place of each short form.

    >>> find_short_forms([("AF",)], [("AF", "with", "AF")])
    {('AF',): [(0, 0, 1), (0, 2, 3)]}
    """
    places: dict[tuple[str, ...], list[tuple[int, int, int]]] = {short: [] for short in shorts}
    beginning: dict[str, list[tuple[str, ...]]] = {}
    for short in shorts:
        beginning.setdefault(short[0], []).append(short)
    for i, tokens in enumerate(sentences if shorts else ()):
        if beginning.keys().isdisjoint(tokens):
            continue
        for start, token in enumerate(tokens):
            for short in beginning.get(token, ()):
                if tokens[start : start + len(short)] == short:
                    places[short].append((i, start, start + len(short)))
    return places


def _brackets(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of "(" and ")" around text without further brackets."""
    places = [i for i, token in enumerate(tokens) if token in "()"]
    return [(i, j) for i, j in pairwise(places) if tokens[i] == "(" and tokens[j] == ")"]


def _first_of_word(tokens: Sequence[str], last: int) -> int:
    """Return the first token of the word that ends with `last`; hyphens join, as in "TTF-1"."""
    while last >= 2 and tokens[last - 1] == "-":
        last -= 2
    return max(0, last)


def _farthest(tokens: Sequence[str], short: tuple[int, int]) -> int:
    """Return the first token before the brackets that may belong to the long form.

    The paper bounds the words; twice as many tokens are allowed, as a hyphen is a token, too.
    """
    size = sum(c.isalnum() for token in tokens[slice(*short)] for c in token)
    return max(0, short[0] - 1 - 2 * min(size + 5, 2 * size))


def is_short_form(tokens: Sequence[str]) -> bool:
    """Return whether these tokens may be an abbreviation.

    A longer word with one capital at its beginning is a name: "Francis Moreau (France)" says where
    he is from.

    >>> [is_short_form([text]) for text in ("AF", "Tac", "AmB", "France", "see")]
    [True, True, True, False, False]
    """
    text = "".join(tokens)
    is_name = len(text) > _LONGEST_TITLE and text.isalpha() and text.istitle()
    return not is_name and (
        _SHORTEST <= len(text) <= _LONGEST
        and text[0].isalnum()
        and any(map(str.isupper, text))
        and sum(any(map(str.isalnum, token)) for token in tokens) <= _MOST_WORDS
    )


def _defined(
    tokens: Sequence[str], short: tuple[int, int], long: tuple[int, int]
) -> Definition | None:
    """Return the definition of a short form by the end of a stretch of tokens, if it is one."""
    letters = [c for token in tokens[slice(*short)] for c in token.casefold() if c.isalnum()]
    words = tokens[slice(*long)]
    text = " ".join(words).casefold()
    place = len(text)
    for i, letter in reversed(list(enumerate(letters))):
        place = text.rfind(letter, 0, place)
        while i == 0 and place > 0 and text[place - 1].isalnum():
            place = text.rfind(letter, 0, place)
        if place < 0:
            return None
    ends = accumulate(len(word.casefold()) + 1 for word in words)
    start = long[0] + next(i for i, end in enumerate(ends) if place < end)
    is_longer = len("".join(tokens[start : long[1]])) > len("".join(tokens[slice(*short)]))
    if not is_longer or _stands_in(tokens[slice(*short)], tokens[start : long[1]]):
        return None
    return Definition(short, (start, long[1]))


def _stands_in(short: Sequence[str], long: Sequence[str]) -> bool:
    return any(long[i : i + len(short)] == short for i in range(len(long)))
