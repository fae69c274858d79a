import pytest

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import label
from engine.scoring.pool import pool_entities
from engine.scoring.seen import seen_places, seen_recall
from engine.text.model import Entity
from engine.text.tokenization import make_document, make_tokenized_document

TEXT = "Gouts and kidney stones, acute kidney stones, IL-2, il-2, lead."
DOCUMENT = make_document("d", TEXT)
PHRASES = (("gout", "Disease"), ("Kidney stones", "Disease"), ("IL-2", "Gene"), ("lead", "Metal"))
DICTIONARY = Dictionary("x", tuple(Phrase(*phrase) for phrase in PHRASES))
LABELS = label([DOCUMENT], [DICTIONARY], "balanced")


def entity(surface, entity_type, place=0):
    start = TEXT.index(surface, place)
    return Entity(start, start + len(surface), entity_type)


def seen(entities, dictionary=DICTIONARY, options="balanced", document=DOCUMENT):
    pooled = pool_entities([document], {"gold": {"d": entities}, "other": {}})
    labels = label([document], [dictionary], options)
    return seen_places(pooled, "gold", [document], labels).tolist()


@pytest.mark.parametrize(
    "surface, entity_type, options, is_seen",
    [
        ("kidney stones", "Disease", "balanced", True),
        ("kidney stones", "Disease", "strict", False),
        ("Gouts", "Disease", "balanced", False),
        ("Gouts", "Disease", "loose", True),
        ("acute kidney stones", "Disease", "balanced", False),
        ("lead", "Disease", "balanced", False),
        ("IL-2", "Gene", "balanced", True),
        ("il-2", "Gene", "balanced", False),
    ],
    ids=["any case", "strict", "plural", "loose", "more words", "other type", "acronym", "small"],
)
def test_seen_is_what_matching_would_find_under_that_type(surface, entity_type, options, is_seen):
    assert seen([entity(surface, entity_type)], options=options) == [is_seen]


def test_an_entity_that_lost_to_a_longer_phrase_is_seen():
    # "kidney" begins where "kidney stones" does, "stones" inside it: neither becomes a label.
    more = (Phrase("kidney", "Disease"), Phrase("stones", "Disease"))
    dictionary = Dictionary("x", (*DICTIONARY.phrases, *more))
    parts = [
        entity("kidney", "Disease"),
        entity("kidney", "Metal"),
        entity("stones", "Disease"),
        entity("and", "Disease"),
    ]
    assert seen(parts, dictionary) == [False, True, False, True]  # in reading order, then by type


def test_muted_phrases_are_unseen():
    muted = mute(DICTIONARY, [("gout", "Disease"), ("Kidney stones", "Disease")])
    assert seen([entity("kidney stones", "Disease")], muted) == [False]


def test_seen_reads_given_tokens_as_given():
    document = make_tokenized_document("d", [("had", "Kidney", "stones"), ("lead",)])
    entities = [Entity(4, 17, "Disease"), Entity(18, 22, "Metal")]
    assert seen(entities, document=document) == [True, True]


def test_seen_recall_splits_the_gold_and_counts_what_each_set_finds():
    gold = [
        entity("Gouts", "Disease"),
        entity("kidney stones", "Disease"),
        entity("acute kidney stones", "Disease"),
    ]
    sets = {"gold": gold, "dictionary": gold[1:2], "mpu": gold[:2]}
    pooled = pool_entities([DOCUMENT], {name: {"d": entities} for name, entities in sets.items()})
    places = seen_places(pooled, "gold", [DOCUMENT], LABELS)
    table = seen_recall(pooled, "gold", places)
    assert table[["name", "group", "found", "gold", "recall"]].values.tolist() == [
        ["dictionary", "seen", 1, 1, 1.0],
        ["dictionary", "unseen", 0, 2, 0.0],
        ["mpu", "seen", 1, 1, 1.0],
        ["mpu", "unseen", 1, 2, 0.5],
    ]


def test_recall_is_unknown_where_gold_has_no_such_entity():
    pooled = pool_entities([DOCUMENT], {"gold": {"d": [entity("lead", "Metal")]}, "mpu": {}})
    places = seen_places(pooled, "gold", [DOCUMENT], LABELS)
    table = seen_recall(pooled, "gold", places).set_index("group")
    assert table.loc["seen", "recall"] == 0
    assert table.loc["unseen", ["low", "high"]].tolist() == [0, 1]
    assert table["recall"].isna().tolist() == [False, True]
