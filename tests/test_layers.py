"""Imports flow one way, so a reader can follow the data path file by file."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "engine"
UI = ROOT / "ui"
ENGINE_ORDER = [
    "settings", "moments", "garbage", "code_version", "text", "tokenization", "text_figures",
    "files", "encoding",
    "text_files", "archives", "delimited", "json_records", "formats", "folding", "dictionary",
    "dictionary_editing", "dictionary_layouts", "dictionary_records", "dictionary_files", "audit",
    "matching",
    "resolution", "distant", "relabeling", "changes", "coverage", "phrase_tables", "candidates",
    "corrections", "tice", "priors", "preflight", "run_card", "device", "vector_files", "vectors",
    "word_shapes", "lexicon", "encoders", "subwords", "transformer", "pretrained", "context",
    "batches", "features", "risk", "recurrence", "tagger", "training", "confidence", "decoding",
    "metrics", "confidence_scores", "checking", "selection", "marks", "predictions", "pool",
    "agreement", "bootstrap", "seen", "calibration", "judged", "streaming", "alignment",
    "training_data", "progress", "experiment", "runs", "job_process", "comparison", "curve",
    "speed", "project_connection", "project_migrations", "project_jobs",
    "project_store", "decisions", "review",
    "review_queue", "review_progress", "enrichment", "summaries",
    "dictionary_writing", "verification", "corpus_cache", "dictionary_versions",
    "project_files", "labels_cache", "project_text", "project_gold", "project", "project_labels",
    "project_zip", "workspace", "reviewed", "job_requests", "job_store", "job_plan", "job_watch",
    "job_reports", "job_results", "jobs", "export_choice", "console", "commands", "__main__",
]  # fmt: skip
TORCH_MODULES = {
    "device", "encoders", "subwords", "pretrained", "context", "batches", "features", "risk",
    "transformer", "tagger",
    "recurrence", "training", "confidence", "training_data", "progress", "assembly", "experiment",
    "runs", "prediction", "comparison", "curve",
}  # fmt: skip

# `from package import name` names a module of these packages, or what their __init__ offers.
PACKAGES = ("engine", "engine.formats", "ui", "ui.views")
ENGINE_FILES = sorted(ENGINE.rglob("*.py"))
UI_FILES = sorted(UI.rglob("*.py"))
FORMAT_FILES = sorted((ENGINE / "formats").glob("*.py"))


def layer(path):
    """Name the layer of an engine file; a package such as formats is one layer."""
    return path.relative_to(ENGINE).parts[0].removesuffix(".py")


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write `from engine...`, not a relative import"
            if node.module in PACKAGES:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module


def roots(path):
    return {module.split(".")[0] for module in imported_modules(path)}


def engine_imports(path):
    return {module for module in imported_modules(path) if module.split(".")[0] == "engine"}


def engine_import_statements(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            first = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            if first.split(".")[0] == "engine":
                yield node


def file_id(path):
    return str(path.relative_to(ROOT))


def test_every_engine_module_has_a_place_in_the_order():
    placed = {*ENGINE_ORDER, "__init__"}
    assert {layer(path) for path in ENGINE_FILES} - placed == set()


@pytest.mark.parametrize("path", ENGINE_FILES, ids=file_id)
def test_engine_module_imports_only_earlier_modules(path):
    if path == ENGINE / "__init__.py":  # it gathers the public names of all of them
        return
    place = ENGINE_ORDER.index(layer(path))
    own_package = {layer(path)} if path.parent != ENGINE else set()
    allowed = {*ENGINE_ORDER[:place], *own_package}
    # A bare `import engine` has no second part: it is as late as the whole package.
    assert {(*module.split("."), "")[1] for module in engine_imports(path)} - allowed == set()


@pytest.mark.parametrize("path", sorted((ENGINE / "commands").glob("work*.py")), ids=file_id)
def test_what_a_job_runs_imports_no_other_command(path):
    used = {module for module in engine_imports(path) if module.startswith("engine.commands.")}
    assert {module for module in used if not module.startswith("engine.commands.work_")} == set()


@pytest.mark.parametrize("path", FORMAT_FILES, ids=file_id)
def test_formats_import_each_other_as_modules_and_not_their_package(path):
    members = {f"engine.formats.{file.stem}" for file in FORMAT_FILES}
    used = {module for module in engine_imports(path) if module.startswith("engine.formats")}
    # `from engine.formats.x import y` is the module x; anything else asks the package's __init__.
    assert used - (members - {"engine.formats.__init__"}) == set()


@pytest.mark.parametrize("path", ENGINE_FILES, ids=file_id)
def test_engine_never_imports_the_ui(path):
    assert roots(path) & {"ui", "streamlit"} == set()


@pytest.mark.parametrize("path", ENGINE_FILES + UI_FILES, ids=file_id)
def test_torch_is_imported_only_where_learning_happens(path):
    learns = path in ENGINE_FILES and layer(path) in TORCH_MODULES
    assert learns or "torch" not in roots(path)


@pytest.mark.parametrize("path", UI_FILES, ids=file_id)
def test_ui_uses_only_public_names_of_the_engine(path):
    names = [alias.name for node in engine_import_statements(path) for alias in node.names]
    assert [name for name in names if name.startswith("_") or "._" in name] == []


def test_torch_stays_out_of_what_the_ui_imports():
    lines = {ast.unparse(node) for path in UI_FILES for node in engine_import_statements(path)}
    script = "\n".join(
        ["import sys", "import engine", *sorted(lines), "assert 'torch' not in sys.modules"]
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
