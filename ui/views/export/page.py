"""The page Export: choose entities, filters and a format; see and download the verified file."""

import shlex
from dataclasses import replace

import streamlit as st

from engine.export import (
    CARD_ENDING,
    DICTIONARY,
    GOLD,
    REVIEWED,
    RUN,
    ExportChoice,
    Selection,
    Verification,
    count_entities,
    default_method,
    default_run,
    note_export,
)
from engine.formats import WriteOptions, missing_package, view_config
from engine.jobs import Job
from engine.projects import Project
from ui.parts import elements, wording
from ui.parts.highlight import bullets
from ui.state import findings
from ui.views.export import more as export_more
from ui.views.export import state as state

WHAT = {
    RUN: "Found by a method",
    REVIEWED: "Reviewed",
    DICTIONARY: "Dictionary labels",
    GOLD: "Gold",
}
ABOUT = {
    RUN: "What one trained method found in the text.",
    REVIEWED: "Your decisions come first, then what the method found, then what the "
    "dictionaries match.",
    DICTIONARY: "What the dictionaries match, as on the page Distant labels.",
    GOLD: "The human labels that the methods are scored against.",
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
    "spacy": "spaCy (JSONL)",
    "docbin": "spaCy (DocBin)",
    "parquet": "Hugging Face (Parquet)",
    "brat": "brat",
    "pubtator": "PubTator",
}
DATASETS = """from datasets import load_dataset

data = load_dataset("parquet", data_files="entities.parquet")["train"]
names = data.features["ner_tags"].feature.names"""


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Export",
        "Download the entities in the format that your next tool reads. Every offset is "
        "checked against the text first.",
        elements.project_chips(project),
    )
    offered = state.available(project) if project.text_key() else []
    if not offered:
        elements.empty_state(
            "There is nothing to export yet: add text and dictionaries first.",
            "Add text",
            "text",
        )
        return
    choice, job = show_what(project, offered)
    choice = show_filters(project, choice)
    choice = replace(choice, format=show_formats())
    choice = replace(choice, options=show_options(choice.format))
    chosen = state.writable()[choice.format]
    if chosen.is_installed:
        show_file(project, choice)
    else:
        st.warning(elements.plain(f"{str(missing_package(chosen)).capitalize()}."))
    st.subheader("More downloads", anchor=False)
    export_more.show(project, choice, job)
    elements.command(command_line(project, choice))


# ---- which entities -------------------------------------------------------------------------


def show_what(project: Project, offered: list[str]) -> tuple[ExportChoice, Job | None]:
    """Draw the choice of entities; return it, and the run that further downloads are about."""
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
        if what in (RUN, REVIEWED) and runs:
            job, method = show_method(project, runs)
    st.caption(ABOUT[what])
    run = job.id if job is not None else ""
    return ExportChoice(what, run, method), job or default_run(runs)


def show_method(project: Project, runs: list[Job]) -> tuple[Job, str]:
    """Draw the choice of run, if there are several, and of its method."""
    job = default_run(runs)
    assert job is not None
    if len(runs) > 1:
        names = findings.run_names(runs)
        id = st.selectbox(
            "Run",
            list(names),
            index=list(names).index(job.id),
            format_func=names.__getitem__,
            key="export_run",
            width=280,
        )
        job = next(run for run in runs if run.id == id)
    methods = findings.methods_of(job)
    method = st.segmented_control(
        "Method",
        methods,
        default=default_method(project, job),
        required=True,
        format_func=wording.method_name,
        key=f"export_method_{job.id}",
    )
    return job, str(method)


def show_filters(project: Project, choice: ExportChoice) -> ExportChoice:
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
            placeholder="All, or part of the id",
            width=240,
        )
        least = 0.0
        if choice.what in (RUN, REVIEWED):
            least = st.slider(
                "Score at least",
                0.0,
                1.0,
                0.0,
                0.05,
                key="export_least_score",
                width=240,
                help="The score is the method's mean certainty over the entity's words. "
                "Entities without a score, such as those you added in review, stay.",
            )
    return replace(choice, selection=Selection(tuple(sorted(types)), least, words.strip()))


# ---- the file -------------------------------------------------------------------------------


def show_formats() -> str:
    """Draw the choice of format; return it."""
    formats = state.writable()
    chosen = st.radio(
        "Format",
        list(formats),
        format_func=lambda name: TITLES.get(name, name),
        key="export_format",
        horizontal=True,
    )
    st.caption(elements.plain(formats[chosen].description))
    return chosen


