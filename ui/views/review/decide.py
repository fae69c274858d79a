"""The tab Decide of the page Review: one item at a time, with buttons and keys.

The tab is one fragment: a decision redraws only this tab.
"""

import streamlit as st

from engine.jobs import Job
from engine.projects import Project
from engine.text import InputError
from ui.parts import elements
from ui.state import review_setup
from ui.views.review import item as review_item
from ui.views.review import state as state

ORDERS = {
    "disagreement": "Most disagreement",
    "uncertain": "Least certain",
    "dictionary": "Likely dictionary errors",
    "unseen": "Unseen phrases",
    "random": "Random",
}
ABOUT = {
    "disagreement": "Where the methods disagree.",
    "uncertain": "Lowest scores first.",
    "dictionary": "Dictionary matches that the trained methods reject.",
    "unseen": "Phrases that no dictionary holds, each once before any is repeated.",
    "random": "Everything that was found, shuffled: an unbiased sample of its quality.",
}


@st.fragment
def show(project: Project) -> None:
    """Draw the choice of queue, the progress, the next item and its buttons."""
    chosen = review_setup.setup(project)
    job = state.chosen_run(project, chosen)
    show_setup(project, chosen)
    if problem := state.take_problem():
        elements.show_input_error(problem)
    items = state.queue(project, job, chosen)
    if not items:
        show_empty_queue(chosen.order, job)
        return
    standing = state.standing(project, items, chosen)
    show_progress(standing)
    if standing.left:
        review_item.show(project, job, chosen.order, standing.left)
    else:
        show_end(project, job, chosen, standing.progress.skipped)
    show_training(project, job)


# ---- which queue ----------------------------------------------------------------------------


def show_setup(project: Project, chosen: review_setup.Setup) -> None:
    """Draw the choice of queue; each change is stored in the project."""
    state.begin_size(project, chosen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Queue",
            list(ORDERS),
            index=list(ORDERS).index(chosen.order),
            format_func=ORDERS.__getitem__,
            key=state.widget_key(project, "order"),
            on_change=state.take,
            args=(project, "order"),
            width=230,
        )
        st.number_input(
            "Items",
            *review_setup.SIZES,
            step=10,
            key=state.widget_key(project, "size"),
            on_change=state.take,
            args=(project, "size"),
            help="How many items of the queue to work through.",
            width=130,
        )
        if chosen.order == "random":
            st.number_input(
                "Seed",
                0,
                value=chosen.seed,
                key=state.widget_key(project, "seed"),
                on_change=state.take,
                args=(project, "seed"),
                help="Another seed gives another sample.",
                width=110,
            )
    st.caption(ABOUT[chosen.order])


# ---- progress -------------------------------------------------------------------------------


def show_empty_queue(order: str, job: Job | None) -> None:
    """Say why this queue is empty."""
    if job is None and order != "random":
        elements.empty_state(
            "This queue needs trained methods, and none is trained yet. Train, or choose the "
            "random queue to check dictionary matches.",
            "Train",
            "train",
        )
        return
    why = {
        "disagreement": "The methods agree everywhere.",
        "uncertain": "Nothing that was found has a score.",
        "dictionary": "The trained methods reject no dictionary match.",
        "unseen": "Everything that was found is already in the dictionaries.",
        "random": "Nothing was found in this text.",
    }
    elements.empty_state(f"{why[order]} Choose another queue.")


def show_progress(standing: state.Standing) -> None:
    """Draw a bar with the progress in words."""
    progress = standing.progress
    done = progress.total - len(standing.left)
    text = f"{done:,} of {progress.total:,}"
    if progress.accepted_share is not None:
        text += f", {100 * progress.accepted_share:.0f} % accepted"
    if progress.skipped:
        text += f", {progress.skipped:,} skipped"
    st.progress(done / progress.total, text=text)


def show_end(project: Project, job: Job | None, chosen: review_setup.Setup, skipped: int) -> None:
    """Say that the queue is done, and offer more items."""
    rest = state.queue_length(project, job, chosen) - chosen.size
    with st.container(border=True):
        st.html('<div class="gl-empty">All items of this queue are done.</div>')
        with st.container(horizontal=True):
            if rest > 0 and chosen.size < review_setup.SIZES[1]:
                size = min(chosen.size + 50, review_setup.SIZES[1])
                st.button(
                    f"Take {min(size - chosen.size, rest):,} more",
                    type="primary",
                    key="review_more",
                    on_click=state.take_more,
                    args=(project, size),
                )
            if skipped:
                st.button(
                    f"Ask again about {skipped:,} skipped",
                    key="review_ask_again",
                    on_click=state.ask_again,
                    args=(project,),
                )
            review_item.show_undo(project)


# ---- training again -------------------------------------------------------------------------


def show_training(project: Project, job: Job | None) -> None:
    """Draw the button that trains again with the decisions."""
    count = len(project.decisions(state.KIND))
    if job is not None and st.button(
        f"Train again with {elements.plural(count, 'decision') if count else 'your decisions'}",
        key="review_train",
        disabled=not count,
        icon=":material/model_training:",
        help="Trains the same methods with the same preset as this run. Accepted entities become "
        "labels, rejected ones known non-entities.",
    ):
        try:
            state.train_again(project, job)
        except InputError as error:
            elements.show_input_error(error)
        else:
            elements.go_to("train")
