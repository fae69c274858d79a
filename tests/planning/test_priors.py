import math

import numpy as np
import pytest

from engine.planning.priors import (
    ESTIMATED,
    GIVEN,
    TRUE,
    estimate_priors,
    given_priors,
    true_priors,
)
from engine.text.model import InputError

SENTENCE_TOKENS = 25
TYPE_SUFFIXES = ("azole", "mycin", "itide")
OTHER_SUFFIXES = ("ing", "tion", "ness", "ly", "ed", "ous")
FUNCTION_WORDS = ("the", "of", "in", "and", "to", ".", ",", "with")


def make_words(rng, count, suffixes, with_suffix):
    letters = np.array(list("abcdefghiklmnoprstu"))
    stems = ["".join(rng.choice(letters, size)) for size in rng.integers(3, 8, count)]
    endings = np.where(rng.random(count) < with_suffix, rng.choice(suffixes, count), "")
    return np.array([stem + ending for stem, ending in zip(stems, endings, strict=True)], object)


def draw(rng, words, count, steepness):
    shares = 1 / np.arange(1, len(words) + 1) ** steepness
    return rng.choice(len(words), count, p=shares / shares.sum())


def make_corpus(seed, prior, token_count=40_000):
    """Sentences, which tokens are of the type, and the number of each token's word."""
    rng = np.random.default_rng(seed)
    of_type = make_words(rng, 1_500, TYPE_SUFFIXES, 0.7)
    others = make_words(rng, 4_000, OTHER_SUFFIXES, 0.7)
    rng.shuffle(of_type)
    others = np.concatenate([np.array(FUNCTION_WORDS, object), others])
    is_type = rng.random(token_count) < prior
    numbers = np.where(
        is_type, draw(rng, of_type, token_count, 0.8), draw(rng, others, token_count, 1.0)
    )
    tokens = others[numbers]
    tokens[is_type] = of_type[numbers[is_type]]
    starts = range(0, token_count, SENTENCE_TOKENS)
    return [list(tokens[i : i + SENTENCE_TOKENS]) for i in starts], is_type, numbers


def label_tokens(rng, is_type, frequency):
    return (is_type & (rng.random(len(is_type)) < frequency)).astype(np.int16)


def label_words(rng, is_type, numbers, frequency):
    is_in_dictionary = rng.random(numbers.max() + 1) < frequency
    return (is_type & is_in_dictionary[numbers]).astype(np.int16)


# ---- estimated ------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "frequency"), [(0.04, 0.7), (0.08, 0.4), (0.15, 0.5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_estimate_is_near_the_prior_when_tokens_are_labeled_at_random(seed, prior, frequency):
    sentences, is_type, _ = make_corpus(seed, prior)
    labels = label_tokens(np.random.default_rng(seed), is_type, frequency)
    estimated = estimate_priors(sentences, labels, ("Drug",)).values[1]
    assert estimated == pytest.approx(is_type.mean(), rel=0.2)


@pytest.mark.parametrize("frequency", [0.25, 0.5, 0.8])
def test_estimate_is_near_the_prior_when_a_dictionary_labels_whole_words(frequency):
    sentences, is_type, numbers = make_corpus(2, 0.08)
    labels = label_words(np.random.default_rng(2), is_type, numbers, frequency)
    estimated = estimate_priors(sentences, labels, ("Drug",)).values[1]
    # A feature that named the word would find subsets with every token labeled, so c = 1.
    assert estimated > 1.1 * labels.mean()
    assert estimated == pytest.approx(is_type.mean(), rel=0.3)


def test_estimate_of_two_types_leaves_the_other_type_out():
    sentences, is_type, numbers = make_corpus(3, 0.16)
    # Words of either type look the same; half of each type's tokens are labeled.
    classes = np.where(is_type, 1 + numbers % 2, 0)
    is_labeled = np.random.default_rng(3).random(len(classes)) < 0.5
    labels = np.where(is_labeled, classes, 0).astype(np.int16)
    priors = estimate_priors(sentences, labels, ("Drug", "Food"))
    true = true_priors(classes.astype(np.int16), ("Drug", "Food"))
    # c of Drug among unlabeled and Drug tokens that look alike: 0.25 / (0.25 + 0.25 + 0.25) = 1/3
    # instead of 1/2, so its prior is at most 3/2 of the true one; with Food in: 1/4, twice.
    assert (priors.values[1:] < 1.7 * true.values[1:]).all()
    assert priors.values.sum() == pytest.approx(1)
    assert priors.source == (ESTIMATED, ESTIMATED)


def test_estimate_is_never_below_the_labeled_share_and_close_when_all_is_labeled():
    sentences, is_type, _ = make_corpus(4, 0.1, token_count=20_000)
    priors = estimate_priors(sentences, is_type.astype(np.int16), ("Drug",))
    assert priors.labeled_share == (is_type.mean(),)
    assert is_type.mean() <= priors.values[1] <= 1.2 * is_type.mean()


