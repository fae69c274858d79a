import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.matching import _CODES, Matcher, PhraseIndex, _code, phrase_tokens
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


def test_codes_are_distinct_and_never_hold_a_separator():
    numbers = [0, 1, _CODES - 1, _CODES, _CODES + 1, 2 * _CODES - 1, 2 * _CODES, 5 * _CODES]
    codes = [_code(number) for number in numbers]
    assert len(set(codes)) == len(codes)
    assert not any(c.isspace() or "\ud800" <= c <= "\udfff" for code in codes for c in code)


def test_scan_is_right_when_codes_need_two_characters(monkeypatch):
    monkeypatch.setattr("engine.labels.matching._CODES", 2)
    index = PhraseIndex(MATCH_PRESETS["strict"])
    for i, text in enumerate(["a b", "c d e", "f", "g a"]):
        index.add(Phrase(text, "T"), i, text.split())
    tokens = ["x", "a", "b", "g", "a", "b", "c", "d", "e", "f", "y", "g"]
    assert [m[:2] for m in index.scan(tokens)] == [(1, 3), (3, 5), (4, 6), (6, 9), (9, 10)]


@given(TOKENS, PHRASES, st.sampled_from(sorted(MATCH_PRESETS)), st.sampled_from(((), ("T",))))
def test_scan_equals_brute_force(tokens, phrases, preset, folding):
    options = MATCH_PRESETS[preset]
    texts = [" ".join(phrase) for phrase in phrases]
    matcher = Matcher([dictionary(*texts)], options, tokens_given=True, folding=folding)
    expected = all_matches(
        tokens,
        [(t, ts, "T") for t in texts for ts in phrase_tokens(t, options, tokens_given=True)],
        options,
        folding,
    )
    assert {(start, end, "T") for start, end, _ in matcher.scan(tokens)} == expected


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5))
def test_scan_of_any_text_equals_brute_force(text, phrases):
    options = MATCH_PRESETS["balanced"]
    tokens, _ = tokenize(text)
    matcher = Matcher([dictionary(*phrases)], options, tokens_given=False)
    expected = all_matches(tokens, [(p, tokenize(p)[0], "T") for p in phrases], options)
    assert {(start, end, "T") for start, end, _ in matcher.scan(tokens)} == expected
