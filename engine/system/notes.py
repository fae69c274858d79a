"""Print to standard error what a person or a log should have beside the results."""

import sys
from collections.abc import Iterable

from engine.system.disk import is_disk_full


def note_all(notes: Iterable[str]) -> None:
    """Print what was fixed, skipped or assumed, one note per line."""
    for note in notes:
        print_aside(f"note: {note}")


def print_aside(line: str) -> None:
    """Print one line to standard error at once; a log on a full disk goes without it."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError as error:
        if not is_disk_full(error):
            raise
