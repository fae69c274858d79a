import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import dictionary_entities, label
from engine.scoring import metrics
from engine.scoring.metrics import (
    ERRORS,
    NONE,
    Scores,
    compare_entities,
    count_errors,
    evaluate,
    evaluate_documents,
    evaluate_spans,
    gold_spans,
    overall,
)
from engine.text.model import Entity, Span
from engine.text.tokenization import make_tokenized_document
from tests.support.corpora import PLAIN_TYPES, aligned_offsets, corpora

ODD_NAMES = ("non-drug", "B-LOC", "Cell line", "5", "10", "O", "疾病", "a_b", "-", "I-")


def spans(*triples):
    return [Span(*triple) for triple in triples]


# ---- by hand --------------------------------------------------------------------------------


def test_evaluate_matches_hand_computation():
    gold = [spans((0, 2, "Disease"), (4, 5, "Chemical")), spans((1, 3, "Disease")), []]
    predicted = [spans((0, 2, "Disease"), (4, 5, "Disease")), spans((1, 2, "Disease")), []]
    evaluation = evaluate(gold, predicted, [6, 4, 2])
    # Disease: 1 right (the first), 3 predicted, 2 gold.  Chemical: nothing predicted, 1 gold.
    assert evaluation.by_type == {"Chemical": Scores(0, 0, 1), "Disease": Scores(1, 3, 2)}
    assert evaluation.overall == Scores(1, 3, 3)
    # Tokens of the right type: 0 and 1 of the first sentence, 1 of the second; 4 are predicted
    # (0, 1, 4 and 1) and 5 are gold (0, 1, 4 and 1, 2).
    assert evaluation.tokens == Scores(3, 4, 5)
    assert evaluation.errors == {"boundary": 1, "type": 1, "spurious": 0, "missed": 0}
    assert evaluation.errors_by_type == {
        "Chemical": {"boundary": 0, "type": 0, "spurious": 0, "missed": 0},
        "Disease": {"boundary": 1, "type": 1, "spurious": 0, "missed": 0},
    }


def test_errors_are_counted_under_the_prediction_and_a_miss_under_the_gold():
    gold = [spans((0, 1, "A"), (3, 4, "B"))]
    predicted = [spans((0, 1, "B"), (5, 6, "C"))]
    assert evaluate(gold, predicted, [6]).errors_by_type == {
        "A": {"boundary": 0, "type": 0, "spurious": 0, "missed": 0},  # found, as another type
        "B": {"boundary": 0, "type": 1, "spurious": 0, "missed": 1},
        "C": {"boundary": 0, "type": 0, "spurious": 1, "missed": 0},
    }


def test_scores_divide_by_hand_computed_counts():
    scores = Scores(correct=3, predicted=4, support=6)
    assert (scores.precision, scores.recall) == (0.75, 0.5)
    assert scores.f1 == pytest.approx(2 * 0.75 * 0.5 / (0.75 + 0.5))


def test_scores_are_unknown_and_not_zero_when_there_is_nothing_to_count():
    assert (NONE.precision, NONE.recall, NONE.f1) == (None, None, None)
    assert (Scores(0, 0, 2).precision, Scores(0, 0, 2).recall) == (None, 0.0)
    assert (Scores(0, 2, 0).precision, Scores(0, 2, 0).recall) == (0.0, None)
    assert Scores(0, 0, 2).f1 == Scores(0, 2, 0).f1 == 0.0


@pytest.mark.parametrize(
    "gold, predicted, lengths, expected",
    [
        ([], [], [], NONE),
        ([[], []], [[], []], [3, 2], NONE),
        ([[], []], [[], []], [0, 0], NONE),
        ([spans((0, 1, "A"))], [[]], [2], Scores(0, 0, 1)),
        ([[]], [spans((0, 1, "A"))], [2], Scores(0, 1, 0)),
        ([[], spans((0, 1, "A"))], [[], spans((0, 1, "A"))], [0, 1], Scores(1, 1, 1)),
    ],
    ids=["no sentence", "all outside", "empty sentences", "no prediction", "no gold", "one empty"],
)
def test_evaluate_of_corner_cases(gold, predicted, lengths, expected):
    evaluation = evaluate(gold, predicted, lengths)
    assert evaluation.overall == overall(evaluation.by_type) == expected


def test_evaluate_keeps_odd_type_names_whole():
    gold = [[Span(i, i + 1, name) for i, name in enumerate(ODD_NAMES)]]
    evaluation = evaluate(gold, gold, [len(ODD_NAMES)])
    assert evaluation.by_type == {name: Scores(1, 1, 1) for name in sorted(ODD_NAMES)}


