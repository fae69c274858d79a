"""What is known about each training method, in one record per method; no torch in here.

To add a method, name it in `settings`, describe it here and give it a risk in `experiment.RISKS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.settings import METHODS as OFFERED_FIRST
from engine.settings import Settings

CONFIDENCE, TRAINING = "confidence", "training"  # the stages of a run
LINEAR_ROUNDS = 5  # of the linear confidence; they count as epochs of its stage


@dataclass(frozen=True, slots=True)
class Method:
    """The facts about one training method."""

    name: str  # as in settings, folder names and files
    title: str  # as people see it
    help: str  # what it makes of unlabeled tokens, and what to expect
    stages: tuple[str, ...] = (TRAINING,)
    has_tagger_per_type: bool = False  # one binary tagger per type, or one tagger for all types
    predicts_ties: bool = False  # each tagger also tells whether a token is tied to the one before
    needs_gold: bool = False  # learns from human labels: an upper reference, not a way to label
    tagger_epochs: Callable[[Settings], int] = lambda settings: settings.epochs  # of one tagger

    @property
    def needs_confidence(self) -> bool:
        return CONFIDENCE in self.stages

    @property
    def is_offered_first(self) -> bool:
        """Whether the app offers the method at once; the rest are "other methods"."""
        return self.name in OFFERED_FIRST

    def taggers(self, types: int) -> int:
        """Return how many taggers the training stage has for this number of entity types."""
        return types if self.has_tagger_per_type else 1

    def tagger_count(self, settings: Settings, types: int) -> int:
        """Return how many taggers are trained one after the other, a student included."""
        has_student = settings.is_self_trained and self.can_teach
        return self.taggers(types) * settings.ensemble + has_student

    def outputs(self, types: int) -> int:
        """Return how many outputs each tagger has: its classes, non-entity included, and ties."""
        return (2 if self.has_tagger_per_type else types + 1) + self.predicts_ties

    @property
    def can_teach(self) -> bool:
        """Whether a student may learn from it. The paper's other methods stay as they are there."""
        return self.is_offered_first

    def epochs(self, settings: Settings, types: int = 1) -> dict[str, int]:
        """Return the number of epochs of each stage, all its taggers together.

        >>> five_folds = Settings(epochs=40, confidence_epochs=30, confidence_folds=5)
        >>> METHODS["conf_mpu"].epochs(five_folds)
        {'confidence': 150, 'training': 40}
        >>> METHODS["bnpu"].epochs(Settings(epochs=40), types=2)
        {'training': 80}
        >>> METHODS["mpu"].epochs(Settings(epochs=40, is_self_trained=True))
        {'training': 80}
        """
        scorers = settings.confidence_seeds * max(1, settings.confidence_folds)
        is_linear = settings.confidence_model == "linear"
        epochs = {
            CONFIDENCE: LINEAR_ROUNDS if is_linear else settings.confidence_epochs * scorers,
            TRAINING: self.tagger_epochs(settings) * self.tagger_count(settings, types),
        }
        return {stage: epochs[stage] for stage in self.stages}


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "mpn",
            "MPN",
            "Treats every unlabeled token as a non-entity. The simplest method: it learns to "
            "repeat the dictionaries, and misses what they miss.",
        ),
        Method(
            "mpu",
            "MPU",
            "Treats unlabeled tokens as a mixture: the priors say how many of them are entities. "
            "Finds more than the dictionaries do.",
        ),
        Method(
            "conf_mpu",
            "Conf-MPU",
            "First learns how likely each token is part of an entity, then no longer counts the "
            "likely ones as non-entities. The paper's method.",
            stages=(CONFIDENCE, TRAINING),
        ),
        Method(
            "bnpu",
            "BNPU",
            "Trains one tagger per type against everything else, as MPU would, and takes the type "
            "with the highest probability. Takes longer the more types there are.",
            has_tagger_per_type=True,
        ),
        Method(
            "early_stopped",
            "Early-stopped MPN",
            "Trains like MPN, but stops after a tenth of the epochs, before it has learned the "
            "missing labels by heart.",
            tagger_epochs=lambda settings: max(1, settings.epochs // 10),
        ),
        Method(
            "autoner",
            "AutoNER",
            "Learns where names begin and end, then their types. Frequent names that no "
            "dictionary holds are left open instead of counted as non-entities.",
            predicts_ties=True,
        ),
        Method(
            "supervised",
            "Supervised (on gold)",
            "Learns from the gold instead of the dictionaries, and is scored on the same text: how "
            "good the tagger could be at most if everything was annotated.",
            needs_gold=True,
        ),
    )
}


def title_of(name: str) -> str:
    """Return the title of a method; other sources of entities go by their name.

    >>> title_of("conf_mpu"), title_of("dictionary")
    ('Conf-MPU', 'dictionary')
    """
    return METHODS[name].title if name in METHODS else name
