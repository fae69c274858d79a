"""Compare class priors estimated from distant labels with the true ones: the paper's Table 5.

The priors of each train file are estimated from its tokens and published labels only. The gold tags
are used afterwards, to measure the error of the estimate. The paper gives figures for two settings
(Zhou, Li and Li, ACL 2022, appendix, Table 5) and says that the others are "not significantly
different".

    python -m bench.priors [--data DIR]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from bench import environment
from bench.data import SETTINGS, add_data_option, load
from engine.planning import estimate_priors, true_priors
from engine.text import classes_from_spans, spans_from_tags

SEED = 0
PAPER = {  # Table 5, "Estimated Prior", in the order of the setting's types
    "bc5cdr_big": (0.0503, 0.0504),
    "conll_dict": (0.1052, 0.0331, 0.0630, 0.0371),
}
AUTHORS = {  # "estimated" in pu_main.py of their code; on CoNLL these differ from Table 5
    "bc5cdr_big": (0.0503131404897, 0.0503834263676),
    "conll_dict": (0.0314966102568, 0.0376880632424, 0.0354240324761, 0.015502139428),
}


def measure(setting: str, data_folder: Path) -> dict:
    """Return the estimated, true and published priors of one setting, per type."""
    types = SETTINGS[setting].types
    sentences, gold_tags, published = load(setting, data_folder)
    labels = np.concatenate([np.array(classes, np.int16) for classes in published])
    started = time.perf_counter()
    estimated = estimate_priors(sentences, labels, types, seed=SEED)
    seconds = time.perf_counter() - started
    gold = [classes_from_spans(spans_from_tags(tags), len(tags), types) for tags in gold_tags]
    true = true_priors(np.concatenate(gold), types, labels=labels)
    return {
        "setting": setting,
        "tokens": len(labels),
        "seconds": round(seconds, 2),
        "notes": [*estimated.notes, *(f"gold: {note}" for note in true.notes)],
        "types": [
            {
                "type": name,
                "labeled": round(estimated.labeled_share[i], 4),
                "estimated": round(float(estimated.values[i + 1]), 4),
                "true": round(float(true.values[i + 1]), 4),
                "off_percent": round(100 * (estimated.values[i + 1] / true.values[i + 1] - 1), 1),
                "paper": PAPER[setting][i] if setting in PAPER else None,
            }
            for i, name in enumerate(types)
        ],
    }


def show(row: dict) -> None:
    """Print the lines of one setting."""
    seconds = f"{row['seconds']:.1f}"
    for i, prior in enumerate(row["types"]):
        paper = "" if prior["paper"] is None else f"{prior['paper']:.4f}"
        paper_off = ""
        if prior["paper"] is not None:
            paper_off = f"{100 * (prior['paper'] / prior['true'] - 1):+.0f} %"
        print(
            f"{row['setting'] if i == 0 else '':<15}{prior['type']:<10}{prior['labeled']:>9.4f}"
            f"{prior['estimated']:>11.4f}{prior['true']:>9.4f}{prior['off_percent']:>+7.0f} %"
            f"{paper:>9}{paper_off:>8}{seconds if i == 0 else '':>9}"
        )
    for note in row["notes"]:
        print(f"{'':<15}{note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    options = parser.parse_args()
    print(
        f"{'setting':<15}{'type':<10}{'labeled':>9}{'estimated':>11}{'true':>9}{'off':>9}"
        f"{'paper':>9}{'off':>8}{'seconds':>9}"
    )
    rows = []
    for setting in SETTINGS:
        rows.append(measure(setting, options.data))
        show(rows[-1])
    environment.finish({"benchmark": "priors", "seed": SEED, "settings": rows})


if __name__ == "__main__":
    main()
