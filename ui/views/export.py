"""Export: which entities, as which file; what is written is read again and verified."""

import shlex
from dataclasses import replace

import streamlit as st

from engine import WriteOptions
from engine.formats.label_studio import view_config
from engine.jobs import Job
from engine.project import Project
from engine.verification import Verification
from ui import parts
from ui.highlight import bullets
from ui.state import export as state
from ui.state import findings
from ui.views import export_more

WHAT = {
    state.RUN: "Found by a method",
    state.REVIEWED: "Reviewed",
    state.DICTIONARY: "Dictionary labels",
    state.GOLD: "Gold",
}
ABOUT = {
    state.RUN: "What one trained method found in the project's text.",
    state.REVIEWED: "What you decided comes first, then what the method found, then what the "
    "dictionaries match.",
    state.DICTIONARY: "What the dictionaries match, as on the page Distant labels.",
    state.GOLD: "The human labels that the project is scored with.",
}
TITLES = {
    "entities": "Entities (CSV)",
    "tokens": "Tokens (CSV)",
    "conll": "CoNLL",
    "benchmark": "The paper's format",
    "jsonl": "JSON lines",
    "prodigy": "Prodigy",
    "doccano": "doccano",
    "label_studio": "Label Studio",
    "spacy": "spaCy",
    "brat": "brat",
    "pubtator": "PubTator",
}
SPACY = """import json
import spacy
from spacy.tokens import DocBin

nlp, docs = spacy.blank("en"), DocBin()
for line in open("entities.jsonl", encoding="utf-8"):
    text, marked = json.loads(line)[:2]
    doc = nlp.make_doc(text)
    spans = [doc.char_span(*span, alignment_mode="expand") for span in marked["entities"]]
    doc.ents = spacy.util.filter_spans([span for span in spans if span])
    docs.add(doc)
docs.to_disk("train.spacy")"""


def show(project: Project) -> None:
    """Draw the page."""
    parts.page_header(
        "Export",
        "Take the entities along, in the format that your next tool reads. Every offset is "
        "checked against the text before you get the file.",
        parts.project_chips(project),
    )
    offered = state.available(project) if project.text_key() else []
    if not offered:
        parts.empty_state(
            "There is nothing to export yet: add text and dictionaries first.",
            "Add text",
            "text",
        )
        return
    choice, job = show_what(project, offered)
    choice = show_filters(project, choice)
    choice = replace(choice, format=show_formats())
    choice = replace(choice, options=show_options(choice.format))
    show_file(project, choice)
    st.subheader("More to take along", anchor=False)
    export_more.show(project, choice, job)
    parts.command(command_line(project, choice))


# ---- which entities -------------------------------------------------------------------------


def show_what(project: Project, offered: list[str]) -> tuple[state.Choice, Job | None]:
    """Draw the choice of entities; return it, and the run that it is about."""
    runs = findings.runs(project)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        what = st.segmented_control(
            "Entities",
            offered,
            default=offered[0],
            required=True,
            format_func=WHAT.__getitem__,
            key=f"export_what_{'_'.join(offered)}",
        )
        job, method = None, ""
        if what in (state.RUN, state.REVIEWED) and runs:
            job, method = show_method(runs)
    st.caption(ABOUT[what])
    run = job.id if job is not None else ""
    return state.Choice(what, run, method), job or (runs[0] if runs else None)


def show_method(runs: list[Job]) -> tuple[Job, str]:
    """Draw the choice of run, if there are several, and of its method."""
    job = runs[0]
    if len(runs) > 1:
        names = findings.run_names(runs)
        id = st.selectbox(
            "Run", list(names), format_func=names.__getitem__, key="export_run", width=280
        )
        job = next(run for run in runs if run.id == id)
    methods = findings.methods_of(job)
    method = st.segmented_control(
        "Method",
        methods,
        default=methods[0],
        required=True,
        format_func=lambda name: parts.METHOD_NAMES.get(name, name),
        key=f"export_method_{job.id}",
    )
    return job, str(method)


def show_filters(project: Project, choice: state.Choice) -> state.Choice:
    """Draw the filters; return the choice with them."""
    with st.container(horizontal=True, vertical_alignment="top"):
        types = st.multiselect(
            "Types",
            state.types(project, choice),
            key=f"export_types_{choice.what}",
            placeholder="All types",
            width=260,
        )
        words = st.text_input(
            "Documents",
            key="export_words",
            placeholder="All; or words in their ids",
            width=240,
        )
        least = 0.0
        if choice.what in (state.RUN, state.REVIEWED):
            least = st.slider(
                "Score at least",
                0.0,
                1.0,
                0.0,
                0.05,
                key="export_least_score",
                width=240,
                help="The score is how sure the method is of the words, on average. What has no "
                "score, such as what you accepted yourself, stays.",
            )
    return replace(choice, types=tuple(sorted(types)), words=words.strip(), least_score=least)


