import numpy as np
import pytest

from engine.dictionaries.editing import as_never, mute
from engine.dictionaries.model import NEVER, Dictionary, Phrase, active_types
from engine.labels.candidates import missing_candidates
from engine.labels.corrections import correct_labels
from engine.labels.distant import dictionary_entities, label
from engine.labels.phrase_tables import dictionary_table, phrase_table
from engine.labels.relabeling import labels_after_muting
from engine.text import Entity, make_document

PRESETS = ("strict", "adaptive", "balanced", "loose")
DISEASE = Dictionary("Disease.txt", tuple(Phrase(t, "Disease") for t in ("cold", "common cold")))
TEXT = "A common cold in cold water. The cold came to Cold Spring Harbor."


def never(*texts):
    return Dictionary("never.txt", tuple(Phrase(text, NEVER) for text in texts))


def labeled(*dictionaries, preset="balanced", text=TEXT):
    document = make_document("d", text)
    labels = label([document], dictionaries, preset)
    entities = dictionary_entities(labels, [document])["d"]
    return [text[e.start : e.end] for e in entities], labels, document


def negatives(labels, document):
    return [t for t, is_no in zip(document.tokens, labels.known_negatives, strict=True) if is_no]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_never_an_entity_is_not_labeled_and_known_negative(preset):
    found, labels, document = labeled(DISEASE, never("cold water"), preset=preset)
    assert "common cold" in found and found.count("cold") == 1
    assert labels.types == ("Disease",)
    assert negatives(labels, document) == ["cold", "water"]


@pytest.mark.parametrize("preset", PRESETS)
def test_longer_phrase_of_a_dictionary_wins_over_the_list(preset):
    found, labels, document = labeled(DISEASE, never("cold", "common"), preset=preset)
    assert found == ["common cold"]
    assert negatives(labels, document)[:2] == ["cold", "cold"]
    assert not labels.known_negatives[labels.labels > 0].any()


def test_patterns_may_be_never_an_entity():
    found, _, _ = labeled(DISEASE, never(r"re:(?i)cold (water|spring)"))
    assert found == ["common cold", "cold"]


def test_abbreviation_may_be_never_an_entity():
    text = "The common cold (CC) is here. CC again."
    assert labeled(DISEASE, text=text, preset="adaptive")[0] == ["common cold", "CC", "CC"]
    assert labeled(DISEASE, never("CC"), text=text, preset="adaptive")[0] == ["common cold"]


def test_without_a_list_nothing_is_known_negative():
    _, labels, _ = labeled(DISEASE)
    assert labels.never is None and labels.known_negatives is None
    assert active_types([never("a"), DISEASE]) == ["Disease"]


def test_decisions_come_before_the_list():
    _, labels, document = labeled(DISEASE, never("cold water"))
    start = TEXT.index("cold water")
    entity = Entity(start, start + 10, "Disease")
    both = correct_labels([document], labels, {}, {"d": [Entity(2, 13, "Disease")]})
    assert both.known_negatives.sum() == 4
    accepted = correct_labels([document], labels, {"d": [entity]}, {})
    assert not accepted.known_negatives.any() and accepted.labels.sum() == labels.labels.sum() + 2


def test_muting_a_phrase_of_the_list_lets_the_dictionary_match_again():
    before = [DISEASE, never("cold water")]
    _, labels, document = labeled(*before)
    after = [DISEASE, mute(before[1], [("cold water", NEVER)])]
    assert labels_after_muting(labels, before, after) is None
    assert len(label([document], after, "balanced").kept) == len(labels.kept) + 1
    muted = [mute(DISEASE, [("cold", "Disease")]), before[1]]
    fast, slow = labels_after_muting(labels, before, muted), label([document], muted, "balanced")
    assert np.array_equal(fast.labels, slow.labels)
    assert np.array_equal(fast.known_negatives, slow.known_negatives)


def test_tables_count_what_is_never_an_entity():
    dictionaries = [DISEASE, never("cold water", "absent")]
    _, labels, _ = labeled(*dictionaries)
    table = dictionary_table(dictionaries, labels).set_index("name")
    assert table.loc["never.txt", ["used", "matches"]].tolist() == [1, 1]
    phrases = phrase_table(dictionaries, labels).set_index("phrase")
    assert phrases.loc["cold water", ["entity_type", "matches"]].tolist() == [NEVER, 1]


def test_candidates_leave_out_what_is_never_an_entity():
    text = "Zorblax acts. We saw Zorblax there. So Zorblax it was."
    _, labels, document = labeled(DISEASE, text=text)
    assert missing_candidates(labels, list(document.sentences))["phrase"].tolist() == ["Zorblax"]
    _, labels, document = labeled(DISEASE, never("zorblax"), text=text)
    assert missing_candidates(labels, list(document.sentences)).empty


def test_any_dictionary_becomes_a_list():
    [listed] = as_never([Dictionary("a.csv", (Phrase("x", "A"), Phrase("x", "B")))])
    assert listed.phrases == (Phrase("x", NEVER),)
