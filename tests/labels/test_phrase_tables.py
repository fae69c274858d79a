import pandas as pd

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import label
from engine.labels.phrase_tables import dictionary_table, length_table, phrase_table, rank_table
from engine.text.tokenization import make_document

DOCUMENTS = [make_document("d", "Gout and lead. Gout, lead poisoning and cold.")]
DISEASES = mute(
    Dictionary(
        "Disease.txt",
        tuple(Phrase(text, "Disease") for text in ("gout", "Gout", "cold", "lead poisoning")),
    ),
    [("cold", "Disease")],
)
CHEMICALS = Dictionary("Chemical.txt", (Phrase("lead", "Chemical"), Phrase("zinc", "Chemical")))
BOTH = [DISEASES, CHEMICALS]


def rows(table):
    return table.astype(object).where(table.notna(), None).to_numpy().tolist()


def test_phrase_table_counts_matches_and_keeps_muted_phrases():
    table = phrase_table(BOTH, label(DOCUMENTS, BOTH))
    assert rows(table) == [
        ["Gout", "Disease", "Disease.txt", 2, "", False],
        ["gout", "Disease", "Disease.txt", 2, "", False],
        ["lead", "Chemical", "Chemical.txt", 1, "common word", False],
        ["lead poisoning", "Disease", "Disease.txt", 1, "", False],
        ["cold", "Disease", "Disease.txt", 0, "common word", True],
        ["zinc", "Chemical", "Chemical.txt", 0, "", False],
    ]


def test_phrase_table_has_no_matches_without_text():
    table = phrase_table(BOTH, None)
    assert table["phrase"].tolist() == ["gout", "Gout", "cold", "lead poisoning", "lead", "zinc"]
    assert table["matches"].isna().all()


def test_dictionary_table_says_what_is_found():
    table = dictionary_table(BOTH, label(DOCUMENTS, BOTH))
    assert rows(table) == [
        ["Disease.txt", "Disease", 4, 2, 1, True, 0, 3, 0.75, 3],
        ["Chemical.txt", "Chemical", 2, 0, 0, True, 0, 1, 0.5, 1],
    ]


def test_dictionary_table_has_a_row_without_text_and_without_phrases():
    assert dictionary_table(BOTH, None)["matches"].isna().all()
    assert dictionary_table([], None).empty
    assert phrase_table([], label(DOCUMENTS, [])).empty


def test_rank_table_keeps_the_first_ranks_and_few_of_the_rest():
    phrases = pd.DataFrame(
        {
            "phrase": [f"p{i}" for i in range(50_000)],
            "entity_type": "X",
            "matches": [*range(40_000, 0, -1), *[0] * 10_000],
        }
    )
    table = rank_table(phrases)
    assert len(table) <= 300
    assert table["rank"].tolist()[:5] == [1, 2, 3, 4, 5]
    assert table.iloc[-1].tolist() == [40_000, "p39999", "X", 1]


def test_length_table_counts_phrases_by_their_words():
    table = length_table(phrase_table(BOTH, label(DOCUMENTS, BOTH)))
    # gout, Gout, lead, cold, zinc; lead poisoning
    assert rows(table) == [[1, 5, 3, 5], [2, 1, 1, 1]]
    assert length_table(phrase_table(BOTH, None))["matches"].tolist() == [0, 0]


def test_length_table_puts_all_long_phrases_together():
    long = Dictionary("x.txt", (Phrase("a b c d e f g h", "X"), Phrase("a b c d e f g h i j", "X")))
    assert rows(length_table(phrase_table([long], None))) == [[8, 2, 0, 0]]
