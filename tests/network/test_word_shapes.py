import string
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.network.word_shapes import ALPHABET_SIZE, CASING_CLASSES, casing_classes, character_ids

LATIN_1_LETTERS = [chr(i) for i in range(0xC0, 0x100) if chr(i).isalpha()]


def ids(word, longest=30):
    return character_ids([word], longest)[0][0].tolist()


def first_id(character):
    return ids(character, 1)[0]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("", "padding"),
        ("1996", "numeric"),
        ("٣", "numeric"),
        ("1,000", "mainly numeric"),
        ("50mg", "all lower"),  # half is not more than half
        ("500mg", "mainly numeric"),
        ("aspirin", "all lower"),
        ("il-2", "all lower"),
        ("état", "all lower"),
        ("AIDS", "all upper"),
        ("COX-2", "all upper"),
        ("A", "all upper"),
        ("Rome", "initial upper"),
        ("McDonald", "initial upper"),
        ("Élan", "initial upper"),
        ("H2o", "initial upper"),
        ("mRNA2", "contains digit"),
        ("-5", "contains digit"),
        ("mRNA", "other"),
        ("(", "other"),
        ("東京", "other"),
    ],
)
def test_casing_class_is_the_first_that_fits(word, expected):
    assert CASING_CLASSES[casing_classes([word])[0]] == expected


def test_casing_classes_come_in_the_order_of_the_words():
    classes = casing_classes(["Rome", "in", "Rome", ""])
    assert classes.dtype == np.int8
    assert classes.tolist() == [5, 3, 5, 0]
    assert casing_classes([]).tolist() == []
    assert len(CASING_CLASSES) == 8


def test_the_alphabet_never_changes_because_saved_taggers_hold_its_ids():
    printable = "".join(map(chr, range(32, 127)))
    assert [first_id(c) for c in printable] == list(range(2, 97))
    assert [first_id(c) for c in "αβγδεζηθικλμνξοπρστυφχψω"] == list(range(97, 121))
    assert ALPHABET_SIZE == character_ids([])[1] == 121


@pytest.mark.parametrize("letter", LATIN_1_LETTERS)
def test_every_latin_1_letter_is_its_base_letter(letter):
    special = dict(zip("ÆæØøÐðÞþß", "AaOoDdTts", strict=True))
    base = special.get(letter) or unicodedata.normalize("NFD", letter)[0]
    assert base in string.ascii_letters
    assert first_id(letter) == first_id(base)


@pytest.mark.parametrize("group", ["αΑάἀ", "βΒϐ", "μΜµ", "σΣς", "ωΩώΩ", "φΦϕ"])
def test_forms_of_one_greek_letter_share_an_id(group):
    assert len({first_id(c) for c in group}) == 1
    assert first_id(group[0]) >= 97


@pytest.mark.parametrize(
    ("character", "base"), [("–", "-"), ("−", "-"), ("’", "'"), ("“", '"'), ("\u00a0", " ")]
)
def test_typographic_punctuation_is_treated_as_ascii(character, base):
    assert first_id(character) == first_id(base)


@pytest.mark.parametrize("character", ["東", "ж", "😀", "\0", "\n", "\u0301", "\ud800"])
def test_other_characters_are_unknown(character):
    assert ids(character, 2) == [1, 0]


def test_words_are_padded_and_long_ones_keep_their_halves():
    assert ids("abc", 5) == [*ids("abc", 3), 0, 0]
    assert ids("abcdefgh", 4) == ids("abgh", 4)
    assert ids("abcdefgh", 5) == ids("abcgh", 5)
    assert ids("abcdefgh", 1) == ids("a", 1)
    assert ids("abcdefgh", 8) == [67, 68, 69, 70, 71, 72, 73, 74]


def test_ids_come_in_the_order_of_the_words():
    matrix, _ = character_ids(["b", "a", "b", ""], 2)
    assert matrix.dtype == np.int16
    assert matrix.tolist() == [[68, 0], [67, 0], [68, 0], [0, 0]]
    assert character_ids([], 7)[0].shape == (0, 7)
    assert character_ids(["", ""], 7)[0].tolist() == [[0] * 7] * 2


def test_composed_and_decomposed_accents_are_the_same():
    assert ids("Sjögren") == ids("Sjo\u0308gren") == ids("Sjogren")


def test_a_width_of_nothing_is_refused():
    with pytest.raises(ValueError, match="longest must be at least 1, got 0"):
        character_ids(["a"], 0)


@given(st.lists(st.text(max_size=12), max_size=6), st.integers(1, 8))
def test_ids_of_a_word_do_not_depend_on_other_words(words, longest):
    matrix, size = character_ids(words, longest)
    assert matrix.shape == (len(words), longest)
    assert matrix.tolist() == [ids(word, longest) for word in words]
    assert not matrix.size or 0 <= matrix.min() <= matrix.max() < size


@given(st.text(max_size=12))
def test_padding_stands_only_after_the_end(word):
    length = len(unicodedata.normalize("NFC", word))
    assert [i > 0 for i in ids(word)] == [True] * length + [False] * (30 - length)


@given(st.text(max_size=12))
def test_every_word_has_a_casing_class(word):
    assert (casing_classes([word])[0] == 0) == (word == "")