def test_evaluate_does_not_join_types_that_share_an_ending():
    gold, predicted = [spans((0, 1, "non-drug"))], [spans((0, 1, "drug"))]
    evaluation = evaluate(gold, predicted, [1])
    assert evaluation.by_type == {"drug": Scores(0, 1, 0), "non-drug": Scores(0, 0, 1)}


def test_evaluate_refuses_sides_of_different_length():
    with pytest.raises(ValueError, match="got 1, 2 and 2"):
        evaluate([[]], [[], []], [1, 1])


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gold, predicted, kinds",
    [
        ([(0, 2, "A")], [(0, 2, "A")], []),
        ([(0, 2, "A")], [(0, 1, "A")], ["boundary"]),
        ([(0, 2, "A")], [(1, 4, "A")], ["boundary"]),
        ([(0, 2, "A")], [(0, 2, "B")], ["type"]),
        ([(0, 2, "A")], [(0, 1, "B")], ["type"]),
        ([(0, 2, "A"), (2, 3, "B")], [(0, 3, "B")], ["boundary"]),
        ([(0, 2, "A")], [(2, 3, "A")], ["spurious", "missed"]),
        ([], [(2, 3, "A")], ["spurious"]),
        ([(0, 2, "A")], [], ["missed"]),
        ([(0, 4, "A")], [(0, 1, "A"), (2, 3, "A")], ["boundary", "boundary"]),
        ([(0, 1, "A"), (2, 3, "A")], [(0, 3, "A")], ["boundary"]),
        ([(0, 1, "A"), (1, 3, "A")], [(0, 1, "A")], ["missed"]),
    ],
    ids=["right", "too short", "shifted", "other type", "other type and edge", "own type counts",
         "beside", "nothing there", "overlooked", "in pieces", "two as one", "one of two"],
)  # fmt: skip
def test_count_errors(gold, predicted, kinds):
    expected = {kind: kinds.count(kind) for kind in ERRORS}
    assert count_errors([spans(*gold)], [spans(*predicted)]) == expected


# ---- golden: an independent computation, and seqeval's own report ---------------------------


def random_tags(rng, length, types):
    """Valid IOB2 tags: an I- follows only its own type."""
    tags = []
    for _ in range(length):
        continued = tags[-1][2:] if tags and tags[-1] != "O" else None
        choices = ["O", "O", *(f"B-{name}" for name in types)]
        tags.append(rng.choice(choices + [f"I-{continued}"] * 3 if continued else choices))
    return tags


def places(tags):
    """(start, end, type) of each mention, read off the tags without the engine."""
    begins = [i for i, tag in enumerate(tags) if tag.startswith("B-")]
    mentions = set()
    for start in begins:
        end = start + 1
        while end < len(tags) and tags[end].startswith("I-"):
            end += 1
        mentions.add((start, end, tags[start][2:]))
    return mentions


def disturbed(rng, tags, types):
    """A prediction: mostly the gold, with stretches made up anew."""
    other = random_tags(rng, len(tags), types)
    mixed = [
        theirs if rng.random() < 0.3 else ours for ours, theirs in zip(tags, other, strict=True)
    ]
    for i, tag in enumerate(mixed):
        if tag.startswith("I-") and (i == 0 or mixed[i - 1][2:] != tag[2:]):
            mixed[i] = f"B-{tag[2:]}"
    return mixed


def random_pairs(count, types=("LOC", "PER", "MISC")):
    rng = random.Random(7)
    for _ in range(count):
        gold = random_tags(rng, rng.randint(1, 12), types)
        yield gold, disturbed(rng, gold, types)


def evaluate_tags(gold, predicted):
    sides = [
        [[Span(*place) for place in sorted(places(tags))] for tags in side]
        for side in (gold, predicted)
    ]
    return evaluate(*sides, [len(tags) for tags in gold])


def assert_same_as_report(evaluation, gold, predicted):
    report = classification_report(
        gold, predicted, mode="strict", scheme=IOB2, output_dict=True, zero_division=0
    )
    for name, scores in {**evaluation.by_type, "micro avg": evaluation.overall}.items():
        theirs = report[name]
        assert (scores.precision or 0.0) == pytest.approx(theirs["precision"])
        assert (scores.recall or 0.0) == pytest.approx(theirs["recall"])
        assert (scores.f1 or 0.0) == pytest.approx(theirs["f1-score"])
        assert scores.support == theirs["support"]
    assert set(report) - set(evaluation.by_type) == {"micro avg", "macro avg", "weighted avg"}


