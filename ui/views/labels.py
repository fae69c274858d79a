"""Distant labels: what the dictionaries find in the text, how far it reaches, how right it is."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from engine import InputError, Scores
from engine.alignment import Aligned
from ui import charts, state
from ui.highlight import Line, bullets, highlight_lines, legend, marks, plain_markdown, type_colors

PAGE_SIZE = 25
MOST_CHOICES = 1_000  # phrases offered for muting
ALL, WITH, WITHOUT, CONFLICT = "All", "With a match", "Without a match", "With a conflict"
TABS = ("Text", "Coverage", "Conflicts", "Precision", "Noisy phrases")
ERRORS = {
    "boundary": "The right type, but more or fewer words than in the gold",
    "type": "Words that the gold gives another type",
    "spurious": "Words that are no entity in the gold",
    "missed": "Entities of the gold that nothing matches",
}
_one_decimal = partial(st.column_config.NumberColumn, format="%.1f")


def show(sources: state.Sources) -> None:
    """Draw the page."""
    st.title("Distant labels", anchor=False)
    st.html(
        '<div class="gl-purpose">See what your dictionaries find in your text, how much of it they '
        "reach, and how often they are right, before anything is learned from them.</div>"
    )
    stop_without_files(sources)
    project = state.read_project(sources)
    gold = read_gold(sources, project)
    if gold is None:  # or unreadable: then it has no place in the command either
        sources = replace(sources, gold=state.Files())
    preview = state.make_preview(sources, project, gold)
    stop_without_matches(sources, preview)
    show_figures(preview, gold)
    text, coverage, conflicts, precision, noisy = st.tabs(TABS, key="labels_tab", on_change="rerun")
    with text:
        show_text(project, preview)
    with coverage:
        if coverage.open:  # what is missing takes longer to find than all the rest
            show_coverage(sources, project, preview)
    with conflicts:
        show_conflicts(preview)
    with precision:
        show_precision(sources, preview)
    with noisy:
        show_noisy(sources, preview)
    show_foot(sources, project, preview, gold)


# ---- before the figures ---------------------------------------------------------------------


def stop_without_files(sources: state.Sources) -> None:
    """Say what is missing, and stop, unless there are both text and dictionaries."""
    kinds = (("a text file", sources.text), ("a dictionary", sources.dictionaries))
    missing = [what for what, files in kinds if not files.key]
    if missing:
        st.info(
            f"Add {' and '.join(missing)} in the sidebar. A text can be a plain .txt file; a "
            "dictionary can be a .txt file named after its type, such as Disease.txt, with one "
            "phrase a line."
        )
        st.stop()


def read_gold(sources: state.Sources, project: state.Project) -> Aligned | None:
    """Return the gold; where it cannot be read, say so and go on without it."""
    try:
        return state.read_gold(sources, project)
    except InputError as error:
        show_input_error(error)
        return None


def show_input_error(error: InputError) -> None:
    """Draw the sentence of an error that the person can mend; names in it are not markdown."""
    message = str(error).rstrip()
    end = "" if message.endswith((".", "?", "!")) else "."
    st.error(plain_markdown(message + end))


def stop_without_matches(sources: state.Sources, preview: state.Preview) -> None:
    """Say what to try, and stop, when no phrase is found; muted phrases can be let in again."""
    if preview.coverage.matches or state.muted(sources):
        return
    freer = {"strict": "balanced", "balanced": "loose"}.get(sources.preset)
    advice = f"Try {freer} matching, or check" if freer else "Check"
    st.info(
        f"No phrase is found in this text (0 of {preview.coverage.phrases:,} phrases in "
        f"{preview.coverage.sentences:,} sentences). {advice} that both are in the same language."
    )
    st.stop()


# ---- figures --------------------------------------------------------------------------------


def show_figures(preview: state.Preview, gold: Aligned | None) -> None:
    """Draw the five figures, each with the count behind it."""
    found = preview.coverage
    with st.container(horizontal=True):
        show_figure(
            "Token coverage",
            percent(found.token_share),
            f"{found.labeled_tokens:,} of {found.tokens:,} tokens",
            "Coverage is not recall: it says how much was labeled, not how much should have been.",
        )
        show_figure(
            "Sentences with a match",
            percent(found.sentence_share),
            f"{found.matched_sentences:,} of {found.sentences:,} sentences",
            "The other sentences hold nothing that the dictionaries know.",
        )
        show_figure(
            "Phrases used",
            percent(found.phrase_share),
            f"{found.used_phrases:,} of {found.phrases:,} phrases",
            "The other phrases of the dictionaries are not in this text.",
        )
        show_figure(
            "Conflicts",
            f"{found.conflicts:,}",
            "lost to another type",
            "Where two types claim the same words, one wins; the tab Conflicts says by which rule.",
        )
        scores = preview.evaluation.overall if preview.evaluation else None
        show_figure(
            "Precision",
            percent(scores.precision if scores else None),
            f"recall {percent(scores.recall)}" if scores else "unknown without gold",
            f"Against gold in {len(gold.entities):,} documents; a match counts only with the same "
            "words and the same type."
            if gold
            else "Precision and recall need gold labels, or a sample that a person has checked.",
        )


def show_figure(label: str, value: str, under: str, help: str) -> None:
    """Draw one figure and, under it, a line that explains it."""
    with st.container(width=164, gap=None):
        st.metric(label, value, help=help)
        st.caption(under)


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal, a dash when it is unknown.

    >>> percent(0.0896), percent(None)
    ('9.0 %', '–')
    """
    return "–" if share is None else f"{100 * share:.1f} %"


