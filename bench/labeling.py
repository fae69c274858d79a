"""Measure `glossa label` from end to end on a real vocabulary, by stage.

The dictionaries are MeSH (712,951 phrases; see bench.health), written as one CSV file. The text is
BC5CDR's train and valid sentences, ten per document, repeated until it has enough tokens, written
as JSON lines. Each run is a fresh process with one worker. Columns: seconds, processor seconds, and
the share of all seconds. `--keep DIR` keeps the inputs and what was printed and written, so that
two versions of the code can be compared byte by byte.

    python -m bench.labeling [--mesh WHEEL] [--data DIR] [--tokens 1000000] [--match adaptive]
                             [--keep DIR]
"""

# The process that starts the run imports nothing large: a new process inherits its peak memory.
import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import environment

TOKENS = 1_000_000
SENTENCES_PER_DOCUMENT = 10
TEXTS = ("bc5cdr/train_dict100.txt", "bc5cdr/valid.txt")
# What `label_command` calls, by the name of the stage.
STAGES = {
    "read_texts": "read and tokenize the text",
    "read_given_dictionaries": "read the phrases",
    "label": "match and choose",
    "measure_coverage": "coverage",
    "say_coverage": "coverage",
    "say_adaptation": "letter case and abbreviations",
    "say_conflicts": "conflicts",
    "say_precision": "audit and noisy phrases",
    "say_missing": "candidates",
    "dictionary_entities": "entities",
    "write_file": "write",
}


# ---- inputs ---------------------------------------------------------------------------------


def write_inputs(folder: Path, data: Path, wheel: Path | None, tokens: int) -> None:
    """Write mesh.csv and text.jsonl, unless the folder has them."""
    import csv

    from bench.health import mesh
    from engine.files import read_source
    from engine.formats import read_columns

    if not (folder / "mesh.csv").exists():
        with (folder / "mesh.csv").open("w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(("term", "label", "canonical_id"))
            for dictionary in mesh(wheel):
                rows.writerows((p.text, p.entity_type, p.canonical_id) for p in dictionary.phrases)
    if (folder / "text.jsonl").exists():
        return
    sentences = [s for name in TEXTS for s in read_columns(read_source(data / name))[0]]
    written = number = 0
    with (folder / "text.jsonl").open("w", encoding="utf-8") as out:
        while written < tokens:
            first = number * SENTENCES_PER_DOCUMENT % len(sentences)
            chosen = sentences[first : first + SENTENCES_PER_DOCUMENT]
            text = " ".join(" ".join(sentence) for sentence in chosen)
            out.write(json.dumps({"id": f"d{number:06}", "text": text}) + "\n")
            written += sum(map(len, chosen))
            number += 1


# ---- one run --------------------------------------------------------------------------------


def run(folder: Path, preset: str) -> None:
    """Label in this process, and write the seconds of each stage to figures.json."""
    started, cpu = time.perf_counter(), time.process_time()
    from engine.cli import main

    command = sys.modules["engine.cli.label"]  # what it looks up by name is exchanged below
    stages = {"start": [time.perf_counter() - started, time.process_time() - cpu]}
    for name, stage in STAGES.items():
        setattr(command, name, timed(getattr(command, name), stages.setdefault(stage, [0.0, 0.0])))
    text, dictionary, out = (str(folder / n) for n in ("text.jsonl", "mesh.csv", "labels.csv"))
    arguments = ["label", text, "--dictionary", dictionary, "--out", out, "--workers", "1"]
    try:
        main([*arguments, "--match", preset])
    finally:
        stages["in all"] = [time.perf_counter() - started, time.process_time() - cpu]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        (folder / "figures.json").write_text(json.dumps({"stages": stages, "peak_mb": peak}))


def timed(function: Callable[..., Any], stage: list[float]) -> Callable[..., Any]:
    """Return the function with its time added to a stage: seconds, then processor seconds."""

    def call(*arguments: Any, **named: Any) -> Any:
        started, cpu = time.perf_counter(), time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            stage[0] += time.perf_counter() - started
            stage[1] += time.process_time() - cpu

    return call


# ---- the table ------------------------------------------------------------------------------


def measure(folder: Path, preset: str) -> dict[str, Any]:
    """Run in a fresh process; return its figures, and hashes of what it printed and wrote."""
    with (folder / "printed.txt").open("w") as printed:
        subprocess.run(
            [sys.executable, "-m", "bench.labeling", "--run", str(folder), "--match", preset],
            cwd=environment.ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            stdout=printed,
            check=True,
        )
    figures = json.loads((folder / "figures.json").read_text())
    for name in ("printed.txt", "labels.csv"):
        figures[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16]
    return figures


def show(figures: dict[str, Any]) -> None:
    print(f"{'stage':<32}{'seconds':>9}{'cpu':>9}{'share':>8}")
    whole = figures["stages"]["in all"][0]
    for stage, (seconds, cpu) in figures["stages"].items():
        print(f"{stage:<32}{seconds:>9.2f}{cpu:>9.2f}{100 * seconds / whole:>7.0f}%")
    print(f"peak {figures['peak_mb']:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", type=Path, metavar="WHEEL", help="see bench.health")
    parser.add_argument("--data", type=Path, default=environment.ROOT.parent / "shared" / "data")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--match", default="adaptive")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep inputs and outputs here")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)  # the process that labels
    parser.add_argument("--inputs", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.match)
        return
    if options.inputs:
        write_inputs(options.inputs, options.data, options.mesh, options.tokens)
        return
    with tempfile.TemporaryDirectory(prefix="glossa_bench_") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        inputs = ["--inputs", str(folder.absolute()), *sys.argv[1:]]
        subprocess.run([sys.executable, "-m", "bench.labeling", *inputs], check=True)
        figures = measure(folder.absolute(), options.match)
        show(figures)
    environment.finish({"benchmark": "labeling", "match": options.match, **figures})


if __name__ == "__main__":
    main()
