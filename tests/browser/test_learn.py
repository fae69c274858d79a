"""Steps 5 to 7: train and return to the run, compare methods, draw a coverage curve.

The trainings are real and tiny.
"""

import csv
import re

import pytest
from playwright.sync_api import expect

from engine import jobs
from tests.browser.steps import (
    choose_only,
    download,
    follow,
    main,
    open_tab,
    press,
    see_page,
    settle,
    write_number,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(visitor, prepared):
    return visitor(f"train?project={prepared.id}")


def start_run(page, methods, epochs):
    """Fill in the form for a quick run, with fewer epochs of smaller batches, and start it."""
    settle(page)
    presets = main(page).get_by_role("radiogroup", name="Preset")
    expect(presets).to_have_count(1)  # the previous content is gone
    presets.get_by_text("Quick", exact=True).click()
    settle(page)
    for method in ("MPN", "MPU", "Conf-MPU"):
        box = main(page).get_by_role("checkbox", name=method, exact=True)
        if box.is_checked() != (method in methods):
            main(page).get_by_text(method, exact=True).first.click()
            expect(box).to_be_checked(checked=method in methods)
    if not main(page).get_by_role("spinbutton", name="Epochs", exact=True).is_visible():
        main(page).get_by_text("Advanced", exact=True).click()
    write_number(page, "Epochs", epochs)
    write_number(page, "Sentences per batch", 8)
    label = "Epochs of the confidence tagger"  # not with a linear confidence
    if main(page).get_by_role("spinbutton", name=label, exact=True).is_visible():
        write_number(page, label, 3)
    expect(main(page)).to_contain_text(f"Epochs: {methods[0]} {epochs}")
    press(page, "Start")
    expect(page.get_by_role("heading", name="Run in progress")).to_be_visible()


def progress(page):
    return main(page).get_by_test_id("stProgress").first


def test_likely_names_are_found_before_any_training(page, prepared):
    follow(page, "Distant labels")
    open_tab(page, "Missing names")
    press(page, "Find likely missing names")
    expect(
        main(page).get_by_text(re.compile("Most like matches first|No likely name"))
    ).to_be_visible()
    assert [job.state for job in jobs.list_jobs(prepared, "suggest")] == ["done"]
    follow(page, "Train")


def test_a_run_is_cancelled_and_resumed(page, prepared):
    see_page(page, "Train")
    start_run(page, ["MPN"], 20)
    expect(progress(page)).to_contain_text("MPN: training")  # an epoch is done
    main(page).locator(".st-key-train_live").get_by_role("button", name="Cancel").click()
    expect(main(page)).to_contain_text("The latest run was cancelled.")
    id = jobs.list_jobs(prepared, "train")[0].id
    done = len(jobs.epochs(prepared, id))
    assert 1 <= done < 20
    press(page, "Resume")
    expect(page.get_by_text("The latest run is done.")).to_be_visible()
    epochs = jobs.epochs(prepared, id)
    assert epochs["epoch"].tolist() == list(range(1, 21))


def test_a_run_goes_on_while_its_page_is_closed(page, app, visitor, prepared):
    start_run(page, ["MPN", "Conf-MPU"], 8)
    expect(progress(page)).to_contain_text(re.compile(r"\d+ % · "))
    page.goto("about:blank")

    tab = visitor(f"train?project={prepared.id}")
    see_page(tab, "Train")
    expect(tab.get_by_text("The latest run is done.")).to_be_visible()
    expect(tab.locator(".st-key-run_card")).to_contain_text("✓ Conf-MPU: tagger")
    tab.close()
    page.goto(f"{app}/train?project={prepared.id}")
    see_page(page, "Train")
    job = jobs.list_jobs(prepared, "train")[0]
    assert (job.state, job.request["settings"]["epochs"]) == ("done", 8)
    assert set(jobs.epochs(prepared, job.id)["method"]) == {"mpn", "conf_mpu"}


def test_methods_are_compared_in_every_tab(page, trained):
    follow(page, "Compare")
    scores = page.locator("table").filter(has_text="Precision (%)")
    for name in ("Dictionary", "MPN", "Conf-MPU"):
        expect(scores.get_by_role("rowheader", name=name, exact=True).first).to_be_visible()
    expect(main(page).locator(".js-plotly-plot")).to_have_count(2)
    with open(download(page, "Download scores (CSV)"), encoding="utf-8", newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} >= {"Dictionary", "MPN", "Conf-MPU"}
    open_tab(page, "Agreement")
    expect(main(page).locator(".js-plotly-plot").first).to_be_visible()
    open_tab(page, "Types")
    expect(main(page).locator(".js-plotly-plot").first).to_be_visible()
    open_tab(page, "Certainty")
    expect(main(page).locator(".js-plotly-plot").first).to_be_visible()
    open_tab(page, "Two runs")
    expect(main(page)).to_contain_text("Changed entities")
    open_tab(page, "Sentences")
    main(page).get_by_text("All", exact=True).click()
    expect(main(page)).to_contain_text("Sentences 1–25 of 249.")
    for name in ("Gold", "Dictionary", "MPN", "Conf-MPU"):
        expect(main(page).locator(".gl-names", has_text=name).first).to_be_visible()


def test_a_curve_grows_to_its_end(page, trained):
    follow(page, "Coverage curves")
    choose_only(page, "Shares of the dictionary", "20 %", "100 %")
    choose_only(page, "Methods", "MPN")
    write_number(page, "Epochs", 1)
    expect(main(page)).to_contain_text("2 shares × 1 method × 1 seed = 2 points to train")
    press(page, "Start")
    expect(main(page)).to_contain_text("2 of 2 trained.")
    expect(page.get_by_role("button", name="Download data (CSV)")).to_be_visible()
    expect(main(page).locator(".js-plotly-plot")).to_have_count(3)
    with open(download(page, "Download data (CSV)"), encoding="utf-8", newline="") as file:
        points = {(row["fraction"], row["method"]) for row in csv.DictReader(file)}
    assert points == {(x, m) for x in ("20", "100") for m in ("dictionary", "mpn")}
