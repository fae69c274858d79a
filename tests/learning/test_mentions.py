from dataclasses import replace

import numpy as np

from engine.dictionaries.model import Dictionary, Phrase
from engine.experiment import probabilities, run
from engine.learning import assembly
from engine.learning.confidence import Confidence
from engine.learning.mentions import exchange_mentions
from engine.learning.training_data import TrainingData
from engine.network import Lexicon
from engine.settings import MATCH_PRESETS
from tests.support.planted import SMALL, Planted
from tests.support.tiny_encoders import save_tiny_bert

SENTENCES = [
    ["Gout", "and", "renal", "failure", "after", "aspirin", "."],
    ["No", "name", "here"],
    [],
    ["gout"],
]
LABELS = np.array([2, 0, 2, 2, 0, 1, 0, 0, 0, 0, 2], np.int16)
DICTIONARY = Dictionary(
    "d",
    (
        Phrase("heart failure", "Disease"),
        Phrase("lithium", "Chemical"),
        Phrase("x", "Other"),
        Phrase(" ", "Disease"),  # holds no word: nothing could stand in its place
    ),
    muted=frozenset([("lithium", "Chemical")]),
)
LEXICON = Lexicon((DICTIONARY,), MATCH_PRESETS["strict"], ("Chemical", "Disease"), True)


def data_with(lexicon, **more):
    return TrainingData(SENTENCES, LABELS, ("Chemical", "Disease"), lexicon, **more)


def mentions(sentence, labels):
    """Return the phrases of a sentence with their classes, and the words between them."""
    phrases, between = [], []
    last = 0
    for token, label in zip(sentence, labels, strict=True):
        if label and label == last:
            phrases[-1] = (f"{phrases[-1][0]} {token}", label)
        elif label:
            phrases.append((token, label))
        else:
            between.append(token)
        last = label
    return phrases, between


def test_copies_keep_the_words_between_and_have_phrases_of_the_same_type():
    data = data_with(LEXICON)
    exchanged = exchange_mentions(data, 30, seed=0)
    extended = exchanged.extend(data)
    assert len(exchanged.sentences) == 2 * 30  # two sentences have a mention
    assert extended.sentences[: len(SENTENCES)] == SENTENCES
    assert len(extended.labels) == sum(map(len, extended.sentences))
    seen = {1: set(), 2: set()}
    start = len(LABELS)
    for sentence in exchanged.sentences:
        labels = extended.labels[start : start + len(sentence)]
        start += len(sentence)
        phrases, between = mentions(sentence, labels)
        assert between in (["and", "after", "."], [])
        assert [label for _, label in phrases] == ([2, 2, 1] if between else [2])
        for text, label in phrases:
            seen[label].add(text)
    # A muted phrase and a phrase of another type never appear; the first word has its capital.
    assert seen[1] == {"aspirin"}
    assert seen[2] == {
        "Gout", "gout", "renal failure", "Renal failure", "heart failure", "Heart failure"
    }  # fmt: skip


def test_without_dictionaries_labeled_phrases_are_exchanged():
    exchanged = exchange_mentions(data_with(None), 20, seed=0)
    texts = {" ".join(sentence) for sentence in exchanged.sentences}
    assert "Renal failure and gout after aspirin ." in texts


def test_values_follow_the_tokens_they_stand_for():
    negatives = np.zeros(len(LABELS), bool)
    negatives[1] = True  # "and"
    data = data_with(None, known_negatives=negatives)
    exchanged = exchange_mentions(data, 1, seed=0)
    extended = exchanged.extend(data)
    tokens = [token for sentence in extended.sentences for token in sentence]
    assert [tokens[i] for i in np.flatnonzero(extended.known_negatives)] == ["and", "and"]


def test_the_same_seed_gives_the_same_copies():
    one, same, other = (exchange_mentions(data_with(LEXICON), 5, seed) for seed in (0, 0, 1))
    assert one.sentences == same.sentences != other.sentences


def test_a_tagger_sees_the_copies_and_the_confidence_of_their_tokens(monkeypatch):
    small = Planted(sentence_count=40)
    seen = []
    monkeypatch.setattr(
        "engine.experiment.with_copies",
        lambda *arguments: seen.append(assembly.with_copies(*arguments)) or seen[-1],
    )
    values = np.linspace(0.1, 0.9, len(small.labels), dtype=np.float32)
    copied = run(
        small.data,
        small.priors,
        replace(SMALL, mention_copies=2),
        confidence=Confidence(values, ()),
    )
    (what,) = seen
    count = len(what.data.labels)
    assert count > len(small.labels)
    assert len(what.confidence.values) == count == what.inputs.bounds[-1]
    plain = run(small.data, small.priors, SMALL, confidence=Confidence(values, ()))
    assert copied.confidence.values.shape == values.shape  # that of the corpus alone
    assert not np.array_equal(
        probabilities(copied, small.sentences), probabilities(plain, small.sentences)
    )


def test_only_copies_are_encoded(tmp_path, monkeypatch):
    small = Planted(sentence_count=30)
    settings = replace(
        SMALL, contextual_layer=1, encoder_name=str(save_tiny_bert(tmp_path)), mention_copies=1
    )
    encoded, real = [], assembly.context_of
    monkeypatch.setattr(
        assembly,
        "context_of",
        lambda sentences, *rest, **options: (
            encoded.append(list(sentences)) or real(sentences, *rest, **options)
        ),
    )
    run(small.data, small.priors, replace(settings, method="mpn"))
    assert encoded[0] == small.sentences
    assert encoded[1] == exchange_mentions(small.data, 1, settings.seed).sentences
    assert len(encoded) == 2
