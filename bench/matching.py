"""Measure speed, memory and correctness of phrase matching: ours and three other matchers.

Phrases and text are recombined from the benchmark's dictionaries and train files with a fixed seed.
The text is tokens separated by single spaces, so that every system gets the same tokens. Matching
is case-sensitive everywhere. Every cell (system, phrases, tokens) runs in a fresh process:

  input        reads phrases and text and nothing else: the memory that every system starts with
  documents    the same as our Document and Dictionary objects, without matching
  ours_1       engine.labels.distant.label, "strict", one worker; ours_2: two workers
  flashtext    one KeywordProcessor with all phrases on the raw text, as a user would write it
  spacy        PhraseMatcher on documents made from the tokens (making them is `prepare`)
  ahocorasick  Automaton on " text " with " phrase " keys, so that matches are whole tokens

Each is compared with a reference: per type, from left to right, the longest phrase, found by
hashing token n-grams. spaCy and ahocorasick report every match; choosing the longest per type is
timed separately, as `choose`. Ours does that, and decides between types, within its scan. Ours is
one call of label(): build is the time until its index is complete, scan is the rest, including
tables and labels. `x flash` is a system's scan (plus choose) divided by flashtext's scan.

    python -m bench.matching [--phrases 1000,100000,1000000] [--tokens 1000000,10000000]
                             [--systems ours_1,flashtext] [--time-limit 900] [--data DIR]
"""

# The process that starts the cells imports nothing large, and a cell imports only what it measures:
# a new process inherits its parent's peak memory, and pandas must not count as flashtext's memory.
import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from bench import environment

PHRASES = "1000,100000,1000000"
TOKENS = "1000000,10000000"
TIME_LIMIT = 15 * 60  # seconds per cell
MEMORY_LIMIT = 16  # GB of address space per cell; beyond it the cell fails, not the machine
SEED = 20220522
TYPES = ("A", "B")
NGRAM_SHARE = 0.1  # of the phrases beyond those of the dictionaries; the rest are recombined
NGRAM_TOKENS = (2, 4)
SENTENCES_PER_DOCUMENT = 1_000
SOURCES = ("bc5cdr_big", "conll_dict")  # settings whose dictionaries and train texts are used
START_BITS, LENGTH_BITS = 20, 10  # a match is one integer: sentence, start, length, type

Figures = dict[str, float | int]


# ---- phrases and text -----------------------------------------------------------------------


def make_phrases(count: int, dictionary: list[list[str]], texts: list[list[str]]) -> list[str]:
    """Return `count` distinct phrases: real ones, n-grams of the texts, and recombined ones."""
    rng = random.Random(SEED)
    real = list(dict.fromkeys(" ".join(tokens) for tokens in dictionary))
    rng.shuffle(real)
    phrases = dict.fromkeys(real[:count])
    long = [tokens for tokens in dictionary if len(tokens) > 1]
    ngram_count = len(phrases) + int(NGRAM_SHARE * (count - len(phrases)))
    while len(phrases) < ngram_count:
        if phrase := _ngram(rng.choice(texts), rng):
            phrases[phrase] = None
    while len(phrases) < count:
        phrases[_recombined(rng.choice(long), rng.choice(long), rng)] = None
    return list(phrases)


def _ngram(tokens: list[str], rng: random.Random) -> str:
    """Return a part of a sentence that begins and ends with a word, or ""."""
    size = rng.randint(*NGRAM_TOKENS)
    start = rng.randrange(len(tokens))
    piece = tokens[start : start + size]
    is_phrase = len(piece) == size and piece[0].isalnum() and piece[-1].isalnum()
    return " ".join(piece) if is_phrase else ""


def _recombined(first: list[str], second: list[str], rng: random.Random) -> str:
    head = first[: rng.randint(1, len(first) - 1)]
    return " ".join(head + second[rng.randint(1, len(second) - 1) :])


def make_text(token_count: int, texts: list[list[str]]) -> Iterator[str]:
    """Yield sentences made of two halves of random sentences, `token_count` tokens in total."""
    rng = random.Random(SEED)
    while token_count > 0:
        first, second = rng.choice(texts), rng.choice(texts)
        tokens = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
        tokens = tokens[:token_count]
        token_count -= len(tokens)
        yield " ".join(tokens)


