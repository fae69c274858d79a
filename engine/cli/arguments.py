"""Declare commands, and the options that several of them share."""

import argparse
import os
from typing import TYPE_CHECKING

from engine.formats import FORMATS
from engine.settings import (
    BASELINES,
    DEFAULT_MATCH_PRESET,
    DEFAULT_TRAINING_PRESET,
    ENCODERS,
    LANGUAGES,
    MATCH_PRESETS,
    METHODS,
    TRAINING_PRESETS,
)

READABLE = (
    "txt, csv, tsv, jsonl, json, conll, bio, iob2, pubtator, brat, spacy, parquet, or a zip of "
    "these"
)
WRITABLE = [name for name, format in FORMATS.items() if format.write]

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_command(
    parsers: "Subparsers", name: str, help: str, example: str
) -> argparse.ArgumentParser:
    """Return the parser of a new command, whose help ends with the example."""
    return parsers.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_labeling(parser: argparse.ArgumentParser, *, has_gold: bool = True) -> None:
    """Add texts and dictionaries, from files or from a project, and gold to score against."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help=f"text files ({READABLE})")
    parser.add_argument(
        "--dictionary",
        nargs="+",
        default=[],
        metavar="DICT",
        help="dictionaries: Type.txt, csv/tsv with term and label, patterns.jsonl, json, a zip, "
        "or a folder of these",
    )
    parser.add_argument(
        "--project",
        metavar="ID",
        help="take text, dictionaries, gold and --match from this project instead",
    )
    parser.add_argument(
        "--match",
        choices=list(MATCH_PRESETS),
        help="how freely phrases match: strict = exactly the same tokens; adaptive = any case only "
        "in types that the text writes in lower case, and abbreviations that it defines; balanced "
        "= any case, but short acronyms as written; loose = also accents, plurals, hyphens "
        f"(default: {DEFAULT_MATCH_PRESET})",
    )
    add_type(parser)
    add_never(parser)
    parser.add_argument(
        "--mute",
        nargs="+",
        default=[],
        metavar="PHRASE",
        help="phrases and abbreviations that must not match",
    )
    if has_gold:
        parser.add_argument("--gold", metavar="FILE", help="human labels, to score against")
    else:
        parser.set_defaults(gold=None)
    add_workers(parser)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add where the shards of a large corpus are done."""
    group = parser.add_argument_group(
        "shards", "TEXT may be folders or URLs whose files are shards; --out is then a folder, too."
    )
    add_cluster(group, "processes of this machine, or a Ray cluster (default for folders: local)")


def add_cluster(parser: "argparse._ActionsContainer", help: str) -> None:
    """Add whether a Ray cluster does the work, and which."""
    parser.add_argument("--engine", choices=("local", "ray"), help=help)
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="head node of the Ray cluster (default: the one on this machine, or a new one)",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add how many processes work."""
    parser.add_argument(
        "--workers",
        type=count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes (default: one per core)",
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Add the entity type of phrases that have none."""
    parser.add_argument("--type", metavar="TYPE", help="entity type of phrases that have none")


def add_never(parser: argparse.ArgumentParser) -> None:
    """Add lists of what is never an entity."""
    parser.add_argument(
        "--never",
        nargs="+",
        default=[],
        metavar="FILE",
        help="phrases and patterns that are never an entity: not labeled, and known negatives in "
        "training; files as for --dictionary",
    )


def add_learning(parser: argparse.ArgumentParser) -> None:
    """Add what to train, and how."""
    parser.add_argument(
        "--methods",
        default=",".join(reversed(METHODS)),
        metavar="LIST",
        help=f"one or more of {', '.join((*reversed(METHODS), *BASELINES))}, with commas "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--encoder", choices=ENCODERS, default="bilstm", help="default: %(default)s"
    )
    parser.add_argument(
        "--preset",
        choices=list(TRAINING_PRESETS),
        default=DEFAULT_TRAINING_PRESET,
        help="quick = a first look; paper = the settings of the paper (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="change any setting"
    )
    parser.add_argument(
        "--resume", metavar="JOB", help="with --project: continue a job that was stopped"
    )
    add_trust(parser)


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the permission for an imported run to use what is no part of it."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let an imported run use word vectors and encoders outside its folder",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add how to read files that do not show it themselves."""
    group = parser.add_argument_group("reading")
    group.add_argument("--text-column", metavar="NAME", help="column or key that holds the text")
    group.add_argument("--id-column", metavar="NAME", help="column or key that holds the id")
    group.add_argument("--lines", action="store_true", help=".txt: one document per line")
    group.add_argument(
        "--encoding", metavar="NAME", help="encoding of the files, if the detected one is wrong"
    )
    group.add_argument(
        "--language",
        choices=list(LANGUAGES),
        metavar="CODE",
        help="language of the texts, which sentence splitting, stop words and everyday words "
        f"follow: {', '.join(LANGUAGES)} (default: detected)",
    )
    group.add_argument(
        "--skip-bad-lines", action="store_true", help="leave out lines that cannot be read"
    )
    group.add_argument(
        "--no-limits", action="store_true", help="read files of any size, if the memory holds them"
    )


def add_writing(
    parser: argparse.ArgumentParser, *, is_required: bool = False, has_shards: bool = False
) -> None:
    """Add where results go, and in which format."""
    group = parser.add_argument_group("writing")
    group.add_argument(
        "--out",
        required=is_required,
        metavar="FILE",
        help="file to write; its ending chooses the format; FILE.card.json beside it says what "
        "made it" + ("; with shards: folder or URL of the results" if has_shards else ""),
    )
    group.add_argument(
        "--format",
        choices=WRITABLE,
        metavar="FORMAT",
        help="format, if the ending does not decide it: " + ", ".join(WRITABLE),
    )
    group.add_argument(
        "--essential", action="store_true", help="entities CSV: the most important columns only"
    )
    group.add_argument("--excel", action="store_true", help="CSV: safe to open in Excel")
    group.add_argument(
        "--utf16-offsets",
        action="store_true",
        help="Label Studio: offsets as a browser counts them",
    )


def count(text: str) -> int:
    """Return a whole number of one or more, for argparse."""
    if not (text.isascii() and text.isdigit() and 0 < len(text.lstrip("0")) < 10):
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, got {text}")
    return int(text)
