"""What a frozen encoder sees of a text is computed before training, for a person to watch."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine import console
from engine.context import keep_context
from engine.device import choose_device
from engine.pretrained import Tokens, has_context
from engine.settings import Settings
from engine.transformer import Stopped


def watch_context(
    sentences: Tokens, settings: Settings, cache: Path, should_stop: Callable[[], bool]
) -> None:
    """Leave the features in `cache`, where training will look for them; tell how far it is."""
    if not has_context(settings):
        return
    tokens = sum(map(len, sentences))
    # Whoever stopped it is asked again by what comes next; a bar that was left says no "done".
    with suppress(Stopped), console.Progress("Encoding", tokens, "tokens") as progress:
        done = 0

        def on_share(share: float) -> None:
            nonlocal done
            progress.advance(round(share * tokens) - done)
            done = round(share * tokens)

        keep_context(
            sentences, settings, choose_device(), cache, on_share=on_share, should_stop=should_stop
        )
