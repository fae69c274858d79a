"""Entries: one phrase in all its spellings that likely matches wrongly, and what to do about it."""

from dataclasses import dataclass
from typing import NamedTuple

from engine.dictionaries import list_phrases, singular

MUTE, AS_WRITTEN, KEEP, ADD = "mute", "as written", "keep", "add"  # what an entry proposes
SHOWN_EXAMPLES = 3

Pair = tuple[str, str]  # phrase text, entity type


class Example(NamedTuple):
    """A match in its sentence."""

    sentence: int  # number in the text
    start: int  # tokens
    end: int


@dataclass(frozen=True, slots=True)
class Kind:
    """Names of one type that end with the same word, or lie in one branch of the ids."""

    entity_type: str
    word: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class HealthEntry:
    """One phrase in all its spellings that likely matches wrongly, and what to do about it."""

    kind: str  # in a word or two
    reason: str  # one sentence
    phrases: tuple[Pair, ...]  # as the dictionaries spell them; of ADD, those to be added
    match_count: int
    wrong: float  # how many matches are likely wrong
    proposal: str
    examples: tuple[Example, ...]
    group: Kind | None = None  # of an entry for a kind of names; its `phrases` have a match
    title: str = ""  # of a branch: the name of its place

    @property
    def name(self) -> str:
        """The phrases, for a sentence."""
        if self.group and self.group.word:
            return f"names that end with “{self.group.word}”"
        if self.group:
            place = f"“{self.title}” ({self.group.branch})" if self.title else self.group.branch
            return f"everything below {place}"
        return list_phrases(text for text, _ in self.phrases)

    @property
    def entity_type(self) -> str:
        """The type, or types."""
        return ", ".join(dict.fromkeys(name for _, name in self.phrases))

    @property
    def key(self) -> str:
        """What stays the same when the text or other phrases change, to remember a choice by."""
        if self.proposal == ADD:
            return ADD
        if self.group:
            return f"{self.entity_type}: {self.name}"
        return f"{self.entity_type}: {folded(self.phrases[0][0])}"


@dataclass(frozen=True, slots=True)
class Health:
    """What hurts in the dictionaries, the most wrong matches first."""

    entries: tuple[HealthEntry, ...]
    kinds: tuple[HealthEntry, ...] = ()  # of names, which only a person can judge

    @property
    def proposed(self) -> tuple[HealthEntry, ...]:
        """Those with a proposal that changes something."""
        return tuple(entry for entry in self.entries if entry.proposal != KEEP)

    @property
    def harmful(self) -> tuple[HealthEntry, ...]:
        """Those with a proposal that removes wrong matches."""
        return tuple(entry for entry in self.proposed if entry.proposal != ADD)

    def __str__(self) -> str:
        """Say in a sentence how many phrases look wrong; "" if none does."""
        count = sum(len(entry.phrases) for entry in self.harmful)
        if not count:
            return ""
        wrong = max(round(sum(entry.wrong for entry in self.harmful)), 1)
        looks = "phrase looks" if count == 1 else "phrases look"
        return f"{count:,} {looks} wrong: about {wrong:,} {'match' if wrong == 1 else 'matches'}"


def folded(text: str) -> str:
    """Return the form that the spellings of a phrase share: lower case, words in the singular."""
    return " ".join(map(singular, text.casefold().split()))
