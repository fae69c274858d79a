"""What a person does on any page: follow a link, upload, read a figure, download."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.support.waiting import wait_until

HOME = "From a dictionary to a tagger"  # the title of the page Home
ROW = 35  # pixels: the height of a row of a table, its head included


def see_page(page: Page, title: str) -> None:
    """Wait until the page with this title is drawn to its end."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the server has drawn everything."""
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_attached()


def follow(page: Page, name: str) -> None:
    """Open a page of the project by its link in the sidebar."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
    see_page(page, HOME if name == "Home" else name)


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    settle(page)


def press(page: Page, name: str) -> None:
    """Press the one button of this name in the page's main part, once all of it is drawn."""
    settle(page)
    main(page).get_by_role("button", name=name, exact=True).click()


def main(page: Page) -> Locator:
    return page.get_by_test_id("stMain")


def upload(page: Page, label: str, *files: Path) -> None:
    settle(page)
    uploader = page.get_by_test_id("stFileUploader").filter(has_text=label)
    expect(uploader).to_have_count(1)  # the previous content is gone
    uploader.locator("input[type=file]").set_input_files(files)
    for file in files:
        expect(uploader).to_contain_text(file.name[:6])  # a long name is cut short in the middle


def switch(page: Page, label: str) -> None:
    """Turn the switch of this label on or off."""
    settle(page)
    main(page).get_by_test_id("stCheckbox").filter(has_text=label).locator("label").click()
    settle(page)


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of the select box of this label."""
    settle(page)
    box = main(page).get_by_test_id("stSelectbox").filter(has_text=label)
    box.get_by_role("combobox").click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)


def write_number(page: Page, label: str, value: float) -> None:
    """Write into the number field of this label."""
    field = main(page).get_by_role("spinbutton", name=label, exact=True)
    field.fill(str(value))
    field.press("Enter")
    settle(page)


def choose_only(page: Page, label: str, *names: str) -> None:
    """Select only these pills of a row."""
    pills = main(page).get_by_role("toolbar", name=label)
    for name in pills.get_by_role("button", pressed=True).all_inner_texts():
        if name not in names:
            pill = pills.get_by_role("button", name=name, exact=True)
            pill.click()
            expect(pill).to_have_attribute("aria-pressed", "false")
    settle(page)


def figure(page: Page, label: str) -> Locator:
    """Return the figure under this label; a preview, when there is one, comes first."""
    metric = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return metric.first.get_by_test_id("stMetricValue")


def number(text: str) -> float:
    """Return the first number of a text: "1,204 of 3" is 1204."""
    number = re.search(r"\d[\d,]*(\.\d+)?", text)
    assert number, f"there is no number in {text!r}"
    return float(number[0].replace(",", ""))


def table(page: Page, key: str) -> Locator:
    """Return a table, to be clicked in; `key` is the beginning of its key."""
    return page.locator(f"[class*='st-key-{key}'] .dvn-scroller").first


def choose_row(page: Page, key: str, row: int = 0) -> None:
    """Tick a row of a table in its first column."""
    settle(page)
    table(page, key).click(position={"x": 18, "y": ROW * (row + 1) + ROW // 2})


def edit_cell(page: Page, key: str, column: int, old: str, new: str) -> None:
    """Write into a cell of the first row of a table."""
    settle(page)
    editor = page.locator("#portal textarea, #portal input")

    def is_open() -> bool:
        table(page, key).click(position={"x": 20, "y": ROW + ROW // 2})
        for _ in range(column):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        try:
            editor.wait_for(timeout=3_000)
        except TimeoutError:
            return False
        return True

    # A table that is drawn again loses its selected cell.
    wait_until(is_open, "the cell can be edited")
    expect(editor).to_have_value(old)
    editor.fill(new)
    editor.press("Enter")
    expect(editor).to_have_count(0)
    # The table sends what was typed a moment later; a button pressed earlier has no effect.
    # A later timer of the page itself runs after the table's, however slow the page is.
    page.evaluate("() => new Promise(resolve => setTimeout(resolve, 1000))")
    settle(page)


def download(page: Page, name: str) -> Path:
    """Press a download button and return the file."""
    with page.expect_download() as started:
        press(page, name)
    return Path(started.value.path())
