"""Give memory back when nobody uses the app: all that it caches is on disk anyway."""

import functools
import gc
import threading
import time

import streamlit as st

from engine.system import release_memory

IDLE_SECONDS = 300.0  # without a click of any visitor
_LOOK_SECONDS = 30.0


class Rest:
    """When the app was last used, and what was cleared since: garbage, and all caches."""

    def __init__(self) -> None:
        self._used, self._is_tidy, self._is_empty = time.monotonic(), False, False

    def use(self) -> None:
        """Note that a page was drawn."""
        self._used, self._is_tidy, self._is_empty = time.monotonic(), False, False

    def look(self) -> bool:
        """Empty the caches if the app was idle for long; return whether this was done now.

        Otherwise collect garbage if a page was drawn since the last look: not after each click, as
        Streamlit would, because all visitors wait meanwhile.
        """
        if self._is_empty or time.monotonic() - self._used < IDLE_SECONDS:
            if not self._is_tidy:
                self._is_tidy = True
                gc.collect()
            return False
        self._is_empty = True
        st.cache_resource.clear()
        release_memory()
        return True


@functools.cache
def _rest() -> Rest:
    """The one of this process, with a thread that looks at it."""
    rest = Rest()

    def watch() -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            rest.look()

    threading.Thread(target=watch, name="idle", daemon=True).start()
    return rest


def note_use() -> None:
    """Note that a page was drawn, so that its caches are kept for a while."""
    _rest().use()
