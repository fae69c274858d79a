import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_sequence

from engine.network.batches import WordInputs, prediction_batches, sentence_bounds, training_batches
from engine.network.features import distinct_words
from engine.network.word_shapes import casing_classes, character_ids

LENGTHS = st.lists(st.integers(0, 40), min_size=1, max_size=60)
SIZES = st.integers(1, 20)
SEEDS = st.integers(0, 10_000)


def inputs_of(sentences, **features):
    words, word_ids = distinct_words(sentences)
    vectors = np.arange(2 * len(words), dtype=np.float32).reshape(-1, 2)
    return WordInputs(
        sentences,
        vectors,
        character_ids(words)[0],
        casing_classes(words),
        word_ids=word_ids,
        device=torch.device("cpu"),
        **features,
    )


def bounds_of(lengths):
    return sentence_bounds([["x"] * length for length in lengths])


def as_lists(batches):
    return [batch.tolist() for batch in batches]


def every_second(lengths):
    return np.arange(0, len(lengths), 2)


# ---- one batch ------------------------------------------------------------------------------


def test_batch_has_first_tokens_first_and_the_longest_sentence_first():
    inputs = inputs_of([["a", "b"], ["c"], ["d", "e", "f"]])
    batch = inputs.batch(np.array([0, 1, 2]))
    # tokens are numbered a b | c | d e f = 0 1 | 2 | 3 4 5; first ones d a c, then e b, then f
    assert batch.tokens.tolist() == [3, 0, 2, 4, 1, 5]
    assert batch.batch_sizes.tolist() == [3, 2, 1]


def test_batch_keeps_the_given_order_of_sentences_of_one_length():
    inputs = inputs_of([["a"], ["b"], ["c"]])
    assert inputs.batch(np.array([2, 0, 1])).tokens.tolist() == [2, 0, 1]


@given(LENGTHS.filter(any), SEEDS)
def test_batch_is_packed_as_torch_packs(lengths, seed):
    bounds = bounds_of(lengths)
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(lengths))
    batch = inputs_of([["x"] * length for length in lengths]).batch(chosen)
    by_length = sorted(chosen, key=lambda i: -lengths[i])
    packed = pack_sequence([torch.arange(bounds[i], bounds[i + 1]) for i in by_length])
    assert batch.tokens.tolist() == packed.data.tolist()
    assert batch.batch_sizes.tolist() == packed.batch_sizes.tolist()


def test_batch_holds_each_distinct_word_once():
    inputs = inputs_of([["no", "pain", "no", "gain"], ["gain"], ["elsewhere"]])
    batch = inputs.batch(np.array([0, 1]))
    assert batch.vectors.tolist() == [[0, 1], [2, 3], [4, 5]]  # no, pain, gain: shortest first
    # no gain(second sentence) pain no gain
    assert batch.word_of.tolist() == [0, 2, 1, 0, 2]


def test_words_are_spelled_in_groups_as_wide_as_their_longest_word():
    words = ["electroencephalogram", "of", "a", "gain", "pains"]
    batch = inputs_of([words, ["elsewhere"]]).batch(np.array([0]))
    assert [tuple(group.shape) for group in batch.characters] == [(2, 2), (1, 4), (1, 5), (1, 20)]
    spelled = [row[row > 0].tolist() for group in batch.characters for row in group]
    ids = character_ids(words)[0]
    assert [spelled[i] for i in batch.word_of] == [row[row > 0].tolist() for row in ids]


def test_batch_carries_the_bits_and_the_context_of_its_tokens():
    bits = np.array([[1, 0], [0, 0], [0, 1]], dtype=bool)
    context = np.array([[0.5], [1.5], [2.5]], dtype=np.float16)
    batch = inputs_of([["a"], ["b", "c"]], bits=bits, context=context).batch(np.array([0, 1]))
    assert batch.tokens.tolist() == [1, 0, 2]
    assert batch.bits.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert batch.context.tolist() == [[1.5], [0.5], [2.5]]


def test_batch_of_an_empty_word_has_one_character_of_padding():
    assert inputs_of([[""]]).batch(np.array([0])).characters[0].tolist() == [[0]]


def test_inputs_know_their_sizes():
    inputs = inputs_of([["a"], []], bits=np.zeros((1, 3), bool))
    assert (len(inputs), inputs.vector_size, inputs.bit_size, inputs.context_size) == (2, 2, 3, 0)


def test_sentence_bounds_are_where_sentences_begin_and_the_last_ends():
    assert sentence_bounds([["a", "b"], [], ["c"]]).tolist() == [0, 2, 2, 3]


# ---- an epoch -------------------------------------------------------------------------------


