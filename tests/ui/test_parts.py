import doctest
from pathlib import Path

import pytest

from ui.charts import palette
from ui.charts import style as chart_style
from ui.parts import elements, wording

UI = Path(elements.__file__).resolve().parents[1]
FINDER = doctest.DocTestFinder()
EXAMPLES = [
    test for module in (elements, wording, palette, chart_style) for test in FINDER.find(module)
]


@pytest.mark.parametrize("test", EXAMPLES, ids=lambda test: test.name)
def test_examples_in_docstrings_are_right(test):
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize(
    "text", ["a_b.txt", "$x^2$", "[link](javascript:alert(1))", ":smile:", "<b>", "**bold**"]
)
def test_plain_escapes_all_that_markdown_reads(text):
    assert elements.plain(text) == "".join(c if c.isalnum() else f"\\{c}" for c in text)


def test_percent_of_nothing_is_a_dash():
    assert elements.percent(float("nan")) == "–"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no files were given", "No files were given."),
        ("notes.txt is empty", "notes.txt is empty."),
        ("Was it so?", "Was it so?"),
    ],
)
def test_error_is_a_sentence_and_file_names_stay(message, shown):
    assert elements.sentence(message) == shown


def test_every_download_is_offered_with_a_card():
    """A page that draws the button itself is on this list, because its tests look for the card."""
    own = {"parts/download.py", "views/export/page.py", "views/export/more.py"}
    own |= {"views/predict/page.py", "views/home/page.py"}  # a project's zip holds everything
    sources = {path.relative_to(UI).as_posix(): path for path in UI.rglob("*.py")}
    drawing = {n for n, p in sources.items() if "download_button(" in p.read_text(encoding="utf-8")}
    assert drawing == own
