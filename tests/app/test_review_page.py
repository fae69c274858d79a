import pytest

from engine import jobs
from engine.dictionaries.model import Phrase
from engine.projects.project import Project
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.finished_runs import FOUND, finish_run, make_project
from tests.support.pages import checked, open_page, progress
from ui.state import review_setup
from ui.views.review import state as state


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def reviewed(project):
    finish_run(project)
    return project


def show(project, **query):
    page = open_page("review", project.id, **query).run()
    return checked(page)


def press(page, key):
    return checked(page.button(key=key).click().run())


def choose(page, order):
    return checked(named(page.selectbox, "Queue").set_value(order).run())


def named(widgets, label):
    return next(widget for widget in widgets if widget.label == label)


def card(page):
    shown = next(element.value for element in page.html if 'class="gl-card"' in element.value)
    return shown.partition("<mark")[2].partition(">")[2].partition("</mark>")[0]


def verdicts(project):
    return [(d.surface, d.entity_type, d.verdict) for d in project.decisions("review")]


def test_page_says_what_is_missing_before_there_is_anything():
    page = show(create_project("Empty"))
    assert any("There is no text" in element.value for element in page.html)
    assert not page.tabs


def test_without_a_run_matches_of_the_dictionaries_can_be_reviewed(project):
    page = show(project)
    assert any("none is trained yet" in element.value for element in page.html)
    page = choose(page, "random")
    assert progress(page) == "0 of 2"
    press(page, "review_accept")
    assert len(project.decisions("review")) == 1


def test_card_shows_the_item_and_every_opinion(reviewed):
    page = choose(show(reviewed), "uncertain")
    assert card(page) == 'Nothing<span class="gl-type">Chemical</span>'
    opinions = next(
        element.value
        for element in page.html
        if "gl-opinions" in element.value and "<th>" in element.value
    )
    assert opinions.index("Conf-MPU") < opinions.index("MPU</th>") < opinions.index("Dictionary")
    assert "0.55" in opinions and "nothing here" in opinions
    assert "does not know the phrase" in opinions
    assert any("Found only here" in element.value for element in page.caption)


def test_every_decision_is_stored_at_once_and_the_next_item_comes(reviewed):
    page = choose(show(reviewed), "uncertain")  # Nothing .55, chronic … .7, kidney … .8, gout .99
    page = press(page, "review_reject")
    assert verdicts(reviewed) == [("Nothing", "Chemical", "rejected")]
    assert progress(page) == "1 of 4, 0 % accepted"
    page = press(page, "review_accept")
    # Accepting "chronic kidney disease" settles "kidney disease".
    assert progress(page) == "3 of 4, 50 % accepted"
    assert card(page).startswith("gout")
    page = press(page, "review_skip")
    assert progress(page) == "4 of 4, 50 % accepted, 1 skipped"
    assert any("All items of this queue are done" in element.value for element in page.html)


def test_skipped_items_can_be_shown_again_and_skipped_again(reviewed):
    page = choose(show(reviewed), "uncertain")
    for _ in range(4):
        page = press(page, "review_skip")
    page = press(page, "review_ask_again")
    assert card(page).startswith("Nothing") and progress(page) == "0 of 4, 4 skipped"
    page = press(page, "review_skip")
    assert card(page).startswith("chronic kidney disease")
    page = press(page, "review_undo")  # undoes its second skip, so the first is in force
    page = press(page, "review_accept")
    assert verdicts(reviewed)[-1] == ("Nothing", "Chemical", "accepted")


def test_more_items_can_be_loaded_at_the_end(reviewed, monkeypatch):
    monkeypatch.setattr(review_setup, "SIZES", (1, 3))
    reviewed.set_choice("review", {"order": "uncertain", "size": 1})
    page = press(show(reviewed), "review_reject")
    assert page.button(key="review_more").label == "Take 2 more"
    page = press(page, "review_more")
    assert progress(page) == "1 of 3, 0 % accepted"
    assert named(page.number_input, "Items").value == 3 and not page.warning


def test_a_refreshed_page_continues_where_it_was(reviewed):
    page = press(choose(show(reviewed), "uncertain"), "review_accept")
    again = show(reviewed)
    assert named(again.selectbox, "Queue").value == "uncertain"
    assert card(again) == card(page) and progress(again) == progress(page)


def test_undo_reverts_one_decision_after_the_other(reviewed):
    page = choose(show(reviewed), "uncertain")
    assert page.button(key="review_undo").disabled
    page = press(press(page, "review_accept"), "review_accept")
    page = press(page, "review_undo")
    assert verdicts(reviewed) == [("Nothing", "Chemical", "accepted")]
    press(page, "review_undo")
    assert verdicts(reviewed) == []


def test_a_type_can_be_changed_by_its_key(reviewed):
    page = choose(show(reviewed), "uncertain")
    buttons = {page.button(key=f"review_type_{i}").label: page.button(key=f"review_type_{i}")
               for i in (1, 2)}  # fmt: skip
    assert list(buttons) == ["Chemical", "Disease"]
    assert buttons["Chemical"].disabled  # it has that type already
    assert page.button(key="review_type_2").proto.shortcut == "2"
    press(page, "review_type_2")
    decision = reviewed.decisions("review")[0]
    assert (decision.verdict, decision.new_type) == ("edited", "Disease")
    assert (decision.new_start, decision.new_end) == (decision.start, decision.end)


