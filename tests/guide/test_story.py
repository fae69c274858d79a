"""Which method to take, and why: with gold in figures, without gold never as a score."""

import re

import numpy as np
import pytest

from engine.guide.story import story_with_gold, story_without_gold
from engine.scoring.bootstrap import score_pool
from engine.scoring.pool import pool_entities
from engine.text.model import Entity
from engine.text.tokenization import make_tokenized_document

X = Entity(0, 1, "X")
OTHER = Entity(4, 5, "X")
COUNT = 200


def documents():
    return [make_tokenized_document(f"d{i}", [("a", "b"), ("c",)]) for i in range(COUNT)]


def found(right, wrong=0, first=0):
    """Entities of which so many are in the gold (every X), and so many are not."""
    sets = {f"d{i}": [X] for i in range(first, first + right)}
    for i in range(wrong):
        sets.setdefault(f"d{i}", []).append(OTHER)
    return sets


def with_gold(dictionary=None, gold=COUNT, **sets):
    texts = documents()
    everything = {"Gold": {f"d{i}": [X] if i < gold else [] for i in range(COUNT)}, **sets}
    if dictionary is not None:
        everything["Dictionary"] = dictionary
    bounds = np.cumsum([0, *(len(document.sentences) for document in texts)])
    pool = pool_entities(texts, everything)
    scored = score_pool(pool, "Gold", everything["Gold"], sentences_by_document=bounds)
    return story_with_gold(scored, list(sets), "Dictionary" if dictionary is not None else None)


def without_gold(dictionary=None, judged=None, **sets):
    everything = dict(sets)
    if dictionary is not None:
        everything["Dictionary"] = dictionary
    pool = pool_entities(documents(), everything)
    name = "Dictionary" if dictionary is not None else None
    return story_without_gold(pool, list(sets), name, judged)


# ---- with gold ------------------------------------------------------------------------------


def test_the_best_method_is_taken_and_why_is_said_in_plain_figures():
    story = with_gold(found(90), Trusted=found(120), Better=found(160, 40))
    assert story.method == "Better"
    assert story.text.startswith(
        "Take Better: it finds 80 of 100 entities, and 80 of 100 that it marks are right (F1 80.0)."
    )
    assert "The dictionary alone finds 45 of 100." in story.text
    assert story.text.endswith("Trusted comes next (F1 75.0), and the difference is hardly chance.")
    assert story.caution == ""


def test_what_may_be_chance_is_said():
    story = with_gold(One=found(150), Two=found(149, first=40))
    assert story.method == "One"
    assert story.text.endswith("Two may be as good (F1 85.4): this gold cannot tell them apart.")


def test_of_equals_the_most_trusted_is_taken():
    assert with_gold(One=found(150), Two=found(150)).method == "One"


def test_a_dictionary_that_is_not_beaten_is_kept():
    story = with_gold(found(160), One=found(120))
    assert story.method == "Dictionary"
    assert story.text.startswith("Keep the dictionary for now (F1 88.9): no trained method is bett")
    assert "The best of them is One: it finds 60 of 100" in story.text


def test_that_a_method_beats_the_dictionary_may_be_chance():
    story = with_gold(found(150, first=30), One=found(151))
    assert story.method == "One"
    assert "That it beats the dictionary, which finds 75, may be chance." in story.text


def test_few_gold_entities_are_a_rough_guide():
    assert with_gold(gold=40, One=found(20)).caution == (
        "There are only 40 gold entities: a rough guide."
    )


def test_methods_that_find_nothing_of_the_gold_are_not_recommended():
    story = with_gold(One=found(0, 30), Two={})
    assert story.method is None
    assert "No trained method finds an entity of the gold." in story.text


def test_gold_without_entities_tells_nothing():
    assert with_gold(gold=0, One=found(3)) is None


def test_without_a_trained_method_there_is_nothing_to_take():
    assert with_gold(found(3)).method is None
    assert without_gold(found(3)).method is None


# ---- without gold ---------------------------------------------------------------------------


def test_without_gold_the_most_trusted_method_is_taken_and_no_score_is_claimed():
    story = without_gold(found(100), First=found(150), Second=found(120))
    assert story.method == "First"
    assert story.text == (
        "Take First: it keeps 100 % of the dictionary's matches and adds 50 entities that the "
        "dictionary does not match. All methods agree on 80 % of what any of them finds."
    )
    assert story.caution == "How many are right is not known without gold: judge some in Review."
    assert not re.search("F1|[Pp]recision|[Rr]ecall|accura", str(story))


@pytest.mark.parametrize(
    ("first", "why"),
    [({}, "finds nothing"), (found(10), "loses most of the dictionary's matches")],
)
def test_a_method_that_lost_the_dictionary_is_passed_over(first, why):
    story = without_gold(found(100), First=first, Second=found(120))
    assert story.method == "Second"
    assert f"while First {why}" in story.text


def test_none_is_recommended_if_all_lost_the_dictionary():
    story = without_gold(found(100), First={}, Second=found(20))
    assert story.method is None and "No trained method can be recommended" in story.text


def test_methods_that_differ_a_lot_are_to_be_reviewed_first():
    story = without_gold(found(50), First=found(50, 150), Second=found(60))
    assert "The methods differ a lot" in story.caution


def test_one_method_without_a_dictionary_agrees_with_nobody():
    story = without_gold(First=found(1))
    assert story.text == (
        "Take First: of those trained it is the one to trust first, and it finds 1 entity."
    )


def test_what_people_judged_is_told_for_what_it_is():
    story = without_gold(found(100), judged={"First": (40, 36)}, First=found(150))
    assert story.caution.startswith("Of 40 that a person judged, 36 are right; they were not drawn")
    few = without_gold(found(100), judged={"First": (4, 4)}, First=found(150))
    assert "is not known" in few.caution
