"""Train each method on growing shares of a dictionary (20, 40 … 100 %) and score the results."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.dictionaries import Dictionary, first_share
from engine.experiment import predict, prepare, score
from engine.labels import Coverage, DistantLabels, dictionary_entities, label, measure_coverage
from engine.learning import OnProgress, Progress
from engine.run_folder import run_name
from engine.runs.comparison import Task, features_folder, is_trained, train_all
from engine.runs.saved import load_run
from engine.settings import Settings
from engine.text import Document, EntitiesByDocument, InputError


@dataclass(frozen=True, slots=True)
class Point:
    """One method on one share of the dictionary; scores are None without gold."""

    fraction: int  # percent
    seed: int
    method: str
    precision: float | None
    recall: float | None
    f1: float | None
    token_coverage: float
    n_terms: int
    n_entities: int
    run_id: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CurvePlan:
    """Which cells a curve has, and how they are labeled and trained."""

    fractions: Sequence[int]
    methods: Sequence[str]
    seeds: Sequence[int]
    settings: Settings
    match: str


@dataclass(frozen=True, slots=True)
class Cell:
    """How far one method is on one share of the dictionary."""

    fraction: int
    method: str
    seed: int
    state: str  # running, done or failed
    message: str = ""  # why it failed


def coverage_curve(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    plan: CurvePlan,
    folder: Path,
    *,
    gold: EntitiesByDocument | None = None,
    cache: Path | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    on_points: Callable[[list[Point]], None] | None = None,
    on_cell: Callable[[Cell], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    train_elsewhere: Callable[[list[Task]], None] | None = None,
) -> list[Point]:
    """Return a point for each share, method and seed, and one for dictionary matching alone.

    Shares are nested: 40 % begins with the phrases of 20 %. Contextual features are computed once
    and kept in `cache`, or in `folder`. Cells that `folder` holds already are not trained again.
    `on_points` gets the points of a share as soon as it is done. With `on_cell`, cells that cannot
    be trained are reported as failed and the others go on; without it, their error is raised. When
    stopped, the points of finished shares are returned. `train_elsewhere` may train the cells of
    all shares first, on other machines; what it leaves is trained here.
    """
    points: list[Point] = []
    cache = cache or features_folder(folder)
    if train_elsewhere:
        train_elsewhere(
            [
                task
                for fraction in sorted(plan.fractions)
                for task in _tasks_of_share(documents, dictionaries, plan, fraction, folder, cache)
            ]
        )
    for fraction in sorted(plan.fractions):
        share = [first_share(dictionary, fraction) for dictionary in dictionaries]
        labels = label(documents, share, plan.match)
        cells = _Cells(fraction, plan, on_cell)
        try:
            tasks = _tasks(documents, share, plan, labels, folder / f"{fraction}", cache)
        except InputError as error:
            cells.fail(error)
            tasks = []
        try:
            train_all(
                tasks, workers, on_progress=cells.watching(on_progress), should_stop=should_stop
            )
        except InputError as error:
            trained = [task for task in tasks if is_trained(task)]
            cells.fail(error, but={(t.settings.method, t.settings.seed) for t in trained})
            tasks = trained
        if should_stop and should_stop():
            break
        scorer = _Scorer(documents, gold, measure_coverage(labels), fraction)
        matched = dictionary_entities(labels, documents)
        of_share = [scorer.point("dictionary", 0, matched, "", 0.0)]
        of_share += [scorer.point_of(task) for task in tasks]
        points += of_share
        if on_points:
            on_points(of_share)
        for task in tasks:
            cells.report(task.settings.method, task.settings.seed, "done")
    return points


@dataclass(frozen=True, slots=True)
class _Cells:
    """Reports the cells of one share to `on_cell`."""

    fraction: int
    plan: CurvePlan
    on_cell: Callable[[Cell], None] | None

    def report(self, method: str, seed: int, state: str, message: str = "") -> None:
        if self.on_cell:
            self.on_cell(Cell(self.fraction, method, seed, state, message))

    def watching(self, on_progress: OnProgress | None) -> OnProgress | None:
        """Report a cell as running at its first epoch, and pass the epochs on."""
        if self.on_cell is None:
            return on_progress
        begun: set[tuple[str, int]] = set()

        def heard(progress: Progress) -> None:
            if (progress.method, progress.seed) not in begun:
                begun.add((progress.method, progress.seed))
                self.report(progress.method, progress.seed, "running")
            if on_progress:
                on_progress(progress)

        return heard

    def fail(self, error: InputError, but: Container[tuple[str, int]] = ()) -> None:
        if self.on_cell is None:
            raise error
        for method in self.plan.methods:
            for seed in self.plan.seeds:
                if (method, seed) not in but:
                    self.report(method, seed, "failed", str(error))


def _tasks_of_share(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    plan: CurvePlan,
    fraction: int,
    folder: Path,
    cache: Path,
) -> list[Task]:
    """Return the cells of one share; none if it cannot be trained, which is said in its turn."""
    share = [first_share(dictionary, fraction) for dictionary in dictionaries]
    labels = label(documents, share, plan.match)
    try:
        return _tasks(documents, share, plan, labels, folder / f"{fraction}", cache)
    except InputError:
        return []


def _tasks(
    documents: Sequence[Document],
    share: list[Dictionary],
    plan: CurvePlan,
    labels: DistantLabels,
    folder: Path,
    cache: Path,
) -> list[Task]:
    # All seeds of a share have the same priors.
    shared = replace(plan.settings, seed=0)
    prepared = prepare(
        documents, share, match=plan.match, settings=shared, labels=labels, cache=cache
    )
    return [
        Task(
            folder / run_name(method, seed),
            prepared.data,
            prepared.priors.values,
            replace(plan.settings, method=method, seed=seed),
            tuple(share),
        )
        for method in plan.methods
        for seed in plan.seeds
    ]


@dataclass(frozen=True, slots=True)
class _Scorer:
    documents: Sequence[Document]
    gold: EntitiesByDocument | None
    coverage: Coverage
    fraction: int

    def point_of(self, task: Task) -> Point:
        trained, settings = load_run(task.folder), task.settings
        entities = predict(trained, self.documents, task.folder.name, cache=task.data.cache)
        seconds = sum(epoch.seconds for epoch in trained.history)
        return self.point(settings.method, settings.seed, entities, task.folder.name, seconds)

    def point(
        self, method: str, seed: int, entities: EntitiesByDocument, run_id: str, seconds: float
    ) -> Point:
        scores = score(self.documents, self.gold, entities).overall if self.gold else None
        return Point(
            self.fraction,
            seed,
            method,
            scores.precision if scores else None,
            scores.recall if scores else None,
            scores.f1 if scores else None,
            self.coverage.token_share,
            self.coverage.phrases,
            sum(map(len, entities.values())),
            run_id,
            seconds,
        )
