"""Patterns in dictionaries: regular expressions, and spaCy's rules about one token after another.

A pattern is a phrase whose text says so: `re:IL-\\d+`, or `tokens:` and a list of JSON objects, one
per token, as in spaCy's patterns.jsonl. It is stored, muted and counted like any phrase.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

REGEX, TOKENS = "re:", "tokens:"
_LONGEST = 2_000  # characters of a pattern
_MOST_STEPS = 200  # tokens that a pattern spells out, repetitions included
_NUMBER_WORDS = frozenset((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    "hundred", "thousand", "million", "billion", "trillion", "dozen",
))  # fmt: skip
_NUMBER = regex.compile(r"[+\-±~]?\d[\d.,]*(/\d+)?")
_REPEATED = regex.compile(r"\{(\d*)(,?)(\d*)\}")
_BEGINNINGS = (REGEX, f"{TOKENS}[")  # one look for both: every phrase is asked several times
_Test = Callable[[str], bool]


class PatternError(ValueError):
    """A pattern that cannot be used; the message completes "the pattern … "."""


def is_pattern(text: str) -> bool:
    """Return whether the text of a phrase is a pattern.

    >>> [is_pattern(text) for text in ("re:IL-[0-9]+", 'tokens:[{"LOWER": "il"}]', "re", "IL-2")]
    [True, True, False, False]
    """
    return text.startswith(_BEGINNINGS) and text != REGEX


def token_pattern_text(tokens: Sequence[Any]) -> str:
    """Return a list of spaCy's token rules as the text of a phrase."""
    return TOKENS + json.dumps(tokens, ensure_ascii=False)


