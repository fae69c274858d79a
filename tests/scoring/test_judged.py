import pytest

from engine.scoring.checking import Judgement
from engine.scoring.judged import judged_precision
from engine.scoring.pool import pool_entities
from engine.text.model import Entity
from engine.text.tokenization import make_tokenized_document

DOCUMENTS = [make_tokenized_document(id, [tuple("abcd")]) for id in ("d1", "d2")]
A, B, C = (Entity(2 * i, 2 * i + 1, "X") for i in range(3))


def decide(document, entity, verdict, entity_type="X"):
    decision = Judgement(document, entity.start, entity.end, entity_type, verdict)
    return {decision.place: decision}


def test_a_judgement_counts_for_every_set_that_holds_the_entity():
    pooled = pool_entities(DOCUMENTS, {"one": {"d1": [A, B, C]}, "two": {"d1": [A], "d2": [A]}})
    decisions = {
        **decide("d1", A, "correct"),
        **decide("d1", B, "wrong"),
        **decide("d1", C, "unsure"),
        **decide("d2", A, "correct", "Y"),  # another type: not what the set says
        **decide("elsewhere", A, "wrong"),
    }
    table = judged_precision(pooled, decisions).set_index("name")
    assert table[["judged", "correct", "precision"]].values.tolist() == [[2, 1, 0.5], [1, 1, 1.0]]
    # Wilson's interval of 1 of 1.
    assert table.loc["two", ["low", "high"]].tolist() == pytest.approx([0.2065, 1], abs=1e-3)


def test_precision_is_unknown_before_the_first_judgement():
    table = judged_precision(pool_entities(DOCUMENTS, {"one": {"d1": [A]}}), {})
    assert table["precision"].isna().all()
    assert table[["judged", "low", "high"]].values.tolist() == [[0, 0, 1]]
