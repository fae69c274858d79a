import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.matching import Matcher, phrase_tokens
from engine.labels.phrase_index import ArrayIndex, FlashtextIndex, _characters, make_index
from engine.labels.vocabulary import UNKNOWN, Vocabulary, join_entries
from engine.settings import MATCH_PRESETS
from engine.text.tokenization import tokenize
from tests.support.brute_force import all_matches

WORDS = [
    "a", "A", "b", "B", "é", "e\u0301", "e", "E", "-", "\u2013", "AS", "as", "ass", "Union",
    "unions", "😀", "İ", "i\u0307", "ß", "SS", "ss", "x\u200by", "xy", "東",
]  # fmt: skip
TOKENS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)
PHRASES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=8)


def dictionary(*phrases, name="d", **options):
    return Dictionary(name, tuple(Phrase(text, "T") for text in phrases), **options)


def matched(text, *phrases, preset="balanced", folding=()):
    tokens, _ = tokenize(text)
    options = MATCH_PRESETS[preset]
    matcher = Matcher([dictionary(*phrases)], options, tokens_given=False, folding=folding)
    return [" ".join(tokens[start:end]) for start, end, _ in matcher.scan(tokens)]


def test_scan_finds_adjacent_matches():
    assert matched("Paris London Rome", "Paris", "London", "Rome") == ["Paris", "London", "Rome"]


def test_scan_finds_nested_and_overlapping_phrases():
    text = "food safety standards"
    assert matched(text, "food safety", "safety", "safety standards") == [
        "food safety",
        "safety",
        "safety standards",
    ]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("benchMARKing", "Mark"),
        ("erhält.", "lt."),
        ("catα", "cat"),
        ("abcé", "abc"),
    ],
)
def test_scan_never_matches_inside_a_token(text, phrase):
    assert matched(text, phrase) == []


ALL = {"strict", "adaptive", "balanced", "loose"}


@pytest.mark.parametrize(
    ("text", "phrase", "presets"),
    [
        ("aspirin", "aspirin", ALL),
        ("Aspirin", "aspirin", {"adaptive", "balanced", "loose"}),
        ("aids", "AIDS", set()),
        ("AIDS", "AIDS", ALL),
        ("IL - 2", "IL-2", ALL),
        ("il-2", "IL-2", set()),
        ("LUPUS", "lupus", {"adaptive", "balanced", "loose"}),
        ("Sjögren", "Sjogren", {"loose"}),
        ("cafe\u0301", "café", {"adaptive", "balanced", "loose"}),
        ("tumors", "tumor", {"loose"}),
        ("beta-blocker", "beta blocker", {"loose"}),
        ("beta blocker", "beta-blocker", {"loose"}),
        ("(insulin-dependent) diabetes", "( insulin - dependent ) diabetes", None),
        ("new\u00a0\nyork", "new york", None),
        ("can\u200bcer", "cancer", {"adaptive", "balanced", "loose"}),
    ],
)
def test_presets_differ_as_they_promise(text, phrase, presets):
    expected = ALL if presets is None else presets
    assert {preset for preset in MATCH_PRESETS if matched(text, phrase, preset=preset)} == expected


@pytest.mark.parametrize(
    ("phrase", "careful", "free"),
    [
        ("Japan", ["Japan", "JAPAN", "JApan"], ["japan", "jAPAN"]),
        ("Sri Lanka", ["Sri Lanka", "SRI Lanka"], ["sri Lanka", "Sri lanka"]),
        ("aspirin", ["aspirin", "Aspirin", "ASPIRIN"], []),
        ("mRNA", ["mRNA", "MRNA"], ["mrna", "Mrna"]),
        ("Straße", ["Straße", "STRASSE"], ["strasse", "straße"]),
        ("Jose\u0301", ["José", "JOSÉ"], ["josé"]),
        ("東京", ["東京"], []),
    ],
)
def test_adaptive_phrases_match_with_more_capitals_unless_their_type_is_free(phrase, careful, free):
    for text in careful:
        assert matched(text, phrase, preset="adaptive"), text
    for text in free:
        assert not matched(text, phrase, preset="adaptive"), text
        assert matched(text, phrase, preset="adaptive", folding=("T",)), text


def test_short_acronyms_stay_exact_whatever_the_type():
    for folding in ((), ("T",), None):
        assert matched("AIDS aids Aids", "AIDS", preset="adaptive", folding=folding) == ["AIDS"]


def test_scan_offsets_survive_letters_that_grow_when_folded():
    tokens, starts = tokenize("İ love Big Apple")
    matcher = Matcher([dictionary("big apple")], MATCH_PRESETS["balanced"], tokens_given=False)
    [(start, end, _)] = matcher.scan(tokens)
    assert (starts[start], starts[end - 1] + len(tokens[end - 1])) == (7, 16)


def test_scan_finds_phrases_inside_a_run_of_unspaced_script():
    assert matched("東京京都へ", "東京", "京都") == ["東 京", "京 都"]


def test_each_dictionary_may_match_in_its_own_way():
    strict = dictionary("Rash", name="strict", match=MATCH_PRESETS["strict"])
    loose = dictionary("fever", name="loose", match=MATCH_PRESETS["loose"])
    matcher = Matcher([strict, loose], MATCH_PRESETS["balanced"], tokens_given=False)
    tokens = ("rash", "Rash", "fevers")
    assert [(start, end) for start, end, _ in matcher.scan(tokens)] == [(1, 2), (2, 3)]


