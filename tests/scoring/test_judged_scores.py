"""Precision, recall and F1 from a judged sample: unbiased, and inside their intervals."""

import numpy as np
import pytest

from engine.scoring import (
    PASSAGE,
    Answer,
    answers_from_gold,
    evaluate_documents,
    judged_scores,
    make_units,
    shuffled,
    to_judge,
)
from engine.text import Entity, make_tokenized_document


class World:
    """A text with true names, predictions that miss and invent some, and a confidence."""

    def __init__(self, seed=0, sentences=300):
        random = np.random.default_rng(seed)
        lengths = random.integers(5, 60, sentences)
        document = make_tokenized_document("d", [["word"] * n for n in lengths])
        gold, predicted, confidence = [], [], []
        for sentence in document.sentences:
            starts, ends = sentence.token_bounds()
            doubt = random.uniform(0, 0.08, len(sentence))
            i = 0
            while i < len(sentence) - 3:
                fate = random.random()
                last = i + int(random.integers(0, 3))
                if fate < 0.08:
                    name = (starts[i], ends[last], random.choice(["A", "B"]))
                    gold.append(Entity(*name))
                    if fate < 0.055:
                        predicted.append(Entity(*name, score=random.beta(9, 1)))
                    elif fate < 0.065:  # the last word only, or another type
                        score = random.beta(5, 2)
                        predicted.append(Entity(starts[last], ends[last], "A", score=score))
                    else:
                        doubt[i : last + 1] += random.uniform(0, 0.6)
                elif fate < 0.1:
                    score = random.beta(4, 2)
                    predicted.append(Entity(starts[i], ends[last], "A", score=score))
                i = last + 2
            confidence.append(doubt)
        self.documents = [document]
        self.gold, self.predicted = {"d": tuple(gold)}, {"d": tuple(predicted)}
        self.units = make_units(self.documents, self.predicted, np.concatenate(confidence))
        self.answers = answers_from_gold(self.units, self.documents, self.gold)
        self.truth = evaluate_documents(self.documents, self.gold, self.predicted).overall

    def judged(self, units, size=100):
        answers = {}
        while len(answers) < size and (places := to_judge(units, answers)):
            answers |= {place: self.answers[place] for place in places}
        return answers


@pytest.fixture(scope="module")
def world():
    return World()


def test_every_true_name_belongs_to_one_unit(world):
    answers = world.answers
    assert set(answers) == set(world.units.places)
    assert sum(answer.is_right for answer in answers.values()) == world.truth.correct
    assert sum(answer.names for answer in answers.values()) == world.truth.support
    assert world.units.entity_count == world.truth.predicted


def test_units_of_a_small_text():
    document = make_tokenized_document("d", [["Postural", "hypotension", "and", "gout", "."]])
    marks = {"d": (Entity(9, 20, "Disease", score=0.9),)}
    gold = {"d": (Entity(0, 20, "Disease"), Entity(25, 29, "Disease"))}
    units = make_units([document], marks)
    assert answers_from_gold(units, [document], gold) == {
        ("d", 9, 20, "Disease"): Answer(False, 1),  # other words: it touches the first name
        ("d", 0, 31, PASSAGE): Answer(False, 1),  # nothing touches gout
    }


def test_the_estimate_is_unbiased_and_its_interval_holds_the_truth(world):
    truth = (world.truth.precision, world.truth.recall, world.truth.f1)
    draws = []
    for seed in range(80):
        units = shuffled(world.units, seed)
        scores = judged_scores(units, world.judged(units))
        assert scores is not None and scores.judged == 100
        draws.append([scores.precision, scores.recall, scores.f1])
    for true, shares in zip(truth, zip(*draws, strict=True), strict=True):
        values = np.array([share.value for share in shares])
        assert abs(values.mean() - true) < 3 * values.std() / np.sqrt(len(values)) + 0.003
        assert np.mean([share.low <= true <= share.high for share in shares]) >= 0.9
    assert np.mean([f1.half_width for _, _, f1 in draws]) < 0.1


def test_more_answers_narrow_the_interval(world):
    few, many = (judged_scores(world.units, world.judged(world.units, n)) for n in (50, 300))
    assert many.f1.half_width < 0.7 * few.f1.half_width


def test_when_everything_is_judged_the_scores_are_exact(world):
    scores = judged_scores(world.units, world.answers)
    for share, true in (
        (scores.precision, world.truth.precision),
        (scores.recall, world.truth.recall),
        (scores.f1, world.truth.f1),
    ):
        assert share.low == share.high == share.value == pytest.approx(true)
    assert to_judge(world.units, world.answers) == ()


def test_a_round_must_be_complete(world):
    assert judged_scores(world.units, {}) is None
    places = to_judge(world.units, {})
    some = {place: world.answers[place] for place in places[:-1]}
    assert judged_scores(world.units, some) is None
    assert to_judge(world.units, some) == places[-1:]
    assert judged_scores(world.units, {place: world.answers[place] for place in places})


def test_every_stratum_is_asked_and_unsure_is_replaced(world):
    places = to_judge(world.units, {})
    asked = [
        {world.units.places[u] for u in stratum.units} & set(places)
        for stratum in world.units.strata
    ]
    assert all(asked) and sum(map(len, asked)) == len(places)
    unsure = places[0]
    instead = set(to_judge(world.units, {unsure: None})) - set(places)
    (stratum,) = [
        own for own in world.units.strata if world.units.places.index(unsure) in own.units
    ]
    assert instead <= {world.units.places[u] for u in stratum.units}
    assert unsure not in instead and len(instead) == 1


def test_a_tagger_that_is_too_sure_is_asked_about_what_it_is_sure_of():
    """Of 450 entities, 400 have a score of 1: they are asked about like others, not once."""
    sentences = [["Gout", "hurts"]] * 450
    document = make_tokenized_document("d", sentences)
    bounds = (sentence.token_bounds() for sentence in document.sentences)
    marks = tuple(
        Entity(starts[0], ends[0], "A", score=1.0 if i < 400 else 0.5)
        for i, (starts, ends) in enumerate(bounds)
    )
    units = make_units([document], {"d": marks})
    sure = {("d", mark.start, mark.end, "A") for mark in marks[:400]}
    assert len(sure & set(to_judge(units, {}))) >= 10  # of 25; 5 if scores are believed


def test_answers_move_the_questions_to_where_they_differ(world):
    """If all entities are right and passages differ, the second round asks about passages."""

    def passages(answers):
        return sum(place[3] == PASSAGE for place in to_judge(world.units, answers))

    first = to_judge(world.units, {})
    all_right = {
        place: Answer(False, i % 4) if place[3] == PASSAGE else Answer(True, 1)
        for i, place in enumerate(first)
    }
    no_misses = {
        place: Answer(False, 0) if place[3] == PASSAGE else Answer(i % 2 == 0, 1)
        for i, place in enumerate(first)
    }
    assert passages(all_right) > passages(no_misses)


@pytest.mark.parametrize("predicted", [{}, {"d": ()}], ids=["none", "empty"])
def test_a_run_that_found_nothing_has_no_precision(predicted):
    document = make_tokenized_document("d", [["Gout", "is", "painful"]])
    units = make_units([document], predicted)
    (place,) = to_judge(units, {})
    scores = judged_scores(units, {place: Answer(False, 1)})
    assert np.isnan(scores.precision.value) and scores.recall.value == scores.f1.value == 0


def test_no_text_gives_nothing_to_judge():
    units = make_units([], {})
    assert to_judge(units, {}) == () and judged_scores(units, {}) is None
