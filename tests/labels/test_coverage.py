import pytest

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.coverage import (
    Coverage,
    coverage_along,
    coverage_by_dictionary,
    coverage_by_type,
    matches_per_sentence,
    measure_coverage,
    phrase_usage,
)
from engine.labels.distant import label
from engine.text.tokenization import make_document, make_tokenized_document


def phrases(entity_type, *texts):
    return tuple(Phrase(text, entity_type) for text in texts)


def document(id, *lines):
    return make_tokenized_document(id, [line.split() for line in lines])


# Four sentences of 3 + 6 + 5 + 2 = 16 tokens.
DOCUMENTS = [
    document("d1", "Aspirin helped .", "Rash and high fever went ."),
    document("d2", "No drug was given .", "aspirin again"),
]
DRUGS = Dictionary("drugs.txt", phrases("Chemical", "aspirin", "ibuprofen", "high"))
DISEASES = Dictionary("diseases.txt", phrases("Disease", "rash", "fever", "high fever"))
MORE = Dictionary("more.csv", phrases("Chemical", "Aspirin") + phrases("Disease", "high fever"))
# Kept: "Aspirin" (drugs, more), "Rash" (diseases), "high fever" (diseases, more), "aspirin"
# (drugs, more). Lost: "high" to the longer "high fever" of another type; "fever" inside
# "high fever" of its own type, which is no conflict.
LABELS = label(DOCUMENTS, [DRUGS, DISEASES, MORE], "balanced")


def sentences(documents):
    return [sentence for document in documents for sentence in document.sentences]


def rows(table):
    return [tuple(row) for row in table.itertuples(index=False)]


def test_measure_coverage_matches_hand_computation():
    coverage = measure_coverage(LABELS)
    assert coverage == Coverage(
        tokens=16,
        labeled_tokens=5,  # 1 + 1 + 2 + 1
        sentences=4,
        matched_sentences=3,  # all but "No drug was given ."
        phrases=8,
        used_phrases=5,  # aspirin, Aspirin, rash, high fever twice
        matches=4,
        conflicts=1,
    )
    assert coverage.token_share == 5 / 16
    assert coverage.sentence_share == 3 / 4
    assert coverage.phrase_share == 5 / 8


def test_coverage_by_type_matches_hand_computation():
    assert rows(coverage_by_type(LABELS)) == [
        # type, phrases, used, matches, only here, tokens, sentences, share of tokens
        ("Chemical", 4, 2, 2, 2, 2, 2, 2 / 16),
        ("Disease", 4, 3, 2, 2, 3, 1, 3 / 16),
    ]


def test_coverage_by_dictionary_counts_a_shared_match_for_each():
    assert rows(coverage_by_dictionary(LABELS)) == [
        ("drugs.txt", 3, 1, 2, 0, 2, 2, 2 / 16),
        ("diseases.txt", 3, 2, 2, 1, 3, 1, 3 / 16),  # only "rash" is in no other dictionary
        ("more.csv", 2, 2, 3, 0, 4, 3, 4 / 16),
    ]


def test_coverage_by_dictionary_counts_two_spellings_in_one_dictionary_once():
    both = Dictionary("d.txt", phrases("Chemical", "aspirin", "Aspirin"))
    labels = label(DOCUMENTS, [both], "balanced")
    assert rows(coverage_by_dictionary(labels)) == [("d.txt", 2, 2, 2, 2, 2, 2, 2 / 16)]


def test_coverage_along_the_corpus_matches_hand_computation():
    assert rows(coverage_along(LABELS, bins=2)) == [
        # sentences, tokens, labeled tokens, matched sentences
        (0, 1, 9, 4 / 9, 2 / 2),
        (2, 3, 7, 1 / 7, 1 / 2),
    ]


def test_coverage_along_has_one_row_per_sentence_when_there_are_fewer_than_bins():
    table = coverage_along(LABELS, bins=20)
    assert table["first_sentence"].tolist() == table["last_sentence"].tolist() == [0, 1, 2, 3]
    assert table["tokens"].sum() == 16


def test_matches_per_sentence_counts_sentences_without_matches_and_groups_high_counts():
    # Kept: one match, two ("Rash", "high fever"), none and one.
    assert rows(matches_per_sentence(LABELS, most=3)) == [(0, 1), (1, 2), (2, 1), (3, 0)]
    assert rows(matches_per_sentence(LABELS, most=1)) == [(0, 1), (1, 3)]


def test_phrase_usage_lists_matches_and_lost_matches_most_used_first():
    table = phrase_usage(LABELS)[["phrase", "dictionary", "matches", "lost"]]
    assert rows(table) == [
        ("Aspirin", "more.csv", 2, 0),
        ("aspirin", "drugs.txt", 2, 0),
        ("high fever", "diseases.txt", 1, 0),
        ("high fever", "more.csv", 1, 0),
        ("rash", "diseases.txt", 1, 0),
        ("high", "drugs.txt", 0, 1),
        ("fever", "diseases.txt", 0, 0),
        ("ibuprofen", "drugs.txt", 0, 0),
    ]


TABLES = (
    *(coverage_by_type, coverage_by_dictionary, coverage_along),
    *(matches_per_sentence, phrase_usage),
)


@pytest.mark.parametrize(
    "documents, dictionaries",
    [([], [DRUGS]), (DOCUMENTS, []), ([], []), (DOCUMENTS, [Dictionary("e.txt", ())])],
    ids=["no text", "no dictionary", "nothing", "empty dictionary"],
)
def test_figures_of_nothing_are_zero_and_have_the_same_columns(documents, dictionaries):
    labels = label(documents, dictionaries, "balanced")
    coverage = measure_coverage(labels)
    assert (coverage.token_share, coverage.sentence_share, coverage.phrase_share) == (0, 0, 0)
    for table in TABLES:
        assert list(table(labels).columns) == list(table(LABELS).columns)


def test_coverage_by_dictionary_has_a_row_for_one_with_nothing_active():
    off = Dictionary("off", (Phrase("rash", "Disease"),), is_enabled=False)
    on = Dictionary("on", (Phrase("fever", "Disease"),))
    labels = label([make_document("d", "rash and fever")], [off, on])
    table = coverage_by_dictionary(labels).set_index("dictionary")
    assert table.loc["off", ["phrases", "matches"]].tolist() == [0, 0]
    assert table.loc["on", ["phrases", "matches"]].tolist() == [1, 1]
