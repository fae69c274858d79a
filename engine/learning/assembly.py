"""The pieces that a run is put together from: inputs, taggers, parts, risks, checkpoints."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.files import written_whole
from engine.learning.autoner import (
    Targets,
    chunk_probabilities,
    first_tokens,
    make_targets,
    unknown_tokens,
)
from engine.learning.confidence import Confidence
from engine.learning.mentions import exchange_mentions
from engine.learning.risk import Risk, with_known_negatives
from engine.learning.training_data import TrainingData
from engine.network import (
    BiLstmTagger,
    EncodedInputs,
    Features,
    Pretrained,
    TransformerTagger,
    WordInputs,
    context_of,
    make_word_inputs,
    open_features,
    open_pretrained,
    predict_probabilities,
    sentence_bounds,
)
from engine.planning import METHODS
from engine.run_folder import confidence_beside
from engine.settings import Settings


def make_inputs(
    data: TrainingData,
    settings: Settings,
    device: torch.device,
    pretrained: Pretrained | None = None,
    context: Features | None = None,
) -> WordInputs | EncodedInputs:
    """Return what the network sees of the sentences.

    `pretrained` and `context` are made from the settings unless they are given.
    """
    pretrained = pretrained or open_pretrained(settings)
    if settings.encoder == "transformer":
        return EncodedInputs(data.sentences, settings, device, pretrained)
    if data.context is not None:
        context = open_features(data.context)
    elif context is None:
        context = context_of(data.sentences, settings, device, pretrained, cache=data.cache)
    return make_word_inputs(
        data.sentences, data.lexicon, settings, device, pretrained=pretrained, context=context
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """What the taggers see in training: the corpus, and copies of its labeled sentences."""

    data: TrainingData
    inputs: WordInputs | EncodedInputs
    confidence: Confidence | None


def with_copies(
    data: TrainingData,
    inputs: WordInputs | EncodedInputs,
    confidence: Confidence | None,
    settings: Settings,
    pretrained: Pretrained,
) -> Seen:
    """Return the corpus with as many copies of its labeled sentences as the settings say."""
    if not settings.mention_copies:
        return Seen(data, inputs, confidence)
    exchanged = exchange_mentions(data, settings.mention_copies, settings.seed)
    extended = exchanged.extend(data)
    context = None
    if isinstance(inputs, WordInputs) and inputs.context_size:  # only the copies are encoded
        new = context_of(exchanged.sentences, settings, inputs.device, pretrained, cache=data.cache)
        assert new is not None
        context = np.concatenate([inputs.context, new])
    if confidence is not None:
        confidence = replace(confidence, values=exchanged.along(confidence.values))
    return Seen(
        extended, make_inputs(extended, settings, inputs.device, pretrained, context), confidence
    )


def word_inputs(
    data: TrainingData, inputs: WordInputs | EncodedInputs, settings: Settings
) -> WordInputs:
    """Return the inputs of a linear model: those of a BiLSTM, whatever the tagger reads.

    Beside a transformer, its own layer `contextual_layer` is taken before any fine-tuning.
    """
    if isinstance(inputs, WordInputs):
        return inputs
    made = make_inputs(data, replace(settings, encoder="bilstm"), inputs.device)
    assert isinstance(made, WordInputs)
    return made


def make_tagger(
    inputs: WordInputs | EncodedInputs,
    classes: int,
    settings: Settings,
    seed: int,
    device: torch.device,
) -> nn.Module:
    """Return a new tagger whose weights depend on the seed alone."""
    torch.manual_seed(seed)
    if isinstance(inputs, EncodedInputs):
        encoder = copy.deepcopy(inputs.encoder)  # each tagger fine-tunes weights of its own
        return TransformerTagger(encoder, classes, settings.dropout).to(device)
    return BiLstmTagger(
        classes=classes,
        vector_size=inputs.vector_size,
        bit_size=inputs.bit_size,
        context_size=inputs.context_size,
        character_size=settings.character_size,
        hidden_size=settings.hidden_size,
        dropout=settings.dropout,
        character_dropout=settings.character_dropout,
        bit_dropout=settings.lexicon_dropout,
    ).to(device)


def device_of(tagger: nn.Module) -> torch.device:
    """Return the device that the tagger's weights are on."""
    return next(tagger.parameters()).device


# ---- parts: what each tagger learns ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """What one tagger is trained on: all types, or one type against the rest."""

    labels: npt.NDArray[np.int16]  # (tokens,), 0 = unlabeled
    priors: npt.NDArray[np.float64]  # (classes,)


