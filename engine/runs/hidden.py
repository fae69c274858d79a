"""Train methods once more with some phrases hidden, and count the words that they find again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.dictionaries import Dictionary
from engine.experiment import find_hidden, prepare_hidden
from engine.labels import DistantLabels
from engine.learning import OnProgress
from engine.network import Stopped
from engine.planning import METHODS
from engine.runs.comparison import compare, features_folder
from engine.runs.saved import load_run
from engine.scoring import HIDDEN_SHARE, FoundAgain
from engine.settings import Settings
from engine.text import Document, InputError


def compare_hidden(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    settings: Settings,
    methods: Sequence[str],
    folder: Path,
    *,
    match: str,
    labels: DistantLabels | None = None,
    share: float = HIDDEN_SHARE,
    priors: Mapping[str, float] | None = None,
    cache: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, FoundAgain]:
    """Return what each method finds again of phrases that are hidden from it, by method.

    The runs stay in `folder`; a second call trains nothing. Methods that learn from gold are left
    out. Raises Stopped if `should_stop` says so, and InputError if too few phrases match.
    """
    methods = [method for method in methods if not METHODS[method].needs_gold]
    if not methods:
        raise InputError("no method is chosen that learns from dictionaries alone")
    cache = cache or features_folder(folder)
    task = prepare_hidden(
        documents,
        dictionaries,
        match=match,
        settings=settings,
        labels=labels,
        share=share,
        priors=priors,
        cache=cache,
        should_stop=should_stop,
    )
    folders = compare(
        task.prepared.data,
        task.prepared.priors.values,
        settings,
        methods,
        folder,
        dictionaries=task.hidden.dictionaries,
        workers=workers,
        on_progress=on_progress,
        should_stop=should_stop,
    )
    if should_stop and should_stop():
        raise Stopped
    return {
        method: find_hidden(load_run(path), documents, task, cache=cache, should_stop=should_stop)
        for method, path in folders.items()
    }
