from dataclasses import replace
from pathlib import Path

import pytest

import engine.dictionaries.audit
from engine.dictionaries.audit import (
    audit_dictionaries,
    general_share,
    is_common_word,
    phrase_flags,
)
from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.settings import LANGUAGES
from engine.text.language import in_language

DISEASES = Dictionary("Disease.txt", (Phrase("Cold", "Disease"), Phrase("measles", "Disease")))
SYMPTOMS = Dictionary("Symptom.txt", (Phrase("cold", "Symptom"), Phrase("ache", "Symptom")))


@pytest.mark.parametrize(
    "text, flags",
    [
        ("aspirin", ()),
        ("the", ("stop word", "short")),
        ("The", ("stop word", "short")),
        ("of the", ("stop word",)),
        ("A", ("stop word", "very short")),
        ("WHO", ("short",)),
        ("will", ("stop word",)),
        ("lead", ("common word",)),
        ("Lead", ()),
        ("lead poisoning", ()),
        ("K", ("very short",)),
        ("DOX", ("short",)),
        ("2019", ("number",)),
        ("--", ("very short", "number")),
        ("1,000", ("number",)),
        ("東京都庁", ()),
        ("a b c d e f g h i j k l", ()),
        ("a b c d e f g h i j k l m", ("long",)),
        ("a-b-c-d-e-f-g", ("long",)),  # 7 letters and 6 hyphens
    ],
)
def test_phrase_flags(text, flags):
    assert phrase_flags(text) == flags


def test_two_types_finds_the_same_phrase_in_another_case():
    table = audit_dictionaries([DISEASES, SYMPTOMS]).two_types
    assert table.to_dict("records") == [
        {"phrase": "Cold", "types": "Disease; Symptom", "dictionaries": "Disease.txt; Symptom.txt"}
    ]


def test_two_types_finds_them_within_one_dictionary():
    both = Dictionary("d.csv", (Phrase("cold", "Disease"), Phrase("cold", "Symptom")))
    assert audit_dictionaries([both]).two_types.values.tolist() == [
        ["cold", "Disease; Symptom", "d.csv"]
    ]


def test_two_types_is_empty_when_two_dictionaries_agree():
    again = replace(DISEASES, name="more.txt")
    assert audit_dictionaries([DISEASES, again]).two_types.empty


def test_two_types_does_not_depend_on_the_order_of_dictionaries():
    forward, backward = (
        audit_dictionaries([DISEASES, SYMPTOMS]),
        audit_dictionaries([SYMPTOMS, DISEASES]),
    )
    assert forward.two_types.equals(backward.two_types)


def test_two_types_ignores_muted_phrases():
    muted = mute(SYMPTOMS, [("cold", "Symptom")])
    assert audit_dictionaries([DISEASES, muted]).two_types.empty


def test_suspicious_lists_each_phrase_with_all_its_flags():
    rows = audit_dictionaries([DISEASES, SYMPTOMS]).suspicious.values.tolist()
    assert rows == [
        ["Cold", "Disease", "Disease.txt", "in two types"],
        ["cold", "Symptom", "Symptom.txt", "common word; in two types"],
    ]


def test_summary_has_one_row_per_dictionary():
    disabled = mute(replace(SYMPTOMS, is_enabled=False, priority=2), [("cold", "Symptom")])
    flagged = Dictionary("Gene.txt", (Phrase("can", "Gene"), Phrase("TP53", "Gene")))
    assert audit_dictionaries([flagged, disabled]).summary.to_dict("records") == [
        {
            "name": "Gene.txt",
            "types": "Gene",
            "phrases": 2,
            "enabled": True,
            "muted": 0,
            "priority": 0,
            "flagged": 1,
            "fingerprint": flagged.fingerprint,
        },
        {
            "name": "Symptom.txt",
            "types": "Symptom",
            "phrases": 2,
            "enabled": False,
            "muted": 1,
            "priority": 2,
            "flagged": 0,
            "fingerprint": disabled.fingerprint,
        },
    ]


