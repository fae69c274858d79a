import random

import pytest

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import dictionary_entities, label
from engine.scoring.metrics import NONE, evaluate_documents
from engine.scoring.places import gold_places, score_labels
from engine.text.model import Document, Entity
from engine.text.tokenization import make_document

WORDS = ("gout", "cold", "water", "lead", "acid", "and", "(RF)", "over-all.", "Then", "it", "ran.")
PHRASES = Dictionary(
    "d.txt",
    tuple(Phrase(text, name) for text, name in [
        ("gout", "A"), ("cold water", "B"), ("lead", "A"), ("acid and lead", "B"), ("it", "C"),
    ]),
)  # fmt: skip


def corpus(draw):
    documents, gold = [], {}
    for i in range(draw.randint(1, 6)):
        text = " ".join(draw.choices(WORDS, k=draw.randint(0, 30)))
        documents.append(make_document(f"d{i}", text))
        if draw.random() < 0.8:
            gold[f"d{i}"] = [entity(draw, text) for _ in range(draw.randint(0, 6))]
            gold[f"d{i}"] += exact(draw, text)
    return documents, gold


def entity(draw, text):
    """Anywhere, also inside tokens, over sentences, over each other and past the end."""
    start = draw.randint(0, len(text) + 3)
    return Entity(start, start + draw.randint(1, 12), draw.choice("ABX"))


def exact(draw, text):
    places = [(text.find(p.text), p) for p in PHRASES.phrases if p.text in text]
    return [
        Entity(start, start + len(p.text), p.entity_type)
        for start, p in places
        if draw.random() < 0.7
    ]


@pytest.mark.parametrize("seed", range(200))
def test_arrays_count_what_spans_count(seed):
    documents, gold = corpus(random.Random(seed))
    labels = label(documents, [PHRASES], "balanced")
    expected = evaluate_documents(documents, gold, dictionary_entities(labels, documents)).overall
    assert score_labels(gold_places(documents, gold), labels) == expected


def test_nothing_is_scored_without_text_or_gold():
    labels = label([], [PHRASES])
    assert score_labels(gold_places([], {}), labels) == NONE
    empty = [Document("a", "")]
    labels = label(empty, [PHRASES])
    assert score_labels(gold_places(empty, {"a": [Entity(0, 3, "A")]}), labels) == NONE
