"""How long a run is trained, how far it is, and how long it will still take."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.settings import Settings
from engine.training import Epoch, Schedule


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    method: str
    stage: str  # "confidence" or "training"
    epoch: Epoch  # its number counts through all taggers of the stage
    epochs: int  # of this stage, all taggers together
    seconds_left: float  # of the whole run, from the epochs so far
    seed: int = 0


OnProgress = Callable[[Progress], None]


def schedule(settings: Settings) -> Schedule:
    """Return how the tagger of a method is trained."""
    epochs = settings.epochs
    if settings.method == "early_stopped":
        epochs = max(1, epochs // 10)
    return Schedule(
        epochs=epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        decay=settings.learning_rate_decay,
        seed=settings.seed,
    )


class RunClock:
    """Turns epochs into progress with a measured time to go."""

    def __init__(
        self,
        settings: Settings,
        on_progress: OnProgress | None,
        *,
        has_confidence: bool,
        taggers: int = 1,
    ) -> None:
        self._on_progress, self._method = on_progress, settings.method
        self._seed = settings.seed
        scorers = settings.confidence_seeds * max(1, settings.confidence_folds)
        needs_confidence = settings.method == "conf_mpu" and not has_confidence
        self._epochs = {
            "confidence": settings.confidence_epochs * scorers * needs_confidence,
            "training": schedule(settings).epochs * taggers,
        }
        self._per_tagger = schedule(settings).epochs
        self._heard = {"confidence": 0, "training": 0}
        self._seconds = 0.0

    def of(self, stage: str, tagger: int = 0) -> Callable[[Epoch], None] | None:
        if self._on_progress is None:
            return None
        on_progress = self._on_progress

        def report(epoch: Epoch) -> None:
            self._heard[stage] += 1
            self._seconds += epoch.seconds
            # Numbers, not what was heard: a resumed run has epochs that were not heard of here.
            number = tagger * self._per_tagger + epoch.number
            left = self._epochs[stage] - number
            if stage == "confidence":
                left += self._epochs["training"]
            seconds_left = left * self._seconds / sum(self._heard.values())
            on_progress(
                Progress(
                    self._method,
                    stage,
                    replace(epoch, number=number),
                    self._epochs[stage],
                    seconds_left,
                    self._seed,
                )
            )

        return report
