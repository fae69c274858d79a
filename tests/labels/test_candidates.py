from collections import Counter, defaultdict

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.audit import is_common_word, is_stop_word
from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.candidates import missing_candidates
from engine.labels.distant import label
from engine.text.tokenization import make_tokenized_document

COUNTED = ["phrase", "count", "documents", "capitalized", "example"]
COLUMNS = ["phrase", "entity_type", *COUNTED[1:]]


def phrases(entity_type, *texts):
    return tuple(Phrase(text, entity_type) for text in texts)


def document(id, *lines):
    return make_tokenized_document(id, [line.split() for line in lines])


DRUGS = Dictionary("drugs.txt", phrases("Chemical", "aspirin", "ibuprofen", "high"))

NEPHRITIS = [
    document(
        "d1",
        "Interstitial nephritis followed aspirin .",
        "The interstitial nephritis resolved after the aspirin .",
    ),
    document(
        "d2",
        "Biopsy of the kidney showed interstitial nephritis .",
        "In two patients IgA nephropathy was the cause of the change .",
        "The second had IgA nephropathy and the aspirin .",
        "He had IgA nephropathy ; the change was small .",
    ),
]


def sentences_of(documents):
    return [sentence for document in documents for sentence in document.sentences]


def missing(documents, dictionaries=(DRUGS,), **options):
    labels = label(documents, list(dictionaries), "balanced")
    return missing_candidates(labels, sentences_of(documents), **options)


def test_missing_candidates_finds_repeated_names_and_shows_their_case():
    # No stop word ("the" stands 8 times), no everyday word ("change"), nothing matched ("aspirin")
    # and no part of a longer name.
    table = missing(NEPHRITIS)
    assert sorted(table["phrase"]) == ["IgA nephropathy", "interstitial nephritis"]
    by_phrase = table.set_index("phrase")
    assert by_phrase["count"].to_dict() == {"IgA nephropathy": 3, "interstitial nephritis": 3}
    assert by_phrase["documents"].to_dict() == {"IgA nephropathy": 1, "interstitial nephritis": 2}
    # A capital at the beginning of a sentence does not count.
    assert by_phrase["capitalized"].to_dict() == {"IgA nephropathy": 1, "interstitial nephritis": 0}
    assert by_phrase["example"]["interstitial nephritis"] == (
        "Interstitial nephritis followed aspirin ."
    )


def test_missing_candidates_puts_bunched_and_capitalized_names_first():
    assert missing(NEPHRITIS)["phrase"].tolist() == ["IgA nephropathy", "interstitial nephritis"]


def test_missing_candidates_leaves_out_what_a_dictionary_holds():
    holds = Dictionary("d.txt", phrases("Disease", "interstitial nephritis"))
    assert missing(NEPHRITIS, [DRUGS, holds])["phrase"].tolist() == ["IgA nephropathy"]


def test_missing_candidates_keeps_a_part_that_often_stands_alone():
    alone = document("d3", *["With nephritis"] * 3)
    # "nephritis" now stands 6 times, 3 of them inside the longer name: under 80 %.
    counts = missing([*NEPHRITIS, alone]).set_index("phrase")["count"]
    assert counts["nephritis"] == 6
    assert counts["interstitial nephritis"] == 3
    assert "interstitial" not in counts


def test_missing_candidates_needs_the_least_count_asked_for():
    assert missing(NEPHRITIS, least=4).empty
    assert len(missing(NEPHRITIS, most=1)) == 1


def test_missing_candidates_reach_over_a_hyphen_but_not_over_a_comma():
    lines = ["by alpha - tocopherol , tacrolimus"] * 3
    table = missing([document("d", *lines)])
    assert set(table["phrase"]) == {"alpha - tocopherol", "tacrolimus"}


UNREPEATED = [document("d1", "Aspirin helped .", "Rash and high fever went .")]


@pytest.mark.parametrize("documents", [[], UNREPEATED], ids=["no text", "nothing repeated"])
def test_missing_candidates_of_nothing_keeps_its_columns(documents):
    table = missing(documents)
    assert isinstance(table, pd.DataFrame) and table.empty
    assert list(table.columns) == COLUMNS


# ---- what looks like a match comes first ----------------------------------------------------

