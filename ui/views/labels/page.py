"""The page Distant labels: what the dictionaries match, how much of the text, how correctly."""

import shlex

import pandas as pd
import streamlit as st

from engine.export import DICTIONARY, ExportChoice, project_card
from engine.formats import Aligned
from engine.labels import measure_coverage
from engine.projects import Project
from engine.text import InputError
from ui.parts import elements, health, variants, wording
from ui.parts.download import with_card
from ui.state import corpus
from ui.state import labels as state
from ui.views.labels import coverage as labels_coverage
from ui.views.labels import missing as labels_missing
from ui.views.labels import noisy as labels_noisy
from ui.views.labels import precision as labels_precision
from ui.views.labels import text as labels_text

TABS = (
    "Text", "Coverage", "Missing names", "Conflicts", "Precision", "Noisy phrases", "Variants",
)  # fmt: skip


def show(project: Project) -> None:
    """Draw the page."""
    elements.page_header(
        "Distant labels",
        "See what your dictionaries match in your text, how much of it they cover, and how often "
        "they are right, before you train on it.",
        elements.project_chips(project),
    )
    if not is_ready(project):
        return
    show_preset(project)
    gold = read_gold(project)
    if not has_matches(project):
        return
    show_figures(project, gold)
    show_never(project)
    health.show_line(project, "labels")
    text, coverage, missing, conflicts, precision, noisy, variant = st.tabs(
        TABS, key=state.TAB, on_change="rerun"
    )
    # Only the open tab is drawn, so the others cost nothing until they are opened.
    if coverage.open:
        with coverage:
            labels_coverage.show_coverage(project)
    elif missing.open:
        with missing:
            labels_missing.show(project)
    elif conflicts.open:
        with conflicts:
            labels_coverage.show_conflicts(project)
    elif precision.open:
        with precision:
            labels_precision.show(project, gold)
    elif noisy.open:
        with noisy:
            labels_noisy.show(project, gold)
    elif variant.open:
        with variant:
            variants.show(project)
    else:
        with text:
            labels_text.show(project, gold)
    show_foot(project, gold)


# ---- before the figures ---------------------------------------------------------------------


def is_ready(project: Project) -> bool:
    """Return whether there are text and dictionaries; if not, say what is missing."""
    if not project.text_key():
        elements.empty_state(
            "No text yet. Add the documents to look up your dictionaries in.",
            "Add text",
            "text",
        )
        return False
    if not any(dictionary.phrases for dictionary in state.dictionaries(project)):
        elements.empty_state(
            "No dictionaries yet. A dictionary can be a .txt file named after its type, such as "
            "Disease.txt, with one phrase per line.",
            "Add dictionaries",
            "dictionaries",
        )
        return False
    return True


