"""The whole path, labels to predictions, as one function. Read this file first.

    distant labels -> priors -> confidence -> risk -> tagger -> probabilities

`run` trains one method. Methods that are compared share the sentences, the labels, the priors and
the seed, so that only the risk differs. Gold is not an argument of anything here but
`run_supervised`, the upper reference.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.batches import WordInputs, sentence_bounds
from engine.confidence import Confidence, estimate_confidence
from engine.context import context_of
from engine.decoding import matching_odds, predicted_entities, predictions, weigh
from engine.device import choose_device
from engine.features import EncodedInputs, Lexicon, make_word_inputs
from engine.files import written_whole
from engine.pretrained import Pretrained, open_pretrained
from engine.progress import OnProgress, RunClock, schedule
from engine.risk import (
    Risk,
    conf_mpu_risk,
    mpn_risk,
    mpu_risk,
    supervised_risk,
    with_known_negatives,
)
from engine.run_card import confidence_beside, tagger_checkpoint
from engine.settings import Settings
from engine.tagger import BiLstmTagger, predict_probabilities
from engine.text import Document, Entity
from engine.training import Epoch, fit
from engine.training_data import TrainingData, check_data, tokens_of
from engine.transformer import Features, TransformerTagger, open_features


@dataclass(frozen=True, slots=True)
class Run:
    """One trained method."""

    settings: Settings
    types: tuple[str, ...]
    priors: npt.NDArray[np.float64]  # (classes,)
    taggers: tuple[nn.Module, ...]  # one, or one a type for BNPU
    lexicon: Lexicon | None
    pretrained: Pretrained
    history: tuple[Epoch, ...]
    confidence: Confidence | None = None
    odds: float = 1.0  # weight of non-entity when decoding


def run(
    data: TrainingData,
    priors: npt.NDArray[np.float64],
    settings: Settings,
    *,
    confidence: Confidence | None = None,
    checkpoint: Path | None = None,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Run:
    """Train one method on distantly labeled sentences.

    A confidence that was estimated before may be given, so that several runs can share it.
    """
    if settings.method != "supervised":  # complete labels have nothing to be short of
        check_data(data, priors)
    device = choose_device()
    pretrained = open_pretrained(settings)
    inputs = make_inputs(data, settings, device, pretrained)
    parts = _parts(data, priors, settings)
    clock = RunClock(
        settings, on_progress, has_confidence=confidence is not None, taggers=len(parts)
    )
    if settings.method == "conf_mpu" and confidence is None:  # costs a second training
        confidence = estimate_confidence(
            inputs,
            data.labels,
            float(priors[1:].sum()),
            settings,
            lambda classes, seed: make_tagger(inputs, classes, settings, seed, device),
            known_negatives=data.known_negatives,
            checkpoint=checkpoint,
            on_epoch=clock.of("confidence"),
            should_stop=should_stop,
        )
        if checkpoint and not (should_stop and should_stop()):
            _store_confidence(checkpoint, confidence)
    taggers, history = [], []
    for i, part in enumerate(parts):
        tagger = make_tagger(inputs, len(part.priors), settings, settings.seed, device)
        history += fit(
            tagger,
            inputs,
            _risk_of(part, data.known_negatives, settings, confidence, device),
            schedule(settings),
            checkpoint=checkpoint and tagger_checkpoint(checkpoint, i),
            on_epoch=clock.of("training", tagger=i),
            should_stop=should_stop,
        )
        taggers.append(tagger)
    trained = Run(
        settings,
        data.types,
        priors,
        tuple(taggers),
        data.lexicon,
        pretrained,
        tuple(history),
        confidence,
    )
    if not settings.is_prior_matched:
        return trained
    return replace(trained, odds=matching_odds(_predict(trained, inputs), priors[1:].sum()))


def run_supervised(
    data: TrainingData, settings: Settings, *, on_progress: OnProgress | None = None
) -> Run:
    """Train on complete human labels (given as `data.labels`): the upper reference."""
    shares = np.bincount(data.labels, minlength=len(data.types) + 1) / max(len(data.labels), 1)
    return run(data, shares, replace(settings, method="supervised"), on_progress=on_progress)


def probabilities(
    trained: Run, sentences: Sequence[Sequence[str]], context: Features | None = None
) -> npt.NDArray[np.float32]:
    """Return (tokens, classes) probabilities of new sentences.

    `context` is what `run_context` returns for them, where it is known already.
    """
    if not any(sentences):
        return np.zeros((0, len(trained.types) + 1), np.float32)
    data = TrainingData(sentences, np.zeros(0, np.int16), trained.types, trained.lexicon)
    device = _device_of(trained.taggers[0])
    inputs = make_inputs(data, trained.settings, device, trained.pretrained, context)
    return weigh(_predict(trained, inputs), trained.odds)


def _predict(trained: Run, inputs: WordInputs | EncodedInputs) -> npt.NDArray[np.float32]:
    found = [predict_probabilities(tagger, inputs) for tagger in trained.taggers]
    if trained.settings.method != "bnpu":
        return found[0]
    # One binary tagger a type: the surest type, or none when none is surer than not.
    by_type = np.stack([probs[:, 1] for probs in found], axis=1)
    return np.concatenate([1 - by_type.max(axis=1, keepdims=True), by_type], axis=1)


def run_context(trained: Run, documents: Sequence[Document], cache: Path | None) -> Features | None:
    """Return the contextual features of the documents that the run looks at, kept in `cache`.

    None for a run that looks at none.
    """
    device = _device_of(trained.taggers[0])
    sentences = tokens_of(documents)
    return context_of(sentences, trained.settings, device, trained.pretrained, cache=cache)


def predict_documents(
    trained: Run,
    documents: Sequence[Document],
    run_id: str = "",
    context: Features | None = None,
) -> dict[str, tuple[Entity, ...]]:
    """Return what a run finds in the documents, by document id.

    `context` is what `run_context` returns for them, where it is known already.
    """
    sentences = tokens_of(documents)
    probs = probabilities(trained, sentences, context)
    found = iter(predictions(probs, sentence_bounds(sentences), trained.types))
    return {
        document.id: predicted_entities(
            document, [next(found) for _ in document.sentences], trained.settings.method, run_id
        )
        for document in documents
    }


# ---- the pieces of a run --------------------------------------------------------------------


def make_inputs(
    data: TrainingData,
    settings: Settings,
    device: torch.device,
    pretrained: Pretrained | None = None,
    context: Features | None = None,
) -> WordInputs | EncodedInputs:
    """Return what the encoder sees of the sentences.

    `pretrained` and `context` are made by the settings where they are not at hand.
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


