"""Methods are compared by the words of hidden phrases that they find again."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.dictionaries.model import Dictionary, Phrase, active_phrases
from engine.labels.distant import label
from engine.scoring.hidden_phrases import (
    FoundAgain,
    Hidden,
    are_comparable,
    best_of,
    common_rate,
    epochs_advice,
    find_again,
    hidden_words,
    hide_phrases,
    is_surely_more,
    suggested_epochs,
)
from engine.text.model import InputError
from engine.text.tokenization import make_tokenized_document

DRUGS = [f"drug{i}" for i in range(100)]
ILLS = [f"ill{i}" for i in range(40)]


def dictionary(name, words, entity_type):
    return Dictionary(name, tuple(Phrase(word, entity_type) for word in words))


def labeled(drugs=DRUGS, ills=ILLS, more=()):
    sentences = [("He", "took", drug, "for", ILLS[i % 40]) for i, drug in enumerate(DRUGS)]
    documents = [make_tokenized_document("d", sentences)]
    dictionaries = [dictionary("a", drugs, "Drug"), dictionary("b", ills, "Ill"), *more]
    return documents, dictionaries, label(documents, dictionaries, "strict")


def held(dictionaries):
    return {phrase.text for given in dictionaries for phrase in active_phrases(given)}


# ---- hide -----------------------------------------------------------------------------------


def test_a_share_of_each_type_is_hidden_and_nothing_else():
    _, dictionaries, labels = labeled()
    hidden = hide_phrases(dictionaries, labels, 0.1)
    types = [entity_type for _, entity_type in hidden.phrases]
    assert (types.count("Drug"), types.count("Ill")) == (10, 4)
    assert held(dictionaries) - held(hidden.dictionaries) == {text for text, _ in hidden.phrases}


def test_the_same_phrases_are_hidden_again_and_others_with_another_seed():
    _, dictionaries, labels = labeled()
    first, again = (hide_phrases(dictionaries, labels, 0.1).phrases for _ in range(2))
    assert first == again != hide_phrases(dictionaries, labels, 0.1, seed=1).phrases


def test_a_hidden_phrase_is_hidden_in_every_dictionary_and_spelling():
    more = dictionary("c", [drug.upper() for drug in DRUGS], "Brand")
    _, dictionaries, labels = labeled(more=[more])
    hidden = hide_phrases(dictionaries, labels, 0.1)
    left = {text.casefold() for text in held(hidden.dictionaries)}
    assert not left & {text for text, _ in hidden.phrases}


def test_phrases_that_do_not_match_are_not_hidden():
    _, dictionaries, labels = labeled([*DRUGS, *(f"absent{i}" for i in range(1_000))])
    hidden = hide_phrases(dictionaries, labels, 0.1)
    assert len(hidden.phrases) == 14
    assert not any(text.startswith("absent") for text, _ in hidden.phrases)


def test_too_few_phrases_are_refused_in_a_sentence():
    _, dictionaries, labels = labeled(DRUGS[:30], ILLS[:5])
    with pytest.raises(InputError, match=r"^35 phrases match the text: too few .* about 100$"):
        hide_phrases(dictionaries, labels, 0.1)


@pytest.mark.parametrize("share", [0, -0.1, 0.6, float("nan")])
def test_a_share_that_cannot_be_hidden_is_refused(share):
    _, dictionaries, labels = labeled()
    with pytest.raises(InputError, match=r"above 0 and at most 0\.5"):
        hide_phrases(dictionaries, labels, share)


def test_only_words_without_another_label_are_hidden():
    documents, dictionaries, labels = labeled()
    hidden = hide_phrases(dictionaries, labels, 0.1)
    without = label(documents, hidden.dictionaries, "strict").labels.copy()
    words = hidden_words(hidden, labels, without)
    tokens = [token for sentence in documents[0].tokens_by_sentence() for token in sentence]
    found = {(tokens[i], hidden.phrases[words[i]][0]) for i in np.flatnonzero(words >= 0)}
    assert found == {(text, text) for text, _ in hidden.phrases}
    first = int(np.flatnonzero(words >= 0)[0])
    without[first] = 1  # another phrase labels this word
    assert hidden_words(hidden, labels, without)[first] == -1


# ---- find again -----------------------------------------------------------------------------


def test_only_unlabeled_tokens_within_the_rate_are_found():
    hidden = Hidden((("a", "X"), ("b c", "X")), ())
    words = np.array([-1, 0, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1], np.int32)
    labels = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], np.int16)
    probability = np.array([0.99, 0.8, 0.1, 0.9, 0.3, 0.7, 0, 0, 0, 0, 0, 0.99])
    result = find_again(hidden, words, labels, probability, 0.3)  # 3 of 10: at 3, 1 and 5
    assert (result.words, result.found) == ((1, 2), (1, 1))
    assert result.phrases == ("a (X)", "b c (X)")
    assert result.share == pytest.approx(2 / 3)


def test_the_rate_does_not_depend_on_how_sure_a_method_is():
    hidden, words = Hidden((("a", "X"),), ()), np.array([0, -1, -1, -1], np.int32)
    labels, probability = np.zeros(4, np.int16), np.array([0.4, 0.3, 0.2, 0.1])
    shy, bold = (find_again(hidden, words, labels, f * probability, 0.25) for f in (0.01, 2))
    assert shy == bold and shy.found == (1,)


def test_the_rate_is_the_share_of_entities_among_unlabeled_tokens():
    labels = np.array([1] * 10 + [0] * 90, np.int16)
    words = np.full(100, -1, np.int32)
    assert common_rate(0.19, words, labels) == pytest.approx(0.1)
    words[20:29] = 0  # 9 of 90: a prior below the labels would leave no room for them
    assert common_rate(0.05, words, labels) == pytest.approx(0.2)
    assert common_rate(0.9, words, labels) == 0.5


# ---- rank -----------------------------------------------------------------------------------


def result(*found, rate=0.1):
    return FoundAgain(rate, tuple(f"p{i}" for i in range(len(found))), (2,) * len(found), found)


def test_what_chance_explains_is_left_to_trust():
    trusted, lucky, best = result(*[1] * 20), result(2, *[1] * 19), result(*[2] * 20)
    assert not is_surely_more(lucky, trusted) and is_surely_more(best, trusted)
    assert best_of({"trusted": trusted, "lucky": lucky}) == "trusted"
    assert best_of({"trusted": trusted, "lucky": lucky, "best": best}) == "best"


def test_one_phrase_with_many_words_does_not_decide():
    many = FoundAgain(0.1, ("a", "b", "c"), (50, 1, 1), (50, 0, 0))
    few = FoundAgain(0.1, ("a", "b", "c"), (50, 1, 1), (0, 1, 1))
    assert not is_surely_more(many, few)


def test_results_of_other_phrases_or_another_rate_are_not_compared():
    assert are_comparable([result(1, 2), result(0, 0)])
    assert not are_comparable([result(1, 2), result(1, 2, rate=0.2)])
    assert not are_comparable([result(1, 2), result(1, 2, 0)])


# ---- epochs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "epochs"),
    [
        ([1, 1, 1, 1], 4),  # nothing speaks against the number that was set
        ([0, 1, 2, 2], 4),
        ([0, 2, 1, 1], 2),  # an earlier epoch found more
        ([0, 0, 1, 2], 6),  # it was still learning
        ([1], 1),
    ],
)
def test_epochs_are_suggested_by_what_was_found_after_each(found, epochs):
    assert suggested_epochs([result(*[n] * 20) for n in found]) == epochs


def test_one_lucky_phrase_changes_no_number_of_epochs():
    lucky, usual = result(2, *[1] * 19), result(*[1] * 20)
    assert suggested_epochs([usual, lucky, usual, usual]) == 4
    assert suggested_epochs([usual, usual, usual, lucky]) == 4


def test_the_advice_gives_its_reason():
    def advice(epochs, *after):
        return epochs_advice(replace(result(2, 2), after_epochs=after, epochs=epochs))

    assert advice(2, 1, 30, 20, 20) == (
        "Try 2 epochs: after 2 of 4 it found 30 of the hidden words again, at the end 20."
    )
    assert advice(6, 1, 2, 3, 40) == (
        "Try 6 epochs: it found 3 of the hidden words again after 3 of 4, and 40 at the end, so it "
        "was still learning."
    )
    assert advice(4, 1, 2, 39, 40) == (
        "4 epochs are enough: it found 39 of the hidden words again after 3 of 4, and 40 at the "
        "end."
    )
    assert advice(0) == advice(1, 5) == ""


def test_a_stored_result_is_read_again_and_a_damaged_one_is_none():
    kept = json.loads(json.dumps(result(1, 2).record))
    assert FoundAgain.of_record(kept) == result(1, 2)
    counted = replace(result(1, 2), after_epochs=(1, 3), epochs=2)
    assert FoundAgain.of_record(json.loads(json.dumps(counted.record))) == counted
    del kept["epochs"], kept["after_epochs"]  # of a run from before epochs were counted
    assert FoundAgain.of_record(kept) == result(1, 2)
    for damage in ({"found": [3, 0]}, {"found": [1]}, {"rate": "x"}, {"words": None}):
        assert FoundAgain.of_record(kept | damage) is None
    assert FoundAgain.of_record([]) is None
