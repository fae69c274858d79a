"""Generate dictionaries and texts with hypothesis, and compare distant labels."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import DistantLabels
from engine.settings import MATCH_PRESETS
from engine.text.tokenization import make_document, make_tokenized_document

WORDS = ("a", "A", "b", "B", "c", "-", "bs")
TYPES = ("X", "Y", "Z")
OPTIONS = (None, MATCH_PRESETS["strict"], MATCH_PRESETS["loose"])
# Words with a bracket and short forms, so that a text defines abbreviations.
DEFINING = ("A", "Alpha", "beta", "alpha", "AB", "Ab", "( AB )", "( AB", ")", "beta ( AB )")


def assert_same(one: DistantLabels, other: DistantLabels) -> None:
    assert (one.types, one.dictionaries) == (other.types, other.dictionaries)
    for name in ("labels", "bounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    for name in ("matches", "also", "shorter", "phrases"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert (one.adaptation is None) == (other.adaptation is None)
    if one.adaptation and other.adaptation:
        assert one.adaptation.cases == other.adaptation.cases
        assert one.adaptation.abbreviations == other.adaptation.abbreviations
        np.testing.assert_array_equal(one.adaptation.exact, other.adaptation.exact, strict=True)
        np.testing.assert_array_equal(one.adaptation.other, other.adaptation.other, strict=True)


@st.composite
def dictionaries(draw, words=WORDS):
    phrases = st.tuples(
        st.lists(st.sampled_from(words), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(TYPES),
        st.sampled_from(("", "C1")),
    )
    sets = draw(st.lists(st.lists(phrases, max_size=8), min_size=1, max_size=3))
    made = []
    for i, rows in enumerate(sets):
        made.append(
            Dictionary(
                f"d{i}",
                tuple(Phrase(*phrase) for phrase in rows),
                match=draw(st.sampled_from(OPTIONS)),
                priority=draw(st.integers(0, 1)),
                is_enabled=draw(st.sampled_from((True, True, True, False))),
            )
        )
    return made


@st.composite
def texts(draw, words=WORDS):
    sentences = st.lists(st.lists(st.sampled_from(words), min_size=1, max_size=12), max_size=4)
    given = [" ".join(sentence).split() for sentence in draw(sentences)]
    return [
        make_document("raw", ". ".join(" ".join(sentence) for sentence in draw(sentences))),
        make_tokenized_document("given", given),
    ]