# ---- the file -------------------------------------------------------------------------------


def show_formats() -> str:
    """Draw all formats that can be written; return the chosen one."""
    formats = state.writable()
    chosen = st.radio(
        "Format",
        list(formats),
        format_func=lambda name: TITLES.get(name, name),
        key="export_format",
        horizontal=True,
    )
    st.caption(parts.plain(formats[chosen].description))
    return chosen


def show_options(format: str) -> WriteOptions:
    """Draw the options that this format has; return them."""
    is_essential = is_for_excel = has_utf16 = False
    if format not in ("entities", "tokens", "label_studio"):
        return WriteOptions()
    with st.container(horizontal=True):
        if format == "entities":
            is_essential = st.toggle(
                "Essential columns only",
                key="export_essential",
                help="doc_id, sent_id, start, end, text, label and score.",
            )
        if format in ("entities", "tokens"):
            is_for_excel = st.toggle(
                "For Excel",
                key="export_excel",
                help="Marks the file as UTF-8, and puts an apostrophe before cells that a "
                "spreadsheet would run as a formula.",
            )
        if format == "label_studio":
            has_utf16 = st.toggle(
                "Offsets as a browser counts them",
                key="export_utf16",
                help="In UTF-16 units, as Label Studio's own editor writes them: an emoji is two.",
            )
    return WriteOptions(is_essential, is_for_excel, has_utf16)


def show_file(project: Project, choice: state.Choice) -> None:
    """Draw how much there is, the beginning of the file, whether it is true, and the downloads."""
    chosen = state.filtered(project, choice)
    made = state.written(project, choice)
    documents = len(chosen.documents)
    st.caption(
        f"{parts.plural(state.count(chosen), 'entity')} in {parts.plural(documents, 'document')}. "
        f"The first {state.PREVIEW_LINES} lines:"
    )
    st.code(state.first_lines(made, choice.format), language=None)
    integrity = st.container()  # filled last: reading the file again takes the longest
    if made.notes:
        st.html(bullets(made.notes))
    ending = state.writable()[choice.format].extensions[0]
    with st.container(horizontal=True):
        st.download_button(
            "Download",
            data=lambda: state.whole_file(project, choice),
            file_name=state.file_name(choice, ending),
            type="primary",
            key="export_download",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "All formats (zip)",
            data=lambda: state.all_formats(project, choice),
            file_name=state.file_name(choice, ".zip"),
            key="export_all_formats",
            on_click="ignore",
            icon=":material/folder_zip:",
        )
    show_use(choice.format, state.types(project, choice))
    with integrity:
        show_integrity(state.verified(project, choice) if made.is_whole else None)


def show_integrity(verified: Verification | None) -> None:
    """Draw what reading the file again has shown."""
    if verified is None:
        st.caption("A large file: it is written, and every offset verified, when you download it.")
    elif verified.problem:
        st.error(parts.plain(f"This file would be wrong: {verified.problem}."))
    else:
        st.caption(f":material/verified: {parts.plain(str(verified))}")


def show_use(format: str, types: list[str]) -> None:
    """Draw what the next tool needs besides the file."""
    if format == "label_studio":
        with st.expander("Labeling configuration for Label Studio"):
            st.code(view_config(types), language="xml")
    elif format == "spacy":
        with st.expander("From this file to spaCy's DocBin"):
            st.code(SPACY, language="python")


def command_line(project: Project, choice: state.Choice) -> str:
    """Return the command that writes the same file."""
    words = ["python", "-m", "engine", "export", "--project", project.id]
    words += {
        state.GOLD: ["--gold"],
        state.RUN: ["--run", choice.run, "--method", choice.method],
        state.REVIEWED: ["--reviewed"],
        state.DICTIONARY: ["--dictionary-labels"],
    }[choice.what]
    if choice.what == state.REVIEWED and choice.run:
        words += ["--run", choice.run, "--method", choice.method]
    words += ["--types", *choice.types] if choice.types else []
    words += ["--least-score", f"{choice.least_score:g}"] if choice.least_score else []
    words += ["--documents", choice.words] if choice.words else []
    ending = state.writable()[choice.format].extensions[0]
    words += ["--out", f"entities{ending}", "--format", choice.format]
    words += ["--essential"] if choice.options.essential_columns else []
    words += ["--excel"] if choice.options.excel else []
    words += ["--utf16-offsets"] if choice.options.utf16_offsets else []
    return shlex.join(words)
