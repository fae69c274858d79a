"""Gold: annotations by people, used for scores and never for training."""

from collections import Counter
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from engine.formats import Aligned
from engine.jobs import Reading
from engine.projects import GoldPreview, Project
from engine.settings import LIMITS, ReadOptions
from engine.text import Entity, InputError
from ui.parts import elements, reading
from ui.parts.highlight import bullets
from ui.state import corpus, current, uploads

UPLOADER = "gold_files"


def show(project: Project) -> None:
    """Draw the gold of the project, and the uploader for new gold."""
    st.html(
        '<div class="gl-purpose">The same documents, annotated by people. With gold, every page '
        "that shows labels also shows precision and recall. No method learns from it, except "
        "Supervised.</div>"
    )
    if not project.text_key():
        elements.empty_state("No text yet. Add the texts first: gold refers to them.")
        return
    show_gold(project)
    key = current.uploader_key(UPLOADER)
    files = st.file_uploader(
        "Replace the gold" if project.gold_key() else "Add gold",
        accept_multiple_files=True,
        max_upload_size=LIMITS.file_mb,
        key=key,
        help="CoNLL, JSONL with spans, PubTator, brat (txt with ann, or a zip), or an entities "
        "CSV with the columns doc_id, start, end, label.",
    )
    if files:
        with st.container(border=True):
            show_preview(project, uploads.uploaded(files), key)
        return
    uploads.forget(key)  # the files were taken out while they were read
    if process := uploads.saving(key):
        with st.container(border=True):
            if saved := reading.show_saving(process, key, UPLOADER):
                finish(saved["documents"])


def show_gold(project: Project) -> None:
    """Draw where the gold comes from and what is in it."""
    try:
        aligned = corpus.gold(project)
    except InputError as error:
        elements.show_input_error(error)
        aligned = None
    names = [file.name for file in project.gold_files()]
    if aligned is None and not names:
        elements.empty_state("No gold yet. Everything works without it; only scores are missing.")
        return
    if aligned is not None:
        show_aligned(aligned, "gold_table")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"From {elements.plain(', '.join(names) or 'the text files themselves')}.",
            width="content",
        )
        if names and st.button("Remove the gold", key="gold_remove", icon=":material/delete:"):
            project.remove_gold()
            current.say(f"Removed {', '.join(names)}.", "info")
            st.rerun()
    if aligned is not None:
        elements.notes(aligned.notes, "Notes on the gold")


def show_preview(project: Project, files: uploads.Uploads, key: str) -> None:
    """Draw what the files annotate, until they are saved or discarded."""
    reading.preview_heading()
    columns = uploads.columns(files, ReadOptions())
    options = reading.file_options(columns, key)
    try:
        preview = uploads.gold_preview(project, files, options, key)
    except InputError as error:
        reading.show_fault(error, columns, key, UPLOADER)
        return
    if isinstance(preview, Reading):
        reading.show_reading(preview, key, key, UPLOADER)
        return
    show_counts(preview.documents, preview.entities, f"{key}_table")
    if preview.notes:
        st.html(bullets(preview.notes))
    if process := uploads.saving(key, options):
        if reading.show_saving(process, key, UPLOADER, columns=columns):
            finish(preview.documents)
        return
    with st.container(horizontal=True):
        if st.button("Save as gold", key=f"{key}_save", type="primary"):
            with elements.explained():
                save(project, files, options, preview, key)
        reading.discard_button(key, UPLOADER)


def save(
    project: Project,
    files: uploads.Uploads,
    options: ReadOptions,
    preview: GoldPreview,
    key: str,
) -> None:
    """Keep the files as the gold, here or in a process of its own."""
    if preview.read is None:
        uploads.start_saving(project, files, options, key, "save_gold")
        st.rerun()
    with st.spinner("Saving"):
        project.set_gold(files.load(), options, preview.read)
    finish(preview.documents)


def finish(documents: int) -> None:
    """Say what was saved, and empty the uploader."""
    current.empty_uploader(UPLOADER)
    current.say(f"Saved gold for {elements.plural(documents, 'document')}.")
    st.rerun()


def show_aligned(aligned: Aligned, key: str) -> None:
    """Draw how many documents are annotated, and the entities of each type."""
    show_counts(len(aligned.entities), counted(aligned.entities), key)


def show_counts(documents: int, counts: Mapping[str, int], key: str) -> None:
    """Draw how many documents are annotated, and the entities of each type."""
    with st.container(horizontal=True):
        elements.figure("Annotated documents", elements.count(documents))
        elements.figure("Entities", elements.count(sum(counts.values())))
    table = pd.DataFrame(sorted(counts.items()), columns=["entity_type", "entities"])
    elements.show_table(
        table, {"entity_type": "Type", "entities": "Entities"}, key, width="content"
    )


def counted(entities: Mapping[str, tuple[Entity, ...]]) -> Counter[str]:
    """Return how many entities there are of each type."""
    return Counter(entity.entity_type for listed in entities.values() for entity in listed)
