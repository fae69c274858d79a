import json
import re
from dataclasses import replace

import pytest

from engine.export import card_bytes
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project, sample_project, untrained_sample
from engine.settings import MATCH_PRESETS
from engine.text.model import InputError
from tests.support.finished_runs import make_project
from tests.support.pages import (
    captions,
    caught_cards,
    checked,
    figures,
    open_page,
    progress,
    table,
)
from tests.support.pages import html as texts
from ui.state import labels as state
from ui.views.labels import missing as labels_missing
from ui.views.labels import page as page_module

TEXT = b"He had gout. Lead was found. Nothing else.\n"
TABS = ("Text", "Coverage", "Missing names", "Conflicts", "Precision", "Noisy phrases", "Variants")


@pytest.fixture
def sample():
    return sample_project()


@pytest.fixture
def own():
    return make_project(TEXT)


def show(project, tab="Text"):
    page = open_page("labels", project.id)
    page.session_state["labels_tab"] = tab
    return checked(page.run())


# ---- the whole page -------------------------------------------------------------------------


def test_page_shows_the_sample_project(sample):
    page = show(sample)
    # The figures of `glossa label` on the same files.
    assert figures(page) == {
        "Token coverage": "9.2 %",
        "Sentences matched": "77.8 %",
        "Phrases used": "60.4 %",
        "Conflicts": "9",
        "Precision": "97.1 %",
        "Recall": "57.1 %",
    }
    assert 'kidney stones<span class="gl-type">Disease</span></mark>' in texts(page)
    assert page.code[-1].value == "glossa label --project sample --out entities.csv"


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_drawn_and_only_the_open_one(sample, tab):
    page = show(sample, tab)
    drawn = {
        "Text": bool(page.text_input),
        "Coverage": "Along the corpus" in [heading.value for heading in page.subheader],
        "Missing names": any("example" in table.value for table in page.dataframe),
        "Conflicts": any("rule" in table.value for table in page.dataframe),
        "Precision": any("F1 (%)" in table.value for table in page.dataframe),
        "Noisy phrases": any("estimated_false" in table.value for table in page.dataframe),
        "Variants": any("reason" in table.value for table in page.dataframe),
    }
    assert [name for name, is_drawn in drawn.items() if is_drawn] == [tab]


@pytest.mark.parametrize(
    ("text", "phrases", "said"),
    [
        (b"", b"gout\n", "No text yet."),
        (TEXT, b"", "No dictionaries yet."),
        (TEXT, b"measles\n", "No phrase matches this text (0 of 1 phrases in 3 sentences)"),
    ],
    ids=["no text", "no dictionary", "no match"],
)
def test_page_says_what_is_missing(text, phrases, said):
    project = create_project("Half")
    if text:
        project.add_text([SourceFile("notes.txt", text)])
    if phrases:
        project.add_dictionaries([SourceFile("Disease.txt", phrases)])
    page = show(project)
    assert said in texts(page)
    assert not page.metric


def test_preset_is_stored_and_changes_the_figures(sample):
    page = show(sample)
    checked(page.segmented_control(key="labels_match_preset").set_value("strict").run())
    assert figures(page)["Token coverage"] == "7.2 %"
    assert sample.match_preset() == "strict"
    # Another visit shows what is stored, also after a change elsewhere.
    assert show(sample).segmented_control(key="labels_match_preset").value == "strict"
    sample.set_match_preset("loose")
    assert page.run().segmented_control(key="labels_match_preset").value == "loose"


def test_gold_that_no_longer_fits_the_text_is_explained_and_the_rest_still_works(own):
    own.set_gold([SourceFile("gold.csv", b"doc_id,start,end,label\nnotes,7,11,Disease\n")])
    assert figures(show(own))["Precision"] == "50.0 %"
    own.remove_text(own.text_files()[0].id)
    own.add_text([SourceFile("other.txt", TEXT)])
    page = open_page("labels", own.id).run()
    assert not page.exception
    assert "annotates none of these documents" in page.error[0].value
    assert figures(page)["Precision"] == "–"


def test_download_contains_the_entities(own):
    rows = state.entities_csv(own).decode().splitlines()
    assert [row.split(",")[3:7] for row in rows[1:]] == [
        ["7", "11", "gout", "Disease"],
        ["13", "17", "Lead", "Chemical"],
    ]


