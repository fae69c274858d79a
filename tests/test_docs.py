"""What the README and the docs say is what the code does."""

import io
import json
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from bench.chart import make_svg, make_table, read_rows
from engine.cli.command_line import main, make_parser
from engine.files import SourceFile
from engine.formats import FORMATS, WriteOptions, WriteReport
from engine.jobs import READER_LIMITS
from engine.planning import METHODS
from engine.settings import (
    LIMITS,
    MATCH_PRESETS,
    SETTING_RULES,
    TRAINING_PRESETS,
    MatchOptions,
    ReadOptions,
    Settings,
)
from engine.text import Corpus, InputError, make_document

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
OTHERS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "bench/README.md",
    "sample_data/README.md",
)
RESULTS = sorted((ROOT / "bench/results").glob("*.md"))
PAGES = [*(ROOT / name for name in OTHERS), *DOCS, *RESULTS]
SHOWN_IN = ("README.md", "docs/command-line.md")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def commands(name):
    return re.findall(r"^glossa (.+)$", read(name), flags=re.MULTILINE)


def blocks(name, language):
    pattern = rf"^( *)```{language}\n(.*?)^\1```$"
    fenced = re.findall(pattern, read(name), flags=re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, block in fenced]


def table(name, first_heading):
    text = read(name)
    rows = text[text.index(f"| {first_heading} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def page_id(path):
    return str(path.relative_to(ROOT))


# ---- commands and examples ------------------------------------------------------------------


@pytest.mark.parametrize("command", [c for name in SHOWN_IN for c in commands(name)])
def test_every_command_parses(command):
    make_parser().parse_args(shlex.split(command))


def test_every_subcommand_is_shown():
    [choices] = [a.choices for a in make_parser()._actions if a.dest == "command"]
    shown = {command.split()[0] for command in commands("docs/command-line.md")}
    assert shown == set(choices)


def test_tiny_example_gives_the_file_that_is_shown(tmp_path, monkeypatch, capsys):
    notes, dictionary, entities = blocks("README.md", "text")
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text(notes, encoding="utf-8")
    Path("dictionary.csv").write_text(dictionary, encoding="utf-8")
    assert main(shlex.split(commands("README.md")[0])) == 0
    assert Path("entities.csv").read_text(encoding="utf-8") == entities


def test_commands_on_the_sample_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("sample_data").symlink_to(ROOT / "sample_data")
    for command in commands("docs/command-line.md"):
        # Other tests run these: they train, or serve, or look at the whole machine.
        if command.startswith(
            (
                "train",
                "predict",
                "twin",
                "suggest",
                "curve",
                "work",
                "app",
                "doctor",
                "export-model",
                "serve",
            )
        ):
            continue
        if "--checked" in command:
            sample = Path("check.csv").read_text(encoding="utf-8").splitlines()
            Path("check.csv").write_text(
                "\n".join([sample[0], *(line + "y" for line in sample[1:])]), encoding="utf-8"
            )
        assert main(shlex.split(command)) == 0


def test_python_example_is_short_and_runs(tmp_path):
    [code] = blocks("README.md", "python")
    assert sum(1 for line in code.splitlines() if line.strip()) < 20
    run_script(code, tmp_path)
    assert (tmp_path / "labels.csv").exists() and (tmp_path / "entities.csv").exists()


def test_the_notebook_runs(tmp_path):
    notebook = json.loads(read("docs/notebooks/first-tagger.ipynb"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in notebook["cells"])
    run_script("\n".join(cells), tmp_path)
    assert (tmp_path / "entities.csv").exists()


def test_the_format_of_the_how_to_reads_what_it_wrote():
    module, _ = blocks("docs/how-to/add-a-format.md", "python")
    names = {}
    exec(module, names)
    corpus = Corpus((make_document("a", "Rash|fever."), make_document("b", "Two\nlines.")), {})
    out = io.BytesIO()
    report = names["FORMAT"].write(corpus, out, WriteOptions())
    assert report == WriteReport(2, ("line breaks in 1 texts became spaces",))
    read_again = names["FORMAT"].read(SourceFile("x.pipes", out.getvalue()), ReadOptions())
    texts = {document.id: document.text for document in read_again.documents}
    assert texts == {"a": "Rash|fever.", "b": "Two lines."}
    fault = "x.pipes line 1: there is no | in it. Write id|text"
    with pytest.raises(InputError, match=re.escape(fault)):
        names["FORMAT"].read(SourceFile("x.pipes", b"no pipe\n"), ReadOptions())


def run_script(code, folder):
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# ---- tables ---------------------------------------------------------------------------------


def test_match_settings_table_is_complete_and_right():
    heading = f"Setting | {' | '.join(MATCH_PRESETS)}"
    shown = {row[0].strip("`"): row[1:-1] for row in table("docs/settings.md", heading)}
    assert list(shown) == [field.name for field in fields(MatchOptions)]
    for column, preset in enumerate(MATCH_PRESETS):
        for name, value in asdict(MATCH_PRESETS[preset]).items():
            assert shown[name][column] == shown_value(value), (name, preset)


def test_training_settings_table_is_complete_and_right():
    shown = {row[0].strip("`"): row[1:3] for row in table("docs/settings.md", "Name")}
    assert shown == {
        name: [shown_value(value), str(SETTING_RULES[name])]
        for name, value in asdict(Settings()).items()
    }


def test_presets_table_is_complete_and_right():
    presets = {name: asdict(settings) for name, settings in TRAINING_PRESETS.items()}
    heading = f"Preset | {' | '.join(presets)}"
    shown = {row[0].strip("`"): row[1:] for row in table("docs/settings.md", heading)}
    assert shown == {
        name: [shown_value(preset[name]) for preset in presets.values()]
        for name, default in asdict(Settings()).items()
        if any(preset[name] != default for preset in presets.values())
    }


def shown_value(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_limits_table_is_complete_and_right():
    rows = table("docs/settings.md", "Limit")
    assert {row[0].strip("`"): row[1] for row in rows} == {
        name: f"{value:,}" for name, value in asdict(LIMITS).items()
    }
    for name, _, meaning in rows:  # a size has its unit
        assert meaning.startswith("MB: ") == name.strip("`").endswith("_mb"), name


def test_limits_of_readers_are_complete_and_right():
    rows = table("docs/settings.md", "Limit of a reader")
    assert {row[0].strip("`"): row[1] for row in rows} == {
        name: f"{value:,}" for name, value in asdict(READER_LIMITS).items()
    }


def test_formats_table_is_complete_and_right():
    shown = {row[0].strip("`"): bool(row[2]) for row in table("docs/formats.md", "What")}
    assert shown == {name: bool(format.write) for name, format in FORMATS.items()}


def test_every_method_is_explained():
    text = read("docs/method.md")
    assert [method.title for method in METHODS.values() if method.title not in text] == []


# ---- names and links ------------------------------------------------------------------------


def test_architecture_names_every_package_in_its_order():
    diagram = blocks("docs/architecture.md", "text")[0]
    engine = ROOT / "engine"
    there = {path.parent.name for path in engine.glob("*/__init__.py")}
    there |= {path.stem for path in engine.glob("*.py") if not path.stem.startswith("__")}
    named = set(re.findall(r"\b[a-z_]+\b", diagram))
    assert there - named == set()


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_files_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:engine|ui|tests|bench|docs)/[\w/.-]+\.(?:py|md|toml))`", text):
        assert (ROOT / name).exists() or "pipes" in name, f"{path.name} names {name}"


def test_every_benchmark_that_is_named_exists_and_the_other_way_round():
    named = set(re.findall(r"python -m bench\.(\w+)", read("bench/README.md")))
    scripts = {
        path.stem for path in (ROOT / "bench").glob("*.py") if "__main__" in path.read_text()
    }
    assert named == scripts


def test_headline_figures_are_those_of_their_file():
    rows = read_rows()
    assert f"\n\n{make_table(rows)}\n\n" in read("bench/README.md")
    assert read("bench/results/headline.svg") == make_svg(rows)


def test_a_row_without_f1_is_not_shown(tmp_path):
    lines = read("bench/results/headline.csv").splitlines()[:1]
    lines += ["conll_kb,One,,,,,1 2 3,abc,", "conll_kb,Two,80,70,74.65,0.25,1 2 3,abc,"]
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    rows = read_rows(tmp_path / "rows.csv")
    assert make_table(rows).splitlines()[2:] == ["| Two | **74.6 ± 0.2** | seeds 1 2 3, abc |"]
    assert "74.6 ± 0.2" in make_svg(rows) and "One" not in make_svg(rows)


def test_every_file_of_results_is_linked():
    linked = set(re.findall(r"\(results/([\w.]+)\)", read("bench/README.md")))
    assert linked == {path.name for path in (ROOT / "bench/results").iterdir()}


def test_the_version_in_work_is_the_one_of_the_package():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert f"now {version}." in read("CHANGELOG.md") or f"## [{version}]" in read("CHANGELOG.md")


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_links_to_files_lead_somewhere(path):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_make_targets_that_are_named_exist(path):
    makefile = read("Makefile")
    for target in re.findall(r"(?:`|^)make ([a-z]+)(?:`|\s+#)", path.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_readme_fits_two_screens():
    assert len(read("README.md").splitlines()) <= 100
