"""What the README says is what the code does."""

import re
import shlex
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from engine.__main__ import main, make_parser
from engine.formats import FORMATS
from engine.settings import LIMITS, MATCH_PRESETS, MatchOptions, Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^python -m engine (.+)$", README, flags=re.MULTILINE)


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def table(first_heading):
    rows = README[README.index(f"| {first_heading} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command):
    make_parser().parse_args(shlex.split(command))


def test_every_subcommand_is_shown():
    [choices] = [a.choices for a in make_parser()._actions if a.dest == "command"]
    assert {command.split()[0] for command in COMMANDS} == set(choices)


def test_tiny_example_gives_the_file_that_is_shown(tmp_path, monkeypatch, capsys):
    notes, dictionary, entities = blocks("text")[:3]
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text(notes, encoding="utf-8")
    Path("dictionary.csv").write_text(dictionary, encoding="utf-8")
    assert main(shlex.split(COMMANDS[0])) == 0
    assert Path("entities.csv").read_text(encoding="utf-8") == entities


def test_commands_on_the_sample_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("sample_data").symlink_to(ROOT / "sample_data")
    for command in COMMANDS[1:]:
        # A minute each; test_learning_commands and test_jobs run them on less text.
        if command.startswith(("train", "predict", "curve", "work")):
            continue
        if "--checked" in command:
            sample = Path("check.csv").read_text(encoding="utf-8").splitlines()
            Path("check.csv").write_text(
                "\n".join([sample[0], *(line + "y" for line in sample[1:])]), encoding="utf-8"
            )
        assert main(shlex.split(command)) == 0


def test_python_example_runs(tmp_path):
    [code] = blocks("python")
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (tmp_path / "labels.csv").exists()


def test_match_settings_table_is_complete_and_right():
    shown = {row[0].strip("`"): row[1:4] for row in table("Setting")}
    assert list(shown) == [field.name for field in fields(MatchOptions)]
    for column, preset in enumerate(("strict", "balanced", "loose")):
        for name, value in asdict(MATCH_PRESETS[preset]).items():
            expected = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            assert shown[name][column] == expected, (name, preset)


def test_training_settings_table_is_complete_and_right():
    shown = {row[0].strip("`"): row[1] for row in table("Knob")}
    for name, value in asdict(Settings()).items():
        if isinstance(value, bool):
            expected = "yes" if value else "no"
        else:
            expected = f"{value:g}" if isinstance(value, float) else str(value)
        assert shown.pop(name) == expected
    assert not shown


def test_limits_table_is_complete_and_right():
    shown = {row[0].strip("`"): row[1] for row in table("Limit")}
    assert shown == {name: str(value) for name, value in asdict(LIMITS).items()}


def test_formats_table_is_complete_and_right():
    shown = {row[0].strip("`"): bool(row[2]) for row in table("What")}
    assert shown == {name: bool(format.write) for name, format in FORMATS.items()}


def test_file_tree_lists_what_is_there():
    [tree] = [block for block in blocks("text") if block.startswith("engine/")]
    listed = re.findall(r"^  (\S+) ", tree, flags=re.MULTILINE)
    there = {
        path.name + ("/" if path.is_dir() else "")
        for path in (ROOT / "engine").iterdir()
        if path.name not in ("__init__.py", "__pycache__")
    }
    assert set(listed) == there
    top = re.findall(r"^(\S+/) ", tree, flags=re.MULTILINE)
    assert all((ROOT / folder).is_dir() for folder in top)


def test_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"`?make ([a-z]+)[`\s#]", "\n".join(blocks("sh")) + text):
            if target in ("app", "test", "check", "lint", "types", "format", "screenshots"):
                assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_links_to_files_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
