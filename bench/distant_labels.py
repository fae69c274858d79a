"""Count and explain where our labels differ from the published ones on the paper's train files.

For each setting, the train tokens are labeled with the "strict" preset and compared with the third
column of the file. The authors' matcher is rebuilt here with its two flaws, each with a switch:

  skips      after a match the scan skips one more token, so "Paris London Rome" loses London
  conflicts  a token that two types claim becomes unlabeled

With both flaws it must equal the published column. With neither, and with our rule between types,
it must equal ours. Every token that differs is then assigned to one of the two flaws, or to neither
("unexplained", which must be 0). Finally the labels are scored against gold, as published and by
our matcher under three presets. The file is one document here, so an abbreviation that one
abstract defines is labeled in all of them.

    python -m bench.distant_labels [--data DIR]
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from bench import environment
from bench.data import SETTINGS, add_data_option, dictionaries, load
from engine.dictionaries import Dictionary
from engine.labels import DistantLabels, label
from engine.scoring import SpansBySentence, evaluate
from engine.text import make_tokenized_document, spans_from_classes, spans_from_tags

SKIPPED, TWO_TYPES, UNEXPLAINED = "after a match", "two types", "unexplained"

PRESETS = ("strict", "balanced", "adaptive")

Match = tuple[int, int, int]  # start, end, class
Labels = list[list[int]]  # one class per token, by sentence
Claims = list[set[int]]  # the classes that claim each token of a sentence


# ---- the authors' matcher, with one switch per flaw -----------------------------------------


@dataclass(slots=True)
class Phrases:
    """The phrases of one class, as tokens."""

    all: set[tuple[str, ...]] = field(default_factory=set)
    longest_from: dict[str, int] = field(default_factory=dict)  # first token -> most tokens


def find(tokens: Sequence[str], by_class: Sequence[Phrases], *, skips: bool) -> list[Match]:
    """Return the matches of each class, from left to right, always the longest phrase."""
    matches = []
    for number, phrases in enumerate(by_class, start=1):
        i = 0
        while i < len(tokens):
            longest = phrases.longest_from.get(tokens[i], 0)
            for end in range(min(i + longest, len(tokens)), i, -1):
                if tuple(tokens[i:end]) in phrases.all:
                    matches.append((i, end, number))
                    i = end if skips else end - 1
                    break
            i += 1
    return matches


def claims(matches: Sequence[Match], token_count: int) -> Claims:
    """Return the classes whose matches cover each token."""
    claimed: Claims = [set() for _ in range(token_count)]
    for start, end, number in matches:
        for i in range(start, end):
            claimed[i].add(number)
    return claimed


def unlabel_conflicts(matches: Sequence[Match], token_count: int) -> list[int]:
    """Return the class of each token that only one class claims, 0 for the others."""
    claimed = claims(matches, token_count)
    return [min(classes) if len(classes) == 1 else 0 for classes in claimed]


def settle_conflicts(matches: Sequence[Match], token_count: int, types: Sequence[str]) -> list[int]:
    """Return classes by our rule: of overlapping matches the longer, earlier, first by name."""
    classes = [0] * token_count
    ranked = sorted(matches, key=lambda m: (m[0] - m[1], m[0], types[m[2] - 1]))
    for start, end, number in ranked:
        if not any(classes[start:end]):
            classes[start:end] = [number] * (end - start)
    return classes


# ---- why a token differs --------------------------------------------------------------------


def in_conflict(matches: Sequence[Match], token_count: int) -> set[int]:
    """Return the tokens of every match that shares a token with a match of another class."""
    claimed = claims(matches, token_count)
    return {
        i
        for start, end, _ in matches
        if any(len(claimed[k]) > 1 for k in range(start, end))
        for i in range(start, end)
    }


def reasons(
    published: list[int], ours: list[int], with_skips: list[Match], without: list[Match]
) -> list[str]:
    """Return the reason for each token of a sentence whose two labels differ."""
    count = len(ours)
    claimed_with, claimed_without = claims(with_skips, count), claims(without, count)
    conflict = in_conflict(with_skips, count) | in_conflict(without, count)
    explained = []
    for i in range(count):
        if published[i] == ours[i]:
            continue
        if claimed_with[i] != claimed_without[i]:
            explained.append(SKIPPED)
        else:
            explained.append(TWO_TYPES if i in conflict else UNEXPLAINED)
    return explained


# ---- one setting ----------------------------------------------------------------------------


def our_labels(labels: DistantLabels, types: Sequence[str]) -> Labels:
    """Return our labels by sentence, numbered in the benchmark's order of types."""
    renumbered = np.array([0, *(types.index(name) + 1 for name in labels.types)])
    sentence_count = len(labels.bounds) - 1
    return [renumbered[labels.of_sentence(i)].tolist() for i in range(sentence_count)]


def phrases_by_class(by_type: Sequence[Dictionary]) -> list[Phrases]:
    """Return the phrases of each class; there is one dictionary per class, in the same order."""
    by_class = []
    for dictionary in by_type:
        phrases = Phrases()
        for phrase in dictionary.phrases:
            tokens = tuple(phrase.text.split())
            phrases.all.add(tokens)
            longest = phrases.longest_from.get(tokens[0], 0)
            phrases.longest_from[tokens[0]] = max(longest, len(tokens))
        by_class.append(phrases)
    return by_class


