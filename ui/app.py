"""The app, top to bottom: page set-up, sources in the sidebar, then the page of distant labels."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # streamlit adds ui/, not the root

import streamlit as st

from engine import LIMITS, InputError
from ui import state
from ui.highlight import STYLE
from ui.views import labels

SAMPLE, OWN = "Sample project", "Your own files"
PRESETS = {
    "strict": "The very same words, letter by letter.",
    "balanced": "Any case, but short acronyms as written: AIDS is not aids.",
    "loose": "Any case, accents, plurals and hyphens.",
}
ICON = (
    '<svg viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5f8b"/>'
    '<path d="M8 11h16" stroke="#fff" stroke-width="3"/>'
    '<path d="M8 20h9" stroke="#E69F00" stroke-width="5"/></svg>'
)
PAGE_STYLE = """<style>
.stMainBlockContainer { max-width: 74rem; padding: 3rem clamp(2rem, 4vw, 4rem) 4rem; }
.stMainBlockContainer h1 { font-size: 2.1rem; padding: 0 0 .25rem; }
.stMainBlockContainer h3 { font-size: 1.15rem; padding: .75rem 0 .5rem; }
.gl-purpose { padding-bottom: .75rem; }
</style>"""


def main() -> None:
    """Draw the app."""
    st.set_page_config(page_title="Glossa", page_icon=ICON, layout="wide")
    st.html(STYLE)
    st.html(PAGE_STYLE)
    with safe_page():
        with st.sidebar:
            sources = show_sources()
        labels.show(sources)


@contextmanager
def safe_page() -> Iterator[None]:
    """Turn what goes wrong into a sentence; a traceback goes to the server's log only."""
    try:
        yield
    except InputError as error:
        labels.show_input_error(error)
    except Exception:
        logging.getLogger("glossa").exception("the page could not be drawn")
        st.error(
            "Something went wrong here, and it is not your file's fault. Reload the page to try "
            "again; the details are in the server's log.",
            icon=":material/error:",
        )


def show_sources() -> state.Sources:
    """Draw what goes in and return what was chosen."""
    st.header("Glossa", anchor=False)
    if st.radio("Text and dictionaries", [SAMPLE, OWN], key="source") == SAMPLE:
        st.caption(
            "Short case reports with dictionaries of chemicals and diseases, written for this "
            "project, and gold labels to compare with."
        )
        sources = state.sample_sources()
    else:
        sources = show_uploads()
    preset = st.segmented_control(
        "Matching",
        list(PRESETS),
        default=sources.preset,
        required=True,
        format_func=str.capitalize,
        key="match_preset",
    )
    st.caption(PRESETS[preset])
    return replace(sources, preset=preset)


def show_uploads() -> state.Sources:
    """Draw the uploaders and return their files."""
    size = LIMITS.file_mb
    text = st.file_uploader(
        "Text files",
        accept_multiple_files=True,
        max_upload_size=size,
        key="text_upload",
        help="txt, csv, tsv, jsonl, json, conll, pubtator, brat, or a zip of these.",
    )
    lines = st.toggle(
        "One document per line",
        key="lines_are_documents",
        help="Only for .txt: each line is a document, instead of each file.",
    )
    dictionaries = st.file_uploader(
        "Dictionaries",
        accept_multiple_files=True,
        max_upload_size=size,
        key="dictionary_upload",
        help="Disease.txt with a phrase per line, csv or tsv with the columns term and label, "
        "json, jsonl patterns, or a zip of these.",
    )
    gold = st.file_uploader(
        "Gold labels (optional)",
        max_upload_size=size,
        key="gold_upload",
        help="The same documents labeled by people, to measure precision and recall: CoNLL, "
        "JSONL with spans, PubTator, brat, or an entities CSV.",
    )
    entity_type = st.text_input(
        "Default type (optional)",
        key="entity_type",
        help="The type of phrases whose file names none, e.g. Disease.",
    )
    st.caption(f"Up to {size} MB a file, kept in this server's memory and sent nowhere else.")
    return state.Sources(
        state.uploaded(text),
        state.uploaded(dictionaries),
        state.uploaded([gold] if gold else []),
        lines_are_documents=lines,
        entity_type=entity_type.strip(),
    )


main()
