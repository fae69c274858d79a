"""Imports go one way, and each package shows only its public names.

A newcomer reads the engine package by package, in the order below. A package may use those before
it, through their `__init__` alone. Inside a package, modules import each other by name.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "engine"
UI = ROOT / "ui"
ORDER = [
    "settings", "system", "text", "files", "formats", "dictionaries", "labels", "health",
    "scoring", "planning", "run_folder", "network", "learning", "experiment", "runs", "shards",
    "review", "projects", "jobs", "export", "portable", "service", "guide", "library", "cli",
    "__main__",
]  # fmt: skip
# What the process of a job runs. It needs torch, so `engine.jobs` cannot offer its names.
INNER_PACKAGES = ("engine.jobs.worker",)
WITH_TORCH = ("network", "learning", "experiment", "runs", "jobs.worker", "portable", "service")

ENGINE_FILES = sorted(ENGINE.rglob("*.py"))
UI_FILES = sorted(UI.rglob("*.py"))
BENCH_FILES = sorted((ROOT / "bench").glob("*.py"))
PACKAGES = sorted(path.parent for path in ENGINE.glob("*/__init__.py"))


def file_id(path):
    return str(path.relative_to(ROOT))


def dotted(path):
    """`engine/labels/matching.py` is engine.labels.matching; a package is its folder's name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(name):
    """The place in ORDER that a dotted name of the engine belongs to; "" for `engine` itself."""
    return (*name.split("."), "")[1]


def home(name):
    """The package whose fence a module stands behind: engine.labels, engine.jobs.worker, …"""
    for inner in INNER_PACKAGES:
        if name == inner or name.startswith(inner + "."):
            return inner
    return ".".join(name.split(".")[:2])


def statements(path):
    """All imports of a file as (module, name); name is None for `import module`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write `from engine...`, not a relative import"
            yield from ((node.module, alias.name) for alias in node.names)


def is_module(name):
    path = ROOT / Path(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imports(path, package="engine"):
    """Yield (module, name) of one package; a module imported by name is (that module, None)."""
    for module, name in statements(path):
        if module.split(".")[0] != package:
            continue
        if name is not None and is_module(f"{module}.{name}"):
            yield f"{module}.{name}", None
        else:
            yield module, name


def public_names(package):
    tree = ast.parse((ROOT / Path(*package.split(".")) / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


# ---- the engine -----------------------------------------------------------------------------


def test_the_order_names_what_is_there_and_nothing_else():
    there = {path.stem for path in ENGINE.glob("*.py")} | {path.name for path in PACKAGES}
    assert there - {"__init__"} == set(ORDER)
    for name in (*INNER_PACKAGES, *(f"engine.{name}" for name in WITH_TORCH)):
        assert is_module(name), name


@pytest.mark.parametrize("path", ENGINE_FILES, ids=file_id)
def test_imports_go_downwards_only(path):
    own = dotted(path)
    if own == "engine":  # it gathers the names of the library
        return
    place = ORDER.index(layer(own))
    later = {
        module
        for module, _ in imports(path)
        if layer(module) != layer(own)
        and (layer(module) == "" or ORDER.index(layer(module)) > place)
    }
    assert later == set()


@pytest.mark.parametrize("path", ENGINE_FILES + UI_FILES + BENCH_FILES, ids=file_id)
def test_nothing_reaches_past_the_init_of_another_package(path):
    own = home(dotted(path)) if path in ENGINE_FILES else None
    past = []
    for module, name in imports(path):
        there = home(module)
        if there == own or module == "engine" or not (ROOT / Path(*there.split("."))).is_dir():
            continue
        if module != there or (name is not None and name not in public_names(there)):
            past.append(f"{module}.{name}" if name else module)
    assert past == []


@pytest.mark.parametrize("path", ENGINE_FILES, ids=file_id)
def test_modules_of_one_package_import_each_other_by_name(path):
    own = home(dotted(path))
    if path.name == "__init__.py":
        return
    assert [name for module, name in imports(path) if module == own and name] == []


def package_graph(package):
    graph = {}
    for path in sorted(package.rglob("*.py")):
        if path.name != "__init__.py":
            graph[dotted(path)] = {module for module, _ in imports(path)}
    return {name: used & graph.keys() for name, used in graph.items()}


@pytest.mark.parametrize("package", PACKAGES, ids=file_id)
def test_no_modules_of_a_package_import_each_other_in_a_circle(package):
    left = package_graph(package)
    while free := [name for name, used in left.items() if not used & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


@pytest.mark.parametrize("path", [p / "__init__.py" for p in PACKAGES], ids=file_id)
def test_a_package_offers_what_its_modules_define(path):
    offered = {name for _, name in imports(path) if name}
    assert public_names(dotted(path)) == offered
    for module, name in imports(path):
        source = (ROOT / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8")
        defined = {
            target.id
            for node in ast.parse(source).body
            for part in ast.walk(node)
            for target in [part]
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        } | {node.name for node in ast.parse(source).body if hasattr(node, "name")}
        assert name in defined, f"{module} does not define {name}"


@pytest.mark.parametrize("folder", sorted({path.parent for path in ENGINE_FILES}), ids=file_id)
def test_a_package_introduces_its_modules(folder):
    introduction = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules | packages <= set(re.findall(r"\w+", introduction))


@pytest.mark.parametrize("path", ENGINE_FILES, ids=file_id)
def test_engine_never_imports_the_ui(path):
    assert {module.split(".")[0] for module, _ in statements(path)} & {"ui", "streamlit"} == set()


# ---- torch ----------------------------------------------------------------------------------


def learns(path):
    name = dotted(path).removeprefix("engine.")
    return any(name == part or name.startswith(part + ".") for part in WITH_TORCH)


@pytest.mark.parametrize("path", ENGINE_FILES + UI_FILES, ids=file_id)
def test_torch_is_imported_only_where_learning_happens(path):
    if path in ENGINE_FILES and learns(path):
        return
    assert "torch" not in {module.split(".")[0] for module, _ in statements(path)}


def test_torch_stays_out_of_what_the_ui_imports():
    lines = {f"import {module}" for path in UI_FILES for module, _ in imports(path)}
    script = "\n".join(
        ["import sys", "import glossa", *sorted(lines), "assert 'torch' not in sys.modules"]
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- the app --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", UI_FILES, ids=file_id)
def test_a_page_does_not_use_the_modules_of_another_page(path):
    own = path.relative_to(UI).parts
    others = {
        module
        for module, _ in imports(path, "ui")
        if module.startswith("ui.views.") and own[0] == "views" and module.split(".")[2] != own[1]
    }
    assert others == set()


@pytest.mark.parametrize("path", UI_FILES, ids=file_id)
def test_parts_and_charts_do_not_know_the_pages(path):
    if path.relative_to(UI).parts[0] in ("parts", "charts", "state"):
        assert not [m for m, _ in imports(path, "ui") if m.startswith("ui.views")]
