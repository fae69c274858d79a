"""`train`: texts and dictionaries become trained taggers, compared."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import console
from engine.commands.context import watch_context
from engine.commands.epoch_lines import NAMES, EpochLines, epochs_of_all
from engine.commands.inputs import (
    match_preset,
    project_of,
    read_given_dictionaries,
    read_gold,
    read_texts,
)
from engine.commands.keyboard import STOPPED, stopped_by_keyboard
from engine.commands.terminal import heading, note_all, say
from engine.comparison import compare, features_folder
from engine.confidence_scores import score_confidence_of_documents
from engine.device import choose_device
from engine.distant import dictionary_entities, label
from engine.experiment import Run, predict_documents, run_context
from engine.formats import write_corpus
from engine.metrics import Scores, compare_entities, evaluate_documents, overall
from engine.priors import Priors, estimate_priors, given_priors
from engine.run_card import EXPORTED_PREDICTIONS
from engine.runs import load_run, write_scores
from engine.settings import BASELINES, METHODS, Settings, training_settings
from engine.text import Corpus, EntitiesByDocument, InputError
from engine.training_data import (
    TrainingData,
    check_data,
    complete_labels,
    data_warnings,
    make_training_data,
)


def train_command(options: argparse.Namespace) -> None:
    """Train the methods asked for and print how they compare."""
    if project := project_of(options):
        from engine.commands.project_training import train_in_project

        train_in_project(project, options)
        return
    check_files_only(options, "a folder for the runs")
    settings = make_settings(options)
    methods = parse_methods(options.methods)
    corpus = read_texts(options)
    dictionaries = read_given_dictionaries(options)
    gold = read_gold(options, corpus)
    preset = match_preset(options)
    labels = label(corpus.documents, dictionaries, preset, workers=options.workers)
    data = make_training_data(corpus.documents, dictionaries, labels, preset)
    if given := parse_priors(options.priors):
        priors = given_priors(given, data.types, labels=data.labels)
    else:
        priors = estimate_priors(data.sentences, data.labels, data.types, seed=settings.seed)
    check_data(data, priors.values)
    note_all([*priors.notes, *data_warnings(data, settings)])
    _say_plan(data, priors, settings)
    epochs = epochs_of_all(methods, settings, types=len(data.types))
    cache = features_folder(Path(options.out))
    with stopped_by_keyboard() as should_stop:
        watch_context(data.sentences, settings, cache, should_stop)
        with EpochLines(epochs) as lines:
            folders = compare(
                data,
                priors.values,
                settings,
                methods,
                Path(options.out),
                dictionaries=dictionaries,
                gold_labels=_gold_labels(methods, corpus, gold, data),
                workers=options.workers,
                on_progress=lines,
                should_stop=should_stop,
            )
    end_if_stopped(should_stop())
    found: dict[str, EntitiesByDocument] = {
        "dictionary": dictionary_entities(labels, corpus.documents)
    }
    confident: Run | None = None  # the run of Conf-MPU
    for method, folder in folders.items():
        trained = load_run(folder)
        confident = trained if trained.confidence else confident
        context = run_context(trained, corpus.documents, cache)
        predicted = predict_documents(trained, corpus.documents, folder.name, context)
        write_corpus(replace(corpus, entities=predicted), folder / EXPORTED_PREDICTIONS)
        found[method] = predicted
        if gold is not None:
            scores = evaluate_documents(corpus.documents, gold, found[method])
            write_scores(folder, {"train": _record(scores.overall)})
    say_comparison(corpus, found, gold)
    if gold is not None and confident is not None:
        _say_confidence(corpus, gold, data, confident)
    say(f"\nRuns are in {options.out}; use one with: python -m engine predict --run {folder}")


def end_if_stopped(is_stopped: bool) -> None:
    """End the command when Ctrl-C was pressed, saying how to go on."""
    if is_stopped:
        say("Stopped. Finished epochs are kept; the same command goes on after them.")
        raise SystemExit(STOPPED)


def _gold_labels(
    methods: list[str], corpus: Corpus, gold: EntitiesByDocument | None, data: TrainingData
) -> npt.NDArray[np.int16] | None:
    """Return what the upper reference learns from; nothing when it was not asked for."""
    if "supervised" not in methods or gold is None:
        return None
    return complete_labels(corpus.documents, gold, data.types)


def check_files_only(options: argparse.Namespace, what: str) -> None:
    """Raise InputError for options that only a project has, and without a place for results."""
    if getattr(options, "use_decisions", False) or options.resume:
        raise InputError("--use-decisions and --resume need a --project")
    if not options.out:
        raise InputError(f"name {what} with --out")


def make_settings(options: argparse.Namespace) -> Settings:
    """Return the preset with what the command line changes in it."""
    changes = {"seed": options.seed, **parse_changes(options)}
    try:
        return replace(training_settings(options.preset, options.encoder), **changes)
    except ValueError as error:
        raise InputError(str(error)) from None


def parse_changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of --set, each as the kind of value it is."""
    changes: dict[str, Any] = {}
    kinds = {field.name: type(getattr(Settings(), field.name)) for field in fields(Settings)}
    for assignment in options.set:
        name, _, value = assignment.partition("=")
        if name not in kinds:
            raise InputError(
                f'--set: "{name}" is not a setting; choose one of {", ".join(sorted(kinds))}'
            )
        changes[name] = _parse(name, value, kinds[name])
    return changes


