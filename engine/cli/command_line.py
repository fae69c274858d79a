"""The command line: everything the app does, as commands to type.

glossa label TEXT... --dictionary DICT... --out FILE
glossa score --gold FILE --predicted FILE
glossa convert FILE --out FILE
glossa train TEXT... --dictionary DICT... --out DIR
glossa predict --run DIR TEXT... --out FILE
glossa twin RUN --text TEXT... --out DIR
glossa suggest TEXT... --dictionary DICT... --out FILE
glossa import --create NAME --text FILE... --dictionary DICT...
glossa train --project ID
"""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.cli.app import app_command
from engine.cli.arguments import (
    READABLE,
    add_cluster,
    add_command,
    add_engine,
    add_labeling,
    add_learning,
    add_reading,
    add_trust,
    add_workers,
    add_writing,
    count,
)
from engine.cli.convert import convert_command
from engine.cli.doctor import doctor_command
from engine.cli.encoders import encoders_command
from engine.cli.health import health_command
from engine.cli.label import label_command
from engine.cli.project_arguments import (
    add_export,
    add_import,
    add_measure,
    add_opinion,
    add_projects,
    add_status,
    add_work,
)
from engine.cli.score import score_command
from engine.cli.shards import label_sharded, names_shards, predict_sharded
from engine.export import MODEL_FORMS
from engine.formats import FORMATS
from engine.projects import keep_private
from engine.settings import DEFAULT_TRAINING_PRESET, LANGUAGES, TRAINING_PRESETS
from engine.text import InputError, in_language, one_line

if TYPE_CHECKING:
    from engine.cli.arguments import Subparsers


