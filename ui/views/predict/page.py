"""Predict: find entities in new text with a finished run."""

import shlex

import streamlit as st

from engine import jobs
from engine.export import CARD_ENDING
from engine.formats import FORMATS, WriteOptions
from engine.jobs import Job
from engine.projects import Project
from engine.settings import LIMITS
from engine.text import InputError
from ui.parts import elements, live, reading, wording
from ui.parts.highlight import highlight_lines, legend, type_colors
from ui.parts.permission import show_permission
from ui.state import current, findings, uploads
from ui.views.predict import large_corpus
from ui.views.predict import state as state

PAGE_SIZE = 25
PASTE, UPLOAD, SHARDS = "Paste text", "Upload files", "Large corpus"
UPLOADER = "predict_upload"
EXAMPLE = "Paste a paragraph here, for example an abstract that the project has never seen."


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Predict",
        "Find entities in new text with a trained method.",
        elements.project_chips(project),
    )
    runs = findings.runs(project)
    if not runs:
        elements.empty_state(
            "Nothing is trained in this project yet. Train a method first; then you can use it on "
            "any text, here or on the command line.",
            "Train",
            "train",
        )
        return
    run, method = show_question(project, runs)
    if st.session_state.get("predict_kind") == SHARDS:
        large_corpus.show_result(project)
        folder = shlex.quote(str(jobs.run_folder(run, method)))
        elements.command(f"glossa predict --run {folder} corpus --out entities")
        return
    predicted = state.predictions(project)
    job = state.chosen(project, predicted)
    if job is not None:
        st.divider()
        least_score = show_earlier(project, predicted, job)
        show_answer(project, job, least_score)
    folder = shlex.quote(str(jobs.run_folder(run, method)))
    elements.command(f"glossa predict --run {folder} new.txt --out entities.csv")


# ---- the request ----------------------------------------------------------------------------


def show_question(project: Project, runs: list[Job]) -> tuple[Job, str]:
    """Draw the text and the choice of run and method; return the run and the method."""
    kind = st.segmented_control(
        "Text", [PASTE, UPLOAD, SHARDS], default=PASTE, required=True, key="predict_kind"
    )
    if kind == PASTE:
        text = st.text_area("Your text", key="predict_text", height=180, placeholder=EXAMPLE)
    elif kind == SHARDS:
        large_corpus.show_places()
    else:
        files, lines = show_uploader()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run, method = show_method(runs)
        button = st.container(width="content")
    is_allowed = show_permission(
        lambda: jobs.names_of_run(run, method),
        lambda: jobs.allow_names_of_run(run, method),
        f"predict_trust_{run.id}_{method}",
    )
    if is_allowed and state.can_have_twin(run, method):
        show_twin(project, run, method)
    is_asked = button.button(
        "Find entities", type="primary", key="predict_start", disabled=not is_allowed
    )
    if kind == UPLOAD and not is_asked:
        show_check(project, files)
    if is_asked:
        try:
            if kind == PASTE:
                ask_about_text(project, run, method, text)
            elif kind == SHARDS:
                large_corpus.start(project, run.id, method)
            elif not files:
                raise InputError("no file is chosen. Choose at least one, then press the button")
            else:
                key = current.uploader_key(UPLOADER)
                chosen = uploads.uploaded(files)
                state.start_uploaded(project, run.id, method, chosen, lines, key)
                if uploads.reading_in(key) is None:
                    current.empty_uploader(UPLOADER)
        except InputError as error:
            elements.show_input_error(error)
        else:
            st.rerun()
    return run, method


def show_check(project: Project, files: list) -> None:
    """Draw how far large files are read; once they are, start the prediction."""
    key = current.uploader_key(UPLOADER)
    process = uploads.reading_in(key)
    if not files:
        uploads.forget(key)  # the files were taken out while they were read
    elif process is not None and not process.is_over:
        reading.show_progress(process, key, "Reading")
    elif process is not None and process.is_cancelled:
        uploads.forget(key)
        st.info("Reading was cancelled. Nothing was started.")
    elif process is not None:
        with elements.explained():
            if state.start_checked(project, uploads.uploaded(files), key):
                current.empty_uploader(UPLOADER)
                st.rerun()


