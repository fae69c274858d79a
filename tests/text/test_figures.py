import pytest

from engine.text.figures import (
    document_lengths,
    document_table,
    histogram,
    measure_text,
    sentence_lengths,
)
from engine.text.model import Corpus
from engine.text.tokenization import make_document

CORPUS = Corpus((make_document("a", "He had gout. Gout!"), make_document("b", "  Nothing\nmore.")))


def test_measure_text_counts_what_was_read():
    figures = measure_text(CORPUS)
    # He had gout . | Gout ! | Nothing more .
    assert (figures.documents, figures.sentences, figures.tokens) == (2, 3, 9)
    assert figures.unique_tokens == 8  # the full stop twice
    assert figures.longest_sentence == 4


def test_document_table_has_one_row_per_document():
    assert document_table(CORPUS).to_numpy().tolist() == [
        ["a", 2, 6, 4, "He had gout. Gout!"],
        ["b", 1, 3, 3, "Nothing more."],
    ]
    assert len(document_table(CORPUS, most=1)) == 1


def test_document_table_cuts_a_long_text():
    [text] = document_table(Corpus((make_document("a", "word " * 500),)))["text"]
    assert text.endswith("word …") or text.endswith("word  …")
    assert len(text) <= 122


def test_empty_corpus_has_figures_too():
    assert measure_text(Corpus(())).longest_sentence == 0
    assert sentence_lengths(Corpus(())).empty
    assert document_table(Corpus(())).empty


def test_lengths_count_sentences_and_documents():
    assert sentence_lengths(CORPUS)["count"].sum() == 3
    assert document_lengths(CORPUS).to_numpy().tolist() == [
        [3, 3, 1],
        [4, 4, 0],
        [5, 5, 0],
        [6, 6, 1],
    ]


@pytest.mark.parametrize("values", [[5], [1, 1_000_000], list(range(1000)), [3] * 50])
def test_histogram_counts_every_value_in_few_bars(values):
    table = histogram(values)
    assert table["count"].sum() == len(values)
    assert len(table) <= 30
    assert table["first"].iloc[0] == min(values)
    assert table["last"].iloc[-1] >= max(values)
    assert (table["first"].iloc[1:].to_numpy() == table["last"].iloc[:-1].to_numpy() + 1).all()


def test_histogram_keeps_one_long_value_from_flattening_the_rest():
    table = histogram([*range(1, 300), 1_000_000])
    assert table["count"].iloc[:-1].max() <= 20
    assert table["last"].iloc[-1] == 1_000_000