def test_estimate_is_the_same_twice_and_moves_little_with_the_seed():
    sentences, is_type, _ = make_corpus(5, 0.1, token_count=20_000)
    labels = label_tokens(np.random.default_rng(5), is_type, 0.5)
    first, again, other = (estimate_priors(sentences, labels, ("Drug",), seed=s) for s in (0, 0, 1))
    assert first.values.tobytes() == again.values.tobytes()
    assert other.values[1] == pytest.approx(first.values[1], rel=0.15)


def test_estimate_does_not_change_its_arguments():
    sentences, is_type, _ = make_corpus(6, 0.1, token_count=2_000)
    labels = label_tokens(np.random.default_rng(6), is_type, 0.5)
    copies = [list(tokens) for tokens in sentences], labels.copy()
    estimate_priors(sentences, labels, ("Drug",))
    assert sentences == copies[0]
    assert (labels == copies[1]).all()


def test_estimate_notes_few_labeled_words_and_a_total_scaled_down_when_text_is_short():
    sentences = [["Aspirin", "helps", "Paris", "."], [], ["It", "does"]]
    labels = np.array([1, 0, 2, 0, 0, 0], np.int16)
    priors = estimate_priors(sentences, labels, ("Drug", "City"))
    assert priors.values[1:].sum() == pytest.approx(0.9)
    assert priors.values[0] == pytest.approx(0.1)
    rough = "1 distinct word is labeled; the estimate is rough and often too high"
    # Too few words to judge by: c is taken as the labeled share of 5 tokens, (1/6) / (1/5) = 5/6.
    assert priors.notes == (
        f"Drug: {rough}",
        f"City: {rough}",
        "the estimates summed to 1.667; scaled down to 0.9",
    )


def test_estimate_draws_sentences_when_the_text_is_long(monkeypatch):
    sentences, is_type, _ = make_corpus(7, 0.1, token_count=20_000)
    labels = label_tokens(np.random.default_rng(7), is_type, 0.5)
    monkeypatch.setattr("engine.planning.priors._MOST_TOKENS", 15_000)
    priors = estimate_priors(sentences, labels, ("Drug",))
    assert priors.notes == ("estimated on 15,000 of 20,000 tokens, in sentences drawn at random",)
    assert priors.values[1] == pytest.approx(is_type.mean(), rel=0.3)


def test_estimate_names_the_type_that_no_token_is_labeled_as():
    with pytest.raises(InputError, match="no token is labeled as Food"):
        estimate_priors([["a", "b"]], np.array([1, 0], np.int16), ("Drug", "Food"))


def test_estimate_rejects_labels_of_another_length():
    with pytest.raises(ValueError, match="got 1 for 2 tokens"):
        estimate_priors([["a", "b"]], np.array([1], np.int16), ("Drug",))


# ---- given and true -------------------------------------------------------------------------


def test_given_priors_come_in_the_order_of_the_types():
    priors = given_priors({"LOC": 0.2, "PER": 0.1}, ("PER", "LOC"))
    assert priors.values.tolist() == pytest.approx([0.7, 0.1, 0.2])
    assert priors.source == (GIVEN, GIVEN)
    assert all(math.isnan(share) for share in priors.labeled_share)
    assert priors.notes == ()


@pytest.mark.parametrize(
    ("values", "now"),
    [
        ((0.63, 0.5), "1.13"),
        ((0.5, 0.5), "1"),
        ((0.0, 0.5), "0"),
        ((-0.1, 0.5), "-0.1"),
        ((float("nan"), 0.5), "nan"),
    ],
)
def test_given_priors_must_be_positive_and_sum_to_less_than_one(values, now):
    with pytest.raises(InputError) as error:
        given_priors(dict(zip(("PER", "LOC"), values, strict=True)), ("PER", "LOC"))
    assert str(error.value) == f"Priors must be > 0 and sum to < 1 (now {now})."


@pytest.mark.parametrize("names", [("PER",), ("PER", "LOC", "ORG")])
def test_given_priors_must_be_one_per_type(names):
    with pytest.raises(InputError, match=r"differ in (LOC|ORG); give one prior per type"):
        given_priors(dict.fromkeys(names, 0.1), ("PER", "LOC"))


def test_given_priors_below_the_labeled_share_are_kept_and_noted():
    labels = np.array([1, 1, 2, 0], np.int16)
    priors = given_priors({"PER": 0.2, "LOC": 0.3}, ("PER", "LOC"), labels=labels)
    assert priors.values.tolist() == pytest.approx([0.5, 0.2, 0.3])
    assert priors.labeled_share == (0.5, 0.25)
    assert priors.notes == (
        "PER: the prior 0.2000 is below the labeled share 0.5000; some of its labels must be wrong",
    )


def test_true_priors_are_the_shares_of_gold():
    priors = true_priors(np.array([0, 1, 2, 2], np.int16), ("PER", "LOC"))
    assert priors.values.tolist() == [0.25, 0.25, 0.5]
    assert priors.source == (TRUE, TRUE)


def test_true_priors_need_a_token():
    with pytest.raises(InputError, match="no gold token"):
        true_priors(np.array([], np.int16), ("PER",))
