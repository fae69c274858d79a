import pytest

from engine.dictionaries.editing import mute
from engine.dictionaries.model import NEVER, Dictionary, Phrase
from engine.labels import patterns
from engine.labels.coverage import phrase_usage
from engine.labels.distant import dictionary_entities, label
from engine.labels.relabeling import labels_after_muting
from engine.text import make_document

PRESETS = ("strict", "adaptive", "balanced", "loose")


def phrases(name, *texts, entity_type="Gene", **keywords):
    listed = tuple(Phrase(t, entity_type, line=i) for i, t in enumerate(texts, start=1))
    return Dictionary(name, listed, **keywords)


def found(text, *dictionaries, preset="balanced"):
    document = make_document("d", text)
    labels = label([document], dictionaries, preset)
    entities = dictionary_entities(labels, [document])["d"]
    return [(text[e.start : e.end], e.entity_type) for e in entities]


@pytest.mark.parametrize("preset", PRESETS)
def test_expression_matches_whole_tokens_beside_phrases(preset):
    genes = phrases("g.txt", r"re:IL-\d", r"re:TP\d+", "albumin", r"re:BRCA\d+ and \w+")
    text = "Here IL-2, IL-12, TP53 and albumin, BRCA1 and others."
    assert found(text, genes, preset=preset) == [
        ("IL-2", "Gene"),
        ("TP53", "Gene"),
        ("albumin", "Gene"),
        ("BRCA1 and others", "Gene"),
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_longest_and_priority_decide_between_patterns_and_phrases(preset):
    cells = phrases("c.txt", "il-2 receptor", "TP53", entity_type="Protein")
    genes = phrases("g.txt", r"re:(?i)IL-\d", r"re:TP\d+", priority=1)
    assert found("The il-2 receptor and TP53.", cells, genes, preset=preset) == [
        ("il-2 receptor", "Protein"),
        ("TP53", "Gene"),
    ]


def test_token_pattern_matches_from_left_to_right():
    doses = phrases(
        "p.jsonl", 'tokens:[{"LIKE_NUM": true}, {"LOWER": {"IN": ["mg", "g"]}}]', entity_type="Dose"
    )
    assert found("He took 5 mg, then three g.", doses) == [("5 mg", "Dose"), ("three g", "Dose")]


@pytest.mark.parametrize("preset", PRESETS)
def test_matches_are_counted_by_pattern_and_a_pattern_can_be_muted(preset):
    document = make_document("d", "IL-2 and IL-3 and TP53 and zinc.")
    genes = [phrases("g.txt", r"re:IL-\d+", r"re:TP\d+", "zinc")]
    labels = label([document], genes, preset)
    usage = phrase_usage(labels).set_index("phrase")["matches"]
    assert usage.to_dict() == {r"re:IL-\d+": 2, r"re:TP\d+": 1, "zinc": 1}
    muted = [mute(genes[0], [(r"re:IL-\d+", "Gene")])]
    after, again = labels_after_muting(labels, genes, muted), label([document], muted, preset)
    assert after.labels.tolist() == again.labels.tolist()
    assert len(again.kept) == 2


def test_pattern_that_takes_too_long_is_named_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(patterns, "SENTENCE_SECONDS", 0.05)
    document = make_document("d", "zinc " + "a" * 40 + "!")
    genes = phrases("g.txt", "zinc", r"re:(?:a|aa)+(?:b|c)", r"re:z\w+c")
    never = phrases("n.txt", r"re:(?:a|aa)+(?:b|c)", entity_type=NEVER)
    labels = label([document], [genes, never])
    assert len(labels.kept) == 1 and labels.also["phrase"].tolist()
    reason = (
        r"the pattern re:(?:a|aa)+(?:b|c) takes too long (more than 0.05 s in one sentence); it "
    )
    assert labels.notes == (
        f"g.txt line 2: {reason}matches nothing",
        f"n.txt line 1: {reason}matches nothing",
    )
    muted = mute(genes, [("zinc", "Gene")])
    assert labels_after_muting(labels, [genes, never], [muted, never]) is None


def test_pattern_has_a_limit_for_all_sentences(monkeypatch):
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", -1.0)
    labels = label([make_document("d", "zinc")], [phrases("g.txt", "re:zinc", "zinc")])
    assert "takes too long (more than -1 s in all sentences)" in labels.notes[0]
    assert len(labels.kept) == 1
