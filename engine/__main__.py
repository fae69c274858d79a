"""The command line: what the app does, a person can type.

python -m engine label TEXT... --dictionary DICT... --out FILE
python -m engine score --gold FILE --predicted FILE
python -m engine convert FILE --out FILE
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.commands.convert import convert_command
from engine.commands.label import label_command
from engine.commands.score import score_command
from engine.formats import FORMATS
from engine.settings import (
    DEFAULT_MATCH_PRESET,
    DEFAULT_TRAINING_PRESET,
    ENCODERS,
    MATCH_PRESETS,
    METHODS,
    TRAINING_PRESETS,
)
from engine.text import InputError

_READABLE = "txt, csv, tsv, jsonl, json, conll, bio, iob2, pubtator, brat, or a zip of these"


# The engine's messages speak to the app too; here the option that does what they advise is added.
_OPTION_FOR = {
    "holds the text": "--text-column",
    "skip bad lines": "--skip-bad-lines",
    "name its encoding": "--encoding",
    "name the right encoding": "--encoding",
    "name the format": "--format",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 2 when the input is at fault."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal may know no Greek; its person still wants the figures.
            stream.reconfigure(errors="backslashreplace")
    options = make_parser().parse_args(arguments)
    try:
        options.run(options)
    except InputError as error:
        print(f"engine {options.command}: {_sentence(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"engine {options.command}: stopped; nothing was written.", file=sys.stderr)
        return 130
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m engine",
        description="Turn a dictionary and raw text into labeled entities, without annotations.",
        epilog="Run a command with --help for its options and an example.",
    )
    commands_parser = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_label(commands_parser)
    _add_score(commands_parser)
    _add_convert(commands_parser)
    _add_train(commands_parser)
    _add_predict(commands_parser)
    _add_curve(commands_parser)
    return parser


if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def _add_label(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "label",
        "label text with dictionaries; print how far they reach and how precise they are",
        "python -m engine label sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --out labels.csv",
    )
    _add_labeling(parser)
    parser.add_argument(
        "--sample",
        metavar="FILE",
        help="write a random sample of matches to judge: fill its verdict column with y, n or u",
    )
    parser.add_argument(
        "--sample-size",
        type=_count,
        default=50,
        metavar="N",
        help="default: %(default)s, and at least 5 of each type and dictionary",
    )
    parser.add_argument(
        "--checked", metavar="FILE", help="a filled-in sample; prints precision with intervals"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    _add_reading(parser)
    _add_writing(parser)
    parser.set_defaults(run=label_command)


def _add_score(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "score",
        "compare predicted entities with gold ones: strict precision, recall and F1 per type",
        "python -m engine score --gold sample_data/gold.csv --predicted labels.csv "
        "--text sample_data/train.jsonl",
    )
    parser.add_argument("--gold", required=True, metavar="FILE", help="human labels")
    parser.add_argument("--predicted", required=True, metavar="FILE", help="what to score")
    parser.add_argument(
        "--text",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="the texts, when neither file holds them; adds token scores and kinds of errors",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    _add_reading(parser)
    parser.set_defaults(run=score_command)


def _add_convert(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "convert",
        "rewrite a file in another format, its entities with it",
        "python -m engine convert labels.csv --text sample_data/train.jsonl --out labels.conll",
    )
    parser.add_argument("file", metavar="FILE", help=f"what to convert ({_READABLE})")
    parser.add_argument(
        "--from",
        dest="source_format",
        metavar="FORMAT",
        help="format of FILE, when its name and content don't tell",
        choices=list(FORMATS),
    )
    parser.add_argument(
        "--text",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="the texts, when FILE is an entities CSV",
    )
    _add_reading(parser)
    _add_writing(parser)
    parser.set_defaults(run=convert_command)


def _add_train(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "train",
        "train taggers on distant labels, several methods side by side, and compare them",
        "python -m engine train sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --preset quick --out runs",
    )
    _add_labeling(parser)
    _add_learning(parser)
    _add_reading(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the runs")
    parser.set_defaults(run=_train)


def _add_curve(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "curve",
        "train on growing shares of the dictionary and write how each method does",
        "python -m engine curve sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --preset quick --out curve.csv",
    )
    _add_labeling(parser)
    _add_learning(parser)
    parser.add_argument(
        "--fractions", default="20,40,60,80,100", metavar="LIST", help="default: %(default)s"
    )
    parser.add_argument("--seeds", default="0", metavar="LIST", help="default: %(default)s")
    _add_reading(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="CSV file for the points")
    parser.set_defaults(run=_curve)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--methods",
        default=",".join(reversed(METHODS)),
        metavar="LIST",
        help="of conf_mpu, mpu, mpn, bnpu, early_stopped (default: %(default)s)",
    )
    parser.add_argument(
        "--encoder", choices=ENCODERS, default="bilstm", help="default: %(default)s"
    )
    parser.add_argument(
        "--preset",
        choices=list(TRAINING_PRESETS),
        default=DEFAULT_TRAINING_PRESET,
        help="quick = a first look; paper = its own numbers (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="change any setting"
    )


def _add_predict(parsers: "_Subparsers") -> None:
    parser = _command(
        parsers,
        "predict",
        "find entities in new texts with a trained run",
        "python -m engine predict --run runs/conf_mpu-seed0 sample_data/score.jsonl "
        "--out entities.csv",
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help=f"text files ({_READABLE})")
    parser.add_argument(
        "--run", dest="run_folder", required=True, metavar="DIR", help="folder of a finished run"
    )
    _add_reading(parser)
    _add_writing(parser)
    parser.set_defaults(run=_predict)


# The commands that learn import torch, which takes longer than the others take to finish.


def _train(options: argparse.Namespace) -> None:
    from engine.commands.train import train_command

    train_command(options)


def _predict(options: argparse.Namespace) -> None:
    from engine.commands.predict import predict_command

    predict_command(options)


def _curve(options: argparse.Namespace) -> None:
    from engine.commands.curve import curve_command

    curve_command(options)


def _add_labeling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help=f"text files ({_READABLE})")
    parser.add_argument(
        "--dictionary",
        nargs="+",
        required=True,
        metavar="DICT",
        help="dictionaries: Type.txt, csv/tsv with term and label, patterns.jsonl, json, or a zip",
    )
    parser.add_argument(
        "--match",
        choices=list(MATCH_PRESETS),
        default=DEFAULT_MATCH_PRESET,
        help="how freely phrases match: strict = the very same tokens; balanced = any case, short "
        "acronyms as written; loose = also accents, plurals, hyphens (default: %(default)s)",
    )
    parser.add_argument("--type", metavar="TYPE", help="entity type of phrases that name none")
    parser.add_argument(
        "--mute", nargs="+", default=[], metavar="PHRASE", help="phrases that must not match"
    )
    parser.add_argument("--gold", metavar="FILE", help="human labels, to score against")
    parser.add_argument(
        "--workers",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes (default: one a core)",
    )


def _command(parsers: "_Subparsers", name: str, help: str, example: str) -> argparse.ArgumentParser:
    return parsers.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument("--text-column", metavar="NAME", help="column or key that holds the text")
    group.add_argument("--id-column", metavar="NAME", help="column or key that holds the id")
    group.add_argument("--lines", action="store_true", help=".txt: one document a line")
    group.add_argument("--encoding", metavar="NAME", help="encoding, when detection is wrong")
    group.add_argument(
        "--skip-bad-lines", action="store_true", help="leave out lines that can't be read"
    )


def _add_writing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("writing")
    group.add_argument(
        "--out",
        required=parser.prog.endswith("convert"),
        metavar="FILE",
        help="file to write; its ending chooses the format",
    )
    group.add_argument(
        "--format",
        choices=[name for name, format in FORMATS.items() if format.write],
        metavar="FORMAT",
        help="format, when the ending doesn't tell: "
        + ", ".join(name for name, format in FORMATS.items() if format.write),
    )
    group.add_argument("--essential", action="store_true", help="entities CSV: few columns only")
    group.add_argument("--excel", action="store_true", help="CSV: safe to open in Excel")
    group.add_argument("--utf16-offsets", action="store_true", help="Label Studio: browser offsets")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text.lstrip("0")) < 10):
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, got {text}")
    return int(text)


def _sentence(message: str) -> str:
    message = " ".join(message.split("\n")).rstrip()
    options = [option for words, option in _OPTION_FOR.items() if words in message.lower()]
    hint = f" ({', '.join(options)})" if options else ""
    return f"{message.rstrip('.')}{hint}{'' if message.endswith(('?', '!')) else '.'}"


if __name__ == "__main__":
    sys.exit(main())
