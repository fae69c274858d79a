"""Likely tokens become names: neighbours of one type, without function words at the ends."""

import numpy as np
import pytest

from engine.files.sources import SourceFile
from engine.formats.reading import read_corpus
from engine.labels.likely import LIKELY, LikelyTokens, likely_names

TYPES = ("Chemical", "Disease")


def documents(*texts):
    files = [SourceFile(f"d{i}.txt", text.encode()) for i, text in enumerate(texts)]
    return read_corpus(files).documents


def tokens_of(texts):
    return [token for d in texts for s in d.sentences for token in s.tokens]


def likely(texts, marked, labeled=(), share=None):
    """Return likely tokens: `marked` words have a type and a confidence, all others have 0.1."""
    tokens = tokens_of(texts)
    values = [marked.get(token, (0.1, 1))[0] for token in tokens]
    types = [marked.get(token, (0.1, 1))[1] for token in tokens]
    is_open = np.array([token not in labeled for token in tokens])
    count = sum(value > 0.5 for value, free in zip(values, is_open, strict=True) if free)
    return LikelyTokens(
        np.array(values, np.float16),
        np.array(types, np.int16),
        np.full(len(tokens), 0.25, np.float16),
        is_open,
        TYPES,
        count / is_open.sum() if share is None else share,
    )


def names(texts, tokens, **options):
    by_id = {document.id: document.text for document in texts}
    return [
        (by_id[id][entity.start : entity.end], entity.entity_type)
        for id, entity, _ in likely_names(texts, tokens, **options)
    ]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("He has the renal failure now.", {"renal": (0.8, 2), "failure": (0.8, 2)},
         [("renal failure", "Disease")]),
        ("Aspirin nephritis came.", {"Aspirin": (0.8, 1), "nephritis": (0.8, 2)},
         [("Aspirin", "Chemical"), ("nephritis", "Disease")]),
        ("So the gout, was bad.", {"the": (0.8, 2), "gout": (0.8, 2), ",": (0.9, 2)},
         [("gout", "Disease")]),
        ("A beta - blocker helps.", {"beta": (0.8, 1), "blocker": (0.8, 1)},
         [("beta - blocker", "Chemical")]),
        ("A beta - nephritis came.", {"beta": (0.8, 1), "nephritis": (0.8, 2)},
         [("beta", "Chemical"), ("nephritis", "Disease")]),
        ("It was 42 of the.", {"42": (0.8, 1), "of": (0.8, 1), "the": (0.8, 1)}, []),
    ],
)  # fmt: skip
def test_neighbouring_likely_tokens_of_one_type_form_a_name(text, marked, expected):
    texts = documents(text)
    assert names(texts, likely(texts, marked)) == expected


def test_names_do_not_cross_sentences_and_leave_labeled_tokens_alone():
    texts = documents("He had gout.\n\nRash came.", "The rash and gout came.")
    marked = {"gout": (0.9, 2), ".": (0.9, 2), "Rash": (0.9, 2), "rash": (0.9, 2)}
    found = names(texts, likely(texts, marked, labeled=("rash",)))
    assert found == [("gout", "Disease"), ("Rash", "Disease"), ("gout", "Disease")]


def test_a_name_has_the_mean_confidence_and_margin_of_its_tokens():
    texts = documents("The renal failure.")
    [name] = likely_names(texts, likely(texts, {"renal": (0.6, 2), "failure": (0.8, 2)}))
    assert name.entity.score == pytest.approx(0.7, abs=1e-3)
    assert (name.entity.method, name.margin) == (LIKELY, 0.25)


def test_the_cut_moves_with_the_factor_and_the_share():
    texts = documents("alpha beta gamma delta water food rest help advice change")
    marked = {"alpha": (0.9, 1), "beta": (0.7, 1), "gamma": (0.6, 2), "delta": (0.4, 2)}
    tokens = likely(texts, marked, share=0.2)
    assert [tokens.count(factor) for factor in (0.5, 1, 2, 100)] == [1, 2, 4, 5]  # at most half
    assert tokens.count(1, share=0.3) == 3
    assert tokens.ranked()[:4].tolist() == [0, 1, 2, 3]
    assert tokens.classes(3).tolist() == [1, 1, 2, 0, 0, 0, 0, 0, 0, 0]
    assert names(texts, tokens) == [("alpha beta", "Chemical")]
    assert names(texts, tokens, factor=2) == [
        ("alpha beta", "Chemical"),
        ("gamma delta", "Disease"),
    ]


def test_a_text_without_open_tokens_has_no_names():
    texts = documents("gout rash")
    tokens = likely(texts, {}, labeled=("gout", "rash"), share=0.0)
    assert tokens.count(2) == 0
    assert likely_names(texts, tokens) == []
