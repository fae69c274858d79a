"""The tab Measure of the page Review: judge a random sample, and get precision, recall and F1.

The tab is one fragment: an answer redraws only this tab.
"""

import streamlit as st

from engine import jobs
from engine.export import Measured, default_method
from engine.jobs import Job
from engine.projects import Project
from engine.review import NAME_COUNTS
from engine.scoring import PASSAGE, JudgedScores, Place
from ui.charts.palette import type_colors
from ui.parts import elements, wording
from ui.parts.highlight import Line, Mark, highlight_lines
from ui.state import findings
from ui.state import measured as state

MOST_TYPES = 8  # that the question names
GOAL = 100  # answers that are usually enough
WORDS = ("None", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
TOUCHED = NAME_COUNTS[:4]  # names that a wrong entity can touch


@st.fragment
def show(project: Project, job: Job | None) -> None:
    """Draw the choice of method, the estimate so far, the next item and its buttons."""
    if job is None:
        elements.empty_state(
            "Nothing is trained yet. Train first: then judge a sample to learn how good it is.",
            "Train",
            "train",
        )
        return
    st.caption(
        f"How good is a method without gold? About {GOAL} answers give precision, recall and F1, "
        "each with a range. The items are a random sample, so please answer all of them."
    )
    methods = findings.methods_of(job)
    default = default_method(project, job)
    method = st.selectbox(
        "Method",
        methods,
        index=methods.index(default) if default in methods else 0,
        format_func=wording.method_name,
        key=f"measure_method_{project.id}_{job.id}",
        width=260,
    )
    measured = state.measured(project, job, method)
    goal = max(GOAL, measured.answered + len(measured.left))
    st.progress(min(measured.answered / goal, 1.0), progress_text(measured))
    if measured.scores is not None:
        show_scores(measured.scores)
    if measured.left:
        show_item(project, job, method, measured.left[0])
    else:
        st.success("Everything in this text is judged.", icon=":material/check_circle:")
        show_back(project, job, method)


def progress_text(measured: Measured) -> str:
    """Return how many items are judged, and when the estimate changes next."""
    text = f"{measured.answered:,} judged"
    if not measured.left:
        return text
    more = elements.plural(len(measured.left), "answer")
    return f"{text}, {more} until the {'next' if measured.scores else 'first'} estimate"


def show_scores(scores: JudgedScores) -> None:
    """Draw the three estimated scores with their ranges."""
    with st.container(horizontal=True):
        for name, share in (
            ("Precision", scores.precision),
            ("Recall", scores.recall),
            ("F1", scores.f1),
        ):
            known = share.value == share.value
            elements.figure(
                f"{name}, estimated",
                f"{100 * share.value:.0f} %" if known else "–",
                f"{100 * share.low:.0f} to {100 * share.high:.0f} %" if known else "",
            )


def show_item(project: Project, job: Job, method: str, place: Place) -> None:
    """Draw the item in its text, the question, and a button per answer."""
    document = findings.documents(project)[place[0]]
    found = findings.found(project, job, method).get(place[0], ())
    is_passage = place[3] == PASSAGE
    number, start, end = next(
        (i, min(s.start, place[1]), max(s.end, place[2]))
        for i, s in enumerate(document.sentences)
        if s.start < place[2] and place[1] < s.end
    )
    if is_passage:  # a part of a long sentence: what lies outside is not asked about
        start, end = place[1], place[2]
    shown = [
        Mark(max(e.start, start) - start, min(e.end, end) - start, e.entity_type)
        for e in found
        if e.start < end and start < e.end and (is_passage or (e.start, e.end) == place[1:3])
    ]
    line = Line(number + 1, place[0], document.text[start:end], shown)
    with st.container(border=True, key="measure_card"):
        if is_passage:
            asked = elements.plain(types_asked(job, method))
            st.markdown(
                f"How many names{asked} are missing here? **Count those that no mark touches.**"
            )
        else:
            name = elements.plain(place[3])
            st.markdown(f"Is the marked text of type **{name}**, with exactly these words?")
        st.html(highlight_lines([line], type_colors({mark.entity_type for mark in shown})))
    show_answers(project, job, method, place)


def types_asked(job: Job, method: str) -> str:
    """Return the types that the method learned, in brackets; "" if they are many or not known."""
    card = jobs.run_card(jobs.run_folder(job, method))
    return f" ({', '.join(card.types)})" if card and len(card.types) <= MOST_TYPES else ""


def show_answers(project: Project, job: Job, method: str, place: Place) -> None:
    """Draw the buttons; a click is stored before anything else is drawn."""
    is_passage = place[3] == PASSAGE
    counts = NAME_COUNTS if is_passage else TOUCHED
    # In words, since Streamlit shows the key, which is the number, on the button.
    buttons = [(WORDS[int(count)], count, count) for count in counts]
    if not is_passage:
        st.caption("If it is wrong: how many true names, of any type, does the mark touch?")
        words = ("no name", "one name", "two names", "three names")
        buttons = [(f"Wrong, {words[int(count)]}", count, count) for count in counts]
        buttons.insert(0, ("Right", "accepted", "Y"))
    with st.container(horizontal=True):
        for label, verdict, key in [*buttons, ("Unsure", "unsure", "U")]:
            st.button(
                label,
                key=f"measure_{verdict}",
                shortcut=key,
                on_click=state.answer,
                args=(project, job, method, place, verdict),
            )
        show_back(project, job, method)


def show_back(project: Project, job: Job, method: str) -> None:
    """Draw the button that undoes the latest answer."""
    st.button(
        "Back",
        key="measure_back",
        shortcut="B",
        icon=":material/undo:",
        type="tertiary",
        help="Undo the latest answer.",
        on_click=state.take_back,
        args=(project, job, method),
    )
