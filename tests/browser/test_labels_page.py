import csv
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)  # a busy machine takes its time; a quick one does not wait

TEXT = "He had gout, then fever.\n\nLead pipes lead to lead poisoning 😀 and gout.\n"
DISEASES = "gout\nfever\nlead poisoning\n"
CHEMICALS = "lead\n"
HOSTILE = [
    "<script>window.ran = 'script'; alert(1)</script> gout",
    "<img src=x onerror=\"window.ran = 'img'; alert(2)\"> gout",
    "gout <svg onload=\"window.ran = 'svg'\"> :smile: $x^2$ **bold** [link](javascript:alert(3))",
]


@pytest.fixture
def page(app, browser):
    """A fresh visit; every address that the browser asks for must be the app's own."""
    page = browser.new_page(viewport={"width": 1440, "height": 1400}, accept_downloads=True)
    page.set_default_timeout(20_000)
    outside, dialogs = [], []
    page.on("request", lambda request: is_own(app, request.url) or outside.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(app)
    yield page
    page.close()
    assert outside == []
    assert dialogs == []


def is_own(app, url):
    return url.startswith((app, app.replace("http", "ws"), "data:", "blob:"))


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def upload(page, text, dictionaries):
    page.get_by_text("Your own files").click()
    uploaders = page.locator("[data-testid=stFileUploaderDropzoneInput]")
    for i, files in enumerate((text, dictionaries)):
        expect(uploaders).to_have_count(3)
        wait_for_server(page)
        uploaders.nth(i).set_input_files(files)
        expect(page.get_by_test_id("stFileUploader").nth(i)).to_contain_text(".txt")


def wait_for_server(page):
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_attached()


def figure(page, label):
    metric = page.get_by_test_id("stMetric").filter(has_text=label)
    return metric.get_by_test_id("stMetricValue")


def test_sample_project_is_shown_to_a_first_visitor(page):
    expect(figure(page, "Token coverage")).to_have_text("9.0 %")
    expect(page.locator("mark", has_text="kidney stones")).to_be_visible()
    page.get_by_role("tab", name="Coverage").click()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.get_by_text("Labeled tokens (%)")).to_be_visible()


def test_uploads_are_highlighted_muted_and_downloaded(page, tmp_path):
    text = write(tmp_path, "notes.txt", TEXT)
    names = {"Disease.txt": DISEASES, "Chemical.txt": CHEMICALS}
    upload(page, text, [write(tmp_path, name, content) for name, content in names.items()])
    poisoning = page.locator("mark.gl-mark", has_text="lead poisoning")
    expect(poisoning).to_have_text("lead poisoningDisease")
    # Tinted, whatever the theme: neither transparent nor the default yellow of <mark>.
    tint = poisoning.evaluate("e => getComputedStyle(e).backgroundColor")
    assert tint not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 0)")
    # He had gout , then fever . Lead pipes lead to lead poisoning 😀 and gout . (17 tokens)
    expect(figure(page, "Token coverage")).to_have_text("41.2 %")  # 7 of 17

    page.get_by_role("tab", name="Noisy phrases").click()
    page.get_by_role("combobox", name="Mute phrases").click()
    page.get_by_role("option", name="lead", exact=True).click()
    page.keyboard.press("Escape")  # an open list hides the rest of the page from roles
    expect(page.get_by_role("option")).to_have_count(0)
    expect(figure(page, "Token coverage")).to_have_text("29.4 %")  # 5 of 17
    wait_for_server(page)

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


def test_markup_in_uploads_is_text_and_runs_nothing(page, tmp_path):
    text = write(tmp_path, "<img src=x onerror=alert(4)>.txt", "\n\n".join(HOSTILE))
    evil_type = write(tmp_path, "<b onclick=alert(5)>Disease.txt", "gout\n<script>\n")
    upload(page, text, evil_type)
    sentences = page.locator(".gl-sentence")
    expect(sentences.first).to_contain_text("window.ran = 'script'; alert(1)")
    shown = " ".join(sentences.all_inner_texts())
    for literal in ("</script>", "<img src=x onerror=", "<svg onload=", ":smile: $x^2$ **bold**"):
        assert literal in shown
    expect(page.locator(".gl-document").first).to_contain_text("<img src=x onerror=alert(4)>")
    for tab in ("Coverage", "Conflicts", "Precision", "Noisy phrases"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(400)
    assert page.locator(".stMain img, .stMain [onclick], .stMain [onerror]").count() == 0
    assert page.evaluate("window.ran") is None


def test_an_upload_that_cannot_be_read_is_explained(page, tmp_path):
    text = tmp_path / "a_b_c :smile: *x*.txt"
    text.write_bytes(b"%PDF-1.7 binary")
    upload(page, text, write(tmp_path, "Disease.txt", DISEASES))
    message = page.get_by_test_id("stAlert")
    expect(message).to_have_text(re.compile(r"a_b_c :smile: \*x\*\.txt is a PDF file"))
    expect(page.get_by_role("heading", name="Distant labels")).to_be_visible()
