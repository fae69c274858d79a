import numpy as np

from engine.scoring.confidence_scores import entity_tokens, score_confidence
from engine.scoring.metrics import Scores
from engine.text.model import Entity
from engine.text.tokenization import make_document

DOCUMENTS = [make_document("a", "High fever. No rash."), make_document("b", "Gout flares.")]
GOLD = {"a": [Entity(0, 10, "Disease"), Entity(15, 19, "Disease")]}


def test_entity_tokens_are_those_of_gold_entities_in_annotated_documents():
    is_entity, is_annotated = entity_tokens(DOCUMENTS, GOLD)
    #                                High fever .  No rash .   Gout flares .
    assert is_entity.tolist() == [*[1, 1, 0, 0, 1, 0], *[0, 0, 0]]
    assert is_annotated.tolist() == [*[1] * 6, *[0] * 3]


def test_no_documents_have_no_tokens():
    is_entity, is_annotated = entity_tokens([], GOLD)
    assert len(is_entity) == len(is_annotated) == 0


def test_only_annotated_tokens_count():
    values = np.array([0.9, 0.5, 0.9, 0.9])
    labels = np.array([1, 0, 0, 0], np.int16)
    is_entity = np.array([True, True, False, False])
    is_annotated = np.array([True, True, True, False])
    scores = score_confidence(values, labels, is_entity, threshold=0.5, is_annotated=is_annotated)
    # A confidence of 0.5 is not above it, and the last token is not known.
    assert scores.unlabeled == Scores(0, 1, 1)
    assert scores.all == Scores(1, 2, 2)