KNOWN = {
    "Chemical": ["atenolol", "metoprolol", "nadolol", "timolol", "sotalol", "pindolol"],
    "Disease": ["gastritis", "hepatitis", "colitis", "arthritis", "dermatitis", "cystitis"],
}


def trained(chemical="bisoprolol", disease="nephritis"):
    """Sixty matches in two kinds of contexts, an unknown name in each, and a frequent word."""
    lines = []
    for drug, illness in zip(*KNOWN.values(), strict=True):
        lines += [f"He was on {drug} and so on .", f"It was from {illness} that he had it ."] * 5
    lines += [f"He was on {chemical} and so on .", f"It was from {disease} that he had it ."] * 3
    lines += ["The results were significantly better , respectively , with administration ."] * 40
    dictionaries = [Dictionary(name, phrases(name, *texts)) for name, texts in KNOWN.items()]
    return missing([document("d", *lines)], dictionaries)


def test_names_like_the_matches_come_before_frequent_words_with_their_type():
    first = trained().head(2)
    found = dict(zip(first["phrase"], first["entity_type"], strict=True))
    assert found == {"bisoprolol": "Chemical", "nephritis": "Disease"}


def test_the_context_counts_for_names_with_other_letters():
    table = trained("qwzx", "vrkh").head(2)
    found = dict(zip(table["phrase"], table["entity_type"], strict=True))
    assert found == {"qwzx": "Chemical", "vrkh": "Disease"}


def test_a_part_of_a_hyphenated_name_comes_last():
    table = trained("xyz - bisoprolol - xyz1")
    assert table["phrase"].iloc[-1] != "nephritis"
    parts = table[table["phrase"] == "bisoprolol"]
    assert parts.empty or parts.index[0] > table.index[table["phrase"] == "nephritis"][0]


def test_too_few_matches_name_no_type():
    assert set(missing(NEPHRITIS)["entity_type"]) == {""}


# ---- the same as counting one group after the other -----------------------------------------

WORDS = ["IgA", "iga", "Nephritis", "nephritis", "the", "of", "-", ",", "12", "change", "aspirin"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), max_size=8)


@given(st.lists(LINES, min_size=1, max_size=3), st.integers(1, 4))
def test_missing_candidates_equal_a_slow_count(texts, least):
    documents = [make_tokenized_document(f"d{i}", lines) for i, lines in enumerate(texts) if lines]
    labels = label(documents, [DRUGS], "balanced")
    table = missing_candidates(labels, sentences_of(documents), least=least, most=10_000)
    assert as_dict(table) == slow_count(labels, sentences_of(documents), least)


def as_dict(table):
    return {row[0]: tuple(row[1:]) for row in table[COUNTED].itertuples(index=False, name=None)}


def slow_count(labels, sentences, least):
    counts, capitals, seen, shown, example = Counter(), Counter(), defaultdict(set), {}, {}
    for i, sentence in enumerate(sentences):
        for start, end in groups(sentence.tokens, labels.of_sentence(i)):
            words = sentence.tokens[start:end]
            key = tuple(word.lower() for word in words)
            counts[key] += 1
            capitals[key] += start > 0 and any(word[0].isupper() for word in words)
            seen[key].add(sentence.document_id)
            example.setdefault(key, sentence.text)
            if start > 0 or key not in shown:
                shown[key] = " ".join(words)  # spaces separate the tokens of these documents
    named = {key: n for key, n in counts.items() if n >= least and is_name(key)}
    return {
        shown[key]: (n, len(seen[key]), capitals[key] / n, example[key])
        for key, n in named.items()
        if not any(n * 0.8 <= named[longer] for longer in named if holds(longer, key))
    }


def groups(tokens, labels):
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + 4, len(tokens)) + 1):
            group = tokens[start:end]
            is_whole = group[0][0].isalnum() and group[-1][0].isalnum()
            is_joined = all(word[0].isalnum() or word == "-" for word in group)
            if is_whole and is_joined and not labels[start:end].any():
                yield start, end


def is_name(words):
    if any(is_stop_word(word) or word.isdigit() for word in (words[0], words[-1])):
        return False
    return any(len(word) > 2 and word.isalpha() and not is_common_word(word) for word in words)


def holds(longer, words):
    size = len(words)
    places = range(len(longer) - size + 1)
    return len(longer) > size and any(longer[i : i + size] == words for i in places)
