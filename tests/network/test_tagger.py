import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.network import tagger as tagger_module
from engine.network.batches import WordInputs
from engine.network.features import distinct_words
from engine.network.tagger import BiLstmTagger, predict_probabilities
from engine.network.word_shapes import casing_classes, character_ids

# Words of very different lengths, so that batches differ in how far words are padded.
WORDS = ["a", "of", "IL-2", "Aspirin", "hypotension", "electroencephalographically", "1996", ""]
RANDOM = np.random.default_rng(0)
SENTENCES = [[str(w) for w in RANDOM.choice(WORDS, size=n)] for n in (3, 17, 1, 0, 6, 6, 2)]
WITH_TOKENS = [i for i, tokens in enumerate(SENTENCES) if tokens]
CLASSES, VECTOR, BITS, CONTEXT = 3, 5, 4, 2


def inputs_of(sentences):
    words, word_ids = distinct_words(sentences)
    random = np.random.default_rng(1)
    # A word's vector depends on the word alone, not on the corpus that it is in.
    vector_of = {word: random.normal(size=VECTOR) for word in WORDS}
    return WordInputs(
        sentences,
        np.array([vector_of[word] for word in words], np.float32).reshape(-1, VECTOR),
        character_ids(words)[0],
        casing_classes(words),
        word_ids=word_ids,
        bits=random.random((len(word_ids), BITS)) < 0.5,
        context=random.normal(size=(len(word_ids), CONTEXT)).astype(np.float16),
        device=torch.device("cpu"),
    )


def tagger_of(dropout=0.5, bit_dropout=0.0, character_dropout=0.0):
    torch.manual_seed(0)
    return BiLstmTagger(
        classes=CLASSES,
        vector_size=VECTOR,
        bit_size=BITS,
        context_size=CONTEXT,
        character_size=6,
        hidden_size=8,
        dropout=dropout,
        character_dropout=character_dropout,
        bit_dropout=bit_dropout,
    )


INPUTS = inputs_of(SENTENCES)


def logits_by_sentence(tagger, chosen):
    """Return each sentence's logits, (tokens, classes), computed in one batch."""
    with torch.no_grad():
        batch = INPUTS.batch(np.array(chosen))
        rows = torch.zeros(int(INPUTS.bounds[-1]), CLASSES)
        rows[batch.tokens] = tagger(batch)
    return [rows[INPUTS.bounds[i] : INPUTS.bounds[i + 1]] for i in chosen]


@given(st.lists(st.sampled_from(WITH_TOKENS), min_size=1, unique=True))
def test_logits_of_a_sentence_do_not_depend_on_the_rest_of_the_batch(chosen):
    tagger = tagger_of().eval()
    alone = [logits_by_sentence(tagger, [i])[0] for i in chosen]
    for together, expected in zip(logits_by_sentence(tagger, chosen), alone, strict=True):
        torch.testing.assert_close(together, expected, atol=1e-5, rtol=0)


def test_logits_do_not_depend_on_how_far_a_word_is_padded():
    tagger = tagger_of().eval()
    # Filters that answer below their bias everywhere: any look at padding would win the maximum.
    with torch.no_grad():
        tagger.character_filter.bias.fill_(5.0)
        tagger.character_embedding.weight[1:] = 1.0
        tagger.character_filter.weight.fill_(-1.0)
    words = torch.tensor([[2, 3], [2, 3]])
    padded = torch.tensor([[2, 3, 0, 0, 0], [4, 5, 6, 7, 8]])
    with torch.no_grad():
        torch.testing.assert_close(tagger._spell(words)[0], tagger._spell(padded)[0])


def test_first_and_last_token_see_each_other():
    tagger = tagger_of().eval()
    sentences = [["a", "of", "IL-2", "1996"], ["a", "of", "IL-2", "a"], ["1996", "of", "IL-2", "a"]]
    inputs = inputs_of(sentences)
    inputs._bits[:] = False
    inputs.context[:] = 0
    with torch.no_grad():
        base, other_end, other_start = (tagger(inputs.batch(np.array([i]))) for i in range(3))
    assert not torch.allclose(base[0], other_end[0])
    assert not torch.allclose(other_end[3], other_start[3])


def test_logits_differ_with_bits_and_with_context():
    tagger = tagger_of().eval()
    batch = INPUTS.batch(np.array([0]))
    with torch.no_grad():
        before = tagger(batch)
        batch.bits[0] = 1 - batch.bits[0]
        with_bits = tagger(batch)
        batch.context[0] += 1
        with_context = tagger(batch)
    assert not torch.allclose(before, with_bits)
    assert not torch.allclose(with_bits, with_context)


