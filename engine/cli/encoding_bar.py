"""Compute the contextual features of a text before training, with a progress bar."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine.cli import console
from engine.network import Stopped, Tokens, choose_device, has_context, keep_context
from engine.settings import Settings


def watch_context(
    sentences: Tokens, settings: Settings, cache: Path, should_stop: Callable[[], bool]
) -> None:
    """Compute the features into `cache`, where training looks for them, and show how far it is."""
    if not has_context(settings):
        return
    tokens = sum(map(len, sentences))
    # The next step asks again whether to stop. An interrupted bar does not print "done".
    with suppress(Stopped), console.ProgressBar("Encoding", tokens, "tokens") as progress:
        done = 0

        def on_share(share: float) -> None:
            nonlocal done
            progress.advance(round(share * tokens) - done)
            done = round(share * tokens)

        keep_context(
            sentences, settings, choose_device(), cache, on_share=on_share, should_stop=should_stop
        )
