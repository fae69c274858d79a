"""How long a run is trained, how far it is, and how long it will still take."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.learning.training import Epoch, Schedule
from engine.planning import CONFIDENCE, METHODS, TRAINING, title_of
from engine.settings import Settings

_SEEDS_APART = 100_000  # between the taggers of an ensemble; others have 1,000s for lambda


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    method: str
    stage: str  # "confidence" or "training"
    epoch: Epoch  # its number counts through all taggers of the stage
    epochs: int  # of this stage, all taggers together
    seconds_left: float  # of the whole run, judged by the epochs so far
    seed: int = 0


OnProgress = Callable[[Progress], None]


def epoch_line(progress: Progress) -> str:
    """Return one line that says what an epoch did and how long its run will still take."""
    epoch = progress.epoch
    return (
        f"{title_of(progress.method)}, {progress.stage}: epoch "
        f"{epoch.number} of {progress.epochs}, risk {epoch.risk:.4f}, "
        f"{epoch.tokens_per_second:,.0f} tokens/s, about {progress.seconds_left:,.0f} s to go"
    )


def schedules(settings: Settings) -> list[Schedule]:
    """Return how each tagger of an ensemble is trained: alike, from different seeds."""
    one = schedule(settings)
    return [replace(one, seed=one.seed + _SEEDS_APART * i) for i in range(settings.ensemble)]


def schedule(settings: Settings) -> Schedule:
    """Return how the first tagger of the training stage is trained."""
    return Schedule(
        epochs=METHODS[settings.method].tagger_epochs(settings),
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        decay=settings.learning_rate_decay,
        is_linear=settings.learning_rate_schedule == "linear",
        seed=settings.seed,
    )


class RunClock:
    """Turns the epochs of a run into progress, with the time to go as measured so far."""

    def __init__(
        self,
        settings: Settings,
        on_progress: OnProgress | None,
        *,
        types: int,
        has_confidence: bool,
    ) -> None:
        self._on_progress, self._method = on_progress, settings.method
        self._seed = settings.seed
        self._epochs = METHODS[settings.method].epochs(settings, types)
        if has_confidence:
            self._epochs.pop(CONFIDENCE, None)
        self._per_tagger = schedule(settings).epochs
        self._heard = 0
        self._seconds = 0.0

    def listener(self, stage: str, tagger: int = 0) -> Callable[[Epoch], None] | None:
        """Return what hears the epochs of a stage; `tagger` is the number of its tagger."""
        if self._on_progress is None:
            return None
        on_progress = self._on_progress

        def report(epoch: Epoch) -> None:
            self._heard += 1
            self._seconds += epoch.seconds
            # The epoch's own number, since a resumed run has epochs that were not heard here.
            number = tagger * self._per_tagger + epoch.number
            left = self._epochs[stage] - number
            if stage == CONFIDENCE:
                left += self._epochs[TRAINING]
            on_progress(
                Progress(
                    self._method,
                    stage,
                    replace(epoch, number=number),
                    self._epochs[stage],
                    left * self._seconds / self._heard,
                    self._seed,
                )
            )

        return report
