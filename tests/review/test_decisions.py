"""Decisions are stored at once, undone by appending, and have the effect a person meant."""

from dataclasses import replace

import pytest

from engine.projects.workspace import create_project, open_project
from engine.review.decisions import Decision, Review, effect, judgements
from engine.scoring import checking
from engine.text.model import Entity
from engine.text.tokenization import make_document

NOTE = make_document("note", "Aspirin helped. The cold rash went away.")  # cold 20-24, rash 25-29


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return create_project("Notes")


def decide(project, start, end, verdict, kind="review", **more):
    entity_type = more.pop("entity_type", "Disease")
    return project.add_decision(kind, "note", start, end, entity_type, verdict, **more)


def entity(start, end, status, entity_type="Disease", source=""):
    return Entity(start, end, entity_type, method="review", source=source, review_status=status)


def test_a_decision_is_there_when_the_project_is_opened_again(project):
    stored = decide(project, 20, 24, "rejected", source="Disease.txt", queue="disagreement")
    assert open_project(project.id).decisions("review") == [stored]
    assert (stored.id, stored.place) == (1, ("note", 20, 24, "Disease"))
    assert (stored.source, stored.queue, stored.verdict) == (
        "Disease.txt",
        "disagreement",
        "rejected",
    )
    assert stored.decided_at.tzinfo is not None


def test_the_latest_decision_of_a_place_is_in_force(project):
    decide(project, 20, 24, "accepted")
    other = decide(project, 25, 29, "accepted")
    latest = decide(project, 20, 24, "unsure")
    assert project.decisions("review") == [other, latest]


def test_kinds_are_kept_apart(project):
    check = decide(project, 20, 24, "accepted", kind="check")
    review = decide(project, 20, 24, "rejected")
    assert (project.decisions("check"), project.decisions("review")) == ([check], [review])


def test_undo_restores_the_earlier_decision(project):
    first = decide(project, 20, 24, "accepted")
    second = decide(project, 20, 24, "rejected")
    assert project.undo_decision("review") == second
    assert project.decisions("review") == [first]
    assert project.undo_decision("review") == first
    assert project.decisions("review") == []
    assert project.undo_decision("review") is None


def test_undo_after_undo_and_new_decisions_goes_back_one_by_one(project):
    first = decide(project, 0, 7, "accepted", entity_type="Chemical")
    decide(project, 20, 24, "accepted")
    project.undo_decision("review")
    third = decide(project, 25, 29, "rejected")
    assert project.undo_decision("review") == third
    assert project.undo_decision("review") == first


def test_undo_is_limited_to_the_kind_and_queue_asked_for(project):
    in_queue = decide(project, 20, 24, "accepted", queue="random")
    decide(project, 25, 29, "accepted", queue="uncertain")
    decide(project, 0, 7, "accepted", kind="check", entity_type="Chemical")
    assert project.undo_decision("review", queue="random") == in_queue
    assert project.undo_decision("review", queue="random") is None
    assert len(project.decisions("check")) == 1


def test_several_decisions_are_stored_and_undone_together(project):
    given = [Decision(0, "review", "note", i, i + 1, "Disease", "accepted") for i in range(3)]
    stored = project.add_decisions(given)
    assert [decision.id for decision in stored] == [1, 2, 3]
    assert project.undo_decisions(stored[:2]) == stored[:2]
    assert project.undo_decisions(stored) == stored[2:]  # the others were taken back already
    assert project.decisions("review") == []


def test_of_several_decisions_all_or_none_are_stored(project):
    good = Decision(0, "review", "note", 0, 7, "Chemical", "accepted")
    bad = replace(good, document_id=None)  # the table wants one
    with pytest.raises(Exception, match="NOT NULL"):
        project.add_decisions([good, bad])
    assert project.decisions("review") == []


