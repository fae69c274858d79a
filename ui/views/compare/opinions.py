"""Other opinions: what another system or a person found in the same text, as a lane of its own."""

from typing import Any

import pandas as pd
import streamlit as st

from engine.projects import Opinion, Project
from engine.settings import LIMITS, ReadOptions
from engine.text import InputError
from ui.parts import elements, reading
from ui.state import current, findings, uploads

UPLOADER = "opinion_files"


def show(project: Project) -> None:
    """Draw the opinions of the project and the uploader for a new one, in a closed expander."""
    try:
        held = findings.opinions(project)
    except InputError as error:
        elements.show_input_error(error)
        held = ()
    title = "Other opinions" + (f" ({len(held):,})" if held else "")
    with st.expander(title, icon=":material/forum:", key="compare_opinions", on_change="rerun"):
        st.html(
            '<div class="gl-purpose">Predictions of a language model, of spaCy or of a colleague '
            "for the same documents. They appear beside the methods here and in Review. No method "
            "learns from them, unless you use them as labels.</div>"
        )
        if held:
            show_held(project, held)
        show_uploader(project)


def show_held(project: Project, held: tuple[Opinion, ...]) -> None:
    """Draw the opinions, and the control that removes one."""
    table = pd.DataFrame(
        [(o.name, o.documents, o.entities, ", ".join(o.files)) for o in held],
        columns=["name", "documents", "entities", "files"],
    )
    columns: dict[str, Any] = {"name": "Name", "documents": "Documents", "entities": "Entities"}
    elements.show_table(table, columns | {"files": "Files"}, "opinions_table")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Opinion", list(table["name"]), key="opinions_chosen", width=240)
        if st.button(
            "Use as labels",
            key="opinions_label",
            icon=":material/label:",
            help="Its entities become labels, as one more dictionary with a priority of its own. "
            "Check its precision on the page Distant labels.",
        ):
            with elements.explained():
                version = project.label_with_opinion(str(name))
                current.say(f"{name} labels the text now: dictionaries version {version}.")
                st.rerun()
        if st.button("Remove", key="opinions_remove", icon=":material/delete:"):
            with elements.explained():
                project.remove_opinion(str(name))
                current.say(f"Removed the opinion {name}.", "info")
                st.rerun()


def show_uploader(project: Project) -> None:
    """Draw the uploader and the name under which the entities are kept."""
    key = current.uploader_key(UPLOADER)
    files = st.file_uploader(
        "Add an opinion",
        accept_multiple_files=True,
        max_upload_size=LIMITS.file_mb,
        key=key,
        help="Entities with offsets in the same documents: an entities CSV with the columns "
        "doc_id, start, end, label, JSON lines with spans, brat, PubTator or CoNLL.",
    )
    if process := uploads.saving(key):
        if saved := reading.show_saving(process, key, UPLOADER):
            finish(saved["name"], saved["entities"])
        return
    if not files:
        return
    given = uploads.uploaded(files)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", key=f"{key}_name", placeholder="e.g. GPT or Anna", width=240)
        is_asked = st.button("Save", key=f"{key}_save", type="primary", disabled=not name.strip())
        reading.discard_button(key, UPLOADER)
    if not is_asked:
        return
    if not given.is_read_at_once:
        uploads.start_saving(project, given, ReadOptions(), key, "save_opinion", name=name)
        st.rerun()
    with elements.explained():
        project.add_opinion(name, given.load())
        clean = " ".join(name.split())
        finish(clean, next(o.entities for o in project.opinions() if o.name == clean))


def finish(name: str, entities: int) -> None:
    """Say what was saved, and empty the uploader."""
    current.empty_uploader(UPLOADER)
    current.say(f"Saved {entities:,} entities as the opinion {name}.")
    st.rerun()
