"""Garbage collection that does not make a click wait."""

import functools
import gc


@functools.cache
def spare_loaded() -> None:
    """Leave all that was loaded at the start out of garbage collections; it is never garbage.

    A full collection looks through every object there is, 130,000 of which belong to Streamlit,
    pandas and plotly: 90 to 170 ms within somebody's click, and 20 to 50 without them.
    """
    gc.collect()  # what is garbage by now would stay for ever
    gc.freeze()
