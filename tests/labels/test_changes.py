import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.changes import change_examples, label_changes
from engine.labels.distant import label
from engine.text.tokenization import make_document

DOCUMENTS = [make_document("d", "Gout hurts. Lead and lead poisoning; gout again.")]


def dictionary(*phrases):
    return Dictionary("x.txt", tuple(Phrase(text, kind) for text, kind in phrases))


def rows(table):
    return table[["sentence", "start", "end", "entity_type", "phrase"]].to_numpy().tolist()


def changes(before, after, presets=("balanced", "balanced")):
    old = label(DOCUMENTS, [dictionary(*before)], presets[0])
    new = label(DOCUMENTS, [dictionary(*after)], presets[1])
    return label_changes(old, new)


def test_a_freer_preset_adds_matches():
    difference = changes([("gout", "Disease")], [("gout", "Disease")], ("strict", "balanced"))
    assert rows(difference.added) == [[0, 0, 1, "Disease", "gout"]]
    assert difference.removed.empty
    assert difference.unchanged == 1


def test_a_longer_phrase_takes_the_place_of_a_shorter_one():
    difference = changes(
        [("lead", "Chemical")], [("lead", "Chemical"), ("lead poisoning", "Disease")]
    )
    assert rows(difference.added) == [[1, 2, 4, "Disease", "lead poisoning"]]
    assert rows(difference.removed) == [[1, 2, 3, "Chemical", "lead"]]
    assert difference.unchanged == 1


def test_another_type_for_the_same_words_is_one_match_gone_and_one_new():
    difference = changes([("again", "Disease")], [("again", "Symptom")])
    assert rows(difference.added) == [[1, 6, 7, "Symptom", "again"]]
    assert rows(difference.removed) == [[1, 6, 7, "Disease", "again"]]


def test_nothing_changes_when_another_dictionary_explains_the_same_match():
    old = label(DOCUMENTS, [dictionary(("gout", "Disease"))])
    new = label(DOCUMENTS, [Dictionary("other.txt", (Phrase("Gout", "Disease"),))], "balanced")
    assert label_changes(old, new).is_empty


def test_labels_without_matches_and_without_text_can_be_compared():
    assert changes([], [("measles", "Disease")]).is_empty
    nothing = label([], [dictionary(("gout", "Disease"))])
    assert label_changes(nothing, nothing).is_empty


def test_labels_of_other_sentences_are_refused():
    old = label(DOCUMENTS, [])
    with pytest.raises(ValueError, match="same sentences"):
        label_changes(old, label([make_document("d", "Another text.")], []))


def test_examples_show_each_phrase_once_and_the_frequent_ones_first():
    names = ["sentence", "phrase", "entity_type"]
    table = pd.DataFrame(
        [(0, "a", "X"), (1, "b", "X"), (2, "b", "X"), (3, "b", "Y")], columns=names
    )
    examples = change_examples(table, most=2)
    assert examples.to_numpy().tolist() == [[1, "b", "X", 2], [0, "a", "X", 1]]


PHRASES = st.sets(
    st.tuples(st.sampled_from(["gout", "lead", "lead poisoning", "hurts"]), st.sampled_from("AB"))
)


@given(PHRASES, PHRASES)
def test_before_minus_removed_plus_added_is_after(before, after):
    old, new = (label(DOCUMENTS, [dictionary(*sorted(phrases))]) for phrases in (before, after))
    difference = label_changes(old, new)

    def matches(labels):
        return {
            (i, span.start, span.end, span.entity_type)
            for i, spans in enumerate(labels.spans())
            for span in spans
        }

    added, removed = (
        {tuple(row[:4]) for row in rows(t)} for t in (difference.added, difference.removed)
    )
    assert matches(old) - removed | added == matches(new)
    assert difference.unchanged == len(matches(old) & matches(new))
