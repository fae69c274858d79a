"""The checklist: from counts to the one next step."""

from dataclasses import replace

import pytest

from engine.guide.steps import OPTIONAL, ProjectFacts, next_step, next_steps

LABELED = ProjectFacts(sentences=50, phrases=9, matches=80, doubtful=0)
JUDGED = replace(LABELED, judged=30)
TRAINED = replace(JUDGED, methods=3, disagreements=230)


def state(facts):
    return {step.key: step.state for step in next_steps(facts)}


def title(facts, key=None):
    steps = next_steps(facts)
    if key is None:
        return next_step(steps).title
    return next(step.title for step in steps if step.key == key)


@pytest.mark.parametrize(
    ("facts", "key", "said"),
    [
        (ProjectFacts(), "text", "Add text"),
        (ProjectFacts(sentences=5), "dictionary", "Add a dictionary"),
        (ProjectFacts(phrases=5), "text", "Add text"),
        (
            ProjectFacts(sentences=5, phrases=2),
            "labels",
            "See what the dictionaries match",
        ),
        (
            ProjectFacts(sentences=5, phrases=2, matches=0, doubtful=0),
            "labels",
            "No phrase matches the text: find out why",
        ),
        (replace(LABELED, doubtful=14), "phrases", "14 phrases look wrong: look at them"),
        (replace(LABELED, doubtful=1), "phrases", "1 phrase looks wrong: look at it"),
        (LABELED, "precision", "Judge 30 matches to know the precision"),
        (replace(LABELED, judged=12), "precision", "Judge 18 more matches to know the precision"),
        (replace(LABELED, matches=4), "precision", "Judge 4 matches to know the precision"),
        (replace(LABELED, has_gold=True), "train", "Train"),
        (JUDGED, "train", "Train"),
        (replace(JUDGED, train_seconds=130.0), "train", "Train (roughly 2 min)"),
        (
            replace(JUDGED, train_seconds=42.0, is_time_measured=True),
            "train",
            "Train (about 42 s)",
        ),
        (TRAINED, "review", "230 disagreements to review"),
        (replace(TRAINED, disagreements=None), "review", "Review what the methods disagree on"),
        (replace(TRAINED, is_outdated=True), "train", "Train again"),
        (replace(TRAINED, disagreements=0), "export", "Export the entities"),
        (replace(TRAINED, reviewed=100), "export", "Export the entities"),
    ],
)
def test_the_next_step_is_the_first_that_helps(facts, key, said):
    step = next_step(next_steps(facts))
    assert (step.key, step.title) == (key, said)
    assert step.why
    assert list(state(facts).values()).count("next") == 1


def test_when_all_is_done_there_is_no_next_step():
    done = replace(TRAINED, disagreements=0, is_exported=True)
    assert next_step(next_steps(done)) is None
    assert set(state(done).values()) == {"done"}


def test_a_step_that_needs_another_one_waits():
    assert state(ProjectFacts()) == {
        "text": "next", "dictionary": "open", "labels": "later", "phrases": "later",
        "precision": "later", "train": "later", "review": "later", "export": "later",
    }  # fmt: skip
    without_matches = ProjectFacts(sentences=5, phrases=2, matches=0, doubtful=0)
    assert state(without_matches)["train"] == "later"


def test_what_is_not_known_is_not_claimed():
    unknown = state(ProjectFacts(sentences=5, phrases=2))
    assert unknown["phrases"] == "later" and unknown["train"] == "open"
    assert "phrases look wrong" not in title(ProjectFacts(sentences=5, phrases=2), "phrases")


def test_while_it_trains_other_steps_come_first():
    assert title(replace(LABELED, is_training=True)).startswith("Judge 30 matches")
    assert title(replace(JUDGED, is_training=True)) == "Training is in progress"
    again = replace(TRAINED, is_training=True, is_outdated=True)
    assert title(again) == "230 disagreements to review"


def test_a_skipped_step_returns_when_there_is_more_to_do():
    skipped = replace(LABELED, doubtful=14, skipped={"phrases": 14})
    assert state(skipped)["phrases"] == "skipped"
    assert next_step(next_steps(skipped)).key == "precision"
    assert state(replace(skipped, doubtful=15))["phrases"] == "next"
    assert state(replace(TRAINED, skipped={"review": 230}))["review"] == "skipped"
    assert state(replace(TRAINED, skipped={"review": 100}))["review"] == "next"
    assert state(replace(LABELED, skipped={"precision": 0}))["precision"] == "skipped"


def test_every_step_that_can_be_skipped_exists():
    assert set(OPTIONAL) <= set(state(ProjectFacts()))
