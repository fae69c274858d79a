"""Show epochs at a terminal: a line for each, and a progress bar over all."""

import sys
from collections.abc import Sequence

from engine.cli.console import bar_on_terminal
from engine.learning import Progress, epoch_line
from engine.planning import METHODS
from engine.settings import Settings
from engine.system import print_aside


def epochs_of_all(methods: Sequence[str], settings: Settings, *, types: int, times: int = 1) -> int:
    """Return how many epochs all methods take together, each trained `times` times."""
    return times * sum(sum(METHODS[name].epochs(settings, types).values()) for name in methods)


class EpochLines:
    """Prints a line per epoch; at a terminal also a bar with all epochs and the time to go."""

    def __init__(self, epochs: int) -> None:
        self._bar = bar_on_terminal("Training", epochs, "epochs")
        self._heard: dict[tuple[str, int, str], int] = {}

    def __enter__(self) -> "EpochLines":
        return self

    def __call__(self, progress: Progress) -> None:
        if self._bar is None:
            print_aside(epoch_line(progress))
            return
        self._bar.write(epoch_line(progress), file=sys.stderr)
        self._bar.update(self._new_epochs(progress))

    def _new_epochs(self, progress: Progress) -> int:
        """How many epochs are new: a resumed run does not report its first ones."""
        key = (progress.method, progress.seed, progress.stage)
        number = progress.epoch.number
        before = self._heard.get(key, 0)
        self._heard[key] = number
        # A curve trains a method again with the next share of the dictionary.
        return number - before if number > before else number

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
