import pytest
from playwright.sync_api import expect

from tests.browser.test_labels_page import fill_project, page  # noqa: F401
from tests.browser.test_shell import follow, title, write

pytestmark = pytest.mark.browser
MINUTES = 60_000  # milliseconds in one

SENTENCES = [
    "He had gout in the left foot.",
    "Fever and rash came after aspirin.",
    "Aspirin was stopped and the rash went.",
    "A second attack of gout followed the fever.",
]


def test_a_run_is_started_outlives_a_reload_and_is_kept(page, app, tmp_path):  # noqa: F811
    text = write(tmp_path, "notes.txt", "\n\n".join(SENTENCES * 10))
    diseases = write(tmp_path, "Disease.txt", "gout\nrash\nfever\n")
    fill_project(page, app, "Trained", text, [diseases])
    follow(page, "Train")
    title(page, "Train")
    page.get_by_text("MPU", exact=True).click()
    expect(page.get_by_text("Epochs: MPN 40 · Conf-MPU 70")).to_be_visible()
    page.get_by_text("Conf-MPU", exact=True).click()
    expect(page.get_by_text("Epochs: MPN 40 · ")).to_have_count(0)
    page.get_by_text("Quick", exact=True).click()
    expect(page.get_by_text("Epochs: MPN 12")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Run in progress")).to_be_visible()
    expect(page.get_by_text("You can close this page")).to_be_visible()
    page.reload()
    title(page, "Train")
    done = page.get_by_text("The latest run is done.")
    expect(done).to_be_visible(timeout=5 * MINUTES)
    expect(page.get_by_text("Run in progress")).to_have_count(0)
    expect(page.locator(".gl-stage-done")).to_have_count(3)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
