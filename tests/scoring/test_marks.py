import numpy as np

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import dictionary_entities, label
from engine.scoring.marks import marks_of_entities, marks_of_labels
from engine.text.model import Entity
from engine.text.tokenization import make_document


def rows(marks):
    """The marks as tuples, in no order; an unknown score is None."""
    return sorted(
        (marks.document_ids[d], start, end, marks.types[t], None if np.isnan(score) else score)
        for d, start, end, t, score in zip(
            *(getattr(marks, name).tolist() for name in ("document", "start", "end", "type")),
            marks.score.tolist(),
            strict=True,
        )
    )


def expected(entities):
    return sorted(
        (id, e.start, e.end, e.entity_type, e.score)
        for id, in_document in entities.items()
        for e in in_document
    )


def test_entities_become_columns():
    entities = {
        "d2": [Entity(0, 4, "X", score=0.5), Entity(5, 6, "Y")],
        "d1": [],
        "d3": [Entity(1, 2, "X", score=1.0)],
    }
    marks = marks_of_entities(entities)
    assert rows(marks) == expected(entities)
    assert marks.document_ids == ("d2", "d1", "d3") and marks.types == ("X", "Y")


def test_no_entities_are_no_rows():
    assert rows(marks_of_entities({})) == rows(marks_of_entities({"d": []})) == []


def test_labels_become_the_columns_of_their_entities():
    documents = [make_document("a", "He had gout. Lead was found."), make_document("b", "No gout.")]
    phrases = (Phrase("gout", "Disease"), Phrase("lead", "Chemical"))
    labels = label(documents, [Dictionary("x", phrases)])
    sentences = [sentence for document in documents for sentence in document.sentences]
    entities = dictionary_entities(labels, documents)
    assert rows(marks_of_labels(labels, sentences)) == expected(entities)
    assert len(rows(marks_of_labels(labels, sentences))) == 3


def test_labels_without_a_match_are_no_rows():
    documents = [make_document("a", "Nothing here.")]
    labels = label(documents, [Dictionary("x", (Phrase("gout", "Disease"),))])
    assert rows(marks_of_labels(labels, documents[0].sentences)) == []
