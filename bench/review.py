"""Measure what decisions in review are worth, queue by queue: they are simulated from gold.

Three methods are trained as the app does, and find entities in the text that they learned from. A
simulated person then works through each queue of the page Review, one key press per item: accept
what is in the gold with the same span and type, reject everything else. Wrong borders are rejected,
not mended, because mending takes more than one key. After some decisions the script notes:

  export     F1 of what "Reviewed" exports: decisions before the best method before the dictionary
  retrained  F1 of Conf-MPU trained again with the decisions (train --use-decisions), by itself
  changed    how many decisions changed the export: the others only confirmed it

    python -m bench.review [sample bc5cdr_big …] [--preset quick] [--queues disagreement,random]
                           [--decisions 0,50,100,200,400] [--retrain 0,50,100,200,400]
                           [--seed 0] [--runs DIR] [--data DIR]

--runs keeps what was trained, so that a second call trains nothing. --retrain none trains nothing
again, and takes seconds.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench import environment
from bench.data import add_data_option
from bench.validation import add_settings, read_task, train_methods
from engine.experiment import predict, prepare
from engine.export import METHOD_ORDER
from engine.labels import dictionary_entities
from engine.network import set_threads
from engine.review import (
    DICTIONARY,
    ORDERS,
    Decision,
    Item,
    effect,
    known_phrases,
    make_items,
    make_queue,
    reviewed_entities,
)
from engine.runs import compare, features_folder, load_run
from engine.scoring import evaluate_documents
from engine.settings import MATCH_PRESETS, TRAINING_PRESETS, training_settings
from engine.text import Document, EntitiesByDocument

BEST = METHOD_ORDER[0]  # what is exported, and trained again


def simulate(
    queue: Sequence[Item], gold: EntitiesByDocument, most: int
) -> Iterator[tuple[int, list[Decision]]]:
    """Yield the number of decisions and the decisions so far, after each of them.

    As on the page: what overlaps an accepted entity is settled.
    """
    right = {
        (id, entity.start, entity.end, entity.entity_type)
        for id, entities in gold.items()
        for entity in entities
    }
    decisions: list[Decision] = []
    accepted: dict[str, list[Item]] = {}
    for item in queue:
        others = accepted.setdefault(item.document_id, [])
        if any(item.start < other.end and other.start < item.end for other in others):
            continue
        if len(decisions) == most:
            return
        verdict = "accepted" if item.place in right else "rejected"
        if verdict == "accepted":
            others.append(item)
        number = len(decisions) + 1
        decisions.append(Decision(number, "review", *item.place, verdict, surface=item.text))
        yield number, decisions


def f1_of(
    documents: Sequence[Document], gold: EntitiesByDocument, entities: EntitiesByDocument
) -> float:
    return 100 * (evaluate_documents(documents, gold, entities).overall.f1 or 0)


def places(entities: EntitiesByDocument) -> set[tuple[str, int, int, str]]:
    return {(id, e.start, e.end, e.entity_type) for id, own in entities.items() for e in own}


def measure(setting: str, options: argparse.Namespace, folder: Path) -> dict:
    """Train the methods, and follow each queue."""
    task = read_task(setting, options.data)
    documents, gold, phrases, labels = task
    annotated = [document for document in documents if document.id in gold]
    settings, cache = training_settings(options.preset), features_folder(folder)
    paths = train_methods(task, settings, METHOD_ORDER, folder / options.preset, cache)
    found = {
        method: predict(load_run(paths[method]), documents, cache=cache) for method in METHOD_ORDER
    }
    matched = dictionary_entities(labels, documents)
    items = make_items(annotated, {**found, DICTIONARY: matched})
    known = known_phrases(phrases, MATCH_PRESETS["adaptive"], labels.folding)

    def retrained(decisions: Sequence[Decision], name: str) -> float:
        review = effect(decisions, documents)
        again = prepare(
            documents,
            phrases,
            match="adaptive",
            settings=settings,
            labels=labels,
            accepted=review.accepted,
            rejected=review.rejected,
            cache=cache,
        )
        [path] = compare(
            again.data,
            again.priors.values,
            settings,
            [BEST],
            folder / "retrained" / options.preset / name,
            dictionaries=phrases,
        ).values()
        return f1_of(annotated, gold, predict(load_run(path), documents, cache=cache))

    before = f1_of(annotated, gold, found[BEST])
    start = reviewed_entities(effect([], documents), found[BEST], matched)
    rows = []
    for order in options.queues:
        numbers = make_queue(items, order, options.seed, known.hold)
        queue = [items[int(i)] for i in numbers]
        row = {"queue": order, "items": len(queue), "after": {}}
        states: dict[int, list[Decision]] = {0: []}
        for count, decisions in simulate(queue, gold, max(options.decisions)):
            if count in options.decisions:
                states[count] = list(decisions)
        for count in options.decisions:
            if count not in states:
                continue  # the queue ended before
            decisions = states[count]
            review = effect(decisions, documents)
            exported = reviewed_entities(review, found[BEST], matched)
            cell: dict[str, float | int] = {
                "export": round(f1_of(annotated, gold, exported), 2),
                "changed": len(places(exported) ^ places(start)),
                "accepted": sum(decision.verdict == "accepted" for decision in decisions),
            }
            if count in options.retrain:
                # Without decisions, training again would give the same.
                f1 = retrained(decisions, f"{order}-{options.seed}-{count}") if count else before
                cell["retrained"] = round(f1, 2)
            row["after"][count] = cell
            print(f"{setting}, {order}, {count} decisions: {cell}", flush=True)
        rows.append(row)
    return {
        "setting": setting,
        "preset": options.preset,
        "seed": options.seed,
        "f1": {method: round(f1_of(annotated, gold, found[method]), 2) for method in found},
        "gold": int(np.sum([len(gold[document.id]) for document in annotated])),
        "rows": rows,
    }


def show(result: dict, decisions: Sequence[int]) -> None:
    """Print a table of the export and one of the retrained tagger."""
    scores = ", ".join(f"{method} {value:.1f}" for method, value in result["f1"].items())
    print(f"\n{result['setting']}, preset {result['preset']}, F1 before the review: {scores}")
    for measure_name in ("export", "retrained"):
        print(f"{measure_name:<14}{'items':>7}" + "".join(f"{n:>8}" for n in decisions))
        for row in result["rows"]:
            cells = "".join(_cell(row["after"].get(n, {}), measure_name) for n in decisions)
            print(f"{row['queue']:<14}{row['items']:>7}{cells}", flush=True)


def _cell(cell: Mapping[str, float], name: str) -> str:
    return f"{cell[name]:>8.1f}" if name in cell else f"{'–':>8}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_settings(parser)
    counts = (0, 50, 100, 200, 400)
    parser.add_argument("--preset", choices=TRAINING_PRESETS, default="quick", help="(%(default)s)")
    parser.add_argument("--queues", type=_words, default=ORDERS, help="(%(default)s)")
    parser.add_argument("--decisions", type=_numbers, default=counts, help="(%(default)s)")
    parser.add_argument("--retrain", type=_numbers, default=counts, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the queues (%(default)s)")
    parser.add_argument("--runs", type=Path, help="folder that keeps the runs")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    if unknown := set(options.queues) - set(ORDERS):
        parser.error(f"{', '.join(sorted(unknown))}: choose from {', '.join(ORDERS)}")
    set_threads(options.threads)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for setting in options.settings:
            folder = (options.runs or Path(temporary)) / setting
            rows.append(measure(setting, options, folder))
            show(rows[-1], options.decisions)
    environment.finish({"benchmark": "review", "settings": rows})


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(int(number) for number in text.split(","))


if __name__ == "__main__":
    main()
