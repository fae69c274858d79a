import numpy as np

from engine.experiment import decode
from engine.learning.short_forms import with_short_forms
from engine.settings import Settings
from engine.text.model import Span
from engine.text.tokenization import make_tokenized_document

NONE, DRUG, DISEASE = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
UNSURE = [0.6, 0.0, 0.4]  # of a disease, and rather none


def document(id, *sentences):
    return make_tokenized_document(id, [sentence.split() for sentence in sentences])


def rows(*values):
    return np.array(values, np.float32)


DEFINED = document("d1", "Atrial fibrillation ( AF ) .", "No AF")


def test_short_forms_follow_the_long_form_in_the_whole_document():
    probs = rows(DISEASE, DISEASE, NONE, NONE, NONE, NONE, NONE, UNSURE)
    shared = with_short_forms([DEFINED], probs)
    # Short forms: a mean of 0.2 for the disease; with the long form's 1.0, half and half: 0.6.
    alike = [0.4, 0.0, 0.6]
    wanted = rows(DISEASE, DISEASE, NONE, alike, NONE, NONE, NONE, alike)
    np.testing.assert_allclose(shared, wanted, atol=1e-6)
    assert probs[3].tolist() == NONE  # what was given stays as it was


def test_the_long_form_stays_as_it_is():
    probs = rows(NONE, DISEASE, NONE, NONE, NONE, NONE, NONE, UNSURE)
    shared = with_short_forms([DEFINED], probs)
    np.testing.assert_array_equal(shared[:2], probs[:2])
    # (0.2 + 0.5) / 2 for the disease
    np.testing.assert_allclose(shared[7], [0.65, 0.0, 0.35], atol=1e-6)


def test_another_document_does_not_know_the_definition():
    other = document("d2", "No AF")
    probs = rows(*[DISEASE] * 2, *[NONE] * 6, NONE, UNSURE)
    shared = with_short_forms([DEFINED, other], probs)
    np.testing.assert_array_equal(shared[8:], probs[8:])
    assert shared[7].argmax() == 0  # the mean of 0 and 1 for the disease is no more than none


def test_a_text_without_definitions_costs_no_copy():
    probs = rows(NONE, UNSURE)
    assert with_short_forms([document("d2", "No AF")], probs) is probs
    empty = np.zeros((0, 3), np.float32)
    assert with_short_forms([], empty) is empty


def test_two_definitions_of_one_short_form_count_alike():
    twice = document("d1", "Atrial fibrillation ( AF )", "amniotic fluid ( AF )", "AF")
    probs = rows(DISEASE, DISEASE, *[NONE] * 3, DRUG, DRUG, *[NONE] * 3, DISEASE)
    shared = with_short_forms([twice], probs)
    # Long forms: half disease, half drug. Short forms: a third disease.
    np.testing.assert_allclose(shared[-1], [1 / 3, 0.25, 1 / 4 + 1 / 6], atol=1e-6)


def test_decode_asks_the_setting():
    probs = rows(DISEASE, DISEASE, NONE, NONE, NONE, NONE, NONE, [0.4, 0.0, 0.6])
    [first, second] = DEFINED.sentences
    long, short = first.offsets(Span(0, 2, "Disease")), first.offsets(Span(3, 4, "Disease"))
    again = second.offsets(Span(1, 2, "Disease"))

    def places(**changes):
        found = decode([DEFINED], probs, ("Drug", "Disease"), Settings(**changes))["d1"]
        return [(entity.start, entity.end) for entity in found]

    assert places() == [long, again]
    assert places(is_abbreviation_aware=True) == [long, short, again]