def test_the_download_has_a_card(own, monkeypatch):
    files = caught_cards(monkeypatch, page_module)
    show(own)
    name, make, facts = files["download_entities"]
    card = json.loads(card_bytes(facts(), name, "csv", make()))
    assert card["what"] == "what the dictionaries match" and card["entities"] == 2
    assert card["matching"] == own.match_preset() and card["dictionaries"]["version"] == 1
    assert card["file"]["bytes"] == len(state.entities_csv(own))


def test_markup_in_texts_and_names_is_shown_as_text():
    project = create_project("<b>x")
    text = b"<script>alert(1)</script> and <img src=x onerror=alert(2)> with gout.\n"
    project.add_text([SourceFile("<img src=x>.txt", text)])
    project.add_dictionaries([SourceFile("<b onclick=x>T.txt", b"gout\n<script>\n")])
    for tab in TABS:
        page = show(project, tab)
        assert "<script" not in texts(page) and "<img" not in texts(page)
        shown = (*page.markdown, *page.caption, *page.info)
        assert not any(re.search(r"(?<!\\)<", element.value) for element in shown)
    shown = texts(show(project))
    assert "&lt;script&gt;" in shown and "&lt;img src=x onerror=alert(2)&gt;" in shown


@pytest.mark.parametrize(
    ("error", "shown"),
    [(InputError("a_b.txt is empty"), "a_b.txt is empty."), (KeyError("x"), "Something went")],
    ids=["the person's", "ours"],
)
def test_no_traceback_is_shown_to_the_user(sample, monkeypatch, error, shown):
    def fail(project):
        raise error

    monkeypatch.setattr(state, "coverage", fail)
    page = open_page("labels", sample.id).run()
    assert not page.exception
    assert page.error[0].value.replace("\\", "").startswith(shown)


# ---- text -----------------------------------------------------------------------------------


def test_filters_choose_sentences(sample):
    page = show(sample)
    checked(page.segmented_control(key="labels_filter").set_value("With a conflict").run())
    # Nine conflicts, two of them in one sentence.
    assert "Sentences 1–8 of 8" in captions(page)
    assert "lost to" in texts(page)
    page.text_input(key="labels_search").set_value("no such words anywhere").run()
    assert page.info[0].value == "No sentence matches these filters."


@pytest.mark.parametrize(
    ("kind", "types", "dictionaries", "numbers"),
    [
        ("All", [], [], "1–3 of 3"),
        ("With a match", [], [], "1–2 of 2"),
        ("Without a match", [], [], "1–1 of 1"),
        ("All", ["Disease"], [], "1–1 of 1"),
        ("Without a match", ["Disease"], [], "1–2 of 2"),
        ("All", [], ["Chemical.txt"], "1–1 of 1"),
    ],
)
def test_filters_by_type_and_dictionary_apply_to_matches(own, kind, types, dictionaries, numbers):
    page = show(own)
    page.segmented_control(key="labels_filter").set_value(kind)
    page.multiselect(key="labels_types").set_value(types)
    page.multiselect(key="labels_dictionaries").set_value(dictionaries)
    checked(page.run())
    assert f"Sentences {numbers}" in captions(page)


def test_a_filter_returns_to_the_first_page(sample):
    page = show(sample)
    page.pagination[0].set_value(3).run()
    assert "Sentences 51–75 of 793" in captions(page)
    page.segmented_control(key="labels_filter").set_value("With a match").run()
    assert "Sentences 1–25 of 617" in captions(page)


def test_a_phrase_has_a_card_and_its_sentences(sample):
    page = show(sample)
    checked(page.selectbox(key="labels_phrase").set_value("lead").run())
    assert "13 matches in 7 documents · 2 lost to another type · common word" in captions(page)
    assert "Sentences 1–12 of 12" in captions(page)
    assert table(page, "lost")["precision"].round(1).tolist() == [23.1]
    # Only the phrase that was asked for is marked.
    assert texts(page).count('<span class="gl-type">') == 13


