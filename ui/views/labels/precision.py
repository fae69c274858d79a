"""The tab Precision: scores against gold, and a sample of matches to judge by hand."""

import pandas as pd
import streamlit as st

from engine.formats import Aligned
from engine.projects import Project
from engine.scoring import Scores
from ui.charts import labels as charts
from ui.charts.palette import type_colors
from ui.charts.style import CONFIG
from ui.parts import elements
from ui.parts.highlight import Line, Mark, highlight_lines
from ui.state import corpus
from ui.state import labels as state
from ui.state.figures import kept_figure

ERRORS = {
    "boundary": "The right type, but more or fewer words than in the gold",
    "type": "Words that have another type in the gold",
    "spurious": "Words that are not an entity in the gold",
    "missed": "Entities in the gold that no phrase matches",
}
SAMPLE_SIZE, MORE = 50, 50
SIZE = "check_size"  # a choice that the project remembers


def show(project: Project, gold: Aligned | None) -> None:
    """Draw the scores if there is gold, and the sample to judge."""
    if gold is not None:
        show_scores(project, gold)
        with st.expander("Check a sample by hand as well", key="check_expander"):
            show_checker(project)
        return
    st.caption(
        "Without gold, precision is unknown. Judge a random sample of matches to estimate it, with "
        "a margin of error. Every judgement is saved at once."
    )
    show_checker(project)


# ---- with gold ------------------------------------------------------------------------------


def show_scores(project: Project, gold: Aligned) -> None:
    """Draw precision, recall and F1 per type, and the kinds of errors."""
    evaluation = state.evaluation(project, gold)
    st.caption("A match is correct only if the gold has the same words with the same type.")
    rows = (*evaluation.by_type.items(), ("All types", evaluation.overall))
    scores = pd.DataFrame(score_row(*row) for row in rows)
    columns = {
        name: st.column_config.NumberColumn(name, format="%.1f") if "%" in name else name
        for name in map(str, scores)
    }
    elements.show_table(scores, columns, "table_scores")
    if not any(evaluation.errors.values()):
        return
    st.subheader("Errors", anchor=False)
    figure = kept_figure(charts.errors_figure, evaluation.errors_by_type)
    st.plotly_chart(figure, key="chart_errors", config=CONFIG)
    table = pd.DataFrame(
        {"kind": charts.ERROR_NAMES[kind], "is": ERRORS[kind], "times": n}
        for kind, n in evaluation.errors.items()
    )
    elements.show_table(
        table, {"kind": "Error", "is": "What it is", "times": "Times"}, "table_errors"
    )


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


# ---- by hand --------------------------------------------------------------------------------


def show_checker(project: Project) -> None:
    """Draw the match to judge, the progress, and the estimate so far."""
    if state.matches(project).empty:
        st.info("There are no matches to judge.")
        return
    size = int(project.choice(SIZE, SAMPLE_SIZE))
    sample, judged = state.sample(project, size), state.checked(project)
    is_open = [place not in judged.judgements for place in places(sample)]
    done = len(sample) - sum(is_open)
    st.progress(done / len(sample), progress_text(done, len(sample), judged.overall))
    match = next_match(sample, is_open)
    if match is not None:
        show_match(project, match)
        show_verdicts(project, match)
    else:
        show_end(project, size, len(state.matches(project)))
    show_estimate(judged)


def places(sample: pd.DataFrame) -> list[state.Place]:
    """Return the place of each match of the sample."""
    columns = ("document", "start", "end", "entity_type")
    return list(zip(*(sample[name].tolist() for name in columns), strict=True))


def next_match(sample: pd.DataFrame, is_open: list[bool]) -> pd.Series | None:
    """Return the match to judge: the one just undone, or the first that is not judged."""
    again = state.to_judge_again()
    for row, place in enumerate(places(sample)):
        if place == again and is_open[row]:
            return sample.iloc[row]
    return sample.iloc[is_open.index(True)] if any(is_open) else None


