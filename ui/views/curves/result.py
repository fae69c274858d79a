"""One curve: its progress, charts and data; points appear as soon as they are trained."""

from typing import Any

import pandas as pd
import streamlit as st

from engine import jobs
from engine.export import curve_card
from engine.jobs import Job
from engine.projects import Project
from engine.text import InputError
from ui.charts import curves as charts_curves
from ui.charts.curves import MEASURES
from ui.charts.style import CONFIG
from ui.parts import elements, live, wording
from ui.parts.download import with_card
from ui.parts.permission import show_permission
from ui.state.figures import kept_figure
from ui.views.curves import cells as curve_cells
from ui.views.curves import state as state
from ui.views.curves.report import curve_report

SCORES = ("F1", "Precision", "Recall")
COUNTS = ("Entities", "Coverage")
NO_GOLD = "No gold: these are counts and coverage, not accuracy."


def show(project: Project, job: Job) -> None:
    """Draw the curve; while it trains, add new points every two seconds."""
    show_versions(project, job)

    def latest() -> Job | None:
        """Return the curve as it is now; None if it was deleted in another tab."""
        return next((each for each in state.curves(project) if each.id == job.id), None)

    def draw() -> None:
        if (now := latest()) is None:
            return
        show_progress(project, now)
        points = state.points(project, now)
        if len(points):
            show_figures(points, now)
        elif now.is_active:
            elements.empty_state("The first points appear when the smallest share is trained.")
        show_cells(project, now)

    def is_over() -> bool:
        now = latest()
        return job.is_active and not (now and now.is_active)

    live.redraw("2s" if job.is_active else None, draw, is_over)
    points = state.points(project, job)
    if len(points):
        show_data(project, job, points)


def curve_name(job: Job) -> str:
    """Return a name that tells the curve from others and stays the same while it trains."""
    request = job.request
    methods = ", ".join(wording.method_name(name) for name in request["methods"])
    seeds = elements.plural(len(request["seeds"]), "seed")
    return f"{job.created_at:%-d %b %Y, %H:%M} ({request['preset']}, {methods}, {seeds})"


# ---- progress -------------------------------------------------------------------------------


def show_versions(project: Project, job: Job) -> None:
    """Say so if the text, dictionaries or matching have changed since the curve was trained."""
    if job.labels_key != project.labels_key():
        st.caption(
            f"Trained with dictionaries v{job.dictionary_version}. The text, dictionaries or "
            "matching have changed since."
        )


def show_progress(project: Project, job: Job) -> None:
    """Draw the state of the job, with its actions."""
    if job.is_active:
        st.progress(min(max(job.share, 0.0), 1.0), elements.plain(progress_text(job)))
        st.caption("You can leave this page or close the browser. Training continues.")
    elif job.state != "done":
        end = wording.JOB_STATES[job.state].capitalize()
        why = f" {elements.sentence(job.message)}" if job.message else ""
        st.warning(
            f"{elements.plain(f'{end}.{why}')} Finished points are kept.",
            icon=":material/warning:",
        )
    show_actions(project, job)


def progress_text(job: Job) -> str:
    """Return what the job does now, and the time left."""
    stage = "waiting" if job.state == "queued" else job.stage
    # While it trains, the stage is a share: "40 % of the dictionary".
    doing = wording.JOB_STAGES.get(stage, f"Training, {stage}")
    left = f", {elements.duration(job.seconds_left)} left" if job.seconds_left else ""
    return f"{'Stopping' if job.state == 'stopping' else doing}{left}"


def show_actions(project: Project, job: Job) -> None:
    """Draw Cancel while the job runs, and Resume after it was stopped."""
    with st.container(horizontal=True):
        if job.is_active:
            st.button(
                "Cancel",
                key=f"curves_cancel_{job.id}",
                disabled=job.state == "stopping",
                on_click=act,
                args=(jobs.cancel, project, job),
                help="Stops within seconds. Finished points are kept, and Resume trains the rest.",
            )
        if job.can_resume and show_permission(
            lambda: jobs.names_to_ask(project, job),
            lambda: jobs.allow_names(project, job),
            f"curves_trust_{job.id}",
        ):
            st.button(
                "Resume",
                key=f"curves_resume_{job.id}",
                type="primary",
                icon=":material/play_arrow:",
                on_click=act,
                args=(jobs.resume, project, job),
                help="Trains only the points that are not done.",
            )


def act(action: Any, project: Project, job: Job) -> None:
    """Do a button's action; if it fails, the page header shows why."""
    try:
        action(project, job.id)
    except InputError as error:
        state.say(str(error))


# ---- charts ---------------------------------------------------------------------------------