def test_a_phrase_can_be_muted_from_its_card(sample):
    page = show(sample)
    page.selectbox(key="labels_phrase").set_value("lead").run()
    checked(page.button(key="phrase_mute").click().run())
    assert sample.dictionary_version() == 2
    assert sample.dictionary_history()[0].reason == "Muted “lead”"
    assert "“lead” is muted: it matches nothing." in captions(page)
    assert "1,612 of 17,605 tokens" in captions(page)  # 13 fewer
    # What the page keeps of the saved version is what was saved.
    assert state.dictionaries(sample) == tuple(sample.dictionaries())


def test_a_phrase_can_be_moved_to_another_type(own):
    page = show(own)
    page.selectbox(key="labels_phrase").set_value("lead").run()
    page.selectbox(key="phrase_new_type").set_value("Disease").run()
    checked(page.button(key="phrase_move").click().run())
    assert 'Lead<span class="gl-type">Disease</span></mark>' in texts(page)
    assert own.dictionary_history()[0].reason == "Moved “lead” from Chemical to Disease"


def test_page_says_when_no_dictionary_has_the_phrase(own):
    page = open_page("labels", own.id)
    page.session_state["labels_phrase"] = "measles"  # typed, not chosen from the list
    checked(page.run())
    assert "“measles” is in no dictionary." in captions(page)


# ---- coverage, conflicts, noisy phrases -----------------------------------------------------


def test_missing_candidates_of_a_large_text_are_computed_on_request(monkeypatch):
    sample = untrained_sample()  # the one that ships has likely names already
    monkeypatch.setattr(labels_missing, "SMALL", 100)
    page = show(sample, "Missing names")
    assert not any("example" in frame.value for frame in page.dataframe)
    page = open_page("labels", sample.id)
    page.session_state["labels_tab"], page.session_state["labels_missing"] = "Missing names", True
    assert "example" in table(checked(page.run()), "example")


def test_conflicts_tab_counts_winners_losers_and_rules(sample):
    first = table(show(sample, "Conflicts"), "rule").iloc[0]
    assert first[["winner", "winner_type", "loser_type", "times"]].tolist() == [
        "alcohol",
        "Chemical",
        "Disease",
        4,
    ]


def test_conflicts_tab_says_so_when_there_are_none(own):
    assert show(own, "Conflicts").info[0].value.startswith("No conflicts")


def select_noisy(page, project, rows):
    key = f"table_noisy_{project.labels_key()}"
    page.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    return checked(page.run())


def test_a_phrase_is_in_one_list_with_what_gold_says(sample):
    page = show(sample, "Noisy phrases")
    panel = [e.value for e in page.html if 'class="gl-health"' in e.value]
    assert any("<b>“lead”" in entry and "3 of 13 checked are right" in entry for entry in panel)
    others = table(page, "estimated_false")["phrase"].tolist()
    assert "delirium" in others
    assert not any(f"<b>“{phrase}”" in entry for phrase in others for entry in panel)


def test_what_nobody_checked_is_only_in_the_panel(own):
    own.add_dictionaries([SourceFile("more/Chemical.csv", b"term,label\nthe,Chemical\n")])
    page = show(own, "Noisy phrases")
    assert not page.dataframe
    assert "checked are right" not in texts(page)


def test_chosen_phrases_are_muted_and_can_match_again(sample):
    page = show(sample, "Noisy phrases")
    first, second = table(page, "estimated_false")["phrase"].tolist()[:2]
    before = figures(page)
    assert page.button(key="noisy_mute").disabled
    select_noisy(page, sample, [0, 1])
    assert page.button(key="noisy_mute").label == "Mute 2 phrases"
    checked(page.button(key="noisy_mute").click().run())
    assert figures(page) != before
    muted = dict(state.muted(sample))
    assert set(muted) == {first, second}
    page.multiselect(key="noisy_muted_2").set_value([f"{first} ({muted[first]})"]).run()
    checked(page.button(key="noisy_unmute").click().run())
    assert state.muted(sample) == [(second, muted[second])]
    assert sample.dictionary_version() == 3


def test_muting_ignores_the_case_of_a_phrase(own):
    own.add_dictionaries([SourceFile("more/Chemical.csv", b"term,label\nLEAD,Chemical\n")])
    state.mute(own, [("lead", "Chemical")])
    assert state.muted(own) == [("LEAD", "Chemical"), ("lead", "Chemical")]


