"""Sets of dictionaries are joined and edited the same way in the app and the command line."""

from dataclasses import replace

import pytest

from engine.dictionaries.editing import (
    PhraseRow,
    find_phrases,
    join,
    list_phrases,
    mute,
    mute_phrases,
    mute_short_forms,
    relabel_phrases,
    retype,
    unmute_phrases,
)
from engine.dictionaries.model import Dictionary, Phrase
from engine.settings import MATCH_PRESETS

LEAD, BIG_LEAD = Phrase("lead", "Chemical", "D007854", line=2), Phrase("LEAD", "Chemical", line=1)
COLD, COUGH = Phrase("cold", "Disease", line=1), Phrase("cough", "Disease", line=2)
FIRST = Dictionary("a.csv", (COLD, LEAD))
SECOND = Dictionary("b.csv", (BIG_LEAD, COUGH, Phrase("cold", "Symptom")))
ALL_LEAD = [PhraseRow("a.csv", "lead", "Chemical"), PhraseRow("b.csv", "LEAD", "Chemical")]


def pairs(dictionary):
    return [(phrase.text, phrase.entity_type) for phrase in dictionary.phrases]


# ---- which phrases --------------------------------------------------------------------------


def test_a_phrase_is_found_in_any_case_and_any_dictionary():
    assert find_phrases([FIRST, SECOND], [("Lead", "Chemical")]) == ALL_LEAD
    assert find_phrases([FIRST, SECOND], [("lead", "Disease"), ("gout", None)]) == []


def test_a_phrase_is_found_under_one_type_or_under_any():
    both = [PhraseRow("a.csv", "cold", "Disease"), PhraseRow("b.csv", "cold", "Symptom")]
    assert find_phrases([FIRST, SECOND], [("COLD", None)]) == both
    assert find_phrases([FIRST, SECOND], [("COLD", "Symptom")]) == both[1:]


# ---- mute, unmute, relabel ------------------------------------------------------------------


def test_phrases_are_muted_where_they_were_chosen_and_match_again():
    before = [FIRST, SECOND]
    muted = mute_phrases(before, ALL_LEAD[:1])
    assert [dictionary.muted for dictionary in muted] == [{("lead", "Chemical")}, set()]
    assert muted[1] is SECOND
    assert [len(d.muted) for d in mute_phrases(before, ALL_LEAD)] == [1, 1]
    assert unmute_phrases(muted, ALL_LEAD) == before
    assert mute_phrases(before, [PhraseRow("c.csv", "lead", "Chemical")]) == before
    assert mute_phrases(before, [PhraseRow("a.csv", "gout", "Disease")]) == before


def test_phrases_of_several_dictionaries_move_to_one_type_with_tidy_spaces():
    moved = relabel_phrases([FIRST, SECOND], ALL_LEAD, " Heavy  metal ")
    assert moved[0].phrases == (COLD, replace(LEAD, entity_type="Heavy metal"))
    assert pairs(moved[1])[0] == ("LEAD", "Heavy metal")


def test_a_phrase_of_two_types_that_move_to_one_is_kept_once():
    dictionary = Dictionary("d", (COLD, Phrase("cold", "Symptom"), LEAD))
    rows = find_phrases([dictionary], [("cold", None)])
    assert pairs(relabel_phrases([dictionary], rows, "Illness")[0]) == [
        ("cold", "Illness"),
        ("lead", "Chemical"),
    ]
    # The phrase that the type already has stays as it is.
    [merged] = relabel_phrases([dictionary], rows, "Disease")
    assert merged.phrases == (COLD, LEAD)


def test_a_moved_phrase_is_not_muted():
    muted = mute(FIRST, pairs(FIRST))
    [moved] = relabel_phrases([muted], ALL_LEAD, "Metal")
    assert moved.muted == {("cold", "Disease")}


def test_phrases_do_not_move_to_a_type_without_a_name():
    with pytest.raises(ValueError, match="the new type of “lead” is empty"):
        relabel_phrases([FIRST, SECOND], ALL_LEAD, "  ")


# ---- types ----------------------------------------------------------------------------------


def test_types_are_renamed_in_the_dictionary_they_are_named_for():
    changed = retype([FIRST, SECOND], {("b.csv", "Chemical"): " Metal ", ("b.csv", "Disease"): ""})
    assert changed[0] == FIRST
    assert pairs(changed[1]) == [("LEAD", "Metal"), ("cough", "Disease"), ("cold", "Symptom")]


def test_two_types_can_be_swapped():
    dictionary = Dictionary("d", (COLD, Phrase("cold", "Symptom"), LEAD))
    swapped = {("d", "Disease"): "Symptom", ("d", "Symptom"): "Disease"}
    [changed] = retype([dictionary], swapped)
    assert pairs(changed) == [("cold", "Symptom"), ("cold", "Disease"), ("lead", "Chemical")]


def test_two_types_that_become_one_keep_a_phrase_once():
    dictionary = Dictionary("a.csv", (Phrase("lead", "Metal"), Phrase("lead", "Element")))
    types = {("a.csv", "Metal"): "Chemical", ("a.csv", "Element"): "Chemical"}
    assert pairs(retype([dictionary], types)[0]) == [("lead", "Chemical")]


# ---- joining --------------------------------------------------------------------------------


def test_a_dictionary_whose_name_is_taken_gets_another():
    new = [replace(SECOND, name="a.csv"), SECOND, replace(SECOND, name="a.csv")]
    joined = join([FIRST, replace(FIRST, name="a.csv~2")], new)
    assert [d.name for d in joined] == ["a.csv", "a.csv~2", "a.csv~3", "b.csv", "a.csv~4"]
    assert joined[0] is FIRST and joined[3] is SECOND


def test_a_replaced_dictionary_keeps_its_place_and_settings():
    old = replace(mute(FIRST, pairs(FIRST)), match=MATCH_PRESETS["strict"], priority=3)
    old = replace(old, is_enabled=False, notes=("of the old file",))
    new = Dictionary("a.csv", (COUGH,), notes=("of the new file",))
    joined = join([old, SECOND], [Dictionary("c.csv", (COLD,)), new], is_replacing=True)
    assert [d.name for d in joined] == ["a.csv", "b.csv", "c.csv"]
    assert joined[0] == replace(old, phrases=new.phrases, notes=new.notes)


def test_two_new_dictionaries_of_one_name_are_both_kept_when_replacing():
    new = [Dictionary("a.csv", (COUGH,)), Dictionary("a.csv", (COLD,))]
    joined = join([FIRST], new, is_replacing=True)
    assert [(d.name, d.phrases) for d in joined] == [("a.csv", (COUGH,)), ("a.csv~2", (COLD,))]


# ---- words ----------------------------------------------------------------------------------


def test_long_lists_of_phrases_are_cut():
    assert list_phrases([]) == ""
    assert list_phrases("abcde") == "“a”, “b”, “c” and 2 more"


def test_an_abbreviation_is_muted_though_no_dictionary_holds_it():
    row = PhraseRow("a.csv", "CC", "Disease")
    assert mute_phrases([FIRST, SECOND], [row]) == [FIRST, SECOND]
    muted = mute_short_forms([FIRST, SECOND], [row])
    assert [dictionary.muted for dictionary in muted] == [{("CC", "Disease")}, frozenset()]
    assert unmute_phrases(muted, [row]) == [FIRST, SECOND]
