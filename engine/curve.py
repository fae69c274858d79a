"""Growing shares of a dictionary become a curve: what each method makes of 20, 40 … 100 %."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.comparison import Task, train_all
from engine.coverage import Coverage, measure_coverage
from engine.dictionary import Dictionary, first_share
from engine.distant import DistantLabels, dictionary_entities, label
from engine.experiment import OnProgress, make_training_data, predict_documents
from engine.metrics import evaluate_documents
from engine.priors import estimate_priors
from engine.runs import load_run
from engine.settings import Settings
from engine.text import Document, Entity

EntitiesByDocument = Mapping[str, tuple[Entity, ...]]


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


def coverage_curve(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    plan: CurvePlan,
    folder: Path,
    *,
    gold: EntitiesByDocument | None = None,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    on_points: Callable[[list[Point]], None] | None = None,
) -> list[Point]:
    """Return a point for each share, method and seed, and one for dictionary matching alone.

    Shares are nested: 40 % begins with the phrases of 20 %. Cells that `folder` holds already are
    not trained again. `on_points` gets the points of a share as soon as they are there.
    """
    points: list[Point] = []
    for fraction in sorted(plan.fractions):
        share = [first_share(dictionary, fraction) for dictionary in dictionaries]
        labels = label(documents, share, plan.match)
        tasks = _tasks(documents, share, plan, labels, folder / f"{fraction}")
        train_all(tasks, workers, on_progress=on_progress)
        scorer = _Scorer(documents, gold, measure_coverage(labels), fraction)
        matched = dictionary_entities(labels, documents)
        found = [scorer.point("dictionary", 0, matched, "", 0.0)]
        for task in tasks:
            trained = load_run(task.folder)
            entities = predict_documents(trained, documents, task.folder.name)
            seconds = sum(epoch.seconds for epoch in trained.history)
            settings = task.settings
            found.append(
                scorer.point(settings.method, settings.seed, entities, task.folder.name, seconds)
            )
        points += found
        if on_points:
            on_points(found)
    return points


def _tasks(
    documents: Sequence[Document],
    share: list[Dictionary],
    plan: CurvePlan,
    labels: DistantLabels,
    folder: Path,
) -> list[Task]:
    data = make_training_data(documents, share, labels, plan.match)
    priors = estimate_priors(data.sentences, data.labels, data.types).values
    return [
        Task(
            folder / f"{method}-seed{seed}",
            replace(data, cache=folder.parent / "cache"),
            priors,
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

    def point(
        self, method: str, seed: int, entities: EntitiesByDocument, run_id: str, seconds: float
    ) -> Point:
        scores = (
            evaluate_documents(self.documents, self.gold, entities).overall if self.gold else None
        )
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