def test_evaluate_equals_span_sets_and_seqeval_on_each_of_1000_random_sequences():
    for gold, predicted in random_pairs(1_000):
        evaluation = evaluate_tags([gold], [predicted])
        right, guessed = places(gold), places(predicted)
        assert evaluation.overall == Scores(len(right & guessed), len(guessed), len(right))
        if right | guessed:
            assert_same_as_report(evaluation, [gold], [predicted])


@pytest.mark.parametrize("most_by_seqeval", [0, 5_000])
@pytest.mark.parametrize("type_count", [1, 3, 12])
def test_evaluate_equals_seqeval_over_1000_random_sequences_together(
    type_count, most_by_seqeval, monkeypatch
):
    monkeypatch.setattr(metrics, "_MOST_DISPUTED", most_by_seqeval)
    types = [f"T{i}" for i in range(type_count)]
    gold, predicted = map(list, zip(*random_pairs(1_000, types), strict=True))
    evaluation = evaluate_tags(gold, predicted)
    for name in types:
        right, guessed = (
            {(i, *p) for i, tags in enumerate(side) for p in places(tags) if p[2] == name}
            for side in (gold, predicted)
        )
        assert evaluation.by_type[name] == Scores(len(right & guessed), len(guessed), len(right))
    assert_same_as_report(evaluation, gold, predicted)


def test_errors_add_up_on_random_sequences():
    for gold, predicted in random_pairs(500):
        evaluation = evaluate_tags([gold], [predicted])
        wrong = sum(evaluation.errors[kind] for kind in ("boundary", "type", "spurious"))
        assert evaluation.overall.predicted == evaluation.overall.correct + wrong
        assert (
            evaluation.errors["missed"] <= evaluation.overall.support - evaluation.overall.correct
        )


# ---- documents and entities -----------------------------------------------------------------


def test_evaluate_documents_ignores_documents_without_gold():
    documents = [make_tokenized_document(id, [("aspirin", "helps")]) for id in ("d1", "d2", "d3")]
    entity = Entity(0, 7, "Chemical")
    gold = {"d1": (entity,), "d3": ()}
    predicted = {"d1": (entity,), "d2": (entity,), "d3": (entity,)}
    # d2 has no gold and does not count; d3 is annotated with nothing, so its match is wrong.
    assert evaluate_documents(documents, gold, predicted).overall == Scores(1, 2, 1)


def test_evaluate_documents_treats_missing_predictions_as_empty():
    document = make_tokenized_document("d1", [("aspirin", "helps")])
    evaluation = evaluate_documents([document], {"d1": (Entity(0, 7, "Chemical"),)}, {})
    assert evaluation.overall == Scores(0, 0, 1)


def test_labels_are_scored_as_the_entities_that_they_make():
    documents = [
        make_tokenized_document("d1", [("gout", "hurts"), ("no", "gout")]),
        make_tokenized_document("d2", [("gout",)]),
        make_tokenized_document("d3", [("aspirin", "for", "gout"), ("fever",)]),
    ]
    gold = {"d1": (Entity(0, 4, "Disease"),), "d3": (Entity(0, 7, "Drug"),)}
    spans = gold_spans(documents, gold)
    assert spans.sentences == (0, 1, 3, 4)  # sentence 2 belongs to d2, which has no gold
    assert spans.lengths == (2, 2, 3, 1)
    gout = Dictionary("d", (Phrase("gout", "Disease"),))
    labels = label(documents, [gout])
    expected = evaluate_documents(documents, gold, dictionary_entities(labels, documents))
    assert evaluate_spans(spans, labels.spans()) == expected
    assert expected.overall == Scores(1, 3, 2)


def test_compare_entities_distinguishes_documents_and_types():
    gold = {"d1": [Entity(0, 7, "Chemical")], "d2": [Entity(0, 7, "Chemical")]}
    predicted = {
        "d1": [Entity(0, 7, "Chemical"), Entity(8, 9, "Disease")],
        "d3": [Entity(0, 7, "X")],
    }
    assert compare_entities(gold, predicted) == {
        "Chemical": Scores(1, 1, 2),
        "Disease": Scores(0, 1, 0),
        "X": Scores(0, 1, 0),
    }


@given(corpora(), st.data())
def test_compare_entities_equals_evaluate_on_aligned_entities(corpus, data):
    predicted = {
        document.id: [
            Entity(*place, data.draw(st.sampled_from(PLAIN_TYPES)))
            for place in data.draw(aligned_offsets(document))
        ]
        for document in corpus.documents
    }
    evaluation = evaluate_documents(corpus.documents, corpus.entities, predicted)
    assert compare_entities(corpus.entities, predicted) == evaluation.by_type
