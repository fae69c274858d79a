"""Cache dictionaries that were read from new files, from the preview until they are saved.

A file that is missing, damaged or made by other code is ignored, and the originals are read.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from engine.dictionaries import Dictionary
from engine.files import written_whole
from engine.projects.caches.code_version import code_version, sources_of
from engine.projects.versions import dictionary_from, dictionary_record
from engine.settings import LIMITS
from engine.system import without_collection
from engine.text import InputError

_DAMAGE = (
    OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError,
    MemoryError,
)  # fmt: skip


@cache
def dictionary_reader_version() -> str:
    """Return a hash of the code that reads dictionaries."""
    sources = sources_of([__name__, "engine.dictionaries.reading"])
    return code_version(sources, ("regex",), LIMITS)


def store_dictionaries(
    dictionaries: Sequence[Dictionary], messages: Sequence[str], path: Path
) -> None:
    """Write them. Without room on disk nothing is written: they can be read again."""
    record = {
        "dictionaries": [dictionary_record(dictionary) for dictionary in dictionaries],
        "messages": list(messages),
    }
    with suppress(InputError), written_whole(path, is_synced=False) as out:
        out.write(json.dumps(record).encode())


def load_dictionaries(path: Path) -> tuple[list[Dictionary], list[str]] | None:
    """Return what was stored at `path`; None if the originals have to be read."""
    try:
        with without_collection():
            record = json.loads(path.read_bytes())
            read = [dictionary_from(item) for item in record["dictionaries"]]
            return read, [str(message) for message in record["messages"]]
    except _DAMAGE:
        return None
