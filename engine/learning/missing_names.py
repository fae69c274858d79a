"""Find unlabeled tokens that are likely entities, and their types, before any network is trained.

The same ridge regression as the linear confidence. Its contextual features are those of a training
with the same settings, in the same cache, so the text is encoded once for both.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from engine.labels import LikelyTokens
from engine.learning.assembly import make_inputs
from engine.learning.linear import linear_confidence, linear_types
from engine.learning.training import Epoch
from engine.learning.training_data import TrainingData
from engine.network import Stopped, WordInputs, choose_device
from engine.planning import likely_share, suited_settings
from engine.settings import Settings


def find_likely_tokens(
    data: TrainingData,
    priors: npt.NDArray[np.float64],
    settings: Settings,
    *,
    on_epoch: Callable[[Epoch], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> LikelyTokens:
    """Return confidence and type of every token; raises Stopped if `should_stop` says so.

    The data has its features in `data.cache`. The rounds of the regression count as epochs.
    """
    # A linear model sees no lexicon bits: they equal the labels.
    bare = replace(data, lexicon=None)
    inputs = make_inputs(bare, replace(settings, encoder="bilstm"), choose_device())
    assert isinstance(inputs, WordInputs)
    entity_prior = float(priors[1:].sum())
    settings = suited_settings(settings, data.sentences, data.labels, entity_prior)
    confidence = linear_confidence(
        data.sentences,
        inputs,
        data.labels,
        entity_prior,
        settings,
        known_negatives=data.known_negatives,
        on_epoch=on_epoch,
        should_stop=should_stop,
    )
    if should_stop and should_stop():
        raise Stopped
    guess = linear_types(data.sentences, inputs, data.labels, len(data.types), settings)
    is_open = data.labels == 0
    if data.known_negatives is not None:
        is_open &= ~data.known_negatives
    return LikelyTokens(
        confidence.values.astype(np.float16),
        guess.types,
        guess.margins.clip(0, 1).astype(np.float16),
        is_open,
        data.types,
        likely_share(data.labels, entity_prior),
        settings.confidence_share,
    )
