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

--runs keeps the trained runs, so that a second call trains nothing.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import environment
from bench.data import SETTINGS, add_data_option, dictionaries, load
from bench.quality import published_labels
from engine.dictionaries import Dictionary, read_dictionary
from engine.experiment import predict, prepare
from engine.files import read_source
from engine.formats import align, gold_of, read_corpus
from engine.labels import DistantLabels, label
from engine.network import set_threads
from engine.planning import METHODS
from engine.runs import compare, features_folder, load_run
from engine.scoring import (
    Scores,
    Units,
    answers_from_gold,
    evaluate_documents,
    judged_scores,
    make_units,
    shuffled,
    to_judge,
)
from engine.settings import TRAINING_PRESETS, ReadOptions, training_settings
from engine.text import (
    Document,
    EntitiesByDocument,
    entities_from_spans,
    make_tokenized_document,
    spans_from_tags,
)

SAMPLE = "sample"
SAMPLE_FOLDER = environment.ROOT / "sample_data"
SHARES = ("precision", "recall", "f1")


def read_sample() -> tuple[list[Document], EntitiesByDocument, list[Dictionary], DistantLabels]:
    """Return the text, gold, dictionaries and labels of the sample project."""
    documents = list(
        read_corpus([read_source(SAMPLE_FOLDER / "train.jsonl")], ReadOptions()).documents
    )
    gold = gold_of(read_corpus([read_source(SAMPLE_FOLDER / "gold.csv")], ReadOptions()))
    phrases = [
        read_dictionary(read_source(path))
        for path in sorted((SAMPLE_FOLDER / "dictionary").glob("*.txt"))
    ]
    return (
        documents,
        align(documents, gold).entities,
        phrases,
        label(documents, phrases, "adaptive"),
    )


def read_setting(
    setting: str, data_folder: Path
) -> tuple[list[Document], EntitiesByDocument, list[Dictionary], DistantLabels]:
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
    return [document], {document.id: tuple(gold)}, phrases, labels


def measure(setting: str, options: argparse.Namespace, folder: Path) -> dict:
    """Train the method, and estimate its scores from simulated decisions."""
    source = read_sample() if setting == SAMPLE else read_setting(setting, options.data)
    documents, gold, phrases, labels = source
    settings = training_settings(options.preset)
    cache = features_folder(folder)
    prepared = prepare(
        documents, phrases, match="adaptive", settings=settings, labels=labels, cache=cache
    )
    paths = compare(
        prepared.data,
        prepared.priors.values,
        settings,
        [options.method],
        folder,
        dictionaries=phrases,
    )
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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "settings", nargs="*", default=[SAMPLE], choices=(SAMPLE, *SETTINGS), metavar="SETTING",
        help=f"{SAMPLE}, {', '.join(SETTINGS)} (%(default)s)",
    )  # fmt: skip
    methods = [name for name, method in METHODS.items() if not method.needs_gold]
    parser.add_argument("--method", choices=methods, default="conf_mpu", help="(%(default)s)")
    parser.add_argument("--preset", choices=TRAINING_PRESETS, default="quick", help="(%(default)s)")
    parser.add_argument("--decisions", type=_numbers, default=(25, 50, 100, 200))
    parser.add_argument("--draws", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    set_threads(options.threads)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for setting in options.settings:
            rows.append(measure(setting, options, (options.runs or Path(temporary)) / setting))
            show(rows[-1])
    environment.finish({"benchmark": "validation", "draws": options.draws, "settings": rows})


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


if __name__ == "__main__":
    main()
