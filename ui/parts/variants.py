"""What the text decided about letter case and abbreviations, and the labels that come of it.

The tab Variants of the page Distant labels draws it, and so does the Train page.
"""

import pandas as pd
import streamlit as st

from engine.dictionaries import PhraseRow, list_phrases
from engine.labels import ABBREVIATION, LETTER_CASE, Abbreviation, Adaptation
from engine.projects import Project
from ui.parts import elements
from ui.state import current
from ui.state import labels as state

MOST_ROWS = 500
MOST_TYPES = 3  # in the summary
SMALL = 200_000  # tokens; up to this size, trying adaptive matching is fast
IGNORED, MORE_CAPITALS = "ignored", "more capitals match"
BY_DICTIONARY = "as set for its dictionary"


def summary(project: Project) -> str:
    """Return in one line what adaptive matching does, or would do, to the labels."""
    adaptation = state.labels(project).adaptation
    if adaptation is not None:
        return _summary_of(adaptation, state.added(project))
    preset = f"Matching is {project.match_preset()}."
    if state.coverage(project).tokens > SMALL:
        return f"{preset} See what adaptive matching would change."
    advice = state.advice(project)
    return preset if advice is None else f"{preset} {_effect(advice)}."


def show(project: Project) -> None:
    """Draw the decision per type, the labels that it adds, and the abbreviations."""
    adaptation = state.labels(project).adaptation
    if adaptation is None:
        show_advice(project)
        return
    show_added(project, adaptation)
    show_abbreviations(project, adaptation.abbreviations)


# ---- letter case ----------------------------------------------------------------------------


def show_added(project: Project, adaptation: Adaptation) -> None:
    """Draw the decision per type, and the labels that exact letter case would not give."""
    added = state.added(project)
    total = int(added["matches"].sum())
    st.subheader(f"Adaptive matching adds {elements.plural(total, 'label')}", anchor=False)
    counts = {
        "By letter case": _by_type(added[added["reason"] == LETTER_CASE]),
        "By abbreviation": _by_type(added[added["reason"] == ABBREVIATION]),
    }
    show_cases(project, adaptation, counts)
    if not added.empty:
        columns = {
            "text": "Text",
            "entity_type": "Type",
            "matches": "Labels",
            "reason": "Reason",
            "phrase": "Phrase",
            "documents": "Documents",
        }
        show_first(added, columns, "table_added")


def show_cases(project: Project, adaptation: Adaptation, counts: dict[str, pd.Series]) -> None:
    """Draw which letter case matches for each type, why, and how many labels that changes."""
    rows = [
        (case.entity_type, IGNORED if case.is_free else MORE_CAPITALS, case.reason)
        for case in adaptation.cases
    ]
    decided = {name for name, _, _ in rows}
    rows += [(n, BY_DICTIONARY, "") for n in state.labels(project).types if n not in decided]
    table = pd.DataFrame(rows, columns=["entity_type", "letter_case", "reason"])
    for name, by_type in counts.items():
        table[name] = table["entity_type"].map(by_type).fillna(0).astype(int)
    elements.show_table(
        table,
        {
            "entity_type": "Type",
            "letter_case": st.column_config.TextColumn(
                "Letter case",
                help="Ignored: any letter case matches. More capitals: the phrase as it is "
                "written, or with more capitals.",
            ),
            **{name: name for name in counts},
            "reason": "Why",
        },
        "table_cases",
    )
    st.caption("Short acronyms match only as written: AIDS is not aids.")


def show_first(table: pd.DataFrame, columns: dict[str, str], key: str) -> None:
    """Draw the first rows of a table, and say so if there are more."""
    elements.show_table(table.head(MOST_ROWS), columns, key)
    if len(table) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(table):,}.")


# ---- another preset -------------------------------------------------------------------------


def show_advice(project: Project) -> None:
    """Draw what adaptive matching would change, and the button that switches to it."""
    advice = state.advice(project)
    if advice is None:
        st.info("Each dictionary has its own matching. Change it on the page Dictionaries.")
        return
    preset = project.match_preset()
    st.subheader(_effect(advice), anchor=False)
    st.caption(
        f"Matching is {preset}. With adaptive matching, the text decides per type which letter "
        "case matches, and abbreviations that it defines are labeled "
        f"({len(advice.adaptation.abbreviations):,} found)."
    )
    if st.button("Switch to adaptive matching", key="variants_switch", icon=":material/tune:"):
        project.set_match_preset("adaptive")
        current.say(
            f"Matching {preset} → adaptive. All figures are updated. To undo it, choose {preset} "
            "on the page Distant labels.",
            "info",
        )
        st.rerun()
    changed = advice.changed
    counts = {
        "Labels added": _by_type(changed[changed["change"] == "added"]),
        "Labels removed": _by_type(changed[changed["change"] == "removed"]),
    }
    show_cases(project, advice.adaptation, counts)
    if not changed.empty:
        columns = {
            "text": "Text",
            "entity_type": "Type",
            "matches": "Labels",
            "change": "Change",
            "phrase": "Phrase",
        }
        show_first(changed, columns, "table_changed")