def test_all_phrases_can_be_muted_and_the_page_stays(own):
    state.mute(own, [("gout", "Disease"), ("lead", "Chemical")])
    for tab in TABS:
        page = show(own, tab)
        assert figures(page)["Token coverage"] == "0.0 %"


def test_a_change_made_elsewhere_is_not_overwritten(own, monkeypatch):
    held = own.dictionaries()
    own.save_dictionaries(held[:1], "Elsewhere")
    monkeypatch.setattr(type(own), "dictionary_version", lambda self: 1)
    with pytest.raises(InputError, match="changed elsewhere"):
        state.mute(own, [("gout", "Disease")])


# ---- variants -------------------------------------------------------------------------------


@pytest.fixture
def defining():
    return make_project(b"He had lead poisoning (LP). The LP was old. Lead. No gout.\n")


def select_abbreviations(page, project, rows):
    key = f"table_abbreviations_{project.labels_key()}"
    page.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    return checked(page.run())


def test_variants_tab_says_what_was_decided_and_what_it_adds(sample):
    page = show(sample, "Variants")
    cases = table(page, "letter_case")
    assert cases.to_numpy().tolist() == [
        ["Chemical", "ignored", "94 % of 445 exact matches begin in lower case", 100, 11],
        ["Disease", "ignored", "92 % of 440 exact matches begin in lower case", 108, 36],
    ]
    assert list(cases)[-2:] == ["By letter case", "By abbreviation"]
    assert [of.value for of in page.subheader] == [
        "Adaptive matching adds 255 labels",
        "Abbreviations",
    ]
    first = table(page, "matches").iloc[0]
    assert first[["text", "phrase", "reason", "matches"]].tolist() == [
        "AS", "ankylosing spondylitis", "abbreviation", 7,
    ]  # fmt: skip


def test_variants_tab_says_what_adaptive_matching_would_change_and_switches_to_it(sample):
    sample.set_match_preset("balanced")
    page = show(sample, "Variants")
    assert page.subheader[0].value == "Adaptive matching would add 47 labels"
    assert table(page, "Labels added")["Labels added"].tolist() == [11, 36]
    assert table(page, "change").iloc[0].to_dict() == {
        "text": "AS", "entity_type": "Disease", "phrase": "ankylosing spondylitis", "matches": 7,
        "change": "added",
    }  # fmt: skip
    checked(page.button(key="variants_switch").click().run())
    assert sample.match_preset() == "adaptive"
    assert page.subheader[0].value == "Adaptive matching adds 255 labels"
    assert any("choose balanced on the page Distant labels" in of.value for of in page.info)


def test_adaptive_matching_would_also_remove_labels():
    names = make_project(
        b"Turkey is far, and in Turkey we ate turkey.\n", dictionaries={"Place.txt": b"Turkey\n"}
    )
    names.set_match_preset("balanced")
    page = show(names, "Variants")
    assert page.subheader[0].value == "Adaptive matching would remove 1 label"
    assert table(page, "change")[["text", "change"]].to_numpy().tolist() == [["turkey", "removed"]]
    assert table(page, "letter_case")["letter_case"].tolist() == ["more capitals match"]


def test_variants_tab_leaves_dictionaries_with_matching_of_their_own_alone(own):
    held = [replace(d, match=MATCH_PRESETS["strict"]) for d in own.dictionaries()]
    own.save_dictionaries(held, "Strict", match_preset="balanced")
    page = show(own, "Variants")
    assert page.info[0].value.startswith("Each dictionary has its own matching.")
    assert not [button for button in page.button if button.key == "variants_switch"]


def test_a_type_that_is_not_adaptive_is_listed_as_set_for_its_dictionary(own):
    first, *others = own.dictionaries()
    own.save_dictionaries([replace(first, match=MATCH_PRESETS["strict"]), *others], "Strict")
    rules = (
        table(show(own, "Variants"), "letter_case")
        .set_index("entity_type")["letter_case"]
        .to_dict()
    )
    assert rules.pop(first.types[0]) == "as set for its dictionary"
    assert list(rules.values()) == ["ignored"]


