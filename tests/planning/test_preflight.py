from dataclasses import replace

import numpy as np
import pytest

from engine.planning.preflight import (
    TrainingWork,
    check_labels,
    check_priors,
    label_warnings,
    labeled_tokens,
    suited_settings,
    training_work,
)
from engine.settings import Settings
from engine.text.model import InputError

TYPES = ("Chemical", "Disease")


def labels(*counts):
    """Return labels with these numbers of tokens of class 0, 1, 2."""
    return np.repeat(np.arange(len(counts)), counts).astype(np.int16)


def test_labels_that_can_be_learned_from_pass():
    check_labels(labels(60, 20, 20), TYPES)


def test_a_type_without_a_labeled_token_is_named():
    with pytest.raises(InputError, match=r"Disease has no labeled token. Add phrases of that type"):
        check_labels(labels(60, 20), TYPES)


def test_text_that_is_nearly_all_labeled_is_refused():
    with pytest.raises(InputError, match=r"92 % of tokens are labeled. Learning needs unlabeled"):
        check_labels(labels(8, 50, 42), TYPES)


@pytest.mark.parametrize(
    ("values", "total"), [((0.0, 0.2), "0.20"), ((0.6, 0.53), "1.13"), ((-0.1, 0.2), "0.10")]
)
def test_impossible_priors_are_refused(values, total):
    with pytest.raises(InputError, match=rf"Priors must be > 0 and sum to < 1 \(now {total}\)"):
        check_priors(np.array(values))


def test_priors_that_leave_room_pass():
    check_priors(np.array([0.05, 0.9]))


def test_few_labeled_tokens_give_a_warning():
    words = [[f"word{i}" for i in range(1_500)]]
    assert label_warnings(labels(893, 600, 7), TYPES, words) == [
        "Disease has 7 labeled tokens; with fewer than 20 results are unstable"
    ]


@pytest.mark.parametrize(
    ("distinct", "said"),
    [
        (500, []),
        (499, ["Only 499 distinct words are labeled; a larger dictionary helps most"]),
        (1, ["Only 1 distinct word is labeled; a larger dictionary helps most"]),
    ],
)
def test_few_distinct_labeled_words_give_a_warning(distinct, said):
    words = [f"{'Word' if i % 2 else 'word'}{i // 2 % distinct}" for i in range(1_000)]
    sentences = [["the"] * 400, words]  # letter case does not count, unlabeled words neither
    assert label_warnings(labels(400, 500, 500), TYPES, sentences) == said


def test_labeled_tokens_count_types_that_are_never_labeled():
    assert labeled_tokens(labels(3, 2), TYPES) == [2, 0]
    assert labeled_tokens(labels(), TYPES) == [0, 0]


SETTINGS = Settings(epochs=10, confidence_epochs=4, batch_size=100)


@pytest.mark.parametrize(
    ("method", "settings", "work"),
    [
        # 250 sentences are 3 batches of at most 100.
        ("mpn", SETTINGS, TrainingWork(10, 30)),
        ("conf_mpu", SETTINGS, TrainingWork(14, 42)),
        # Two taggers, each trained on 125 sentences: 2 batches.
        (
            "conf_mpu",
            Settings(epochs=10, confidence_epochs=4, confidence_folds=2),
            TrainingWork(18, 46),
        ),
        (
            "conf_mpu",
            Settings(epochs=10, confidence_epochs=4, confidence_seeds=3),
            TrainingWork(22, 66),
        ),
    ],
    ids=["one tagger", "and its confidence", "by folds", "by seeds"],
)
def test_work_counts_epochs_and_steps_of_all_taggers(method, settings, work):
    assert training_work(method, settings, 250) == work


def test_a_tagger_per_type_is_more_work_with_more_types():
    assert training_work("bnpu", SETTINGS, 250, types=3) == TrainingWork(30, 90)
    assert training_work("mpu", SETTINGS, 250, types=3) == TrainingWork(10, 30)


@pytest.mark.parametrize(("words", "is_few"), [(499, True), (500, False)])
def test_few_labeled_words_bring_dropout_a_copy_and_a_larger_share(words, is_few):
    tokens = [f"W{i}" for i in range(words)]
    sentences = [tokens, [token.lower() for token in tokens], ["other"] * 1000]
    labels = np.repeat([1, 0], [2 * words, 1000]).astype(np.int16)
    settings = Settings(is_suited_to_labels=True)
    suited = suited_settings(settings, sentences, labels, 0.7)
    used = (suited.dropout, suited.mention_copies, suited.confidence_share)
    assert used == ((0.3, 1, 1.3) if is_few else (0.0, 0, 1.0))
    more = suited_settings(replace(settings, dropout=0.5, mention_copies=3), sentences, labels, 0.7)
    assert (more.dropout, more.mention_copies) == (0.5, 3)
    as_asked = replace(settings, is_suited_to_labels=False)
    assert suited_settings(as_asked, sentences, labels, 0.7) == as_asked


@pytest.mark.parametrize(
    ("spelling", "prior", "share"),
    [
        (str.lower, 0.8, 2),  # half of the entities are labeled
        (str.lower, 0.5, 1),
        (str.lower, 0.4, 0),
        (str.lower, 0.1, 0),  # no prior is below the labels
        (str.title, 0.8, 2),
    ],
)
def test_words_that_are_no_names_are_left_out_the_less_the_more_are_labeled(spelling, prior, share):
    # The first word of a sentence has a capital anyway, so it says nothing.
    sentences = [["Word", spelling(f"word{i}"), "of", "the", "text"] for i in range(600)]
    labels = np.tile([1, 1, 0, 0, 0], 600).astype(np.int16)
    settings = Settings(is_suited_to_labels=True, confidence_share=2)
    suited = suited_settings(settings, sentences, labels, prior)
    assert suited.confidence_share == pytest.approx(share)
    assert replace(suited, confidence_share=2) == settings
