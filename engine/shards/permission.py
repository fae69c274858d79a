"""Say which folders and URLs the app may use: those that its operator names in GLOSSA_SHARDS.

The command line is not bound by it: whoever types a command can read and write files anyway. In
the app, anybody who signed in could otherwise read and write every file of the server.
"""

import os
from collections.abc import Iterable

from engine.shards.stores import open_store
from engine.text import InputError

VARIABLE = "GLOSSA_SHARDS"


def allowed_places() -> list[str]:
    """Return the folders and URLs of GLOSSA_SHARDS, which are parted by commas."""
    return [place.strip() for place in os.environ.get(VARIABLE, "").split(",") if place.strip()]


def check_allowed(places: Iterable[str]) -> None:
    """Raise InputError for a folder or URL that is not inside one of those allowed."""
    roots = [_resolved(root) for root in allowed_places()]
    for place in places:
        if not place.strip():
            raise InputError("a folder or a URL is missing. Fill in both, then press the button")
        path = _resolved(place.strip())
        if not any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots):
            named = ", ".join(allowed_places()) or "none"
            raise InputError(
                f'"{place[:80]}" is not in the folders that the app may use ({named}). Whoever '
                f"runs the app can add it to {VARIABLE}"
            )


def _resolved(place: str) -> str:
    """Return a path without links and "..", or a URL; a URL with ".." leads nowhere."""
    store = open_store(place)
    if store.is_local:
        return os.path.realpath(store.root)
    return "" if ".." in store.root.split("/") else store.root
