"""Measure the speed of each method on a few batches, to say beforehand how long training takes."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from engine.experiment import run
from engine.learning import Progress, TrainingData
from engine.network import choose_device, context_of, has_context, open_pretrained, sentence_bounds
from engine.settings import Settings

_STEPS = {"bilstm": 5, "transformer": 2}  # batches that are timed, after as many to warm up


def measure_speeds(
    data: TrainingData, settings: Settings, methods: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Return the tokens per second of each (method, stage), from two short epochs of each.

    The weights are thrown away. Priors do not matter for speed, so the labeled shares serve. The
    time of a frozen encoder is the stage ("", "prepare").
    """
    sample = sample_sentences(data, _STEPS[settings.encoder] * settings.batch_size, settings.seed)
    shares = np.bincount(sample.labels, minlength=len(data.types) + 1) / len(sample.labels)
    short = replace(
        settings,
        epochs=2,
        confidence_epochs=2,
        confidence_folds=0,
        confidence_seeds=1,
        ensemble=1,
        is_self_trained=False,
    )
    speeds: dict[tuple[str, str], float] = {}
    if has_context(settings):
        pretrained = open_pretrained(settings)
        began = time.perf_counter()
        context_of(sample.sentences, settings, choose_device(), pretrained)
        speeds["", "prepare"] = len(sample.labels) / (time.perf_counter() - began)

    def heard(progress: Progress) -> None:
        # The second epoch overwrites the first, which is slower: memory is still being allocated.
        speeds[progress.method, progress.stage] = progress.epoch.tokens_per_second

    for method in methods:
        run(sample, shares, replace(short, method=method), on_progress=heard)
    return speeds


def sample_sentences(data: TrainingData, count: int, seed: int = 0) -> TrainingData:
    """Return `count` random sentences, or all, with at least one label of every type."""
    bounds = sentence_bounds(data.sentences)
    order = np.random.default_rng(seed).permutation(len(data.sentences))
    chosen = set(order[:count].tolist())
    for type_number in range(1, len(data.types) + 1):
        token = int(np.argmax(data.labels == type_number))
        chosen.add(int(np.searchsorted(bounds, token, side="right")) - 1)
    sentences = sorted(chosen)
    return replace(
        data,
        sentences=[data.sentences[i] for i in sentences],
        labels=_taken(data.labels, bounds, sentences),
        known_negatives=None,
        cache=None,
    )


def _taken(
    labels: npt.NDArray[np.int16], bounds: npt.NDArray[np.int64], sentences: Sequence[int]
) -> npt.NDArray[np.int16]:
    return np.concatenate([labels[bounds[i] : bounds[i + 1]] for i in sentences])
