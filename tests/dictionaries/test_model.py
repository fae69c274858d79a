from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.editing import match_as_written, mute, relabel, unmute
from engine.dictionaries.model import Dictionary, Phrase, active_phrases, fingerprint, first_share
from engine.settings import MATCH_PRESETS

COLD = Phrase("cold", "Disease", line=1)
LEAD = Phrase("lead", "Chemical", "D007854", line=2)
MIXED = Dictionary("mixed.csv", (COLD, LEAD))


def test_types_are_sorted_and_distinct():
    assert Dictionary("d", (COLD, LEAD, Phrase("flu", "Disease"))).types == ("Chemical", "Disease")


def test_active_phrases_are_all_phrases_at_first():
    assert list(active_phrases(MIXED)) == [COLD, LEAD]


def test_a_disabled_dictionary_has_no_active_phrases():
    assert list(active_phrases(replace(MIXED, is_enabled=False))) == []


def test_mute_hides_a_phrase_of_one_type_only():
    both = Dictionary("d", (COLD, Phrase("cold", "Symptom")))
    assert list(active_phrases(mute(both, [("cold", "Symptom")]))) == [COLD]


def test_mute_ignores_phrases_the_dictionary_does_not_hold():
    assert mute(MIXED, [("flu", "Disease"), ("cold", "Chemical")]) == MIXED


def test_unmute_undoes_mute():
    pairs = [("cold", "Disease"), ("lead", "Chemical")]
    assert unmute(mute(MIXED, pairs), pairs) == MIXED


def test_relabel_moves_one_phrase_and_keeps_the_rest_of_it():
    moved = relabel(MIXED, "lead", "Chemical", "Metal")
    assert moved.phrases == (COLD, Phrase("lead", "Metal", "D007854", line=2))


def test_relabel_keeps_a_phrase_once_when_the_new_type_holds_it():
    both = Dictionary("d", (COLD, Phrase("cold", "Symptom"), LEAD))
    assert relabel(both, "cold", "Disease", "Symptom").phrases == (Phrase("cold", "Symptom"), LEAD)


def test_relabel_makes_a_muted_phrase_match_again():
    muted = mute(MIXED, [("cold", "Disease")])
    moved = relabel(muted, "cold", "Disease", "Symptom")
    assert list(active_phrases(moved)) == [Phrase("cold", "Symptom", line=1), LEAD]


@pytest.mark.parametrize("old_type, new_type", [("Symptom", "Disease"), ("Disease", "Disease")])
def test_relabel_changes_nothing_when_there_is_nothing_to_move(old_type, new_type):
    assert relabel(MIXED, "cold", old_type, new_type) == MIXED


def test_relabel_refuses_an_empty_type():
    with pytest.raises(ValueError, match="the new type of “cold” is empty"):
        relabel(MIXED, "cold", "Disease", " ")


@pytest.mark.parametrize(
    "percent, kept_count",
    # int(x * 10) + 1, never more than the 10 there are
    [(0, 1), (5, 1), (10, 2), (20, 3), (29, 3), (30, 4), (90, 10), (100, 10)],
)
def test_first_share_follows_the_benchmark_rule(percent, kept_count):
    ten = Dictionary("d", tuple(Phrase(f"p{i}", "T") for i in range(10)))
    assert first_share(ten, percent).phrases == ten.phrases[:kept_count]


def test_first_share_counts_each_type_separately():
    letters = "aBbcCd"  # 4 small, 2 capital: int(0.5 * 4) + 1 = 3, int(0.5 * 2) + 1 = 2
    phrases = tuple(Phrase(x, "capital" if x.isupper() else "small") for x in letters)
    half = first_share(Dictionary("d", phrases), 50)
    assert [phrase.text for phrase in half.phrases] == ["a", "B", "b", "c", "C"]


def test_first_share_does_not_lose_a_phrase_to_rounding():
    hundred = Dictionary("d", tuple(Phrase(f"p{i}", "T") for i in range(100)))
    assert len(first_share(hundred, 29).phrases) == 30  # although 0.29 * 100 is 28.999…


def test_first_share_refuses_more_than_all():
    with pytest.raises(ValueError, match=r"percent must be in \[0, 100\], got 101"):
        first_share(MIXED, 101)


phrases_of = st.lists(
    st.builds(Phrase, st.text(), st.sampled_from(("A", "B")), st.text(max_size=2)), max_size=8
)


@given(phrases_of, st.randoms())
def test_fingerprint_does_not_depend_on_the_order_of_phrases(phrases, random):
    shuffled = random.sample(phrases, len(phrases))
    one, other = Dictionary("a", tuple(phrases)), Dictionary("b", tuple(shuffled), notes=("n",))
    assert one.fingerprint == other.fingerprint
    assert len(one.fingerprint) == 16


@given(st.lists(phrases_of, max_size=4), st.randoms())
def test_fingerprint_does_not_depend_on_the_order_of_dictionaries(contents, random):
    dictionaries = [Dictionary(f"d{i}", tuple(p)) for i, p in enumerate(contents)]
    shuffled = random.sample(dictionaries, len(dictionaries))
    assert fingerprint(dictionaries) == fingerprint(shuffled)


@pytest.mark.parametrize(
    "changed",
    [
        replace(MIXED, phrases=(COLD,)),
        replace(MIXED, phrases=(COLD, replace(LEAD, canonical_id=""))),
        replace(MIXED, phrases=(COLD, replace(LEAD, entity_type="Metal"))),
        replace(MIXED, match=MATCH_PRESETS["strict"]),
        replace(MIXED, priority=1),
        replace(MIXED, is_enabled=False),
        mute(MIXED, [("cold", "Disease")]),
        match_as_written(MIXED, [("cold", "Disease")]),
    ],
    ids=["phrase", "canonical id", "type", "match", "priority", "enabled", "muted", "as written"],
)
def test_fingerprint_changes_with_all_that_changes_matches(changed):
    assert changed.fingerprint != MIXED.fingerprint
    assert fingerprint([changed]) != fingerprint([MIXED])


def test_fingerprint_depends_on_where_a_phrase_ends():
    one, other = Phrase("a b", "c"), Phrase("a", "b c")
    assert Dictionary("d", (one,)).fingerprint != Dictionary("d", (other,)).fingerprint


def test_a_fingerprint_is_computed_once_and_anew_for_a_changed_dictionary(monkeypatch):
    dictionary = Dictionary("D", (Phrase("aspirin", "Chemical"),))
    first = dictionary.fingerprint
    monkeypatch.setattr(Dictionary, "_hashed", lambda _: "again")
    assert dictionary.fingerprint == first
    muted = replace(dictionary, muted=frozenset({("aspirin", "Chemical")}))
    assert muted.fingerprint == "again"
