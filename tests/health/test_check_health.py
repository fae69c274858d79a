"""What hurts in dictionaries: found without gold, ranked, and mended by one change."""

import pytest

from engine.dictionaries import Dictionary, Phrase
from engine.health import (
    ADD,
    AS_WRITTEN,
    KEEP,
    MUTE,
    Health,
    check_health,
    mend,
    natural_order,
)
from engine.labels import DoubtfulPhrase, label
from engine.text import make_document


def dictionary(*texts, entity_type="Chemical", name=None, id=""):
    return Dictionary(name or entity_type, tuple(Phrase(text, entity_type, id) for text in texts))


def health(text, *dictionaries, match="balanced", **options):
    document = make_document("text", text)
    labels = label([document], dictionaries, match)
    return check_health(dictionaries, labels, document.sentences, **options)


def kinds(found: Health):
    return {entry.name: (entry.kind, entry.proposal) for entry in found.entries}


# Names in lower case, so that a capital tells nothing about Chemical.
SUBJECT = "He took aspirin, then warfarin and heparin. We saw warfarin, aspirin and morphine. "
NAMES = ("aspirin", "warfarin", "heparin", "morphine")


def test_names_of_the_subject_are_healthy():
    found = health(SUBJECT, dictionary(*NAMES))
    assert not found.entries
    assert str(found) == ""


def test_stop_words_and_everyday_words_are_muted_and_ranked_by_their_matches():
    text = SUBJECT + "It is in the house and in the water. In the end it was in lead."
    found = health(text, dictionary(*NAMES, "in", "lead", "water"))
    assert [entry.name for entry in found.entries] == ["“in”", "“lead”", "“water”"]
    assert kinds(found)["“in”"] == ("stop word", MUTE)
    assert kinds(found)["“lead”"] == ("everyday word", MUTE)
    assert str(found) == "3 phrases look wrong: about 5 matches"
    assert found.entries[0].match_count == 4
    assert len(found.entries[0].examples) == 3


def test_an_everyday_word_that_the_text_is_about_is_a_word_of_its_subject():
    about = "The stroke was small. A stroke came. After a stroke, stroke care. Stroke or stroke. "
    found = health(SUBJECT + about, dictionary(*NAMES, "stroke"))
    assert "“stroke”" not in {e.name for e in found.proposed if e.kind == "everyday word"}


def test_capitals_inside_a_sentence_make_a_name():
    names = dictionary("Reading", "Paris", "London", entity_type="Place")
    text = "We saw Paris and London. They left Reading for Paris. He liked Reading in London."
    assert not health(text, names).proposed


def test_a_name_with_a_capital_matches_only_as_written():
    names = dictionary("Turkey", "Paris", "London", entity_type="Place")
    text = (
        "We saw Paris and London and Paris and London and Paris and London and Paris and London. "
        "He saw Paris and London and Paris and London and Paris and London and Paris and London. "
        "He ate turkey in Paris. She went to Turkey by boat. They like turkey in London."
    )
    found = health(text, names)
    assert kinds(found) == {"“Turkey”": ("lower case", AS_WRITTEN)}
    mended = mend([names], found.proposed)
    kept = label([make_document("text", text)], mended, "balanced")
    surfaces = [s.surface(span.start, span.end)
                for s, spans in zip(make_document("t", text).sentences, kept.spans(), strict=True)
                for span in spans]  # fmt: skip
    assert surfaces.count("Turkey") == 1 and "turkey" not in surfaces


def test_the_last_word_of_many_longer_names_is_generic():
    longer = [f"{letter}{other}x disease" for letter in "abcdefgh" for other in "klmno"]
    found = health(
        SUBJECT + "The disease is rare. His disease was aax disease.",
        dictionary(*longer, "disease", "pain", entity_type="Disease"),
        dictionary(*NAMES),
    )
    entry = found.entries[0]
    assert (entry.name, entry.kind, entry.proposal) == ("“disease”", "generic word", MUTE)
    assert "last word of 40 longer names" in entry.reason


