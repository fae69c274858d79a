"""Kinds of names: listed by their matches, kept or muted as a whole."""

from engine.dictionaries import Dictionary, Phrase, active_phrases
from engine.health import KEEP, MUTE, Kind, check_health, mend
from engine.health.kinds import kind_members
from engine.labels import label
from engine.text import make_document

LETTERS = "abcdefghijklmnopqrstuvwx"
TEXT = (
    "The zafkin receptor and the zafkin receptor and the bolim receptor and the bolim receptor. "
    "He took aspirin, warfarin, aspirin, warfarin, heparin and heparin. NMR, the NMR again. "
)


def dictionary(*phrases, entity_type="Chemical"):
    return Dictionary(entity_type, tuple(Phrase(t, entity_type, id) for t, id in phrases))


def receptors(count=24):
    """Names that end with one word, each of a thing of its own."""
    return [(f"{letter}olim receptor", f"R{letter}") for letter in LETTERS[:count]]


NAMES = [("aspirin", "A1"), ("warfarin", "A2"), ("heparin", "A3")]
GIVEN = dictionary(*NAMES, *receptors(), ("zafkin receptor", "RZ"), ("NMR", "Rb"))


def health(*dictionaries, text=TEXT, **options):
    document = make_document("text", text)
    labels = label([document], dictionaries, "balanced")
    return check_health(dictionaries, labels, document.sentences, **options)


def test_names_that_end_with_one_word_are_a_kind_with_the_other_names_of_their_things():
    (entry,) = health(GIVEN).kinds
    assert entry.name == "names that end with “receptor”"
    assert (entry.group, entry.proposal) == (Kind("Chemical", word="receptor"), KEEP)
    # Two of each name, and NMR, which shares an id with the bolim receptor.
    assert entry.match_count == 6
    assert "25 things in the dictionary" in entry.reason
    assert "“bolim receptor” (2), “NMR” (2), “zafkin receptor” (2)" in entry.reason
    assert len(entry.examples) == 3


def test_nothing_is_proposed_for_a_kind_and_it_counts_as_no_wrong_match():
    found = health(GIVEN)
    assert found.entries == found.proposed == ()
    assert str(found) == ""


def test_a_kind_is_muted_with_all_its_phrases_whether_the_text_has_them_or_not():
    (entry,) = health(GIVEN).kinds
    (mended,) = mend([GIVEN], [entry], MUTE)
    assert [phrase.text for phrase in active_phrases(mended)] == ["aspirin", "warfarin", "heparin"]
    assert mend([GIVEN], [entry]) == [GIVEN]  # as it proposes: nothing
    assert not health(mended).kinds


def test_a_kind_that_is_kept_is_not_listed_again():
    (entry,) = health(GIVEN).kinds
    assert not health(GIVEN, kept={entry.key}).kinds


def test_a_kind_of_another_type_stays():
    other = dictionary(*receptors(), entity_type="Protein")
    members = kind_members([GIVEN, other], [Kind("Protein", word="receptor")])
    assert {entity_type for _, entity_type in members} == {"Protein"}
    assert len(members) == 24


def test_few_names_few_phrases_or_few_matches_are_no_kind():
    few_names = dictionary(*NAMES, *receptors(18), ("zafkin receptor", "RZ"))
    assert not health(few_names).kinds
    one_phrase = dictionary(*NAMES, *receptors())
    assert not health(one_phrase, text="A bolim receptor, bolim receptor. " * 5).kinds
    assert not health(GIVEN, text="The zafkin receptor and the bolim receptor.").kinds


def test_a_kind_that_is_mostly_one_phrase_is_that_phrase():
    assert not health(GIVEN, text=TEXT + "The zafkin receptor. " * 8).kinds


def test_inverted_names_count_by_their_natural_order():
    inverted = dictionary(
        *NAMES, *((f"Receptor, {letter}olim", letter) for letter in LETTERS), ("bolim", "b"),
        ("zafkin", "c"), ("nulim", "d"),
    )  # fmt: skip
    (entry,) = health(inverted, text="He saw bolim, zafkin and nulim, bolim and zafkin.").kinds
    assert (entry.name, entry.match_count) == ("names that end with “receptor”", 5)


def test_numbers_letters_and_roman_numerals_name_no_kind():
    for end in ("2", "b", "iii", "the"):
        names = [(f"{letter}olim {end}", f"R{letter}") for letter in LETTERS]
        text = f"The bolim {end}, colim {end}, dolim {end}, bolim {end} and colim {end}."
        assert not health(dictionary(*NAMES, *names), text=text).kinds, end


# ---- ids that are places in a tree ----------------------------------------------------------

SPACER = "He took aspirin, warfarin and heparin. " * 20  # so that the branch is a small part
TREE = dictionary(
    *NAMES, ("Proteins", "D12.776"), ("zafkin", "D12.776.a.1|D08.9"),
    *((f"{letter}olimin", f"D12.776.{letter}") for letter in LETTERS),
)  # fmt: skip
IN_TREE = SPACER + "The bolimin, bolimin, colimin, zafkin and zafkin."


def test_what_lies_below_one_place_of_the_ids_is_a_kind():
    (entry,) = [e for e in health(TREE, text=IN_TREE).kinds if e.group.branch]
    assert entry.name == "everything below “Proteins” (D12.776)"
    assert entry.match_count == 5
    assert "26 things in the dictionary are below D12.776" in entry.reason
    (mended,) = mend([TREE], [entry], MUTE)
    assert [phrase.text for phrase in active_phrases(mended)] == ["aspirin", "warfarin", "heparin"]


def test_a_muted_phrase_still_names_its_branch():
    muted = mend([TREE], health(TREE, text=IN_TREE + " Proteins.").entries, MUTE)
    (entry,) = [e for e in health(*muted, text=IN_TREE).kinds if e.group.branch]
    assert entry.title == "Proteins"


def test_a_branch_with_much_of_a_type_is_split():
    found = health(TREE, text="The bolimin, bolimin, colimin, zafkin and zafkin. He took aspirin.")
    assert not [entry for entry in found.kinds if entry.group.branch]


def test_a_parent_of_a_hundred_things_is_shown_and_kept():
    below = [(f"{a}{b}olimin", f"D12.{a}{b}") for a in LETTERS[:10] for b in LETTERS[:10]]
    given = dictionary(*NAMES, ("polim", "D12"), *below)
    (entry,) = health(given, text="A polim was given, with aspirin.").entries
    assert (entry.kind, entry.proposal, entry.match_count) == ("parent of many", KEEP, 1)
    assert "100 things are kinds of it" in entry.reason
