"""One item of the page Review: its card, its buttons, and the editor of its boundaries."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from engine.jobs import Job
from engine.projects import Project
from engine.review import Item, acceptable, phrase_history
from engine.text import Document
from ui.parts import elements
from ui.parts.highlight import Mark, type_colors
from ui.state import findings
from ui.views.review import card as review_card
from ui.views.review import state as state


def show(project: Project, job: Job | None, order: str, left: list[Item]) -> None:
    """Draw the first item that is left, to decide on or to edit."""
    item = left[0]
    document = findings.documents(project)[item.document_id]
    types = sorted({*state.dictionary_types(project), item.entity_type})
    colors = type_colors({*types, *(o.entity.entity_type for o in item.opinions if o.entity)})
    passage = review_card.passage(document, item)
    if state.edited(item) is None:
        show_card(project, job, item, (document, passage), colors)
        show_verdicts(project, item, order, review_card.covered(passage, item))
        show_types(project, item, types, order)
    else:
        show_editor(project, item, (document, passage), types, order)
    show_many(project, left, order)


def show_card(
    project: Project,
    job: Job | None,
    item: Item,
    place: tuple[Document, review_card.Passage],
    colors: Mapping[str, str],
) -> None:
    """Draw the item in its sentence, each method's opinion, and the phrase's history."""
    document, passage = place
    mark = Mark(item.start, item.end, item.entity_type)
    counts = phrase_history(item.text, findings.decisions(project))
    finds = state.finds(project, job, item.text)
    is_known = partial(state.is_known, project, item)
    with st.container(border=True):
        st.html(review_card.card(document, passage, mark, colors))
        st.html(review_card.opinions(item, document, colors, is_known=is_known))
        st.caption(elements.plain(f"“{item.text}”: {review_card.history(counts, finds)}"))


def show_verdicts(project: Project, item: Item, order: str, edges: tuple[int, int]) -> None:
    """Draw the buttons that decide; each shows its key. `edges`: the first and last token."""
    decide = partial(state.decide, project, item)
    with st.container(horizontal=True):
        st.button(
            "Accept",
            type="primary",
            shortcut="y",
            key="review_accept",
            on_click=decide,
            args=("accepted", order),
            help="These words are an entity of this type.",
        )
        st.button(
            "Reject",
            shortcut="n",
            key="review_reject",
            on_click=decide,
            args=("rejected", order),
            help="These words are not an entity of this type.",
        )
        st.button(
            "Edit boundaries",
            shortcut="e",
            key="review_edit_button",
            on_click=state.edit,
            args=(item, *edges),
            help="Change the first or last word, or the type.",
        )
        st.button(
            "Skip",
            shortcut="s",
            key="review_skip",
            on_click=decide,
            args=("skipped", order),
            help="Leave it undecided. It does not come back in this queue.",
        )
        show_undo(project)


def show_undo(project: Project) -> None:
    """Draw the button that undoes the last decision."""
    st.button(
        "Undo",
        shortcut="z",
        key="review_undo",
        on_click=state.take_back,
        args=(project,),
        disabled=not project.decisions(state.KIND),
        help="Undo the last decision. Items accepted together are undone together.",
    )


def show_types(project: Project, item: Item, types: list[str], order: str) -> None:
    """Draw one button per type; its key is the type's place in the alphabet."""
    keys = review_card.type_keys(types)
    if len(types) < 2:
        return
    more = "" if len(keys) == len(types) else " (more under Edit boundaries)"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Right words, but the type is{more}", width="content")
        for name, key in keys.items():
            st.button(
                elements.plain(name),
                shortcut=key,
                key=f"review_type_{key}",
                disabled=name == item.entity_type,
                on_click=state.decide,
                args=(project, item, "edited", order, (item.start, item.end, name)),
            )


# ---- editing the boundaries -----------------------------------------------------------------


def show_editor(
    project: Project,
    item: Item,
    place: tuple[Document, review_card.Passage],
    types: list[str],
    order: str,
) -> None:
    """Draw the words one by one, with buttons that move the start and the end."""
    document, passage = place
    first, last = state.edited(item) or review_card.covered(passage, item)
    with st.container(border=True):
        entity_type = st.selectbox(
            "Type",
            types,
            index=types.index(item.entity_type),
            key=f"review_edit_type_{item.id}",
            width=260,
        )
        color = type_colors(types)[entity_type]
        st.html(review_card.chips(document, passage, first, last, color))
    moves = {
        "Start earlier": ("Left", first - 1, last),
        "Start later": ("Shift+Right", first + 1, last),
        "End earlier": ("Shift+Left", first, last - 1),
        "End later": ("Right", first, last + 1),
    }
    with st.container(horizontal=True):
        for name, (key, new_first, new_last) in moves.items():
            st.button(
                name,
                shortcut=key,
                key=f"review_{name.lower().replace(' ', '_')}",
                disabled=not 0 <= new_first <= new_last < len(passage.tokens),
                on_click=state.edit,
                args=(item, new_first, new_last),
            )
    new = (passage.tokens[first][0], passage.tokens[last][1], entity_type)
    is_same = new == (item.start, item.end, item.entity_type)
    with st.container(horizontal=True):
        st.button(
            "Save",
            type="primary",
            shortcut="Enter",
            key="review_save",
            on_click=state.decide,
            args=(project, item, *(("accepted", order) if is_same else ("edited", order, new))),
        )
        st.button("Cancel", shortcut="Esc", key="review_cancel", on_click=state.stop_editing)


# ---- many at once ---------------------------------------------------------------------------


def show_many(project: Project, left: list[Item], order: str) -> None:
    """Draw the controls that accept all items above a score, with their number."""
    if not any(item.score is not None for item in left):
        return
    with st.expander("Accept many at once"):
        least = st.slider(
            "Score at least", 0.5, 1.0, 0.95, 0.01, key="review_least_score", width=320
        )
        chosen = acceptable(left, least)
        st.caption(
            f"{elements.plural(len(chosen), 'item')} of the {len(left):,} left. "
            "Undo takes all of them back."
        )
        st.button(
            f"Accept {elements.plural(len(chosen), 'item')}",
            key="review_accept_many",
            disabled=not chosen,
            on_click=state.accept_all,
            args=(project, chosen, order),
        )
