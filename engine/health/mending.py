"""Change dictionaries as entries propose."""

from collections.abc import Iterable, Sequence

from engine.dictionaries import Dictionary, find_phrases, match_as_written, mute
from engine.health.entries import ADD, AS_WRITTEN, KEEP, MUTE, HealthEntry, Kind, Pair
from engine.health.inverted import with_natural_order
from engine.health.kinds import kind_members


def mend(
    dictionaries: Sequence[Dictionary], entries: Iterable[HealthEntry], action: str | None = None
) -> list[Dictionary]:
    """Return the dictionaries with these entries mended, as they propose or all by one `action`.

    A phrase is changed in every dictionary that holds it, in any letter case, except that names in
    natural order are added to the dictionary that has them inverted. A kind of names is muted with
    all its phrases, matched or not.
    """
    muted: list[Pair] = []
    written: list[Pair] = []
    kinds: list[Kind] = []
    added: set[Pair] = set()
    for entry in entries:
        wanted = action or entry.proposal
        if entry.proposal == ADD:
            added.update(entry.phrases if wanted != KEEP else ())
        elif wanted == MUTE and entry.group:
            kinds.append(entry.group)
        elif wanted == MUTE:
            muted += entry.phrases
        elif wanted == AS_WRITTEN:
            written += entry.phrases
    muted += kind_members(dictionaries, kinds) if kinds else ()
    quiet = {(row.text, row.entity_type) for row in find_phrases(dictionaries, muted)}
    exact = {(row.text, row.entity_type) for row in find_phrases(dictionaries, written)}
    changed = [mute(dictionary, quiet) for dictionary in dictionaries] if quiet else dictionaries
    if exact:
        changed = [match_as_written(dictionary, exact) for dictionary in changed]
    return [with_natural_order(dictionary, added) for dictionary in changed]
