"""Redraw a part of a page at intervals while a job runs."""

from collections.abc import Callable

import streamlit as st

from engine.projects import kept_connections


def redraw(every: str | None, draw: Callable[[], None], is_over: Callable[[], bool]) -> None:
    """Draw a part now and again at each interval; redraw the whole page once `is_over`.

    `every` is an interval such as "2s", or None to draw only now. While the whole page is being
    drawn, this never restarts it: that run may be the response to a click on a button further
    down, and a restart would lose the click.
    """
    is_whole_page = True

    @st.fragment(run_every=every)
    def part() -> None:
        with kept_connections():
            if not is_whole_page and is_over():
                st.rerun()
            draw()

    part()
    is_whole_page = False
