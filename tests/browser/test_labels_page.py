import csv

import pytest
from playwright.sync_api import expect

from tests.browser.test_shell import follow, make_project, title, upload, write

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine takes its time; a quick one does not wait

TEXT = "He had gout, then fever.\n\nLead pipes lead to lead poisoning 😀 and gout.\n"
DISEASES = "gout\nfever\nlead poisoning\n"
CHEMICALS = "lead\n"
HOSTILE = [
    "<script>window.ran = 'script'; alert(1)</script> gout",
    "<img src=x onerror=\"window.ran = 'img'; alert(2)\"> gout",
    "gout <svg onload=\"window.ran = 'svg'\"> :smile: $x^2$ **bold** [link](javascript:alert(3))",
]
TABS = ("Coverage", "Conflicts", "Precision", "Noisy phrases")


@pytest.fixture
def page(app, browser):
    """A fresh visit; every address that the browser asks for must be the app's own."""
    page = browser.new_page(viewport={"width": 1440, "height": 1400}, accept_downloads=True)
    page.set_default_timeout(30_000)
    outside, dialogs = [], []
    page.on("request", lambda request: is_own(app, request.url) or outside.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield page
    page.close()
    assert outside == []
    assert dialogs == []


def is_own(app, url):
    return url.startswith((app, app.replace("http", "ws"), "data:", "blob:"))


def figure(page, label):
    metric = page.get_by_test_id("stMetric").filter(has_text=label)
    return metric.get_by_test_id("stMetricValue")


def fill_project(page, app, name, text, dictionaries):
    """Make a project with these files and open its labels."""
    make_project(page, app, name)
    for page_name, files in (("Text", [text]), ("Dictionaries", dictionaries)):
        follow(page, page_name)
        title(page, page_name)
        upload(page, *files)
        page.get_by_role("button", name="Save to the project").click()
        expect(page.get_by_text("Not saved yet")).to_have_count(0)
    follow(page, "Distant labels")
    title(page, "Distant labels")


def test_sample_project_has_its_labels(page, app):
    page.goto(f"{app}/labels?project=sample")
    expect(figure(page, "Token coverage")).to_have_text("9.0 %")
    expect(page.locator("mark", has_text="kidney stones")).to_be_visible()
    page.get_by_role("tab", name="Coverage").click()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    expect(page.get_by_text("Labeled tokens (%)")).to_be_visible()


def test_labels_are_highlighted_muted_and_downloaded(page, app, tmp_path):
    text = write(tmp_path, "notes.txt", TEXT)
    names = {"Disease.txt": DISEASES, "Chemical.txt": CHEMICALS}
    files = [write(tmp_path, name, content) for name, content in names.items()]
    fill_project(page, app, "Muted", text, files)
    poisoning = page.locator("mark.gl-mark", has_text="lead poisoning")
    expect(poisoning).to_have_text("lead poisoningDisease")
    # Tinted, whatever the theme: neither transparent nor the default yellow of <mark>.
    tint = poisoning.evaluate("e => getComputedStyle(e).backgroundColor")
    assert tint not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 0)")
    # He had gout , then fever . Lead pipes lead to lead poisoning 😀 and gout . (17 tokens)
    expect(figure(page, "Token coverage")).to_have_text("41.2 %")  # 7 of 17

    page.get_by_role("combobox", name="Phrase").click()
    page.get_by_role("option", name="lead (2)", exact=True).click()
    expect(page.get_by_text("2 matches in 1 document")).to_be_visible()
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_text("“lead” (Chemical) matches nothing now.")).to_be_visible()
    expect(figure(page, "Token coverage")).to_have_text("29.4 %")  # 5 of 17

    with page.expect_download() as download:
        page.get_by_role("button", name="Download entities (CSV)").click()
    assert download.value.suggested_filename == "entities-dictionary-balanced.csv"
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text"], row["label"]) for row in rows] == [
        ("gout", "Disease"),
        ("fever", "Disease"),
        ("lead poisoning", "Disease"),
        ("gout", "Disease"),
    ]
    assert all(TEXT[int(row["start"]) : int(row["end"])] == row["text"] for row in rows)


def test_matches_are_judged_with_keys_and_a_reload_loses_nothing(page, app, tmp_path):
    text = write(tmp_path, "notes.txt", TEXT)
    fill_project(page, app, "Judged", text, [write(tmp_path, "Disease.txt", DISEASES)])
    page.get_by_role("tab", name="Precision").click()
    for key, said in (
        ("y", "1 of 4, so far 100 % right"),
        ("n", "2 of 4, so far 50 % right"),
        ("u", "3 of 4, so far 50 % right"),
        ("b", "2 of 4, so far 50 % right"),
    ):
        expect(page.get_by_role("button", name="Correct")).to_be_visible()
        page.keyboard.press(key)
        expect(page.get_by_text(said)).to_be_visible()
    page.reload()
    title(page, "Distant labels")
    expect(figure(page, "Precision (estimate)")).to_have_text("50.0 %")
    page.get_by_role("tab", name="Precision").click()
    expect(page.get_by_text("2 of 4, so far 50 % right")).to_be_visible()


def test_markup_in_files_is_text_and_runs_nothing(page, app, tmp_path):
    text = write(tmp_path, "<img src=x onerror=alert(4)>.txt", "\n\n".join(HOSTILE))
    evil_type = write(tmp_path, "<b onclick=alert(5)>Disease.txt", "gout\n<script>\n")
    fill_project(page, app, "Hostile", text, [evil_type])
    sentences = page.locator(".gl-sentence")
    expect(sentences.first).to_contain_text("window.ran = 'script'; alert(1)")
    shown = " ".join(sentences.all_inner_texts())
    for literal in ("</script>", "<img src=x onerror=", "<svg onload=", ":smile: $x^2$ **bold**"):
        assert literal in shown
    expect(page.locator(".gl-document").first).to_contain_text("<img src=x onerror=alert(4)>")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(400)
    follow(page, "Train")
    title(page, "Train")
    assert page.locator(".stMain img, .stMain [onclick], .stMain [onerror]").count() == 0
    assert page.evaluate("window.ran") is None
