"""Count calls and bytes of memory, where a clock would measure the machine."""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def count_calls(function: Callable[..., object], *arguments: object, **options: object) -> int:
    """Return how many functions, of Python and of C, are called until `function` returns."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(*arguments, **options)
    finally:
        sys.setprofile(before)
    return calls


class SlicedText(str):
    """A text that counts the characters copied from it by slices."""

    copied = 0

    def __getitem__(self, key):
        piece = super().__getitem__(key)
        self.copied += len(piece)
        return piece


class Memory:
    """The most that a block took, in bytes; known when it has ended."""

    peak = 0


@contextmanager
def watched_memory() -> Iterator[Memory]:
    """Measure the memory that a block takes."""
    memory = Memory()
    tracemalloc.start()
    try:
        yield memory
    finally:
        memory.peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