def token_rules(text: str) -> list[Any]:
    """Return spaCy's token rules in the text of a token pattern; the reverse of the above."""
    rules: list[Any] = json.loads(text.removeprefix(TOKENS))
    return rules


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression for the text of a sentence."""

    compiled: "regex.Pattern[str]"

    def find(self, text: str, timeout: float) -> list[tuple[int, int]]:
        """Return where it matches, in characters; TimeoutError if that takes too long."""
        found = self.compiled.finditer(text, timeout=timeout, concurrent=True)
        return [match.span() for match in found if match.end() > match.start()]


@dataclass(frozen=True, slots=True)
class _Step:
    """One token: what is asked of it, and whether it may be absent or repeated."""

    fits: _Test
    is_optional: bool = False
    is_repeated: bool = False  # any number of tokens, none included
    known: dict[str, bool] = field(default_factory=dict, compare=False)  # by token

    def accepts(self, token: str) -> bool:
        if token not in self.known:
            self.known[token] = self.fits(token)
        return self.known[token]


@dataclass(frozen=True, slots=True)
class TokenPattern:
    """Rules about one token after another."""

    steps: tuple[_Step, ...]

    def end(self, tokens: Sequence[str], start: int) -> int:
        """Return where the longest match that begins at a token ends; `start` if there is none.

        All ways through the pattern advance together, so no pattern takes exponential time.
        """
        longest, last = start, len(self.steps)
        states = self._reached({0})
        for place in range(start, len(tokens)):
            token = tokens[place]
            states = self._reached(
                {
                    state if self.steps[state].is_repeated else state + 1
                    for state in states
                    if state < last and self.steps[state].accepts(token)
                }
            )
            if not states:
                break
            if last in states:
                longest = place + 1
        return longest

    def _reached(self, states: set[int]) -> set[int]:
        """Return the states with those behind tokens that may be absent."""
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state < len(self.steps):
                step = self.steps[state]
                if (step.is_optional or step.is_repeated) and state + 1 not in states:
                    states.add(state + 1)
                    waiting.append(state + 1)
        return states


def compile_pattern(text: str, timeout: float | None = None) -> Expression | TokenPattern:
    """Return the pattern that a phrase's text stands for; PatternError says why there is none.

    `timeout` limits the seconds for one token where a rule has a regular expression.
    """
    if len(text) > _LONGEST:
        raise PatternError(f"is longer than {_LONGEST:,} characters")
    if text.startswith(REGEX):
        return Expression(_expression(text.removeprefix(REGEX).strip()))
    try:
        rules = json.loads(text.removeprefix(TOKENS))
    except (ValueError, RecursionError) as error:
        raise PatternError("is no list in JSON") from error
    if not isinstance(rules, list) or not rules:
        raise PatternError("names no token")
    steps = tuple(step for rule in rules for step in _steps(rule, timeout))
    if len(steps) > _MOST_STEPS:
        raise PatternError(f"is longer than {_MOST_STEPS:,} tokens")
    if all(step.is_optional or step.is_repeated for step in steps):
        raise PatternError("asks for no token that must be there")
    return TokenPattern(steps)


def _expression(text: str) -> "regex.Pattern[str]":
    if not text:
        raise PatternError("is empty")
    try:
        return regex.compile(text)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise PatternError(f"does not compile ({error})") from error


# ---- one token of a pattern -------------------------------------------------------------------


def _steps(rule: object, timeout: float | None) -> Iterator[_Step]:
    """Yield the steps of one rule; "{2,4}" takes four of them."""
    if not isinstance(rule, dict):
        raise PatternError("has a token that is no JSON object")
    named = {str(name).upper(): value for name, value in rule.items()}
    operator = named.pop("OP", "")
    tests = [_test(name, value, timeout) for name, value in named.items()]

    def fits(token: str) -> bool:
        return all(test(token) for test in tests)

    if operator in ("", "1"):
        yield _Step(fits)
    elif operator == "!":
        yield _Step(lambda token: not fits(token))
    elif operator == "?":
        yield _Step(fits, is_optional=True)
    elif operator in ("+", "*"):
        if operator == "+":
            yield _Step(fits)
        yield _Step(fits, is_repeated=True)
    else:
        yield from _repeated(operator, fits)


def _repeated(operator: object, fits: _Test) -> Iterator[_Step]:
    match = _REPEATED.fullmatch(operator) if isinstance(operator, str) else None
    if match is None or not (match[1] or match[3]):
        raise PatternError(f"has the OP {operator!r}; use ! ? + * or {{2,4}}")
    least = int(match[1] or 0)
    most = int(match[3]) if match[3] else None if match[2] else least
    if max(least, most or 0) > _MOST_STEPS or (most is not None and most < max(least, 1)):
        raise PatternError(f"has the OP {operator}, which no text can fit")
    yield from (_Step(fits) for _ in range(least))
    if most is None:
        yield _Step(fits, is_repeated=True)
    else:
        yield from (_Step(fits, is_optional=True) for _ in range(most - least))


def _is_like_number(token: str) -> bool:
    return bool(_NUMBER.fullmatch(token)) or token.lower() in _NUMBER_WORDS


def _is_punctuation(token: str) -> bool:
    return not any(character.isalnum() or character.isspace() for character in token)


def _shape(token: str) -> str:
    """Return the token with its kinds of characters, at most four of one kind in a row.

    >>> _shape("IL-12"), _shape("Hypertension")
    ('XX-dd', 'Xxxxx')
    """
    kinds = "".join(
        ("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c for c in token
    )
    return str(regex.sub(r"(.)\1{4,}", r"\1\1\1\1", kinds))


_VALUES: dict[str, Callable[[str], str]] = {
    "TEXT": str, "ORTH": str, "LOWER": str.lower, "NORM": str.lower, "SHAPE": _shape,
}  # fmt: skip
_FLAGS: dict[str, _Test] = {
    "IS_ALPHA": str.isalpha,
    "IS_ASCII": str.isascii,
    "IS_DIGIT": str.isdigit,
    "IS_LOWER": str.islower,
    "IS_UPPER": str.isupper,
    "IS_TITLE": str.istitle,
    "IS_PUNCT": _is_punctuation,
    "LIKE_NUM": _is_like_number,
}
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}
SUPPORTED = (*_VALUES, "LENGTH", *_FLAGS, "OP")


def _test(name: str, value: Any, timeout: float | None) -> _Test:
    if name in _FLAGS:
        flag = _FLAGS[name]
        if type(value) is not bool:
            raise PatternError(f"has {name} without true or false")
        return lambda token: flag(token) is value
    if name == "LENGTH":
        return _length_test(value)
    if name not in _VALUES:
        raise PatternError(f"asks for {name}; a token has only {', '.join(SUPPORTED)}")
    read = _VALUES[name]
    if isinstance(value, str):
        return lambda token: read(token) == value
    if not isinstance(value, dict) or not value:
        raise PatternError(f"has {name} without a text")
    tests = [
        _value_test(name, str(kind).upper(), wanted, timeout) for kind, wanted in value.items()
    ]
    return lambda token: all(test(read(token)) for test in tests)


def _value_test(name: str, kind: str, wanted: Any, timeout: float | None) -> _Test:
    if kind == "REGEX" and isinstance(wanted, str):
        expression = _expression(wanted)
        return lambda value: expression.search(value, timeout=timeout) is not None
    if kind in ("IN", "NOT_IN") and isinstance(wanted, list):
        values = frozenset(item for item in wanted if isinstance(item, str))
        return lambda value: (value in values) is (kind == "IN")
    raise PatternError(f"has {name} with {kind}; use a text, REGEX, IN or NOT_IN")


def _length_test(value: Any) -> _Test:
    asked = {"==": value} if type(value) is int else value
    if (
        not isinstance(asked, dict)
        or not asked
        or any(kind not in _COMPARED or type(size) is not int for kind, size in asked.items())
    ):
        raise PatternError("has LENGTH without a whole number or a comparison such as >=")
    tests = [(_COMPARED[kind], size) for kind, size in asked.items()]
    return lambda token: all(compare(len(token), size) for compare, size in tests)
