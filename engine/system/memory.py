"""Give memory that is no longer used back to the system."""

import ctypes
import gc
from contextlib import suppress


def release_memory() -> None:
    """Collect garbage and return freed memory to the system, where the C library can (Linux)."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