def test_an_abbreviation_is_muted_and_labeled_again(defining):
    defining.add_dictionaries([SourceFile("more/Disease.txt", b"lead poisoning\n")])
    page = show(defining, "Variants")
    before = figures(page)["Token coverage"]
    assert table(page, "short")[["short", "long", "state"]].to_numpy().tolist() == [
        ["LP", "lead poisoning", "labeled"]
    ]
    assert page.button(key="variants_mute").disabled and page.button(key="variants_unmute").disabled
    select_abbreviations(page, defining, [0])
    checked(page.button(key="variants_mute").click().run())
    assert state.muted(defining) == [("LP", "Disease")]
    assert defining.dictionary_history()[0].reason == "Muted “LP”"
    assert figures(page)["Token coverage"] != before
    assert table(page, "short")["state"].tolist() == ["muted"]
    select_abbreviations(page, defining, [0])
    checked(page.button(key="variants_unmute").click().run())
    assert state.muted(defining) == [] and figures(page)["Token coverage"] == before


def test_variants_tab_without_abbreviations(own):
    assert "The text defines no abbreviation of a phrase." in captions(show(own, "Variants"))


# ---- precision ------------------------------------------------------------------------------


def test_precision_tab_scores_each_type_against_gold(sample):
    page = show(sample, "Precision")
    scores = table(page, "F1 (%)").set_index("Type")
    assert scores["Precision (%)"].round(1).to_dict() == {
        "Chemical": 96.7,
        "Disease": 97.5,
        "All types": 97.1,
    }
    assert table(page, "is")["times"].tolist() == [7, 5, 20, 791]


def test_judgements_are_stored_at_once_and_survive_a_refresh(own):
    page = show(own, "Precision")
    assert figures(page)["Precision"] == "–"
    assert progress(page) == "0 of 2"
    checked(page.button(key="check_accepted").click().run())
    [decision] = own.decisions("check")
    assert (decision.verdict, decision.surface, decision.source) in {
        ("accepted", "gout", "Disease.txt"),
        ("accepted", "Lead", "Chemical.txt"),
    }
    again = show(own, "Precision")  # a new visit
    assert progress(again).startswith("1 of 2, so far 100 % right [21–100]")
    checked(again.button(key="check_rejected").click().run())
    assert progress(again).startswith("2 of 2, so far 50 % right")
    assert again.success[0].value == "The sample is judged."
    assert figures(again)["Precision (estimate)"] == "50.0 %"


def test_a_judgement_can_be_undone_and_made_again(own):
    page = show(own, "Precision")
    assert page.button(key="check_back").disabled
    first = texts(page)
    page.button(key="check_unsure").click().run()
    assert texts(page) != first
    checked(page.button(key="check_back").click().run())
    assert own.decisions("check") == []
    assert texts(page) == first


def test_an_undone_match_is_shown_again_before_earlier_open_ones(sample):
    sample.remove_gold()
    page = show(sample, "Precision")
    last = state.sample(sample, 50).iloc[-1]
    state.judge(sample, last, "accepted")
    checked(page.run())
    page.button(key="check_back").click().run()
    assert f"Phrase “{last['phrase']}” of {last['dictionary']}" in captions(page)


def test_a_judged_sample_can_be_extended(sample):
    sample.remove_gold()
    for _, match in state.sample(sample, 50).iterrows():
        state.judge(sample, match, "accepted")
    page = show(sample, "Precision")
    assert progress(page).startswith("51 of 51, so far 100 % right")
    checked(page.button(key="check_more").click().run())
    assert progress(page).startswith("51 of 101")


def test_buttons_have_keyboard_shortcuts(own):
    page = show(own, "Precision")
    keys = ("check_accepted", "check_rejected", "check_unsure", "check_back")
    assert [page.button(key=key).proto.shortcut for key in keys] == ["y", "n", "u", "b"]


def test_a_sample_can_be_judged_in_addition_to_gold(sample):
    page = show(sample, "Precision")
    checked(page.button(key="check_accepted").click().run())
    assert progress(page).startswith("1 of 51")
    assert figures(page)["Precision"] == "97.1 %"  # from gold, not from one judgement
