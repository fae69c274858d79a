"""Predict texts as they are read, and count the tokens that the encoder reads only in part.

With more than one worker, groups of documents go to copies of this process (forks). They share the
run's memory and are there at once; a fresh process would need seconds to import torch.
"""

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context

from engine.experiment import Run, predict
from engine.learning import device_of, groups, tokens_of
from engine.network import count_cut_tokens, cut_notes, set_threads
from engine.system import end_with_parent
from engine.text import Document, Entity

_TOKENS_PER_WORKER = 12_500  # at once; enough for large batches, and the last one ends soon
_AHEAD = 2  # groups per worker that are handed out, so that none waits for the next

Pairs = Iterator[tuple[Document, tuple[Entity, ...]]]
_Found = tuple[list[tuple[Entity, ...]], int]  # entities per document, and the tokens cut


class CutTokens:
    """Counts the tokens that are too long for a run's encoder, some documents at a time."""

    def __init__(self, trained: Run) -> None:
        self._trained, self._count = trained, 0

    def add(self, documents: Sequence[Document]) -> None:
        """Count those of more documents."""
        self.add_count(_count_cut(self._trained, documents))

    def add_count(self, count: int) -> None:
        """Add tokens that were counted elsewhere."""
        self._count += count

    @property
    def notes(self) -> list[str]:
        return cut_notes(self._count)


def predict_stream(
    trained: Run, documents: Iterable[Document], run_id: str, cut: CutTokens, *, workers: int = 1
) -> Pairs:
    """Yield each document with the entities that the run finds in it; hold a few at a time.

    A text too short for several workers, or a process that cannot be copied, uses one.
    """
    if workers < 2 or not _can_fork(trained):
        yield from _one_by_one(trained, groups(documents), run_id, cut)
        return
    parts = groups(documents, _TOKENS_PER_WORKER)
    first = list(islice(parts, workers))  # so that no worker is made for nothing
    parts = chain(first, parts)
    if len(first) < 2:
        yield from _one_by_one(trained, parts, run_id, cut)
    else:
        yield from _side_by_side(trained, parts, run_id, cut, len(first))


def _one_by_one(
    trained: Run, parts: Iterable[list[Document]], run_id: str, cut: CutTokens
) -> Pairs:
    for group in parts:
        entities, cut_count = _find(trained, group, run_id)
        cut.add_count(cut_count)
        yield from zip(group, entities, strict=True)


def _find(trained: Run, group: list[Document], run_id: str) -> _Found:
    entities = predict(trained, group, run_id)
    return [entities[document.id] for document in group], _count_cut(trained, group)


def _count_cut(trained: Run, documents: Sequence[Document]) -> int:
    return count_cut_tokens(tokens_of(documents), trained.settings, trained.pretrained)


# ---- in copies of this process --------------------------------------------------------------


def _can_fork(trained: Run) -> bool:
    """Return whether a copy of this process works: Linux, no other threads, no GPU."""
    is_alone = threading.active_count() == 1
    return sys.platform == "linux" and is_alone and device_of(trained.taggers[0]).type == "cpu"


_inherited: tuple[Run, str] | None = None  # what copies of this process find here


def _side_by_side(
    trained: Run, parts: Iterator[list[Document]], run_id: str, cut: CutTokens, workers: int
) -> Pairs:
    """Yield in the order of the text; if a worker dies, this process does the rest."""
    global _inherited
    _inherited = trained, run_id
    gc.freeze()  # otherwise the first collection in a copy would copy every page of the run
    pool = ProcessPoolExecutor(workers, get_context("fork"), _begin_copy)
    waiting: deque[list[Document]] = deque()
    futures: deque[Future[_Found]] = deque()
    try:
        while True:
            for group in islice(parts, _AHEAD * workers - len(waiting)):
                waiting.append(group)  # first: a pool that has lost a worker takes no more
                futures.append(pool.submit(_find_in_copy, group))
            if not waiting:
                return
            entities, cut_count = futures.popleft().result()
            cut.add_count(cut_count)
            yield from zip(waiting.popleft(), entities, strict=True)
    except BrokenProcessPool:  # killed, most likely because memory was short
        yield from _one_by_one(trained, chain(waiting, parts), run_id, cut)
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()
        _inherited = None


def _begin_copy() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which decides
    end_with_parent()
    set_threads(1)  # one process per core; and the threads of the parent were not copied
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def _find_in_copy(group: list[Document]) -> _Found:
    assert _inherited is not None
    trained, run_id = _inherited
    return _find(trained, group, run_id)
