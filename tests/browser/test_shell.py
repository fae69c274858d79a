import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)  # a busy machine takes its time; a quick one does not wait

HOSTILE = (
    "<script>window.ran = 'script'; alert(1)</script> gout.\n\n"
    "<img src=x onerror=\"window.ran = 'img'; alert(2)\"> and **lead** poisoning :smile: $x^2$.\n"
)


@pytest.fixture
def page(app, browser):
    page = browser.new_page(viewport={"width": 1440, "height": 1200})
    page.set_default_timeout(30_000)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield page
    page.close()
    assert dialogs == []


def title(page, name):
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_attached()


def follow(page, name):
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()


def upload(page, *files):
    page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(files)
    expect(page.get_by_text("Not saved yet")).to_be_visible()


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def make_project(page, app, name):
    page.goto(app)
    page.get_by_role("textbox", name="Name of the new project").fill(name)
    page.get_by_role("button", name="Create project").click()
    title(page, "Text")


def test_first_visit_is_at_home_with_the_sample_open(page, app):
    page.goto(app)
    title(page, "From a dictionary to a tagger")
    expect(page).to_have_url(re.compile(r"/\?project=sample$"))
    expect(page.locator(".gl-step img")).to_have_count(4)
    page.get_by_role("button", name="Open the sample project").click()
    title(page, "Distant labels")
    expect(page).to_have_url(re.compile(r"/labels\?project=sample$"))


def test_project_is_in_the_address_of_every_page_and_outlives_a_reload(page, app):
    make_project(page, app, "Address")
    for name, path in (("Dictionaries", "dictionaries"), ("Train", "train"), ("Text", "text")):
        follow(page, name)
        title(page, name)
        expect(page).to_have_url(re.compile(rf"/{path}\?project=address-[0-9a-f]+$"))
    page.reload()
    title(page, "Text")
    expect(page).to_have_url(re.compile(r"/text\?project=address-[0-9a-f]+$"))
    expect(page.get_by_role("combobox", name="Project")).to_have_value("Address")


def test_unknown_project_has_a_way_home(page, app):
    page.goto(f"{app}/text?project=..%2F..%2Fetc")
    expect(page.get_by_test_id("stAlert")).to_contain_text("That is no project id")
    page.get_by_role("link", name="See all projects").click()
    title(page, "From a dictionary to a tagger")


def test_files_are_saved_only_when_asked_and_markup_in_them_is_text(page, app, tmp_path):
    make_project(page, app, "<img src=x onerror=alert(3)> *mine*")
    upload(page, write(tmp_path, "<b onclick=alert(4)>notes.txt", HOSTILE))
    page.get_by_role("button", name="Save to the project").click()
    expect(page.get_by_text("Saved 1 file with 2 sentences.")).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_have_count(0)
    follow(page, "Dictionaries")
    title(page, "Dictionaries")
    upload(page, write(tmp_path, "<i>Disease.txt", "gout\n<script>\n"))
    page.get_by_role("button", name="Save to the project").click()
    expect(page.get_by_text("as version 1.")).to_be_visible()
    follow(page, "Home")
    title(page, "From a dictionary to a tagger")
    expect(page.get_by_text("<img src=x onerror=alert(3)> *mine*").first).to_be_visible()
    assert page.locator(".stMain [onclick], .stMain [onerror], .stMain img[src=x]").count() == 0
    assert page.evaluate("window.ran") is None


def test_what_changes_is_seen_before_it_is_applied(page, app):
    page.goto(f"{app}/dictionaries?project=sample")
    title(page, "Dictionaries")
    page.get_by_text("Loose", exact=True).click()
    page.get_by_role("button", name="See what changes").click()
    expect(page.get_by_text("Not applied yet")).to_be_visible()
    expect(page.locator("mark.gl-mark", has_text="beta-blockers")).to_be_visible()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("Not applied yet")).to_have_count(0)
