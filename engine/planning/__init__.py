"""What is decided before learning: the methods, the class priors, and a forecast of the work.

methods    one record per method: title, stages, taggers, epochs
tice       the share of a type's tokens that the dictionary labels
priors     the share of all tokens that each type has
preflight  checks of labels and priors, and the work of a training
encoder_menu   the transformers that can be chosen by name
"""

from engine.planning.encoder_menu import (
    ENCODER_MENU,
    OWN_FOLDER,
    KnownEncoder,
    known_encoder,
)
from engine.planning.methods import (
    CONFIDENCE,
    LINEAR_ROUNDS,
    METHODS,
    TRAINING,
    Method,
    title_of,
)
from engine.planning.preflight import (
    FEW_WORDS,
    TrainingWork,
    check_labels,
    check_priors,
    label_warnings,
    labeled_tokens,
    labeled_words,
    language_warnings,
    suited_settings,
    training_work,
)
from engine.planning.priors import (
    Priors,
    estimate_priors,
    given_priors,
    likely_share,
    true_priors,
)

__all__ = [
    "CONFIDENCE",
    "ENCODER_MENU",
    "FEW_WORDS",
    "LINEAR_ROUNDS",
    "METHODS",
    "OWN_FOLDER",
    "TRAINING",
    "KnownEncoder",
    "Method",
    "Priors",
    "TrainingWork",
    "check_labels",
    "check_priors",
    "estimate_priors",
    "given_priors",
    "known_encoder",
    "label_warnings",
    "labeled_tokens",
    "labeled_words",
    "language_warnings",
    "likely_share",
    "suited_settings",
    "title_of",
    "training_work",
    "true_priors",
]