def ask_about_text(project: Project, run: Job, method: str, text: str) -> None:
    """Start a prediction on the pasted text."""
    if not text.strip():
        raise InputError("there is no text yet. Paste some, then press the button")
    state.start_pasted(project, run.id, method, text)


def show_uploader() -> tuple[list, bool]:
    """Draw the uploader; return its files, and whether each line is a document."""
    files = st.file_uploader(
        "Text files",
        accept_multiple_files=True,
        max_upload_size=LIMITS.file_mb,
        key=current.uploader_key(UPLOADER),
        help="txt, csv, tsv, jsonl, json, conll, pubtator, brat, or a zip of these. Up to "
        f"{LIMITS.file_mb} MB per file.",
    )
    lines = st.toggle(
        "One document per line",
        key="predict_lines",
        help="For .txt files: each line is a document, instead of each file.",
    )
    return files, lines


def show_method(runs: list[Job]) -> tuple[Job, str]:
    """Draw the choice of run if there are several, and of its method."""
    by_id = {run.id: run for run in runs}
    run = runs[0]
    if len(runs) > 1:
        names = findings.run_names(runs)
        id = st.selectbox(
            "Run", list(names), format_func=names.__getitem__, key="predict_run", width=280
        )
        run = by_id[id]
    methods = findings.methods_of(run)
    method = st.segmented_control(
        "Method",
        methods,
        default=methods[0],
        required=True,
        format_func=wording.method_name,
        key=f"predict_method_{run.id}",
    )
    return run, str(method)


def show_twin(project: Project, run: Job, method: str) -> None:
    """Draw the choice of the fast twin; before there is one, a button or its progress."""
    if state.has_twin(run, method):
        agreement = state.twin_agreement(run, method)
        known = ""
        if agreement is not None:
            share = elements.percent(agreement)
            known = f" On sentences held out, {share} of what the two find is the same (F1)."
        st.toggle(
            "Use the fast twin",
            key=state.twin_key(run.id, method),
            help="A copy without the transformer, several times as fast. It learned from your text "
            f"what {wording.method_name(method)} finds.{known}",
        )
        return
    job = state.twin_job(project, run, method)
    if job is not None and job.is_active:
        show_progress(project, job.id, "Making a fast twin", "predict_twin_cancel")
        return
    if job is not None and job.message and job.state in ("failed", "interrupted"):
        st.warning(elements.plain(job.message))
    with elements.explained():
        if st.button(
            "Make a fast twin",
            key="predict_twin",
            icon=":material/bolt:",
            help="For large texts: a copy without the transformer, several times as fast. It "
            "learns from the project's text what this method finds, in a few minutes.",
        ):
            state.make_twin(project, run, method)
            st.rerun()


# ---- the result -----------------------------------------------------------------------------


def show_earlier(project: Project, predicted: dict[str, Job], job: Job) -> float:
    """Draw the choice among all predictions so far; return the minimum score to show."""
    names = state.names(predicted)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Predictions so far",
            list(names),
            index=list(names).index(job.id),
            format_func=names.__getitem__,
            key=f"predict_chosen_{job.id}_{len(names)}",
            on_change=state.choose,
            args=(project, f"predict_chosen_{job.id}_{len(names)}"),
            width=380,
        )
        least_score = 0.0
        if job.state == "done":
            least_score = st.slider(
                "Minimum score",
                0.0,
                1.0,
                0.0,
                0.05,
                key="predict_least_score",
                width=240,
                help="A score is the mean probability of the type over the words of an entity.",
            )
        with st.popover("Delete", disabled=job.is_active):
            st.caption("Deletes the text and the entities found in it. This cannot be undone.")
            if st.button("Delete this prediction", key="predict_delete"):
                jobs.delete_job(project, job.id)
                st.rerun()
    return least_score


