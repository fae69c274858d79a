"""The whole path in the order of the paper's method section. Read this file first.

    prepare    text, dictionaries -> distant labels -> training data -> class priors
    run        (confidence ->) risk -> trained taggers (-> student)
    predict    probabilities -> entities
    score      entities, gold -> precision, recall, F1
    make_twin  a run, unlabeled text -> a run without a transformer, for large texts
    hide       without gold: which method finds the words of hidden phrases again

The methods that are compared share sentences, labels, priors and seed, so that only the risk
differs. Gold is an argument of `score` and, as labels, of `run_supervised`, the upper reference;
nothing else here sees it. Equation numbers are those of Zhou, Li and Li, ACL 2022.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from engine.dictionaries import Dictionary, mute
from engine.labels import DistantLabels, DoubtfulPhrase, label, labels_after_muting
from engine.learning import (
    BatchLabels,
    Confidence,
    Epoch,
    MethodRisk,
    OnProgress,
    Risk,
    RunClock,
    TrainingData,
    autoner_risk,
    bind_risk,
    check_data,
    conf_mpu_risk,
    data_warnings,
    device_of,
    distill,
    find_doubtful_phrases,
    fit,
    fit_to_probabilities,
    groups,
    lessons_from,
    linear_confidence,
    make_inputs,
    make_tagger,
    make_training_data,
    matching_odds,
    mpn_risk,
    mpu_risk,
    network_confidence,
    predict_inputs,
    predicted_entities,
    predictions,
    schedule,
    schedules,
    sentence_groups,
    split_parts,
    store_confidence,
    student_settings,
    supervised_risk,
    tokens_of,
    twin_settings,
    weigh,
    with_copies,
    with_short_forms,
    word_inputs,
)
from engine.network import (
    EncodedInputs,
    Features,
    Lexicon,
    Pretrained,
    Stopped,
    WordInputs,
    choose_device,
    context_of,
    open_pretrained,
    sentence_bounds,
)
from engine.planning import (
    CONFIDENCE,
    METHODS,
    TRAINING,
    Priors,
    check_labels,
    estimate_priors,
    given_priors,
    suited_settings,
)
from engine.run_folder import tagger_checkpoint
from engine.scoring import (
    HIDDEN_SHARE,
    Evaluation,
    FoundAgain,
    Hidden,
    common_rate,
    evaluate_documents,
    find_again,
    hidden_words,
    hide_phrases,
)
from engine.settings import Settings
from engine.text import Document, EntitiesByDocument, Entity, InputError

_NAMED_DOUBTS = 3  # phrases that a note names
_STUDENT_SEED = 50_000  # from the seed of the tagger that it learns from

# ---- prepare: what every method learns from -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prepared:
    """What all methods of a comparison learn from."""

    labels: DistantLabels
    data: TrainingData
    priors: Priors
    doubtful: tuple[DoubtfulPhrase, ...]  # muted in `data`, because the text contradicts them
    notes: tuple[str, ...]  # what a person should know before waiting for a result


def prepare(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    *,
    match: str,
    settings: Settings,
    labels: DistantLabels | None = None,
    accepted: EntitiesByDocument | None = None,
    rejected: EntitiesByDocument | None = None,
    priors: Priors | Mapping[str, float] | None = None,
    cache: Path | None = None,
    encode: Callable[[Sequence[Sequence[str]]], None] | None = None,
    workers: int = 1,
    should_stop: Callable[[], bool] | None = None,
) -> Prepared:
    """Label the documents with the dictionaries and estimate the class priors.

    `labels` are made with the match preset unless they are given. What a person `accepted` or
    `rejected` overrides them. `priors` may be given by type, or as prepared before; else TIcE
    estimates them. Raises InputError for labels or priors that no method can learn from.

    If the settings say so, phrases that the text contradicts are muted. That needs the contextual
    features in the folder `cache`; `encode`, if given, is called with the sentences to compute them
    there and show how far it is. Raises Stopped if `should_stop` says so.
    """
    if labels is None:
        labels = label(documents, dictionaries, match, workers=workers)
    decided = {"accepted": accepted, "rejected": rejected}
    data = make_training_data(documents, dictionaries, labels, match, **decided)
    doubtful: tuple[DoubtfulPhrase, ...] = ()
    if settings.is_label_checked:
        check_labels(data.labels, data.types)
        guess = estimate_priors(data.sentences, data.labels, data.types, seed=settings.seed)
        if encode:
            encode(data.sentences)
        doubtful = find_doubtful_phrases(
            replace(data, cache=cache),
            labels,
            float(guess.values[1:].sum()),
            settings,
            should_stop=should_stop,
        )
    if doubtful:
        pairs = {(phrase.phrase, phrase.entity_type) for phrase in doubtful}
        muted = [mute(dictionary, pairs) for dictionary in dictionaries]
        labels = labels_after_muting(labels, dictionaries, muted) or label(documents, muted, match)
        data = make_training_data(documents, muted, labels, match, **decided)
    if priors is None:
        priors = estimate_priors(data.sentences, data.labels, data.types, seed=settings.seed)
    elif not isinstance(priors, Priors):
        priors = given_priors(priors, data.types, labels=data.labels)
    check_data(data, priors.values)
    notes = (*labels.notes, *_doubt_notes(doubtful), *priors.notes, *data_warnings(data, settings))
    return Prepared(labels, replace(data, cache=cache), priors, doubtful, notes)


def _doubt_notes(doubtful: Sequence[DoubtfulPhrase]) -> list[str]:
    if not doubtful:
        return []
    named = ", ".join(map(str, doubtful[:_NAMED_DOUBTS]))
    more = f" and {len(doubtful) - _NAMED_DOUBTS:,} more" if len(doubtful) > _NAMED_DOUBTS else ""
    return [f"the text contradicts {named}{more}: not used as labels"]


# ---- run: one method is trained -------------------------------------------------------------


def _mpn(probs: Tensor, batch: BatchLabels, settings: Settings) -> Risk:
    """Unlabeled tokens are negatives (eq. 3)."""
    return mpn_risk(
        probs,
        batch.labels,
        batch.priors,
        entity_weight=settings.entity_weight,
        loss=settings.loss,
    )


def _mpu(probs: Tensor, batch: BatchLabels, settings: Settings) -> Risk:
    """Unlabeled tokens are a mixture of all classes (eq. 5; with one type, eq. 2)."""
    return mpu_risk(
        probs,
        batch.labels,
        batch.priors,
        entity_weight=settings.entity_weight,
        loss=settings.loss,
        is_one_sample=settings.is_one_sample,
        bound=settings.negative_bound,
    )


def _conf_mpu(probs: Tensor, batch: BatchLabels, settings: Settings) -> Risk:
    """Unlabeled tokens that are likely entities are left out of the negatives (eq. 8)."""
    assert batch.confidence is not None
    return conf_mpu_risk(
        probs,
        batch.labels,
        batch.priors,
        confidence=batch.confidence,
        confidence_threshold=settings.confidence_threshold,
        entity_weight=settings.entity_weight,
        loss=settings.loss,
    )


def _autoner(logits: Tensor, batch: BatchLabels, settings: Settings) -> Risk:
    """Neighbours are tied or broken, then chunks get a type (Shang et al. 2018)."""
    assert batch.targets is not None
    return autoner_risk(logits, batch.tokens, batch.targets)


def _supervised(probs: Tensor, batch: BatchLabels, settings: Settings) -> Risk:
    """Labels are complete: the mean cross-entropy."""
    return supervised_risk(probs, batch.labels)


RISKS: dict[str, MethodRisk] = {
    "mpn": _mpn,
    "mpu": _mpu,
    "conf_mpu": _conf_mpu,
    "bnpu": _mpu,  # one tagger per type
    "early_stopped": _mpn,  # fewer epochs
    "autoner": _autoner,
    "supervised": _supervised,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One trained method."""

    settings: Settings
    types: tuple[str, ...]
    priors: npt.NDArray[np.float64]  # (classes,)
    taggers: tuple[nn.Module, ...]  # one ensemble, or one per type, end to end
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
    """Train one method on the data and priors that `prepare` returns.

    A confidence that another run has estimated may be given instead of being estimated again.
    """
    method = METHODS[settings.method]
    if not method.needs_gold:  # with complete labels, any number of them will do
        check_data(data, priors)
    entity_prior = float(priors[1:].sum())
    asked, settings = settings, suited_settings(settings, data.sentences, data.labels, entity_prior)
    device = choose_device()
    pretrained = open_pretrained(settings)
    inputs = make_inputs(data, settings, device, pretrained)
    clock = RunClock(
        settings, on_progress, types=len(data.types), has_confidence=confidence is not None
    )
    # Step 1: how likely each token is part of an entity (lambda).
    if method.needs_confidence and confidence is None:
        confidence = _estimate_confidence(
            data,
            inputs,
            entity_prior,
            settings,
            checkpoint,
            clock.listener(CONFIDENCE),
            should_stop,
        )
        if checkpoint and not (should_stop and should_stop()):
            store_confidence(checkpoint, confidence)
    # Step 2: the tagger itself, under the risk of the method. It may see labeled sentences again,
    # with other phrases of the dictionaries in them.
    seen = with_copies(data, inputs, confidence, settings, pretrained)
    taggers: list[nn.Module] = []
    history: list[Epoch] = []
    for part in split_parts(seen.data, priors, settings):
        risk = bind_risk(RISKS[settings.method], part, seen.data, settings, seen.confidence, device)
        for plan in schedules(settings):
            outputs, number = method.outputs(len(data.types)), len(taggers)
            tagger = make_tagger(inputs, outputs, settings, plan.seed, device)
            history += fit(
                tagger,
                seen.inputs,
                risk,
                plan,
                checkpoint=checkpoint and tagger_checkpoint(checkpoint, number),
                on_epoch=clock.listener(TRAINING, tagger=number),
                should_stop=should_stop,
            )
            taggers.append(tagger)
    # Step 3: a student learns what the taggers predict, and takes their place.
    is_stopped = should_stop is not None and should_stop()
    if settings.is_self_trained and method.can_teach and not is_stopped:
        probs = predict_inputs(taggers, inputs, settings)
        student, passes = _teach(
            inputs,
            lessons_from(probs, data.labels, data.known_negatives),
            settings,
            len(taggers),
            checkpoint,
            clock.listener(TRAINING, tagger=len(taggers)),
            should_stop,
        )
        history += passes
        if len(passes) == schedule(settings).epochs:  # else it was stopped: not yet worth taking
            taggers = [student]
    odds = 1.0
    if settings.is_prior_matched:
        odds = matching_odds(predict_inputs(taggers, inputs, settings), priors[1:].sum())
    return Run(
        asked,
        data.types,
        priors,
        tuple(taggers),
        data.lexicon,
        pretrained,
        tuple(history),
        confidence,
        odds,
    )


