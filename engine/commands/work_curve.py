"""Curve jobs: growing shares of the dictionaries become points, stored as they come."""

from collections.abc import Hashable
from dataclasses import asdict

from engine.commands.work_pace import Pace
from engine.commands.work_setup import (
    Work,
    context_folder,
    keep_project_context,
    read_and_label,
)
from engine.curve import Cell, CurvePlan, Point, coverage_curve
from engine.device import choose_device
from engine.job_plan import epochs_of, side_by_side
from engine.job_requests import CurveRequest, settings_of
from engine.job_results import curve_cells, curve_points
from engine.progress import Progress
from engine.text import InputError
from engine.training_data import tokens_of


def curve_job(work: Work, request: CurveRequest) -> bool:
    """Train the cells that have no point yet; False when stopped on the way."""
    labeled = read_and_label(work)
    settings, device = settings_of(request), choose_device().type
    if not keep_project_context(work, tokens_of(labeled.corpus.documents), settings):
        return False
    gold = work.project.gold(labeled.corpus)
    workers = side_by_side(len(request.methods) * len(request.seeds), device)
    listener = _Listener(work, request, len(labeled.labels.types), workers)
    coverage_curve(
        labeled.corpus.documents,
        labeled.dictionaries,
        CurvePlan(
            listener.fractions, request.methods, request.seeds, settings,
            work.report.job.match_preset,
        ),
        work.report.job.folder,
        gold=gold.entities if gold else None,
        cache=context_folder(work.project),
        workers=workers,
        on_progress=listener.hear,
        on_points=listener.store,
        on_cell=listener.cell,
        should_stop=work.should_stop,
    )  # fmt: skip
    if work.should_stop():
        return False
    cells = curve_cells(work.project, work.report.job.id)
    if (cells["state"] == "failed").all():
        raise InputError(str(cells["message"].iloc[0]))
    return True


class _Listener:
    """Writes down cells, points and how far the curve is."""

    def __init__(self, work: Work, request: CurveRequest, types: int, workers: int) -> None:
        self._work, settings = work, settings_of(request)
        all_cells = [
            (fraction, method, seed)
            for fraction in sorted(request.fractions)
            for method in request.methods
            for seed in request.seeds
        ]
        plan: dict[Hashable, dict[str, int]] = {
            cell: epochs_of(cell[1], settings, types) for cell in all_cells
        }
        self._pace = Pace(plan, workers)
        points = curve_points(work.project, work.report.job.id)
        known = set(points[["fraction", "method", "seed"]].itertuples(index=False, name=None))
        waiting = [cell for cell in all_cells if cell not in known]
        for cell in known & set(all_cells):
            self._pace.finish(cell)
        # A share of which a cell is missing is gone through again; finished runs stay.
        self.fractions = sorted({fraction for fraction, _, _ in waiting})
        self._fraction = self.fractions[0] if self.fractions else 0
        work.report.cells(
            [asdict(Cell(*cell, "queued" if cell in waiting else "done")) for cell in all_cells]
        )

    def cell(self, cell: Cell) -> None:
        self._fraction = cell.fraction
        if cell.state != "running":
            self._pace.finish((cell.fraction, cell.method, cell.seed))
        self._work.report.cells([asdict(cell)])
        self._say(cell.method)

    def hear(self, progress: Progress) -> None:
        cell = (self._fraction, progress.method, progress.seed)
        self._pace.hear(cell, progress.stage, progress.epoch.number, progress.epoch.seconds)
        self._say(progress.method)
        self._work.on_progress(progress)

    def store(self, points: list[Point]) -> None:
        self._work.report.points([asdict(point) for point in points])

    def _say(self, method: str) -> None:
        self._work.report.progress(
            stage=f"{self._fraction} % of the dictionary",
            method=method,
            share=0.99 * self._pace.share,
            seconds_left=self._pace.seconds_left,
        )
