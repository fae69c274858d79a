import pytest

from engine.dictionaries.model import NEVER
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.archives import zipped
from tests.support.pages import checked, figures, open_page, plain, press, table, upload
from tests.support.waiting import wait_until
from ui.views.dictionaries import changes as dictionary_changes

TEXT = b"He had gout, then Gout.\nLead pipes lead to lead poisoning.\nA cold and nothing else.\n"
DISEASE = ("Disease.txt", b"gout\ncold\nlead poisoning\ngout\n", "text/plain")
CHEMICAL = ("Chemical.txt", b"lead\nzinc\n", "text/plain")
UNTYPED = ("mixed.csv", b"term,source\nlead,x\nzinc,y\n", "text/csv")


@pytest.fixture
def project():
    project = create_project("Mine")
    project.add_text([SourceFile("notes.txt", TEXT)])
    return project


@pytest.fixture
def filled(project):
    project.add_dictionaries([SourceFile(name, data) for name, data, _ in (DISEASE, CHEMICAL)])
    return project


def show(project, tab="Dictionaries"):
    page = open_page("dictionaries", project.id)
    page.session_state["dictionaries_tab"] = tab
    return checked(page.run())


def ask(page, project, preset):
    """Choose another match preset and preview the changes."""
    page.radio(key=f"dictionaries_preset_{project.labels_key()}").set_value(preset)
    return checked(press(page, "Preview changes"))


def said(page):
    return "".join(element.value for element in page.main.html)


def held(project):
    return {d.name: [(p.text, p.entity_type) for p in d.phrases] for d in project.dictionaries()}


def muted(project):
    return set().union(*(d.muted for d in project.dictionaries()))


# ---- adding ---------------------------------------------------------------------------------


def test_an_empty_project_says_what_to_do(project):
    page = show(project)
    assert "No dictionaries yet." in said(page)
    assert "--dictionary Disease.txt" in page.code[-1].value


def test_types_are_guessed_and_nothing_is_saved_at_once(project):
    page = checked(upload(show(project), DISEASE, CHEMICAL))
    assert "Not saved yet" in page.markdown[0].value
    assert table(page, "found")[["file", "type", "phrases"]].to_numpy().tolist() == [
        ["Disease.txt", "Disease", 3],
        ["Chemical.txt", "Chemical", 2],
    ]
    assert "1 duplicate phrase removed" in said(page)
    assert project.dictionary_version() == 0


def test_saving_makes_a_version_and_empties_the_uploader(project):
    page = checked(press(upload(show(project), DISEASE), "Save to the project"))
    assert held(project) == {
        "Disease.txt": [(text, "Disease") for text in ("gout", "cold", "lead poisoning")]
    }
    assert plain(page.success[0].value) == "Saved Disease.txt with 3 phrases, as version 1."
    assert page.file_uploader[0].value == []


def test_types_can_be_changed_before_saving(project):
    page = upload(show(project), DISEASE)
    [key] = [editor.key for editor in page.data_editor]
    page.session_state[key] = {"edited_rows": {0: {"type": " Sickness "}}}
    page = checked(press(page, "Save to the project"))
    assert {entity_type for _, entity_type in held(project)["Disease.txt"]} == {"Sickness"}


def test_a_type_is_asked_for_when_phrases_have_none(project):
    page = checked(upload(show(project), UNTYPED, DISEASE))
    assert "2 terms have no label" in plain(page.warning[0].value)
    assert "Save to the project" not in [button.label for button in page.button]
    [box] = [box for box in page.text_input if box.label == "Type of the phrases without a type"]
    page = checked(press(box.set_value("Chemical").run(), "Save to the project"))
    # The list keeps the type from its file name.
    assert {entity_type for _, entity_type in held(project)["Disease.txt"]} == {"Disease"}
    assert held(project)["mixed.csv"] == [("lead", "Chemical"), ("zinc", "Chemical")]


def test_a_file_that_is_not_a_dictionary_is_explained(project):
    page = upload(show(project), ("a.pdf", b"%PDF-1.7", ""))
    assert plain(page.error[0].value).startswith("a.pdf is no dictionary that can be read.")
    page = checked(press(page, "Discard"))
    assert page.file_uploader[0].value == []