def progress_text(done: int, total: int, overall: pd.Series) -> str:
    """Return how many matches are judged, and the estimate so far.

    >>> progress_text(0, 50, pd.Series({"precision": None}))
    '0 of 50'
    """
    if pd.isna(overall["precision"]):
        return f"{done:,} of {total:,}"
    low, mid, high = (100 * overall[name] for name in ("low", "precision", "high"))
    return f"{done:,} of {total:,}, so far {mid:.0f} % right [{low:.0f}–{high:.0f}]"


def show_match(project: Project, match: pd.Series) -> None:
    """Draw the sentence with the match marked in it."""
    i = int(match["sentence"])
    sentence = corpus.sentences(project)[i]
    start = int(match["start"]) - sentence.start
    mark = Mark(start, start + len(match["text"]), match["entity_type"])
    line = Line(i + 1, sentence.document_id, sentence.text, [mark])
    colors = type_colors(state.labels(project).types)
    with st.container(border=True, key="check_card"):
        st.markdown(f"Is the marked text here of type **{plain_type(match)}**?")
        st.html(highlight_lines([line], colors))
        st.caption(elements.plain(f"Phrase “{match['phrase']}” of {match['dictionary']}"))


def plain_type(match: pd.Series) -> str:
    """Return the match's type, safe in markdown."""
    return elements.plain(str(match["entity_type"]))


def show_verdicts(project: Project, match: pd.Series) -> None:
    """Draw the buttons; a click is stored before anything else is drawn."""
    buttons = (
        ("Correct", "accepted", "Y", "check"),
        ("Wrong", "rejected", "N", "close"),
        ("Unsure", "unsure", "U", "question_mark"),
    )
    with st.container(horizontal=True):
        for label, verdict, key, icon in buttons:
            st.button(
                label,
                key=f"check_{verdict}",
                shortcut=key,
                icon=f":material/{icon}:",
                on_click=state.judge,
                args=(project, match, verdict),
            )
        show_back(project)


def show_back(project: Project) -> None:
    """Draw the button that undoes the latest judgement."""
    st.button(
        "Back",
        key="check_back",
        shortcut="B",
        icon=":material/undo:",
        type="tertiary",
        disabled=not project.decisions("check"),
        help="Undo the latest judgement and judge that match again.",
        on_click=state.take_back,
        args=(project,),
    )


def show_end(project: Project, size: int, match_count: int) -> None:
    """Say that the sample is judged, and offer more matches."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success("The sample is judged.", icon=":material/check_circle:", width=260)
        if size < match_count and st.button(f"Judge {MORE} more", key="check_more"):
            project.set_choice(SIZE, size + MORE)
            st.rerun()
        show_back(project)


def show_estimate(judged: state.Checked) -> None:
    """Draw precision with its interval per dictionary, and a table per type."""
    if judged.by_dictionary["precision"].isna().all():
        st.caption("After a few judgements, this shows precision by dictionary.")
        return
    st.subheader("Precision from your judgements", anchor=False)
    by_dictionary = with_total(judged.by_dictionary, "dictionary", "All dictionaries")
    figure = kept_figure(charts.precision_figure, by_dictionary, "dictionary")
    st.plotly_chart(figure, key="chart_checked", config=CONFIG)
    by_type = with_total(judged.by_type, "entity_type", "All types")
    for name in ("precision", "low", "high"):
        by_type[name] = 100 * by_type[name].astype(float)
    shares = {"precision": "Precision (%)", "low": "Low (%)", "high": "High (%)"}
    columns = {
        "entity_type": "Type",
        "matches": "Matches",
        "checked": "Judged",
        "correct": "Correct",
        "unsure": "Unsure",
        **{k: st.column_config.NumberColumn(v, format="%.0f") for k, v in shares.items()},
    }
    elements.show_table(by_type, columns, "table_checked")


def with_total(table: pd.DataFrame, by: str, name: str) -> pd.DataFrame:
    """Return a copy with the total row named; a table of one row has no total."""
    names = table[by].tolist()
    return table.assign(**{by: [*names[:-1], name] if len(names) > 1 else names})
