"""Estimate precision, recall and F1 from a few judged units, and say which to judge next.

Units are judged in rounds. Within a round, each stratum gives some units, drawn at random from
those it has left, so each stands for as many as were left per drawn one (Horvitz-Thompson). How
many a stratum gives depends on the answers in earlier rounds: more where answers differ and units
are many, because that narrows the interval of F1 most (Neyman's allocation).

Each round alone estimates the counts without bias, whatever the earlier ones said, and the estimate
is their mean. Pooling the answers of all rounds would not do: a stratum whose first answers happen
to be equal would be asked less, and its luck would stay.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from engine.scoring.checking import Place
from engine.scoring.judged_units import MOST_NAMES, Answer, Stratum, Units

ROUND = 25  # units that are judged before the answers decide what comes next
_LEVEL = 0.95
_DRAWS = 1_000
_SPENT = 2.0  # judgements that estimating the spread of a stratum costs
_PRIOR_JUDGEMENTS = 1.0  # what a stratum is taken to have said before it is judged
_WRONG = np.array([0.5, 0.45, 0.05])  # how often a wrong entity touches 0, 1 or 2 names, at first
_WRONG_WEIGHT = 4.0
_SUREST = 0.8  # no entity is taken to be likelier right: taggers are often too sure
_SCORE_WEIGHT = 2.0  # judgements that the score of an entity is worth
_NAMES_PER_EXPECTED = 0.5  # of a passage, at first: the confidence counts words, not names

Answers = Mapping[Place, Answer | None]  # None: the person was unsure
Figures = npt.NDArray[np.float64]
# (answers, 2): right entities and true names of every answer there is
_ENTITY = np.array([(1, 1), *((0, n) for n in range(MOST_NAMES + 1))], dtype=np.float64)
_PASSAGE = np.array([(0, n) for n in range(MOST_NAMES + 1)], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Share:
    """An estimated share and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class JudgedScores:
    """Estimated scores of a run on a text."""

    judged: int  # units that the estimate uses
    precision: Share
    recall: Share
    f1: Share


def to_judge(units: Units, answers: Answers) -> tuple[Place, ...]:
    """Return what is left to judge in this round, mixed; () if everything is judged.

    A unit about which the person is unsure is replaced by another of its stratum.
    """
    places = _play(units, answers).missing
    return tuple(sorted(places, key=lambda place: hashlib.sha256(repr(place).encode()).digest()))


def judged_scores(units: Units, answers: Answers, *, seed: int = 0) -> JudgedScores | None:
    """Return the estimated scores after the complete rounds; None before the first is complete."""
    strata = _play(units, answers).strata
    judged = sum(len(stratum.drawn) for stratum in strata)
    if not judged:
        return None
    predicted = units.entity_count
    totals = np.sum([stratum.estimate() for stratum in strata], axis=0)
    values = _shares(totals, predicted)
    drawn = _shares(_draw_totals(strata, seed), predicted)
    tail = (1 - _LEVEL) / 2
    shares = []
    for value, plausible in zip(values, drawn, strict=True):
        known = plausible[~np.isnan(plausible)]
        if np.isnan(value) or not len(known):
            shares.append(Share(float(value), 0.0, 1.0))
            continue
        low, high = np.quantile(known, [tail, 1 - tail])
        shares.append(Share(float(value), float(min(low, value)), float(max(high, value))))
    return JudgedScores(judged, *shares)


# ---- rounds ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _StratumTally:
    """What has been drawn from a stratum in complete rounds."""

    stratum: Stratum
    size: int  # units, without those about which the person was unsure
    values: Figures  # (answers, 2): right entities and true names of each answer there is
    drawn: list[int] = field(default_factory=list)  # which answer each drawn unit got
    rounds: list[tuple[int, int]] = field(default_factory=list)  # first of `drawn`, and weight
    expected: Figures = field(default_factory=lambda: np.zeros(0))  # chances before any answer

    @property
    def left(self) -> int:
        return self.size - len(self.drawn)

    def counts(self) -> Figures:
        return np.bincount(self.drawn, minlength=len(self.values)).astype(np.float64)

    def chances(self) -> Figures:
        """Return how likely each answer is, to plan the next round."""
        counts = self.counts() + _PRIOR_JUDGEMENTS * self.expected
        return np.asarray(counts / counts.sum())

    def means(self) -> tuple[Figures, float]:
        """Return the mean over rounds of each answer's share, and how many answers it is worth."""
        ends = [first for first, _ in self.rounds[1:]] + [len(self.drawn)]
        total = sum(weight for _, weight in self.rounds)
        shares, variance = np.zeros(len(self.values)), 0.0
        for (first, weight), end in zip(self.rounds, ends, strict=True):
            share = weight / total
            own = np.bincount(self.drawn[first:end], minlength=len(self.values))
            shares += share * own / (end - first)
            variance += share**2 / (end - first)
        return shares, 1 / variance

    def estimate(self) -> Figures:
        """Return the estimated right entities and true names."""
        known = self.counts() @ self.values
        if not self.left:
            return np.asarray(known)
        ends = [first for first, _ in self.rounds[1:]] + [len(self.drawn)]
        total = sum(weight for _, weight in self.rounds)
        result = np.zeros(2)
        for (first, weight), end in zip(self.rounds, ends, strict=True):
            before = self.values[self.drawn[:first]].sum(axis=0)
            mean = self.values[self.drawn[first:end]].mean(axis=0)
            result += weight / total * (before + (self.size - first) * mean)
        return result


