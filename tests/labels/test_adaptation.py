"""Under adaptive matching the text decides about letter case and abbreviations."""

from dataclasses import replace

import pytest
from hypothesis import given

from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.adaptation import CaseDecision
from engine.labels.distant import dictionary_entities, label
from engine.labels.variants import added_labels
from engine.settings import MATCH_PRESETS
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.labelings import DEFINING, dictionaries, texts


def dictionary(*phrases, entity_type="T", **options):
    return Dictionary("d", tuple(Phrase(text, entity_type) for text in phrases), **options)


def labeled(documents, *dictionaries, options="adaptive"):
    """Return the labels, and the text of every kept match."""
    labels = label(documents, dictionaries, options)
    entities = dictionary_entities(labels, documents)
    return labels, [d.text[e.start : e.end] for d in documents for e in entities[d.id]]


def lines(*sentences):
    return [make_tokenized_document("n", [sentence.split() for sentence in sentences])]


def case_of(documents, *dictionaries):
    labels, _ = labeled(documents, *dictionaries)
    assert labels.adaptation is not None
    [case] = labels.adaptation.cases
    return case.exact, case.lower, case.is_free


# ---- letter case ----------------------------------------------------------------------------


@pytest.mark.parametrize(("lower", "is_free"), [(0, False), (1, False), (2, True)])
def test_a_tenth_in_lower_case_lets_a_type_ignore_case(lower, is_free):
    text = lines(*["in Turkey"] * (20 - lower), *["in oslo"] * lower, "a turkey")
    assert case_of(text, dictionary("Turkey", "oslo")) == (20, lower, is_free)
    assert ("turkey" in labeled(text, dictionary("Turkey", "oslo"))[1]) == is_free


def test_the_first_token_of_a_sentence_does_not_count():
    text = lines(*["oslo wins"] * 20, *["in Turkey"] * 20)
    assert case_of(text, dictionary("Turkey", "oslo")) == (20, 0, False)


def test_other_spellings_and_phrases_without_case_do_not_count():
    text = lines(*["in TURKEY"] * 20, *["in 東京"] * 20, *["in 2012"] * 20, *["in Turkey"] * 19)
    assert case_of(text, dictionary("Turkey", "東京", "2012")) == (19, 0, False)


def test_a_phrase_that_two_dictionaries_hold_counts_once():
    text = lines(*["in Turkey"] * 3)
    twice = [dictionary("Turkey"), replace(dictionary("Turkey"), name="e")]
    assert case_of(text, *twice) == (3, 0, False)


@pytest.mark.parametrize(
    ("phrases", "is_free"),
    [(["Turkey", "Oslo", "gout"], False), (["Turkey", "gout"], True), (["東京"], False)],
)
def test_with_few_matches_the_phrases_decide(phrases, is_free):
    assert case_of(lines("in Turkey"), dictionary(*phrases))[2] == is_free


def test_a_vocabulary_that_capitalizes_every_phrase_ignores_case():
    names = [f"Morb{chr(97 + i)}" for i in range(22)]
    text = lines(*(f"had {name.lower()} and {name.lower()}" for name in names), *["in Morba"] * 25)
    labels, found = labeled(text, dictionary(*names))
    [case] = labels.adaptation.cases
    assert (case.is_free, case.occurring, case.elsewhere) == (True, 22, 21)
    assert "21 of 22 phrases in the text mostly have fewer capitals" in str(case)
    assert {"morbb", "morbv", "Morba"} <= set(found)
    few = labeled(text, dictionary(*names[:19]))[0].adaptation.cases
    assert [case.is_free for case in few] == [False]  # too few phrases to tell


def test_an_everyday_word_among_names_does_not_let_them_ignore_case():
    names = [f"Stadt{chr(97 + i)}" for i in range(22)]
    text = lines(*(f"in the {name} of the {name}" for name in names), "a stadta")
    labels, found = labeled(text, dictionary(*names, "The"))
    assert [case.is_free for case in labels.adaptation.cases] == [False]
    assert not {"the", "stadta"} & set(found)


def test_types_decide_for_themselves():
    text = lines(*["gave aspirin in Turkey"] * 20, "gave Aspirin", "ate turkey", "TURKEY")
    places, drugs = dictionary("Turkey", entity_type="LOC"), dictionary("aspirin", "Codeine")
    labels, found = labeled([*text], places, replace(drugs, name="e"))
    assert labels.folding == {"T"}
    assert "Aspirin" in found and "TURKEY" in found and "turkey" not in found


def test_a_dictionary_with_options_of_its_own_keeps_them():
    text = lines(*["in Turkey"] * 20, "a turkey", "a TURKEY")
    for preset, expected in (("strict", 20), ("balanced", 22), ("adaptive", 21)):
        own = dictionary("Turkey", match=MATCH_PRESETS[preset])
        for options in ("adaptive", "strict"):
            labels, found = labeled(text, own, options=options)
            assert len(found) == expected
            assert (labels.adaptation is not None) == (preset == "adaptive")


