import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.review.decisions import Decision
from engine.review.enrichment import (
    NAME,
    add_phrases,
    context,
    dictionary_candidates,
    fold_surface,
    fold_surfaces,
    known_phrases,
    mark_known,
)
from engine.settings import MATCH_PRESETS
from engine.text.model import Entity
from engine.text.tokenization import make_document

BALANCED, LOOSE, STRICT = (MATCH_PRESETS[name] for name in ("balanced", "loose", "strict"))
DICTIONARY = Dictionary("Disease.txt", (Phrase("gout", "Disease"), Phrase("AIDS", "Disease")))


def entities_at(document, *surfaces_with_scores):
    """Entities of the document, each the next occurrence of its surface."""
    entities, position = [], 0
    for surface, entity_type, score in surfaces_with_scores:
        start = document.text.index(surface, position)
        position = start + len(surface)
        entities.append(Entity(start, position, entity_type, score=score))
    return {document.id: tuple(entities)}


def candidates(document, entities, options=BALANCED, dictionaries=(DICTIONARY,), **more):
    known = known_phrases(dictionaries, options)
    return dictionary_candidates([document], entities, known, options, **more)


def rows(table, *columns):
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_candidates_are_what_the_dictionaries_do_not_hold():
    document = make_document("d", "Gout, rash and gout; later rash, a Rash and itching.")
    entities = entities_at(
        document,
        ("Gout", "Disease", 1.0),
        ("rash", "Disease", 0.8),
        ("gout", "Disease", 1.0),
        ("rash", "Disease", 0.6),
        ("Rash", "Disease", 1.0),
        ("itching", "Disease", 0.9),
    )
    table = candidates(document, entities)
    columns = ("phrase", "entity_type", "count", "documents")
    assert rows(table, *columns) == [("rash", "Disease", 3, 1), ("itching", "Disease", 1, 1)]
    # mean (0.8 + 0.6 + 1.0) / 3 = 0.8, rank 3 * 0.8
    assert table["mean_score"].tolist() == pytest.approx([0.8, 0.9])
    assert table["rank"].tolist() == pytest.approx([2.4, 0.9])
    assert table["contexts"][0] == [document.text]  # three times the same is shown once


def test_one_surface_under_two_types_is_two_candidates():
    document = make_document("d", "alcohol and alcohol")
    entities = entities_at(document, ("alcohol", "Chemical", 0.9), ("alcohol", "Disease", 0.5))
    assert rows(candidates(document, entities), "phrase", "entity_type") == [
        ("alcohol", "Chemical"),
        ("alcohol", "Disease"),
    ]


def test_folding_follows_the_matching_options():
    document = make_document("d", "Tumors, tumor and TUMOR")
    entities = entities_at(document, *((s, "Disease", 1.0) for s in ("Tumors", "tumor", "TUMOR")))
    assert rows(candidates(document, entities, LOOSE), "phrase", "count") == [("TUMOR", 3)]
    assert len(candidates(document, entities, STRICT)) == 3


@given(st.lists(st.text(max_size=8) | st.sampled_from(("", "U.S.", "´a", "beta - blocker"))))
def test_surfaces_fold_together_as_they_do_one_by_one(surfaces):
    for options in (BALANCED, LOOSE, STRICT):
        assert fold_surfaces(surfaces, options) == [fold_surface(s, options) for s in surfaces]


def test_an_acronym_is_known_in_its_own_case_only():
    known = known_phrases([DICTIONARY], BALANCED)
    assert "AIDS" in known and "GOUT" in known
    assert "aids" not in known


def test_an_adaptive_phrase_is_known_as_it_would_match():
    held = [Dictionary("x", (Phrase("Turkey", "LOC"), Phrase("Aspirin", "Drug")))]
    known = known_phrases(held, MATCH_PRESETS["adaptive"], {"Drug"})
    words = ["Turkey", "TURKEY", "turkey", "aspirin", "Aspirin", "gout"]
    assert known.hold(words) == [True, True, False, True, True, False]


def test_a_muted_phrase_and_a_disabled_dictionary_are_not_missing():
    muted = mute(DICTIONARY, [("gout", "Disease")])
    assert "gout" in known_phrases([muted], BALANCED)
    assert "gout" in known_phrases([Dictionary("x", DICTIONARY.phrases, is_enabled=False)], LOOSE)


def test_entities_are_marked_as_known_where_nothing_says_so():
    document = make_document("d", "Gout, rash, lead.")
    gout, rash = Entity(0, 4, "Disease", 0.9), Entity(6, 10, "Disease", 0.9)
    matched = Entity(12, 16, "Chemical", in_dictionary=True)
    known = known_phrases([DICTIONARY], BALANCED)
    marked = mark_known([document], {"d": (gout, rash, matched)}, known)
    assert [entity.in_dictionary for entity in marked["d"]] == [True, False, True]
    assert mark_known([document], {}, known) == {}


def test_a_dictionarys_own_options_decide_what_it_holds():
    strict = Dictionary("Disease.txt", (Phrase("gout", "Disease"),), match=STRICT)
    assert "Gout" not in known_phrases([strict], BALANCED)


def test_what_was_rejected_more_often_than_accepted_is_left_out():
    document = make_document("d", "rash, itching and rash")
    entities = entities_at(document, ("rash", "Disease", 1.0), ("itching", "Disease", 1.0))

    def decision(start, end, verdict):
        surface = document.text[start:end]
        return Decision(0, "review", "d", start, end, "Disease", verdict, surface=surface)

    rejected, accepted = decision(0, 4, "rejected"), decision(18, 22, "accepted")
    left = candidates(document, entities, decisions=[rejected])
    assert left["phrase"].tolist() == ["itching"]
    both = candidates(document, entities, decisions=[rejected, accepted])
    assert rows(both, "phrase", "accepted", "rejected") == [("itching", 0, 0), ("rash", 1, 1)]


def test_punctuation_is_not_a_candidate():
    document = make_document("d", "IL - 2")
    table = candidates(
        document, entities_at(document, ("-", "Chemical", 1.0), ("2", "Chemical", 1.0))
    )
    assert table["phrase"].tolist() == ["2"]


def test_without_entities_the_table_is_empty_with_all_columns():
    table = candidates(make_document("d", "Nothing."), {})
    assert len(table) == 0 and "contexts" in table and "rank" in table


def test_a_phrase_is_written_on_one_line():
    document = make_document("d", "Heart\n failure.")
    table = candidates(document, entities_at(document, ("Heart\n failure", "Disease", 1.0)))
    assert table["phrase"].tolist() == ["Heart failure"]
    assert fold_surface("Heart\n failure", BALANCED) == fold_surface("Heart failure", BALANCED)


def test_context_is_cut_at_words_and_says_so():
    text = " ".join(["before"] * 20 + ["gout"] + ["after"] * 20)
    start = text.index("gout")
    shown = context(text, start, start + 4)
    assert shown == f"…{'before ' * 6}gout{' after' * 7}…"


def test_added_phrases_get_a_dictionary_of_their_own_and_are_not_added_twice():
    once = add_phrases([DICTIONARY], [("rash", "Disease"), ("gout", "Disease")])
    assert once == [DICTIONARY, Dictionary(NAME, (Phrase("rash", "Disease"),))]
    twice = add_phrases(once, [("rash", "Disease"), ("itching", "Disease")])
    assert [p.text for p in twice[1].phrases] == ["rash", "itching"]
    assert add_phrases(once, [("rash", "Disease")]) == once
