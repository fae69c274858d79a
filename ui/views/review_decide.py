"""The tab Decide of the review: one item at a time, its buttons and their keys.

All of it is one fragment: a decision redraws this tab alone.
"""

import streamlit as st

from engine import InputError
from engine.jobs import Job
from engine.project import Project
from ui import parts
from ui.state import review as state
from ui.views import review_item

ORDERS = {
    "disagreement": "Most disagreement",
    "uncertain": "Least certain",
    "dictionary": "Likely dictionary errors",
    "unseen": "Unseen phrases",
    "random": "Random",
}
ABOUT = {
    "disagreement": "Where the methods say different things.",
    "uncertain": "What was found with the lowest score.",
    "dictionary": "Matches of the dictionaries that the trained methods reject.",
    "unseen": "What was found although no dictionary holds it; each phrase once, then again.",
    "random": "All that was found, shuffled: an honest picture of how right it is.",
}


@st.fragment
def show(project: Project) -> None:
    """Draw the progress, the next item and its buttons; a decision redraws only this."""
    chosen = state.setup(project)
    job = state.chosen_run(project, chosen)
    show_setup(project, chosen)
    if problem := state.take_problem():
        parts.show_input_error(problem)
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


def show_setup(project: Project, chosen: state.Setup) -> None:
    """Draw the choice of queue; each change is remembered in the project."""
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
            *state.SIZES,
            step=10,
            key=state.widget_key(project, "size"),
            on_change=state.take,
            args=(project, "size"),
            help="How many of the queue you want to work through.",
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
                help="Another seed, another sample.",
                width=110,
            )
    st.caption(ABOUT[chosen.order])


# ---- how far it is --------------------------------------------------------------------------


def show_empty_queue(order: str, job: Job | None) -> None:
    """Say why there is nothing in this order."""
    if job is None and order != "random":
        parts.empty_state(
            "This queue compares trained methods, and none is trained yet. Train, or choose the "
            "random queue to go through matches of the dictionaries.",
            "Train",
            "train",
        )
        return
    why = {
        "disagreement": "The methods agree everywhere: there is nothing to settle.",
        "uncertain": "Nothing here has a score.",
        "dictionary": "The trained methods reject no match of the dictionaries.",
        "unseen": "Everything that was found is in the dictionaries already.",
        "random": "Nothing was found in this text.",
    }
    parts.empty_state(f"{why[order]} Choose another queue.")


def show_progress(standing: state.Standing) -> None:
    """Draw how far the queue is, as a bar with words."""
    progress = standing.progress
    done = progress.total - len(standing.left)
    said = f"{done:,} of {progress.total:,}"
    if progress.accepted_share is not None:
        said += f", {100 * progress.accepted_share:.0f} % accepted"
    if progress.skipped:
        said += f", {progress.skipped:,} skipped"
    st.progress(done / progress.total, text=said)


def show_end(project: Project, job: Job | None, chosen: state.Setup, skipped: int) -> None:
    """Say that the queue is done, and offer more."""
    more = state.queue_length(project, job, chosen) - chosen.size
    with st.container(border=True):
        st.html('<div class="gl-empty">You are through with these.</div>')
        with st.container(horizontal=True):
            if more > 0 and chosen.size < state.SIZES[1]:
                size = min(chosen.size + 50, state.SIZES[1])
                st.button(
                    f"Take {min(size - chosen.size, more):,} more",
                    type="primary",
                    key="review_more",
                    on_click=state.take_more,
                    args=(project, size),
                )
            if skipped:
                st.button(
                    f"Ask about the {skipped:,} skipped again",
                    key="review_ask_again",
                    on_click=state.ask_again,
                    args=(project,),
                )
            review_item.show_undo(project)


# ---- training again -------------------------------------------------------------------------


def show_training(project: Project, job: Job | None) -> None:
    """Draw the button that trains with the decisions, as the run was trained."""
    taken = len(project.decisions(state.KIND))
    if job is not None and st.button(
        f"Train again with {parts.plural(taken, 'decision')}",
        key="review_train",
        disabled=not taken,
        icon=":material/model_training:",
        help="Trains the same methods with the same preset as this run. Accepted entities join "
        "the labels, rejected ones count as certainly none.",
    ):
        try:
            state.train_again(project, job)
        except InputError as error:
            parts.show_input_error(error)
        else:
            parts.go_to("train")
