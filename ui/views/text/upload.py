"""Add text: upload files, see how they are read, then save them."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import pandas as pd
import streamlit as st

from engine.jobs import Reading
from engine.projects import Project, TextPreview
from engine.settings import LIMITS, ReadOptions
from engine.text import InputError
from ui.parts import elements, reading
from ui.parts.highlight import bullets
from ui.state import current, uploads

UPLOADER = "text_files"
FORMAT_HELP = (
    "txt, csv, tsv, jsonl, json, conll, pubtator, brat (txt with ann), or a zip of these. Tables "
    "need a column of texts."
)
DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


def show(project: Project) -> None:
    """Draw the uploader and, if it holds files, the preview."""
    key = current.uploader_key(UPLOADER)
    files = st.file_uploader(
        "Add text files",
        accept_multiple_files=True,
        max_upload_size=LIMITS.file_mb,
        key=key,
        help=FORMAT_HELP,
    )
    command = f"glossa import --project {project.id} --text corpus.jsonl"
    st.html(
        f'<div class="gl-hint">For files above {LIMITS.file_mb} MB: '
        f"<code>{escape(command)}</code></div>"
    )
    if files:
        with st.container(border=True):
            show_preview(project, uploads.uploaded(files), key)
        return
    uploads.forget(key)  # the files were taken out while they were read
    if process := uploads.saving(key):
        with st.container(border=True):
            if saved := reading.show_saving(process, key, UPLOADER):
                finish(saved["files"], saved["sentences"], saved["notes"], ())


def show_preview(project: Project, files: uploads.Uploads, key: str) -> None:
    """Draw how the files are read, with the options to change it, until they are saved."""
    reading.preview_heading()
    options = show_options(files, key)
    try:
        preview = uploads.text_preview(project, files, options, key)
    except InputError as error:
        reading.show_fault(error, uploads.columns(files, options), key, UPLOADER)
        return
    if isinstance(preview, Reading):
        reading.show_reading(preview, key, key, UPLOADER)
        return
    show_reports(preview)
    show_figures(preview, len(files.names))
    st.caption("The first documents")
    columns = {"document": "Document", "text": st.column_config.TextColumn("Text", width=480)}
    columns |= {"sentences": "Sentences", "tokens": "Tokens"}
    elements.show_table(pd.DataFrame(preview.first), columns, f"{key}_first")
    if preview.notes:
        st.html(bullets(preview.notes))
    if process := uploads.saving(key, options):
        if saved := reading.show_saving(
            process, key, UPLOADER, columns=uploads.columns(files, options)
        ):
            finish(saved["files"], saved["sentences"], saved["notes"], preview.notes)
        return
    with st.container(horizontal=True):
        if st.button("Save to the project", key=f"{key}_save", type="primary"):
            with elements.explained():
                save(project, files, options, preview, key)
        reading.discard_button(key, UPLOADER)


def show_figures(preview: TextPreview, files: int) -> None:
    """Draw how much the files hold, or the part of them that was read."""
    if not preview.is_whole:
        has = "the file has" if files == 1 else f"the {files:,} files have"
        st.caption(
            f"The first {elements.plural(preview.documents, 'document')}; {has} "
            f"{elements.size(preview.bytes)}. Saving reads everything."
        )
    with st.container(horizontal=True):
        elements.figure("Documents", elements.count(preview.documents))
        elements.figure("Sentences", elements.count(preview.sentences))
        elements.figure("Tokens", elements.count(preview.tokens))
        if preview.entities:
            elements.figure("Gold entities", elements.count(preview.entities), "kept for scoring")


def show_options(files: uploads.Uploads, key: str) -> ReadOptions:
    """Draw the options for reading these files."""
    columns = uploads.columns(files, ReadOptions())
    options = reading.file_options(columns, key)
    with st.container(horizontal=True):
        lines = any(name.lower().endswith((".txt", ".zip")) for name in files.names) and st.toggle(
            "One document per line",
            key=f"{key}_lines",
            help="Only for .txt: each line is a document, not each file.",
        )
        keep = st.toggle(
            "Keep annotations as gold",
            value=True,
            key=f"{key}_gold",
            help="CoNLL tags and spans in the files are used to measure precision and recall, "
            "never for training.",
        )
    return replace(options, lines_are_documents=bool(lines), keep_entities=keep)


def show_reports(preview: TextPreview) -> None:
    """Draw how each file was read."""
    reports = preview.files
    table = pd.DataFrame(
        {
            "name": [report.name for report in reports],
            "format": [report.format for report in reports],
            "encoding": [report.encoding or None for report in reports],
            "delimiter": [DELIMITERS.get(r.delimiter, r.delimiter) or None for r in reports],
            "text_column": [report.text_column or None for report in reports],
            "id_column": [report.id_column or None for report in reports],
            "documents": [report.documents for report in reports],
        }
    )
    columns = {"name": "File", "format": "Format", "encoding": "Encoding", "delimiter": "Delimiter"}
    columns |= {"text_column": "Text column", "id_column": "Id column", "documents": "Documents"}
    shown = {name: heading for name, heading in columns.items() if table[name].notna().any()}
    elements.show_table(table, shown, "text_reports")


def save(
    project: Project,
    files: uploads.Uploads,
    options: ReadOptions,
    preview: TextPreview,
    key: str,
) -> None:
    """Add the files to the project, here or in a process of its own."""
    if preview.read is None:
        uploads.start_saving(project, files, options, key, "save_text")
        st.rerun()
    before = len(project.text_files())
    with st.spinner("Saving"):
        notes = project.add_text(files.load(), options, preview.read)
    finish(len(project.text_files()) - before, preview.sentences, notes, preview.notes)


def finish(added: int, sentences: int, notes: Sequence[str], shown: Sequence[str]) -> None:
    """Say what was saved, with the notes that were not shown before, and empty the uploader."""
    if added:
        count = elements.plural(sentences, "sentence")
        current.say(f"Saved {elements.plural(added, 'file')} with {count}.")
    for note in notes:
        if note not in shown:
            current.say(elements.sentence(note), "info")
    current.empty_uploader(UPLOADER)
    st.rerun()
