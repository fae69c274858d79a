"""Epochs as a person at a terminal sees them: a line each, and a bar of them all."""

import sys
from collections.abc import Sequence
from types import TracebackType

from tqdm import tqdm

from engine.job_plan import epochs_of
from engine.progress import Progress
from engine.settings import Settings

NAMES = {
    "mpn": "MPN",
    "mpu": "MPU",
    "conf_mpu": "Conf-MPU",
    "dictionary": "dictionary",
    "supervised": "supervised, on this gold",
}


def epoch_line(progress: Progress) -> str:
    """Return what an epoch did and how long its run still takes."""
    epoch = progress.epoch
    return (
        f"{NAMES.get(progress.method, progress.method)}, {progress.stage}: epoch "
        f"{epoch.number} of {progress.epochs}, risk {epoch.risk:.4f}, "
        f"{epoch.tokens_per_second:,.0f} tokens/s, about {progress.seconds_left:,.0f} s to go"
    )


def say_epoch(progress: Progress) -> None:
    """Print an epoch to standard error."""
    print(epoch_line(progress), file=sys.stderr, flush=True)


def epochs_of_all(methods: Sequence[str], settings: Settings, *, types: int, times: int = 1) -> int:
    """Return how many epochs all methods take together, each trained `times` times."""
    return times * sum(sum(epochs_of(method, settings, types).values()) for method in methods)


class EpochLines:
    """Every epoch as a line; on a terminal, a bar of all epochs and the time to go below them."""

    def __init__(self, epochs: int) -> None:
        self._bar = (
            tqdm(total=epochs, desc="Training", unit="epoch", file=sys.stderr)
            if sys.stderr.isatty()
            else None
        )
        self._heard: dict[tuple[str, int, str], int] = {}

    def __enter__(self) -> "EpochLines":
        return self

    def __call__(self, progress: Progress) -> None:
        if self._bar is None:
            say_epoch(progress)
            return
        self._bar.write(epoch_line(progress), file=sys.stderr)
        self._bar.update(self._new_epochs(progress))

    def _new_epochs(self, progress: Progress) -> int:
        """How many epochs this one tells of: a resumed run does not tell of its first ones."""
        key = (progress.method, progress.seed, progress.stage)
        number = progress.epoch.number
        before = self._heard.get(key, 0)
        self._heard[key] = number
        # A curve trains a method again with the next share of the dictionary.
        return number - before if number > before else number

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