def parse_priors(assignments: Sequence[str]) -> dict[str, float]:
    """Return the priors of a list such as ["Chemical=0.03", "Disease=0.02"]."""
    priors = {}
    for assignment in assignments:
        name, _, share = assignment.rpartition("=")
        try:
            priors[name] = float(share)
        except ValueError:
            raise InputError(
                f'--priors: "{assignment}" is not a type and a share, such as Disease=0.02'
            ) from None
    return priors


def _parse(name: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        raise InputError(f"--set {name}: expected {kind.__name__}, got {text!r}") from None


def parse_methods(text: str) -> list[str]:
    """Return the methods of a list such as "conf_mpu,mpu,mpn"."""
    methods = [method.strip() for method in text.split(",") if method.strip()]
    known = (*METHODS, *BASELINES)
    for method in methods:
        if method not in known:
            raise InputError(f'--methods: "{method}" is not one of {", ".join(known)}')
    if not methods:
        raise InputError(f"--methods names none; choose from {', '.join(known)}")
    return list(dict.fromkeys(methods))


# ---- printing -------------------------------------------------------------------------------


def _say_plan(data: TrainingData, priors: Priors, settings: Settings) -> None:
    device = choose_device()
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
    corpus: Corpus, found: Mapping[str, EntitiesByDocument], gold: EntitiesByDocument | None
) -> None:
    """Print scores against gold, or counts and agreement where there is none."""
    if gold is not None:
        heading("Comparison, against gold")
        rows = []
        for method, entities in found.items():
            scores = evaluate_documents(corpus.documents, gold, entities).overall
            rows.append({"method": NAMES.get(method, method)} | _shares(scores))
        say(console.table(console.columns_of(rows)))
        return
    heading("Comparison, without gold: these are counts and agreement, not accuracy")
    rows = []
    for method, entities in found.items():
        row: dict[str, object] = {
            "method": NAMES.get(method, method),
            "entities": sum(map(len, entities.values())),
        }
        for other, theirs in found.items():
            agreement = overall(compare_entities(theirs, entities)).f1
            row[f"like {NAMES.get(other, other)} %"] = agreement
        rows.append(row)
    say(console.table(console.columns_of(rows)))


def _say_confidence(
    corpus: Corpus, gold: EntitiesByDocument, data: TrainingData, trained: Run
) -> None:
    """Print how right the confidence is that Conf-MPU was trained with, token by token."""
    assert trained.confidence is not None
    threshold = trained.settings.confidence_threshold
    scores = score_confidence_of_documents(
        trained.confidence.values, data.labels, corpus.documents, gold, threshold=threshold
    )
    heading(f"Confidence above {threshold:g}, against gold, by token")
    rows = {"unlabeled": scores.unlabeled, "all": scores.all}
    say(
        console.table(
            console.columns_of([{"tokens": name} | _shares(of) for name, of in rows.items()])
        )
    )


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