def split_parts(
    data: TrainingData, priors: npt.NDArray[np.float64], settings: Settings
) -> list[Part]:
    """Return one part per tagger of the method."""
    if not METHODS[settings.method].has_tagger_per_type:
        return [Part(data.labels, priors)]
    return [
        Part((data.labels == i).astype(np.int16), np.array([1 - priors[i], priors[i]]))
        for i in range(1, len(priors))
    ]


def predict_inputs(
    taggers: Sequence[nn.Module], inputs: WordInputs | EncodedInputs, settings: Settings
) -> npt.NDArray[np.float32]:
    """Return (tokens, classes) probabilities: ensembles averaged, those of several types joined."""
    method = METHODS[settings.method]
    activate = None
    if method.predicts_ties:
        is_first = torch.from_numpy(first_tokens(inputs.bounds)).to(device_of(taggers[0]))
        activate = partial(chunk_probabilities, is_first=is_first)
    by_tagger = [predict_probabilities(tagger, inputs, activate=activate) for tagger in taggers]
    size = settings.ensemble
    ensembles = (by_tagger[i : i + size] for i in range(0, len(by_tagger), size))
    probs: list[npt.NDArray[np.float32]] = [np.stack(e).mean(axis=0) for e in ensembles]
    if not method.has_tagger_per_type:
        return probs[0]
    # The most probable type wins; no type if none has a probability above one half.
    by_type = np.stack([binary[:, 1] for binary in probs], axis=1)
    return np.concatenate([1 - by_type.max(axis=1, keepdims=True), by_type], axis=1)


# ---- risks, bound to the data of a part -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class BatchLabels:
    """What a risk knows about the tokens of a batch beside their probabilities."""

    tokens: Tensor  # (tokens,), their numbers in the corpus
    labels: Tensor  # (tokens,), 0 = unlabeled
    priors: Tensor  # (classes,)
    confidence: Tensor | None  # (tokens,), lambda, for the methods that need it
    targets: Targets | None  # of the whole corpus, for the methods that predict ties


# The tensor is (tokens, outputs): probabilities of the classes or, with ties, logits.
MethodRisk = Callable[[Tensor, BatchLabels, Settings], Risk]


def bind_risk(
    risk: MethodRisk,
    part: Part,
    data: TrainingData,
    settings: Settings,
    confidence: Confidence | None,
    device: torch.device,
) -> Callable[[Tensor, Tensor], Risk]:
    """Return the risk of a part as a function of a tagger's logits and token numbers.

    Tokens that a person called no entity weigh more than other unlabeled ones.
    """
    labels = torch.from_numpy(part.labels.astype(np.int64)).to(device)
    priors = torch.from_numpy(part.priors.astype(np.float32)).to(device)
    values = None if confidence is None else torch.from_numpy(confidence.values).to(device)
    negatives = data.known_negatives
    is_negative = None if negatives is None else torch.from_numpy(negatives).to(device)
    predicts_ties = METHODS[settings.method].predicts_ties
    targets = _targets(data, device) if predicts_ties else None

    def risk_of(logits: Tensor, tokens: Tensor) -> Risk:
        outputs = logits if predicts_ties else logits.softmax(dim=1)
        chosen = None if values is None else values[tokens]
        batch = BatchLabels(tokens, labels[tokens], priors, chosen, targets)
        value = risk(outputs, batch, settings)
        if is_negative is None or predicts_ties:  # targets know the negatives already
            return value
        return with_known_negatives(
            value,
            outputs,
            labels[tokens],
            is_negative[tokens],
            weight=settings.entity_weight,
            loss=settings.loss,
        )

    return risk_of


def _targets(data: TrainingData, device: torch.device) -> Targets:
    """Return what a tagger learns that predicts ties; what a person rejected is not open."""
    is_unknown = unknown_tokens(data.sentences, data.labels)
    if data.known_negatives is not None:
        is_unknown &= ~data.known_negatives
    return make_targets(data.labels, sentence_bounds(data.sentences), is_unknown, device)


# ---- checkpoints ----------------------------------------------------------------------------


def store_confidence(checkpoint: Path, confidence: Confidence) -> None:
    """Write the confidence beside the checkpoint, to be shown while the tagger is trained."""
    with written_whole(confidence_beside(checkpoint)) as out:
        np.save(out, confidence.values)
