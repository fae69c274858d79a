"""Open a page of the app by its name, as its address would."""

from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.support.waiting import LIMIT

APP = Path(__file__).resolve().parents[2] / "ui" / "app.py"


def open_page(name: str, project_id: str = "", **query: str) -> AppTest:
    """Return the app at /name?project=project_id; `.run()` draws it.

    AppTest.switch_page knows pages that are files only, so the page's hash is set by hand.
    """
    app = AppTest.from_file(str(APP), default_timeout=LIMIT)
    app._page_hash = calc_hash(name)
    app.query_params.update({**({"project": project_id} if project_id else {}), **query})
    return app
