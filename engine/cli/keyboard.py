"""Let Ctrl-C end a training after the last finished epoch, which is kept."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from engine.cli.terminal import say

_SAME_PRESS_SECONDS = 1.0  # some programs pass a signal on twice

STOPPED = 130  # exit code of a program that Ctrl-C ended


@contextmanager
def stopped_by_keyboard() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed; a second press ends at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop.is_set  # only the main thread gets signals
        return
    pressed = 0.0

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if not stop.is_set():
            stop.set()
            pressed = time.monotonic()
            print("\nStopping after what is at work now.", file=sys.stderr, flush=True)
        elif time.monotonic() - pressed > _SAME_PRESS_SECONDS:
            # Files on disk are always whole, and workers end with this process.
            os._exit(STOPPED)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield stop.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def end_if_stopped(is_stopped: bool) -> None:
    """End the command if Ctrl-C was pressed, and say how to go on."""
    if is_stopped:
        say("Stopped. Finished epochs are kept; the same command goes on after them.")
        raise SystemExit(STOPPED)