# ---- text -----------------------------------------------------------------------------------


def show_text(project: state.Project, preview: state.Preview) -> None:
    """Draw the sentences, page by page, with what was found in them."""
    types = preview.labels.types
    kind, chosen, words = show_filters(types)
    colors, counts = type_colors(types), preview.labels.kept["type"].value_counts()
    st.html(legend({name: int(counts.get(i, 0)) for i, name in enumerate(types, 1)}, colors))
    shown = [
        i
        for i in chosen_sentences(preview, kind, chosen)
        if words in project.sentences[i].text.casefold()
    ]
    if not shown:
        st.info("No sentence is like this. Choose other filters.")
        return
    place = st.container()
    pages = -(-len(shown) // PAGE_SIZE)
    # Other filters, another key: the first page again.
    page_key = f"labels_page {kind} {chosen} {words}"
    page = st.pagination(pages, key=page_key) if pages > 1 else 1
    first = PAGE_SIZE * (page - 1)
    here = shown[first : first + PAGE_SIZE]
    remarks = conflict_remarks(preview.conflicts, here)
    lines = []
    for i in here:
        sentence = project.sentences[i]
        spans = [span for span in preview.spans[i] if span.entity_type in chosen]
        found = marks(sentence, spans)
        lines.append(Line(i + 1, sentence.document_id, sentence.text, found, remarks.get(i, ())))
    place.caption(f"Sentences {first + 1:,}–{first + len(here):,} of {len(shown):,}")
    place.html(highlight_lines(lines, colors))


def show_filters(types: Sequence[str]) -> tuple[str, list[str], str]:
    """Draw the filters; return the kind of sentence, the types to look at, and words to find."""
    with st.container(horizontal=True, vertical_alignment="top"):
        kind = st.segmented_control(
            "Sentences",
            [ALL, WITH, WITHOUT, CONFLICT],
            default=ALL,
            required=True,
            key="labels_filter",
        )
        chosen = st.multiselect(
            "Types",
            types,
            key="labels_types",
            placeholder="All types",
            width=240,
        )
        words = st.text_input(
            "Search",
            key="labels_search",
            placeholder="Words in the text",
            width=220,
        )
    return str(kind), chosen or list(types), words.strip().casefold()


def chosen_sentences(preview: state.Preview, kind: str, types: Sequence[str]) -> Iterable[int]:
    """Return the numbers of the sentences to show, in order, looking at these types only."""
    everything = range(preview.coverage.sentences)
    if kind == ALL:
        return everything
    if kind == CONFLICT:
        met = preview.conflicts
        of_types = met["winner_type"].isin(types) | met["loser_type"].isin(types)
        return sorted(set(met.loc[of_types, "sentence"].tolist()))
    kept = preview.labels.kept
    numbers = [preview.labels.types.index(name) + 1 for name in types]
    matched = set(kept.loc[kept["type"].isin(numbers), "sentence"].tolist())
    return [i for i in everything if (i in matched) == (kind == WITH)]


def conflict_remarks(conflicts: pd.DataFrame, sentences: list[int]) -> Mapping[int, list[str]]:
    """Return, for each of these sentences, what lost in it and why."""
    remarks: dict[int, list[str]] = {}
    columns = ["sentence", "loser", "loser_type", "winner", "winner_type", "rule"]
    rows = conflicts.loc[conflicts["sentence"].isin(sentences), columns]
    for i, loser, loser_type, winner, winner_type, rule in rows.to_numpy().tolist():
        remark = f"“{loser}” ({loser_type}) lost to “{winner}” ({winner_type}): {rule}"
        remarks.setdefault(i, []).append(remark)
    return remarks


# ---- the other tabs -------------------------------------------------------------------------


def show_coverage(sources: state.Sources, project: state.Project, preview: state.Preview) -> None:
    """Draw where the labels are, which dictionary they come from, and what may be missing."""
    no_buttons = {"displayModeBar": False}
    st.subheader("Along the corpus", anchor=False)
    st.caption("Share of tokens that are labeled; a gap may be a file about something else.")
    figure = charts.coverage_figure(preview.along)
    st.plotly_chart(figure, key="chart_coverage", config=no_buttons)
    st.subheader("By type and dictionary", anchor=False)
    figure = charts.matches_figure(preview.by_dictionary, type_colors(preview.labels.types))
    st.plotly_chart(figure, key="chart_matches", config=no_buttons)
    st.subheader("Maybe missing from your dictionaries", anchor=False)
    st.caption("Frequent in the text, unlike everyday words, and matched by nothing.")
    columns = {"phrase": "Phrase", "count": "Times", "documents": "Documents", "example": "Example"}
    show_table(state.missing(sources, project), columns, "table_missing")


def show_conflicts(preview: state.Preview) -> None:
    """Draw which phrase won against which, by what rule and how often."""
    if preview.conflicts.empty:
        st.info("No conflicts: nowhere do two types claim the same words.")
        return
    st.caption("Where two types claim the same words, one wins and the other match is dropped.")
    columns = {"winner": "Winner", "winner_type": "Its type", "loser": "Loser"}
    columns |= {"loser_type": "Loser's type", "rule": "Rule"}
    counted = preview.conflicts.groupby(list(columns), sort=False).size().reset_index(name="times")
    counted = counted.sort_values("times", ascending=False, kind="stable")
    show_table(counted, {**columns, "times": "Times"}, "table_conflicts")


def show_precision(sources: state.Sources, preview: state.Preview) -> None:
    """Draw the scores against gold, or how to get precision without it."""
    if preview.evaluation is None:
        st.info(
            "How often these labels are right is unknown. Add gold labels in the sidebar, or judge "
            "a sample of matches: the first command writes it, and the second, once you have put "
            "y, n or u beside each match, prints precision with its margin of error."
        )
        for option in ("--sample", "--checked"):
            st.code(command_line(sources, {option: ("sample.csv",)}), language="bash")
        return
    st.caption("A match is correct only with the same words and the same type as in the gold.")
    by_type, overall = preview.evaluation.by_type, preview.evaluation.overall
    scores = pd.DataFrame(score_row(*item) for item in (*by_type.items(), ("All types", overall)))
    columns = {name: _one_decimal() if "%" in name else name for name in map(str, scores)}
    show_table(scores, columns, "table_scores")
    st.subheader("What goes wrong", anchor=False)
    errors = preview.evaluation.errors.items()
    table = pd.DataFrame({"kind": kind, "is": ERRORS[kind], "times": n} for kind, n in errors)
    show_table(table, {"kind": "Error", "is": "What it is", "times": "Times"}, "table_errors")


def score_row(name: str, scores: Scores) -> dict[str, object]:
    """Return the scores of one type under the table's headings."""
    shares = (scores.precision, scores.recall, scores.f1)
    precision, recall, f1 = (None if share is None else 100 * share for share in shares)
    return {
        "Type": name,
        "Precision (%)": precision,
        "Recall (%)": recall,
        "F1 (%)": f1,
        "Correct": scores.correct,
        "Matches": scores.predicted,
        "In gold": scores.support,
    }


def show_noisy(sources: state.Sources, preview: state.Preview) -> None:
    """Draw the phrases that may match what they do not mean, and let them be muted."""
    noisy, muted = preview.noisy, state.muted(sources)
    st.multiselect(
        "Mute phrases",
        list(dict.fromkeys([*muted, *noisy["phrase"][:MOST_CHOICES]])),
        key=state.muted_key(sources),
        placeholder="Choose phrases that should match nothing",
        help="A muted phrase matches nothing, in any case and under any type. All figures follow.",
    )
    suspect = noisy[(noisy["estimated_false"] >= 1) | (noisy["flags"] != "")]
    if suspect.empty:
        st.info("No phrase stands out as noisy.")
        return
    st.caption(
        "Short and everyday words match what they do not mean. With gold, false matches are "
        "counted; without it, the remarks are all there is to go by."
    )
    columns = {"phrase": "Phrase", "entity_type": "Type", "dictionary": "Dictionary"}
    figures = {"matches": "Matches", "precision": _one_decimal("Precision (%)")}
    figures["estimated_false"] = _one_decimal("False (estimate)")
    table = suspect.assign(precision=100 * suspect["precision"].astype(float))
    show_table(table, {**columns, **figures, "flags": "Remarks"}, "table_noisy")


# ---- below the tabs -------------------------------------------------------------------------


def show_foot(
    sources: state.Sources, project: state.Project, preview: state.Preview, gold: Aligned | None
) -> None:
    """Draw the download, the same thing as a command, and what was decided on reading."""
    st.divider()
    st.download_button(
        "Download entities (CSV)",
        data=lambda: state.entities_csv(project, preview),
        file_name=f"entities-dictionary-{sources.preset}.csv",
        mime="text/csv",
        key="download_entities",
        on_click="ignore",
        icon=":material/download:",
    )
    with st.expander("The same on the command line"):
        command = command_line(sources, {"--out": ("entities.csv",)})
        st.code(command, language="bash", wrap_lines=True)
    notes = [*project.notes, *(f"Gold: {note}" for note in (gold.notes if gold else ()))]
    if notes:
        with st.expander("Notes on the files"):
            st.html(bullets(notes))


def command_line(sources: state.Sources, extra: Mapping[str, tuple[str, ...]]) -> str:
    """Return the command that makes the same labels, with further options."""
    options = {
        "--dictionary": sources.dictionaries.paths,
        "--match": (sources.preset,),
        "--type": (sources.entity_type,) if sources.entity_type else (),
        "--mute": state.muted(sources),
        "--gold": sources.gold.paths,
        **extra,
    }
    lines = [shlex.join(("python", "-m", "engine", "label", *sources.text.paths))]
    lines += [shlex.join((name, *values)) for name, values in options.items() if values]
    lines += ["--lines"] if sources.lines_are_documents else []
    return " \\\n  ".join(lines)


def show_table(table: pd.DataFrame, columns: Mapping[str, Any], key: str) -> None:
    """Draw a table with these columns and headings; an unknown value is a dash."""
    counts = {
        name: st.column_config.NumberColumn(heading, format="localized")
        for name, heading in columns.items()
        if isinstance(heading, str) and pd.api.types.is_integer_dtype(table[name])
    }
    st.dataframe(
        table,
        column_config={**columns, **counts},
        column_order=list(columns),
        hide_index=True,
        placeholder="–",
        key=key,
    )
