"""Ids with dots as places in a tree: "D12.776.543" is below "D12.776".

A thing may have several places: "D12.776|D08.811".
"""

import re
from collections.abc import Iterator

_BETWEEN = re.compile(r"[|;,\s]+")


def places_of(id: str) -> list[str]:
    """Return the places of an id; itself if it is no list.

    >>> places_of("D12.776|D08")
    ['D12.776', 'D08']
    """
    return [place for place in _BETWEEN.split(id) if place]


def places_above(id: str) -> set[str]:
    """Return the places that an id with dots is below.

    >>> sorted(places_above("D12.776.5|D08"))
    ['D12', 'D12.776']
    """
    return set(branches_of(id)).difference(places_of(id)) if "." in id else set()


def branches_of(id: str) -> Iterator[str]:
    """Yield the places of an id and all places above them, if it has dots.

    >>> list(branches_of("D12.776.5|D08")), list(branches_of("D000001"))
    (['D12', 'D12.776', 'D12.776.5', 'D08'], [])
    """
    for place in places_of(id) if "." in id else ():
        parts = place.split(".")
        yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