_ON_PROJECTS = ("projects", "status", "measure", "import", "export", "work", "encoders")
_FOR_LEARNING = ("torch", "transformers", "safetensors")  # what labeling alone does without


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 2 for a fault in the input, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a Greek letter must not lose the whole result.
            stream.reconfigure(errors="backslashreplace")
    options = make_parser().parse_args(arguments)
    options.typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if options.command in _ON_PROJECTS or getattr(options, "project", None):
            keep_private()
        with in_language(None):  # until the command finds another
            options.run(options)
    except InputError as error:
        print(_sentence(error, options), file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name not in _FOR_LEARNING:
            raise
        print(
            f"glossa {options.command}: {error.name} is not installed, and learning needs it. "
            'Run: pip install "glossa[train]"',
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(f"glossa {options.command}: stopped; nothing was written.", file=sys.stderr)
        return 130
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="glossa",
        description="Turn a dictionary and raw text into labeled entities, without annotations.",
        epilog="Run a command with --help for its options and an example.",
    )
    commands_parser = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_label(commands_parser)
    _add_health(commands_parser)
    _add_score(commands_parser)
    _add_convert(commands_parser)
    _add_train(commands_parser)
    _add_predict(commands_parser)
    _add_twin(commands_parser)
    _add_suggest(commands_parser)
    _add_curve(commands_parser)
    add_projects(commands_parser)
    add_status(commands_parser)
    add_measure(commands_parser)
    add_import(commands_parser)
    add_opinion(commands_parser)
    add_export(commands_parser)
    _add_export_model(commands_parser)
    _add_serve(commands_parser)
    _add_encoders(commands_parser)
    add_work(commands_parser)
    _add_app(commands_parser)
    _add_doctor(commands_parser)
    return parser


def _add_app(parsers: "Subparsers") -> None:
    parser = add_command(parsers, "app", "start the app in the browser", "glossa app --port 8501")
    parser.add_argument("--port", type=count, default=8501, help="default: %(default)s")
    parser.add_argument(
        "--address", default="localhost", help="where the server listens (default: %(default)s)"
    )
    parser.add_argument(
        "--host-name",
        action="append",
        default=[],
        metavar="NAME",
        help="another name by which browsers may ask for the app; may be given more than once, "
        "and GLOSSA_HOSTS names several, with commas",
    )
    parser.add_argument(
        "--open",
        action="store_true",
        help="let others in without signing in (better: GLOSSA_PASSWORD, or OpenID Connect)",
    )
    parser.add_argument("--headless", action="store_true", help="do not open a browser window")
    parser.set_defaults(run=app_command)


def _add_doctor(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "doctor",
        "check the installation and print what to paste into a bug report",
        "glossa doctor",
    )
    parser.set_defaults(run=doctor_command)


def _add_label(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "label",
        "label text with dictionaries; print their coverage and their precision",
        "glossa label sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --out labels.csv",
    )
    add_labeling(parser)
    parser.add_argument(
        "--sample",
        metavar="FILE",
        help="write a random sample of matches to judge: fill its verdict column with y, n or u",
    )
    parser.add_argument(
        "--sample-size",
        type=count,
        default=50,
        metavar="N",
        help="default: %(default)s, and at least 5 of each type and dictionary",
    )
    parser.add_argument(
        "--checked", metavar="FILE", help="a filled-in sample; prints precision with intervals"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    add_engine(parser)
    add_reading(parser)
    add_writing(parser, has_shards=True)
    parser.set_defaults(run=_label)


def _add_health(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "health",
        "list the phrases that likely match wrongly, without gold, and what to do about each",
        "glossa health sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt",
    )
    add_labeling(parser, has_gold=False)
    parser.add_argument(
        "--accept",
        action="store_true",
        help="save every proposal as a new version of the project's dictionaries",
    )
    parser.add_argument(
        "--mute-kind",
        action="append",
        default=[],
        metavar="KIND",
        help="mute a kind of names in the project, by its word or place; may be repeated",
    )
    add_reading(parser)
    parser.set_defaults(run=health_command)


def _add_score(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "score",
        "compare predicted entities with gold ones: strict precision, recall and F1 per type",
        "glossa score --gold sample_data/gold.csv --predicted labels.csv "
        "--text sample_data/train.jsonl",
    )
    parser.add_argument("--gold", required=True, metavar="FILE", help="human labels")
    parser.add_argument("--predicted", required=True, metavar="FILE", help="what to score")
    parser.add_argument(
        "--text",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="the texts, if neither file holds them; adds token scores and kinds of errors",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    add_reading(parser)
    parser.set_defaults(run=score_command)


def _add_convert(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "convert",
        "rewrite a file and its entities in another format",
        "glossa convert labels.csv --text sample_data/train.jsonl --out labels.conll",
    )
    parser.add_argument("file", metavar="FILE", help=f"what to convert ({READABLE})")
    parser.add_argument(
        "--from",
        dest="source_format",
        metavar="FORMAT",
        help="format of FILE, if its name and content do not show it",
        choices=list(FORMATS),
    )
    parser.add_argument(
        "--text",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="the texts, if FILE is an entities CSV",
    )
    add_reading(parser)
    add_writing(parser, is_required=True)
    parser.set_defaults(run=convert_command)


def _add_train(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "train",
        "train taggers on distant labels, several methods side by side, and compare them",
        "glossa train sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --preset quick --out runs",
    )
    add_labeling(parser)
    add_learning(parser)
    parser.add_argument(
        "--priors",
        nargs="+",
        default=[],
        metavar="TYPE=SHARE",
        help="share of all tokens that belong to each type (default: estimated)",
    )
    parser.add_argument(
        "--use-decisions",
        action="store_true",
        help="with --project: learn from what you accepted and rejected in review",
    )
    parser.add_argument(
        "--hide",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="train once more with this share of the phrases hidden, such as 0.1, and tell which "
        "method finds them best: without gold, it says which to take",
    )
    add_reading(parser)
    parser.add_argument("--out", metavar="DIR", help="folder for the runs (not with --project)")
    parser.set_defaults(run=_train)


def _add_curve(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "curve",
        "train on growing shares of the dictionary and write the scores of each method",
        "glossa curve sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--gold sample_data/gold.csv --preset quick --out curve.csv",
    )
    add_labeling(parser)
    add_learning(parser)
    parser.add_argument(
        "--fractions", default="20,40,60,80,100", metavar="LIST", help="default: %(default)s"
    )
    parser.add_argument("--seeds", default="0", metavar="LIST", help="default: %(default)s")
    add_cluster(parser, "train the cells on this machine, or on a Ray cluster that shares --out")
    add_reading(parser)
    parser.add_argument("--out", metavar="FILE", help="CSV file for the points")
    parser.set_defaults(run=_curve)


def _add_predict(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "predict",
        "find entities in new texts with a trained run",
        "glossa predict --run runs/conf_mpu-seed0 sample_data/score.jsonl --out entities.csv",
    )
    assert parser.description
    parser.description += (
        " Texts are read and results written a few documents\nat a time, so memory does not grow "
        "with their number. Only these are held whole, one file\nat a time: a .txt that is one "
        "document, JSON that is one list, brat and benchmark files."
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help=f"text files ({READABLE})")
    parser.add_argument(
        "--run", dest="run_folder", required=True, metavar="DIR", help="folder of a finished run"
    )
    add_trust(parser)
    add_engine(parser)
    add_workers(parser)
    add_reading(parser)
    add_writing(parser, has_shards=True)
    parser.set_defaults(run=_predict)


def _add_twin(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "twin",
        "make a fast run that predicts about what a run with a transformer does",
        "glossa twin runs/conf_mpu-seed0 --text sample_data/train.jsonl --out runs/fast",
    )
    assert parser.description
    parser.description += (
        " It has no transformer and learns what the run\npredicts on your text, without labels: "
        "the more text, the better. For predicting large corpora."
    )
    parser.add_argument("run_folder", metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--text", nargs="+", required=True, metavar="FILE", help=f"text files ({READABLE})"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the twin")
    add_trust(parser)
    add_reading(parser)
    parser.set_defaults(run=_twin)


def _add_export_model(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "export-model",
        "write a trained run in a form that other tools load",
        "glossa export-model runs/conf_mpu-seed0 --to spacy --out tagger",
    )
    parser.add_argument("run_folder", metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--to",
        required=True,
        choices=list(MODEL_FORMS),
        help='spacy = for spacy.load; transformers = for pipeline("token-classification"), a '
        "fine-tuned transformer only; onnx = graphs for onnxruntime",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="new folder to write")
    add_trust(parser)
    parser.set_defaults(run=_export_model)


def _add_serve(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "serve",
        "answer HTTP requests with the entities that a trained run finds",
        "glossa serve runs/conf_mpu-seed0 --port 8600",
    )
    parser.add_argument("run_folder", metavar="RUN", help="folder of a finished run")
    parser.add_argument("--port", type=count, default=8600, help="default: %(default)s")
    parser.add_argument(
        "--address", default="localhost", help="where the service listens (default: %(default)s)"
    )
    parser.add_argument(
        "--host-name",
        action="append",
        default=[],
        metavar="NAME",
        help="another name by which requests may call the service; GLOSSA_HOSTS names several",
    )
    parser.add_argument(
        "--open",
        action="store_true",
        help="let others in without a token (better: GLOSSA_TOKEN)",
    )
    parser.add_argument(
        "--most-mb",
        type=count,
        default=10,
        metavar="N",
        help="MB that one request may hold (default: %(default)s)",
    )
    add_trust(parser)
    parser.set_defaults(run=_serve)


def _add_encoders(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "encoders",
        "list the transformers that can be chosen by name, or download one",
        "glossa encoders --download google-bert/bert-base-cased",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--language",
        choices=list(LANGUAGES),
        metavar="CODE",
        help=f"say which encoders know a language: {', '.join(LANGUAGES)}",
    )
    group.add_argument(
        "--project", metavar="ID", help="say which encoders know a project's language"
    )
    parser.add_argument(
        "--download", metavar="NAME", help="from Hugging Face into the data folder (GLOSSA_DATA)"
    )
    parser.add_argument("--note", action="store_true", help=argparse.SUPPRESS)  # for the app
    parser.set_defaults(run=encoders_command)


def _add_suggest(parsers: "Subparsers") -> None:
    parser = add_command(
        parsers,
        "suggest",
        "list likely names that the dictionaries lack, before any network is trained",
        "glossa suggest sample_data/train.jsonl --dictionary sample_data/dictionary/*.txt "
        "--out suggestions.csv",
    )
    add_labeling(parser, has_gold=False)
    parser.add_argument(
        "--preset",
        choices=list(TRAINING_PRESETS),
        default=DEFAULT_TRAINING_PRESET,
        help="whose features are used (default: %(default)s)",
    )
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="change any setting"
    )
    add_reading(parser)
    parser.add_argument("--out", metavar="FILE", help="CSV file for all suggestions")
    parser.set_defaults(run=_suggest)


def _label(options: argparse.Namespace) -> None:
    if names_shards(options):
        label_sharded(options)
    else:
        label_command(options)


# These commands import torch only when they run: that takes longer than another command does.


def _train(options: argparse.Namespace) -> None:
    from engine.cli.learning import train_command

    train_command(options)


def _predict(options: argparse.Namespace) -> None:
    if names_shards(options):
        predict_sharded(options)
        return
    from engine.cli.predict import predict_command

    predict_command(options)


def _twin(options: argparse.Namespace) -> None:
    from engine.cli.twin import twin_command

    twin_command(options)


def _export_model(options: argparse.Namespace) -> None:
    from engine.cli.export_model import export_model_command

    export_model_command(options)


def _serve(options: argparse.Namespace) -> None:
    from engine.cli.serve import serve_command

    serve_command(options)


def _suggest(options: argparse.Namespace) -> None:
    from engine.cli.suggest import suggest_command

    suggest_command(options)


def _curve(options: argparse.Namespace) -> None:
    from engine.cli.learning import curve_command

    curve_command(options)


def _sentence(error: InputError, options: argparse.Namespace) -> str:
    """Return the command and the message on one line, with options that may mend the fault."""
    message = str(error).rstrip()
    names = [f"--{fix.replace('_', '-')}" for fix in error.fixes if hasattr(options, fix)]
    hint = f" ({', '.join(names)})" if names else ""
    end = "" if message.endswith(("?", "!")) else "."
    return one_line(f"glossa {options.command}: {message.rstrip('.')}{hint}{end}")


if __name__ == "__main__":
    sys.exit(main())
