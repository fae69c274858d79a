"""Phrases that the text contradicts are found, and do not label."""

from dataclasses import replace

import pytest

import glossa
from engine.dictionaries import Dictionary, Phrase
from engine.experiment import prepare
from engine.labels import label
from engine.learning import find_doubtful_phrases
from engine.learning.training_data import make_training_data
from engine.network import Stopped
from engine.settings import training_settings
from engine.text import Corpus, make_document

SETTINGS = replace(training_settings("quick"), contextual_layer=0)
EVERYDAY = ("the", "with", "were")


@pytest.fixture(scope="module")
def sample():
    corpus = glossa.read_corpus("sample_data/train.jsonl")
    dictionaries = glossa.read_dictionaries(
        ["sample_data/dictionary/Chemical.txt", "sample_data/dictionary/Disease.txt"]
    )
    return corpus, dictionaries


def spoiled(dictionaries, added=(), moved=()):
    """Return the dictionaries with everyday words, and with phrases under the other type."""
    types = {"Chemical": "Disease", "Disease": "Chemical"}
    phrases = [Phrase(word, "Chemical") for word in added]
    for dictionary in dictionaries:
        for phrase in dictionary.phrases:
            is_moved = phrase.text in moved
            name = types[phrase.entity_type] if is_moved else phrase.entity_type
            phrases.append(Phrase(phrase.text, name))
    return [Dictionary("spoiled", tuple(phrases))]


def doubtful(corpus, dictionaries, **options):
    labels = label(corpus.documents, dictionaries, "adaptive")
    data = make_training_data(corpus.documents, dictionaries, labels, "adaptive")
    return find_doubtful_phrases(data, labels, 0.12, SETTINGS, **options)


def test_everyday_words_are_doubted_and_names_are_not(sample):
    corpus, dictionaries = sample
    phrases = doubtful(corpus, spoiled(dictionaries, added=EVERYDAY))
    named = {(phrase.phrase, phrase.entity_type, phrase.looks_like) for phrase in phrases}
    assert named >= {(word, "Chemical", "") for word in EVERYDAY}
    labeled = label(corpus.documents, dictionaries, "adaptive").kept["phrase"].nunique()
    assert len(phrases) < len(EVERYDAY) + 0.05 * labeled
    assert [phrase.match_count for phrase in phrases] == sorted(
        (phrase.match_count for phrase in phrases), reverse=True
    )


def test_abbreviations_and_terms_of_common_words_are_not_everyday_words(sample):
    corpus, dictionaries = sample
    texts = [document.text.replace(" with ", " WITH ") for document in corpus.documents]
    documents = [make_document(str(i), text) for i, text in enumerate(texts)]
    added = ("WITH", "were", "patients who", "in the")
    phrases = doubtful(Corpus(tuple(documents)), spoiled(dictionaries, added=added))
    everyday = {phrase.phrase for phrase in phrases if not phrase.looks_like}
    assert everyday & set(added) == {"were", "in the"}


def test_a_phrase_of_the_wrong_type_looks_like_the_right_one(sample):
    corpus, dictionaries = sample
    labels = label(corpus.documents, dictionaries, "adaptive")
    counts = labels.phrases["phrase"].iloc[labels.kept["phrase"]].value_counts()
    frequent = counts.index[:200:10].tolist()  # twenty of the two hundred that match most
    types = dict(zip(labels.phrases["phrase"], labels.phrases["entity_type"], strict=True))
    phrases = doubtful(corpus, spoiled(dictionaries, moved=frequent))
    right = {p.phrase for p in phrases if p.looks_like == types[p.phrase] != p.entity_type}
    assert len(right & set(frequent)) >= 5


def test_a_type_keeps_its_labels_even_if_all_of_it_is_doubted(sample):
    corpus, dictionaries = sample
    odd = [*dictionaries, Dictionary("odd", tuple(Phrase(word, "Odd") for word in EVERYDAY))]
    assert not {p.entity_type for p in doubtful(corpus, odd)} & {"Odd"}


def test_the_check_can_be_stopped(sample):
    with pytest.raises(Stopped):
        doubtful(*sample, should_stop=lambda: True)


def test_prepare_mutes_what_is_doubted_and_says_so(sample):
    corpus, dictionaries = sample
    few = Corpus(corpus.documents[:150])
    bad = spoiled(dictionaries, added=EVERYDAY)
    encoded = []
    settings = replace(SETTINGS, is_label_checked=True)
    prepared = prepare(
        few.documents, bad, match="adaptive", settings=settings, encode=encoded.append
    )
    assert {p.phrase for p in prepared.doubtful} >= set(EVERYDAY)
    assert "the text contradicts" in prepared.notes[0]
    assert not set(prepared.labels.phrases["phrase"]) & set(EVERYDAY)
    assert (prepared.data.labels == prepared.labels.labels).all()
    assert prepared.data.lexicon.dictionaries[0].muted >= {(w, "Chemical") for w in EVERYDAY}
    assert len(encoded) == 1
    as_given = prepare(
        few.documents, bad, match="adaptive", settings=replace(settings, is_label_checked=False)
    )
    assert as_given.doubtful == ()
    assert (as_given.data.labels > 0).sum() > (prepared.data.labels > 0).sum() + 100
    assert prepared.priors.values[1:].sum() < as_given.priors.values[1:].sum()