def _teach(
    inputs: WordInputs | EncodedInputs,
    lessons: npt.NDArray[np.float32],
    settings: Settings,
    number: int,
    checkpoint: Path | None,
    on_epoch: Callable[[Epoch], None] | None,
    should_stop: Callable[[], bool] | None,
) -> tuple[nn.Module, list[Epoch]]:
    """Train the tagger of this number on what those before it predict for the same text."""
    plan = schedule(settings)
    plan = replace(plan, seed=plan.seed + _STUDENT_SEED)
    tagger = make_tagger(
        inputs, lessons.shape[1], student_settings(settings), plan.seed, inputs.device
    )
    history = fit_to_probabilities(
        tagger,
        inputs,
        lessons,
        plan,
        checkpoint=checkpoint and tagger_checkpoint(checkpoint, number),
        on_epoch=on_epoch,
        should_stop=should_stop,
    )
    return tagger, history


def _estimate_confidence(
    data: TrainingData,
    inputs: WordInputs | EncodedInputs,
    entity_prior: float,
    settings: Settings,
    checkpoint: Path | None,
    on_epoch: Callable[[Epoch], None] | None,
    should_stop: Callable[[], bool] | None,
) -> Confidence:
    """Estimate lambda by a binary tagger, as the paper does, or by ridge regression."""
    if settings.confidence_model == "linear":
        return linear_confidence(
            data.sentences,
            word_inputs(data, inputs, settings),
            data.labels,
            entity_prior,
            settings,
            known_negatives=data.known_negatives,
            on_epoch=on_epoch,
            should_stop=should_stop,
        )
    return network_confidence(
        inputs,
        data.labels,
        entity_prior,
        settings,
        lambda classes, seed: make_tagger(inputs, classes, settings, seed, inputs.device),
        known_negatives=data.known_negatives,
        checkpoint=checkpoint,
        on_epoch=on_epoch,
        should_stop=should_stop,
    )


