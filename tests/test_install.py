"""The wheel works outside a checkout: in a clean environment, from any folder."""

import os
import socket
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT)
    [path] = folder.glob("glossa-*.whl")
    return path


@pytest.fixture(scope="module")
def environment(tmp_path_factory, wheel):
    """A clean environment with the wheel alone, which can label but has no torch."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    install(folder, wheel)
    return folder


def run(*command, cwd=None, environment=None):
    """Run a command that cannot see the checkout, and return what it printed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | (environment or {}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(environment, wheel, extra=""):
    python = environment / "bin" / "python"
    pins = ROOT / "requirements.txt"
    run(python, "-m", "pip", "install", "-q", "-c", pins, f"{wheel}{extra}", cwd=environment)


def installed_sample(environment):
    [folder] = environment.glob("lib/*/site-packages/glossa/sample_data")
    return folder


def labeling(sample):
    dictionaries = sorted((sample / "dictionary").glob("*.txt"))
    return [sample / "train.jsonl", "--dictionary", *dictionaries]


def test_the_wheel_labels_trains_and_serves_the_app(environment, wheel, tmp_path):
    glossa = environment / "bin" / "glossa"
    sample = installed_sample(environment)
    run(glossa, "label", *labeling(sample), "--out", "labels.csv", cwd=tmp_path)
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8").count("\n") > 500
    python = environment / "bin" / "python"
    assert run(python, "-c", "import glossa; print(glossa.label)", cwd=tmp_path)
    [line] = run(python, "-m", "pip", "list", "--format=freeze").lower().split("torch==")
    assert line, "labeling alone must not need torch"

    runs = tmp_path / "data" / "sample" / "runs"
    script = "import engine.projects; print(engine.projects.sample_project().name)"
    assert run(python, "-c", script, cwd=tmp_path) == "Sample: medical abstracts\n"
    [shipped] = runs.glob("*/conf_mpu-seed0")

    install(environment, wheel, "[app]")
    run(glossa, "predict", "--run", shipped, sample / "score.jsonl", "--out", "s.csv", cwd=tmp_path)
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").count("\n") > 100
    quick = ["--preset", "quick", "--methods", "conf_mpu", "--out", "runs"]
    run(glossa, "train", *labeling(sample), *quick, cwd=tmp_path)
    run(glossa, "predict", "--run", "runs/conf_mpu-seed0", sample / "score.jsonl", "--out", "e.csv",
        cwd=tmp_path)  # fmt: skip
    assert (tmp_path / "e.csv").exists()
    assert "All in order." in run(glossa, "doctor", cwd=tmp_path)
    check_app(glossa, tmp_path)


def check_app(glossa, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(glossa), "app", "--port", str(port), "--headless"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with open(folder / "app.log", "wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: is_healthy(port), "the installed app answers")
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait()


def is_healthy(port):
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health") as answer:
            return answer.status == 200
    except OSError:
        return False
