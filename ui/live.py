"""A part of a page that draws itself again while something is under way."""

from collections.abc import Callable

import streamlit as st


def redraw(every: str | None, draw: Callable[[], None], is_over: Callable[[], bool]) -> None:
    """Draw a part now and `every` so often ("2s"; None: only now); the whole page when it is over.

    Never begins the page anew while the whole page is drawn. That drawing may be the answer to a
    click on a button further down, and a page that begins anew has forgotten the click.
    """
    is_whole_page = True

    @st.fragment(run_every=every)
    def part() -> None:
        if not is_whole_page and is_over():
            st.rerun()
        draw()

    part()
    is_whole_page = False