def show_preset(project: Project) -> None:
    """Draw the choice of the matching preset; it is stored and applies to all figures."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="labels_matching"):
        preset = st.segmented_control(
            "Matching",
            list(wording.MATCH_PRESETS),
            required=True,
            format_func=str.capitalize,
            key=state.preset_key(project),
            on_change=state.store_preset,
            args=(project,),
        )
        st.caption(wording.MATCH_PRESETS[str(preset)])


def read_gold(project: Project) -> Aligned | None:
    """Return the gold; if it cannot be read, say so and continue without it."""
    try:
        return corpus.gold(project)
    except InputError as error:
        elements.show_input_error(error)
        return None


def has_matches(project: Project) -> bool:
    """Return whether there are matches, or muted phrases to unmute; if not, say what to try."""
    coverage = state.coverage(project)
    if coverage.matches or state.muted(project):
        return True
    looser = {"strict": "adaptive", "adaptive": "balanced", "balanced": "loose"}.get(
        project.match_preset()
    )
    advice = f"Try {looser} matching, or check" if looser else "Check"
    elements.empty_state(
        f"No phrase matches this text (0 of {coverage.phrases:,} phrases in "
        f"{coverage.sentences:,} sentences). {advice} that both are in the same language.",
        "See the dictionaries",
        "dictionaries",
    )
    return False


# ---- figures --------------------------------------------------------------------------------


def show_figures(project: Project, gold: Aligned | None) -> None:
    """Draw the six figures, each with the count behind it."""
    coverage = state.coverage(project)
    st.html("<style>.st-key-labels_figures { row-gap: 1rem; }</style>")
    # All six side by side at 1440 px; on narrower screens, in rows with a gap.
    with st.container(horizontal=True, gap="xxsmall", key="labels_figures"):
        elements.figure(
            "Token coverage",
            elements.percent(coverage.token_share),
            f"{coverage.labeled_tokens:,} of {coverage.tokens:,} tokens",
            "Coverage is not recall: it says how much was labeled, not how much should have been.",
        )
        elements.figure(
            "Sentences matched",
            elements.percent(coverage.sentence_share),
            f"{coverage.matched_sentences:,} of {coverage.sentences:,} sentences",
            "The other sentences have no phrase of the dictionaries.",
        )
        elements.figure(
            "Phrases used",
            elements.percent(coverage.phrase_share),
            f"{coverage.used_phrases:,} of {coverage.phrases:,} phrases",
            "The other phrases of the dictionaries are not in this text.",
        )
        elements.figure(
            "Conflicts",
            elements.count(coverage.conflicts),
            "lost to another type",
            "If two types match the same words, one wins. The tab Conflicts shows by which rule.",
        )
        show_precision(project, gold)


def show_never(project: Project) -> None:
    """Say where phrases match that are never an entity, and which patterns took too long."""
    labels = state.labels(project)
    elements.warnings(labels.notes)
    if labels.never is not None:
        never = measure_coverage(labels.never)
        places = elements.plural(never.matches, "place")
        st.caption(
            f"Never an entity: {never.used_phrases:,} of {never.phrases:,} phrases in {places}. "
            "They are not labeled, and training knows that they are no entities."
        )


def show_precision(project: Project, gold: Aligned | None) -> None:
    """Draw precision and recall: against gold, from a judged sample, or unknown."""
    if gold is not None:
        scores = state.scores(project, gold)
        against = f"Against gold in {len(gold.entities):,} documents"
        elements.figure(
            "Precision",
            elements.percent(scores.precision),
            f"{scores.correct:,} of {scores.predicted:,} matches",
            f"{against}; a match counts only with the same words and the same type.",
        )
        elements.figure(
            "Recall",
            elements.percent(scores.recall),
            f"{scores.correct:,} of {scores.support:,} in gold",
            f"{against}; the share of its entities that the dictionaries match.",
        )
        return
    judged = state.checked(project).overall
    if pd.isna(judged["precision"]):
        elements.figure(
            "Precision",
            elements.percent(None),
            "not known yet",
            "Precision needs gold labels, or a sample that you judge in the tab Precision.",
        )
    else:
        elements.figure(
            "Precision (estimate)",
            elements.percent(judged["precision"]),
            f"{interval(judged)}, {judged['checked']:,} checked",
            "From the matches that you judged, with its 95 % interval.",
        )
    elements.figure(
        "Recall",
        elements.percent(None),
        "unknown without gold",
        "Recall needs gold labels: a sample of matches says nothing about what was missed.",
    )


def interval(judged: pd.Series) -> str:
    """Return the interval of a checked precision, in percent."""
    return f"[{100 * judged['low']:.0f}–{100 * judged['high']:.0f}]"


# ---- below the tabs -------------------------------------------------------------------------


def show_foot(project: Project, gold: Aligned | None) -> None:
    """Draw the download, the next step, the equivalent command, and notes."""
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        with_card(
            "Download entities (CSV)",
            lambda: state.entities_csv(project),
            f"entities-dictionary-{project.match_preset()}.csv",
            key="download_entities",
            facts=lambda: project_card(
                project, ExportChoice(DICTIONARY), None, state.labeled_text(project)
            ),
        )
        elements.next_step("Train", "train")
    elements.command(command_line(project))
    dictionary_notes = (
        f"{d.name}: {note}" for d in state.dictionaries(project) for note in d.notes
    )
    gold_notes = (f"Gold: {note}" for note in (gold.notes if gold else ()))
    elements.notes([*corpus.read_corpus(project).notes, *dictionary_notes, *gold_notes])


def command_line(project: Project) -> str:
    """Return the command that makes the same labels; the project brings its own preset."""
    words = ["glossa", "label", "--project", project.id]
    return shlex.join([*words, "--out", "entities.csv"])
