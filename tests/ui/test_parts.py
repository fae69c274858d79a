import doctest

import pytest

from ui.charts import palette
from ui.charts import style as chart_style
from ui.parts import elements, wording

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
