"""Number the tokens of phrases and of the text by the form in which they are compared."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.dictionaries import fold
from engine.settings import MATCH_PRESETS, MatchOptions
from engine.text import words_of_all

UNKNOWN = -1  # a token that is in no phrase
IGNORED = -2  # a token that is passed over
_END = "\n"  # follows each phrase
_BATCH = 1_000  # phrases that are split at once; few, as one that is not ASCII slows all down
_SPACED_OR_END = re.compile(rf"\S+|{_END}")

Codes = npt.NDArray[np.int32]


class Entries(NamedTuple):
    """Phrases as codes of their tokens, end to end; entry i is ``codes[bounds[i]:bounds[i + 1]]``.

    A phrase has several entries if it is found in several forms.
    """

    codes: Codes
    bounds: npt.NDArray[np.int64]
    phrase_ids: Codes


class Vocabulary:
    """The tokens of phrases, numbered from 0; tokens that are compared as equal share a number."""

    def __init__(self, options: MatchOptions) -> None:
        self._options = options
        self._numbers: dict[str, int] = {}  # folded token -> code
        self._code_of = _CodeOf(self._numbers, options)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, texts: Sequence[str], first_id: int, *, tokens_given: bool) -> list[Entries]:
        """Return the entries of phrases whose ids count from `first_id`; learn their tokens."""
        self._code_of.is_learning = True
        entries = [
            self._entries(tokens, first_id + first)
            for first in range(0, len(texts), _BATCH)
            for tokens in self._forms(texts[first : first + _BATCH], tokens_given=tokens_given)
        ]
        self._code_of.is_learning = False
        return entries

    def codes(self, tokens: Sequence[str]) -> Codes:
        """Return the codes of tokens of a text."""
        return np.fromiter(map(self._code_of.__getitem__, tokens), np.int32, len(tokens))

    def _forms(self, texts: Sequence[str], *, tokens_given: bool) -> Iterable[list[str]]:
        """Yield the tokens of all texts in each form that is looked for; see `phrase_tokens`."""
        if tokens_given:
            yield _SPACED_OR_END.findall("".join([t.replace(_END, " ") + _END for t in texts]))
        if not tokens_given or self._options != MATCH_PRESETS["strict"]:
            yield words_of_all(texts)

    def _entries(self, tokens: list[str], first_id: int) -> Entries:
        codes = self.codes(tokens)
        is_end = codes == self._code_of[_END]
        phrase = np.cumsum(is_end) - is_end
        is_word = ~is_end & (codes != IGNORED)
        lengths = np.bincount(phrase[is_word], minlength=int(is_end.sum()))
        ids = np.flatnonzero(lengths)
        bounds = np.concatenate(([0], np.cumsum(lengths[ids])))
        return Entries(codes[is_word], bounds, (first_id + ids).astype(np.int32))


class _CodeOf(dict[str, int]):
    """The code of each token as it is written; folds a token when it is first asked for."""

    def __init__(self, numbers: dict[str, int], options: MatchOptions) -> None:
        super().__init__()
        self.is_learning = False
        self._numbers, self._options = numbers, options

    def __missing__(self, token: str) -> int:
        folded = fold(token, self._options)
        if not folded:
            code = IGNORED
        elif self.is_learning:
            code = self._numbers.setdefault(folded, len(self._numbers))
        else:
            code = self._numbers.get(folded, UNKNOWN)
        self[token] = code
        return code


def join_entries(parts: Sequence[Entries]) -> Entries:
    """Return all entries as one."""
    shifts = np.cumsum([0, *(len(part.codes) for part in parts)])
    bounds = [part.bounds[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    return Entries(
        np.concatenate([np.zeros(0, np.int32), *(part.codes for part in parts)]),
        np.concatenate([np.zeros(1, np.int64), *bounds]),
        np.concatenate([np.zeros(0, np.int32), *(part.phrase_ids for part in parts)]),
    )