@given(LENGTHS, SIZES, SEEDS)
def test_training_batches_hold_every_sentence_with_tokens_once(lengths, size, seed):
    batches = list(training_batches(bounds_of(lengths), size, seed=seed, epoch=3))
    assert sorted(i for batch in batches for i in batch) == np.flatnonzero(lengths).tolist()
    assert all(len(batch) <= size for batch in batches)
    assert sum(len(batch) < size for batch in batches) <= 1


@given(LENGTHS.filter(any), SIZES, SEEDS)
def test_an_epoch_shows_every_token_once(lengths, size, seed):
    inputs = inputs_of([["x"] * length for length in lengths])
    seen = [
        token
        for chosen in training_batches(inputs.bounds, size, seed=seed, epoch=0)
        for token in inputs.batch(chosen).tokens.tolist()
    ]
    assert sorted(seen) == list(range(sum(lengths)))


@given(LENGTHS, SIZES, SEEDS, st.integers(0, 200))
def test_training_batches_depend_on_seed_and_epoch_alone(lengths, size, seed, epoch):
    bounds = bounds_of(lengths)
    first = as_lists(training_batches(bounds, size, seed=seed, epoch=epoch))
    np.random.default_rng(1).random(10)
    torch.manual_seed(7)
    assert as_lists(training_batches(bounds, size, seed=seed, epoch=epoch)) == first


@pytest.mark.parametrize("change", [{"seed": 1}, {"epoch": 1}])
def test_training_batches_differ_between_seeds_and_between_epochs(change):
    bounds = bounds_of([5 + i % 7 for i in range(50)])
    at = {"seed": 0, "epoch": 0}
    one, other = (as_lists(training_batches(bounds, 4, **keys)) for keys in (at, at | change))
    assert one != other
    # Not only the order of the batches: their sentences too.
    assert sorted(map(sorted, one)) != sorted(map(sorted, other))


@given(LENGTHS, SIZES)
def test_training_batches_hold_only_the_sentences_asked_for(lengths, size):
    only = every_second(lengths)
    batches = training_batches(bounds_of(lengths), size, seed=0, epoch=0, only=only)
    wanted = [i for i in only.tolist() if lengths[i]]
    assert sorted(i for batch in batches for i in batch) == wanted


def test_training_batches_hold_sentences_of_similar_length():
    lengths = np.random.default_rng(0).integers(1, 61, 600)
    batches = list(training_batches(bounds_of(lengths), 20, seed=0, epoch=0))
    padding = [1 - lengths[batch].mean() / lengths[batch].max() for batch in batches]
    shuffled = np.random.default_rng(1).permutation(600).reshape(-1, 20)
    at_random = [1 - lengths[batch].mean() / lengths[batch].max() for batch in shuffled]
    assert np.mean(padding) < 0.15 < 0.4 < np.mean(at_random)


def test_training_batches_are_not_ordered_by_length():
    bounds = bounds_of(range(1, 101))
    longest = [int(batch.max()) for batch in training_batches(bounds, 5, seed=0, epoch=0)]
    assert longest != sorted(longest)
    assert longest != sorted(longest, reverse=True)


def test_there_is_no_batch_without_a_token():
    assert list(training_batches(bounds_of([0, 0]), 2, seed=0, epoch=0)) == []
    assert list(prediction_batches(bounds_of([0, 0]), 10)) == []
    assert list(prediction_batches(bounds_of([3]), 10, only=np.array([], dtype=np.int64))) == []


# ---- prediction -----------------------------------------------------------------------------


@given(LENGTHS, st.integers(1, 100))
def test_prediction_batches_hold_every_sentence_with_tokens_once(lengths, batch_tokens):
    batches = as_lists(prediction_batches(bounds_of(lengths), batch_tokens))
    assert sorted(i for batch in batches for i in batch) == np.flatnonzero(lengths).tolist()
    assert all(batches)


@given(LENGTHS, st.integers(1, 100))
def test_prediction_batches_have_about_as_many_tokens_as_asked_for(lengths, batch_tokens):
    for batch in prediction_batches(bounds_of(lengths), batch_tokens):
        assert sum(lengths[i] for i in batch) <= batch_tokens + max(lengths[i] for i in batch)


def test_prediction_batches_go_from_short_to_long():
    bounds = bounds_of([3, 1, 0, 2, 5])
    assert as_lists(prediction_batches(bounds, 100)) == [[1, 3, 0, 4]]
    # running sums 1 3 6 11, in units of 4 tokens: 0 0 1 2
    assert as_lists(prediction_batches(bounds, 4)) == [[1, 3], [0], [4]]


@given(LENGTHS, st.integers(1, 100))
def test_prediction_batches_hold_only_the_sentences_asked_for(lengths, batch_tokens):
    only = every_second(lengths)
    batches = prediction_batches(bounds_of(lengths), batch_tokens, only=only)
    wanted = [i for i in only.tolist() if lengths[i]]
    assert sorted(i for batch in batches for i in batch) == wanted
