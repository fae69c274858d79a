"""What hurts in dictionaries before they are saved: by the text, or by the phrases alone."""

import pytest

from engine.dictionaries.model import NEVER, Dictionary, Phrase
from engine.files.sources import SourceFile
from engine.formats import read_corpus
from engine.health import ADD, AS_WRITTEN, KEEP, MUTE
from engine.projects import upload_health as uploaded
from engine.projects.health import kept_entries
from engine.projects.workspace import create_project
from engine.settings import DEFAULT_MATCH_PRESET

TEXT = b"He took aspirin in the house, in pain.\nIn time the warfarin helped.\nIn 1990 it did.\n"
NEW = Dictionary("Drug.txt", tuple(Phrase(t, "Drug") for t in ("aspirin", "in", "zinc")))


def documents(text=TEXT):
    return read_corpus([SourceFile("notes.txt", text)]).documents


def check(new=(NEW,), held=(), text=documents, **more):
    return uploaded.check_upload(list(new), list(held), text(), DEFAULT_MATCH_PRESET, **more)


def listed(found):
    return {entry.kind: [text for text, _ in entry.phrases] for entry in found.entries}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Notes")
    project.add_text([SourceFile("notes.txt", TEXT)])
    return project


# ---- with text ------------------------------------------------------------------------------


def test_matches_in_the_text_decide():
    found = check()
    assert str(found) == "1 phrase looks wrong: about 4 matches"
    [entry] = found.proposed
    assert (entry.name, entry.match_count, entry.proposal) == ("“in”", 4, MUTE)
    assert found.tokens and found.is_whole


def test_a_phrase_that_the_project_has_under_another_type_is_named():
    held = Dictionary("Place.txt", (Phrase("Aspirin", "Place"), Phrase("the", "Place")))
    kinds = listed(check(held=[held]))
    assert kinds["two types"] == ["aspirin"]
    assert ["the"] not in kinds.values()  # it is not in the new files


def test_a_dictionary_that_is_replaced_does_not_count_and_what_it_muted_stays_muted():
    held = Dictionary(
        "Drug.txt", (Phrase("aspirin", "Place"), Phrase("in", "Drug")), muted={("in", "Drug")}
    )
    assert "two types" in listed(check(held=[held]))
    assert check(held=[held], is_replacing=True).entries == ()


def test_phrases_that_are_never_an_entity_take_their_matches_away():
    never = Dictionary("words.txt", (Phrase("in", NEVER),))
    assert check(held=[never]).entries == ()


def test_only_the_beginning_of_the_text_is_read(monkeypatch):
    monkeypatch.setattr(uploaded, "MOST_TOKENS", 12)
    found = check()
    assert not found.is_whole and found.tokens == 10
    [entry] = found.proposed
    assert entry.match_count == 2


@pytest.mark.parametrize(
    ("most", "tokens"), [(0, 0), (1, 10), (10, 10), (15, 10), (16, 16), (99, 21)]
)
def test_the_beginning_ends_after_a_sentence(most, tokens):
    [document] = documents()
    sample = uploaded.beginning([document], most)
    assert sum(part.token_count for part in sample) == tokens
    sentences = [sentence.text for part in sample for sentence in part.sentences]
    assert sentences == [s.text for s in document.sentences][: len(sentences)]


# ---- without text ---------------------------------------------------------------------------


def test_phrases_alone_decide_without_text():
    texts = ("aspirin", "in", "The", "house", "x", "1990", "mg", "insulin, neutral", "WHO", "zinc")
    new = Dictionary("Drug.txt", tuple(Phrase(text, "Drug") for text in texts))
    held = Dictionary("Metal.txt", (Phrase("Zinc", "Metal"),))
    found = check([new], [held], text=lambda: ())
    assert listed(found) == {
        "stop words": ["The", "in"],  # the more frequent first
        "letters, numbers and units": ["x", "1990", "mg"],
        "everyday words": ["house"],
        "two types": ["zinc"],
        "inverted names": ["insulin, neutral"],
    }
    assert [entry.kind for entry in found.proposed] == [
        "stop words",
        "letters, numbers and units",
    ]
    assert str(found) == "5 phrases look wrong" and found.tokens == 0


def test_nothing_is_said_of_a_clean_dictionary_or_a_pattern():
    new = Dictionary("Drug.txt", (Phrase("warfarin", "Drug"), Phrase("re:[0-9]", "Drug")))
    found = check([new], text=lambda: ())
    assert found.entries == () and str(found) == ""


# ---- saving ---------------------------------------------------------------------------------


def test_dictionaries_are_saved_as_chosen(project):
    new = Dictionary("Drug.txt", tuple(Phrase(t, "Drug") for t in ("in", "the", "it", "aspirin")))
    by_name = {entry.name: entry for entry in check([new]).entries}
    chosen = [(by_name["“in”"], MUTE), (by_name["“the”"], AS_WRITTEN), (by_name["“it”"], KEEP)]
    uploaded.save_upload(project, [new], uploaded.chosen_from(uploaded.chosen_record(chosen)))
    [saved] = project.dictionaries()
    assert (saved.muted, saved.as_written) == ({("in", "Drug")}, {("the", "Drug")})
    assert kept_entries(project) == {by_name["“it”"].key}
    assert "“it”" not in [e.name for e in check([new], kept=kept_entries(project)).entries]


def test_what_is_muted_before_saving_is_muted_in_the_dictionary_that_is_replaced(project):
    project.join_dictionaries([Dictionary("Drug.txt", (Phrase("zinc", "Drug"),))])
    [entry] = check().entries
    uploaded.save_upload(project, [NEW], [(entry, MUTE)], is_replacing=True)
    assert [d.muted for d in project.dictionaries()] == [{("in", "Drug")}]


def test_all_phrases_of_a_kind_are_kept(project):
    [entry] = check(text=lambda: ()).entries
    uploaded.save_upload(project, [NEW], [(entry, KEEP)])
    assert check(text=lambda: (), kept=kept_entries(project)).entries == ()
    assert check(kept=kept_entries(project)).entries == ()  # nor once there is text


def test_inverted_names_are_added_in_the_order_of_the_text(project):
    new = Dictionary("Drug.txt", (Phrase("insulin, neutral", "Drug"),))
    [entry] = check([new], text=lambda: documents(b"He took neutral insulin.\n")).entries
    assert entry.proposal == ADD
    assert [p.text for p in uploaded.mend_upload([new], [(entry, ADD)])[0].phrases] == [
        "insulin, neutral",
        "neutral insulin",
    ]
    uploaded.save_upload(project, [new], [(entry, KEEP)])
    assert kept_entries(project) == {ADD}


def test_a_record_keeps_everything():
    for found in (check(), check(text=lambda: ())):
        assert uploaded.upload_health_from(uploaded.upload_health_record(found)) == found
