"""What a person accepted or rejected overrides the dictionary, token by token."""

import numpy as np
import pytest

from engine.dictionaries.model import Dictionary, Phrase
from engine.experiment import predict, run
from engine.labels.corrections import correct_labels
from engine.labels.distant import label
from engine.learning.training_data import make_training_data
from engine.planning.priors import given_priors
from engine.runs.saved import data_fingerprint
from engine.settings import Settings
from engine.text.model import Entity, InputError
from engine.text.tokenization import make_document

TEXT = "Aspirin causes severe headache. Cold water helps a cold."
DICTIONARY = Dictionary(
    "d.csv",
    (
        Phrase("aspirin", "Chemical"),
        Phrase("headache", "Disease"),
        Phrase("cold", "Disease"),
        Phrase("water", "Chemical"),
    ),
)


@pytest.fixture
def documents():
    return [make_document("first", "Nothing here."), make_document("d", TEXT)]


def entity(surface: str, entity_type: str, begin: int = 0) -> Entity:
    start = TEXT.index(surface, begin)
    return Entity(start, start + len(surface), entity_type)


def words_of(documents, labels, values) -> list[str]:
    words = [token for document in documents for s in document.sentences for token in s.tokens]
    return [word for word, value in zip(words, values, strict=True) if value]


def test_a_rejected_span_is_unlabeled_and_known_to_be_no_entity(documents):
    labels = label(documents, [DICTIONARY])
    corrected = correct_labels(documents, labels, {}, {"d": (entity("Cold", "Disease"),)})
    assert words_of(documents, labels, corrected.known_negatives) == ["Cold"]
    assert words_of(documents, labels, corrected.labels) == ["Aspirin", "headache", "water", "cold"]


def test_an_accepted_span_is_labeled(documents):
    labels = label(documents, [DICTIONARY])
    corrected = correct_labels(
        documents, labels, {"d": (entity("severe headache", "Disease"),)}, {}
    )
    class_of_disease = labels.types.index("Disease") + 1
    is_disease = corrected.labels == class_of_disease
    assert words_of(documents, labels, is_disease) == ["severe", "headache", "Cold", "cold"]
    assert not corrected.known_negatives.any()


def test_a_moved_boundary_keeps_what_was_accepted_and_frees_the_rest(documents):
    labels = label(documents, [DICTIONARY])
    corrected = correct_labels(
        documents,
        labels,
        {"d": (entity("headache", "Disease"),)},
        {"d": (entity("severe headache", "Disease"),)},
    )
    assert words_of(documents, labels, corrected.known_negatives) == ["severe"]
    assert "headache" in words_of(documents, labels, corrected.labels)


def test_rejecting_one_type_leaves_another_type_alone(documents):
    labels = label(documents, [DICTIONARY])
    corrected = correct_labels(documents, labels, {}, {"d": (entity("Cold water", "Disease"),)})
    assert words_of(documents, labels, corrected.known_negatives) == ["Cold"]
    assert "water" in words_of(documents, labels, corrected.labels)


def test_the_distant_labels_stay_as_they_were(documents):
    labels = label(documents, [DICTIONARY])
    before = labels.labels.copy()
    correct_labels(documents, labels, {}, {"d": (entity("Aspirin", "Chemical"),)})
    assert (labels.labels == before).all()


def test_an_accepted_type_that_no_dictionary_has_is_refused(documents):
    labels = label(documents, [DICTIONARY])
    with pytest.raises(InputError, match='of the type "Plant", of which no dictionary'):
        correct_labels(documents, labels, {"d": (entity("severe", "Plant"),)}, {})


def test_decisions_change_what_a_run_is_known_by(documents):
    labels = label(documents, [DICTIONARY])
    plain = make_training_data(documents, [DICTIONARY], labels, "balanced")
    severe = {"d": (entity("severe", "Disease"),)}
    decided = make_training_data(documents, [DICTIONARY], labels, "balanced", rejected=severe)
    assert (plain.labels == decided.labels).all()  # "severe" had no label before either
    assert data_fingerprint(plain) != data_fingerprint(decided)


@pytest.mark.parametrize("method", ["mpn", "mpu", "conf_mpu"])
def test_every_method_learns_from_a_rejection(method):
    # "cold" occurs where diseases occur; only the decisions distinguish it.
    texts = [
        f"the patient had {name} last {day}"
        for name in ("gout", "mumps", "cold")
        for day in ("week", "month", "year", "night")
    ] * 4
    documents = [make_document(f"d{i}", text) for i, text in enumerate(texts)]
    names = tuple(Phrase(name, "Disease") for name in ("gout", "mumps", "cold"))
    dictionary = Dictionary("Disease.txt", names)
    labels = label(documents, [dictionary])
    colds = [document.id for document in documents if "cold" in document.text]
    rejected = {id: (Entity(16, 20, "Disease"),) for id in colds}
    data = make_training_data(documents, [dictionary], labels, "balanced", rejected=rejected)
    settings = Settings(
        method=method, loss="gce", entity_weight=1, confidence_weight=1, epochs=15,
        confidence_epochs=15, batch_size=8, learning_rate=1e-2, confidence_learning_rate=1e-2,
        hidden_size=8, character_dropout=0, word_vectors="none", lexicon_window=0,
    )  # fmt: skip
    priors = given_priors({"Disease": 0.12}, ("Disease",), labels=data.labels).values
    trained = run(data, priors, settings)
    predicted = predict(trained, documents)
    surfaces = {d.text[e.start : e.end] for d in documents for e in predicted[d.id]}
    assert surfaces == {"gout", "mumps"}
    if trained.confidence is not None:
        assert data.known_negatives is not None
        assert np.all(trained.confidence.values[data.known_negatives] < 1e-5)
