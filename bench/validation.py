"""Measure how far scores from a judged sample can be trusted: decisions are simulated from gold.

A method is trained as the app does, and finds entities in the text that it learned from. Then 100
people judge 100 units each, every one a random sample of their own (`engine/scoring/judged_units`,
`judged_estimate`), and answer as the gold would. For each of them the script notes the estimated
precision, recall and F1, and whether the true score is inside the 95 % interval.

  inside       in how many of 100 draws the truth is inside the interval; wanted: at least 90
  half width   half the length of the interval in points, mean over draws; wanted for F1: under 8
  bias         mean estimate minus truth, in points
  grouped by   what tells likely passages from unlikely ones: the confidence, or only their length

    python -m bench.validation [sample bc5cdr_big …] [--method conf_mpu] [--preset quick]
                               [--decisions 25,50,100,200] [--draws 100] [--runs DIR] [--data DIR]

With --regret it measures what the choice by hidden phrases costs instead: every method is trained
on everything, and once more with a tenth of the phrases hidden. The words of these that it finds
again choose a method and a preset, as in the app.

  found again  words of hidden phrases, of all of them; compares, and is no recall
  regret       F1 on gold of the best method and preset minus that of the chosen one, in points;
               wanted: under 1.5

    python -m bench.validation [sample bc5cdr_big …] --regret [--presets quick,balanced]
                               [--methods conf_mpu,mpu,mpn] [--hide 0.1] [--runs DIR] [--data DIR]

--runs keeps the trained runs, so that a second call trains nothing. --regret, this estimate and
bench.review share them.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bench import environment
from bench.data import SETTINGS, add_data_option, dictionaries, load
from bench.quality import published_labels
from engine.dictionaries import Dictionary, read_dictionary
from engine.experiment import predict, prepare
from engine.export import METHOD_ORDER
from engine.files import read_source
from engine.formats import align, gold_of, read_corpus
from engine.labels import DistantLabels, label
from engine.network import set_threads
from engine.planning import METHODS
from engine.runs import compare, compare_hidden, features_folder, load_run
from engine.scoring import (
    HIDDEN_SHARE,
    FoundAgain,
    Scores,
    Units,
    answers_from_gold,
    best_of,
    evaluate_documents,
    judged_scores,
    make_units,
    shuffled,
    to_judge,
)
from engine.settings import (
    DEFAULT_TRAINING_PRESET,
    TRAINING_PRESETS,
    ReadOptions,
    Settings,
    training_settings,
)
from engine.text import (
    Document,
    EntitiesByDocument,
    entities_from_spans,
    make_tokenized_document,
    spans_from_tags,
)

SAMPLE = "sample"
SAMPLE_FOLDER = environment.ROOT / "sample_data"
_NAMES = ", ".join(SETTINGS)
SHARES = ("precision", "recall", "f1")


class Task(NamedTuple):
    """What methods are trained on, and the gold that scores them."""

    documents: list[Document]
    gold: EntitiesByDocument
    dictionaries: list[Dictionary]
    labels: DistantLabels


def read_task(setting: str, data_folder: Path) -> Task:
    """Return the sample project, or a benchmark setting from the folder."""
    return _read_sample() if setting == SAMPLE else _read_setting(setting, data_folder)


def _read_sample() -> Task:
    """Return the text, gold, dictionaries and labels of the sample project."""
    documents = list(
        read_corpus([read_source(SAMPLE_FOLDER / "train.jsonl")], ReadOptions()).documents
    )
    gold = gold_of(read_corpus([read_source(SAMPLE_FOLDER / "gold.csv")], ReadOptions()))
    phrases = [
        read_dictionary(read_source(path))
        for path in sorted((SAMPLE_FOLDER / "dictionary").glob("*.txt"))
    ]
    labels = label(documents, phrases, "adaptive")
    return Task(documents, align(documents, gold).entities, phrases, labels)


def _read_setting(setting: str, data_folder: Path) -> Task:
    """Return the train text, its gold, the dictionaries and the labels of a benchmark setting."""
    sentences, tags, published = load(setting, data_folder)
    document = make_tokenized_document("train", sentences)
    gold = [
        entity
        for sentence, row in zip(document.sentences, tags, strict=True)
        for entity in entities_from_spans(sentence, spans_from_tags(row), "gold")
    ]
    phrases = dictionaries(setting, data_folder)
    labels = (
        label([document], phrases, "adaptive")
        if phrases
        else published_labels(document, published, SETTINGS[setting].types)
    )
    return Task([document], {document.id: tuple(gold)}, phrases, labels)


def train_methods(
    task: Task,
    settings: Settings,
    methods: Sequence[str],
    folder: Path,
    cache: Path,
    workers: int = 1,
) -> dict[str, Path]:
    """Train methods on a setting; return the folders of their runs."""
    prepared = prepare(
        task.documents,
        task.dictionaries,
        match="adaptive",
        settings=settings,
        labels=task.labels,
        cache=cache,
    )
    return compare(
        prepared.data,
        prepared.priors.values,
        settings,
        methods,
        folder,
        dictionaries=task.dictionaries,
        workers=workers,
    )


def measure(setting: str, options: argparse.Namespace, folder: Path) -> dict:
    """Train the method, and estimate its scores from simulated decisions."""
    task = read_task(setting, options.data)
    documents, gold = task.documents, task.gold
    settings = training_settings(options.preset)
    cache = features_folder(folder)
    paths = train_methods(task, settings, [options.method], folder / options.preset, cache)
    trained = load_run(paths[options.method])
    entities = predict(trained, documents, cache=cache)
    annotated = [document for document in documents if document.id in gold]
    truth = evaluate_documents(annotated, gold, entities).overall
    kept = np.concatenate([np.full(sum(map(len, d.sentences)), d.id in gold) for d in documents])
    confidence = trained.confidence.values[kept] if trained.confidence else None
    rows = []
    for name, values in (("confidence", confidence), ("length", None)):
        if name == "confidence" and values is None:
            continue
        units = make_units(annotated, entities, values)
        answers = answers_from_gold(units, annotated, gold)
        rows += [
            {
                "grouped by": name,
                "decisions": n,
                **estimate(units, answers, truth, n, options.draws),
            }
            for n in options.decisions
        ]
    return {
        "setting": setting,
        "method": options.method,
        "preset": options.preset,
        "entities": truth.predicted,
        "gold": truth.support,
        "truth": {name: round(100 * (getattr(truth, name) or 0), 2) for name in SHARES},
        "rows": rows,
    }


def estimate(units: Units, answers: dict, truth: Scores, decisions: int, draws: int) -> dict:
    """Return how well the intervals hold the truth, over samples of this many decisions."""
    values = []
    for seed in range(draws):
        drawn, given = shuffled(units, seed), {}
        while len(given) < decisions and (places := to_judge(drawn, given)):
            given |= {place: answers[place] for place in places}
        scores = judged_scores(drawn, given, seed=seed)
        assert scores is not None
        values.append([[s.value, s.low, s.high] for s in (getattr(scores, n) for n in SHARES)])
    table = 100 * np.array(values)
    row = {}
    for i, name in enumerate(SHARES):
        true = 100 * (getattr(truth, name) or 0)
        value, low, high = table[:, i].T
        row[name] = {
            "inside": round(100 * float(((low <= true) & (true <= high)).mean()), 1),
            "half_width": round(float((high - low).mean() / 2), 2),
            "bias": round(float(value.mean() - true), 2),
            "deviation": round(float(value.std(ddof=1)), 2) if draws > 1 else 0.0,
        }
    return row


# ---- regret of the choice by hidden phrases -------------------------------------------------


def measure_regret(setting: str, options: argparse.Namespace, folder: Path) -> dict:
    """Train every method with every preset, and choose between them by hidden phrases."""
    task = read_task(setting, options.data)
    documents, gold, phrases, labels = task
    annotated = [document for document in documents if document.id in gold]
    cache = features_folder(folder)
    f1: dict[str, float] = {}
    found: dict[str, FoundAgain] = {}
    # As in the app: what chance explains is left to the trusted method and the usual preset.
    presets = sorted(options.presets, key=lambda preset: preset != DEFAULT_TRAINING_PRESET)
    for preset in presets:
        settings = training_settings(preset)
        paths = train_methods(
            task, settings, options.methods, folder / preset, cache, options.workers
        )
        again = compare_hidden(
            documents,
            phrases,
            settings,
            options.methods,
            folder / preset / "hidden",
            match="adaptive",
            labels=labels,
            share=options.hide,
            cache=cache,
            workers=options.workers,
        )
        for method in options.methods:
            entities = predict(load_run(paths[method]), documents, cache=cache)
            scores = evaluate_documents(annotated, gold, entities).overall
            f1[f"{preset} {method}"] = 100 * (scores.f1 or 0)
            found[f"{preset} {method}"] = again[method]
    trusted = [f"{preset} {method}" for method in options.methods for preset in presets]
    chosen = {
        preset: best_of({n: found[n] for n in trusted if n.startswith(f"{preset} ")})
        for preset in presets
    }
    overall = best_of({name: found[name] for name in trusted})
    return {
        "setting": setting,
        "rate": round(next(iter(found.values())).rate, 4),
        "phrases": len(next(iter(found.values())).phrases),
        "rows": [
            {
                "run": name,
                "f1": round(f1[name], 2),
                "found_again": sum(found[name].found),
                "words": sum(found[name].words),
            }
            for name in trusted
        ],
        "regret_of_method": {
            preset: round(max(f1[n] for n in f1 if n.startswith(f"{preset} ")) - f1[name], 2)
            for preset, name in chosen.items()
        },
        "recommended": overall,
        "regret": round(max(f1.values()) - f1[overall], 2),
        "rank_correlation": _rank_correlation(
            [f1[name] for name in trusted], [found[name].share for name in trusted]
        ),
    }


def _rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Spearman's; None for fewer than three runs."""
    if len(one) < 3:
        return None
    return round(float(pd.Series(one).corr(pd.Series(other), method="spearman")), 2)