@dataclass(frozen=True, slots=True)
class _Played:
    """The complete rounds, and what is missing in the current one."""

    strata: list[_StratumTally]
    missing: list[Place]


def _play(units: Units, answers: Answers) -> _Played:
    """Go through the rounds as they were drawn: the same answers always give the same rounds."""
    tallies, queues = [], []
    unsure = {place for place, answer in answers.items() if answer is None}
    for stratum in units.strata:
        queue = [u for u in stratum.units.tolist() if units.places[u] not in unsure]
        values = _PASSAGE if stratum.is_passage else _ENTITY
        tallies.append(_StratumTally(stratum, len(queue), values))
        queues.append(queue)
    while True:
        _expect(tallies)
        plan = _allocate(tallies, units.entity_count)
        drawn = [
            [units.places[u] for u in queue[len(tally.drawn) :][:count]]
            for tally, queue, count in zip(tallies, queues, plan, strict=True)
        ]
        missing = [place for places in drawn for place in places if place not in answers]
        if missing or not any(drawn):
            return _Played(tallies, missing)
        weight = sum(map(len, drawn))
        for tally, places in zip(tallies, drawn, strict=True):
            if places:
                tally.rounds.append((len(tally.drawn), weight))
                tally.drawn += [_number(answers[place], tally.stratum) for place in places]


def _number(answer: Answer | None, stratum: Stratum) -> int:
    """The row of an answer in the values of its stratum."""
    assert answer is not None
    if stratum.is_passage:
        return answer.names
    return 0 if answer.is_right else 1 + answer.names


def _expect(tallies: list[_StratumTally]) -> None:
    """Set what to expect of each stratum: its score, corrected by what all strata have said."""
    entities = np.zeros(len(_ENTITY))
    names, said = 1.0, 1 / _NAMES_PER_EXPECTED
    for tally in tallies:
        if tally.stratum.is_passage:
            names += sum(tally.drawn)
            said += len(tally.drawn) * tally.stratum.expected
        else:
            entities += tally.counts()
    wrong = entities[1:].copy()
    wrong[: len(_WRONG)] += _WRONG_WEIGHT * _WRONG
    for tally in tallies:
        if tally.stratum.is_passage:
            tally.expected = _poisson(tally.stratum.expected * names / said)
        else:
            right = entities[0] + _SCORE_WEIGHT * tally.stratum.expected
            share = min(right / (entities.sum() + _SCORE_WEIGHT), _SUREST)
            tally.expected = np.array([share, *((1 - share) * wrong / wrong.sum())])


def _poisson(mean: float) -> Figures:
    """How likely 0, 1, … MOST_NAMES names are if they come independently."""
    chances = np.cumprod([1.0, *(mean / n for n in range(1, MOST_NAMES + 1))])
    return np.asarray(chances / chances.sum())


def _allocate(tallies: list[_StratumTally], predicted: int) -> list[int]:
    """Return how many units each stratum gives to the next round, at least one while it has any."""
    spreads = _spreads(tallies, predicted)
    plan = [min(tally.left, 1) for tally in tallies]
    while sum(plan) < ROUND:
        gains = [
            spread**2 / (given * (given + 1)) if given < tally.left else -1.0
            for spread, given, tally in zip(spreads, plan, tallies, strict=True)
        ]
        if not gains or max(gains) < 0:
            break
        plan[gains.index(max(gains))] += 1
    return plan


def _spreads(tallies: list[_StratumTally], predicted: int) -> list[float]:
    """How much of the standard error of F1 comes from each stratum.

    F1 = 2 right / (predicted + names); its derivative weighs the two counts.
    """
    chances = [tally.chances() for tally in tallies]
    totals = [t.size * (chance @ t.values) for t, chance in zip(tallies, chances, strict=True)]
    right, names = np.sum(totals, axis=0) if totals else (0.0, 0.0)
    total = max(predicted + names, 1.0)
    f1 = 2 * right / total
    spreads = []
    for tally, chance in zip(tallies, chances, strict=True):
        effect = (2 * tally.values[:, 0] - f1 * tally.values[:, 1]) / total
        variance = chance @ effect**2 - (chance @ effect) ** 2
        spreads.append(tally.left * float(np.sqrt(max(variance, 0.0))))
    return spreads


# ---- intervals ------------------------------------------------------------------------------


def _draw_totals(strata: list[_StratumTally], seed: int) -> Figures:
    """(2, draws) right entities and true names that are plausible given the answers.

    What is judged is known; for the rest, the shares of the answers are drawn from a Dirichlet
    distribution, then the answers themselves.
    """
    random = np.random.default_rng(seed)
    totals = np.zeros((2, _DRAWS))
    for tally in strata:
        totals += (tally.counts() @ tally.values)[:, None]
        if tally.left:
            shares, worth = tally.means()
            # A few equal answers look more certain than they are.
            worth = max(worth - _SPENT, worth / 2)
            weights = worth * shares + _PRIOR_JUDGEMENTS * tally.expected
            drawn = random.gamma(weights, size=(_DRAWS, len(weights)))
            chances = drawn / drawn.sum(axis=1, keepdims=True)
            totals += (random.multinomial(tally.left, chances) @ tally.values).T
    return totals


def _shares(totals: Figures, predicted: int) -> list[Figures]:
    """Precision, recall and F1 of right entities and true names; NaN without anything to count."""
    right, names = totals
    with np.errstate(invalid="ignore", divide="ignore"):
        return [right / np.float64(predicted), right / names, 2 * right / (predicted + names)]