def make_tagger(
    inputs: WordInputs | EncodedInputs,
    classes: int,
    settings: Settings,
    seed: int,
    device: torch.device,
) -> nn.Module:
    """Return a fresh tagger whose weights follow from the seed."""
    torch.manual_seed(seed)
    if isinstance(inputs, EncodedInputs):
        # Each tagger fine-tunes weights of its own.
        encoder = copy.deepcopy(inputs.encoder)
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


@dataclass(frozen=True, slots=True)
class _Part:
    """What one tagger is trained on: everything, or one type against the rest (BNPU)."""

    labels: npt.NDArray[np.int16]
    priors: npt.NDArray[np.float64]


def _parts(data: TrainingData, priors: npt.NDArray[np.float64], settings: Settings) -> list[_Part]:
    if settings.method != "bnpu":
        return [_Part(data.labels, priors)]
    return [
        _Part((data.labels == i).astype(np.int16), np.array([1 - priors[i], priors[i]]))
        for i in range(1, len(priors))
    ]


def _risk_of(
    part: _Part,
    known_negatives: npt.NDArray[np.bool_] | None,
    settings: Settings,
    confidence: Confidence | None,
    device: torch.device,
) -> Callable[[Tensor, Tensor], Risk]:
    """The method's risk, as a function of a batch; what a person called no entity weighs more."""
    risk_of = _risk_of_method(part, settings, confidence, device)
    if known_negatives is None:
        return risk_of
    labels = torch.from_numpy(part.labels.astype(np.int64)).to(device)
    is_negative = torch.from_numpy(known_negatives).to(device)
    weight, loss = settings.entity_weight, settings.loss
    return lambda probs, tokens: with_known_negatives(
        risk_of(probs, tokens), probs, labels[tokens], is_negative[tokens], weight=weight, loss=loss
    )


def _risk_of_method(
    part: _Part, settings: Settings, confidence: Confidence | None, device: torch.device
) -> Callable[[Tensor, Tensor], Risk]:
    labels = torch.from_numpy(part.labels.astype(np.int64)).to(device)
    priors = torch.from_numpy(part.priors.astype(np.float32)).to(device)
    weight, loss = settings.entity_weight, settings.loss
    if settings.method == "supervised":
        return lambda probs, tokens: supervised_risk(probs, labels[tokens])
    if settings.method in ("mpn", "early_stopped"):
        return lambda probs, tokens: mpn_risk(
            probs, labels[tokens], priors, entity_weight=weight, loss=loss
        )
    if settings.method in ("mpu", "bnpu"):
        return lambda probs, tokens: mpu_risk(
            probs,
            labels[tokens],
            priors,
            entity_weight=weight,
            loss=loss,
            is_one_sample=settings.is_one_sample,
            bound=settings.negative_bound,
        )
    assert confidence is not None
    values = torch.from_numpy(confidence.values).to(device)
    return lambda probs, tokens: conf_mpu_risk(
        probs,
        labels[tokens],
        priors,
        confidence=values[tokens],
        confidence_threshold=settings.confidence_threshold,
        entity_weight=weight,
        loss=loss,
    )


def _store_confidence(checkpoint: Path, confidence: Confidence) -> None:
    """Leave the values beside the checkpoint, to be looked at while the tagger is trained."""
    with written_whole(confidence_beside(checkpoint)) as out:
        np.save(out, confidence.values)


def _device_of(tagger: nn.Module) -> torch.device:
    return next(tagger.parameters()).device
