"""`train` on files: train taggers on texts and dictionaries, and compare them."""

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.cli import console
from engine.cli.encoding_bar import watch_context
from engine.cli.epoch_lines import EpochLines, epochs_of_all
from engine.cli.inputs import match_preset, read_given_dictionaries, read_gold, read_texts
from engine.cli.keyboard import end_if_stopped, stopped_by_keyboard
from engine.cli.options import check_files_only, make_settings, parse_methods, parse_priors
from engine.cli.terminal import heading, note_all, say
from engine.dictionaries import Dictionary, active_types
from engine.experiment import Prepared, Run, predict, prepare, score
from engine.export import by_trust
from engine.formats import write_corpus
from engine.labels import dictionary_entities
from engine.learning import complete_labels
from engine.network import Stopped, Tokens, choose_device
from engine.planning import METHODS, title_of
from engine.run_folder import EXPORTED_PREDICTIONS
from engine.runs import compare, compare_hidden, features_folder, load_run, write_scores
from engine.scoring import (
    HIDDEN_CAUTION,
    FoundAgain,
    Scores,
    best_of,
    check_hidden_share,
    compare_entities,
    epochs_advice,
    overall,
    score_confidence_of_documents,
)
from engine.settings import Settings
from engine.text import Corpus, EntitiesByDocument, InputError


def train_on_files(options: argparse.Namespace) -> None:
    """Train the methods asked for, leave a run of each in --out, and print the comparison."""
    check_files_only(options, "a folder for the runs")
    settings = make_settings(options)
    if options.hide:
        check_hidden_share(options.hide)
    methods = parse_methods(options.methods)
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    gold = read_gold(options, corpus)
    cache = features_folder(Path(options.out))
    with stopped_by_keyboard() as should_stop:

        def encode(sentences: Tokens) -> None:
            watch_context(sentences, settings, cache, should_stop)

        try:
            prepared = prepare(
                corpus.documents,
                dictionaries,
                match=match_preset(options),
                settings=settings,
                priors=parse_priors(options.priors) or None,
                cache=cache,
                encode=encode,
                workers=options.workers,
                should_stop=should_stop,
            )
        except Stopped:
            end_if_stopped(True)
        data = prepared.data
        note_all(prepared.notes)
        _say_plan(prepared, settings)
        epochs = epochs_of_all(methods, settings, types=len(data.types))
        encode(data.sentences)
        with EpochLines(epochs) as lines:
            folders = compare(
                data,
                prepared.priors.values,
                settings,
                methods,
                Path(options.out),
                dictionaries=dictionaries,
                gold_labels=_gold_labels(methods, corpus, gold, data.types),
                workers=options.workers,
                on_progress=lines,
                should_stop=should_stop,
            )
        end_if_stopped(should_stop())
        hidden = {}
        if options.hide:
            try:
                hidden = _compare_hidden(
                    options, corpus, dictionaries, settings, methods, should_stop
                )
            except Stopped:
                end_if_stopped(True)
    entities: dict[str, EntitiesByDocument] = {
        "dictionary": dictionary_entities(prepared.labels, corpus.documents)
    }
    confident: Run | None = None
    for method, folder in folders.items():
        trained = load_run(folder)
        confident = trained if trained.confidence else confident
        predicted = predict(trained, corpus.documents, folder.name, cache=cache)
        write_corpus(replace(corpus, entities=predicted), folder / EXPORTED_PREDICTIONS)
        entities[method] = predicted
        if gold is not None:
            scores = score(corpus.documents, gold, predicted)
            write_scores(folder, {"train": _record(scores.overall)})
    say_comparison(corpus, entities, gold)
    say_hidden(hidden)
    if gold is not None and confident is not None:
        _say_confidence(corpus, gold, data.labels, confident)
    say(f"\nRuns are in {options.out}; use one with: glossa predict --run {folder}")


def _compare_hidden(
    options: argparse.Namespace,
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    settings: Settings,
    methods: Sequence[str],
    should_stop: Callable[[], bool],
) -> dict[str, FoundAgain]:
    """Train once more with hidden phrases; if too few match, note it and return nothing."""
    types = len(active_types(dictionaries))
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            EpochLines(epochs_of_all(methods, settings, types=types)) as lines,
        ):
            return compare_hidden(
                corpus.documents,
                dictionaries,
                settings,
                methods,
                Path(folder),
                match=match_preset(options),
                share=options.hide,
                priors=parse_priors(options.priors) or None,
                cache=features_folder(Path(options.out)),
                workers=options.workers,
                on_progress=lines,
                should_stop=should_stop,
            )
    except InputError as error:
        note_all([f"not compared on hidden phrases: {error}"])
        return {}


