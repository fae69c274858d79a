"""What hurts in dictionaries before they are saved, judged by the beginning of the text.

Without text, only what needs none is found: stop words and everyday words, letters and numbers,
phrases under two types and inverted names. One entry then holds all phrases of a kind.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from engine.dictionaries import (
    NEVER,
    Dictionary,
    active_phrases,
    audit_dictionaries,
    general_share,
    is_common_word,
    is_pattern,
    is_stop_phrase,
    is_unit,
    join,
)
from engine.health import ADD, KEEP, MUTE, Health, HealthEntry, check_health, mend
from engine.labels import label
from engine.projects.health import keep_entries
from engine.projects.project import Project
from engine.text import Document, Layout

INVERTED = "inverted names"  # the kind of an entry; `check_health` calls it the same
MOST_TOKENS = 200_000  # of the text; a preview must not wait for all of a large one
_INVERTED = re.compile(r"[^\W\d]+(?:[ '-][^\W\d]+)*, [^\W\d]+(?:[ '-][^\W\d]+)*")
_STOP = "They have no meaning by themselves, and every text has them."
_EVERYDAY = "Seldom names. Once there is text, Glossa counts their matches and shows some."
_TWO_TYPES = "Each is listed under two types or more: only one can be right at a place."
_INVERSION = "Listed with a comma. Once there is text, Glossa offers to add them as it writes them."
Chosen = tuple[HealthEntry, str]  # an entry, and what a person wants done with it


@dataclass(frozen=True, slots=True)
class UploadHealth:
    """What hurts in dictionaries that are not saved yet."""

    entries: tuple[HealthEntry, ...]  # the most wrong matches first
    tokens: int = 0  # of the text that was looked at; 0 if there is none
    is_whole: bool = True  # that was all of the text

    @property
    def proposed(self) -> tuple[HealthEntry, ...]:
        """Those with a proposal that changes something."""
        return Health(self.entries).proposed

    def __str__(self) -> str:
        """Say in a sentence how many phrases look wrong; "" if none does."""
        if self.tokens:
            return str(Health(self.entries))
        count = len({pair for entry in self.proposed for pair in entry.phrases})
        return f"{count:,} phrase{' looks' if count == 1 else 's look'} wrong" if count else ""


def check_upload(
    new: Sequence[Dictionary],
    held: Sequence[Dictionary],
    documents: Sequence[Document],
    preset: str,
    *,
    is_replacing: bool = False,
    kept: Collection[str] = (),
) -> UploadHealth:
    """Return what hurts in new dictionaries, were they added to those that the project holds.

    The first `MOST_TOKENS` tokens of the documents decide. The numbers of sentences in examples are
    those of all documents. Entries whose key is in `kept` are left out.
    """
    before = set(map(id, held))
    whole = join(held, new, is_replacing=is_replacing)
    added = [dictionary for dictionary in whole if id(dictionary) not in before]
    texts = {phrase.text.casefold() for d in added for phrase in active_phrases(d)}
    others = [
        replace(d, phrases=tuple(p for p in d.phrases if p.text.casefold() in texts))
        for d in whole
        if id(d) in before
    ]  # only what may be under two types: matching all of a large dictionary takes too long
    sample = beginning(documents, MOST_TOKENS)
    tokens = sum(document.token_count for document in sample)
    if not tokens:
        return UploadHealth(tuple(_without_text(added, others, kept)))
    never = [
        replace(d, phrases=tuple(p for p in d.phrases if p.entity_type == NEVER))
        for d in whole
        if id(d) in before
    ]
    labels = label(sample, [*added, *(d for d in never if d.phrases)], preset)
    sentences = [sentence for document in sample for sentence in document.sentences]
    health = check_health([*added, *others], labels, sentences, kept=kept)
    is_whole = tokens == sum(document.token_count for document in documents)
    return UploadHealth(health.entries, tokens, is_whole)


def save_upload(
    project: Project,
    new: Sequence[Dictionary],
    chosen: Sequence[Chosen],
    *,
    is_replacing: bool = False,
) -> list[Dictionary]:
    """Save new dictionaries with these entries mended as chosen; return those that were added."""
    added = project.join_dictionaries(mend_upload(new, chosen), is_replacing=is_replacing)
    if kept := [key for entry, choice in chosen if choice == KEEP for key in _kept_keys(entry)]:
        keep_entries(project, kept)
    return added


def mend_upload(dictionaries: Sequence[Dictionary], chosen: Sequence[Chosen]) -> list[Dictionary]:
    """Return the dictionaries with these entries mended as chosen."""
    return mend(dictionaries, [replace(entry, proposal=choice) for entry, choice in chosen])


def beginning(documents: Sequence[Document], most: int) -> list[Document]:
    """Return the first documents with at most so many tokens, the last one cut after a sentence.

    A first sentence that is longer stays whole.
    """
    sample: list[Document] = []
    left = most
    for document in documents:
        if left <= 0:
            break
        if document.token_count > left:
            sample.append(_cut(document, left))
            break
        sample.append(document)
        left -= document.token_count
    return sample


def _cut(document: Document, most: int) -> Document:
    tokens, bounds = document.layout.tokens, document.layout.sentences
    count = max(sum(bound <= most for bound in bounds), 2)  # bounds, one more than sentences
    return replace(document, layout=Layout(tokens[: 2 * bounds[count - 1]], bounds[:count]))


# ---- without text ---------------------------------------------------------------------------


def _without_text(
    added: Sequence[Dictionary], others: Sequence[Dictionary], kept: Collection[str]
) -> list[HealthEntry]:
    """Return one entry per kind of phrase that looks wrong by itself."""
    audit = audit_dictionaries([*added, *others])
    ambiguous = {text.casefold() for text in audit.two_types["phrase"]}
    checks: tuple[tuple[str, str, str, Callable[[str], bool]], ...] = (
        ("stop words", MUTE, _STOP, _is_stop),
        ("letters, numbers and units", MUTE, "So short that they mean many things.", _is_tiny),
        ("everyday words", KEEP, _EVERYDAY, _is_everyday),
        ("two types", KEEP, _TWO_TYPES, lambda text: text.casefold() in ambiguous),
        (INVERTED, KEEP, _INVERSION, lambda text: bool(_INVERTED.fullmatch(text))),
    )
    pairs: dict[str, dict[tuple[str, str], None]] = {kind: {} for kind, *_ in checks}
    for phrase in (phrase for dictionary in added for phrase in active_phrases(dictionary)):
        if kind := next((kind for kind, _, _, is_one in checks if is_one(phrase.text)), ""):
            pairs[kind][phrase.text, phrase.entity_type] = None
    entries = []
    for kind, proposal, reason, _ in checks:
        entry = HealthEntry(kind, reason, (), 0, 0.0, proposal, ())
        ranked = sorted(pairs[kind], key=lambda pair: -general_share(pair[0].casefold()))
        left = (pair for pair in ranked if replace(entry, phrases=(pair,)).key not in kept)
        entries.append(replace(entry, phrases=tuple(left)))
    return [entry for entry in entries if entry.phrases]


def _is_stop(text: str) -> bool:
    return not is_pattern(text) and is_stop_phrase(text)


def _is_everyday(text: str) -> bool:
    is_acronym = len(text) > 1 and text.isupper()
    return not is_acronym and is_common_word(text.casefold())


def _is_tiny(text: str) -> bool:
    is_short = len(text) == 1 or is_unit(text) or not any(map(str.isalpha, text))
    return is_short and not is_pattern(text)


def _kept_keys(entry: HealthEntry) -> list[str]:
    """Return the keys by which a project remembers that these phrases are kept as they are."""
    if entry.proposal == ADD:
        return [entry.key]
    return sorted({replace(entry, phrases=(pair,)).key for pair in entry.phrases})


# ---- as JSON --------------------------------------------------------------------------------


def upload_health_record(health: UploadHealth) -> dict[str, Any]:
    """Return what was found as JSON values."""
    entries = [_record(entry) for entry in health.entries]
    return {"entries": entries, "tokens": health.tokens, "is_whole": health.is_whole}


def upload_health_from(record: Mapping[str, Any]) -> UploadHealth:
    """Return what `upload_health_record` wrote."""
    entries = tuple(map(_entry, record["entries"]))
    return UploadHealth(entries, record["tokens"], record["is_whole"])


def chosen_record(chosen: Sequence[Chosen]) -> list[list[Any]]:
    """Return entries with what is wanted as JSON values."""
    return [[_record(entry), choice] for entry, choice in chosen]


def chosen_from(record: Sequence[Sequence[Any]]) -> list[Chosen]:
    """Return what `chosen_record` wrote."""
    return [(_entry(entry), choice) for entry, choice in record]


def _record(entry: HealthEntry) -> dict[str, Any]:
    return {field.name: getattr(entry, field.name) for field in fields(entry)}


def _entry(record: Mapping[str, Any]) -> HealthEntry:
    places = {name: tuple(map(tuple, record[name])) for name in ("phrases", "examples")}
    return HealthEntry(**{**record, **places})
