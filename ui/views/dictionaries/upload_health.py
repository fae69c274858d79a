"""What hurts in uploaded dictionaries, with a choice for each before they are saved."""

from collections import Counter
from collections.abc import Sequence
from html import escape

import streamlit as st

from engine.health import ADD, AS_WRITTEN, KEEP, MUTE, HealthEntry
from engine.jobs import Reading
from engine.projects import INVERTED, Chosen, DictionaryPreview, Project, UploadHealth
from engine.settings import ReadOptions
from engine.text import InputError
from ui.charts.palette import type_colors
from ui.parts import elements, health, reading
from ui.state import corpus, uploads

_CHOICES = "upload_health_choices"  # by uploader and entry
_SHOWN_PHRASES = 20  # of an entry that holds all of a kind
_DONE = {MUTE: "muted", AS_WRITTEN: "only as written", ADD: "added"}


def slot(key: str) -> str:
    """Return the name under which the process is kept that checks the files of an uploader."""
    return f"{key} health"


def show(
    project: Project,
    files: uploads.Uploads,
    options: ReadOptions,
    asked: uploads.DictionaryRequest,
    preview: DictionaryPreview,
    key: str,
) -> list[Chosen]:
    """Draw what hurts in the files if they are saved as asked; return what is to be done."""
    try:
        found = uploads.dictionary_health(project, files, options, asked, preview.read, slot(key))
    except InputError as error:  # the files can be saved nevertheless
        st.caption(elements.plain(elements.sentence(f"the phrases were not checked: {error}")))
        return []
    if isinstance(found, Reading):
        if not found.is_over:
            reading.show_progress(found, slot(key), "Checking the phrases")
        return []
    if not found.entries:
        st.caption(":material/check: No phrase looks wrong.")
        return []
    place = f"{key}_{files.key[:8]}"
    with st.expander(
        elements.plain(str(found) or f"{phrase_count(found.entries)} to look at"),
        expanded=True,
        icon=":material/health_and_safety:",
        key=f"{place}_health",
    ):
        st.html(health.STYLE)
        show_head(found, place)
        show_entries(project, found, place)
    chosen = [(e, choice) for e in found.entries if (choice := choices(place).get(e.key))]
    show_chosen(chosen)
    return chosen


def show_head(found: UploadHealth, place: str) -> None:
    """Draw what was looked at, and the button that accepts every proposal."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(basis(found))
        if found.proposed:
            st.button(
                f"Accept {elements.plural(len(found.proposed), 'proposal')}",
                key=f"{place}_accept",
                icon=":material/done_all:",
                on_click=accept,
                args=(found.proposed, place),
                help="Choose what is proposed for each entry. Nothing is saved yet.",
            )


def basis(found: UploadHealth) -> str:
    """Return what the entries are judged by."""
    if not found.tokens:
        return (
            "Judged by the phrases alone. Once the project has text, Glossa counts the matches "
            "that are likely wrong."
        )
    text = "the text" if found.is_whole else f"the first {found.tokens:,} tokens of the text"
    return (
        f"Estimated from the phrases and {text}, without gold. The most wrong matches come first."
    )


def show_entries(project: Project, found: UploadHealth, place: str) -> None:
    """Draw the entries, a few at first, each with its choice."""
    entries = found.entries[: health.MOST]
    if len(found.entries) > health.FEW and not st.toggle(
        f"Show all {len(entries):,}", key=f"{place}_all"
    ):
        entries = entries[: health.FEW]
    sentences = corpus.sentences(project) if found.tokens else ()
    colors = type_colors({name for entry in found.entries for _, name in entry.phrases})
    for number, entry in enumerate(entries):
        with st.container(border=True, gap="small"):
            if entry.match_count:
                st.html(health.entry_html(entry, sentences, colors))
            else:
                st.html(kind_html(entry))
            if entry.match_count or entry.kind != INVERTED:
                ask(entry, place, number)
    if len(found.entries) > health.MOST:
        st.caption(f"The first {health.MOST} of {len(found.entries):,}.")


def ask(entry: HealthEntry, place: str, number: int) -> None:
    """Draw the choice for an entry; nothing is chosen until a person does."""
    offered = (ADD, KEEP) if entry.proposal == ADD else (MUTE, AS_WRITTEN, KEEP)
    widget = f"{place}_{number}_{entry.key}"
    st.session_state[widget] = choices(place).get(entry.key)
    st.segmented_control(
        f"What to do with {entry.name}",
        offered,
        format_func=lambda choice: health.choice_label(choice, entry),
        key=widget,
        label_visibility="collapsed",
        on_change=choose,
        args=(entry.key, widget, place),
    )


def kind_html(entry: HealthEntry) -> str:
    """Return an entry that holds all phrases of a kind, as escaped HTML."""
    texts = list(dict.fromkeys(text for text, _ in entry.phrases))
    more = len(texts) - _SHOWN_PHRASES
    listed = ", ".join(f"“{text}”" for text in texts[:_SHOWN_PHRASES])
    listed += f" and {more:,} more" if more > 0 else ""
    return (
        f'<div class="gl-health"><b>{escape(entry.kind.capitalize())}</b> '
        f'<span class="gl-health-kind">{escape(entry.entity_type)} · '
        f"{elements.plural(len(entry.phrases), 'phrase')}</span><div>{escape(entry.reason)}</div>"
        f'<div class="gl-health-example" dir="auto">{escape(listed)}</div></div>'
    )


def show_chosen(chosen: Sequence[Chosen]) -> None:
    """Say what saving will do."""
    counts: Counter[str] = Counter()
    for entry, choice in chosen:
        counts[choice] += len(entry.phrases)
    parts = [
        f"{elements.plural(counts[choice], 'phrase')} {done}"
        for choice, done in _DONE.items()
        if counts[choice]
    ]
    if parts:
        st.caption(f"Will be saved with {', '.join(parts)}. You can change it later.")


def phrase_count(entries: Sequence[HealthEntry]) -> str:
    """Return how many phrases the entries hold, in words."""
    return elements.plural(sum(len(entry.phrases) for entry in entries), "phrase")


# ---- what was chosen --------------------------------------------------------------------------


def choices(place: str) -> dict[str, str]:
    """Return what was chosen so far, by the key of the entry."""
    held: dict[str, dict[str, str]] = st.session_state.setdefault(_CHOICES, {})
    return held.setdefault(place, {})


def choose(entry_key: str, widget: str, place: str) -> None:
    """Keep what was chosen for an entry; nothing, if it was taken back. For a callback."""
    choice = st.session_state.get(widget)
    if choice is None:
        choices(place).pop(entry_key, None)
    else:
        choices(place)[entry_key] = choice


def accept(entries: Sequence[HealthEntry], place: str) -> None:
    """Choose what each entry proposes. For a callback."""
    choices(place).update({entry.key: entry.proposal for entry in entries})