@pytest.mark.parametrize(
    ("way", "names"),
    [("Replace", ["Disease.txt", "Chemical.txt"]), ("Keep both", None)],
)
def test_page_asks_what_to_do_about_a_name_that_is_taken(filled, way, names):
    page = upload(show(filled), ("Disease.txt", b"measles\n", ""))
    [choice] = [radio for radio in page.radio if "already in the project" in radio.label]
    page = checked(press(choice.set_value(way).run(), "Save to the project"))
    expected = names or ["Disease.txt", "Chemical.txt", "Disease.txt~2"]
    assert list(held(filled)) == expected
    assert held(filled)[expected[0 if names else 2]] == [("measles", "Disease")]


# ---- the grid and what changes --------------------------------------------------------------


def test_grid_says_what_each_dictionary_finds(filled):
    grid = table(show(filled), "used_share")
    rows = grid[["name", "types", "phrases", "used_share", "matches"]].to_numpy().tolist()
    # gout, Gout, lead poisoning, cold; Lead, lead
    assert rows[0] == ["Disease.txt", "Disease", 3, 100.0, 4]
    assert rows[1] == ["Chemical.txt", "Chemical", 2, 50.0, 2]


def test_another_match_preset_is_previewed_before_it_is_applied(filled):
    page = show(filled)
    page = ask(page, filled, "strict")
    assert figures(page) == {"New matches": "+0", "Matches gone": "−2", "Unchanged": "4"}
    assert "phrase “gout”" in said(page) and "Matching adaptive → strict" in said(page)
    assert filled.match_preset() == "adaptive"
    page = checked(press(page, "Apply"))
    assert filled.match_preset() == "strict"
    assert plain(page.success[0].value).startswith("Matching adaptive → strict.")
    assert not figures(page)


def test_a_change_can_be_discarded(filled):
    page = show(filled)
    page = ask(page, filled, "loose")
    page = checked(press(page, "Discard"))
    assert not figures(page)
    assert filled.match_preset() == "adaptive"


def test_turning_a_dictionary_off_is_previewed_and_applied(filled):
    page = show(filled)
    page.session_state[f"dictionaries_grid_{filled.labels_key()}"] = {
        "edited_rows": {0: {"is_enabled": False}, 1: {"priority": 5, "matching": "strict"}}
    }
    page = checked(press(page, "Preview changes"))
    # All four diseases go, "Lead" with its capital goes, "lead" of "lead poisoning" comes.
    assert figures(page) == {"New matches": "+1", "Matches gone": "−5", "Unchanged": "1"}
    page = checked(press(page, "Apply"))
    disease, chemical = filled.dictionaries()
    assert not disease.is_enabled
    assert (chemical.priority, dictionary_changes.matching_name(chemical.match)) == (5, "strict")
    assert filled.dictionary_history()[0].reason == (
        "Disease.txt turned off; Chemical.txt: priority 5; Chemical.txt: matching strict"
    )


def test_a_change_that_fails_halfway_is_not_applied_at_all(filled, monkeypatch):
    page = show(filled)
    page.session_state[f"dictionaries_grid_{filled.labels_key()}"] = {
        "edited_rows": {0: {"is_enabled": False}}
    }
    before = filled.match_preset()
    page = ask(page, filled, "strict")

    def fail(*arguments):
        raise InputError("there is no room left on the disk")

    monkeypatch.setattr("engine.projects.store.set_choice", fail)
    press(page, "Apply")
    assert (filled.dictionary_version(), filled.match_preset()) == (1, before)
    assert all(dictionary.is_enabled for dictionary in filled.dictionaries())


def test_page_says_when_there_is_nothing_to_change(filled):
    page = checked(press(show(filled), "Preview changes"))
    assert page.info[0].value.startswith("Nothing changed")
    assert not figures(page)


def test_a_preview_is_dropped_when_the_dictionaries_changed_elsewhere(filled):
    page = show(filled)
    page = ask(page, filled, "loose")
    filled.save_dictionaries(filled.dictionaries()[:1], "elsewhere")
    page = checked(page.run())
    assert not figures(page)  # it was based on dictionaries that have changed


