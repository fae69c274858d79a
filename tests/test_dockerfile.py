"""The image that the Dockerfile describes, as far as it can be tried without Docker.

Its files are copied as COPY and .dockerignore say, and its last command runs on them alone.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.browser.server import free_port
from tests.support.waiting import LIMIT, wait_until

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
# One line per instruction: comments go, and lines that end in a backslash are joined.
LINES = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^\s*#.*\n", "", TEXT)).splitlines()
STEPS = [(name, rest) for name, _, rest in (line.partition(" ") for line in LINES) if name]
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
PASSWORD = "correct horse battery"


def only(name):
    [rest] = [rest for step, rest in STEPS if step == name]
    return rest


def variables():
    pairs = [pair for step, rest in STEPS if step == "ENV" for pair in shlex.split(rest)]
    return dict(pair.split("=", 1) for pair in pairs)


def is_ignored(path):
    """Return whether .dockerignore leaves a path out; `**/` means in any folder."""
    parents = [path, *path.parents][:-1]
    return any(
        fnmatch(place.name if rule.startswith("**/") else str(place), rule.removeprefix("**/"))
        for place in parents
        for rule in IGNORED
    )


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The folder / of the image, with the files of WORKDIR."""
    folder = tmp_path_factory.mktemp("image")
    app = folder / only("WORKDIR").strip("/")
    for step, rest in STEPS:
        if step != "COPY":
            continue
        source, target = rest.split()
        assert (ROOT / source).exists(), f"COPY {source}: there is no such file"
        assert not is_ignored(Path(source)), f"COPY {source}: .dockerignore leaves it out"
        files = [ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*")
        for file in files:
            name = file.relative_to(ROOT)
            if file.is_file() and not is_ignored(name):
                place = app / target / name.relative_to(source if target != "." else ".")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
    return folder


@pytest.fixture
def start(image, tmp_path):
    """Return a function that starts the image's last command, with more options."""
    running = []

    def start(*options, **environment):
        tini, end, python, *command = json.loads(only("ENTRYPOINT"))
        assert (tini, end, python) == ("tini", "--", "python")
        inside = {"PYTHONPATH": str(image / variables()["PYTHONPATH"].strip("/"))}
        inside |= {"GLOSSA_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GLOSSA", "PYTHON"))}
        process = subprocess.Popen(
            [sys.executable, *command, *options], cwd=image / only("WORKDIR").strip("/"),
            env={**kept, **inside, **environment}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        process.terminate()
        process.communicate(timeout=LIMIT)


def test_a_container_refuses_to_start_without_a_sign_in(start):
    _, stderr = (process := start()).communicate(timeout=LIMIT)
    assert process.returncode == 2, stderr
    [line] = stderr.splitlines()
    assert line.startswith("glossa app: at 0.0.0.0 others could read") and "--open" in line


def test_a_container_with_a_password_becomes_healthy(start):
    port = str(free_port())
    check = re.fullmatch(r".*?CMD (\[.*\])", only("HEALTHCHECK"))[1]
    inner, script = only("EXPOSE"), json.loads(check)
    assert script[0] == "python" and f":{inner}/" in script[2]
    script = [sys.executable, "-c", script[2].replace(f":{inner}/", f":{port}/")]
    process = start("--port", port, GLOSSA_PASSWORD=PASSWORD)

    def is_healthy():
        assert process.poll() is None, process.stderr.read()
        return subprocess.run(script, capture_output=True).returncode == 0

    assert not is_healthy()
    wait_until(is_healthy, "the container is healthy", every=0.5)


def test_the_container_runs_as_its_own_user_and_keeps_data_in_its_volume():
    names = [step for step, _ in STEPS]
    assert only("USER") not in ("root", "0") and names.index("USER") < names.index("ENTRYPOINT")
    assert "COPY" not in names[names.index("USER") :]  # the user cannot change the code
    data = only("VOLUME")
    assert variables()["GLOSSA_DATA"] == data
    assert any(f"install -d -m 700 -o {only('USER')} " in r and r.endswith(data) for _, r in STEPS)
    assert f'"--port", "{only("EXPOSE")}"' in only("ENTRYPOINT")


def test_torch_without_its_nvidia_packages_has_all_others():
    pins = dict(re.findall(r"([\w-]+)==([\d.]+)", TEXT[TEXT.index("--no-deps") :]))
    needed = [Requirement(line) for line in requires("torch") or []]
    for one in needed:
        if one.marker is None and not re.match("nvidia|triton|cuda", one.name):
            assert one.name in pins and pins[one.name] in one.specifier, one


@pytest.mark.parametrize("name", ["Dockerfile", "README.md", "docs/operate.md"])
def test_every_docker_line_publishes_on_this_machine_and_names_a_sign_in(name):
    text = re.sub(r"\\\n[#\s]*", "", (ROOT / name).read_text(encoding="utf-8"))
    lines = re.findall(r"docker run [^\n`]*glossa[^\n`]*", text)
    assert lines
    for line in lines:
        if "-p " in line or "--memory" not in line:
            assert re.search(r"-p 127\.0\.0\.1:(\d+):\1 ", line), line
            assert "--open" in line or "-e GLOSSA_PASSWORD" in line, line