def _gold_labels(
    methods: list[str], corpus: Corpus, gold: EntitiesByDocument | None, types: tuple[str, ...]
) -> npt.NDArray[np.int16] | None:
    """Return the labels that the upper reference learns from; None when it is not asked for."""
    if gold is None or not any(METHODS[method].needs_gold for method in methods):
        return None
    return complete_labels(corpus.documents, gold, types)


# ---- printing -------------------------------------------------------------------------------


def _say_plan(prepared: Prepared, settings: Settings) -> None:
    device = choose_device()
    data, priors = prepared.data, prepared.priors
    heading("Training")
    counts = np.bincount(data.labels, minlength=len(data.types) + 1)
    rows = [
        {"type": name, "labeled tokens": int(counts[i]), "prior": f"{priors.values[i]:.4f}",
         "source": priors.source[i - 1]}
        for i, name in enumerate(data.types, start=1)
    ]  # fmt: skip
    say(console.table(console.columns_of(rows)))
    say(f"\n{len(data.labels):,} tokens, {settings.epochs} epochs, {settings.encoder}, {device}.")


def say_comparison(
    corpus: Corpus, entities: Mapping[str, EntitiesByDocument], gold: EntitiesByDocument | None
) -> None:
    """Print scores against gold, or counts and agreement where there is none."""
    if gold is not None:
        heading("Comparison, against gold")
        rows = []
        for method, predicted in entities.items():
            scores = score(corpus.documents, gold, predicted).overall
            rows.append({"method": title_of(method)} | _shares(scores))
        say(console.table(console.columns_of(rows)))
        return
    heading("Comparison, without gold: these are counts and agreement, not accuracy")
    rows = []
    for method, predicted in entities.items():
        row: dict[str, object] = {
            "method": title_of(method),
            "entities": sum(map(len, predicted.values())),
        }
        for other, theirs in entities.items():
            agreement = overall(compare_entities(theirs, predicted)).f1
            row[f"like {title_of(other)} %"] = agreement
        rows.append(row)
    say(console.table(console.columns_of(rows)))


def say_hidden(found: Mapping[str, FoundAgain]) -> None:
    """Print how many words of hidden phrases each method finds again, and which to take."""
    if not found:
        return
    heading(f"Words of hidden phrases found again. {HIDDEN_CAUTION}")
    trusted = sorted(found, key=by_trust)
    rows = [
        {
            "method": title_of(method),
            "found again": sum(found[method].found),
            "hidden": sum(found[method].words),
            "phrases": len(found[method].phrases),
        }
        for method in trusted
    ]
    say(console.table(console.columns_of(rows)))
    if len(found) > 1:
        say(f"\nTake {title_of(best_of({method: found[method] for method in trusted}))}.")
    for method in trusted:
        if advice := epochs_advice(found[method]):
            say(f"{title_of(method)}: {advice}")


def _say_confidence(
    corpus: Corpus, gold: EntitiesByDocument, labels: npt.NDArray[np.int16], trained: Run
) -> None:
    """Print how right the confidence is that a run was trained with, token by token."""
    assert trained.confidence is not None
    threshold = trained.settings.confidence_threshold
    scores = score_confidence_of_documents(
        trained.confidence.values, labels, corpus.documents, gold, threshold=threshold
    )
    heading(f"Confidence above {threshold:g}, against gold, by token")
    rows = [
        {"tokens": "unlabeled"} | _shares(scores.unlabeled),
        {"tokens": "all"} | _shares(scores.all),
    ]
    say(console.table(console.columns_of(rows)))


def _shares(scores: Scores) -> dict[str, object]:
    return {
        "precision %": scores.precision,
        "recall %": scores.recall,
        "F1 %": scores.f1,
        "predicted": scores.predicted,
        "gold": scores.support,
    }


def _record(scores: Scores) -> dict[str, object]:
    return {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1}
