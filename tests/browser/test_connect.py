"""Beside the journey: what the sample shows at once, another opinion, and the card of an export."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import download, follow, main, open_tab, press, see_page, settle, upload

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(visitor, trained):
    return visitor(f"compare?project={trained.id}")


def open_opinions(page):
    """Go to Compare, and open the part about opinions unless it is open still."""
    follow(page, "Compare")
    box = main(page).get_by_test_id("stExpander").filter(has_text="Other opinions (1)")
    expect(box).to_be_visible()
    if box.locator("details[open]").count() == 0:
        box.locator("summary").click()
        settle(page)


def test_the_sample_has_results_and_says_which_method_to_take(visitor):
    page = visitor("compare?project=sample")
    see_page(page, "Compare")
    expect(main(page)).to_contain_text(re.compile(r"Take Conf-MPU: it finds \d+ of 100 entities"))


@pytest.mark.parametrize("width", [1440, 900])
def test_phrases_that_look_wrong_are_listed_without_gold(visitor, width):
    page = visitor("labels?project=sample")
    page.set_viewport_size({"width": width, "height": 1200})
    see_page(page, "Distant labels")
    open_tab(page, "Noisy phrases")
    entries = main(page).locator(".gl-health")
    expect(entries.filter(has_text="lead").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_another_opinion_becomes_a_lane(page, trained, files):
    see_page(page, "Compare")
    main(page).get_by_text("Other opinions", exact=True).click()
    upload(page, "Add an opinion", files.gold)
    name = main(page).get_by_role("textbox", name="Name", exact=True)
    name.fill("Anna")
    name.press("Enter")
    press(page, "Save")
    expect(main(page)).to_contain_text(re.compile(r"Saved \d+ entities as the opinion Anna\."))
    settle(page)
    lanes = main(page).get_by_role("toolbar", name="Side by side")
    expect(lanes.get_by_role("button", name="Anna", exact=True)).to_be_visible()
    assert [opinion.name for opinion in trained.opinions()] == ["Anna"]


def test_an_opinion_becomes_a_source_of_labels(page, trained):
    open_opinions(page)
    for width in (900, 1440):
        page.set_viewport_size({"width": width, "height": 1200})
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    press(page, "Use as labels")
    expect(main(page)).to_contain_text("Anna labels the text now: dictionaries version")
    assert trained.dictionaries()[-1].name == "Anna (opinion)"
    follow(page, "Dictionaries")
    expect(main(page)).not_to_contain_text("matches nothing")
    trained.restore_dictionaries(trained.dictionary_history()[1].version)


def test_an_opinion_about_another_text_has_its_sentence(page, trained, tmp_path):
    open_opinions(page)
    document = trained.corpus().documents[0].id
    odd = tmp_path / "odd.csv"
    odd.write_text(f"doc_id,start,end,label\n{document},7,999999,Disease\n", encoding="utf-8")
    upload(page, "Add an opinion", odd)
    name = main(page).get_by_role("textbox", name="Name", exact=True)
    name.fill("Odd")
    name.press("Enter")
    press(page, "Save")
    expect(main(page).get_by_text("lies outside document")).to_be_visible()
    assert [opinion.name for opinion in trained.opinions()] == ["Anna"]
    press(page, "Discard")


def test_a_card_says_what_made_an_export(page, trained):
    follow(page, "Export")
    card = json.loads(download(page, "Card (JSON)").read_text(encoding="utf-8"))
    assert card["entities"] > 0
    assert card["project"]["id"] == trained.id


def test_labels_are_downloaded_with_a_card(page, trained):
    follow(page, "Distant labels")
    card = json.loads(download(page, "Card").read_text(encoding="utf-8"))
    assert card["what"] == "what the dictionaries match" and card["entities"] > 0
    assert card["file"]["name"] == f"entities-dictionary-{trained.match_preset()}.csv"
    for width in (900, 1440):
        page.set_viewport_size({"width": width, "height": 1200})
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