def show_figures(points: pd.DataFrame, job: Job) -> None:
    """Draw the chosen curve, and two charts that explain it."""
    has_scores = bool(points["f1"].notna().any())
    if not has_scores:
        st.info(NO_GOLD, icon=":material/info:")
    offered = (*SCORES, *COUNTS) if has_scores else COUNTS
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = st.segmented_control(
            "Show",
            offered,
            default=offered[0],
            required=True,
            key=f"curves_measure_{len(offered)}",
        )
        picture = st.segmented_control(
            "Image format",
            ["PNG", "SVG"],
            default="PNG",
            required=True,
            key="curves_picture",
            help="The camera button of each chart saves it in this format.",
        )
    names, shares = wording.METHOD_NAMES, job.request["fractions"]
    figure = kept_figure(
        charts_curves.curve_figure, points, MEASURES[str(measure)], names, shares=shares
    )
    config = camera(f"curve-{str(measure).lower()}-{job.id}", str(picture))
    st.plotly_chart(figure, key="chart_curve", config=config)
    seeds = len(job.request["seeds"])
    if seeds > 1:
        st.caption(f"Lines are means over {seeds} seeds; bands go from the lowest to the highest.")
    # Side by side if there is room, otherwise one above the other.
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=480):
            st.subheader("Coverage by share", anchor=False)
            figure = kept_figure(charts_curves.coverage_figure, points, shares)
            config = camera(f"curve-coverage-{job.id}", str(picture))
            st.plotly_chart(figure, key="chart_share", config=config)
        if not has_scores:
            return
        with st.container(width=480):
            st.subheader("F1 by coverage", anchor=False)
            figure = kept_figure(
                charts_curves.curve_figure, points, MEASURES["F1"], names, by_coverage=True
            )
            config = camera(f"curve-f1-by-coverage-{job.id}", str(picture))
            st.plotly_chart(figure, key="chart_by_coverage", config=config)


def camera(name: str, form: str) -> dict[str, Any]:
    """Return plotly's options for one button on the chart, which saves it under this name."""
    return {
        **CONFIG,
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {
            "format": form.lower(),
            "filename": name,
            "scale": 3 if form == "PNG" else 1,
        },
    }


def show_cells(project: Project, job: Job) -> None:
    """Draw the state of each point."""
    cells = state.cells(project, job)
    if cells.empty:
        return
    done = int((cells["state"] == "done").sum())
    st.subheader("Points", anchor=False)
    st.caption(f"{done:,} of {len(cells):,} trained.")
    st.html(curve_cells.STYLE)
    st.html(curve_cells.cells_html(cells, wording.METHOD_NAMES))
    failed = cells[cells["state"] == "failed"]
    for message in dict.fromkeys(failed["message"].tolist()):
        st.error(
            elements.plain(elements.sentence(message or "A point failed")), icon=":material/error:"
        )


# ---- data -----------------------------------------------------------------------------------


def show_data(project: Project, job: Job, points: pd.DataFrame) -> None:
    """Draw the points as a table, and the downloads."""
    with st.expander("Data", key="curves_data"):
        shares = {"precision": "Precision (%)", "recall": "Recall (%)", "f1": "F1 (%)"}
        shares["token_coverage"] = "Labeled tokens (%)"
        table = points.assign(
            method=[wording.method_name(name) for name in points["method"]],
            **{name: 100 * points[name].astype(float) for name in shares},
        )
        columns: dict[str, Any] = {"fraction": "Share (%)", "method": "Method", "seed": "Seed"}
        for name, heading in shares.items():
            columns[name] = st.column_config.NumberColumn(heading, format="%.1f")
        columns |= {"n_terms": "Phrases", "n_entities": "Entities"}
        columns["seconds"] = st.column_config.NumberColumn("Training (s)", format="%.0f")
        elements.show_table(table, columns, "table_points")
    with st.container(horizontal=True):
        with_card(
            "Download data (CSV)",
            lambda: state.points(project, job).to_csv(index=False).encode(),
            f"curve-{job.id}.csv",
            key="download_curve_csv",
            facts=lambda: curve_card(project, job, "the points of a coverage curve"),
        )
        with_card(
            "Download report (HTML)",
            lambda: report(project, job),
            f"curve-{job.id}.html",
            key="download_curve_html",
            facts=lambda: curve_card(project, job, "a report on a coverage curve"),
            about="All charts and data in one file that opens in any browser, even offline.",
        )
    st.caption("To save one chart as an image, point at it and press the camera in its corner.")


def report(project: Project, job: Job) -> bytes:
    """Return the curve as an HTML file."""
    title = f"Coverage curve of {project.name}, {curve_name(job)}"
    return curve_report(state.points(project, job), wording.METHOD_NAMES, title).encode()
