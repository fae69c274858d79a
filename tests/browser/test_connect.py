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


def test_a_card_says_what_made_an_export(page, trained):
    follow(page, "Export")
    card = json.loads(download(page, "Card (JSON)").read_text(encoding="utf-8"))
    assert card["entities"] > 0
    assert card["project"]["id"] == trained.id
