"""The app: sign-in, page setup, the sidebar, and the ten pages in the order of the data path."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # Streamlit adds ui/, not the root

import streamlit as st

from engine.projects import Project, kept_connections
from engine.text import InputError, use_language
from ui.parts import elements, garbage, sidebar, sign_in
from ui.parts.highlight import STYLE
from ui.parts.page_style import PAGE_STYLE
from ui.state import current, idle
from ui.views.compare import page as compare
from ui.views.curves import page as curves
from ui.views.dictionaries import page as dictionaries
from ui.views.export import page as export
from ui.views.home import page as home
from ui.views.labels import page as labels
from ui.views.predict import page as predict
from ui.views.review import page as review
from ui.views.text import page as text
from ui.views.train import page as train

ICON = (
    '<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5f8b"/>'
    '<path d="M8 11h16" stroke="#fff" stroke-width="3"/>'
    '<path d="M8 20h9" stroke="#E69F00" stroke-width="5"/></svg>'
)


class PageInfo(NamedTuple):
    """A page: its name in the address, its title and its icon."""

    name: str
    title: str
    icon: str


GROUPS = {
    "": [PageInfo("home", "Home", "home")],
    "Prepare": [
        PageInfo("text", "Text", "description"),
        PageInfo("dictionaries", "Dictionaries", "menu_book"),
        PageInfo("labels", "Distant labels", "ink_highlighter"),
    ],
    "Learn": [
        PageInfo("train", "Train", "model_training"),
        PageInfo("compare", "Compare", "compare_arrows"),
        PageInfo("curves", "Coverage curves", "show_chart"),
    ],
    "Use": [
        PageInfo("review", "Review", "fact_check"),
        PageInfo("predict", "Predict", "auto_awesome"),
        PageInfo("export", "Export", "download"),
    ],
}
VIEWS = {
    "text": text,
    "dictionaries": dictionaries,
    "labels": labels,
    "train": train,
    "compare": compare,
    "curves": curves,
    "review": review,
    "predict": predict,
    "export": export,
}


def main() -> None:
    """Draw the app."""
    garbage.spare_loaded()
    idle.note_use()
    st.set_page_config(page_title="Glossa", page_icon=ICON, layout="wide")
    st.html(STYLE)
    st.html(PAGE_STYLE)
    if not sign_in.is_let_in():
        return
    groups = {group: [make_page(info) for info in infos] for group, infos in GROUPS.items()}
    current.remember_pages(
        {page.url_path or "home": page for pages in groups.values() for page in pages}
    )
    # Streamlit's own menu is hidden: the sidebar draws links that keep the project in the address.
    page = st.navigation(groups, position="hidden")
    with safe_page():
        sidebar.show(groups)
    page.run()


def make_page(info: PageInfo) -> st.Page:
    """Return the page as a Streamlit page."""
    return st.Page(
        drawer(info.name),
        title=info.title,
        icon=f":material/{info.icon}:",
        url_path=info.name,
        default=info.name == "home",
    )


def drawer(name: str) -> Callable[[], None]:
    """Return the function that draws the page: the view's `show` with the open project."""

    def draw() -> None:
        with safe_page():
            if name == "home":
                close_unknown()
                home.show()
            elif (project := opened()) is not None:
                VIEWS[name].show(project)

    return draw


def close_unknown() -> None:
    """Remove a project that does not exist from the address, and tell the user."""
    try:
        current.current_project()
    except InputError as error:
        current.set_current(None)
        current.say(elements.sentence(str(error)), "warning")


def opened() -> Project | None:
    """Return the open project, or tell the user that there is none."""
    try:
        project = current.current_project()
    except InputError as error:
        elements.show_input_error(error)
        elements.page_link("See all projects", "home", icon=":material/home:")
        return None
    if project is None:
        elements.empty_state(
            "No project is open. Choose or create one first.", "See all projects", "home"
        )
    else:
        use_language(project.language())
    return project


@contextmanager
def safe_page() -> Iterator[None]:
    """Show errors as a sentence; the traceback goes only to the server's log."""
    try:
        yield
    except InputError as error:
        elements.show_input_error(error)
    except Exception:
        logging.getLogger("glossa").exception("the page could not be drawn")
        st.error(
            "Something went wrong, and your files are not the cause. Reload the page to try "
            "again. The details are in the server's log.",
            icon=":material/error:",
        )


with kept_connections():
    main()