def show_answer(project: Project, job: Job, least_score: float) -> None:
    """Draw the progress of a prediction, its result, or why it failed."""
    if job.is_active:
        show_progress(project, job.id)
    elif job.state == "done":
        show_found(project, job, least_score)
    else:
        st.warning(elements.plain(job.message or f"This prediction was {job.state}."))
        is_allowed = show_permission(
            lambda: jobs.names_to_ask(project, job),
            lambda: jobs.allow_names(project, job),
            f"predict_trust_{job.id}",
        )
        if st.button("Try again", key="predict_again", disabled=not is_allowed):
            with elements.explained():
                jobs.resume(project, job.id)
                st.rerun()


def show_progress(
    project: Project, job_id: str, doing: str = "", key: str = "predict_cancel"
) -> None:
    """Draw the progress of a job, every second until it has ended; `doing` says what it does."""

    def draw() -> None:
        job = jobs.get_job(project, job_id)
        stages = {"reading": "Reading the text", "predict": "Finding entities"}
        st.progress(job.share, text=doing or stages.get(job.stage, "Starting"))
        if st.button("Cancel", key=key):
            jobs.cancel(project, job.id)

    live.redraw("1s", draw, lambda: not jobs.get_job(project, job_id).is_active)


def show_found(project: Project, job: Job, least_score: float) -> None:
    """Draw the entities: how many, the marked text page by page, a table, and downloads."""
    predicted_text = state.predicted_text(project, job, least_score)
    colors = type_colors(predicted_text.types)
    name = wording.method_name(job.request["method"])
    st.subheader(
        f"{name} found {elements.plural(len(predicted_text.table), 'entity')}", anchor=False
    )
    st.caption(
        f"In {elements.plural(len(predicted_text.lines), 'sentence')} of "
        f"{elements.plural(len(predicted_text.corpus.documents), 'document')}."
    )
    text, table = st.tabs(("Text", "Table"), key="predict_tab")
    with text:
        st.html(legend(state.counts(predicted_text), colors))
        show_lines(predicted_text, colors, job)
    with table:
        show_table(predicted_text)
    show_download(project, predicted_text, job)
    elements.notes([*predicted_text.notes, *jobs.job_notes(project, job.id)])


def show_lines(predicted_text: state.PredictedText, colors: dict[str, str], job: Job) -> None:
    """Draw the sentences of one page."""
    pages = max(1, -(-len(predicted_text.lines) // PAGE_SIZE))
    place = st.container()
    page = st.pagination(pages, key=f"predict_page_{job.id}") if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    place.html(highlight_lines(predicted_text.lines[first : first + PAGE_SIZE], colors))


def show_table(predicted_text: state.PredictedText) -> None:
    """Draw one row per entity."""
    if predicted_text.table.empty:
        elements.empty_state("No entity has this score or a higher one.")
        return
    columns = {
        "text": "Phrase",
        "entity_type": "Type",
        "score": st.column_config.NumberColumn("Score", format="%.2f"),
        "document": "Document",
        "sentence": "Sentence",
        "context": st.column_config.TextColumn("Context", width="large"),
    }
    elements.show_table(predicted_text.table, columns, "predict_table")


def show_download(project: Project, predicted_text: state.PredictedText, job: Job) -> None:
    """Draw the choice of format, the download and its card."""
    writable = {
        name: format
        for name, format in FORMATS.items()
        if format.write and format.is_installed and name != "benchmark"
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        format = st.selectbox(
            "Format",
            list(writable),
            format_func=lambda name: writable[name].description,
            key="predict_format",
            width=420,
        )
        name = f"{job.request['method']}-{job.id}{writable[format].extensions[0]}"
        st.download_button(
            "Download",
            data=lambda: state.written(predicted_text, format, WriteOptions()),
            file_name=name,
            key="predict_download",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "Card (JSON)",
            data=lambda: state.card(project, predicted_text, job, format, name),
            file_name=name + CARD_ENDING,
            key="predict_card",
            on_click="ignore",
            icon=":material/info:",
            help="What made this file: run, dictionary version, settings, Glossa's version, when.",
        )
