"""The tab Text: sentences with their matches, and a card for one phrase."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from engine.dictionaries import clean_type
from engine.formats import Aligned
from engine.projects import Project
from engine.text import Span
from ui.charts.palette import type_colors
from ui.parts import elements
from ui.parts.highlight import Line, highlight_lines, legend, marks
from ui.state import corpus, current
from ui.state import labels as state
from ui.views.labels.text_state import (
    ALL,
    CONFLICT,
    WITH,
    WITHOUT,
    Filter,
    PhraseCard,
    phrase_card,
    phrase_choices,
    select,
)

PAGE_SIZE = 25


def show(project: Project, gold: Aligned | None) -> None:
    """Draw the filters, the card of the selected phrase, and the sentences page by page."""
    labels = state.labels(project)
    chosen = show_filters(project, labels.types)
    if chosen.phrase:
        show_phrase(project, chosen.phrase, gold)
    colors, counts = type_colors(labels.types), labels.kept["type"].value_counts()
    st.html(legend({name: int(counts.get(i, 0)) for i, name in enumerate(labels.types, 1)}, colors))
    selection = select(project, chosen)
    if not len(selection.sentences):
        st.info("No sentence matches these filters.")
        return
    place = st.container()
    pages = -(-len(selection.sentences) // PAGE_SIZE)
    # Other filters have another key, and so begin with the first page.
    page = st.pagination(pages, key=f"labels_page {chosen}") if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    here = selection.sentences[first : first + PAGE_SIZE].tolist()
    total = len(selection.sentences)
    place.caption(f"Sentences {first + 1:,}–{first + len(here):,} of {total:,}")
    place.html(highlight_lines(make_lines(project, selection.matches, here), colors))


def show_filters(project: Project, types: Sequence[str]) -> Filter:
    """Draw the filters and return their values."""
    dictionaries = [d.name for d in state.dictionaries(project) if d.is_enabled]
    choices = phrase_choices(project)
    with st.container(horizontal=True, vertical_alignment="top"):
        kind = st.segmented_control(
            "Sentences",
            [ALL, WITH, WITHOUT, CONFLICT],
            default=ALL,
            required=True,
            key="labels_filter",
        )
        words = st.text_input(
            "Search",
            key="labels_search",
            placeholder="Words in the text",
            width=220,
        )
    with st.container(horizontal=True, vertical_alignment="top"):
        chosen_types = st.multiselect(
            "Types", types, key="labels_types", placeholder="All types", width=220
        )
        chosen_dictionaries = st.multiselect(
            "Dictionaries",
            dictionaries,
            key="labels_dictionaries",
            placeholder="All dictionaries",
            width=240,
        )
        phrase = st.selectbox(
            "Phrase",
            list(choices),
            index=None,
            format_func=lambda text: f"{text} ({choices[text]:,})" if text in choices else text,
            key="labels_phrase",
            placeholder="Choose or type a phrase",
            accept_new_options=True,
            width=280,
            help="Show sentences with this phrase, and its figures. You can mute or move it.",
        )
    return Filter(
        str(kind),
        tuple(chosen_types),
        tuple(chosen_dictionaries),
        (phrase or "").strip(),
        words.strip(),
    )


def make_lines(project: Project, matches: pd.DataFrame, here: Sequence[int]) -> list[Line]:
    """Return the sentences with these numbers, their matches marked and their conflicts noted."""
    sentences, types = corpus.sentences(project), state.labels(project).types
    remarks = conflict_remarks(state.conflicts(project), here)
    spans: dict[int, list[Span]] = {i: [] for i in here}
    rows = matches[matches["sentence"].isin(here)]
    for i, start, end, type_number in rows.to_numpy().tolist():
        spans[i].append(Span(start, end, types[type_number - 1]))
    return [
        Line(
            i + 1,
            sentences[i].document_id,
            sentences[i].text,
            marks(sentences[i], spans[i]),
            remarks.get(i, ()),
        )
        for i in here
    ]


def conflict_remarks(conflicts: pd.DataFrame, sentences: Sequence[int]) -> Mapping[int, list[str]]:
    """Return, per sentence, which matches lost and why."""
    remarks: dict[int, list[str]] = {}
    columns = ["sentence", "loser", "loser_type", "winner", "winner_type", "rule"]
    rows = conflicts.loc[conflicts["sentence"].isin(sentences), columns]
    for i, loser, loser_type, winner, winner_type, rule in rows.to_numpy().tolist():
        remark = f"“{loser}” ({loser_type}) lost to “{winner}” ({winner_type}): {rule}"
        remarks.setdefault(i, []).append(remark)
    return remarks


# ---- one phrase -----------------------------------------------------------------------------


def show_phrase(project: Project, phrase: str, gold: Aligned | None) -> None:
    """Draw the figures of a phrase, and the buttons to mute or move it."""
    card = phrase_card(project, phrase, gold)
    with st.container(border=True, gap="small", key="phrase_card"):
        if card is None:
            is_muted = phrase.casefold() in {text.casefold() for text, _ in state.muted(project)}
            why = "is muted: it matches nothing" if is_muted else "is in no dictionary"
            st.caption(elements.plain(f"“{phrase}” {why}."))
            return
        st.markdown(f"**{elements.plain(phrase)}**")
        st.caption(elements.plain(summary(card)))
        columns = {"phrase": "Phrase", "entity_type": "Type", "dictionary": "Dictionary"}
        columns |= {"matches": "Matches", "lost": "Lost to another type"}
        share = st.column_config.NumberColumn("Precision (%)", format="%.1f")
        table = card.rows.assign(precision=100 * card.rows["precision"].astype(float))
        elements.show_table(table, {**columns, "precision": share}, "phrase_table")
        show_actions(project, phrase, card)


def summary(card: PhraseCard) -> str:
    """Return the phrase's figures in one line."""
    matches, lost = int(card.rows["matches"].max()), int(card.rows["lost"].sum())
    counted = elements.plural(matches, "match").replace("matchs", "matches")
    pieces = [f"{counted} in {elements.plural(card.documents, 'document')}"]
    if lost:
        pieces.append(f"{lost:,} lost to another type")
    return " · ".join([*pieces, *card.flags])


def show_actions(project: Project, phrase: str, card: PhraseCard) -> None:
    """Draw the buttons that mute the phrase or move it to another type."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        old_type = card.types[0]
        if len(card.types) > 1:
            old_type = st.selectbox("As", card.types, key="phrase_type", width=160)
        if st.button(
            "Mute",
            key="phrase_mute",
            icon=":material/volume_off:",
            help="It no longer matches, in any case. All figures are updated.",
        ):
            state.mute(project, [(phrase, old_type)])
            current.say(f"Muted “{phrase}” ({old_type}).", "info")
            st.rerun()
        others = [name for name in state.labels(project).types if name != old_type]
        new_type = st.selectbox(
            "Move to type",
            others,
            index=None,
            key="phrase_new_type",
            placeholder="Choose or type a type",
            accept_new_options=True,
            width=220,
        )
        if st.button("Move", key="phrase_move", disabled=not (new_type or "").strip()):
            state.relabel(project, phrase, old_type, str(new_type))
            current.say(f"Moved “{phrase}” from {old_type} to {clean_type(str(new_type))}.", "info")
            st.rerun()
