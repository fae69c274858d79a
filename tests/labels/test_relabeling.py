"""Muting without matching again gives exactly the rows of labeling everything."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import label
from engine.labels.relabeling import labels_after_muting
from engine.settings import MATCH_PRESETS
from engine.text.tokenization import make_document
from tests.support.labelings import assert_same, dictionaries, texts


@given(dictionaries(), texts(), st.data())
def test_muting_some_phrases_gives_the_labels_of_the_rest(before, documents, data):
    pairs = sorted({(p.text, p.entity_type) for d in before for p in d.phrases})
    labels = label(documents, before)
    chosen = st.lists(st.sampled_from(pairs), max_size=4) if pairs else st.just([])
    for _ in range(2):  # phrases can be muted in the result too
        after = [mute(d, data.draw(chosen)) if data.draw(st.booleans()) else d for d in before]
        muted = labels_after_muting(labels, before, after)
        assert muted is not None
        assert_same(muted, label(documents, after))
        before, labels = after, muted


def test_a_shorter_phrase_matches_where_a_longer_one_was_muted():
    given = [Dictionary("d", (Phrase("kidney disease", "Disease"), Phrase("kidney", "Disease")))]
    document = make_document("n", "A kidney disease.")
    after = [mute(given[0], [("kidney disease", "Disease")])]
    muted = labels_after_muting(label([document], given), given, after)
    assert muted is not None
    assert [(s.start, s.end) for s in muted.spans()[0]] == [(1, 2)]


def test_a_type_without_phrases_is_gone():
    given = [Dictionary("d", (Phrase("gout", "Disease"), Phrase("lead", "Chemical")))]
    document = make_document("n", "Gout and lead.")
    after = [mute(given[0], [("lead", "Chemical")])]
    muted = labels_after_muting(label([document], given), given, after)
    assert muted is not None
    assert muted.types == ("Disease",)
    assert muted.labels.tolist() == [1, 0, 0, 0]


GOUT = Dictionary("d", (Phrase("gout", "Disease"),))


@pytest.mark.parametrize(
    "after",
    [
        [],
        [GOUT, GOUT],
        [replace(GOUT, name="e")],
        [replace(GOUT, priority=1)],
        [replace(GOUT, is_enabled=False)],
        [replace(GOUT, match=MATCH_PRESETS["loose"])],
        [replace(GOUT, phrases=(Phrase("gout", "Chemical"),))],
    ],
)
def test_any_other_change_needs_labeling(after):
    labels = label([make_document("n", "Gout.")], [GOUT])
    assert labels_after_muting(labels, [GOUT], after) is None


def test_unmuting_a_phrase_needs_labeling():
    muted = mute(GOUT, [("gout", "Disease")])
    labels = label([make_document("n", "Gout.")], [muted])
    assert labels_after_muting(labels, [muted], [GOUT]) is None


def test_dictionaries_with_the_same_name_need_labeling():
    labels = label([make_document("n", "Gout.")], [GOUT, GOUT])
    assert labels_after_muting(labels, [GOUT, GOUT], [GOUT, GOUT]) is None
