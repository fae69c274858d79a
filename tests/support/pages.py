"""Open a page of the app by its name, as its address would, and look at what is on it."""

from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.support.waiting import LIMIT, wait_until

APP = Path(__file__).resolve().parents[2] / "ui" / "app.py"


def open_page(name: str, project_id: str = "", **query: str) -> AppTest:
    """Return the app at /name?project=project_id; `.run()` draws it.

    AppTest.switch_page knows pages that are files only, so the page's hash is set by hand.
    """
    app = AppTest.from_file(str(APP), default_timeout=LIMIT)
    app._page_hash = calc_hash(name)
    app.query_params.update({**({"project": project_id} if project_id else {}), **query})
    return app


def checked(page):
    """Return the page after checking that it shows no error."""
    assert not page.exception and not page.error, [error.value for error in page.error]
    return page


def html(page):
    return "".join(element.value for element in page.html)


def captions(page):
    return [plain(caption.value) for caption in page.caption]


def caption_text(page):
    return " ".join(captions(page))


def figures(page):
    return {metric.label: metric.value for metric in page.main.metric}


def progress(page):
    return plain(page.get("progress")[0].proto.text)


def table(page, column):
    """Return the first table that has this column."""
    return next(shown.value for shown in page.dataframe if column in shown.value)


def upload(page, *files):
    page.file_uploader[0].set_value(list(files)).run()
    assert not page.exception
    return page


def settled(page):
    """Draw the page until no process reads or saves."""
    wait_until(lambda: not page.run().get("progress"), "the process ends", every=0.2)
    assert not page.exception
    return page


def press(page, label):
    [button] = [button for button in page.button if plain(button.label) == label]
    return button.click().run()


def caught_cards(monkeypatch, module):
    """Return what a page's module gives to `with_card`, by key: name, maker and facts."""
    files = {}

    def catch(label, make, file_name, *, key, facts, about=None):
        files[key] = file_name, make, facts

    monkeypatch.setattr(module, "with_card", catch)
    return files


def plain(text):
    """Return a text without the escapes of Markdown."""
    return text.replace("\\", "")
