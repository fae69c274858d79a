"""Only the account that runs Glossa can read the data folder and what is written into it."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli.command_line import main
from engine.projects.workspace import keep_private, sample_project

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    before = os.umask(0o022)  # what most systems have
    folder = tmp_path / "data"
    monkeypatch.setenv("GLOSSA_DATA", str(folder))
    yield folder
    os.umask(before)


def modes(folder):
    """The permissions of all folders and of all files in a folder."""
    paths = [folder, *folder.rglob("*")]
    folders = {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()}
    return folders, {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()}


def test_a_project_is_written_for_this_account_alone(data):
    keep_private()
    sample_project().corpus()
    assert modes(data) == ({0o700}, {0o600})


def test_an_existing_data_folder_is_closed(data):
    data.mkdir(mode=0o755)
    keep_private()
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "command",
    [
        ["projects"],
        ["import", "--create", "Mine", "--text", str(ROOT / "sample_data" / "score.jsonl")],
        ["export", "--project", "sample", "--dictionary-labels", "--out", "labels.csv"],
        ["label", "--project", "sample", "--out", "labels.csv"],
    ],
    ids=lambda command: command[0],
)
def test_commands_with_a_data_folder_keep_it_private(data, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(command) == 0
    assert modes(data) in [({0o700}, {0o600}), ({0o700}, set())]


def test_commands_on_files_alone_leave_permissions_to_the_user(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sample = ROOT / "sample_data"
    terms = tmp_path / "Chemical.txt"
    shutil.copy(sample / "dictionary" / "Chemical.txt", terms)
    text = str(sample / "score.jsonl")
    assert main(["label", text, "--dictionary", str(terms), "--out", "labels.csv"]) == 0
    assert stat.S_IMODE(Path("labels.csv").stat().st_mode) == 0o644


def test_the_process_of_a_job_keeps_its_files_private(data):
    job = "from engine.cli import main; main(['work', '--project', 'sample', '--job', 'none'])"
    asked = "import os; before = os.umask(0); print(f'{before:o}')"
    done = subprocess.run(
        [sys.executable, "-c", f"{job}; {asked}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == "77", done.stderr