def write_inputs(folder: Path, sizes: dict[str, list[int]], data_folder: Path) -> None:
    """Write the phrases and texts of every size to the folder."""
    from bench.data import dictionaries, load

    texts = [tokens for setting in SOURCES for tokens in load(setting, data_folder)[0]]
    dictionary = [
        phrase.text.split()
        for setting in SOURCES
        for typed in dictionaries(setting, data_folder)
        for phrase in typed.phrases
    ]
    for count in sizes["phrases"]:
        with _phrase_file(folder, count).open("w", encoding="utf-8") as out:
            for i, phrase in enumerate(make_phrases(count, dictionary, texts)):
                out.write(f"{phrase}\t{TYPES[i % 2]}\n")
    for count in sizes["tokens"]:
        with _text_file(folder, count).open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in make_text(count, texts))


def read_phrases(path: Path) -> list[tuple[str, str]]:
    """Return (phrase, type) pairs."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def read_text(path: Path) -> list[str]:
    """Return the sentences, as tokens separated by spaces."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def _phrase_file(folder: Path, count: int) -> Path:
    return folder / f"phrases_{count}.tsv"


def _text_file(folder: Path, count: int) -> Path:
    return folder / f"text_{count}.txt"


def _reference_file(folder: Path, phrases: int, tokens: int) -> Path:
    return folder / f"reference_{phrases}_{tokens}.bin"


# ---- matches --------------------------------------------------------------------------------


class Matches:
    """Matches as integers, so that millions take little memory and compare fast."""

    def __init__(self) -> None:
        self.codes = array("q")

    def add(self, sentence: int, start: int, end: int, type_number: int) -> None:
        """Add a match; start and end are character positions in the sentence."""
        place = sentence << START_BITS | start
        self.codes.append((place << LENGTH_BITS | end - start) << 1 | type_number)


