"""Measure whether the names that Glossa says the dictionaries lack are names, against gold.

Two lists are measured. *before* is what the page Distant labels shows at once: frequent words that
nothing matches (`engine.labels.missing_candidates`). *after* is the list of the linear model, as
`glossa suggest` prints it.

  right   share of the first names that the gold marks somewhere, word for word in any letter case;
          wanted of the first 50: 60 % before, 80 % after
  typed   share that it marks with the type that the list names

    python -m bench.candidates [bc5cdr_big conll_dict …] [--top 50] [--after] [--preset quick]
                               [--show] [--data DIR]

Without --after, nothing learns, and it takes seconds. The contextual features of --after take
minutes; --cache DIR keeps them.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bench import environment
from bench.data import add_data_option
from bench.validation import add_settings, read_task
from engine.labels import missing_candidates
from engine.network import set_threads
from engine.settings import TRAINING_PRESETS, training_settings
from engine.text import Document, EntitiesByDocument


def gold_names(documents: Sequence[Document], gold: EntitiesByDocument) -> dict[str, set[str]]:
    """Return the types of each name in the gold, by the name in lower case."""
    texts = {document.id: document.text for document in documents}
    names: dict[str, set[str]] = {}
    for id, entities in gold.items():
        for entity in entities:
            name = " ".join(texts[id][entity.start : entity.end].lower().split())
            names.setdefault(name, set()).add(entity.entity_type)
    return names


def rate(table: pd.DataFrame, names: dict[str, set[str]], top: int) -> dict[str, float | int]:
    """Return how many of the first names are in the gold."""
    first = table.head(top)
    types = first["entity_type"] if "entity_type" in first else [""] * len(first)
    known = [names.get(" ".join(phrase.lower().split()), set()) for phrase in first["phrase"]]
    return {
        "names": len(first),
        "right": round(100 * sum(map(bool, known)) / max(1, len(first)), 1),
        "typed": round(
            100 * sum(t in k for t, k in zip(types, known, strict=True)) / max(1, len(first)), 1
        ),
    }


def measure(setting: str, options: argparse.Namespace, cache: Path) -> dict:
    source = read_task(setting, options.data)
    documents, gold, phrases, labels = source
    names = gold_names(documents, gold)
    sentences = [sentence for document in documents for sentence in document.sentences]
    tables = {"before": missing_candidates(labels, sentences)}
    if options.after:
        tables["after"] = learned(documents, phrases, labels, options.preset, cache)
    result: dict = {"setting": setting}
    for name, table in tables.items():
        result[name] = rate(table, names, options.top)
        print(f"{setting:<16}{name:<8}{result[name]}", flush=True)
        if options.show:
            for phrase in table["phrase"].head(options.top):
                print(f"    {'+' if ' '.join(phrase.lower().split()) in names else '-'} {phrase}")
    return result


def learned(documents, phrases, labels, preset: str, cache: Path) -> pd.DataFrame:
    """Return the list of the linear model."""
    from engine.experiment import prepare
    from engine.learning import find_likely_tokens
    from engine.review import suggestions

    settings = training_settings(preset)
    prepared = prepare(
        documents, phrases, match="adaptive", settings=settings, labels=labels, cache=cache
    )
    likely = find_likely_tokens(prepared.data, prepared.priors.values, settings)
    return suggestions(documents, likely, phrases, prepared.labels, "adaptive")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_settings(parser)
    parser.add_argument("--top", type=int, default=50, help="(%(default)s)")
    parser.add_argument("--after", action="store_true", help="measure the linear model's list too")
    parser.add_argument("--preset", choices=TRAINING_PRESETS, default="quick", help="(%(default)s)")
    parser.add_argument("--show", action="store_true", help="print the names")
    parser.add_argument("--cache", type=Path, help="folder that keeps contextual features")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    set_threads(options.threads)
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        rows = [measure(setting, options, cache / setting) for setting in options.settings]
    environment.finish({"benchmark": "candidates", "top": options.top, "settings": rows})


if __name__ == "__main__":
    main()
