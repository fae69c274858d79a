"""A cache is stale when the code behind it changes: all of that code, and no other."""

import subprocess
import sys

import pytest

from engine.projects.caches import corpus as corpus_cache
from engine.projects.caches import labels as labels_cache
from engine.projects.caches.code_version import ROOT, code_version, sources_of

READER = {
    "files.archives", "files.decoding", "files.delimited", "files.json_records",
    "files.sources", "files.text_files", "files.writing", "formats", "formats.alignment",
    "formats.benchmark", "formats.brat", "formats.catalog", "formats.conll", "formats.contract",
    "formats.detection", "formats.docbin", "formats.doccano", "formats.drafts",
    "formats.entities_csv",
    "formats.ids", "formats.json_spans", "formats.json_text", "formats.label_studio",
    "formats.packed", "formats.pairing", "formats.parquet", "formats.plain_text",
    "formats.prodigy", "formats.pubtator",
    "formats.reading", "formats.spacy_jsonl", "formats.streaming", "formats.tagging",
    "formats.text_table", "formats.tokens_csv", "formats.writing",
    "projects.caches.code_version", "projects.caches.corpus", "settings", "system.garbage",
    "system.leftovers", "system.processes", "system.progress",
    "text.language", "text.messages", "text.model", "text.tokenization",
}  # fmt: skip
MATCHING = {
    "dictionaries.folding", "dictionaries.model", "dictionaries.patterns", "files.archives",
    "files.decoding", "files.delimited", "files.json_records", "files.sources", "files.text_files",
    "files.writing", "formats.benchmark", "formats.brat", "formats.catalog", "formats.conll",
    "formats.contract", "formats.docbin", "formats.doccano", "formats.drafts",
    "formats.entities_csv",
    "formats.ids", "formats.json_spans", "formats.json_text", "formats.label_studio",
    "formats.packed", "formats.pairing", "formats.parquet", "formats.plain_text",
    "formats.prodigy", "formats.pubtator",
    "formats.spacy_jsonl", "formats.tagging", "formats.text_table", "formats.tokens_csv",
    "labels.abbreviations", "labels.adaptation", "labels.distant", "labels.matching",
    "labels.patterns", "labels.phrase_index", "labels.placed", "labels.relabeling",
    "labels.resolution", "labels.vocabulary",
    "projects.caches.code_version", "projects.caches.corpus", "projects.caches.labels",
    "projects.connection", "projects.files", "projects.migrations", "projects.store",
    "run_folder.card", "run_folder.predictions", "scoring.marks", "settings", "system.garbage",
    "system.leftovers", "system.moments", "system.processes", "system.progress", "text.language",
    "text.messages", "text.model", "text.tokenization",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    """Write modules by dotted name; a package's own code is named `package.__init__`."""

    def write(modules):
        for name, source in modules.items():
            path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return tmp_path

    return write


# ---- the files behind the two caches --------------------------------------------------------


def test_the_code_behind_read_text():
    assert corpus_cache._reader_sources().keys() == {f"engine.{name}" for name in READER}


def test_the_code_behind_kept_labels():
    assert labels_cache._matching_sources().keys() == {f"engine.{name}" for name in MATCHING}


def test_every_format_counts():
    files = (ROOT / "engine" / "formats").glob("[!_]*.py")
    formats = {f"engine.formats.{file.stem}" for file in files}
    assert formats and formats <= corpus_cache._reader_sources().keys()


def test_nothing_is_imported_to_hash_it():
    script = (
        "import sys\n"
        "from engine.projects.caches import corpus as corpus_cache, labels as labels_cache\n"
        "before = set(sys.modules)\n"
        "corpus_cache.reader_version(), labels_cache.matching_version()\n"
        "assert not {name for name in set(sys.modules) - before if name.startswith('engine')}\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- which imports are followed -------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import app.a.b", {"app.a.b"}),
        ("import app.a.b as short", {"app.a.b"}),
        ("import json, app.c", {"app.c"}),
        ("from app.a.b import name", {"app.a.b"}),
        ("from app.a import b, name", {"app.a", "app.a.b"}),
        ("from app.a import (\n    b,\n)", {"app.a.b"}),
        ("from app.a import name", {"app.a"}),
        ("from app import c", {"app.c"}),
        ("from app import a", {"app.a"}),
        ("from .a import b", {"app.a.b"}),
        ("from . import c", {"app.c"}),
        ("def later():\n    import app.c", {"app.c"}),
        ("try:\n    import app.c\nexcept ImportError:\n    import app.a", {"app.a", "app.c"}),
        ("import other, pandas.api", set()),
        ("from other.c import name", set()),
        ("import application.c", set()),
        ("text = 'import app.c'\n# import app.c", set()),
    ],
)
def test_full_names_are_followed(tree, line, expected):
    root = tree(
        {
            "app.__init__": "import app.everything",
            "app.everything": "",
            "app.a.__init__": "",
            "app.a.b": "",
            "app.c": "",
            "other.c": "",
            "application.c": "",
            "app.start": line,
        }
    )
    assert sources_of(["app.start"], root).keys() == {"app.start", *expected}