def longest_per_type(matches: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the leftmost longest (start, end, type) of each type, without overlaps."""
    reached = [0] * len(TYPES)
    taken = []
    for start, negative_end, number in sorted((s, -e, t) for s, e, t in matches):
        if start >= reached[number]:
            reached[number] = -negative_end
            taken.append((start, -negative_end, number))
    return taken


def find_reference(phrases: list[tuple[str, str]], sentences: list[str]) -> Matches:
    """Return the matches by hashing token n-grams: slow, but simple enough to trust."""
    matches = Matches()
    by_type = [{tuple(p.split(" ")) for p, t in phrases if t == name} for name in TYPES]
    longest_from: list[dict[str, int]] = [{} for _ in TYPES]
    for typed, longest in zip(by_type, longest_from, strict=True):
        for tokens in typed:
            longest[tokens[0]] = max(longest.get(tokens[0], 0), len(tokens))
    for number, sentence in enumerate(sentences):
        tokens = tuple(sentence.split(" "))
        starts = token_starts(tokens)
        for type_number in range(len(TYPES)):
            i = 0
            while i < len(tokens):
                longest = longest_from[type_number].get(tokens[i], 0)
                for end in range(min(i + longest, len(tokens)), i, -1):
                    if tokens[i:end] in by_type[type_number]:
                        char_end = starts[end - 1] + len(tokens[end - 1])
                        matches.add(number, starts[i], char_end, type_number)
                        i = end - 1
                        break
                i += 1
    return matches


def token_starts(tokens: Sequence[str]) -> list[int]:
    """Return the character position at which each token begins."""
    starts, position = [], 0
    for token in tokens:
        starts.append(position)
        position += len(token) + 1
    return starts


# ---- the systems ----------------------------------------------------------------------------
# Each takes phrases and sentences and returns its matches and figures. "peak_mb" is taken before
# matches are converted for the comparison.


def run_input(phrases: list, sentences: list[str]) -> tuple[None, Figures]:
    return None, peak_memory()


def run_documents(phrases: list, sentences: list[str]) -> tuple[None, Figures]:
    import engine.labels  # noqa: F401 - its memory counts as input

    started = perf_counter()
    held = _our_input(phrases, sentences)
    prepare = perf_counter() - started
    assert held
    return None, {"prepare_seconds": prepare, **peak_memory()}


def run_ours(phrases: list, sentences: list[str], workers: int) -> tuple[Matches, Figures]:
    from engine.labels import Rules, label

    distant = sys.modules[label.__module__]  # what it looks up by name is exchanged below

    built: list[float] = []

    class TimedRules(Rules):
        """Records when the index is complete, which label() does not report."""

        def __init__(self, *arguments: object) -> None:
            built.append(perf_counter())
            super().__init__(*arguments)

    distant.Rules = TimedRules
    started = perf_counter()
    documents, dictionaries = _our_input(phrases, sentences)
    prepared = perf_counter()
    labels = label(documents, dictionaries, "strict", workers=workers)
    labeled = perf_counter()
    figures = peak_memory()
    [index_built] = built
    figures |= {
        "prepare_seconds": prepared - started,
        "build_seconds": index_built - prepared,
        "scan_seconds": labeled - index_built,
        "kept": len(labels.kept),
    }
    return _our_matches(labels, documents), figures


def _our_input(phrases: list, sentences: list[str]) -> tuple[list, list]:
    from engine.dictionaries import Dictionary, Phrase
    from engine.text import make_tokenized_document

    documents = [
        make_tokenized_document(
            str(first),
            (sentence.split(" ") for sentence in sentences[first : first + SENTENCES_PER_DOCUMENT]),
        )
        for first in range(0, len(sentences), SENTENCES_PER_DOCUMENT)
    ]
    for document in documents:
        assert document.tokens  # cuts them from the text, which spaCy does in `prepare`, too
    dictionaries = [
        Dictionary(name, tuple(Phrase(text, name) for text, kind in phrases if kind == name))
        for name in TYPES
    ]
    return documents, dictionaries


def _our_matches(labels: object, documents: list) -> Matches:
    """Return the matches that were chosen within their type, whichever type wins in the end."""
    from engine.labels import SAME_TYPE

    matches = Matches()
    sentences = [sentence for document in documents for sentence in document.sentences]
    taken = labels.matches[labels.matches["outcome"] != SAME_TYPE]
    numbers = [0, *(TYPES.index(name) for name in labels.types)]
    columns = (taken[name].tolist() for name in ("sentence", "start", "end", "type"))
    for i, start, end, type_number in zip(*columns, strict=True):
        sentence = sentences[i]
        starts, ends = sentence.token_bounds()
        at = sentence.start
        matches.add(i, starts[start] - at, ends[end - 1] - at, numbers[type_number])
    return matches


def run_flashtext(phrases: list, sentences: list[str]) -> tuple[Matches, Figures]:
    from flashtext import KeywordProcessor

    started = perf_counter()
    processor = KeywordProcessor(case_sensitive=True)
    for phrase, name in phrases:
        processor.add_keyword(phrase, name)
    build = perf_counter() - started
    matches = Matches()
    started = perf_counter()
    for i, sentence in enumerate(sentences):
        for name, start, end in processor.extract_keywords(sentence, span_info=True):
            matches.add(i, start, end, TYPES.index(name))
    scan = perf_counter() - started
    return matches, {"build_seconds": build, "scan_seconds": scan, **peak_memory()}


def run_spacy(phrases: list, sentences: list[str]) -> tuple[Matches, Figures]:
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    started = perf_counter()
    vocab = Vocab()
    matcher = PhraseMatcher(vocab, attr="ORTH")
    for name in TYPES:
        matcher.add(name, [Doc(vocab, words=p.split(" ")) for p, kind in phrases if kind == name])
    number_of = {vocab.strings[name]: number for number, name in enumerate(TYPES)}
    build = perf_counter() - started
    matches = Matches()
    prepare = scan = choose = 0.0
    for i, sentence in enumerate(sentences):
        at_start = perf_counter()
        tokens = sentence.split(" ")
        document = Doc(vocab, words=tokens)
        prepared = perf_counter()
        all_matches = matcher(document)
        scanned = perf_counter()
        if all_matches:
            starts = token_starts(tokens)
            spans = ((start, end, number_of[name]) for name, start, end in all_matches)
            for start, end, number in longest_per_type(spans):
                matches.add(i, starts[start], starts[end - 1] + len(tokens[end - 1]), number)
        prepare += prepared - at_start
        scan += scanned - prepared
        choose += perf_counter() - scanned
    return matches, {
        "prepare_seconds": prepare,
        "build_seconds": build,
        "scan_seconds": scan,
        "choose_seconds": choose,
        **peak_memory(),
    }


def run_ahocorasick(phrases: list, sentences: list[str]) -> tuple[Matches, Figures]:
    import ahocorasick

    started = perf_counter()
    automaton = ahocorasick.Automaton()
    for phrase, name in phrases:
        automaton.add_word(f" {phrase} ", (len(phrase), TYPES.index(name)))
    automaton.make_automaton()
    build = perf_counter() - started
    matches = Matches()
    scan = choose = 0.0
    for i, sentence in enumerate(sentences):
        at_start = perf_counter()
        all_matches = list(automaton.iter(f" {sentence} "))
        scanned = perf_counter()
        # A key ends with the space after the phrase, and the text is shifted by one.
        spans = ((last - 1 - size, last - 1, number) for last, (size, number) in all_matches)
        for start, end, number in longest_per_type(spans):
            matches.add(i, start, end, number)
        scan += scanned - at_start
        choose += perf_counter() - scanned
    return matches, {
        "build_seconds": build,
        "scan_seconds": scan,
        "choose_seconds": choose,
        **peak_memory(),
    }


SYSTEMS: dict[str, Callable[[list, list[str]], tuple[Matches | None, Figures]]] = {
    "input": run_input,
    "documents": run_documents,
    "ours_1": lambda phrases, sentences: run_ours(phrases, sentences, workers=1),
    "ours_2": lambda phrases, sentences: run_ours(phrases, sentences, workers=2),
    "flashtext": run_flashtext,
    "spacy": run_spacy,
    "ahocorasick": run_ahocorasick,
}


def peak_memory() -> Figures:
    """Return the peak memory of this process and of the largest worker, each with shared pages."""
    figures = {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return figures | ({"worker_peak_mb": children / 1024} if children else {})


# ---- cells ----------------------------------------------------------------------------------


def run_cell(folder: Path, system: str, phrase_count: int, token_count: int) -> Figures:
    """Return the figures of one system on one input; "reference" stores the right matches."""
    phrases = read_phrases(_phrase_file(folder, phrase_count))
    sentences = read_text(_text_file(folder, token_count))
    reference = _reference_file(folder, phrase_count, token_count)
    if system == "reference":
        matches = find_reference(phrases, sentences)
        reference.write_bytes(matches.codes.tobytes())
        return {"matches": len(matches.codes)}
    matches, figures = SYSTEMS[system](phrases, sentences)
    if matches is None:
        return figures
    figures["matches"] = len(matches.codes)
    return figures | compare(matches, reference)


def compare(matches: Matches, reference: Path) -> Figures:
    """Return how many matches are wrong, and how many of the reference are missing."""
    import numpy as np

    codes = np.unique(np.frombuffer(matches.codes, dtype=np.int64))
    right = np.unique(np.frombuffer(reference.read_bytes(), dtype=np.int64))
    common = len(np.intersect1d(codes, right, assume_unique=True))
    return {"wrong": len(codes) - common, "missing": len(right) - common}


def start_cell(arguments: list[str], time_limit: float) -> dict[str, object]:
    """Run a cell in its own process and return its figures, or {"failed": why}."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.matching", *arguments],
        cwd=environment.ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that its workers end with it
    )
    try:
        out, errors = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": f"over the time limit of {time_limit:.0f} s"}
    if process.returncode == 0:
        return json.loads(out.splitlines()[-1]) if out else {}
    if "MemoryError" in errors or "Cannot allocate memory" in errors:
        return {"failed": f"over the memory limit of {MEMORY_LIMIT} GB"}
    if process.returncode == -signal.SIGKILL:
        return {"failed": "killed, probably out of memory"}
    return {"failed": (errors.strip().splitlines() or [f"code {process.returncode}"])[-1]}