def test_other_presets_decide_nothing():
    labels, _ = labeled(lines("in Turkey"), dictionary("Turkey"), options="balanced")
    assert labels.adaptation is None and labels.folding == frozenset()


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (("D", 200, 50, True), "any letter case matches, because 25 % of 200 exact matches begin"),
        (("D", 200, 5, False), "only more capitals match, because 2 % of 200 exact matches begin"),
        (("D", 1, 0, False), "only more capitals match, because 1 exact match is too few to tell."),
        (("D", 0, 0, True), "0 exact matches are too few to tell, and most phrases begin in lower"),
    ],
)
def test_a_decision_is_one_sentence(case, sentence):
    assert sentence in str(CaseDecision(*case))


# ---- abbreviations --------------------------------------------------------------------------

HEART = Dictionary("heart", (Phrase("Atrial fibrillation", "Disease", "D1281"),))
NOTE = "He has atrial fibrillation (AF). The AF was old. Of af we know nothing."


def listed(labels):
    return [
        (a.document, a.short, a.long, a.matches, a.is_muted)
        for a in labels.adaptation.abbreviations
    ]


def test_a_defined_short_form_is_labeled_in_its_document_and_credited_to_the_phrase():
    documents = [make_document("one", NOTE), make_document("two", "AF again.")]
    free = replace(HEART, phrases=(*HEART.phrases, Phrase("gout", "Disease")))
    labels, found = labeled(documents, free)
    assert found == ["atrial fibrillation", "AF", "AF"]
    assert listed(labels) == [("one", "AF", "atrial fibrillation", 2, False)]
    entities = dictionary_entities(labels, documents)["one"]
    assert {(e.matched_phrase, e.canonical_id, e.source) for e in entities} == {
        ("Atrial fibrillation", "D1281", "heart")
    }


def test_the_long_form_must_be_the_match():
    for text in ("old atrial fibrillation (OAF) or OAF", "atrial fibrillation of AF (FOA) FOA"):
        assert labeled([make_document("n", text)], HEART)[1] in ([], ["atrial fibrillation"])


def test_a_match_that_lost_defines_nothing():
    longer = Dictionary("e", (Phrase("has atrial fibrillation", "Sign"), Phrase("gout", "Sign")))
    free = replace(HEART, phrases=(Phrase("atrial fibrillation", "Disease"),))
    labels, found = labeled([make_document("one", NOTE)], free, longer)
    assert found == ["has atrial fibrillation"]
    assert listed(labels) == []


def test_a_muted_abbreviation_is_listed_and_not_labeled():
    muted = dictionary("atrial fibrillation", muted=frozenset({("AF", "T")}))
    labels, found = labeled([make_document("one", NOTE)], muted)
    assert found == ["atrial fibrillation"]
    assert listed(labels) == [("one", "AF", "atrial fibrillation", 2, True)]


def test_a_short_form_that_is_a_phrase_stays_one_match():
    both = dictionary("atrial fibrillation", "AF")
    labels, found = labeled([make_document("one", NOTE)], both)
    assert found == ["atrial fibrillation", "AF", "AF"]
    assert len(labels.matches) == 3


def test_workers_find_the_same(monkeypatch):
    monkeypatch.setattr("engine.labels.distant._CHUNK_TOKENS", 5)
    documents = [make_document(f"d{i}", NOTE) for i in range(4)]
    held = [dictionary("atrial fibrillation", "nothing")]
    one, two = (label(documents, held, "adaptive", workers=n) for n in (1, 2))
    assert one.adaptation is not None and two.adaptation is not None
    assert one.matches.equals(two.matches)
    assert one.adaptation.abbreviations == two.adaptation.abbreviations


# ---- what is added --------------------------------------------------------------------------


def test_added_labels_are_those_that_exact_letter_case_does_not_give():
    documents = [make_document("one", NOTE), make_document("two", "Aspirin, Aspirin; ASPIRIN.")]
    other = Dictionary("e", (Phrase("Aspirin", "T"),))
    held = [dictionary("atrial fibrillation", "aspirin"), other]
    sentences = [sentence for document in documents for sentence in document.sentences]
    table = added_labels(label(documents, held, "adaptive"), sentences)
    assert list(table.itertuples(index=False, name=None)) == [
        ("AF", "T", "atrial fibrillation", "abbreviation", 2, 1),
        ("ASPIRIN", "T", "aspirin", "letter case", 1, 1),
    ]
    assert added_labels(label(documents, held, "balanced"), sentences).empty


@given(dictionaries(DEFINING), texts(DEFINING))
def test_added_labels_and_exact_ones_are_all_labels(held, documents):
    held = [replace(dictionary, match=None) for dictionary in held]
    labels = label(documents, held, "adaptive")
    sentences = [sentence for document in documents for sentence in document.sentences]
    added = added_labels(labels, sentences)
    phrases = {("".join(p.text.split()), p.entity_type) for d in held for p in d.phrases}
    exact = sum(
        ("".join(sentence.tokens[span.start : span.end]), span.entity_type) in phrases
        for sentence, spans in zip(sentences, labels.spans(), strict=True)
        for span in spans
    )
    assert added["matches"].sum() + exact >= len(labels.kept)
    assert added["matches"].sum() <= len(labels.kept)
