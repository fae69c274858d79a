import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.matching import phrase_tokens
from engine.network.features import Lexicon, lexicon_from, lexicon_record
from engine.network.lexicon import bit_names, lexicon_bits
from engine.settings import MATCH_PRESETS
from tests.support.brute_force import all_matches

STRICT = MATCH_PRESETS["strict"]
WORDS = ["a", "A", "b", "-", "AS", "as", "é", "e"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=4)
PHRASES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(["X", "Y", "Z"]),
    ),
    max_size=8,
)


def dictionary(*phrases, **options):
    return Dictionary("d", tuple(Phrase(text, name) for text, name in phrases), **options)


def named_bits(sentence, *phrases, types=("LOC", "ORG"), **options):
    """Return the names of the bits that are set for each token."""
    bits = lexicon_bits([sentence.split()], [dictionary(*phrases)], STRICT, types=types, **options)
    names = bit_names(types, **options)
    return [[name for name, bit in zip(names, row, strict=True) if bit] for row in bits]


def brute_force_bits(sentences, phrases, options, types, window):
    """Apply the definition: for every token, type and n, is there a phrase around the token?"""
    tokenized = [
        (text, tokens, name)
        for text, name in phrases
        for tokens in phrase_tokens(text, options, tokens_given=True)
    ]
    return [
        [
            any((t - j, t - j + n, name) in matches for j in range(n))
            for name in types
            for n in range(1, window + 1)
        ]
        for sentence in sentences
        for matches in [all_matches(sentence, tokenized, options)]
        for t in range(len(sentence))
    ]


def test_bits_encode_the_length_of_the_phrase_around_a_token():
    assert named_bits("in New York", ("New York", "LOC")) == [[], ["LOC of 2"], ["LOC of 2"]]


def test_nested_and_overlapping_phrases_all_count():
    phrases = [("New York", "LOC"), ("York", "LOC"), ("York Times", "ORG"), ("York", "ORG")]
    assert named_bits("New York Times", *phrases) == [
        ["LOC of 2"],
        ["LOC of 1", "LOC of 2", "ORG of 1", "ORG of 2"],
        ["ORG of 2"],
    ]


def test_phrases_do_not_run_from_one_sentence_into_the_next():
    bits = lexicon_bits(
        [["New"], [], ["York"]], [dictionary(("New York", "LOC"))], STRICT, types=["LOC"]
    )
    assert bits.shape == (2, 4)
    assert not bits.any()


def test_phrases_longer_than_the_window_and_of_other_types_do_not_count():
    assert named_bits("a b c", ("a b c", "LOC"), ("a", "PER"), window=2) == [[], [], []]
    assert named_bits("a b c", ("a b c", "LOC"), types=["LOC"], window=3) == [
        ["LOC of 3"],
        ["LOC of 3"],
        ["LOC of 3"],
    ]


def test_skipped_hyphens_count_as_tokens_of_the_phrase():
    bits = lexicon_bits(
        [["beta", "-", "blocker"]],
        [dictionary(("beta blocker", "Drug"))],
        MATCH_PRESETS["loose"],
        types=["Drug"],
        window=3,
    )
    assert [bit_names(["Drug"], 3)[i] for i in bits.argmax(axis=1)] == ["Drug of 3"] * 3


def test_muted_phrases_and_disabled_dictionaries_set_no_bit():
    muted = dictionary(("flu", "X"), muted=frozenset({("flu", "X")}))
    disabled = dictionary(("flu", "X"), is_enabled=False)
    assert not lexicon_bits([["flu"]], [muted, disabled], STRICT, types=["X"]).any()


def test_text_that_we_tokenized_is_matched_by_our_tokens():
    sentence, phrases = [["IL", "-", "2"]], [dictionary(("IL-2", "X"))]
    assert lexicon_bits(sentence, phrases, STRICT, types=["X"], tokens_given=False).any()
    assert not lexicon_bits(sentence, phrases, STRICT, types=["X"], tokens_given=True).any()


def test_bit_names_are_in_the_order_of_the_columns():
    assert bit_names(["X", "Y"], 2) == ["X of 1", "X of 2", "Y of 1", "Y of 2"]


def test_without_sentences_or_types_the_array_is_empty():
    assert lexicon_bits([], [], STRICT, types=["X", "Y"]).shape == (0, 8)
    assert lexicon_bits([["a"]], [], STRICT, types=[]).shape == (1, 0)


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        lexicon_bits([], [], STRICT, types=["X"], window=0)
    with pytest.raises(ValueError, match="types must differ"):
        bit_names(["X", "X"])


@given(SENTENCES, PHRASES, st.sampled_from(sorted(MATCH_PRESETS)), st.integers(1, 4))
def test_bits_equal_brute_force(sentences, phrases, preset, window):
    options, types = MATCH_PRESETS[preset], ["X", "Y"]
    half = len(phrases) // 2
    dictionaries = [dictionary(*phrases[:half]), dictionary(*phrases[half:])]
    bits = lexicon_bits(sentences, dictionaries, options, types=types, window=window)
    expected = brute_force_bits(sentences, phrases, options, types, window)
    np.testing.assert_array_equal(bits, np.array(expected, dtype=bool).reshape(bits.shape))


def test_adaptive_bits_follow_what_training_decided_in_any_text():
    phrases = [("Turkey", "LOC"), ("Aspirin", "ORG")]
    bits = lexicon_bits(
        [["turkey", "aspirin", "TURKEY"], ["in", "Turkey", "(", "T", ")"]],
        [dictionary(*phrases)],
        MATCH_PRESETS["adaptive"],
        types=("LOC", "ORG"),
        window=1,
        folding={"ORG"},
    )
    assert bits.astype(int).tolist() == [
        [0, 0], [0, 1], [1, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("preset", MATCH_PRESETS)
@pytest.mark.parametrize("folding", [frozenset(), frozenset({"LOC"})])
def test_a_lexicon_comes_back_from_its_record(preset, folding):
    given = dictionary(("Turkey", "LOC"), match=MATCH_PRESETS[preset])
    lexicon = Lexicon((given,), MATCH_PRESETS[preset], ("LOC",), True, folding)
    assert lexicon_from(json.loads(json.dumps(lexicon_record(lexicon)))) == lexicon


def test_the_record_of_an_earlier_run_still_loads():
    record = lexicon_record(Lexicon((), MATCH_PRESETS["balanced"], ("LOC",), True))
    assert record is not None and "folding" not in record
    assert "is_adaptive" not in record["options"]
    assert lexicon_from(record).folding == frozenset()