def test_nothing_is_ever_erased(project):
    decide(project, 20, 24, "accepted")
    project.undo_decision("review")
    decide(project, 20, 24, "rejected")
    with project.reading() as db:
        rows = db.execute("SELECT verdict, undoes FROM decisions ORDER BY id").fetchall()
    assert [tuple(row) for row in rows] == [("accepted", None), ("", 1), ("rejected", None)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "guess"}, "kind must be one of"),
        ({"verdict": "maybe"}, "verdict must be one of"),
        ({"end": 20}, "0 <= start < end"),
        ({"verdict": "edited"}, "new_start, new_end and new_type"),
        ({"new_start": 1}, "new_start, new_end and new_type"),
        (
            {"verdict": "edited", "new_start": 5, "new_end": 5, "new_type": "X"},
            "new_start < new_end",
        ),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(changes, message):
    values = {
        "id": 0, "kind": "review", "document_id": "note", "start": 20, "end": 24,
        "entity_type": "Disease", "verdict": "accepted",
    }  # fmt: skip
    with pytest.raises(ValueError, match=message):
        Decision(**{**values, **changes})


# ---- what they mean -------------------------------------------------------------------------


def test_accepted_and_rejected_entities_are_listed_by_document(project):
    decide(project, 0, 7, "accepted", entity_type="Chemical", source="conf_mpu")
    decide(project, 20, 24, "rejected")
    assert project.review_effect([NOTE]) == Review(
        {"note": (entity(0, 7, "accepted", "Chemical", "conf_mpu"),)},
        {"note": (entity(20, 24, "rejected"),)},
    )


def test_an_edited_entity_is_rejected_as_it_was_and_accepted_as_it_should_be(project):
    decide(project, 20, 24, "edited", new_start=20, new_end=29, new_type="Symptom")
    assert project.review_effect([NOTE]) == Review(
        {"note": (entity(20, 29, "edited", "Symptom"),)}, {"note": (entity(20, 24, "edited"),)}
    )


def test_unsure_and_skipped_have_no_effect(project):
    decide(project, 0, 7, "unsure")
    decide(project, 20, 24, "skipped")
    assert project.review_effect([NOTE]) == Review({}, {})


def test_checks_count_and_a_skip_in_the_review_does_not_undo_them(project):
    decide(project, 20, 24, "accepted", kind="check")
    decide(project, 20, 24, "skipped")
    assert project.review_effect([NOTE]).accepted == {"note": (entity(20, 24, "accepted"),)}


def test_of_a_check_and_a_review_the_later_counts(project):
    decide(project, 20, 24, "rejected")
    decide(project, 20, 24, "accepted", kind="check")
    decide(project, 25, 29, "accepted", kind="check")
    decide(project, 25, 29, "rejected")
    assert project.review_effect([NOTE]) == Review(
        {"note": (entity(20, 24, "accepted"),)}, {"note": (entity(25, 29, "rejected"),)}
    )


def test_what_an_edit_made_can_be_rejected_later(project):
    decide(project, 20, 24, "edited", new_start=20, new_end=29, new_type="Disease")
    decide(project, 20, 29, "rejected")
    assert project.review_effect([NOTE]) == Review(
        {}, {"note": (entity(20, 24, "edited"), entity(20, 29, "rejected"))}
    )


def test_decisions_on_missing_documents_are_ignored(project):
    decide(project, 20, 24, "accepted")
    assert project.review_effect([replace(NOTE, id="other")]) == Review({}, {})
    assert project.review_effect([make_document("note", "Short.")]) == Review({}, {})


def test_decisions_on_another_text_of_the_same_id_are_ignored(project):
    decide(project, 20, 24, "accepted", surface="cold")
    assert project.review_effect([NOTE]).accepted == {"note": (entity(20, 24, "accepted"),)}
    another = make_document("note", "Another text took the id of the first one.")
    assert project.review_effect([another]) == Review({}, {})


def test_decisions_become_the_judgements_that_precision_is_counted_from():
    made = [
        Decision(i, "check", "note", i, i + 1, "Disease", verdict)
        for i, verdict in enumerate(("accepted", "rejected", "unsure", "skipped"))
    ]
    assert [judged.verdict for judged in judgements(made).values()] == [
        "correct",
        "wrong",
        "unsure",
    ]
    assert judgements(made[:1]) == {
        ("note", 0, 1, "Disease"): checking.Judgement("note", 0, 1, "Disease", "correct")
    }


def test_effect_does_not_depend_on_the_order_it_is_given():
    made = [
        Decision(1, "review", "note", 20, 24, "Disease", "accepted"),
        Decision(2, "check", "note", 20, 24, "Disease", "rejected"),
    ]
    assert effect(made, [NOTE]) == effect(made[::-1], [NOTE])
