"""Define the commands about projects, from `projects` and `status` to `export` and `work`."""

from typing import TYPE_CHECKING

from engine.cli.arguments import (
    READABLE,
    add_command,
    add_never,
    add_reading,
    add_type,
    add_writing,
)
from engine.cli.export import export_command
from engine.cli.import_ import import_command
from engine.cli.measure import measure_command
from engine.cli.opinion import (
    add_opinion_command,
    label_with_opinion_command,
    list_opinions_command,
    remove_opinion_command,
)
from engine.cli.projects import projects_command
from engine.cli.status import status_command
from engine.export import METHOD_ORDER
from engine.formats import FORMATS
from engine.guide import OPTIONAL
from engine.jobs.worker import work_command

if TYPE_CHECKING:
    from engine.cli.arguments import Subparsers


def add_projects(parsers: "Subparsers") -> None:
    """Add `projects`."""
    parser = add_command(
        parsers,
        "projects",
        "list the projects in the data folder (GLOSSA_DATA, or data/)",
        "glossa projects",
    )
    parser.set_defaults(run=projects_command)


def add_status(parsers: "Subparsers") -> None:
    """Add `status`."""
    parser = add_command(
        parsers,
        "status",
        "list what is done in a project and the next step that helps most",
        "glossa status --project sample",
    )
    parser.add_argument("--project", required=True, metavar="ID")
    parser.add_argument(
        "--skip", choices=OPTIONAL, help="leave out this step until there is more to do in it"
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also say which method of the latest run to take, and why",
    )
    parser.set_defaults(run=status_command)


def add_measure(parsers: "Subparsers") -> None:
    """Add `measure`."""
    parser = add_command(
        parsers,
        "measure",
        "estimate precision, recall and F1 of a run from judged items, without gold",
        "glossa measure --project sample --items items.csv",
    )
    parser.add_argument("--project", required=True, metavar="ID")
    parser.add_argument("--run", dest="job", default="", metavar="ID", help="(default: the latest)")
    parser.add_argument("--method", default="", help="(default: all; to judge, the best)")
    parser.add_argument("--items", metavar="FILE", help="write what to judge next as CSV")
    parser.add_argument(
        "--answers",
        metavar="FILE",
        help="store the answers in a file that --items wrote: y if an entity is right, else how "
        "many true names it touches; of a passage, how many names are missing; u for unsure",
    )
    parser.set_defaults(run=measure_command)


def add_import(parsers: "Subparsers") -> None:
    """Add `import`."""
    parser = add_command(
        parsers,
        "import",
        "add texts, dictionaries and gold to a project, or make one",
        'glossa import --create "My notes" --text notes.jsonl --dictionary Disease.txt',
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--project", metavar="ID", help="the project to add to")
    which.add_argument("--create", metavar="NAME", help="make a new project of this name")
    which.add_argument("--zip", metavar="FILE", help="make a project from a zip of one")
    parser.add_argument("--text", nargs="+", default=[], metavar="FILE", help="text files to add")
    parser.add_argument(
        "--dictionary",
        nargs="+",
        default=[],
        metavar="FILE",
        help="dictionaries to add, or folders of them",
    )
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help="human labels; they replace the gold that is there",
    )
    add_type(parser)
    add_never(parser)
    add_reading(parser)
    parser.set_defaults(run=import_command)


def add_opinion(parsers: "Subparsers") -> None:
    """Add `opinion` and what can be done with one."""
    parser = add_command(
        parsers,
        "opinion",
        "keep what another system or a person found beside what the methods find",
        "glossa opinion add GPT predictions.csv --project sample",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = add_command(
        actions,
        "add",
        "add entities with offsets in the project's documents, as a lane in Compare and Review",
        "glossa opinion add GPT predictions.csv --project sample",
    )
    add.add_argument("name", metavar="NAME", help="whose opinion it is; an old one is replaced")
    add.add_argument("file", nargs="+", metavar="FILE", help=f"the entities ({READABLE})")
    add.add_argument(
        "--from",
        dest="source_format",
        metavar="FORMAT",
        help="format of the files, if their names and content do not show it",
        choices=list(FORMATS),
    )
    add_reading(add)
    add.set_defaults(run=add_opinion_command)
    listing = add_command(
        actions, "list", "list the opinions of a project", "glossa opinion list --project sample"
    )
    listing.set_defaults(run=list_opinions_command)
    source = add_command(
        actions,
        "label",
        "let an opinion label the text where it has entities, beside the dictionaries",
        "glossa opinion label GPT --project sample --priority -1",
    )
    source.add_argument("name", metavar="NAME")
    source.add_argument(
        "--priority",
        type=int,
        default=0,
        help="who wins where matches of the same length overlap: the higher one (default: 0)",
    )
    source.set_defaults(run=label_with_opinion_command)
    remove = add_command(
        actions, "remove", "remove an opinion", "glossa opinion remove GPT --project sample"
    )
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=remove_opinion_command)
    for action in (add, listing, source, remove):
        action.add_argument("--project", required=True, metavar="ID")


def add_export(parsers: "Subparsers") -> None:
    """Add `export`."""
    parser = add_command(
        parsers,
        "export",
        "write the entities of a project in any format, or the project as a zip",
        "glossa export --project sample --dictionary-labels --out labels.csv",
    )
    parser.add_argument("--project", required=True, metavar="ID")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--dictionary-labels", action="store_true", help="what the dictionaries match"
    )
    what.add_argument(
        "--reviewed",
        action="store_true",
        help="review decisions first, then what --method found, then what the dictionaries match",
    )
    what.add_argument("--gold", action="store_true", help="what people annotated")
    what.add_argument("--zip", metavar="FILE", help="the whole project, to import elsewhere")
    parser.add_argument("--run", dest="job", metavar="JOB", help="default: the latest finished run")
    parser.add_argument(
        "--method",
        metavar="METHOD",
        help="default: the best F1 where there is gold, else the first of "
        f"{', '.join(METHOD_ORDER)} that was trained",
    )
    parser.add_argument(
        "--types", nargs="+", default=[], metavar="TYPE", help="only entities of these types"
    )
    parser.add_argument(
        "--least-score",
        type=float,
        default=0.0,
        metavar="SCORE",
        help="lowest score, 0 to 1; entities without a score stay",
    )
    parser.add_argument(
        "--documents", default="", metavar="WORDS", help="only documents with this in their id"
    )
    add_writing(parser)
    parser.set_defaults(run=export_command)


def add_work(parsers: "Subparsers") -> None:
    """Add `work`, which the app starts; people rarely type it."""
    parser = add_command(
        parsers,
        "work",
        "run a job that the app has stored (the app starts this by itself)",
        "glossa work --project sample --job 20261116-053001-ab12",
    )
    parser.add_argument("--project", required=True, metavar="ID")
    parser.add_argument("--job", required=True, metavar="JOB")
    parser.set_defaults(run=work_command)
