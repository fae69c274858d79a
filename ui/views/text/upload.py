"""Add text: upload files, see how they are read, then save them."""

from dataclasses import replace
from html import escape

import pandas as pd
import streamlit as st

from engine.projects import Project
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


def show_preview(project: Project, files: uploads.Uploads, key: str) -> None:
    """Draw how the files are read, with the options to change it, until they are saved."""
    reading.preview_heading()
    options = show_options(files, key)
    try:
        preview = uploads.text_preview(files, options)
    except InputError as error:
        reading.show_fault(error, uploads.columns(files, options), key, UPLOADER)
        return
    show_reports(preview)
    with st.container(horizontal=True):
        elements.figure("Documents", elements.count(preview.figures.documents))
        elements.figure("Sentences", elements.count(preview.figures.sentences))
        elements.figure("Tokens", elements.count(preview.figures.tokens))
        if preview.entities:
            elements.figure("Gold entities", elements.count(preview.entities), "kept for scoring")
    st.caption("The first documents")
    columns = {"document": "Document", "text": st.column_config.TextColumn("Text", width=480)}
    columns |= {"sentences": "Sentences", "tokens": "Tokens"}
    elements.show_table(preview.first, columns, f"{key}_first")
    if preview.corpus.notes:
        st.html(bullets(preview.corpus.notes))
    with st.container(horizontal=True):
        if st.button("Save to the project", key=f"{key}_save", type="primary"):
            with elements.explained():
                save(project, files, options, preview)
        reading.discard_button(key, UPLOADER)


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


def show_reports(preview: uploads.TextPreview) -> None:
    """Draw how each file was read."""
    reports = preview.corpus.files
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
    project: Project, files: uploads.Uploads, options: ReadOptions, preview: uploads.TextPreview
) -> None:
    """Add the files to the project, say so, and empty the uploader."""
    before = len(project.text_files())
    with st.spinner("Saving"):
        notes = project.add_text(files.load(), options, preview.units)
    if added := len(project.text_files()) - before:
        sentences = elements.plural(preview.figures.sentences, "sentence")
        current.say(f"Saved {elements.plural(added, 'file')} with {sentences}.")
    for note in notes:
        if note not in preview.corpus.notes:
            current.say(elements.sentence(note), "info")
    current.empty_uploader(UPLOADER)
    st.rerun()
