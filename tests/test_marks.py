import numpy as np
import pytest
from hypothesis import given

from engine import dictionary_entities, label
from engine.dictionary import Dictionary, Phrase
from engine.formats import write_corpus
from engine.marks import marks_of_entities, marks_of_labels, read_marks
from engine.text import Corpus, Entity, InputError
from engine.tokenization import make_document
from tests.support.corpora import corpora


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
        (id, e.start, e.end, e.entity_type, e.score) for id, of in entities.items() for e in of
    )


def sortable(found):
    return [(*row[:4], -1.0 if row[4] is None else row[4]) for row in found]


def test_entities_become_columns():
    entities = {
        "d2": [Entity(0, 4, "X", score=0.5), Entity(5, 6, "Y")],
        "d1": [],
        "d3": [Entity(1, 2, "X", score=1.0)],
    }
    found = marks_of_entities(entities)
    assert rows(found) == expected(entities)
    assert found.document_ids == ("d2", "d1", "d3") and found.types == ("X", "Y")


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


@given(corpora(plain_types=False))
def test_a_file_of_predictions_reads_as_its_entities(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("run") / "predictions.csv"
    write_corpus(corpus, path)
    found = read_marks(path)
    assert sorted(sortable(rows(found))) == sorted(sortable(expected(corpus.entities)))


def test_a_document_may_be_called_na_and_a_number(tmp_path):
    documents = tuple(make_document(id, "gout") for id in ("NA", "007"))
    entities = {document.id: (Entity(0, 4, "null", score=0.25),) for document in documents}
    write_corpus(Corpus(documents, entities), tmp_path / "predictions.csv")
    assert rows(read_marks(tmp_path / "predictions.csv")) == expected(entities)


def test_a_file_with_a_header_only_is_no_rows(tmp_path):
    write_corpus(Corpus((make_document("a", "gout"),), {"a": ()}), tmp_path / "predictions.csv")
    assert rows(read_marks(tmp_path / "predictions.csv")) == []


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"doc_id,start,end,label,score\nd,x,2,X,\n"]
)
def test_a_damaged_file_is_said_to_be(tmp_path, content):
    path = tmp_path / "predictions.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match="the run is damaged"):
        read_marks(path)
    with pytest.raises(InputError, match="the run is damaged"):
        read_marks(tmp_path / "gone.csv")
