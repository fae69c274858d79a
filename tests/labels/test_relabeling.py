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
from tests.support.labelings import DEFINING, TYPES, assert_same, dictionaries, texts


@given(dictionaries(), texts(), st.data())
def test_muting_some_phrases_gives_the_labels_of_the_rest(before, documents, data):
    pairs = sorted({(p.text, p.entity_type) for d in before for p in d.phrases})
    labels = label(documents, before, "balanced")
    chosen = st.lists(st.sampled_from(pairs), max_size=4) if pairs else st.just([])
    for _ in range(2):  # phrases can be muted in the result too
        after = [mute(d, data.draw(chosen)) if data.draw(st.booleans()) else d for d in before]
        muted = labels_after_muting(labels, before, after)
        assert muted is not None
        assert_same(muted, label(documents, after, "balanced"))
        before, labels = after, muted


@given(dictionaries(DEFINING), texts(DEFINING), st.data())
def test_muting_under_adaptive_matching_gives_the_same_or_is_left_to_labeling(
    before, documents, data
):
    pairs = sorted({(p.text, p.entity_type) for d in before for p in d.phrases})
    pairs += [("AB", name) for name in TYPES]  # an abbreviation can be muted, too
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.labels.adaptation.FEWEST_EXACT", 2)
        labels = label(documents, before, "adaptive")
        chosen = st.lists(st.sampled_from(pairs), max_size=3)
        after = [
            replace(d, muted=d.muted | set(data.draw(chosen))) if data.draw(st.booleans()) else d
            for d in before
        ]
        muted = labels_after_muting(labels, before, after)
        if muted is not None:
            assert_same(muted, label(documents, after, "adaptive"))


NAMES = Dictionary("d", (Phrase("Turkey", "LOC"), Phrase("Ankara", "LOC"), Phrase("oslo", "LOC")))
ON_NAMES = [make_document("n", "In Turkey, Turkey. " * 10 + "In oslo, oslo, Ankara, TURKEY.")]


def test_muting_decides_again_about_letter_case():
    labels = label(ON_NAMES, [NAMES], "adaptive")
    assert labels.adaptation is not None
    assert [(c.exact, c.lower, c.is_free) for c in labels.adaptation.cases] == [(23, 2, False)]
    without_ankara = [mute(NAMES, [("Ankara", "LOC")])]
    muted = labels_after_muting(labels, [NAMES], without_ankara)
    assert muted is not None
    assert_same(muted, label(ON_NAMES, without_ankara, "adaptive"))
    without_turkey = [mute(NAMES, [("Turkey", "LOC")])]  # too few are left, half in lower case
    assert labels_after_muting(labels, [NAMES], without_turkey) is None


@pytest.mark.parametrize("pair", [("AF", "D"), ("atrial fibrillation", "D")])
def test_muting_an_abbreviation_or_its_phrase_is_left_to_labeling(pair):
    given = Dictionary("d", (Phrase("atrial fibrillation", "D"), Phrase("gout", "D")))
    documents = [make_document("n", "He has atrial fibrillation (AF). Gout, not AF.")]
    labels = label(documents, [given], "adaptive")
    assert labels_after_muting(labels, [given], [mute(given, [("gout", "D")])]) is not None
    after = [replace(given, muted=frozenset([pair]))]
    assert labels_after_muting(labels, [given], after) is None


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