def test_audit_of_nothing_has_the_same_columns():
    empty, full = audit_dictionaries([]), audit_dictionaries([DISEASES, SYMPTOMS])
    for name in ("summary", "two_types", "suspicious"):
        assert list(getattr(empty, name).columns) == list(getattr(full, name).columns)
        assert getattr(empty, name).empty


@pytest.mark.parametrize("name, least", [("stop_words", 150), ("common_words", 1500)])
def test_word_lists_are_sorted_lower_case_and_without_duplicates(name, least):
    path = Path(engine.dictionaries.audit.__file__).parent / "wordlists" / f"{name}.txt"
    words = path.read_text(encoding="utf-8").splitlines()
    assert words == sorted({word.strip().lower() for word in words})
    assert len(words) >= least


@pytest.mark.parametrize("word", ["gold", "cold", "march", "rose", "stroke", "reading", "apple"])
def test_everyday_words_that_name_things_elsewhere_are_flagged(word):
    assert "common word" in phrase_flags(word)


def test_ranks_are_of_listed_words():
    folder = Path(engine.dictionaries.audit.__file__).parent / "wordlists"
    lines = (folder / "word_ranks.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split()[0] for line in lines]
    assert words == sorted(words)
    assert all(is_common_word(word) for word in words)
    assert general_share("the") > general_share("lead") > general_share("dosage") > 0
    assert general_share("warfarin") == 0


# ---- other languages ------------------------------------------------------------------------

EVERYDAY = {
    "de": ("Haus", "gehen", "Straße", "Jahre"),
    "fr": ("maison", "aller", "temps", "années"),
    "es": ("casa", "hablar", "años", "mujer"),
    "it": ("casa", "andare", "città", "anni"),
    "pt": ("casa", "falar", "anos", "mulher"),
    "nl": ("huis", "gaan", "jaren", "vrouw"),
}
NAMES = ("Berlin", "Deutschland", "Paris", "Peter", "Maria", "Amsterdam", "Aspirin", "Metformin")


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_each_language_has_everyday_words_and_they_are_no_names(code):
    with in_language(code):
        for word in EVERYDAY[code]:
            assert is_common_word(word.lower()), word
            assert {"common word", "stop word"} & set(phrase_flags(word)), word
            assert 0 < general_share(word.lower()) < 0.1
        assert not any(is_common_word(name.lower()) for name in NAMES)
        assert general_share("metformin") == 0
    # "casa" and "Haus" are no everyday words of English.
    assert not any(is_common_word(word.lower()) for word in ("haus", *EVERYDAY[code][1:2]))


def test_a_german_noun_is_everyday_with_its_capital_and_elsewhere_a_capital_is_a_name():
    with in_language("de"):
        assert phrase_flags("Haus") == phrase_flags("haus") == ("common word",)
        assert phrase_flags("HAUS") == ()
    with in_language("fr"):
        assert phrase_flags("maison") == ("common word",) and phrase_flags("Maison") == ()
    assert phrase_flags("Haus") == () and phrase_flags("Lead") == ()


def test_frequent_words_are_a_larger_share_of_a_language():
    with in_language("de"):
        assert general_share("und") > general_share("haus") > general_share("beeinflussen") > 0
        # Phrases come without an English ending: "jahr" of "jahrs", "alte" of "altes".
        assert is_common_word("etwa") and is_common_word("mindesten")


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "en"])
def test_lists_of_other_languages_are_folded_sorted_and_ranked(code):
    folder = Path(engine.dictionaries.audit.__file__).parent / "wordlists"
    lines = (folder / f"everyday_{code}.txt").read_text(encoding="utf-8").splitlines()
    words, ranks = zip(*map(str.split, lines), strict=True)
    assert list(words) == sorted({word.casefold() for word in words})
    assert len(words) == 4_000 and len(set(ranks)) == 4_000
    assert "CC BY-SA 4.0" in (folder / "README.md").read_text(encoding="utf-8")
