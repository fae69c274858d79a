"""Compare: what each method finds in the same text, how right it is, and where they differ."""

import shlex
from collections.abc import Mapping, Sequence

import streamlit as st

from engine import InputError, jobs
from engine.alignment import Aligned
from engine.jobs import Job
from engine.project import Project
from ui import parts
from ui.state import comparison as state
from ui.state import corpus, findings
from ui.views import (
    compare_agreement,
    compare_certainty,
    compare_counts,
    compare_lanes,
    compare_runs,
    compare_scores,
)

TABS = ("Overview", "Agreement", "Sentences", "Types", "Certainty", "Two runs")
NO_GOLD = "No gold: these are counts and agreement, not accuracy."


def show(project: Project) -> None:
    """Draw the page."""
    parts.page_header(
        "Compare",
        "See what each method finds in the same text, how right it is, and where they differ.",
        parts.project_chips(project),
    )
    runs = findings.runs(project)
    if not is_ready(project, runs):
        return
    gold = read_gold(project)
    chosen, has_gold = show_choice(project, runs, gold)
    if not chosen:
        st.info("Choose at least one method to look at.", icon=":material/info:")
        return
    found = state.compare(project, chosen, gold if has_gold else None)
    show_remarks(project, found, gold)
    show_tabs(project, found, runs, gold)
    st.divider()
    parts.next_step("Review", "review")
    parts.command(command_line(project, chosen))


def show_tabs(
    project: Project, found: state.Comparison, runs: Sequence[Job], gold: Aligned | None
) -> None:
    """Draw the open tab; what the others show is computed when it is looked at."""
    overview, agreement, sentences, types, certainty, two = st.tabs(
        TABS, key="compare_tab", on_change="rerun"
    )
    if agreement.open:
        with agreement:
            compare_agreement.show(found)
    elif sentences.open:
        with sentences:
            compare_lanes.show(project, found)
    elif types.open:
        with types:
            compare_agreement.show_types(found)
    elif certainty.open:
        with certainty:
            compare_certainty.show(found)
    elif two.open:
        with two:
            compare_runs.show(project, runs, gold)
    else:
        with overview:
            if found.gold:
                compare_scores.show(project, found)
            else:
                compare_counts.show(project, found)


# ---- before the tabs ------------------------------------------------------------------------


def is_ready(project: Project, runs: Sequence[Job]) -> bool:
    """Say what is missing unless there is a run to look at."""
    if runs:
        return True
    active = jobs.active_job(project)
    if active is not None and active.kind == "train":
        parts.empty_state(
            "A training is under way. What its methods find will stand here side by side as soon "
            "as the first of them is done.",
            "Watch the training",
            "train",
        )
    else:
        parts.empty_state(
            "Nothing is trained yet. What MPN, MPU and Conf-MPU find will stand here side by side, "
            "with the dictionaries and with gold where there is some.",
            "Train",
            "train",
        )
    return False


def read_gold(project: Project) -> Aligned | None:
    """Return the gold; where it cannot be read, say so and go on without it."""
    try:
        return corpus.gold(project)
    except InputError as error:
        parts.show_input_error(error)
        return None


def show_choice(
    project: Project, runs: Sequence[Job], gold: Aligned | None
) -> tuple[list[state.Choice], bool]:
    """Draw the choice of runs and methods; return the sets to compare, and whether gold is in."""
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
        )
        wanted = st.pills(
            "Side by side",
            offered,
            selection_mode="multi",
            default=offered,
            wrap=True,
            format_func=lambda method: parts.METHOD_NAMES.get(str(method), str(method)),
            key=f"compare_methods_{'_'.join(offered)}",
            persist_state="session",
        )
    chosen = state.choices(chosen_runs, list(wanted))
    left_out = len(state.every_choice(chosen_runs, list(wanted))) - len(chosen)
    if left_out:
        st.warning(
            f"Only {len(chosen)} can stand side by side; {left_out} more are left out. Choose "
            "fewer runs or fewer methods to see them.",
            icon=":material/warning:",
        )
    show_runs(chosen, names)
    return chosen, state.GOLD in wanted


def show_runs(chosen: Sequence[state.Choice], names: Mapping[str, str]) -> None:
    """Say which runs are looked at, by the numbers that their methods have where there are more."""
    numbers = state.run_numbers(chosen)
    if len(numbers) == 1:
        (id,) = numbers
        st.caption(parts.plain(f"Run of {names[id]}"))
    elif numbers:
        listed = ", ".join(f"{number}: {names[id]}" for id, number in numbers.items())
        st.caption(parts.plain(f"Runs {listed}"))


def show_remarks(project: Project, found: state.Comparison, gold: Aligned | None) -> None:
    """Say what a reader of the figures has to know: no gold, gold for a part, other versions."""
    if found.gold is None:
        st.info(
            NO_GOLD if gold is None else f"{NO_GOLD} Gold is there, but not chosen.",
            icon=":material/info:",
        )
    remarks = [*gold_remarks(project, found), *version_remarks(project, found)]
    if remarks:
        st.warning(parts.plain(" ".join(remarks)), icon=":material/warning:")


def gold_remarks(project: Project, found: state.Comparison) -> list[str]:
    """Return that gold is there for some documents only, if so."""
    documents, annotated = len(found.pool.document_ids), len(found.annotated)
    if found.gold is None or annotated >= documents:
        return []
    return [
        f"Gold is there for {annotated:,} of {documents:,} documents: scores count those only, "
        "agreement and counts of entities count all."
    ]


def version_remarks(project: Project, found: state.Comparison) -> list[str]:
    """Return how the runs' text and dictionaries differ from each other and from today's."""
    used = {choice.job.id: choice.job for choice in found.chosen if choice.job}.values()
    remarks = []
    texts, labels = {job.text_key for job in used}, {job.labels_key for job in used}
    if len(texts) > 1:
        remarks.append("These runs learned from different texts.")
    elif texts and texts != {project.text_key()}:
        remarks.append("The text was changed after this run.")
    versions = sorted({job.dictionary_version for job in used})
    if len(versions) > 1:
        listed = " and ".join(f"v{version}" for version in versions)
        remarks.append(f"These runs learned from different dictionaries ({listed}).")
    elif len(labels) > 1 and len(texts) == 1:
        remarks.append("These runs matched phrases in different ways.")
    now = project.dictionary_version()
    if state.DICTIONARY in {choice.key for choice in found.chosen} and versions not in ([], [now]):
        remarks.append(f"The dictionaries beside them are those of today (v{now}).")
    for name, count in found.pool.dropped.items():
        remarks.append(f"{count:,} entities of {name} lie outside today's text and are left out.")
    return remarks


def command_line(project: Project, chosen: Sequence[state.Choice]) -> str:
    """Return the command that trains and compares the same methods, with the run's own choices."""
    job = next((choice.job for choice in chosen if choice.job), None)
    words = ["python", "-m", "engine", "train", "--project", project.id]
    if job is not None:
        methods = dict.fromkeys(c.method for c in chosen if c.job and c.job.id == job.id)
        words += ["--methods", ",".join(methods), "--preset", job.request["preset"]]
        if job.request["settings"]:
            words += ["--set", *(f"{k}={v}" for k, v in job.request["settings"].items())]
    return shlex.join(words)
