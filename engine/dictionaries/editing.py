"""Edit dictionaries: join sets, rename types, and mute, unmute or move phrases.

Dictionaries are never changed in place: every function returns new ones. Nothing is stored here;
`Project` saves the result as a version.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.dictionaries.model import NEVER, Dictionary, Phrase, type_name
from engine.formats import unique_ids
from engine.text import InputError


class PhraseRow(NamedTuple):
    """One phrase of one dictionary, as in a table of all phrases."""

    dictionary: str  # its name
    text: str
    entity_type: str


# ---- one dictionary -------------------------------------------------------------------------


def mute(dictionary: Dictionary, phrases: Iterable[tuple[str, str]]) -> Dictionary:
    """Return the dictionary with these (phrase text, type) pairs matching nothing.

    Pairs that it does not hold are left out, so one list can be applied to many dictionaries.
    """
    return replace(dictionary, muted=dictionary.muted | _held(dictionary, phrases))


def match_as_written(dictionary: Dictionary, phrases: Iterable[tuple[str, str]]) -> Dictionary:
    """Return the dictionary with these (phrase text, type) pairs matching in their own case only.

    Pairs that it does not hold are left out.
    """
    return replace(dictionary, as_written=dictionary.as_written | _held(dictionary, phrases))


def _held(dictionary: Dictionary, phrases: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of the (phrase text, type) pairs that the dictionary holds."""
    wanted = set(phrases)
    texts = {text for text, _ in wanted}
    held = ((p.text, p.entity_type) for p in dictionary.phrases if p.text in texts)
    return wanted.intersection(held)


def unmute(dictionary: Dictionary, phrases: Iterable[tuple[str, str]]) -> Dictionary:
    """Return the dictionary with these (phrase text, type) pairs matching again."""
    return replace(dictionary, muted=dictionary.muted.difference(phrases))


def relabel(dictionary: Dictionary, phrase_text: str, old_type: str, new_type: str) -> Dictionary:
    """Return the dictionary with one phrase moved to another type, where it is not muted.

    If the new type has the phrase already, it is not kept twice. If the old type does not have
    it, nothing changes.
    """
    return _relabeled(dictionary, {(phrase_text, old_type)}, new_type)


# ---- a set of dictionaries ------------------------------------------------------------------


def find_phrases(
    dictionaries: Iterable[Dictionary], wanted: Iterable[tuple[str, str | None]]
) -> list[PhraseRow]:
    """Return all spellings of these phrases, in any case and any dictionary.

    `wanted` holds (phrase text, type) pairs; the type None stands for any type.
    """
    folded = {(text.casefold(), entity_type) for text, entity_type in wanted}
    texts = {text for text, _ in folded}
    rows = []
    for dictionary in dictionaries if folded else ():
        for phrase in dictionary.phrases:
            text = phrase.text.casefold()
            if text not in texts:
                continue
            if (text, phrase.entity_type) in folded or (text, None) in folded:
                rows.append(PhraseRow(dictionary.name, phrase.text, phrase.entity_type))
    return rows


def mute_phrases(dictionaries: Sequence[Dictionary], rows: Iterable[PhraseRow]) -> list[Dictionary]:
    """Return the dictionaries with these phrases matching nothing."""
    pairs = _pairs_by_dictionary(rows)
    return [mute(d, pairs[d.name]) if d.name in pairs else d for d in dictionaries]


def mute_short_forms(
    dictionaries: Sequence[Dictionary], rows: Iterable[PhraseRow]
) -> list[Dictionary]:
    """Return the dictionaries with these abbreviations of their phrases matching nothing.

    A short form is muted like a phrase, though the dictionary does not hold it.
    """
    pairs = _pairs_by_dictionary(rows)
    return [
        replace(d, muted=d.muted | pairs[d.name]) if d.name in pairs else d for d in dictionaries
    ]


def mute_texts(
    dictionaries: Sequence[Dictionary],
    texts: Sequence[str],
    is_short_form: Callable[[str], bool],
) -> list[Dictionary]:
    """Return the dictionaries with these phrases, in any letter case, matching nothing.

    A text that none of them holds is muted as an abbreviation of theirs; InputError if
    `is_short_form` says that it cannot be one.
    """
    rows = find_phrases(dictionaries, ((text, None) for text in texts))
    known = {row.text.casefold() for row in rows}
    unknown = [text for text in texts if text.casefold() not in known]
    for text in unknown:
        if not is_short_form(text):
            raise InputError(f'"{text}" is in none of the dictionaries')
    short_forms = [
        PhraseRow(d.name, t, kind) for d in dictionaries for t in unknown for kind in d.types
    ]
    return mute_short_forms(mute_phrases(dictionaries, rows), short_forms)


def unmute_phrases(
    dictionaries: Sequence[Dictionary], rows: Iterable[PhraseRow]
) -> list[Dictionary]:
    """Return the dictionaries with these phrases matching again."""
    pairs = _pairs_by_dictionary(rows)
    return [unmute(d, pairs[d.name]) if d.name in pairs else d for d in dictionaries]


