"""Curve jobs: train on growing shares of the dictionaries and store the points as they come."""

from collections.abc import Hashable
from dataclasses import asdict

from engine.jobs import CurveRequest, curve_cells, curve_points, settings_of, side_by_side
from engine.jobs.worker.pace import Pace
from engine.jobs.worker.setup import ActiveJob, context_folder, keep_project_context, read_and_label
from engine.learning import Progress, tokens_of
from engine.network import choose_device
from engine.planning import METHODS
from engine.runs import Cell, CurvePlan, Point, coverage_curve
from engine.text import InputError


def curve_job(active: ActiveJob, request: CurveRequest) -> bool:
    """Train the cells that have no point yet; return False when stopped on the way."""
    text = read_and_label(active)
    settings, device = settings_of(request), choose_device().type
    if not keep_project_context(active, tokens_of(text.corpus.documents), settings):
        return False
    gold = active.project.gold(text.corpus)
    workers = side_by_side(len(request.methods) * len(request.seeds), device)
    listener = _Listener(active, request, len(text.labels.types), workers)
    coverage_curve(
        text.corpus.documents,
        text.dictionaries,
        CurvePlan(
            listener.fractions, request.methods, request.seeds, settings,
            active.report.job.match_preset,
        ),
        active.report.job.folder,
        gold=gold.entities if gold else None,
        cache=context_folder(active.project),
        workers=workers,
        on_progress=listener.hear,
        on_points=listener.store,
        on_cell=listener.cell,
        should_stop=active.should_stop,
    )  # fmt: skip
    if active.should_stop():
        return False
    cells = curve_cells(active.project, active.report.job.id)
    if (cells["state"] == "failed").all():
        raise InputError(str(cells["message"].iloc[0]))
    return True


class _Listener:
    """Stores cells, points and how far the curve is."""

    def __init__(self, active: ActiveJob, request: CurveRequest, types: int, workers: int) -> None:
        self._active, settings = active, settings_of(request)
        all_cells = [
            (fraction, method, seed)
            for fraction in sorted(request.fractions)
            for method in request.methods
            for seed in request.seeds
        ]
        plan: dict[Hashable, dict[str, int]] = {
            cell: METHODS[cell[1]].epochs(settings, types) for cell in all_cells
        }
        self._pace = Pace(plan, workers)
        points = curve_points(active.project, active.report.job.id)
        known = set(points[["fraction", "method", "seed"]].itertuples(index=False, name=None))
        waiting = [cell for cell in all_cells if cell not in known]
        for cell in known & set(all_cells):
            self._pace.finish(cell)
        # A share with a missing cell is done again; its finished runs are kept.
        self.fractions = sorted({fraction for fraction, _, _ in waiting})
        self._fraction = self.fractions[0] if self.fractions else 0
        active.report.cells(
            [asdict(Cell(*cell, "queued" if cell in waiting else "done")) for cell in all_cells]
        )

    def cell(self, cell: Cell) -> None:
        self._fraction = cell.fraction
        if cell.state != "running":
            self._pace.finish((cell.fraction, cell.method, cell.seed))
        self._active.report.cells([asdict(cell)])
        self._say(cell.method)

    def hear(self, progress: Progress) -> None:
        cell = (self._fraction, progress.method, progress.seed)
        self._pace.hear(cell, progress.stage, progress.epoch.number, progress.epoch.seconds)
        self._say(progress.method)
        self._active.on_progress(progress)

    def store(self, points: list[Point]) -> None:
        self._active.report.points([asdict(point) for point in points])

    def _say(self, method: str) -> None:
        self._active.report.progress(
            stage=f"{self._fraction} % of the dictionary",
            method=method,
            share=0.99 * self._pace.share,
            seconds_left=self._pace.seconds_left,
        )
