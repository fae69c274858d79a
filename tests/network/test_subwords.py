import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from engine.network.subwords import SubwordInputs, pool
from tests.support.tiny_encoders import byte_level_tokenizer, wordpiece_tokenizer

WORDPIECE = wordpiece_tokenizer()
BYTE_LEVEL = byte_level_tokenizer()
TOKENIZERS = {"wordpiece": WORDPIECE, "byte_level": BYTE_LEVEL}

tokens = st.one_of(
    st.sampled_from(
        ["aspirin", "COX-2", "hypotension", "α", "日本", "\u200b", "[SEP]", "</s>", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
)
sentences = st.lists(st.lists(tokens, max_size=40), min_size=1, max_size=5)


def expected_subwords(token, tokenizer):
    """Encode one token the slow way, as the first word of a text that starts with a space."""
    words = tokenizer.backend_tokenizer
    words.no_truncation()
    words.no_padding()
    words.encode_special_tokens = True
    return words.encode(f" {token}", add_special_tokens=False).ids or [tokenizer.unk_token_id]


def one_hot(batch, size):
    return torch.nn.functional.one_hot(batch.input_ids, size).to(torch.float64)


def bag(subwords, size):
    return torch.from_numpy(np.bincount(subwords, minlength=size) / len(subwords))


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(corpus=sentences, window=st.integers(8, 40), stride=st.integers(0, 5))
def test_pool_gives_each_token_the_mean_of_its_own_subwords(kind, corpus, window, stride):
    tokenizer = TOKENIZERS[kind]
    inputs = SubwordInputs(corpus, tokenizer, window=window, stride=stride)
    batch = inputs.batch(range(len(corpus)))
    pooled = pool(one_hot(batch, len(tokenizer)), batch)
    flat = [token for sentence in corpus for token in sentence]
    cut = [expected_subwords(token, tokenizer)[: window - 2] for token in flat]
    assert batch.tokens.tolist() == list(range(len(flat)))
    for row, subwords in zip(pooled, cut, strict=True):
        torch.testing.assert_close(row, bag(subwords, len(tokenizer)))


@given(corpus=sentences, window=st.integers(8, 40), stride=st.integers(0, 5))
def test_windows_are_whole_ordered_and_within_the_limit(corpus, window, stride):
    inputs = SubwordInputs(corpus, WORDPIECE, window=window, stride=stride)
    batch = inputs.batch(range(len(corpus)))
    lengths = batch.attention_mask.sum(1)
    assert batch.input_ids.shape[1] <= window
    for row, length in zip(batch.input_ids, lengths, strict=True):
        assert row[0] == WORDPIECE.cls_token_id and row[length - 1] == WORDPIECE.sep_token_id
        assert (row[length:] == WORDPIECE.pad_token_id).all()
    assert (batch.positions.diff() > 0).all()  # tokens in order, no sub-word twice
    assert inputs.sentence_sizes.max() == (lengths.max() if len(lengths) else 0)


@given(corpus=sentences, seed=st.integers(0, 99))
def test_batch_follows_the_order_asked_for(corpus, seed):
    inputs = SubwordInputs(corpus, WORDPIECE, window=12, stride=3)
    order = np.random.default_rng(seed).permutation(len(corpus))
    batch = inputs.batch(order)
    starts = np.cumsum([0, *map(len, corpus)])
    expected = [starts[i] + j for i in order for j in range(len(corpus[i]))]
    assert batch.tokens.tolist() == expected
    pooled = pool(one_hot(batch, len(WORDPIECE)), batch)
    whole = inputs.batch(range(len(corpus)))
    torch.testing.assert_close(pooled, pool(one_hot(whole, len(WORDPIECE)), whole)[batch.tokens])


def test_tokens_of_a_long_sentence_belong_to_the_window_with_most_around_them():
    # One sub-word each; windows show tokens 0-5, 2-7 and 4-9 (8 less [CLS] and [SEP]; 4 shared).
    inputs = SubwordInputs([["in"] * 10], WORDPIECE, window=8, stride=4)
    batch = inputs.batch([0])
    assert batch.input_ids.shape == (3, 8)
    # Token 3 has 2 to its right in the first window and 1 to its left in the second.
    rows = (batch.positions // 8).tolist()
    assert rows == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_subwords_equal_those_of_the_tokenizer_on_split_words(kind):
    tokenizer = TOKENIZERS[kind]
    words = ["aspirin", "induced", "COX-2", "naïve", "(", "Parkinson", "'s", "日本"]
    backend = tokenizer.backend_tokenizer.__class__.from_str(tokenizer.backend_tokenizer.to_str())
    if kind == "byte_level":
        backend.pre_tokenizer = backend.pre_tokenizer.__class__(add_prefix_space=True)
    backend.no_truncation()
    backend.no_padding()
    reference = PreTrainedTokenizerFast(tokenizer_object=backend, add_prefix_space=True)
    encoding = reference(words, is_split_into_words=True)
    batch = SubwordInputs([words], tokenizer).batch([0])
    assert batch.input_ids[0].tolist() == encoding["input_ids"]
    assert batch.segments.tolist() == [word for word in encoding.word_ids() if word is not None]


def test_a_byte_level_token_is_encoded_as_the_start_of_a_word():
    batch = SubwordInputs([["aspirin"]], BYTE_LEVEL).batch([0])
    assert BYTE_LEVEL.convert_ids_to_tokens(batch.input_ids[0].tolist())[1].startswith("Ġ")


def test_a_special_subword_in_the_text_is_plain_text():
    batch = SubwordInputs([["[SEP]"]], WORDPIECE).batch([0])
    assert WORDPIECE.sep_token_id not in batch.input_ids[0, 1:-1]


def test_a_token_without_subwords_becomes_the_unknown_one():
    batch = SubwordInputs([["\u200b", "aspirin"]], WORDPIECE).batch([0])
    assert batch.input_ids[0, 1] == WORDPIECE.unk_token_id
    assert batch.segments.tolist()[:2] == [0, 1]


def test_every_token_longer_than_a_window_is_counted_as_cut():
    corpus = [["日本" * 20, "in"], ["aspirin"], ["日本" * 20]]
    inputs = SubwordInputs(corpus, BYTE_LEVEL, window=12, stride=2)
    assert inputs.cut_tokens == 2
    assert inputs.batch([0]).segments.tolist().count(0) == 10


def test_nothing_is_cut_when_tokens_fit():
    assert SubwordInputs([["aspirin"] * 500], WORDPIECE, window=16, stride=4).cut_tokens == 0


def test_batch_of_sentences_without_tokens_is_empty():
    batch = SubwordInputs([[], ["in"], []], WORDPIECE).batch([0, 2])
    assert len(batch.tokens) == len(batch.input_ids) == 0
    assert pool(torch.zeros(0, 2, 4), batch).shape == (0, 4)


def test_inputs_of_no_sentences_have_no_tokens():
    inputs = SubwordInputs([], WORDPIECE)
    assert (inputs.sentence_count, inputs.token_count, inputs.cut_tokens) == (0, 0, 0)


def test_limits_stored_with_a_tokenizer_do_not_apply():
    # It would cut to 8 sub-words and pad to 8.
    batch = SubwordInputs([["-" * 20], ["in"]], wordpiece_tokenizer()).batch([0, 1])
    assert batch.segments.tolist() == [0] * 20 + [1]
    assert batch.attention_mask.sum(1).tolist() == [22, 3]


@pytest.mark.parametrize("stride", [-1, 14], ids=["negative", "as wide as the window"])
def test_inputs_refuse_a_stride_that_leaves_no_progress(stride):
    with pytest.raises(ValueError, match="stride must be 0 or more and below the 14 sub-words"):
        SubwordInputs([["in"]], WORDPIECE, window=16, stride=stride)


def test_fingerprint_changes_with_text_sentence_limits_and_windows():
    variants = [
        SubwordInputs([["in", "with"]], WORDPIECE),
        SubwordInputs([["in"], ["with"]], WORDPIECE),
        SubwordInputs([["with", "in"]], WORDPIECE),
        SubwordInputs([["in"] * 90], WORDPIECE),
        SubwordInputs([["in"] * 90], WORDPIECE, window=32, stride=8),
    ]
    assert len({inputs.fingerprint for inputs in variants}) == len(variants)
    assert SubwordInputs([["in", "with"]], WORDPIECE).fingerprint == variants[0].fingerprint