def show_regret(result: dict) -> None:
    """Print the table of one setting."""
    print(
        f"{result['setting']}: {result['phrases']} hidden phrases, "
        f"{100 * result['rate']:.1f} % of the unlabeled tokens marked"
    )
    print(f"{'preset, method':<24}{'F1 on gold':>12}{'found again':>13}{'of':>6}")
    for row in result["rows"]:
        print(f"{row['run']:<24}{row['f1']:>12.1f}{row['found_again']:>13}{row['words']:>6}")
    methods = ", ".join(f"{p} {points:.1f}" for p, points in result["regret_of_method"].items())
    print(
        f"recommended: {result['recommended']}; regret {result['regret']:.1f} points "
        f"(method alone: {methods}); rank correlation {result['rank_correlation']}",
        flush=True,
    )


def show(result: dict) -> None:
    """Print the table of one setting."""
    truth = ", ".join(f"{name} {value:.1f}" for name, value in result["truth"].items())
    print(f"{result['setting']}, {result['method']}, preset {result['preset']}; truth: {truth}")
    head = "".join(f"{name:>11}{'half width':>12}{'bias':>7}" for name in SHARES)
    print(f"{'grouped by':<13}{'decisions':>10}{head}")
    for row in result["rows"]:
        cells = "".join(
            f"{row[n]['inside']:>9.0f} %{row[n]['half_width']:>12.1f}{row[n]['bias']:>+7.1f}"
            for n in SHARES
        )
        print(f"{row['grouped by']:<13}{row['decisions']:>10}{cells}", flush=True)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Give a script the names of settings as its arguments; the sample if none is given."""

    def name(text: str) -> str:
        if text != SAMPLE and text not in SETTINGS:
            raise argparse.ArgumentTypeError(f"{text!r}: choose from {SAMPLE}, {_NAMES}")
        return text

    # With `choices`, argparse would look for the list of none among them.
    parser.add_argument(
        "settings", nargs="*", default=[SAMPLE], type=name, metavar="SETTING",
        help=f"{SAMPLE}, {_NAMES} ({SAMPLE})",
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_settings(parser)
    methods = [name for name, method in METHODS.items() if not method.needs_gold]
    parser.add_argument("--method", choices=methods, default="conf_mpu", help="(%(default)s)")
    parser.add_argument("--preset", choices=TRAINING_PRESETS, default="quick", help="(%(default)s)")
    parser.add_argument("--decisions", type=_numbers, default=(25, 50, 100, 200))
    parser.add_argument("--draws", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--regret", action="store_true", help="measure the choice of method")
    parser.add_argument("--presets", type=_words, default=("quick",), help="(quick)")
    parser.add_argument("--methods", type=_words, default=METHOD_ORDER, help="(%(default)s)")
    parser.add_argument("--hide", type=float, default=HIDDEN_SHARE, help="(%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="for --regret (%(default)s)")
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    for given, known in ((options.presets, TRAINING_PRESETS), (options.methods, methods)):
        if unknown := set(given) - set(known):
            parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(known)}")
    if options.regret and (bare := [s for s in options.settings if not _has_dictionary(s)]):
        parser.error(f"{', '.join(bare)} has no dictionary of which phrases could be hidden")
    set_threads(options.threads)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for setting in options.settings:
            folder = (options.runs or Path(temporary)) / setting
            if options.regret:
                rows.append(measure_regret(setting, options, folder))
                show_regret(rows[-1])
            else:
                rows.append(measure(setting, options, folder))
                show(rows[-1])
    name = "validation, regret" if options.regret else "validation"
    environment.finish({"benchmark": name, "draws": options.draws, "settings": rows})


def _has_dictionary(setting: str) -> bool:
    return setting == SAMPLE or bool(SETTINGS[setting].dictionary)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


if __name__ == "__main__":
    main()