def test_a_name_leads_through_packages_to_the_module_that_defines_it(tree):
    root = tree(
        {
            "app.__init__": "from app.a import name",
            "app.a.__init__": "from app.a.deep import name\nfrom app.a.other import more",
            "app.a.deep.__init__": "from .inner import name",
            "app.a.deep.inner": "from ... import c",
            "app.a.other": "",
            "app.c": "",
            "app.named": "from app import name",
            "app.below": "from app.a import name",
        }
    )
    for start in ("app.named", "app.below"):
        assert sources_of([start], root).keys() == {start, "app.a.deep.inner", "app.c"}


def test_a_package_counts_as_a_whole_for_what_it_defines_itself(tree):
    root = tree(
        {
            "app.__init__": "",
            "app.a.__init__": "from app.a.b import other\nname = other",
            "app.a.b": "",
            "app.named": "from app.a import name",
            "app.plain": "import app.a",
            "app.starred": "from app.a import *",
        }
    )
    for start in ("app.named", "app.plain", "app.starred"):
        assert sources_of([start], root).keys() == {start, "app.a", "app.a.b"}


def test_files_of_one_name_in_two_packages_both_count(tree):
    root = tree(
        {
            "app.__init__": "",
            "app.a.__init__": "",
            "app.a.model": "from app.b.model import name",
            "app.b.__init__": "",
            "app.b.model": "name = 1",
        }
    )
    before = sources_of(["app.a.model"], root)
    assert before.keys() == {"app.a.model", "app.b.model"}
    tree({"app.b.model": "name = 2"})
    assert code_version(before, []) != code_version(sources_of(["app.a.model"], root), [])


def test_imports_for_type_checkers_do_not_count(tree):
    root = tree(
        {
            "app.a": "",
            "app.b": "",
            "app.start": "if TYPE_CHECKING:\n    import app.a\nelse:\n    import app.b",
            "app.other": "if typing.TYPE_CHECKING:\n    from app.a import name",
        }
    )
    assert sources_of(["app.start"], root).keys() == {"app.start", "app.b"}
    assert sources_of(["app.other"], root).keys() == {"app.other"}


def test_modules_that_import_each_other_are_read_once(tree):
    root = tree({"app.a": "import app.b", "app.b": "import app.a", "app.text": "é = 'ü'"})
    assert sources_of(["app.a"], root).keys() == {"app.a", "app.b"}
    assert sources_of(["app.text"], root)["app.text"].decode() == "é = 'ü'"


def test_a_missing_start_module_is_an_error(tree):
    root = tree({"app.a": ""})
    with pytest.raises(ModuleNotFoundError, match=r"no module app\.gone"):
        sources_of(["app.a", "app.gone"], root)


# ---- the hash -------------------------------------------------------------------------------


def test_names_texts_libraries_and_the_rest_all_change_the_hash():
    same = code_version({"a": b"1", "b": b"2"}, ["numpy"], 3)
    assert same == code_version({"b": b"2", "a": b"1"}, ["numpy"], 3)
    others = [
        code_version({"a": b"2", "b": b"1"}, ["numpy"], 3),
        code_version({"a": b"1", "c": b"2"}, ["numpy"], 3),
        code_version({"a": b"12", "b": b""}, ["numpy"], 3),
        code_version({"a": b"1", "b": b"2"}, ["pandas"], 3),
        code_version({"a": b"1", "b": b"2"}, ["numpy"], 4),
    ]
    assert len({same, *others}) == 6
