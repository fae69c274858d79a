"""A corpus of markup, formulas and scripts is shown as plain text and never runs."""

import pytest
from playwright.sync_api import expect

from engine.projects.workspace import open_project
from tests.browser.steps import HOME, follow, main, open_tab, press, see_page, settle, upload
from tests.support.finished_runs import finish_run

pytestmark = pytest.mark.browser

NAME = "<img src=x onerror=alert(1)> *mine* $x$"
TEXT = (
    "<script>window.ran = 'script'; alert(2)</script> gout.\n\n"
    "<img src=x onerror=\"window.ran = 'img'; alert(3)\"> gout.\n\n"
    "gout <svg onload=\"window.ran = 'svg'\"> :smile: $x^2$ **bold** [a](javascript:alert(4)).\n\n"
    "=cmd('calc') gout and </div></style><style>* { display: none }</style> gout.\n"
)
LITERAL = ("</script>", "<img src=x onerror=", "<svg onload=", ":smile: $x^2$ **bold** [a](java")
PHRASES = "gout\n<script>\n=cmd('calc')\n"
FOUND = {
    "mpn": [("<script>", "<b onclick=alert(5)>Type", 0.9), ("gout", "<i>Disease", 0.8)],
    "conf_mpu": [("</script> gout", "<i>Disease", 0.7)],
}
TABS = {
    "Distant labels": (
        "Text",
        "Coverage",
        "Missing names",
        "Conflicts",
        "Precision",
        "Noisy phrases",
        "Variants",
    ),
    "Dictionaries": ("Dictionaries", "Phrases", "Charts", "Versions"),
    "Compare": ("Overview", "Agreement", "Sentences", "Types", "Certainty", "Two runs"),
    "Review": ("Decide", "Dictionary candidates", "Decisions"),
}
PAGES = (
    "Text",
    "Dictionaries",
    "Distant labels",
    "Train",
    "Compare",
    "Coverage curves",
    "Review",
    "Predict",
    "Export",
    "Home",
)


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def has_run_nothing(page):
    """Check that no markup of the files became part of the page."""
    assert page.evaluate("window.ran") is None
    foreign = "[onclick], [onerror], [onload], img[src=x], iframe, .katex, a[href^='javascript']"
    assert page.locator(f":is({foreign})").count() == 0


def test_markup_in_names_and_files_is_text(page, tmp_path):
    see_page(page, HOME)
    page.get_by_role("textbox", name="Name of the new project").fill(NAME)
    press(page, "Create project")
    see_page(page, "Text")
    upload(page, "Add text files", write(tmp_path, "<b onclick=alert(6)>notes.txt", TEXT))
    press(page, "Save to the project")
    expect(page.get_by_text("Saved 1 file with ")).to_be_visible()
    follow(page, "Dictionaries")
    upload(page, "Add dictionaries", write(tmp_path, "<i>Disease.txt", PHRASES))
    press(page, "Save to the project")
    expect(page.get_by_text("as version 1.")).to_be_visible()
    follow(page, "Distant labels")
    shown = " ".join(main(page).locator(".gl-sentence").all_inner_texts())
    assert [literal for literal in LITERAL if literal not in shown] == []
    has_run_nothing(page)


def test_no_page_and_no_tab_runs_markup(page):
    finish_run(open_project(page.url.rpartition("project=")[2]), FOUND)
    for name in PAGES:
        follow(page, name)
        for tab in TABS.get(name, ()):
            open_tab(page, tab)
            has_run_nothing(page)
        has_run_nothing(page)
    expect(page.locator(".gl-project-name").first).to_have_text(NAME)


def test_a_file_that_cannot_be_read_is_explained(page, tmp_path):
    path = tmp_path / "a_b :smile: *x*.txt"
    path.write_bytes(b"%PDF-1.7 binary")
    follow(page, "Text")
    upload(page, "Add text files", path)
    expect(page.get_by_test_id("stAlert")).to_contain_text("a_b :smile: *x*.txt is a PDF file")
    press(page, "Discard")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    settle(page)
