"""Compare: what each method finds in the same text, how accurate it is, and where they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from engine import jobs
from engine.formats import Aligned
from engine.jobs import Job, TrainRequest, command_of, stored_request
from engine.projects import Project
from engine.text import InputError
from ui.parts import elements
from ui.state import comparison as state
from ui.state import corpus, findings
from ui.views.compare import agreement as compare_agreement
from ui.views.compare import certainty as compare_certainty
from ui.views.compare import counts as compare_counts
from ui.views.compare import estimated as compare_estimated
from ui.views.compare import hidden as compare_hidden
from ui.views.compare import opinions as compare_opinions
from ui.views.compare import runs as compare_runs
from ui.views.compare import scores as compare_scores
from ui.views.compare import sentences as compare_lanes
from ui.views.compare import story as compare_story

TABS = ("Overview", "Agreement", "Sentences", "Types", "Certainty", "Two runs")
NO_GOLD = "No gold: these are counts and agreement, not accuracy."


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Compare",
        "See what each method finds in the same text, how accurate it is, and where the methods "
        "differ.",
        elements.project_chips(project),
    )
    runs = findings.runs(project)
    if not runs and not findings.opinions_by_name(project):
        is_ready(project, runs)
        if project.text_key():
            compare_opinions.show(project)
        return
    gold = read_gold(project)
    chosen, has_gold = show_choice(project, runs, gold)
    if not chosen:
        st.info("Choose at least one method.", icon=":material/info:")
        return
    comparison = state.compare(project, chosen, gold if has_gold else None)
    compare_story.show(project, comparison)
    show_remarks(project, comparison, gold)
    show_tabs(project, comparison, runs, gold)
    compare_opinions.show(project)
    st.divider()
    elements.next_step("Review", "review")
    elements.command(command_line(project, chosen))


def show_tabs(
    project: Project, comparison: state.Comparison, runs: Sequence[Job], gold: Aligned | None
) -> None:
    """Draw the open tab; the others are computed when they are opened."""
    overview, agreement, sentences, types, certainty, two = st.tabs(
        TABS, key="compare_tab", on_change="rerun"
    )
    if agreement.open:
        with agreement:
            compare_agreement.show(comparison)
    elif sentences.open:
        with sentences:
            compare_lanes.show(project, comparison)
    elif types.open:
        with types:
            compare_agreement.show_types(comparison)
    elif certainty.open:
        with certainty:
            compare_certainty.show(comparison)
    elif two.open:
        with two:
            compare_runs.show(project, runs, gold)
    else:
        with overview:
            if comparison.gold:
                compare_scores.show(project, comparison)
            else:
                compare_counts.show(project, comparison)
            compare_estimated.show(project, comparison)
            compare_hidden.show(project, comparison)


# ---- before the tabs ------------------------------------------------------------------------


def is_ready(project: Project, runs: Sequence[Job]) -> bool:
    """Return whether there is a run to show; if not, say what is missing."""
    if runs:
        return True
    active = jobs.active_job(project)
    if active is not None and active.kind == "train":
        elements.empty_state(
            "Training is in progress. Results appear here, side by side, as soon as the first "
            "method is done.",
            "Watch the training",
            "train",
        )
    else:
        elements.empty_state(
            "Nothing is trained yet. Train first: this page then compares the methods with each "
            "other, with the dictionaries and, if you have it, with gold.",
            "Train",
            "train",
        )
    return False


def read_gold(project: Project) -> Aligned | None:
    """Return the gold; if it cannot be read, show the error and continue without it."""
    try:
        return corpus.gold(project)
    except InputError as error:
        elements.show_input_error(error)
        return None


def show_choice(
    project: Project, runs: Sequence[Job], gold: Aligned | None
) -> tuple[list[state.ComparedSet], bool]:
    """Draw the choice of runs and methods; return the sets, and whether gold is chosen."""
    by_id, names = {job.id: job for job in runs}, findings.run_names(runs)
    with st.container(horizontal=True, vertical_alignment="top"):
        ids = state.default_runs(runs)
        if len(runs) > 1:
            ids = st.multiselect(
                "Runs",
                list(by_id),
                default=ids,
                format_func=names.__getitem__,
                key=state.runs_key(project, runs),
                persist_state="session",
                width=420,
            )
        chosen_runs = [by_id[id] for id in by_id if id in ids]
        offered = state.methods(
            chosen_runs,
            has_gold=gold is not None,
            has_dictionary=bool(project.dictionary_version()),
            opinions=list(findings.opinions_by_name(project)),
        )
        wanted = st.pills(
            "Side by side",
            offered,
            selection_mode="multi",
            default=offered,
            wrap=True,
            format_func=lambda method: state.shown_name(str(method)),
            key=f"compare_methods_{'_'.join(offered)}",
            persist_state="session",
        )
    chosen = state.choices(chosen_runs, list(wanted))
    left_out = len(state.every_choice(chosen_runs, list(wanted))) - len(chosen)
    if left_out:
        st.warning(
            f"Only {len(chosen)} results fit side by side; {left_out} more are not shown. Choose "
            "fewer runs or methods to see them.",
            icon=":material/warning:",
        )
    show_runs(chosen, names)
    return chosen, state.GOLD in wanted


def show_runs(chosen: Sequence[state.ComparedSet], names: Mapping[str, str]) -> None:
    """Name the runs that are compared; several runs have the numbers that their methods carry."""
    numbers = state.run_numbers(chosen)
    if len(numbers) == 1:
        (id,) = numbers
        st.caption(elements.plain(f"Run of {names[id]}"))
    elif numbers:
        listed = ", ".join(f"{number}: {names[id]}" for id, number in numbers.items())
        st.caption(elements.plain(f"Runs {listed}"))


def show_remarks(project: Project, comparison: state.Comparison, gold: Aligned | None) -> None:
    """Say what readers of the scores must know: no gold, partial gold, different versions."""
    if comparison.gold is None:
        st.info(
            NO_GOLD if gold is None else f"{NO_GOLD} You have gold, but it is not chosen.",
            icon=":material/info:",
        )
    remarks = [*gold_remarks(project, comparison), *version_remarks(project, comparison)]
    if remarks:
        st.warning(elements.plain(" ".join(remarks)), icon=":material/warning:")


def gold_remarks(project: Project, comparison: state.Comparison) -> list[str]:
    """Return a remark if only some documents have gold."""
    documents, annotated = len(comparison.pool.document_ids), len(comparison.annotated)
    if comparison.gold is None or annotated >= documents:
        return []
    return [
        f"Gold covers {annotated:,} of {documents:,} documents. Scores use only those; agreement "
        "and entity counts use all."
    ]


def version_remarks(project: Project, comparison: state.Comparison) -> list[str]:
    """Return how the runs' text and dictionaries differ from each other and from the current."""
    used = {choice.job.id: choice.job for choice in comparison.chosen if choice.job}.values()
    remarks = []
    texts, labels = {job.text_key for job in used}, {job.labels_key for job in used}
    if len(texts) > 1:
        remarks.append("These runs learned from different texts.")
    elif texts and texts != {project.text_key()}:
        remarks.append("The text has changed since this run.")
    versions = sorted({job.dictionary_version for job in used})
    if len(versions) > 1:
        listed = " and ".join(f"v{version}" for version in versions)
        remarks.append(f"These runs learned from different dictionaries ({listed}).")
    elif len(labels) > 1 and len(texts) == 1:
        remarks.append("These runs used different matching.")
    now = project.dictionary_version()
    has_dictionary = any(choice.key == state.DICTIONARY for choice in comparison.chosen)
    if has_dictionary and versions not in ([], [now]):
        remarks.append(f"Dictionary uses the current dictionaries (v{now}).")
    for name, count in comparison.pool.dropped.items():
        remarks.append(
            f"{count:,} entities of {name} lie outside the current text and are left out."
        )
    return remarks


def command_line(project: Project, chosen: Sequence[state.ComparedSet]) -> str:
    """Return the command that trains and compares the same methods with the run's settings."""
    job = next((choice.job for choice in chosen if choice.job), None)
    if job is None:
        return command_of(project.id, TrainRequest())
    request = stored_request(job)
    assert isinstance(request, TrainRequest)
    methods = dict.fromkeys(c.method for c in chosen if c.job and c.job.id == job.id)
    return command_of(project.id, replace(request, methods=tuple(methods)))