# ---- abbreviations --------------------------------------------------------------------------


def show_abbreviations(project: Project, abbreviations: tuple[Abbreviation, ...]) -> None:
    """Draw the abbreviations, where some can be selected and muted, or unmuted."""
    st.subheader("Abbreviations", anchor=False)
    if not abbreviations:
        st.caption("The text defines no abbreviation of a phrase.")
        return
    st.caption(
        "A short form is labeled in the document that defines it. Select rows to mute them, or to "
        "label muted ones again. This holds for every document."
    )
    table = pd.DataFrame(abbreviations[:MOST_ROWS])
    table["state"] = table["is_muted"].map({True: "muted", False: "labeled"})
    rows = elements.show_table(
        table,
        {
            "short": "Short form",
            "state": "State",
            "long": st.column_config.TextColumn("Long form", width="medium"),
            "entity_type": "Type",
            "matches": "Places",
            "document": "Document",
            "dictionary": "Dictionary",
        },
        f"table_abbreviations_{project.labels_key()}",  # new labels start without a selection
        on_select="rerun",
        selection_mode="multi-row",
    )["selection"]["rows"]
    if len(abbreviations) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(abbreviations):,}.")
    chosen = [abbreviations[row] for row in rows if row < len(table)]
    used = [a for a in chosen if not a.is_muted]
    muted = [a for a in chosen if a.is_muted]
    with st.container(horizontal=True):
        if st.button("Mute", key="variants_mute", icon=":material/volume_off:", disabled=not used):
            state.mute_short_forms(
                project, [PhraseRow(a.dictionary, a.short, a.entity_type) for a in used]
            )
            _say("Muted", used)
        if st.button("Unmute", key="variants_unmute", disabled=not muted):
            state.unmute(project, [(a.short, a.entity_type) for a in muted])
            _say("Unmuted", muted)


def _say(done: str, abbreviations: list[Abbreviation]) -> None:
    names = list_phrases(a.short for a in abbreviations)
    current.say(f"{done} {names}. All figures are updated.", "info")
    st.rerun()


# ---- counts ---------------------------------------------------------------------------------


def _by_type(table: pd.DataFrame) -> pd.Series:
    return table.groupby("entity_type")["matches"].sum()


def _summary_of(adaptation: Adaptation, added: pd.DataFrame) -> str:
    by_case = _by_type(added[added["reason"] == LETTER_CASE])
    cases = sorted(adaptation.cases, key=lambda case: -by_case.get(case.entity_type, 0))
    parts = [
        f"{case.entity_type}: {'letter case is ignored' if case.is_free else MORE_CAPITALS}, "
        f"{_labels(by_case.get(case.entity_type, 0))} added"
        for case in cases[:MOST_TYPES]
    ]
    if len(cases) > MOST_TYPES:
        parts.append(elements.plural(len(cases) - MOST_TYPES, "more type"))
    return "; ".join([*parts, _abbreviations(adaptation, added)]) + "."


def _abbreviations(adaptation: Adaptation, added: pd.DataFrame) -> str:
    listed = adaptation.abbreviations
    if not listed:
        return "no abbreviations"
    total = added.loc[added["reason"] == ABBREVIATION, "matches"].sum()
    muted = sum(a.is_muted for a in listed)
    parts = [elements.plural(len(listed), "abbreviation"), f"{_labels(total)} added"]
    return ", ".join([*parts, f"{muted:,} muted"] if muted else parts)


def _effect(advice: state.Advice) -> str:
    """Return what adaptive matching would change, as the beginning of a sentence."""
    changed = advice.changed
    totals = [
        (verb, int(changed.loc[changed["change"] == change, "matches"].sum()))
        for change, verb in (("added", "add"), ("removed", "remove"))
    ]
    effects = [f"{verb} {_labels(total)}" for verb, total in totals if total]
    return f"Adaptive matching would {' and '.join(effects) or 'change no label'}"


def _labels(number: float) -> str:
    return elements.plural(int(number), "label")
