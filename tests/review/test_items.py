import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.review.items import count_finds, make_items
from engine.review.queues import ORDERS, disagreement, make_queue, rejections
from engine.text.model import Entity
from engine.text.tokenization import make_document
from tests.support.review_items import DOCUMENT, FOUND, TEXT, at, items, texts


def queued(order, seed=0, *, candidates=None, known=("gout", "lead")):
    candidates = items() if candidates is None else candidates
    rows = make_queue(
        candidates, order, seed, lambda surfaces: [text in known for text in surfaces]
    )
    return [candidates[i] for i in rows]


# ---- items ----------------------------------------------------------------------------------


def test_items_hold_every_methods_opinion_about_a_stretch():
    ckd = items()[0]
    assert (ckd.text, ckd.entity_type, ckd.method, ckd.score) == (
        "Chronic kidney disease",
        "Disease",
        "conf_mpu",
        0.9,
    )
    assert {o.method: o.entity and TEXT[o.entity.start : o.entity.end] for o in ckd.opinions} == {
        "conf_mpu": "Chronic kidney disease",
        "mpn": "kidney disease",
        "dictionary": None,
    }


def test_items_are_in_text_order_and_overlapping_ones_side_by_side():
    assert texts(items()) == ["Chronic kidney disease", "kidney disease", "gout", "lead", "gold"]
    assert [item.group for item in items()] == [0, 0, 27, 50, 66]


def test_items_ask_about_each_type_of_one_stretch():
    findings = {
        "conf_mpu": {"d": (at("lead", "Chemical", 0.7),)},
        "mpu": {"d": (at("lead", "Disease", 0.6),)},
    }
    assert [(item.text, item.entity_type, item.method) for item in items(findings)] == [
        ("lead", "Chemical", "conf_mpu"),
        ("lead", "Disease", "mpu"),
    ]


def test_ids_do_not_change_when_other_methods_join():
    alone = {item.id for item in items({"mpn": FOUND["mpn"]})}
    assert alone <= {item.id for item in items()}
    assert "d:27-31:Disease" in alone


def test_an_opinion_is_the_entity_that_overlaps_most():
    findings = {
        "conf_mpu": {"d": (at("Chronic kidney disease", "Disease"),)},
        "mpn": {"d": (at("Chronic", "Disease"), at("kidney disease", "Disease"))},
    }
    opinion = items(findings)[0].opinions[1]
    assert TEXT[opinion.entity.start : opinion.entity.end] == "kidney disease"


# ---- orders ---------------------------------------------------------------------------------


def test_disagreement_is_the_entropy_of_opinions_and_a_silent_dictionary_has_none():
    by_text = dict(zip(texts(items()), disagreement(items()), strict=True))
    assert by_text["gout"] == 0
    assert by_text["gold"] == 1  # conf_mpu against mpn, one to one
    assert by_text["Chronic kidney disease"] == 1
    # lead: the dictionary against two, 1/3 and 2/3: -(1/3 log2 1/3 + 2/3 log2 2/3) = 0.918
    assert by_text["lead"] == pytest.approx(0.918, abs=0.001)


def test_most_disagreement_comes_first_and_agreement_is_left_out():
    queue = queued("disagreement")
    assert set(texts(queue)) == {"Chronic kidney disease", "kidney disease", "gold", "lead"}
    assert texts(queue)[-1] == "lead"
    together = texts(queue).index("Chronic kidney disease")
    assert texts(queue)[together + 1] == "kidney disease"


def test_least_certain_comes_first_and_entities_without_score_are_left_out():
    queue = queued("uncertain")
    assert texts(queue) == ["gold", "kidney disease", "Chronic kidney disease", "gout"]


def test_likely_dictionary_errors_are_matches_that_methods_reject():
    assert texts(queued("dictionary")) == ["lead"]
    assert rejections(items())[3] == 1.0


def test_a_match_under_another_type_counts_as_rejected():
    findings = {
        "conf_mpu": {"d": (at("lead", "Disease", 0.7),)},
        "dictionary": {"d": (at("lead", "Chemical"),)},
    }
    queue = queued("dictionary", candidates=items(findings))
    assert [(item.text, item.entity_type) for item in queue] == [("lead", "Chemical")]


def test_a_match_with_other_boundaries_is_not_rejected():
    findings = {
        "conf_mpu": {"d": (at("Chronic kidney disease", "Disease", 0.7),)},
        "dictionary": {"d": (at("kidney disease", "Disease"),)},
    }
    assert queued("dictionary", candidates=items(findings)) == []


def test_unseen_surfaces_take_turns_and_known_ones_are_left_out():
    text = "Zofran, zofran, Xanax and gout."
    document = make_document("e", text)
    entities = tuple(
        Entity(start, end, "Chemical", score=score)
        for start, end, score in ((0, 6, 0.9), (8, 14, 0.8), (16, 21, 0.95), (26, 30, 1.0))
    )
    queue = queued("unseen", candidates=make_items([document], {"mpu": {"e": entities}}))
    # zofran weighs 0.9 + 0.8, Xanax 0.95; which of the two Zofrans comes first is random.
    assert [text.lower() for text in texts(queue)] == ["zofran", "xanax", "zofran"]


def test_random_order_depends_on_the_seed():
    queues = {seed: texts(queued("random", seed)) for seed in range(8)}
    assert queues[3] == texts(queued("random", 3))
    assert len({tuple(queue) for queue in queues.values()}) > 1
    assert all(sorted(queue) == sorted(texts(items())) for queue in queues.values())


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order must be one of"):
        make_queue(items(), "best")


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9), st.sampled_from("AB")), max_size=9)
)
def test_orders_never_invent_or_repeat_items(places):
    entities = tuple(
        Entity(start, start + length, entity_type, score=0.5)
        for start, length, entity_type in places
    )
    all_items = make_items([DOCUMENT], {"mpu": {"d": entities}, "mpn": {"d": entities[::2]}})
    for order in ORDERS:
        queue = queued(order, candidates=all_items)
        assert len({item.id for item in queue}) == len(queue)
        assert {item.id for item in queue} <= {item.id for item in all_items}


def test_without_methods_or_entities_there_is_nothing_to_decide():
    for findings in ({}, {"mpu": {}}, {"mpu": {"d": ()}, "dictionary": {"elsewhere": ()}}):
        assert list(items(findings)) == []
        assert [queued(order, candidates=items(findings)) for order in ORDERS] == [[]] * len(ORDERS)


def test_entities_outside_the_text_are_left_out():
    findings = {"mpu": {"d": (Entity(0, 7, "Disease"), Entity(0, 999, "Disease")), "gone": ()}}
    assert texts(items(findings)) == ["Chronic"]


def test_a_surface_counts_once_per_place_in_any_case():
    document, other = make_document("d", "Gout, gout."), make_document("e", "GOUT")
    findings = {
        "mpu": {"d": (Entity(0, 4, "A"), Entity(6, 10, "A")), "e": (Entity(0, 4, "A"),)},
        "mpn": {"d": (Entity(0, 4, "B"),)},
    }
    made = make_items([document, other], findings)
    assert set(made.folded_texts()) == {"gout"}
    assert count_finds(made, np.arange(len(made))) == (3, 2)
    assert count_finds(made, np.arange(0)) == (0, 0)
