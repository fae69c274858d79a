import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.folding import fold, is_acronym, singular, without_accents
from engine.settings import MATCH_PRESETS, MatchOptions

NOTHING = MATCH_PRESETS["strict"]  # every option off


@pytest.mark.parametrize(
    "option, token, folded",
    [
        ("ignore_case", "Aspirin", "aspirin"),
        ("ignore_case", "STRASSE", "strasse"),
        ("ignore_case", "Straße", "strasse"),
        ("ignore_case", "ΣΟΦΟΣ", "σοφοσ"),
        ("ignore_case", "İ", "i\u0307"),
        ("ignore_unicode_form", "caf\u00e9", "caf\u00e9"),
        ("ignore_unicode_form", "cafe\u0301", "caf\u00e9"),
        ("ignore_unicode_form", "ﬁbrosis", "fibrosis"),
        ("ignore_unicode_form", "ＡＢ１２", "AB12"),
        ("ignore_unicode_form", "\u00b5g", "\u03bcg"),
        ("ignore_unicode_form", "\u03bcg", "\u03bcg"),
        ("ignore_unicode_form", "zero\u200bwidth", "zerowidth"),
        ("ignore_unicode_form", "soft\u00adhyphen", "softhyphen"),
        ("ignore_unicode_form", "\ufeffword", "word"),
        ("ignore_unicode_form", "e\u200b\u0301", "\u00e9"),
        ("ignore_unicode_form", "\u200b", "\u200b"),
        ("ignore_accents", "Sjögren", "Sjogren"),
        ("ignore_accents", "Sjo\u0308gren", "Sjogren"),
        ("ignore_accents", "Ménière", "Meniere"),
        ("ignore_accents", "İ", "I"),
        ("ignore_accents", "\u0301", "\u0301"),
        ("ignore_plurals", "tumors", "tumor"),
        ("ignore_plurals", "Tumors", "Tumor"),
        ("ignore_hyphens", "-", ""),
        ("ignore_hyphens", "\u2010", ""),
        ("ignore_hyphens", "\u2011", ""),
        ("ignore_hyphens", "\u2013", ""),
        ("ignore_hyphens", "\u2014", ""),
        ("ignore_hyphens", "\u2212", ""),
        ("ignore_hyphens", "\uff0d", ""),
        ("ignore_hyphens", "/", "/"),
        ("ignore_hyphens", "IL-2", "IL-2"),
    ],
)
def test_each_option_folds_its_own_difference_and_only_when_it_is_on(option, token, folded):
    assert fold(token, replace(NOTHING, **{option: True})) == folded
    assert fold(token, NOTHING) == token


@pytest.mark.parametrize(
    "one, other, preset",
    [
        ("ASPIRIN", "aspirin", "balanced"),
        ("İstanbul", "i\u0307stanbul", "balanced"),
        ("GROẞE", "große", "balanced"),
        ("Caf\u00e9", "CAFE\u0301", "balanced"),
        ("ΠΡΑΫ́Σ", "πραΰς", "balanced"),
        ("Ｂ１２", "b12", "balanced"),
        ("ﬂuorine", "Fluorine", "balanced"),
        ("β\u200b", "Β", "balanced"),
        ("Tumours", "tumour", "loose"),
        ("SJÖGREN", "sjogren", "loose"),
        ("ΐ", "ι", "loose"),
    ],
)
def test_presets_treat_spellings_as_the_same(one, other, preset):
    assert fold(one, MATCH_PRESETS[preset]) == fold(other, MATCH_PRESETS[preset])
    assert fold(one, NOTHING) != fold(other, NOTHING)


@pytest.mark.parametrize(
    "one, other", [("Sjögren", "Sjogren"), ("tumors", "tumor"), ("-", "\u2013"), ("mg", "µg")]
)
def test_balanced_keeps_accents_plurals_and_hyphens_apart(one, other):
    assert fold(one, MATCH_PRESETS["balanced"]) != fold(other, MATCH_PRESETS["balanced"])


@given(
    st.text(min_size=1), st.builds(MatchOptions, *[st.booleans(), st.just(4)], *[st.booleans()] * 4)
)
def test_fold_leaves_at_least_one_character_of_every_token_but_a_hyphen(token, options):
    assert fold(token, options) or (options.ignore_hyphens and len(token) == 1)


@given(st.text(min_size=1))
def test_fold_treats_composed_and_decomposed_accents_alike(token):
    composed, decomposed = (unicodedata.normalize(form, token) for form in ("NFC", "NFD"))
    for preset in ("balanced", "loose"):
        options = MATCH_PRESETS[preset]
        assert fold(composed, options) == fold(decomposed, options)


@pytest.mark.parametrize(
    "plural, expected",
    [
        ("tumors", "tumor"),
        ("diseases", "disease"),
        ("biopsies", "biopsy"),
        ("dies", "die"),
        ("rashes", "rash"),
        ("patches", "patch"),
        ("beaches", "beach"),
        ("abscesses", "abscess"),
        ("boxes", "box"),
        ("waltzes", "waltz"),
        ("headaches", "headache"),
        ("aches", "ache"),
        ("sizes", "size"),
        ("doses", "dose"),
        ("virus", "virus"),
        ("sepsis", "sepsis"),
        ("abscess", "abscess"),
        ("gas", "gas"),
        ("ALS", "ALS"),
        ("s", "s"),
        ("", ""),
    ],
)
def test_singular(plural, expected):
    assert singular(plural) == expected


@pytest.mark.parametrize("word", ["headache", "size", "rash", "abscess", "tumor", "biopsy", "dose"])
def test_a_singular_stays_as_it_is(word):
    assert singular(word) == word


def test_without_accents_keeps_a_token_of_marks_only():
    assert without_accents("\u0301\u0308") == "\u0301\u0308"
    assert without_accents("Å") == "A"


@pytest.mark.parametrize(
    "phrase, longest, expected",
    [
        ("AIDS", 4, True),
        ("aids", 4, False),
        ("Aids", 4, False),
        ("K", 4, True),
        ("IL-2", 4, True),
        ("B12", 4, True),
        ("A B C D", 4, True),
        ("NSAID", 4, False),
        ("NSAID", 5, True),
        ("HbA1c", 4, False),
        ("AIDS", 0, False),
        ("1,000", 4, False),
        ("", 4, False),
        ("ÖÄ", 4, True),
        ("東京", 4, False),
    ],
)
def test_is_acronym(phrase, longest, expected):
    assert is_acronym(phrase, longest) is expected