def differences(a: Labels, b: Labels) -> int:
    """Return the number of tokens at which two labelings differ."""
    return sum(x != y for s, t in zip(a, b, strict=True) for x, y in zip(s, t, strict=True))


def score(gold_tags: list[list[str]], labels: Labels, types: Sequence[str]) -> list[float]:
    """Return span precision, recall and F1 in percent; spans are runs of one class."""
    gold: SpansBySentence = [spans_from_tags(tags) for tags in gold_tags]
    spans = [spans_from_classes(np.array(classes), types) for classes in labels]
    scores = evaluate(gold, spans, [len(classes) for classes in labels]).overall
    return [round(100 * (x or 0), 2) for x in (scores.precision, scores.recall, scores.f1)]


def compare(setting: str, data_folder: Path) -> dict[str, object]:
    """Return all figures of one setting."""
    types = SETTINGS[setting].types
    sentences, gold_tags, published = load(setting, data_folder)
    sizes = [len(tokens) for tokens in sentences]
    result: dict[str, object] = {
        "setting": setting,
        "tokens": sum(sizes),
        "published_prf": score(gold_tags, published, types),
    }
    by_type = dictionaries(setting, data_folder)
    if not by_type:
        return result
    document = make_tokenized_document(setting, sentences)
    made = {preset: label([document], by_type, preset) for preset in PRESETS}
    by_preset = {preset: our_labels(labels, types) for preset, labels in made.items()}
    ours = by_preset["strict"]
    adaptation = made["adaptive"].adaptation
    assert adaptation is not None
    by_class = phrases_by_class(by_type)
    with_skips = [find(tokens, by_class, skips=True) for tokens in sentences]
    without = [find(tokens, by_class, skips=False) for tokens in sentences]
    versions = {
        "both_flaws": [unlabel_conflicts(*pair) for pair in zip(with_skips, sizes, strict=True)],
        "only_skips": [
            settle_conflicts(*pair, types) for pair in zip(with_skips, sizes, strict=True)
        ],
        "only_conflicts": [unlabel_conflicts(*pair) for pair in zip(without, sizes, strict=True)],
        "neither": [settle_conflicts(*pair, types) for pair in zip(without, sizes, strict=True)],
    }
    sides = zip(published, ours, with_skips, without, strict=True)
    why = [reason for sentence in sides for reason in reasons(*sentence)]
    return result | {
        "phrases": sum(len(dictionary.phrases) for dictionary in by_type),
        "differing": differences(published, ours),
        "reasons": {name: why.count(name) for name in (SKIPPED, TWO_TYPES, UNEXPLAINED)},
        "from_published": {k: differences(v, published) for k, v in versions.items()},
        "from_ours": {k: differences(v, ours) for k, v in versions.items()},
        "our_prf": {k: score(gold_tags, labels, types) for k, labels in by_preset.items()},
        "cases": [asdict(case) for case in adaptation.cases],
        "abbreviations": len(adaptation.abbreviations),
    }


def show(rows: list[dict]) -> None:
    """Print the figures as two tables: what differs and why, and the scores."""
    print("Tokens whose label differs from the published one, by reason. Then: tokens that the")
    print("rebuilt matcher labels differently from the published column (with both flaws, with one")
    print("of them) and from ours (with neither).\n")
    print(
        f"{'setting':<14}{'tokens':>9}{'differ':>8}{SKIPPED:>15}{TWO_TYPES:>11}{UNEXPLAINED:>13}"
        f" |{'both':>6}{'skips':>7}{'conflicts':>11} |{'neither':>9}"
    )
    for row in (row for row in rows if "reasons" in row):
        why, published = row["reasons"], row["from_published"]
        print(
            f"{row['setting']:<14}{row['tokens']:>9,}{row['differing']:>8,}{why[SKIPPED]:>15,}"
            f"{why[TWO_TYPES]:>11,}{why[UNEXPLAINED]:>13,} |{published['both_flaws']:>6,}"
            f"{published['only_skips']:>7,}{published['only_conflicts']:>11,}"
            f" |{row['from_ours']['neither']:>9,}"
        )
    columns = "".join(f"{name:>24}" for name in ("published", *PRESETS))
    print(f"\nSpan P / R / F1 against gold\n{'setting':<14}{columns}")
    for row in rows:
        prfs = [row["published_prf"], *row.get("our_prf", {}).values()]
        print(f"{row['setting']:<14}" + "".join(f"{_figures(prf):>24}" for prf in prfs))
    print("\nWhat the adaptive preset decided: types that ignore letter case, with the share of")
    print("lower-case ones among their exact matches; abbreviations that the text defines\n")
    for row in (row for row in rows if "cases" in row):
        cases = ", ".join(_case(**case) for case in row["cases"])
        print(f"{row['setting']:<14}{cases}; {row['abbreviations']} abbreviations")


def _case(entity_type: str, exact: int, lower: int, is_free: bool) -> str:
    return f"{entity_type} {'yes' if is_free else 'no'} ({lower / max(exact, 1):.1%} of {exact:,})"


def _figures(prf: list[float]) -> str:
    return " / ".join(f"{x:.2f}" for x in prf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    options = parser.parse_args()
    rows = [compare(setting, options.data) for setting in SETTINGS]
    show(rows)
    environment.finish({"benchmark": "distant_labels", "settings": rows})


if __name__ == "__main__":
    main()
