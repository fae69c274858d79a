"""Which items a person wants to review: chosen on the page Review, or from the page Compare."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from engine.projects import Project
from engine.review import ORDERS

SIZES = (10, 1_000)  # smallest and largest number of items to work through at a time
_CHOICE = "review"


@dataclass(frozen=True, slots=True)
class Setup:
    """Which items a person wants to review, and in which order."""

    run: str = ""  # job id; "" = the last run
    order: str = ORDERS[0]
    size: int = 50
    seed: int = 0
    has_skipped: bool = False  # ask again about skipped items


def setup(project: Project) -> Setup:
    """Return the stored choice; the default where it is no longer valid."""
    stored = project.choice(_CHOICE, {})
    try:
        chosen = Setup(**stored)
    except TypeError:
        return Setup()
    size = min(max(SIZES[0], int(chosen.size)), SIZES[1])
    return replace(chosen, size=size, order=chosen.order if chosen.order in ORDERS else ORDERS[0])


def remember(project: Project, **changes: Any) -> None:
    """Store the choice in the project."""
    project.set_choice(_CHOICE, asdict(replace(setup(project), **changes)))
