"""The dictionary: a named list of phrases with entity types, identified by its content."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from engine.settings import MatchOptions
from engine.text import one_line

_FINGERPRINT_LENGTH = 16
NEVER = "never an entity"  # the type of phrases that must not be labeled: known negatives
AMONG_NEVER = "never"  # what their type is called while they are matched among themselves
_NEVER_NAMES = frozenset(("never", NEVER))


def type_name(name: str) -> str:
    """Return the name of a type with its white space tidied; "never" is one of a kind.

    >>> type_name(" Adverse  event "), type_name("Never")
    ('Adverse event', 'never an entity')
    """
    clean = " ".join(name.split())
    return NEVER if clean.casefold() in _NEVER_NAMES else clean


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words to look for in the text, and their entity type."""

    text: str  # as in the file, white space trimmed
    entity_type: str
    canonical_id: str = ""
    line: int = 0  # 1-based line in its file, 0 if it has none


class Place(NamedTuple):
    """Where a phrase stands in a document, in characters."""

    document: str
    start: int
    end: int
    text: str  # of the phrase
    entity_type: str


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The phrases of one file, and how to match them."""

    name: str
    phrases: tuple[Phrase, ...]
    match: MatchOptions | None = None  # None: the project's options
    priority: int = 0  # higher wins a conflict
    is_enabled: bool = True
    muted: frozenset[tuple[str, str]] = frozenset()  # (phrase text, type) pairs that match nothing
    as_written: frozenset[tuple[str, str]] = frozenset()  # pairs that match in their own case only
    notes: tuple[str, ...] = ()  # what the reader fixed or skipped; one line each
    places: tuple[Place, ...] | None = None  # the only places where phrases match; None: anywhere
    _fingerprint: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(one_line, self.notes)))

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({phrase.entity_type for phrase in self.phrases}))

    @property
    def fingerprint(self) -> str:
        """A short hash of everything that affects matching, and of nothing else.

        The dictionary's name and notes, the order of its phrases and their lines do not count. It
        is computed when first asked for, then kept.
        """
        if self._fingerprint is None:
            object.__setattr__(self, "_fingerprint", self._hashed())
        assert self._fingerprint is not None
        return self._fingerprint

    def _hashed(self) -> str:
        # ascii() quotes, so ("a b", "c") and ("a", "b c") differ; it also accepts lone surrogates.
        lines = sorted({ascii((p.text, p.entity_type, p.canonical_id)) for p in self.phrases})
        options = (self.match, self.priority, self.is_enabled, sorted(self.muted))
        lines.append(ascii(options))
        if self.as_written:  # a hash from before this setting stays the same
            lines.append(ascii(sorted(self.as_written)))
        if self.places is not None:
            lines.append(ascii(sorted(map(tuple, self.places))))
        return _short_hash(lines)


def fingerprint(dictionaries: Iterable[Dictionary]) -> str:
    """Return one short hash of several dictionaries, independent of their order."""
    parts = sorted(dictionary.fingerprint for dictionary in dictionaries)
    return _short_hash(parts)


def _short_hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_FINGERPRINT_LENGTH]


def active_phrases(dictionary: Dictionary) -> Iterator[Phrase]:
    """Yield the phrases that can label: none that are muted, disabled or never an entity."""
    return (phrase for phrase in enabled_phrases(dictionary) if phrase.entity_type != NEVER)


def never_lists(dictionaries: Iterable[Dictionary]) -> list[Dictionary]:
    """Return the phrases that are never an entity as dictionaries of their own.

    Their type has another name there, so that they match like any phrase.
    """
    lists = []
    for dictionary in dictionaries:
        phrases = [p for p in enabled_phrases(dictionary) if p.entity_type == NEVER]
        if phrases:
            lists.append(
                replace(
                    dictionary,
                    phrases=tuple(replace(p, entity_type=AMONG_NEVER) for p in phrases),
                    muted=frozenset(),
                    as_written=frozenset(
                        (text, AMONG_NEVER) for text, name in dictionary.as_written if name == NEVER
                    ),
                    notes=(),
                )
            )
    return lists


def enabled_phrases(dictionary: Dictionary) -> Iterator[Phrase]:
    """Yield the phrases that match: to label, or as never an entity."""
    if not dictionary.is_enabled:
        return
    if not dictionary.muted:  # the usual case
        yield from dictionary.phrases
        return
    muted = {text for text, _ in dictionary.muted}
    for phrase in dictionary.phrases:
        if phrase.text not in muted or (phrase.text, phrase.entity_type) not in dictionary.muted:
            yield phrase


def active_types(dictionaries: Iterable[Dictionary]) -> list[str]:
    """Return the types of all phrases that can match, sorted."""
    return sorted(
        {p.entity_type for dictionary in dictionaries for p in active_phrases(dictionary)}
    )


def first_share(dictionary: Dictionary, percent: float) -> Dictionary:
    """Return the first `percent` of each type's phrases, as in the benchmark's small dictionaries.

    A type with n phrases keeps its first int(percent / 100 * n) + 1, never more than n.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"percent must be in [0, 100], got {percent}")
    sizes = Counter(phrase.entity_type for phrase in dictionary.phrases)
    # Multiply before dividing: 0.29 * 100 is 28.999… and would lose a phrase.
    room = {name: int(percent * size / 100) + 1 for name, size in sizes.items()}
    kept = []
    for phrase in dictionary.phrases:
        if room[phrase.entity_type] > 0:
            room[phrase.entity_type] -= 1
            kept.append(phrase)
    return replace(dictionary, phrases=tuple(kept))
