"""Tell a watcher how much of a long piece of work has been done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_watcher: ContextVar[Callable[[int], None] | None] = ContextVar("watcher", default=None)


def advance(amount: int) -> None:
    """Tell the watcher, if there is one, that this much more is done; it may raise to stop."""
    watch = _watcher.get()
    if watch is not None:
        watch(amount)


@contextmanager
def watched(watch: Callable[[int], None]) -> Iterator[None]:
    """Let `watch` hear of every `advance` inside the block.

    >>> heard = []
    >>> with watched(heard.append):
    ...     advance(3)
    >>> advance(4)
    >>> heard
    [3]
    """
    token = _watcher.set(watch)
    try:
        yield
    finally:
        _watcher.reset(token)