def test_words_can_be_added_and_left_out(reviewed):
    page = choose(show(reviewed), "uncertain")
    page = press(press(page, "review_reject"), "review_edit_button")  # chronic kidney disease
    page = press(page, "review_start_later")
    page = press(page, "review_end_later")
    page = press(page, "review_end_earlier")
    press(page, "review_save")
    decision = reviewed.decisions("review")[-1]
    text = reviewed.corpus().documents[0].text
    assert decision.surface == "chronic kidney disease"
    assert text[decision.new_start : decision.new_end] == "kidney disease"
    assert decision.new_type == "Disease"


def test_an_edit_can_be_cancelled_and_an_unchanged_one_accepts(reviewed):
    page = choose(show(reviewed), "uncertain")
    page = press(press(page, "review_edit_button"), "review_cancel")
    assert verdicts(reviewed) == [] and page.button(key="review_accept")
    press(press(page, "review_edit_button"), "review_save")
    assert verdicts(reviewed) == [("Nothing", "Chemical", "accepted")]


def test_the_only_word_of_an_entity_cannot_be_removed(reviewed):
    page = press(choose(show(reviewed), "uncertain"), "review_edit_button")
    assert page.button(key="review_start_later").disabled
    assert page.button(key="review_end_earlier").disabled


def test_keys_are_shown_on_the_buttons(reviewed):
    page = show(reviewed)
    keys = {"accept": "y", "reject": "n", "edit_button": "e", "skip": "s", "undo": "z"}
    shown = {name: page.button(key=f"review_{name}").proto.shortcut for name in keys}
    assert shown == keys


def test_many_items_are_accepted_and_undone_at_once(reviewed):
    page = choose(show(reviewed), "uncertain")
    page = checked(page.slider(key="review_least_score").set_value(0.7).run())
    assert page.button(key="review_accept_many").label == "Accept 2 items"
    page = press(page, "review_accept_many")
    assert sorted(verdicts(reviewed)) == [
        ("chronic kidney disease", "Disease", "accepted"),
        ("gout", "Disease", "accepted"),
    ]
    press(page, "review_undo")
    assert verdicts(reviewed) == []


def test_candidates_become_a_new_version_of_the_dictionaries(reviewed):
    page = show(reviewed)
    page.session_state["review_tab"] = "Dictionary candidates"
    page = checked(page.run())
    page = checked(page.number_input(key="review_candidate_count").set_value(1).run())
    table = page.dataframe[0].value
    assert table["phrase"].tolist() == ["chronic kidney disease", "Nothing"]
    page.session_state["review_candidates"] = {"selection": {"rows": [0], "columns": []}}
    page = checked(page.run())
    page = press(page, "review_add_phrases")
    assert [d.name for d in reviewed.dictionaries()] == [
        "Disease.txt",
        "Chemical.txt",
        "From review",
    ]
    assert reviewed.dictionaries()[2].phrases == (Phrase("chronic kidney disease", "Disease"),)
    assert reviewed.dictionary_history()[0].reason == "1 phrase from review"
    assert any("version 2" in element.value for element in page.success)


def test_candidates_need_a_run(project):
    page = show(project)
    page.session_state["review_tab"] = "Dictionary candidates"
    page = checked(page.run())
    assert any("what a trained method finds" in element.value for element in page.html)


def test_decisions_are_listed(reviewed):
    page = press(choose(show(reviewed), "uncertain"), "review_type_2")
    page.session_state["review_tab"] = "Decisions"
    page = checked(page.run())
    row = page.dataframe[0].value.iloc[0]
    assert (row["verdict"], row["text"], row["changed"]) == ("Edited", "Nothing", "Disease")
    assert row["source"] == "Conf-MPU"


def test_training_again_uses_the_decisions_and_the_runs_settings(reviewed, monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda project, request: started.append(request))
    page = show(reviewed)
    assert page.button(key="review_train").disabled
    page = press(page, "review_accept")
    assert page.button(key="review_train").label == "Train again with 1 decision"
    page.button(key="review_train").click().run()
    assert len(started) == 1
    assert started[0].use_decisions and started[0].preset == "quick"
    assert started[0].methods == tuple(FOUND)


def test_page_says_when_a_run_is_older_than_the_dictionaries(reviewed):
    reviewed.save_dictionaries(reviewed.dictionaries()[:1], "less")
    page = show(reviewed)
    assert any("changed after this run" in element.value for element in page.caption)


def test_another_run_can_be_chosen(reviewed):
    finish_run(reviewed, {"mpn": [("Lead", "Chemical", 0.6)]})
    page = choose(show(reviewed), "uncertain")
    assert card(page).startswith("Lead")
    choice = named(page.selectbox, "Run")
    page = checked(choice.select(choice.options[1]).run())
    assert card(page).startswith("Nothing")


def test_a_decision_that_cannot_be_stored_is_explained_and_stays_open(reviewed, monkeypatch):
    page = choose(show(reviewed), "uncertain")

    def fail(*arguments, **options):
        raise InputError("the disk is full. Make room")

    monkeypatch.setattr(Project, "add_decisions", fail)
    page.button(key="review_accept").click().run()
    assert not page.exception
    assert page.error[0].value.replace("\\", "") == "The disk is full. Make room."
    assert card(page).startswith("Nothing")


def test_another_project_has_a_queue_of_its_own(reviewed):
    other = make_project(name="Other")
    finish_run(other)
    other.set_choice("review", {"order": "random", "size": 30})
    page = choose(show(reviewed), "uncertain")
    page.query_params["project"] = other.id
    page = checked(page.run())
    assert named(page.selectbox, "Queue").value == "random"
    assert named(page.number_input, "Items").value == 30


def test_a_stored_choice_that_no_longer_fits_is_ignored(reviewed):
    reviewed.set_choice("review", {"order": "best", "size": 99_999, "run": "gone"})
    page = show(reviewed)
    assert named(page.number_input, "Items").value == 1_000