# ---- the table ------------------------------------------------------------------------------

COLUMNS = (
    f"{'phrases':>9} {'tokens':>10} {'system':<12}{'prepare s':>10}{'build s':>9}{'scan s':>9}"
    f"{'choose s':>9}{'tokens/s':>11}{'x flash':>9}{'peak MB':>9}{'worker':>8}{'matches':>11}"
    f"{'wrong':>9}{'missing':>9}"
)


def show(row: dict) -> None:
    """Print one cell as a line of the table."""
    line = f"{row['phrases']:>9,} {row['tokens']:>10,} {row['system']:<12}"
    if "failed" in row:
        print(f"{line}failed: {row['failed']}", flush=True)
        return
    for name, width, form in (
        ("prepare_seconds", 10, ",.2f"),
        ("build_seconds", 9, ",.2f"),
        ("scan_seconds", 9, ",.2f"),
        ("choose_seconds", 9, ",.2f"),
        ("tokens_per_second", 11, ",.0f"),
        ("scan_to_flashtext", 9, ".2f"),
        ("peak_mb", 9, ",.0f"),
        ("worker_peak_mb", 8, ",.0f"),
        ("matches", 11, ",d"),
        ("wrong", 9, ",d"),
        ("missing", 9, ",d"),
    ):
        line += f"{row[name]:>{width}{form}}" if row.get(name) is not None else " " * width
    print(line, flush=True)


