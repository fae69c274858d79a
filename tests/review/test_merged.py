"""Precedence of review, method and dictionary, on one small document."""

from engine.review.decisions import Review
from engine.review.merged import reviewed_entities
from engine.text.model import Entity

NOTHING = Review({}, {})


def model(start, end, entity_type="Drug", **known):
    return Entity(start, end, entity_type, score=0.75, method="mpu", run_id="r1", **known)


def match(start, end, entity_type="Drug"):
    return Entity(start, end, entity_type, method="dictionary", source="Drug.txt",
                  in_dictionary=True, matched_phrase="aspirin")  # fmt: skip


def accepted(start, end, entity_type="Drug", status="accepted"):
    return Entity(start, end, entity_type, method="review", source="mpu", review_status=status)


def merged(review=NOTHING, predicted=(), matched=()):
    return reviewed_entities(review, {"d": predicted}, {"d": matched})["d"]


def test_without_decisions_the_method_comes_first_and_the_dictionary_fills_the_gaps():
    # The match 4-9 overlaps what the method found; 20-27 does not.
    assert merged(predicted=[model(0, 7)], matched=[match(4, 9), match(20, 27)]) == (
        model(0, 7),
        match(20, 27),
    )


def test_touching_entities_do_not_overlap():
    assert merged(predicted=[model(0, 7)], matched=[match(7, 9)]) == (model(0, 7), match(7, 9))


def test_accepted_entities_replace_what_overlaps_them():
    review = Review({"d": (accepted(0, 9),)}, {})
    assert merged(review, [model(0, 7)], [match(8, 12)]) == (accepted(0, 9),)


def test_accepted_entities_keep_the_score_and_run_of_what_they_confirm():
    review = Review({"d": (accepted(0, 7),)}, {})
    [entity] = merged(review, [model(0, 7)], [match(0, 7)])
    assert (entity.method, entity.review_status, entity.source) == ("review", "accepted", "mpu")
    assert (entity.score, entity.run_id) == (0.75, "r1")
    assert (entity.in_dictionary, entity.matched_phrase) == (True, "aspirin")


def test_rejected_entities_are_left_out_whoever_finds_them():
    review = Review({}, {"d": (accepted(0, 7, status="rejected"),)})
    assert merged(review, [model(0, 7)], [match(0, 7), match(9, 12)]) == (match(9, 12),)


def test_rejecting_one_type_leaves_room_for_another_type():
    review = Review({}, {"d": (accepted(0, 7, status="rejected"),)})
    assert merged(review, [model(0, 7)], [match(0, 7, "Disease")]) == (match(0, 7, "Disease"),)


def test_entities_inside_a_long_accepted_one_are_left_out():
    review = Review({"d": (accepted(0, 100), accepted(50, 52))}, {})
    assert merged(review, [model(90, 95)]) == (accepted(0, 100), accepted(50, 52))


def test_documents_of_every_source_are_included():
    review = Review({"a": (accepted(0, 1),)}, {})
    merged_all = reviewed_entities(review, {"b": (model(0, 2),)}, {"c": ()})
    assert merged_all == {"c": (), "b": (model(0, 2),), "a": (accepted(0, 1),)}
