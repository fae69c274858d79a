"""A trained tagger leaves the app: for other tools, for a large corpus, and as a fast twin."""

import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from engine import jobs
from engine.projects.workspace import sample_project
from tests.browser.steps import download, follow, main, press, see_page, settle, switch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def sample(server):
    """The sample, which comes with trained runs."""
    return sample_project()


@pytest.fixture(scope="module")
def page(visitor, sample):
    return visitor(f"export?project={sample.id}")


def fits(page, width):
    page.set_viewport_size({"width": width, "height": 1200})
    settle(page)
    return page.evaluate("document.documentElement.scrollWidth") <= width


def write(page, label, value):
    field = main(page).get_by_role("textbox", name=label, exact=True)
    field.fill(str(value))
    field.press("Enter")
    settle(page)


def test_every_further_download_has_a_card(page, sample):
    see_page(page, "Export")
    assert fits(page, 900) and fits(page, 1440)
    cards = main(page).get_by_role("button", name="Card", exact=True)
    expect(cards).to_have_count(6)
    with page.expect_download() as started:
        cards.first.click()
    assert started.value.suggested_filename == f"report-{sample.id}.html.card.json"
    card = json.loads(started.value.path().read_text(encoding="utf-8"))
    assert card["what"] == "a report on the project" and card["runs"]


@pytest.mark.parametrize("name, member", [
    ("Tagger as ONNX (zip)", "tagger.onnx"),
    ("Tagger for spaCy (zip)", "config.cfg"),
])  # fmt: skip
def test_the_tagger_is_exported_for_other_tools(page, name, member):
    with zipfile.ZipFile(download(page, name)) as archive:
        names = {path.rpartition("/")[2]: path for path in archive.namelist()}
        assert member in names
        card = json.loads(archive.read(names["glossa.card.json"]))
    assert card["run"]["settings"]["encoder"] == "bilstm" and card["glossa"]


def test_a_large_corpus_is_predicted_shard_by_shard(page, server):
    follow(page, "Predict")
    corpus, out = server.corpora / "notes", server.corpora / "found"
    corpus.mkdir(parents=True)
    for i in range(3):
        row = json.dumps({"id": f"d{i}", "text": "Denosumab was stopped; kidney stones."})
        (corpus / f"part-{i}.jsonl").write_text(row + "\n", encoding="utf-8")
    main(page).get_by_text("Large corpus", exact=True).click()
    write(page, "Shards", "/etc")
    write(page, "Results", out)
    press(page, "Find entities")
    expect(main(page)).to_contain_text("is not in the folders that the app may use")
    write(page, "Shards", corpus)
    press(page, "Find entities")
    expect(main(page)).to_contain_text("3 of 3 shards, 3 documents")
    expect(page.get_by_role("heading", name=re.compile(r"found \d+ entit"))).to_be_visible()
    assert len(list(out.rglob("*.jsonl"))) >= 3
    assert fits(page, 900) and fits(page, 1440)


def test_a_fast_twin_is_made_and_used(page, sample):
    main(page).get_by_text("Paste text", exact=True).click()
    press(page, "Make a fast twin")
    expect(main(page).get_by_text("Use the fast twin")).to_be_visible()
    switch(page, "Use the fast twin")
    box = page.get_by_role("textbox", name="Your text")
    box.fill("Denosumab was stopped after kidney stones.")
    box.press("Control+Enter")
    press(page, "Find entities")
    expect(page.get_by_role("heading", name=re.compile(r"found \d+ entit"))).to_be_visible()
    assert any(job.state == "done" for job in jobs.list_jobs(sample, "twin"))
    assert fits(page, 900) and fits(page, 1440)
