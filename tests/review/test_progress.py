import pytest

from engine.review.decisions import Decision
from engine.review.progress import (
    ReviewProgress,
    acceptable,
    measure_progress,
    pending,
    phrase_history,
)
from tests.support.review_items import items, texts


def decide(item, verdict, **changes):
    return Decision(0, "review", *item.place, verdict, surface=item.text, **changes)


def edit(item, start, end, entity_type):
    return decide(item, "edited", new_start=start, new_end=end, new_type=entity_type)


def test_accepting_settles_what_overlaps():
    ckd, part, *others = items()
    assert pending(items(), [decide(part, "accepted")]) == others
    assert pending(items(), [decide(ckd, "accepted")]) == others


def test_rejecting_settles_only_what_was_rejected():
    ckd, *others = items()
    assert pending(items(), [decide(ckd, "rejected")]) == others


def test_an_edit_settles_the_old_place_and_what_the_new_one_overlaps():
    ckd, part, gout, lead, gold = items()
    assert pending(items(), [edit(ckd, 8, 22, "Disease")]) == [gout, lead, gold]
    assert pending(items(), [edit(lead, 66, 70, "Chemical")]) == [ckd, part, gout]


def test_skipped_items_can_be_asked_again_and_unsure_ones_are_asked_again():
    ckd, *others = items()
    skipped = [decide(ckd, "skipped")]
    assert pending(items(), skipped) == others
    assert pending(items(), skipped, with_skipped=True) == list(items())
    assert pending(items(), [decide(ckd, "unsure")]) == list(items())


def test_progress_counts_verdicts_and_what_they_settle():
    ckd, _, gout, lead, gold = items()
    decisions = [
        decide(ckd, "accepted"),  # settles "kidney disease" as well
        decide(gout, "accepted"),
        decide(lead, "rejected"),
        decide(gold, "skipped"),
    ]
    progress = measure_progress(items(), decisions)
    assert progress == ReviewProgress(5, done=5, accepted=2, rejected=1, edited=0, skipped=1)
    assert progress.accepted_share == pytest.approx(2 / 3)
    assert measure_progress(items(), []).accepted_share is None


def test_acceptable_items_have_the_score_and_do_not_overlap():
    assert texts(acceptable(items(), 0.8)) == ["Chronic kidney disease", "gout"]
    assert texts(acceptable(items(), 0.95)) == ["gout"]


def test_phrase_history_counts_verdicts_in_any_case():
    gout = items()[2]
    upper = Decision(0, "review", "e", 0, 4, "Disease", "rejected", surface="GOUT")
    history = phrase_history("Gout", [decide(gout, "accepted"), upper])
    assert history == {"accepted": 1, "rejected": 1}