def test_bits_are_hidden_in_training_only_and_token_by_token():
    tagger = tagger_of(bit_dropout=0.3)
    bits = torch.ones(2_000, BITS)
    tagger.eval()
    assert torch.equal(tagger._hide_some(bits), bits)
    tagger.train()
    torch.manual_seed(0)
    shown = tagger._hide_some(bits)
    assert set(shown.sum(dim=1).tolist()) == {0.0, float(BITS)}  # all bits of a token, or none
    # 2,000 tokens, 0.3 hidden: 600 +- 4 * sqrt(2000 * 0.3 * 0.7) = 82
    assert abs(int((shown.sum(dim=1) == 0).sum()) - 600) < 82


def test_bits_hidden_always_are_never_seen_in_training():
    tagger = tagger_of(dropout=0.0, bit_dropout=1.0).train()
    batch = INPUTS.batch(np.array([1]))
    with torch.no_grad():
        before = tagger(batch)
        batch.bits.copy_(1 - batch.bits)
        assert torch.equal(tagger(batch), before)
        assert not torch.equal(tagger.eval()(batch), before)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.0, "character_dropout": 0.5}])
def test_dropout_acts_in_training_only(options):
    tagger = tagger_of(**options)
    batch = INPUTS.batch(np.array([1]))
    with torch.no_grad():
        tagger.train()
        assert not torch.equal(tagger(batch), tagger(batch))
        tagger.eval()
        assert torch.equal(tagger(batch), tagger(batch))


def test_characters_are_hidden_and_nothing_else_is():
    tagger = tagger_of(dropout=0.0, character_dropout=0.95).train()
    batch = INPUTS.batch(np.array([1]))
    with torch.no_grad():
        assert not torch.equal(tagger(batch), tagger(batch))
        for filters in (tagger.character_embedding.weight, tagger.character_filter.weight):
            filters.zero_()
        tagger.character_filter.bias.zero_()
        assert torch.equal(tagger(batch), tagger(batch))


def test_a_word_is_spelled_once_and_looks_the_same_wherever_it_stands():
    inputs = inputs_of([["a", "of", "a"], ["a"]])
    batch = inputs.batch(np.array([0, 1]))
    assert sum(map(len, batch.characters)) == len(batch.vectors) == len(batch.casing) == 2
    of_a = batch.word_of[[i for i, token in enumerate(batch.tokens.tolist()) if token != 1]]
    assert len(set(of_a.tolist())) == 1


def test_gradient_reaches_every_parameter():
    tagger = tagger_of().train()
    batch = INPUTS.batch(np.array(WITH_TOKENS))
    tagger(batch).softmax(dim=1)[:, 1].sum().backward()
    still = [
        name
        for name, parameter in tagger.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().sum() > 0
    ]
    assert still == []


def test_gradient_is_finite_when_a_word_is_empty():
    tagger = tagger_of().train()
    tagger(inputs_of([["", ""]]).batch(np.array([0]))).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in tagger.parameters())


# ---- prediction -----------------------------------------------------------------------------


def expected_probabilities(tagger):
    rows = np.zeros((int(INPUTS.bounds[-1]), CLASSES), np.float32)
    for i in WITH_TOKENS:
        probs = logits_by_sentence(tagger, [i])[0].softmax(dim=1)
        rows[INPUTS.bounds[i] : INPUTS.bounds[i + 1]] = probs.numpy()
    return rows


@pytest.mark.parametrize("batch_tokens", [1, 7, 8_000])
def test_predicted_probabilities_are_in_the_order_of_the_tokens(monkeypatch, batch_tokens):
    monkeypatch.setattr(tagger_module, "_PREDICTION_TOKENS", batch_tokens)
    tagger = tagger_of().eval()
    probs = predict_probabilities(tagger, INPUTS)
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(probs, expected_probabilities(tagger), atol=1e-5)


def test_predicted_probabilities_are_without_dropout():
    tagger = tagger_of().train()
    first = predict_probabilities(tagger, INPUTS)
    assert np.array_equal(first, predict_probabilities(tagger.train(), INPUTS))


def test_predicted_probabilities_are_zeros_outside_the_sentences_asked_for():
    tagger = tagger_of().eval()
    only = np.array([1, 3, 6])
    probs = predict_probabilities(tagger, INPUTS, only=only)
    is_asked = np.repeat(np.isin(np.arange(len(SENTENCES)), only), np.diff(INPUTS.bounds))
    expected = expected_probabilities(tagger)
    assert not probs[~is_asked].any()
    np.testing.assert_allclose(probs[is_asked], expected[is_asked], atol=1e-5)


def test_predicted_probabilities_of_no_sentence_are_zeros():
    none = np.array([], dtype=np.int64)
    assert not predict_probabilities(tagger_of(), INPUTS, only=none).any()
