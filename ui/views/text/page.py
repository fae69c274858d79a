"""The Text page: add files after a preview, and look at the text of the project."""

import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine.planning import language_warnings
from engine.projects import Project, StoredFile
from engine.settings import LANGUAGES, LIMITS
from ui.charts import text as charts_text
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.parts.highlight import bullets
from ui.state import corpus, current
from ui.state.figures import kept_figure
from ui.views.text import gold
from ui.views.text import upload as text_upload

PAGE_SIZE = 200
EMPTY = (
    "No text yet. Drop .txt, .csv, .tsv, .jsonl, .json, .conll or .pubtator files above, or a zip "
    "of these."
)


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Text",
        "The documents to find entities in. Offsets, line ends and everything else stay exactly as "
        "in your files.",
        elements.project_chips(project),
    )
    text_tab, gold_tab = st.tabs(["Text", "Gold (for scoring)"], key="text_tab", on_change="rerun")
    with text_tab:
        text_upload.show(project)
        if project.text_key():
            show_text(project)
        else:
            elements.empty_state(EMPTY, "Or look at the sample on the home page", "home")
    with gold_tab:
        if gold_tab.open:
            gold.show(project)
    st.divider()
    if project.text_key():
        elements.next_step("Dictionaries", "dictionaries")
    elements.command(command_line(project))


def command_line(project: Project) -> str:
    """Return the command that adds the same files."""
    names = [file.name for file in project.text_files()] or ["notes.txt"]
    listed = [*names[:5], *(["…"] if len(names) > 5 else [])]
    gold_names = [file.name for file in project.gold_files()][:1]
    command = ["glossa", "import", "--project", project.id, "--text", *listed]
    return shlex.join([*command, *(["--gold", *gold_names] if gold_names else [])])


# ---- the text of the project ------------------------------------------------------------------


def show_language(project: Project) -> None:
    """Draw the language of the text, which can be changed."""
    held, codes = project.language(), list(LANGUAGES)
    chosen = st.selectbox(
        "Language",
        codes,
        index=codes.index(held),
        format_func=LANGUAGES.__getitem__,
        key=f"text_language_{project.id}_{project.text_key()}",
        width=220,
        help="Detected from the text. Sentences, stop words and everyday words follow it. For a "
        "language that is not listed, choose English.",
    )
    if chosen != held:
        project.set_language(str(chosen))
        current.say(f"The text is read as {LANGUAGES[str(chosen)]} from now on.")
        st.rerun()
    if warnings := language_warnings(held):
        st.caption(f"{warnings[0]}.")


def show_text(project: Project) -> None:
    """Draw the figures, the files, the documents and their lengths."""
    tables = corpus.text_tables(project)
    figures = tables.figures
    with st.container(horizontal=True):
        elements.figure("Documents", elements.count(figures.documents))
        elements.figure("Sentences", elements.count(figures.sentences))
        elements.figure("Tokens", elements.count(figures.tokens), help="Words, numbers and signs.")
        elements.figure("Unique tokens", elements.count(figures.unique_tokens))
        elements.figure(
            "Longest sentence",
            elements.count(figures.longest_sentence),
            "tokens",
            f"Sentences over {LIMITS.sentence_tokens:,} tokens are cut, and counted.",
        )
    show_language(project)
    show_files(project)
    st.subheader("Documents", anchor=False)
    show_documents(tables)
    with elements.side_by_side("text_lengths"):
        with st.container():
            st.subheader("How long sentences are", anchor=False)
            figure = kept_figure(charts_text.length_figure, tables.sentence_lengths, "Sentences")
            st.plotly_chart(figure, key="text_chart_sentences", config=CONFIG)
        with st.container():
            st.subheader("How long documents are", anchor=False)
            figure = kept_figure(charts_text.length_figure, tables.document_lengths, "Documents")
            st.plotly_chart(figure, key="text_chart_documents", config=CONFIG)
    elements.notes(corpus.read_corpus(project).notes)


def show_files(project: Project) -> None:
    """Draw the files, with a button to remove those selected."""
    st.subheader("Files", anchor=False)
    files = project.text_files()
    table = pd.DataFrame(
        {
            "name": [file.name for file in files],
            "size": [elements.size(file.bytes) for file in files],
            "documents": [file.documents for file in files],
            "sentences": [file.sentences for file in files],
            "tokens": [file.tokens for file in files],
            "added": [file.added_at for file in files],
        }
    )
    columns: dict[str, Any] = {
        "name": "File",
        "size": "Size",
        "documents": "Documents",
        "sentences": "Sentences",
    }
    columns |= {
        "tokens": "Tokens",
        "added": st.column_config.DatetimeColumn("Added (UTC)", format="YYYY-MM-DD HH:mm"),
    }
    chosen = elements.show_table(
        table,
        columns,
        f"text_files_{project.text_key()}",  # a new table for other files: no stale selection
        on_select="rerun",
        selection_mode="multi-row",
    )
    rows = [row for row in chosen["selection"]["rows"] if row < len(files)]
    if not rows:
        st.caption("Select files in the first column to remove them.")
        return
    with st.popover(f"Remove {elements.plural(len(rows), 'file')}", icon=":material/delete:"):
        st.html(bullets(files[row].name for row in rows))
        st.caption("Decisions about these documents are kept, but have no effect without them.")
        if st.button("Remove from the project", key="text_remove", type="primary"):
            remove(project, [files[row] for row in rows])


def remove(project: Project, files: Sequence[StoredFile]) -> None:
    """Remove the files, and those that are read together with them."""
    for file in files:
        if file.id in {left.id for left in project.text_files()}:
            project.remove_text(file.id)
    current.say(f"Removed {', '.join(file.name for file in files)}.", "info")
    st.rerun()


def show_documents(tables: corpus.TextTables) -> None:
    """Draw the documents that match the search, page by page."""
    table = tables.documents
    words = st.text_input(
        "Find documents",
        key="text_find",
        placeholder="Part of an id or of the first words",
        width=320,
    ).strip()
    if words:
        matches = [
            column.str.contains(words, case=False, regex=False)
            for column in (table["document"], table["text"])
        ]
        table = table[matches[0] | matches[1]]
    if table.empty:
        st.info("No document matches this search.")
        return
    pages = -(-len(table) // PAGE_SIZE)
    page = st.pagination(pages, key=f"text_page {words}") if pages > 1 else 1
    columns = {"document": "Document", "text": st.column_config.TextColumn("Beginning", width=420)}
    columns |= {"sentences": "Sentences", "tokens": "Tokens", "longest": "Longest sentence"}
    shown = table.iloc[PAGE_SIZE * (page - 1) :][:PAGE_SIZE]
    height = "auto" if len(shown) <= 8 else 320
    elements.show_table(shown, columns, f"text_documents_{page}", height=height)