def run_supervised(
    data: TrainingData, settings: Settings, *, on_progress: OnProgress | None = None
) -> Run:
    """Train on complete human labels (given as `data.labels`): the upper reference."""
    shares = np.bincount(data.labels, minlength=len(data.types) + 1) / max(len(data.labels), 1)
    return run(data, shares, replace(settings, method="supervised"), on_progress=on_progress)


@dataclass(frozen=True, slots=True)
class Twin:
    """A fast run that predicts about what another run does."""

    run: Run
    data: TrainingData  # the text that it learned from, without labels
    agreement: float | None  # F1 of its spans against the teacher's, on sentences held out


def make_twin(
    teacher: Run,
    documents: Sequence[Document],
    *,
    settings: Settings | None = None,
    on_share: Callable[[float], None] | None = None,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Twin:
    """Teach a BiLSTM without a transformer what the teacher predicts on unlabeled documents.

    The more text, the better; text of the kind that it will predict is best. `on_share` hears how
    much of it the teacher has read, 0 to 1. Raises Stopped if `should_stop` says so.
    """
    sentences = [tokens for tokens in tokens_of(documents) if tokens]
    if not sentences:
        raise InputError("a twin learns from text, and there are no words in it. Give more text")
    token_count = sum(map(len, sentences))
    settings = settings or twin_settings(teacher.settings, token_count)
    parts: list[npt.NDArray[np.float16]] = []
    read = 0
    for group in sentence_groups(sentences):
        if should_stop and should_stop():
            raise Stopped
        parts.append(probabilities(teacher, group).astype(np.float16))
        read += len(parts[-1])
        if on_share:
            on_share(read / token_count)
    data = TrainingData(sentences, np.zeros(token_count, np.int16), teacher.types, teacher.lexicon)
    pretrained = open_pretrained(settings)
    inputs = make_inputs(data, settings, choose_device(), pretrained)
    assert isinstance(inputs, WordInputs)
    clock = RunClock(settings, on_progress, types=len(data.types), has_confidence=True)
    distilled = distill(
        inputs,
        np.concatenate(parts),
        data.types,
        settings,
        on_epoch=clock.listener(TRAINING),
        should_stop=should_stop,
    )
    if should_stop and should_stop():
        raise Stopped
    run = Run(
        settings,
        data.types,
        teacher.priors,
        (distilled.tagger,),
        data.lexicon,
        pretrained,
        distilled.history,
    )
    return Twin(run, data, distilled.agreement)


# ---- predict: a trained method finds entities -----------------------------------------------


def predict(
    trained: Run,
    documents: Sequence[Document],
    run_id: str = "",
    *,
    cache: Path | None = None,
    on_share: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities that a run finds, by document id.

    Some documents at a time, so that the features of a large corpus are not all in memory. `cache`
    is the folder that keeps contextual features, for documents that were trained on. `on_share`
    hears how much is done, 0 to 1. Raises Stopped when `should_stop` says so.
    """
    context = run_context(trained, documents, cache) if cache else None
    entities: dict[str, tuple[Entity, ...]] = {}
    begin = 0
    for group in groups(documents):
        if should_stop and should_stop():
            raise Stopped
        sentences = tokens_of(group)
        end = begin + sum(map(len, sentences))
        rows = None if context is None else context[begin:end]
        probs = probabilities(trained, sentences, rows)
        entities |= decode(group, probs, trained.types, trained.settings, run_id)
        if on_share:
            on_share(len(entities) / len(documents))
        begin = end
    return entities


def probabilities(
    trained: Run, sentences: Sequence[Sequence[str]], context: Features | None = None
) -> npt.NDArray[np.float32]:
    """Return (tokens, classes) probabilities of new sentences.

    `context` is what `run_context` returns for them, where it is known already.
    """
    if not any(sentences):
        return np.zeros((0, len(trained.types) + 1), np.float32)
    data = TrainingData(sentences, np.zeros(0, np.int16), trained.types, trained.lexicon)
    device = device_of(trained.taggers[0])
    inputs = make_inputs(data, trained.settings, device, trained.pretrained, context)
    return weigh(predict_inputs(trained.taggers, inputs, trained.settings), trained.odds)


def decode(
    documents: Sequence[Document],
    probs: npt.NDArray[np.float32],
    types: Sequence[str],
    settings: Settings,
    run_id: str = "",
) -> dict[str, tuple[Entity, ...]]:
    """Return the entities by document id: maximal runs of tokens of the same class.

    That is the likeliest one, or that of the entity beside it (`joining_probability`), after
    abbreviations were compared with what they stand for (`is_abbreviation_aware`).
    """
    if settings.is_abbreviation_aware:
        probs = with_short_forms(documents, probs)
    bounds = sentence_bounds(tokens_of(documents))
    spans = iter(predictions(probs, bounds, types, joining=settings.joining_probability))
    return {
        document.id: predicted_entities(
            document, [next(spans) for _ in document.sentences], settings.method, run_id
        )
        for document in documents
    }


def run_context(trained: Run, documents: Sequence[Document], cache: Path | None) -> Features | None:
    """Return the contextual features that the run sees of the documents, kept in `cache`.

    None for a run without contextual features.
    """
    device = device_of(trained.taggers[0])
    sentences = tokens_of(documents)
    return context_of(sentences, trained.settings, device, trained.pretrained, cache=cache)


# ---- score: the only step that sees gold ----------------------------------------------------


def score(
    documents: Sequence[Document], gold: EntitiesByDocument, entities: EntitiesByDocument
) -> Evaluation:
    """Return strict scores over the documents with gold: same tokens and same type count."""
    return evaluate_documents(documents, gold, entities)


# ---- hide: which method to take, without gold -----------------------------------------------


@dataclass(frozen=True, slots=True)
class HiddenPhrases:
    """What the methods learn from while some phrases are hidden, and what they are to find."""

    hidden: Hidden
    prepared: Prepared  # without the hidden phrases
    words: npt.NDArray[np.int32]  # (tokens,): the number of the hidden phrase, -1 elsewhere
    rate: float  # share of the unlabeled tokens that each method marks


def prepare_hidden(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    *,
    match: str,
    settings: Settings,
    labels: DistantLabels | None = None,
    share: float = HIDDEN_SHARE,
    priors: Mapping[str, float] | None = None,
    cache: Path | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> HiddenPhrases:
    """Hide a share of each type's phrases, and prepare the rest for training.

    What is hidden, and the rate, depend on text, dictionaries, share and given priors alone, so
    that runs with other settings can be compared. What the text contradicts is neither learned nor
    searched for. Raises InputError if too few phrases match to hide some.
    """
    labels = labels or label(documents, dictionaries, match)
    hidden = hide_phrases(dictionaries, labels, share)
    fewer = label(documents, hidden.dictionaries, match)
    if priors is None:
        prior = estimate_priors(tokens_of(documents), fewer.labels, fewer.types, seed=0)
        entity_prior = float(prior.values[1:].sum())
    else:
        entity_prior = sum(priors.values())
    words = hidden_words(hidden, labels, fewer.labels)
    rate = common_rate(entity_prior, words, fewer.labels)
    prepared = prepare(
        documents,
        hidden.dictionaries,
        match=match,
        settings=settings,
        labels=fewer,
        priors=priors,
        cache=cache,
        should_stop=should_stop,
    )
    return HiddenPhrases(hidden, prepared, words, rate)


def find_hidden(
    trained: Run,
    documents: Sequence[Document],
    task: HiddenPhrases,
    *,
    cache: Path | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> FoundAgain:
    """Count the words of hidden phrases that a method finds again at the common rate."""
    context = run_context(trained, documents, cache) if cache else None
    parts, begin = [np.zeros(0, np.float32)], 0
    for group in groups(documents):
        if should_stop and should_stop():
            raise Stopped
        sentences = tokens_of(group)
        end = begin + sum(map(len, sentences))
        probs = probabilities(trained, sentences, None if context is None else context[begin:end])
        parts.append(1 - probs[:, 0])
        begin = end
    labels = task.prepared.data.labels
    return find_again(task.hidden, task.words, labels, np.concatenate(parts), task.rate)