def test_dictionaries_can_be_removed_and_restored(filled):
    page = show(filled)
    page.multiselect(key="dictionaries_gone").set_value(["Disease.txt"]).run()
    page = checked(page.button(key="dictionaries_remove").click().run())
    assert list(held(filled)) == ["Chemical.txt"]
    page = show(filled, "Versions")
    assert table(page, "reason")["reason"].tolist()[0] == "Removed Disease.txt"
    page = checked(press(page, "Restore this version"))
    assert list(held(filled)) == ["Disease.txt", "Chemical.txt"]
    assert plain(page.success[0].value) == "Version 1 is in force again, as version 3."


def test_the_last_dictionary_can_be_restored(filled):
    filled.save_dictionaries([], "Removed all")
    page = show(filled)
    assert "No dictionaries yet." in said(page)
    checked(press(page, "Restore this version"))
    assert len(held(filled)) == 2


def test_page_names_a_dictionary_that_matches_nothing(project):
    project.add_dictionaries([SourceFile("Gene.txt", b"BRCA1\n")])
    page = show(project)
    assert "“Gene.txt” matches nothing in this text (0 of 1 phrases)" in plain(
        page.warning[0].value
    )


# ---- phrases --------------------------------------------------------------------------------


def choose(page, *phrases):
    """Select these phrases in the first column of the table."""
    [shown] = [frame for frame in page.dataframe if (frame.key or "").startswith("phrases_table")]
    rows = [i for i, phrase in enumerate(shown.value["phrase"]) if phrase in phrases]
    page.session_state[shown.key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    return checked(page.run())


def test_phrases_are_listed_with_matches_and_remarks(filled):
    page = show(filled, "Phrases")
    rows = table(page, "flags")[["phrase", "entity_type", "matches", "flags"]].to_numpy().tolist()
    assert rows == [
        ["gout", "Disease", 2, ""],
        ["lead", "Chemical", 2, "common word"],
        ["cold", "Disease", 1, "common word"],
        ["lead poisoning", "Disease", 1, ""],
        ["zinc", "Chemical", 0, ""],
    ]
    assert page.button(key="phrases_mute").disabled


def test_phrases_can_be_filtered_and_ordered(filled):
    page = show(filled, "Phrases")
    page.segmented_control(key="phrases_kind").set_value("With a remark").run()
    assert table(page, "flags")["phrase"].tolist() == ["lead", "cold"]
    page.segmented_control(key="phrases_kind").set_value("Without a match").run()
    assert table(page, "flags")["phrase"].tolist() == ["zinc"]
    page.segmented_control(key="phrases_kind").set_value("All").run()
    page.selectbox(key="phrases_order").set_value("Longest").run()
    assert table(page, "flags")["phrase"].tolist()[0] == "lead poisoning"
    page.text_input(key="phrases_search").set_value("LEAD").run()
    page.multiselect(key="phrases_types").set_value(["Chemical"]).run()
    assert table(page, "flags")["phrase"].tolist() == ["lead"]
    page.text_input(key="phrases_search").set_value("[").run()
    assert checked(page).info[0].value.startswith("No phrase matches these filters.")


def test_phrases_are_muted_and_unmuted(filled):
    page = choose(show(filled, "Phrases"), "lead", "cold")
    page = checked(page.button(key="phrases_mute").click().run())
    assert muted(filled) == {("lead", "Chemical"), ("cold", "Disease")}
    assert plain(page.success[0].value).startswith("Muted “lead”, “cold”.")
    assert filled.dictionary_version() == 2
    page.segmented_control(key="phrases_kind").set_value("Muted").run()
    page = choose(page, "lead")
    page = checked(page.button(key="phrases_unmute").click().run())
    assert muted(filled) == {("cold", "Disease")}


def test_phrases_get_another_type(filled):
    page = choose(show(filled, "Phrases"), "cold")
    page.selectbox(key="phrases_new_type").set_value("Another type …").run()
    page.text_input(key="phrases_type_name").set_value("Symptom").run()
    page = checked(page.button(key="phrases_relabel").click().run())
    assert ("cold", "Symptom") in held(filled)["Disease.txt"]
    assert filled.dictionary_history()[0].reason == "Moved “cold” from Disease to Symptom"


def test_many_phrases_are_shown_page_by_page(project):
    phrases = "".join(f"phrase number {i}\n" for i in range(450)).encode()
    project.add_dictionaries([SourceFile("Many.txt", phrases)])
    page = show(project, "Phrases")
    assert len(table(page, "flags")) == 200
    page = checked(page.pagination[0].set_value(3).run())
    assert len(table(page, "flags")) == 50


# ---- charts, and no text --------------------------------------------------------------------


def test_charts_are_drawn(filled):
    page = show(filled, "Charts")
    assert len(page.get("plotly_chart")) == 4


def test_without_text_matches_are_unknown():
    project = create_project("No text")
    project.add_dictionaries([SourceFile(name, data) for name, data, _ in (DISEASE, CHEMICAL)])
    page = show(project)
    assert table(page, "used_share")["matches"].isna().all()
    assert not page.warning
    assert "No text yet" in said(show(project, "Charts"))
    assert len(table(show(project, "Phrases"), "flags")) == 5
    page = ask(page, project, "strict")
    checked(press(page, "Apply"))
    assert project.match_preset() == "strict"


def test_markup_in_dictionaries_is_shown_as_text(project):
    page = upload(show(project), ("<b>X_y_.txt", b"<script>alert(1)</script>\ngout\n", ""))
    page = checked(press(page, "Save to the project"))
    everything = "".join(e.value for e in (*page.html, *page.markdown, *page.caption))
    assert "<script" not in everything and "<b>X" not in everything
    assert "\\<b\\>X" in page.success[0].value


def test_a_zip_of_dictionaries_is_read_and_saved_by_a_process_of_its_own(project):
    file = zipped({"Disease.txt": DISEASE[1]}, "all.zip")
    page = upload(show(project), (file.name, file.data, "application/zip"))
    assert page.get("progress") and "Cancel" in [button.label for button in page.button]
    wait_until(lambda: not page.run().get("progress"), "it is read", every=0.2)
    page = press(page, "Save to the project")
    wait_until(lambda: not page.run().get("progress"), "it is saved", every=0.2)
    assert plain(checked(page).success[0].value).startswith("Saved Disease.txt with ")
    assert [dictionary.name for dictionary in project.dictionaries()] == ["Disease.txt"]


def test_a_whole_folder_is_added_without_its_other_files(project):
    page = show(project)
    [toggle] = [toggle for toggle in page.toggle if toggle.label == "Whole folder"]
    page = toggle.set_value(True).run()
    page = upload(page, ("lists/a/Disease.txt", *DISEASE[1:]), ("lists/README.txt", b"x", ""))
    page = checked(press(page, "Save to the project"))
    assert [dictionary.name for dictionary in project.dictionaries()] == ["Disease.txt"]


def test_files_are_saved_as_never_an_entity(filled):
    page = upload(show(filled), ("words.txt", b"gout\n", "text/plain"))
    [toggle] = [toggle for toggle in page.toggle if toggle.label == "Never an entity"]
    page = checked(press(toggle.set_value(True).run(), "Save to the project"))
    assert held(filled)["words.txt"] == [("gout", NEVER)]
    assert not page.warning  # the list matches
    show(filled, "Phrases")
    show(filled, "Charts")
    page = checked(open_page("labels", filled.id).run())
    assert any("Never an entity: 1 of 1 phrases in 2 places" in c.value for c in page.caption)


def test_patterns_are_listed_with_their_matches_and_one_that_takes_too_long_is_named(project):
    slow = rb"re:(?:a|aa)+(?:b|c)"
    project.add_text([SourceFile("more.txt", b"a" * 60)])
    project.add_dictionaries([SourceFile("Metal.txt", rb"re:(?i)lead" + b"\n" + slow)])
    page = show(project)
    assert "Metal.txt line 2: the pattern" in plain(page.warning[0].value)
    page = show(project, "Phrases")
    page = page.segmented_control(key="phrases_kind").set_value("Patterns").run()
    assert table(page, "state")["matches"].tolist() == [3, 0]
