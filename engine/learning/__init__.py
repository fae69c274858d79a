"""How a tagger learns: risks, the training loop, the confidence step, and decoding.

Needs torch.

    training_data  documents, dictionaries and decisions into sentences and labels
    risk, autoner  what training minimizes: the paper's risks, and AutoNER's
    training       the loop over epochs, which can be resumed
    confidence, linear
                   how likely each token is part of an entity (lambda)
    mentions       labeled sentences again with other phrases in them
    doubts         phrases that the text contradicts
    missing_names  likely entities and their types, before any network
    progress       how far a run is, and how long it will take
    distillation   a tagger that learns what another one predicts
    twin           a tagger without a transformer that learns from one with it
    assembly       the pieces of a run put together
    short_forms    abbreviations follow what they stand for
    decoding       probabilities into scored spans
"""

from engine.learning.assembly import (
    BatchLabels,
    MethodRisk,
    bind_risk,
    device_of,
    make_inputs,
    make_tagger,
    predict_inputs,
    split_parts,
    store_confidence,
    with_copies,
    word_inputs,
)
from engine.learning.autoner import autoner_risk
from engine.learning.confidence import Confidence, network_confidence
from engine.learning.decoding import matching_odds, predicted_entities, predictions, weigh
from engine.learning.distillation import fit_to_probabilities, lessons_from, student_settings
from engine.learning.doubts import find_doubtful_phrases
from engine.learning.linear import TypeGuess, linear_confidence, linear_types
from engine.learning.missing_names import find_likely_tokens
from engine.learning.progress import OnProgress, Progress, RunClock, epoch_line, schedule, schedules
from engine.learning.risk import Risk, conf_mpu_risk, mpn_risk, mpu_risk, supervised_risk
from engine.learning.short_forms import with_short_forms
from engine.learning.training import Epoch, fit, stored_history
from engine.learning.training_data import (
    TrainingData,
    check_data,
    complete_labels,
    data_warnings,
    groups,
    make_training_data,
    sentence_groups,
    tokens_of,
)
from engine.learning.twin import distill, twin_settings

__all__ = [
    "BatchLabels",
    "Confidence",
    "Epoch",
    "MethodRisk",
    "OnProgress",
    "Progress",
    "Risk",
    "RunClock",
    "TrainingData",
    "TypeGuess",
    "autoner_risk",
    "bind_risk",
    "check_data",
    "complete_labels",
    "conf_mpu_risk",
    "data_warnings",
    "device_of",
    "distill",
    "epoch_line",
    "find_doubtful_phrases",
    "find_likely_tokens",
    "fit",
    "fit_to_probabilities",
    "groups",
    "lessons_from",
    "linear_confidence",
    "linear_types",
    "make_inputs",
    "make_tagger",
    "make_training_data",
    "matching_odds",
    "mpn_risk",
    "mpu_risk",
    "network_confidence",
    "predict_inputs",
    "predicted_entities",
    "predictions",
    "schedule",
    "schedules",
    "sentence_groups",
    "split_parts",
    "store_confidence",
    "stored_history",
    "student_settings",
    "supervised_risk",
    "tokens_of",
    "twin_settings",
    "weigh",
    "with_copies",
    "with_short_forms",
    "word_inputs",
]
