"""Ctrl-C while something trains: it ends after the last finished epoch, which is kept."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SAME_PRESS_SECONDS = 1.0  # some programs pass a signal on twice

STOPPED = 130  # exit code of a program that Ctrl-C ended


@contextmanager
def stopped_by_keyboard() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed; pressed again, it ends at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop.is_set  # signals reach the main thread alone
        return
    pressed = 0.0

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if not stop.is_set():
            stop.set()
            pressed = time.monotonic()
            print("\nStopping after what is at work now.", file=sys.stderr, flush=True)
        elif time.monotonic() - pressed > _SAME_PRESS_SECONDS:
            # Whatever is on disk was written whole, and workers end with this process.
            os._exit(STOPPED)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield stop.is_set
    finally:
        signal.signal(signal.SIGINT, before)