def test_a_rare_word_needs_a_hundred_longer_names():
    longer = [f"{letter}{other}x myalgia" for letter in "abcdefgh" for other in "klmno"]
    names = dictionary(*longer, "myalgia", entity_type="Disease")
    assert not health("He had myalgia. Then myalgia again, with myalgia.", names).proposed


def test_a_name_of_a_use_is_a_class():
    names = dictionary("analgesic", "analgesic agents", id="D1")
    found = health(SUBJECT + "An analgesic was given.", names, dictionary(*NAMES, name="drugs"))
    assert kinds(found) == {"“analgesic”": ("name of a class", MUTE)}


@pytest.mark.parametrize("tiny", ["k", "12", "mg"])
def test_letters_numbers_and_units_are_muted(tiny):
    found = health(SUBJECT + f"He had 3 x {tiny} today.", dictionary(*NAMES, tiny))
    assert kinds(found) == {f"“{tiny}”": ("letter, number or unit", MUTE)}


def test_magnesium_is_not_milligrams():
    found = health(SUBJECT + "He had 5 mg, then 7 mg of Mg.", dictionary(*NAMES, "Mg"))
    assert kinds(found) == {"“Mg”": ("letter, number or unit", AS_WRITTEN)}


def test_phrases_under_two_types_and_far_more_matches_are_shown_and_kept():
    both = [dictionary(*NAMES), dictionary("aspirin", entity_type="Brand")]
    assert kinds(health(SUBJECT, *both))["“aspirin”"] == ("two types", KEEP)
    often = health(SUBJECT + "More ketamine. " * 25, dictionary(*NAMES, "ketamine"))
    assert kinds(often) == {"“ketamine”": ("far more matches", KEEP)}
    assert not often.proposed and str(often) == ""


def test_what_the_text_contradicts_is_muted():
    doubtful = [DoubtfulPhrase("morphine", "Chemical", 1, "Disease")]
    found = health(SUBJECT, dictionary(*NAMES), doubtful=doubtful)
    assert kinds(found) == {"“morphine”": ("contradicted by the text", MUTE)}
    assert "look like Disease" in found.entries[0].reason


def test_what_a_person_keeps_is_left_out():
    names = dictionary(*NAMES, "lead")
    found = health(SUBJECT + "They lead.", names)
    again = health(SUBJECT + "They lead. Leads lead.", names, kept={found.entries[0].key})
    assert found.entries and not again.entries


def test_inverted_names_are_added_in_natural_order():
    names = dictionary(*NAMES, "insulin, neutral", "acid, folic")
    text = SUBJECT + "We gave neutral insulin. Neutral insulin helps."
    entry = health(text, names).entries[-1]
    assert (entry.proposal, entry.match_count) == (ADD, 2)
    assert entry.phrases == (("neutral insulin", "Chemical"),)
    (mended,) = mend([names], [entry])
    assert [phrase.text for phrase in mended.phrases[-1:]] == ["neutral insulin"]
    assert not health(text, mended).entries


def test_an_action_replaces_the_proposal_and_reaches_every_dictionary():
    held = [dictionary(*NAMES, "Lead"), dictionary("lead", name="more")]
    found = health(SUBJECT + "They lead.", *held)
    assert all(d.muted for d in mend(held, found.proposed))
    exact = mend(held, found.proposed, AS_WRITTEN)
    assert [sorted(d.as_written) for d in exact] == [
        [("Lead", "Chemical")],
        [("lead", "Chemical")],
    ]
    assert mend(held, found.proposed, KEEP) == held


@pytest.mark.parametrize("text", ["signs, and symptoms", "1,2-dichloro, 3", "plain", "a,b"])
def test_other_commas_are_no_inversion(text):
    assert natural_order(text) == ""