def measure(
    folder: Path, phrases: int, tokens: int, systems: Sequence[str], time_limit: float
) -> list[dict]:
    """Run all systems on one input and print one line per system."""
    cell = [str(phrases), str(tokens)]
    reference = start_cell(["--cell", str(folder), "reference", *cell], time_limit)
    rows: list[dict] = []
    # flashtext first: the others are compared with its scan.
    for system in sorted(systems, key=lambda name: name != "flashtext"):
        row = {"system": system, "phrases": phrases, "tokens": tokens}
        if "failed" in reference:
            row |= {"failed": f"no reference: {reference['failed']}"}
        else:
            row |= start_cell(["--cell", str(folder), system, *cell], time_limit)
        if "scan_seconds" in row:
            seconds = row["scan_seconds"] + row.get("choose_seconds", 0)
            row["tokens_per_second"] = round(tokens / seconds)
            flashtext = next((r for r in [*rows, row] if r["system"] == "flashtext"), {})
            if "scan_seconds" in flashtext:
                row["scan_to_flashtext"] = round(seconds / flashtext["scan_seconds"], 3)
        rows.append(row)
        show(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phrases", default=PHRASES, help="sizes with commas (%(default)s)")
    parser.add_argument("--tokens", default=TOKENS, help="sizes with commas (%(default)s)")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="(%(default)s)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, help="seconds per cell")
    parser.add_argument("--data", default="", help="benchmark data (../shared/data)")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--write-inputs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = {name: _sizes(parser, getattr(options, name)) for name in ("phrases", "tokens")}
    systems = options.systems.split(",")
    if unknown := set(systems) - set(SYSTEMS):
        parser.error(
            f"unknown system: {', '.join(sorted(unknown))}; choose from {', '.join(SYSTEMS)}"
        )

    if options.cell:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT << 30, MEMORY_LIMIT << 30))
        folder, system, phrases, tokens = options.cell
        figures = run_cell(Path(folder), system, int(phrases), int(tokens))
        print(json.dumps({k: round(v, 3) for k, v in figures.items()}))
        return
    if options.write_inputs:
        from bench.data import DATA

        write_inputs(Path(options.write_inputs), sizes, Path(options.data or DATA))
        return

    with tempfile.TemporaryDirectory(prefix="glossa_bench_") as folder:
        inputs = ["--phrases", options.phrases, "--tokens", options.tokens, "--data", options.data]
        written = start_cell(["--write-inputs", folder, *inputs], TIME_LIMIT)
        if "failed" in written:
            sys.exit(f"cannot make the inputs: {written['failed']}")
        print(COLUMNS, flush=True)
        rows = [
            row
            for tokens in sizes["tokens"]
            for phrases in sizes["phrases"]
            for row in measure(Path(folder), phrases, tokens, systems, options.time_limit)
        ]
    environment.finish({"benchmark": "matching", "seed": SEED, "cells": rows})


def _sizes(parser: argparse.ArgumentParser, text: str) -> list[int]:
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        parser.error(f"sizes must be whole numbers separated by commas, got {text}")


if __name__ == "__main__":
    main()
