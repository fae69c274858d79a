"""Add dictionaries: upload files, check and correct their types, then save them."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.dictionaries import DICTIONARY_ENDINGS, NEVER, Dictionary, is_dictionary_name
from engine.jobs import Reading
from engine.projects import (
    Chosen,
    DictionaryPreview,
    DictionarySummary,
    Project,
    chosen_record,
    save_upload,
)
from engine.settings import LIMITS, ReadOptions
from engine.text import InputError
from ui.parts import elements, reading
from ui.parts.highlight import bullets
from ui.state import current, uploads
from ui.views.dictionaries import state as state
from ui.views.dictionaries import upload_health

UPLOADER = "dictionary_files"
FOLDER = "dictionary_folder"
REPLACE, BESIDE = "Replace", "Keep both"


def show(project: Project) -> None:
    """Draw the uploader and a preview of the uploaded files."""
    key = current.uploader_key(UPLOADER)
    is_folder = st.session_state.get(FOLDER, False)
    files = st.file_uploader(
        "Add dictionaries",
        type=[ending[1:] for ending in DICTIONARY_ENDINGS] if is_folder else None,
        accept_multiple_files="directory" if is_folder else True,
        max_upload_size=LIMITS.file_mb,
        key=key,
        help="Disease.txt with a phrase per line, csv or tsv with the columns term and label, "
        "json, jsonl patterns, or a zip of these. A line such as re:IL-[0-9]+ is a pattern.",
    )
    if is_folder:
        files = [file for file in files if is_dictionary_name(file.name)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("The type of a plain list is its file name; you can change it before saving.")
        st.toggle(
            "Whole folder",
            key=FOLDER,
            help="Choose a folder: every dictionary in it and in its sub-folders is added.",
        )
    if files:
        with st.container(border=True):
            show_preview(project, uploads.uploaded(files), key)
        return
    for slot in (key, upload_health.slot(key)):
        uploads.forget(slot)  # the files were taken out while they were read
    if process := uploads.saving(key):
        with st.container(border=True):
            if saved := reading.show_saving(process, key, UPLOADER):
                finish(project, saved["names"], saved["phrases"])


def show_preview(project: Project, files: uploads.Uploads, key: str) -> None:
    """Draw the phrases by type; types can be changed until the dictionaries are saved."""
    reading.preview_heading()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        encoding = reading.encoding_box(key)
        skip = reading.skip_toggle(key)
    options = ReadOptions(encoding=encoding, skip_bad_lines=skip)
    try:
        preview = uploads.dictionary_preview(project, files, options, "", key)
        entity_type = ""
        if isinstance(preview, DictionaryPreview):
            entity_type = ask_type(preview.untyped, key)
        if entity_type:
            preview = uploads.dictionary_preview(
                project, files, options, entity_type, f"{key} typed"
            )
    except InputError as error:
        reading.show_fault(error, (), key, UPLOADER)
        return
    if isinstance(preview, Reading):
        reading.show_reading(preview, key, f"{key} typed" if entity_type else key, UPLOADER)
        return
    new = preview.dictionaries
    if preview.untyped and not entity_type:
        reading.discard_button(key, UPLOADER)
        return
    is_never = st.toggle(
        "Never an entity",
        key=f"{key}_never",
        help="These phrases are not labeled, and training knows that they are no entities. A "
        "longer phrase of another dictionary still matches: “cold” leaves “common cold” alone.",
    )
    if is_never:
        types = {(d.name, name): NEVER for d in new for name in d.types}
    else:
        types = show_types(new, f"{key}_types_{files.key[:8]}_{entity_type}")
    show_examples(new)
    held = state.read_dictionaries(project)
    asked = uploads.DictionaryRequest(
        entity_type,
        tuple((*pair, wanted) for pair, wanted in types.items()),
        is_replacing=ask_way(held, new, key) == REPLACE,
    )
    if process := uploads.saving(key, options):
        if saved := reading.show_saving(process, key, UPLOADER):
            finish(project, saved["names"], saved["phrases"])
        return
    chosen = [] if is_never else upload_health.show(project, files, options, asked, preview, key)
    with st.container(horizontal=True):
        if st.button("Save to the project", key=f"{key}_save", type="primary"):
            with elements.explained():
                if preview.read is None:
                    uploads.start_saving(
                        project,
                        files,
                        options,
                        key,
                        "save_dictionaries",
                        **asked.values,
                        chosen=chosen_record(chosen),
                    )
                    st.rerun()
                save(project, asked, preview.read, chosen)
        reading.discard_button(key, UPLOADER)


def ask_type(untyped: Sequence[str], key: str) -> str:
    """Ask for one type for all phrases without a type; return "" if there is no answer."""
    if not untyped:
        return ""
    for message in untyped:
        st.warning(elements.plain(elements.sentence(message)), icon=":material/warning:")
    answer = st.text_input(
        "Type of the phrases without a type",
        key=f"{key}_type",
        placeholder="e.g. Disease",
        width=280,
    )
    return " ".join(answer.split())


def ask_way(held: Sequence[Dictionary], new: Sequence[DictionarySummary], key: str) -> str:
    """Ask what to do with a dictionary whose name is already in the project."""
    known = {dictionary.name for dictionary in held} & {dictionary.name for dictionary in new}
    if not known:
        return BESIDE
    names = elements.plain(", ".join(sorted(known)))
    verb = "is" if len(known) == 1 else "are"
    label = f"{names} {verb} already in the project"
    return st.radio(label, [REPLACE, BESIDE], horizontal=True, key=f"{key}_way")


def show_types(new: Sequence[DictionarySummary], key: str) -> dict[tuple[str, str], str]:
    """Draw one row per file and type; return the types to save them as."""
    pairs = [(d.name, entity_type) for d in new for entity_type in d.types]
    table = pd.DataFrame(
        {
            "file": [file for file, _ in pairs],
            "found": [entity_type for _, entity_type in pairs],
            "type": [entity_type for _, entity_type in pairs],
            "phrases": [count for d in new for count in d.types.values()],
        }
    )
    edited = st.data_editor(
        table,
        column_config={
            "file": "File",
            "found": "Type in the file",
            "type": st.column_config.TextColumn("Save as type", required=True, width="medium"),
            "phrases": st.column_config.NumberColumn("Phrases", format="localized"),
        },
        disabled=["file", "found", "phrases"],
        hide_index=True,
        key=key,
    )
    return dict(zip(pairs, edited["type"].astype(str), strict=True))


def show_examples(new: Sequence[DictionarySummary]) -> None:
    """Draw the first phrases of each file, and the notes of the reader."""
    lines = [
        f"{dictionary.name}: {', '.join(dictionary.first)}" + (" …" if dictionary.has_more else "")
        for dictionary in new[:10]
    ]
    st.caption("The first phrases")
    st.html(bullets(lines))
    if notes := [f"{d.name}: {note}" for d in new for note in d.notes]:
        st.caption("Notes")
        st.html(bullets(notes))


def save(
    project: Project,
    asked: uploads.DictionaryRequest,
    read: Sequence[Dictionary],
    chosen: Sequence[Chosen],
) -> None:
    """Save the dictionaries as a new version, and say so."""
    added = save_upload(project, asked.renamed(read), chosen, is_replacing=asked.is_replacing)
    finish(project, [d.name for d in added], sum(len(d.phrases) for d in added))


def finish(project: Project, names: Sequence[str], phrases: int) -> None:
    """Say what was saved, and empty the uploader."""
    count = elements.plural(phrases, "phrase")
    version = project.dictionary_version()
    state.remember_upload(project)
    current.say(f"Saved {', '.join(names)} with {count}, as version {version}.")
    current.empty_uploader(UPLOADER)
    st.rerun()