def show_options(format: str) -> WriteOptions:
    """Draw the options of a format; return them."""
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
                help="Marks the file as UTF-8 and puts an apostrophe before cells that a "
                "spreadsheet would run as a formula.",
            )
        if format == "label_studio":
            has_utf16 = st.toggle(
                "Count offsets as a browser does",
                key="export_utf16",
                help="In UTF-16 units, as in Label Studio's own editor: an emoji counts as two.",
            )
    return WriteOptions(is_essential, is_for_excel, has_utf16)


def show_file(project: Project, choice: ExportChoice) -> None:
    """Draw the counts, the first lines of the file, the result of its check and the downloads."""
    texts = state.filtered(project, choice)
    made = state.written(project, choice)
    if note := state.chosen(project, choice).note:
        st.info(f"{note}.")
    entities = elements.plural(count_entities(texts), "entity")
    documents = elements.plural(len(texts.documents), "document")
    st.caption(f"{entities} in {documents}. The first {state.PREVIEW_LINES} lines:")
    st.code(state.first_lines(made, choice.format), language=None)
    integrity = st.container()  # filled last: reading the file again takes the longest
    if made.notes:
        st.html(bullets(made.notes))
    ending = state.writable()[choice.format].extensions[0]
    with st.container(horizontal=True):
        st.download_button(
            "Download",
            data=lambda: noted(project, state.whole_file(project, choice)),
            file_name=state.file_name(choice, ending),
            type="primary",
            key="export_download",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "All formats (zip)",
            data=lambda: noted(
                project, state.all_formats(project, choice, command_line(project, choice))
            ),
            file_name=state.file_name(choice, ".zip"),
            key="export_all_formats",
            on_click="ignore",
            icon=":material/folder_zip:",
        )
        st.download_button(
            "Card (JSON)",
            data=lambda: state.card(project, choice, command_line(project, choice)),
            file_name=state.file_name(choice, ending) + CARD_ENDING,
            key="export_card",
            on_click="ignore",
            icon=":material/info:",
            help="What made this file: run, dictionary version, settings, Glossa's version, when. "
            "Keep it beside the file. The zip holds it too.",
        )
    show_use(choice.format, state.types(project, choice))
    with integrity:
        show_integrity(state.verified(project, choice) if made.is_whole else None)


def noted(project: Project, data: bytes) -> bytes:
    """Return a file that is downloaded; the project remembers that there was one."""
    note_export(project)
    return data


def show_integrity(verified: Verification | None) -> None:
    """Draw the result of reading the file again."""
    if verified is None:
        st.caption("This file is large: it is written and verified when you download it.")
    elif verified.problem:
        st.error(elements.plain(f"This file would be wrong: {verified.problem}."))
    else:
        st.caption(f":material/verified: {elements.plain(str(verified))}")


def show_use(format: str, types: list[str]) -> None:
    """Draw what the next tool needs in addition to the file."""
    if format == "label_studio":
        with st.expander("Labeling configuration for Label Studio"):
            st.code(view_config(types), language="xml")
    elif format == "parquet":
        with st.expander("Load this file with Hugging Face datasets"):
            st.code(DATASETS, language="python")


def command_line(project: Project, choice: ExportChoice) -> str:
    """Return the command that writes the same file."""
    words = ["glossa", "export", "--project", project.id]
    words += {
        GOLD: ["--gold"],
        RUN: ["--run", choice.run, "--method", choice.method],
        REVIEWED: ["--reviewed"],
        DICTIONARY: ["--dictionary-labels"],
    }[choice.what]
    if choice.what == REVIEWED and choice.run:
        words += ["--run", choice.run, "--method", choice.method]
    filters = choice.selection
    words += ["--types", *filters.types] if filters.types else []
    words += ["--least-score", f"{filters.least_score:g}"] if filters.least_score else []
    words += ["--documents", filters.words] if filters.words else []
    ending = state.writable()[choice.format].extensions[0]
    words += ["--out", f"entities{ending}", "--format", choice.format]
    words += ["--essential"] if choice.options.essential_columns else []
    words += ["--excel"] if choice.options.excel else []
    words += ["--utf16-offsets"] if choice.options.utf16_offsets else []
    return shlex.join(words)
