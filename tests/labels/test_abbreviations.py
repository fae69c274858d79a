"""Abbreviations are found where the text defines them, as Schwartz and Hearst (2003) describe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.labels.abbreviations import find_definitions
from engine.text.tokenization import tokenize


def defined(text):
    """Return {short form: long form} of a sentence, tokens with a space between them."""
    tokens, _ = tokenize(text)
    return {
        " ".join(tokens[slice(*short)]): " ".join(tokens[slice(*long)])
        for short, long in find_definitions(tokens)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a heat shock transcription factor (HSF)", {"HSF": "heat shock transcription factor"}),
        # A known limit of the rule: a shorter long form explains the letters, too.
        ("thyroid transcription factor 1 (TTF-1)", {"TTF - 1": "transcription factor 1"}),
        ("IL-2 (interleukin 2)", {"IL - 2": "interleukin 2"}),
        ("the AF (atrial fibrillation) group", {"AF": "atrial fibrillation"}),
        ("Gcn5-related N-acetyltransferase (GNAT)",
         {"GNAT": "Gcn5 - related N - acetyltransferase"}),
        ("acetylcholine esterase (AChE)", {"AChE": "acetylcholine esterase"}),
        ("methamphetamine (MAP) and gemcitabine (GEM)",
         {"MAP": "methamphetamine", "GEM": "gemcitabine"}),
        ("5-fluorouracil (5-FU)", {"5 - FU": "5 - fluorouracil"}),
        ("end-stage renal disease (ESRD; stage 5)", {"ESRD": "end - stage renal disease"}),
        ("acetylsalicylic acid (ASA, 50 mg / kg)", {"ASA": "acetylsalicylic acid"}),
        ("chronic atrial fibrillation (AF)", {"AF": "atrial fibrillation"}),  # the shortest
        ("Tetrandrine (TET)", {"TET": "Tetrandrine"}),
        ("tacrolimus (Tac)", {"Tac": "tacrolimus"}),
    ],
)  # fmt: skip
def test_definitions_are_found(text, expected):
    assert defined(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "twenty patients (1995)",
        "twenty patients (20)",
        "the so-called block (see below)",
        "in patients (n = 20)",
        "vitamin A (A)",  # one letter
        "atrial fibrillation (XF)",  # a letter that is not there
        "infarction (FI)",  # the first letter begins no word
        "fibrillation, atrial (AF)",  # in the wrong order
        "atrial fibrillation (AF",
        "atrial fibrillation AF)",
        "atrial fibrillation ) AF (",
        "atrial fibrillation ()",
        "(AF)",
        "AF (AF)",
        "the AF group (AF)",  # no longer than the short form
        "AF (which is what the doctors in this hospital found in most of the patients)",
        "atrial fibrillation (ATRIALFIBRI)",  # too long for a short form
        "atrial fibrillation (A F I)",  # three words
        "Francis Moreau (France)",  # a name, and not short for his
        "Taxol (the maximum dose of paclitaxel)",
    ],
)
def test_what_defines_nothing(text):
    assert defined(text) == {}


def test_the_inner_of_two_brackets_counts():
    assert defined("(in atrial fibrillation (AF) only)") == {"AF": "atrial fibrillation"}


def test_a_long_form_reaches_only_so_far_back():
    assert defined("Angina " + "x " * 8 + "followed (AF)") == {}
    assert defined("Angina " + "x " * 5 + "followed (AF)") != {}


def test_only_definitions_at_given_ends_are_looked_for():
    tokens, _ = tokenize("atrial fibrillation (AF) or AF (atrial fibrillation)")
    assert len(find_definitions(tokens)) == 2
    assert [d.long for d in find_definitions(tokens, {2})] == [(0, 2)]
    assert [d.long for d in find_definitions(tokens, {10})] == [(8, 10)]
    assert find_definitions(tokens, {1}) == []


@given(st.lists(st.sampled_from(["(", ")", "a", "B", "AB", "Ab", "alpha", "-", ",", "İ", "1"])))
def test_every_definition_reads_back(tokens):
    for short, long in find_definitions(tokens):
        letters = [c for t in tokens[slice(*short)] for c in t.casefold() if c.isalnum()]
        text = iter("".join(tokens[slice(*long)]).casefold())
        assert all(letter in text for letter in letters)  # a subsequence
        assert tokens[long[0]].casefold().startswith(letters[0]) or "İ" in tokens[long[0]]
