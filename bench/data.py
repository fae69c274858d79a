"""Read the benchmark's files: tokens, gold tags, published labels and dictionaries."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from bench.environment import ROOT
from engine.dictionaries import Dictionary, first_share, read_dictionary
from engine.files import read_source
from engine.formats import Columns, read_columns

DATA = ROOT.parent / "shared" / "data"
BC5CDR_TYPES = ("Chemical", "Disease")
CONLL_TYPES = ("PER", "LOC", "ORG", "MISC")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the paper: a train file and the dictionary that labeled it."""

    train: str  # file in the data folder
    types: tuple[str, ...]  # class i is types[i - 1]
    dictionary: str = ""  # folder in the data folder; "" = labels from Wikidata, no dictionary
    share: int = 100  # percent of each type's phrases, from the top of the file


def _bc5cdr(share: int) -> Setting:
    return Setting(f"bc5cdr/train_dict{share}.txt", BC5CDR_TYPES, "bc5cdr/dictionary", share)


def _conll(share: int) -> Setting:
    folder = "conll2003_dict"
    return Setting(f"{folder}/train_dict{share}.txt", CONLL_TYPES, f"{folder}/dictionary", share)


SETTINGS = {
    "bc5cdr_big": _bc5cdr(100),
    "bc5cdr_small": _bc5cdr(20),
    "bc5cdr_40": _bc5cdr(40),
    "bc5cdr_60": _bc5cdr(60),
    "bc5cdr_80": _bc5cdr(80),
    "conll_dict": _conll(100),
    "conll_dict_20": _conll(20),
    "conll_dict_40": _conll(40),
    "conll_dict_60": _conll(60),
    "conll_dict_80": _conll(80),
    "conll_kb": Setting("conll2003_kb/train_kb.txt", CONLL_TYPES),
}


def load(setting: str, data_folder: Path = DATA) -> Columns:
    """Return the train file's tokens, gold tags and published labels, each by sentence."""
    return read_columns(read_source(data_folder / SETTINGS[setting].train))


def dictionaries(setting: str, data_folder: Path = DATA) -> list[Dictionary]:
    """Return one dictionary per type, cut to the setting's share; [] without a dictionary."""
    chosen = SETTINGS[setting]
    if not chosen.dictionary:
        return []
    folder = data_folder / chosen.dictionary
    return [
        first_share(read_dictionary(read_source(folder / f"{name}.txt")), chosen.share)
        for name in chosen.types
    ]


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Give a script its --data option."""
    parser.add_argument("--data", type=Path, default=DATA, help="benchmark data (%(default)s)")
