"""The sample project shows what the tool is for; these tests check that it still does."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from engine.dictionaries.editing import mute
from engine.dictionaries.reading import read_dictionaries
from engine.files.sources import read_source
from engine.formats.alignment import align, gold_of
from engine.formats.reading import read_corpus
from engine.labels.coverage import phrase_usage
from engine.labels.distant import conflicts, dictionary_entities, label
from engine.scoring.checking import judgements_from_gold, kept_matches, noisy_phrases
from engine.scoring.metrics import evaluate_documents
from engine.text.model import spans_from_entities

SAMPLE = Path(__file__).parent.parent / "sample_data"
TYPES = {"Chemical", "Disease"}


def documents_of(*names):
    return read_corpus([read_source(SAMPLE / name) for name in names]).documents


TRAIN, SCORE = documents_of("train.jsonl"), documents_of("score.jsonl")
DOCUMENTS = (*TRAIN, *SCORE)
SENTENCES = [sentence for document in DOCUMENTS for sentence in document.sentences]
ANNOTATED = gold_of(read_corpus([read_source(SAMPLE / "gold.csv")]))
GOLD = align(DOCUMENTS, ANNOTATED).entities
DICTIONARIES = read_dictionaries(
    [read_source(path) for path in sorted((SAMPLE / "dictionary").glob("*.txt"))]
)
LABELS = label(DOCUMENTS, DICTIONARIES, "balanced")


def scores_of(dictionaries):
    labels = label(DOCUMENTS, dictionaries, "balanced")
    evaluation = evaluate_documents(DOCUMENTS, GOLD, dictionary_entities(labels, DOCUMENTS))
    return evaluation.overall


def test_sample_has_about_100_documents_and_900_sentences():
    assert 95 <= len(DOCUMENTS) <= 115
    assert len(SENTENCES) >= 900
    assert not any(document.cut_sentences for document in DOCUMENTS)


def test_train_and_score_share_no_document():
    assert {d.id for d in TRAIN}.isdisjoint(d.id for d in SCORE)
    assert {d.text for d in TRAIN}.isdisjoint(d.text for d in SCORE)
    assert len({d.id for d in DOCUMENTS}) == len(DOCUMENTS)


def test_no_two_documents_share_a_sentence():
    seen_in = defaultdict(set)
    for sentence in SENTENCES:
        seen_in[" ".join(sentence.tokens).casefold()].add(sentence.document_id)
    assert {text: ids for text, ids in seen_in.items() if len(ids) > 1} == {}


def test_gold_annotates_every_document_and_nothing_else():
    assert set(ANNOTATED.entities) == {document.id for document in DOCUMENTS}
    assert align(DOCUMENTS, ANNOTATED).notes == ()


def test_gold_surfaces_equal_the_text_at_their_offsets():
    texts = {document.id: document.text for document in DOCUMENTS}
    with (SAMPLE / "gold.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    wrong = [r for r in rows if texts[r["doc_id"]][int(r["start"]) : int(r["end"])] != r["text"]]
    assert wrong == []
    assert len(rows) == sum(map(len, GOLD.values()))


def test_gold_lies_on_whole_tokens_without_any_change():
    notes = {d.id: spans_from_entities(d, GOLD[d.id]).notes for d in DOCUMENTS}
    assert {id: lines for id, lines in notes.items() if lines} == {}


@pytest.mark.parametrize("documents", [TRAIN, SCORE], ids=["train", "score"])
def test_both_types_occur_in_both_splits(documents):
    assert {entity.entity_type for d in documents for entity in GOLD[d.id]} == TYPES


def test_dictionary_finds_about_half_of_the_mentions_and_is_mostly_right():
    scores = scores_of(DICTIONARIES)
    assert 0.50 <= scores.recall <= 0.60
    assert 0.95 <= scores.precision <= 0.985


@pytest.mark.parametrize("phrase", [("lead", "Chemical"), ("cold", "Disease"), ("K", "Chemical")])
def test_muting_a_noisy_phrase_raises_precision(phrase):
    muted = [mute(dictionary, [phrase]) for dictionary in DICTIONARIES]
    assert scores_of(muted).precision > scores_of(DICTIONARIES).precision


def test_readme_figures_are_those_of_the_files():
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    mentions = Counter(entity.entity_type for entities in GOLD.values() for entity in entities)
    chemicals, diseases = (len(dictionary.phrases) for dictionary in DICTIONARIES)
    scores = scores_of(DICTIONARIES)
    noisy = [("lead", "Chemical"), ("cold", "Disease"), ("K", "Chemical")]
    noisy += [("alcohol", name) for name in TYPES]
    muted = scores_of([mute(dictionary, noisy) for dictionary in DICTIONARIES])
    for promise in (
        f"{len(DOCUMENTS)} short documents with {len(SENTENCES):,} sentences",
        f"{len(TRAIN)} documents to label",
        f"{len(SCORE)} documents kept apart",
        f"{mentions['Chemical']:,} Chemical, {mentions['Disease']:,} Disease",
        f"{chemicals} and {diseases} phrases",
        f"finds {scores.recall:.0%} of the mentions".replace("%", " %"),
        f"with {100 * scores.precision:.1f} % precision",
        f"with {100 * muted.precision:.1f} % once",
    ):
        assert promise in readme


def test_conflicts_of_at_least_two_rules_occur():
    assert len(set(conflicts(LABELS, SENTENCES)["rule"])) >= 2


def test_noisy_phrases_with_flags_occur():
    matches = kept_matches(LABELS, SENTENCES)
    table = noisy_phrases(matches, judgements_from_gold(matches, GOLD))
    flagged = table[(table["estimated_false"] > 0) & (table["flags"] != "")]
    assert {"lead", "cold", "K"} <= set(flagged["phrase"])


def test_a_third_of_the_gold_surfaces_is_not_in_the_dictionary():
    surfaces = {d.text[e.start : e.end].casefold() for d in DOCUMENTS for e in GOLD[d.id]}
    held = {phrase.text.casefold() for dictionary in DICTIONARIES for phrase in dictionary.phrases}
    assert len(surfaces - held) >= 0.3 * len(surfaces)


def test_dictionary_has_phrases_that_never_occur():
    usage = phrase_usage(LABELS)
    assert ((usage["matches"] == 0) & (usage["lost"] == 0)).sum() >= 50


def test_dictionary_holds_each_phrase_once_and_both_types():
    assert {name for dictionary in DICTIONARIES for name in dictionary.types} == TYPES
    for dictionary in DICTIONARIES:
        assert dictionary.notes == ()
        texts = [phrase.text.casefold() for phrase in dictionary.phrases]
        assert len(texts) == len(set(texts))
