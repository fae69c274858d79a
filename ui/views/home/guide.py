"""The guide on Home: the next step that helps most in the open project, and the checklist."""

from html import escape

import streamlit as st

from engine.guide import OPTIONAL, Step, next_step, project_steps, skip_step
from engine.projects import Project
from ui.parts import elements
from ui.state import labels

_ICONS = {
    "done": ":material/check_circle:",
    "next": ":material/arrow_circle_right:",
    "open": ":material/radio_button_unchecked:",
    "later": ":material/radio_button_unchecked:",
    "skipped": ":material/do_not_disturb_on:",
}


def show(project: Project) -> None:
    """Draw the next step and the checklist, side by side or below each other."""
    with elements.explained():
        steps = project_steps(project)
        with st.container(border=True, key="home_guide"), elements.side_by_side("guide"):
            with st.container(gap="small"):
                show_next(project, next_step(steps))
            with st.container(gap="xxsmall", key="home_steps"):
                for step in steps:
                    show_step(step)


def show_next(project: Project, step: Step | None) -> None:
    """Draw the next step with its reason, and the buttons that go there or skip it."""
    st.html(f'<div class="gl-hint">Next in {escape(project.name)}</div>')
    if step is None:
        st.html('<div class="gl-next">Everything is done</div>')
        return
    st.html(
        f'<div class="gl-next">{escape(step.title)}</div>'
        f'<div class="gl-empty">{escape(step.why)}</div>'
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Go there", key="home_next", type="primary", icon=":material/arrow_forward:"):
            open_step(step)
        if step.key in OPTIONAL and st.button(
            "Skip this step",
            key="home_skip",
            type="tertiary",
            help="It comes back when there is more to do in it.",
        ):
            skip_step(project, step.key)
            st.rerun()


def show_step(step: Step) -> None:
    """Draw one line of the checklist: a link to its page, with its state as an icon."""
    title = elements.plain(step.title)
    if st.button(
        f"**{title}**" if step.state == "next" else title,
        key=f"home_step_{step.key}",
        type="tertiary",
        icon=_ICONS[step.state],
        disabled=step.state == "later",
        help=None if step.state != "skipped" else "Skipped",
    ):
        open_step(step)


def open_step(step: Step) -> None:
    """Open the page of a step, at its tab."""
    if step.tab:
        labels.open_tab(step.tab)
    elements.go_to(step.page)