def test_muted_phrases_and_disabled_dictionaries_match_nothing():
    muted = dictionary("cold", "flu", muted=frozenset({("cold", "T")}))
    disabled = dictionary("rash", name="off", is_enabled=False)
    matcher = Matcher([muted, disabled], MATCH_PRESETS["balanced"], tokens_given=False)
    assert [m[:2] for m in matcher.scan(("cold", "flu", "rash"))] == [(1, 2)]


@pytest.mark.parametrize("preset", ["balanced", "adaptive", "loose"])
def test_a_phrase_may_match_only_as_it_is_written(preset):
    held = dictionary("Lead", "Cold", as_written=frozenset({("Lead", "T")}))
    tokens = ["Lead", "lead", "LEAD", "Cold", "cold"]
    matcher = Matcher([held], MATCH_PRESETS[preset], tokens_given=True, folding=None)
    assert [start for start, _, _ in matcher.scan(tokens)] == [0, 3, 4]


def test_given_tokens_are_matched_by_the_spaces_of_the_phrase():
    options = MATCH_PRESETS["strict"]
    assert phrase_tokens("U.S. army", options, tokens_given=True) == [("U.S.", "army")]
    assert phrase_tokens("U.S. army", options, tokens_given=False) == [("U", ".", "S", ".", "army")]


def test_acronyms_match_given_tokens_in_either_split():
    matcher = Matcher([dictionary("U.S.")], MATCH_PRESETS["balanced"], tokens_given=True)
    tokens = ("U.S.", "U", ".", "S", ".", "u.s.")
    assert [m[:2] for m in matcher.scan(tokens)] == [(0, 1), (1, 5)]


def entries_of(*texts):
    vocabulary = Vocabulary(MATCH_PRESETS["strict"])
    return vocabulary, join_entries(vocabulary.add(texts, 0, tokens_given=True))


def test_small_dictionaries_and_texts_are_served_by_flashtext(monkeypatch):
    _, entries = entries_of("a b", "c")
    assert isinstance(make_index(entries, tokens=1_000), FlashtextIndex)
    assert isinstance(make_index(entries, tokens=10_000_000), ArrayIndex)
    monkeypatch.setattr("engine.labels.phrase_index._MOST_PHRASE_TOKENS", 2)
    assert isinstance(make_index(entries, tokens=1_000), ArrayIndex)


@pytest.mark.parametrize("make", [FlashtextIndex, ArrayIndex])
def test_an_index_finds_phrases_between_tokens_of_no_phrase(make):
    vocabulary, entries = entries_of("a b", "b", "a b", "b c a")
    codes = vocabulary.codes(["x", "a", "b", "c", "a"])
    assert codes[0] == UNKNOWN
    rows = zip(*(column.tolist() for column in make(entries).find(codes)), strict=True)
    assert sorted(rows) == [(1, 3, 0), (1, 3, 2), (2, 3, 1), (2, 5, 3)]


@pytest.mark.parametrize("make", [FlashtextIndex, ArrayIndex])
def test_an_index_without_phrases_finds_nothing(make):
    _, entries = entries_of()
    for codes in ([], [UNKNOWN, UNKNOWN]):
        assert not len(make(entries).find(np.array(codes, np.int32)).starts)


def test_every_code_is_a_character_of_its_own():
    codes = np.array([UNKNOWN, 0, 1, 0xD6FF, 0xD700, 0xD701, 0x10_0000], np.int32)
    characters = _characters(codes)
    assert len(set(characters)) == len(codes)
    assert not any("\ud800" <= c <= "\udfff" or c.isspace() for c in characters)


# How many tokens are searched: few are served by flashtext, many by arrays.
SEARCHED = st.sampled_from((0, 10_000_000))


@given(
    TOKENS,
    PHRASES,
    st.sampled_from(sorted(MATCH_PRESETS)),
    st.sampled_from(((), ("T",))),
    SEARCHED,
)
def test_scan_equals_brute_force(tokens, phrases, preset, folding, searched):
    options = MATCH_PRESETS[preset]
    texts = [" ".join(phrase) for phrase in phrases]
    matcher = Matcher(
        [dictionary(*texts)], options, tokens_given=True, folding=folding, tokens=searched
    )
    expected = all_matches(
        tokens,
        [(t, ts, "T") for t in texts for ts in phrase_tokens(t, options, tokens_given=True)],
        options,
        folding,
    )
    assert {(start, end, "T") for start, end, _ in matcher.scan(tokens)} == expected


@given(
    st.text(max_size=60),
    st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5),
    SEARCHED,
)
def test_scan_of_any_text_equals_brute_force(text, phrases, searched):
    options = MATCH_PRESETS["balanced"]
    tokens, _ = tokenize(text)
    matcher = Matcher([dictionary(*phrases)], options, tokens_given=False, tokens=searched)
    expected = all_matches(tokens, [(p, tokenize(p)[0], "T") for p in phrases], options)
    assert {(start, end, "T") for start, end, _ in matcher.scan(tokens)} == expected
