"""Muting without matching again gives what labeling everything gives, to the last row."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionary import Dictionary, Phrase
from engine.dictionary_editing import mute
from engine.distant import DistantLabels, label
from engine.relabeling import labels_after_muting
from engine.settings import MATCH_PRESETS
from engine.tokenization import make_document, make_tokenized_document

WORDS = ("a", "A", "b", "B", "c", "-", "bs")
TYPES = ("X", "Y", "Z")
OPTIONS = (None, MATCH_PRESETS["strict"], MATCH_PRESETS["loose"])


def assert_same(one: DistantLabels, other: DistantLabels) -> None:
    assert (one.types, one.dictionaries) == (other.types, other.dictionaries)
    for name in ("labels", "bounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    for name in ("matches", "also", "shorter", "phrases"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))


@st.composite
def dictionaries(draw):
    phrases = st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(TYPES),
        st.sampled_from(("", "C1")),
    )
    sets = draw(st.lists(st.lists(phrases, max_size=8), min_size=1, max_size=3))
    made = []
    for i, of in enumerate(sets):
        made.append(
            Dictionary(
                f"d{i}",
                tuple(Phrase(*phrase) for phrase in of),
                match=draw(st.sampled_from(OPTIONS)),
                priority=draw(st.integers(0, 1)),
                is_enabled=draw(st.sampled_from((True, True, True, False))),
            )
        )
    return made


@st.composite
def texts(draw):
    sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), max_size=4)
    return [
        make_document("raw", ". ".join(" ".join(of) for of in draw(sentences))),
        make_tokenized_document("given", draw(sentences)),
    ]


@given(dictionaries(), texts(), st.data())
def test_muting_some_phrases_gives_the_labels_of_the_rest(before, documents, data):
    pairs = sorted({(p.text, p.entity_type) for d in before for p in d.phrases})
    labels = label(documents, before)
    chosen = st.lists(st.sampled_from(pairs), max_size=4) if pairs else st.just([])
    for _ in range(2):  # what comes out can be muted in again
        after = [mute(d, data.draw(chosen)) if data.draw(st.booleans()) else d for d in before]
        muted = labels_after_muting(labels, before, after)
        assert muted is not None
        assert_same(muted, label(documents, after))
        before, labels = after, muted


def test_a_shorter_phrase_comes_forth_where_a_longer_one_was_muted():
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
def test_any_other_change_is_left_to_labeling(after):
    labels = label([make_document("n", "Gout.")], [GOUT])
    assert labels_after_muting(labels, [GOUT], after) is None


def test_letting_a_phrase_match_again_is_left_to_labeling():
    muted = mute(GOUT, [("gout", "Disease")])
    labels = label([make_document("n", "Gout.")], [muted])
    assert labels_after_muting(labels, [muted], [GOUT]) is None


def test_dictionaries_of_one_name_are_left_to_labeling():
    labels = label([make_document("n", "Gout.")], [GOUT, GOUT])
    assert labels_after_muting(labels, [GOUT, GOUT], [GOUT, GOUT]) is None