def relabel_phrases(
    dictionaries: Sequence[Dictionary], rows: Iterable[PhraseRow], new_type: str
) -> list[Dictionary]:
    """Return the dictionaries with these phrases moved to another type, where none is muted."""
    pairs = _pairs_by_dictionary(rows)
    return [_relabeled(d, pairs[d.name], new_type) if d.name in pairs else d for d in dictionaries]


def retype(
    dictionaries: Sequence[Dictionary], types: Mapping[tuple[str, str], str]
) -> list[Dictionary]:
    """Return the dictionaries with whole types renamed, no phrase twice under one type.

    `types` maps (dictionary name, type) to the new type. Types it leaves out, or maps to an empty
    name, keep their names.
    """
    renamed = {key: clean_type(new_type) for key, new_type in types.items()}
    return [_with_types(dictionary, renamed) for dictionary in dictionaries]


def as_never(dictionaries: Sequence[Dictionary]) -> list[Dictionary]:
    """Return the dictionaries with all their phrases never an entity, whatever their type was."""
    return retype(dictionaries, {(d.name, name): NEVER for d in dictionaries for name in d.types})


def join(
    held: Sequence[Dictionary], new: Sequence[Dictionary], *, is_replacing: bool = False
) -> list[Dictionary]:
    """Return both sets as one, each dictionary under a name of its own.

    A new dictionary whose name is taken gets another name. If `is_replacing`, it takes the place
    of the old one instead; the settings of the old one stay, and what is muted in either.
    """
    if not is_replacing:
        return with_own_names((*held, *new))
    fresh = {dictionary.name: dictionary for dictionary in with_own_names(new)}
    kept = [_replaced(d, fresh.pop(d.name)) if d.name in fresh else d for d in held]
    return [*kept, *fresh.values()]


def with_own_names(dictionaries: Sequence[Dictionary]) -> list[Dictionary]:
    """Return the dictionaries with "~2", "~3" … added to names that are taken."""
    names, _ = unique_ids(dictionary.name for dictionary in dictionaries)
    return [
        dictionary if dictionary.name == name else replace(dictionary, name=name)
        for dictionary, name in zip(dictionaries, names, strict=True)
    ]


# ---- words ----------------------------------------------------------------------------------


def clean_type(name: str) -> str:
    """Return the name of a type with its white space tidied.

    >>> clean_type(" Adverse  event ")
    'Adverse event'
    """
    return type_name(name)


def list_phrases(texts: Iterable[str], most: int = 3) -> str:
    """Return phrases for a sentence, each once in any case, long lists cut.

    >>> list_phrases(["lead", "Lead", "cold"])
    '“lead”, “cold”'
    """
    distinct = list({text.casefold(): text for text in reversed(list(texts))}.values())[::-1]
    shown = ", ".join(f"“{text}”" for text in distinct[:most])
    return shown if len(distinct) <= most else f"{shown} and {len(distinct) - most:,} more"


# ---- how phrases move -----------------------------------------------------------------------


def _pairs_by_dictionary(rows: Iterable[PhraseRow]) -> dict[str, set[tuple[str, str]]]:
    pairs: dict[str, set[tuple[str, str]]] = {}
    for name, text, entity_type in rows:
        pairs.setdefault(name, set()).add((text, entity_type))
    return pairs


def _relabeled(
    dictionary: Dictionary, pairs: Collection[tuple[str, str]], new_type: str
) -> Dictionary:
    name = clean_type(new_type)
    if not name:
        raise ValueError(f"the new type of {list_phrases(text for text, _ in pairs)} is empty")
    return _moved(dictionary, lambda p: name if (p.text, p.entity_type) in pairs else p.entity_type)


def _with_types(dictionary: Dictionary, types: Mapping[tuple[str, str], str]) -> Dictionary:
    return _moved(
        dictionary, lambda p: types.get((dictionary.name, p.entity_type)) or p.entity_type
    )


def _moved(dictionary: Dictionary, new_type: Callable[[Phrase], str]) -> Dictionary:
    """Give each phrase its new type, unless that type has the phrase already."""
    types = [new_type(phrase) for phrase in dictionary.phrases]
    placed = {
        (phrase.text, name)
        for phrase, name in zip(dictionary.phrases, types, strict=True)
        if phrase.entity_type == name
    }
    phrases, moved = [], set()
    for phrase, name in zip(dictionary.phrases, types, strict=True):
        target = (phrase.text, name)
        if phrase.entity_type == name:
            phrases.append(phrase)
            continue
        moved |= {(phrase.text, phrase.entity_type), target}
        if target not in placed:
            placed.add(target)
            phrases.append(replace(phrase, entity_type=name))
    places = dictionary.places
    if places is not None:
        places = tuple(
            p._replace(entity_type=new_type(Phrase(p.text, p.entity_type))) for p in places
        )
    return replace(
        dictionary,
        phrases=tuple(phrases),
        places=places,
        muted=dictionary.muted - moved,
        as_written=dictionary.as_written - moved,
    )


def _replaced(old: Dictionary, new: Dictionary) -> Dictionary:
    return replace(
        old,
        phrases=new.phrases,
        notes=new.notes,
        places=new.places,
        muted=old.muted | new.muted,
        as_written=old.as_written | new.as_written,
    )
