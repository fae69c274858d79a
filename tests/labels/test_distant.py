import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import conflicts, dictionary_entities, label
from engine.labels.resolution import KEPT, OUTCOMES, SAME_TYPE
from engine.settings import MATCH_PRESETS
from engine.text.model import Span
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.brute_force import kept_matches

WORDS = ["a", "b", "c", "d", "e", "-"]
LISTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), max_size=6)


def dictionary(entity_type, *phrases, **options):
    name = options.pop("name", entity_type)
    return Dictionary(name, tuple(Phrase(text, entity_type) for text in phrases), **options)


def spans(text, *dictionaries, preset="balanced"):
    document = make_document("d", text)
    return label([document], dictionaries, preset).spans()[0]


def test_label_finds_adjacent_matches():
    cities = dictionary("LOC", "Paris", "London", "Rome")
    assert spans("Paris London Rome", cities) == [
        Span(0, 1, "LOC"),
        Span(1, 2, "LOC"),
        Span(2, 3, "LOC"),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_label_prefers_the_longer_match_in_any_order(order):
    dictionaries = [dictionary("LOC", "European"), dictionary("ORG", "European Union")][::order]
    assert spans("The European Union", *dictionaries) == [Span(1, 3, "ORG")]


def test_phrase_of_two_types_is_decided_by_priority_then_alphabet():
    chemical, disease = dictionary("Chemical", "MS"), dictionary("Disease", "MS")
    assert spans("MS", disease, chemical) == [Span(0, 1, "Chemical")]
    first = dictionary("Disease", "MS", priority=1)
    assert spans("MS", chemical, first) == [Span(0, 1, "Disease")]


def test_overlap_of_equal_length_goes_to_the_one_that_begins_earlier():
    early, late = dictionary("Z", "food safety"), dictionary("A", "safety standards")
    assert spans("food safety standards", late, early) == [Span(0, 2, "Z")]


def test_every_loser_is_kept_with_its_reason_and_winner():
    document = make_document("d", "The European Union, food safety standards and MS")
    dictionaries = [
        dictionary("LOC", "European", "MS"),
        dictionary("ORG", "European Union"),
        dictionary("A", "food safety", "safety standards", "MS"),
        dictionary("B", "safety standards", "MS", priority=1),
    ]
    labels = label([document], dictionaries)
    table = conflicts(labels, list(document.sentences))
    assert table[["winner", "loser", "rule"]].values.tolist() == [
        ["European Union", "European", "the other match is longer"],
        ["safety standards", "food safety", "the other dictionary has priority"],
        ["MS", "MS", "the other dictionary has priority"],
        ["MS", "MS", "the other dictionary has priority"],
    ]
    same_type = labels.matches[labels.matches["outcome"] == SAME_TYPE]
    assert labels.phrases["phrase"][same_type["phrase"].iloc[0]] == "safety standards"


def test_labels_count_classes_from_the_sorted_type_names():
    document = make_document("d", "rash after aspirin. Nothing here.")
    labels = label([document], [dictionary("Disease", "rash"), dictionary("Chemical", "aspirin")])
    assert labels.types == ("Chemical", "Disease")
    assert labels.labels.tolist() == [2, 0, 1, 0, 0, 0, 0]
    assert labels.of_sentence(1).tolist() == [0, 0, 0]


def test_entities_carry_phrase_id_and_every_dictionary_that_explains_them():
    phrase = Phrase("aspirin", "Chemical", canonical_id="D001241")
    one = Dictionary("one", (phrase,))
    two = Dictionary("two", (Phrase("Aspirin", "Chemical"),))
    document = make_document("d", "Take Aspirin now")
    labels = label([document], [two, one])
    [entity] = dictionary_entities(labels, [document])["d"]
    assert document.text[entity.start : entity.end] == "Aspirin"
    assert (entity.matched_phrase, entity.canonical_id) == ("aspirin", "D001241")
    assert (entity.source, entity.method, entity.in_dictionary) == ("one;two", "dictionary", True)


def test_label_of_no_documents_or_no_matches_is_empty():
    assert len(label([], [dictionary("T", "a")]).labels) == 0
    labels = label([make_document("d", "nothing"), make_document("e", "")], [dictionary("T", "a")])
    assert labels.matches.empty
    assert labels.labels.tolist() == [0]
    assert conflicts(labels, []).empty


def test_raw_and_tokenized_documents_are_matched_differently():
    raw = make_document("raw", "the U.S. army")
    given = make_tokenized_document("given", [["the", "U.S.", "army"]])
    labels = label([raw, given], [dictionary("ORG", "U.S. army")], "strict")
    assert labels.spans() == [[Span(1, 6, "ORG")], [Span(1, 3, "ORG")]]


def test_two_workers_give_the_same_result_as_one(monkeypatch):
    monkeypatch.setattr("engine.labels.distant._CHUNK_TOKENS", 50)
    words = random.Random(0).choices(WORDS, k=2000)
    sentences = [words[i : i + 20] for i in range(0, 2000, 20)]
    document = make_tokenized_document("d", sentences)
    dictionaries = [dictionary("A", "a b", "c"), dictionary("B", "b c", "c", "d e")]
    done = []
    one = label([document], dictionaries)
    two = label([document], dictionaries, workers=2, on_progress=done.append)
    assert np.array_equal(one.labels, two.labels)
    assert one.matches.equals(two.matches)
    assert one.also.equals(two.also)
    assert sum(done) == 100


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), LISTS, LISTS, LISTS, st.data())
def test_label_equals_brute_force_in_any_order(tokens, first, second, third, data):
    priorities = {"A": 0, "B": data.draw(st.integers(0, 1)), "C": 0}
    options = MATCH_PRESETS["strict"]
    given_lists = dict(zip("ABC", (first, second, third), strict=True))
    dictionaries = [
        dictionary(name, *(" ".join(p) for p in phrases), priority=priorities[name])
        for name, phrases in given_lists.items()
    ]
    shuffled = data.draw(st.permutations(dictionaries))
    labels = label([make_tokenized_document("d", [tokens])], shuffled, options)
    phrases = [
        (" ".join(p), p, name) for name, token_lists in given_lists.items() for p in token_lists
    ]
    kept, lost = kept_matches(tokens, phrases, options, priorities.__getitem__)
    assert sorted((s.start, s.end, s.entity_type) for s in labels.spans()[0]) == kept
    rows = labels.matches[labels.matches["outcome"] > SAME_TYPE]
    found_lost = [
        (row.start, row.end, labels.types[row.type - 1]) for row in rows.itertuples(index=False)
    ]
    assert sorted(found_lost) == lost


def test_outcomes_have_a_sentence_each():
    assert len(OUTCOMES) == 6
    assert OUTCOMES[KEPT] == "kept"
