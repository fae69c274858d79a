import json
import re

import pytest

from engine import jobs
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.finished_runs import FOUND, TEXT, finish_run, make_project, record_hidden
from tests.support.pages import caption_text as captions
from tests.support.pages import caught_cards, checked, html, open_page
from ui.state import corpus
from ui.views.compare import runs, scores
from ui.views.compare.page import NO_GOLD

# "He had gout and chronic kidney disease. Lead was found. Nothing else."
GOLD = (
    b"doc_id,start,end,text,label\n"
    b"notes,7,11,gout,Disease\n"
    b"notes,16,38,chronic kidney disease,Disease\n"
    b"notes,40,44,Lead,Chemical\n"
)


@pytest.fixture
def project():
    made = make_project()
    finish_run(made)
    return made


@pytest.fixture
def gold_project(project):
    project.set_gold([SourceFile("gold.csv", GOLD)])
    return project


def show(project, tab="", **query):
    page = open_page("compare", project.id, **query)
    if tab:
        page.session_state["compare_tab"] = tab
    return checked(page.run())


def charts(page):
    """The figures, by their keys."""
    shown = [element.proto for element in page.get("plotly_chart")]
    return {name for proto in shown for name in str(proto.id).split("-") if "chart" in name}


def row(page, method, group="All types"):
    """The figures of a method in the table of scores, as text."""
    table = html(page).partition('<div class="gl-scores">')[2]
    part = table.partition(f">{group}</th>")[2]
    cells = part.partition(f"</span>{method}</th>")[2].partition("</tr>")[0]
    return [cell.partition("</td>")[0] for cell in cells.split("<td>")[1:]]


# ---- before there is anything ---------------------------------------------------------------


def test_page_says_what_to_do_before_anything_is_trained():
    page = show(create_project("Empty"))
    assert "Nothing is trained yet." in html(page)
    assert not page.tabs


def test_page_says_that_training_is_in_progress():
    made = make_project()
    jobs.create(made, jobs.TrainRequest(preset="quick"))
    assert "Training is in progress." in html(show(made))


# ---- without gold ---------------------------------------------------------------------------


def test_without_gold_there_are_counts_and_no_scores(project):
    page = show(project)
    assert page.info[0].value == NO_GOLD
    text = html(page)
    assert "F1" not in text and "Recall" not in text
    assert "<td>3</td>" in text  # what Conf-MPU finds
    assert "More is not always better" in captions(page)


def story(page):
    """The sentence above the tabs."""
    [text] = [e.value for e in page.main.html if e.value.startswith('<div class="gl-story"')]
    return re.sub("<[^>]*>", "", text)


def test_without_gold_the_page_says_which_method_to_take_and_claims_no_score(project):
    said = story(show(project))
    assert said.startswith("Take Conf-MPU: it keeps 50 % of the dictionary")
    assert "How many are right is not known without gold" in said


def test_with_gold_the_page_says_what_the_best_method_finds(gold_project):
    said = story(show(gold_project))
    assert said.startswith("Keep the dictionary for now (F1 80.0): no trained method is better.")
    assert "Conf-MPU: it finds 67 of 100 entities, and 67 of 100 that it marks are right" in said
    assert "There are only 3 gold entities: a rough guide." in said


def test_only_the_chosen_methods_are_recommended(gold_project):
    page = show(gold_project)
    page.pills[0].set_value(["gold", "mpu"]).run()
    assert story(checked(page)).startswith("Take MPU:")
    page.pills[0].set_value(["gold", "dictionary"]).run()
    assert story(checked(page)).startswith("Choose a trained method")


def test_without_gold_what_was_judged_is_counted_for_each_method(project):
    for start, end, verdict in ((7, 11, "accepted"), (16, 38, "rejected")):
        project.add_decision("review", "notes", start, end, "Disease", verdict)
    text = html(show(project))
    of_conf_mpu = text.partition("</span>Conf-MPU</th>")[2].partition("</tr>")[0]
    # Three entities (one Chemical, two Disease), mean score, two judged, half of them right.
    cells = [cell.partition("</td>")[0] for cell in of_conf_mpu.split("<td>")[1:]]
    assert cells[:5] == ["3", "1", "2", "0.75", "2"]
    assert cells[5].startswith("50.0 ")


def test_gold_can_be_left_out_of_the_comparison(gold_project):
    page = show(gold_project)
    page.pills[0].set_value(["dictionary", "mpu", "conf_mpu"]).run()
    assert checked(page).info[0].value == f"{NO_GOLD} You have gold, but it is not chosen."


def test_gold_that_cannot_be_read_is_explained_and_the_rest_still_works(project, monkeypatch):
    def fail(project):
        raise InputError("gold.csv is empty")

    monkeypatch.setattr(corpus, "gold", fail)
    page = open_page("compare", project.id).run()
    assert not page.exception
    assert page.error[0].value.replace("\\", "") == "gold.csv is empty."
    assert page.info[0].value == NO_GOLD


# ---- with gold ------------------------------------------------------------------------------


def test_scores_are_those_of_the_gold_and_the_best_is_bold(gold_project):
    page = show(gold_project)
    assert not page.info and not page.warning
    # Conf-MPU: two of three right.  MPU: one of two.  Dictionary: "gout" and "Lead", both right.
    precision, recall, f1, right, predicted, in_gold, mean = row(page, "Conf-MPU")
    assert precision.startswith("66.7 ") and recall.startswith("<b>66.7</b> ")
    assert f1.startswith("66.7 ")
    assert (right, predicted, in_gold, mean) == ("2", "3", "3", "0.75")
    assert row(page, "Dictionary")[0].startswith("<b>100.0</b> ")
    assert row(page, "Dictionary")[6] == "–"  # matches have no score
    assert row(page, "MPU", "Chemical")[0] == "–"  # it finds none


def test_a_method_that_learned_from_gold_is_never_the_best(gold_project):
    everything = [("gout", "Disease", 0.9), ("chronic kidney disease", "Disease", 0.9)]
    everything.append(("Lead", "Chemical", 0.9))
    finish_run(gold_project, {**FOUND, "supervised": everything})
    page = show(gold_project)
    shares = row(page, "Supervised (on gold)")[:3]
    assert all(share.startswith("100.0 ") for share in shares)
    assert row(page, "Conf-MPU")[1].startswith("<b>66.7</b> ")
    assert row(page, "Dictionary")[0].startswith("<b>100.0</b> ")
    assert "A method that learned from the gold is never the best." in captions(page)


def test_page_explains_how_intervals_are_computed(gold_project):
    assert "from 1,000 random resamples of the 3 sentences" in captions(show(gold_project))


def test_scores_of_another_type_can_be_shown(gold_project):
    page = show(gold_project)
    assert page.selectbox(key="compare_type").options == [
        "All types",
        "Chemical",
        "Disease",
        "Mean of types",
    ]
    checked(page.selectbox(key="compare_type").set_value("Disease").run())


def test_gold_for_some_documents_scores_only_those():
    made = make_project()
    made.add_text([SourceFile("more.txt", b"Lead again.\n")])
    finish_run(made)
    made.set_gold([SourceFile("gold.csv", GOLD)])
    page = show(made)
    said = page.warning[0].value.replace("\\", "")
    assert "Gold covers 1 of 2 documents. Scores use only those" in said
    assert row(page, "Dictionary")[4] == "2"  # the third match is in the other document


def test_page_says_that_gold_without_entities_cannot_score(project):
    record = {"id": "notes", "text": TEXT.decode(), "label": []}
    project.set_gold([SourceFile("gold.jsonl", json.dumps(record).encode())])
    assert show(project).info[0].value.startswith("The gold contains no entities")


# ---- the other tabs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tab, said",
    [
        ("Agreement", "Of all entities that at least one of the two methods finds"),
        ("Types", "Each entity of Gold counts once"),
        ("Certainty", "On the dotted line"),
    ],
)
def test_tabs_draw_their_figures(gold_project, tab, said):
    assert said in captions(show(gold_project, tab))


def test_tabs_need_no_gold(project):
    assert "Of all entities" in captions(show(project, "Agreement"))
    assert "Each entity of Dictionary counts once" in captions(show(project, "Types"))
    assert "Only gold can show" in captions(show(project, "Certainty"))


def test_one_method_alone_has_nothing_to_agree_with(project):
    page = show(project, "Agreement")
    page.pills[0].set_value(["mpu"]).run()
    assert "Choose a second method" in checked(page).info[-1].value
    page.pills[0].set_value([]).run()
    assert checked(page).info[0].value == "Choose at least one method."


def test_dictionary_matches_alone_have_no_scores(project):
    page = show(project, "Certainty")
    page.pills[0].set_value(["dictionary"]).run()
    assert "None of these gives scores" in checked(page).info[-1].value


# ---- sentences ------------------------------------------------------------------------------


def test_sentences_have_a_lane_for_each_method(gold_project):
    page = show(gold_project, "Sentences")
    text = html(page)
    assert "\nGold\nDictionary\nMPU\nConf-MPU\n" in text
    assert 'title="MPU: Disease, score 0.80"' in text
    # All but the second sentence, in which no trained method finds anything.
    assert "Sentences 1–2 of 2." in captions(page)


def test_sentences_can_be_chosen(gold_project):
    page = show(gold_project, "Sentences")
    kind = page.segmented_control[0]
    checked(kind.set_value("All").run())
    assert "Sentences 1–3 of 3." in captions(page)
    checked(page.segmented_control[0].set_value("Differ from gold").run())
    assert "Sentences 1–3 of 3." in captions(page)  # the trained methods miss "Lead"
    checked(page.multiselect(key="compare_types").set_value(["Chemical"]).run())
    assert "Sentences 1–2 of 2." in captions(page)
    checked(page.text_input(key="compare_search").set_value("LEAD was").run())
    assert "Sentences 1–1 of 1." in captions(page)
    checked(page.text_input(key="compare_search").set_value("nowhere").run())
    assert page.info[-1].value == "No sentence matches these filters."


def test_what_only_one_method_finds_can_be_chosen(gold_project):
    page = show(gold_project, "Sentences")
    checked(page.segmented_control[0].set_value("All").run())
    only = next(box for box in page.selectbox if box.label == "Only in")
    checked(only.set_value("Dictionary").run())
    assert "Sentences 1–1 of 1." in captions(page) and "Lead" in html(page)


def test_a_range_of_scores_can_be_chosen(gold_project):
    page = show(gold_project, "Sentences")
    checked(page.slider(key="compare_score").set_value((0.5, 0.6)).run())
    assert "Sentences 1–1 of 1." in captions(page) and "Nothing" in html(page)


def test_markup_in_the_text_is_shown_as_text():
    made = make_project(b"<script>alert(1)</script> and <img src=x> with gout.\n")
    finish_run(made, {"mpu": [("gout", "<b>Disease", 0.9)], "mpn": []})
    for tab in ("Overview", "Sentences", "Types", "Two runs"):
        text = html(show(made, tab))
        assert "<script" not in text and "<img" not in text and "<b>Disease" not in text
    assert "&lt;script&gt;" in html(show(made, "Sentences")).replace("</span>", "").replace(
        '<span class="gl-w">', ""
    ).replace("\u2060", "")


def test_disagreement_can_be_sent_to_review(project):
    run = jobs.list_jobs(project, "train")[0]
    page = show(project, "Sentences")
    page.button(key="compare_review").click().run()
    assert not page.exception
    chosen = project.choice("review")
    assert (chosen["run"], chosen["order"]) == (run.id, "disagreement")


# ---- several runs ---------------------------------------------------------------------------


def test_the_last_run_is_compared_and_others_can_be_added(project):
    finish_run(project, {"mpn": [("gout", "Disease", 0.5)]})
    page = show(project)
    assert "MPN" in html(page) and "Conf-MPU" not in html(page)
    older = jobs.list_jobs(project, "train")[1].id
    runs = page.multiselect[0]
    checked(runs.set_value([*runs.value, older]).run())
    page.pills[0].set_value(["dictionary", "mpn", "mpu", "conf_mpu"]).run()
    assert "MPN" in html(page) and "Conf-MPU" in html(page)


def test_the_address_can_ask_for_a_run(project):
    older = jobs.list_jobs(project, "train")[0].id
    finish_run(project, {"mpn": [("gout", "Disease", 0.5)]})
    assert "Conf-MPU" in html(show(project, run=older))
    assert "MPN" in html(show(project, run="gone"))


def test_runs_of_one_method_are_told_apart(project):
    finish_run(project, FOUND)
    page = show(project, "Sentences")
    runs = page.multiselect[0]
    ids = [job.id for job in jobs.list_jobs(project, "train")]
    checked(runs.set_value(ids).run())
    names = html(page).partition('<div class="gl-names" aria-hidden="true">')[2]
    lanes = names.partition("\n\n")[0].strip().split("\n")
    assert lanes == ["Dictionary", "MPU · 1", "Conf-MPU · 1", "MPU · 2", "Conf-MPU · 2"]
    assert "Runs 1: " in captions(page)


def test_page_says_how_many_sets_are_left_out_when_there_are_too_many(project):
    for _ in range(4):
        finish_run(project, FOUND)
    page = show(project)
    assert not page.warning
    ids = [job.id for job in jobs.list_jobs(project, "train")]
    checked(page.multiselect[0].set_value(ids).run())  # 5 runs of 2 methods, and the dictionary
    assert any("3 more are not shown" in warning.value for warning in page.warning)


def test_page_says_when_runs_used_other_dictionaries(project):
    project.add_dictionaries([SourceFile("Disease2.txt", b"kidney disease\n")])
    page = show(project)
    assert "uses the current dictionaries (v2)" in page.warning[0].value.replace("\\", "")
    finish_run(project, {"mpn": [("gout", "Disease", 0.5)]})
    page = show(project)
    runs = page.multiselect[0]
    checked(runs.set_value([job.id for job in jobs.list_jobs(project, "train")]).run())
    said = page.warning[0].value.replace("\\", "")
    assert "These runs learned from different dictionaries (v1 and v2)." in said


def test_page_says_when_the_text_of_a_run_is_gone(project):
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("other.txt", b"He had gout.\n")])
    page = show(project)
    said = page.warning[0].value.replace("\\", "")
    assert "The text has changed since this run." in said
    assert "3 entities of Conf-MPU lie outside the current text and are left out." in said


def test_two_runs_are_compared_entity_by_entity(gold_project):
    finish_run(gold_project, {"conf_mpu": [("gout", "Disease", 0.9), ("Lead", "Chemical", 0.8)]})
    page = show(gold_project, "Two runs")
    figures = {metric.label: metric.value for metric in page.metric}
    assert figures == {"In both": "1", "Gone": "2", "New": "1", "Other type": "0"}
    changed = next(table.value for table in page.dataframe if "context" in table.value)
    assert changed[["text", "before", "after", "gold"]].to_numpy().tolist() == [
        ["chronic kidney disease", "Disease", "", "Disease"],
        ["Lead", "", "Chemical", "Chemical"],
        ["Nothing", "Chemical", "", ""],
    ]
    assert " is higher in" in html(page)


def test_options_that_differ_between_two_runs_are_listed(project):
    project.add_dictionaries([SourceFile("Disease2.txt", b"kidney disease\n")])
    finish_run(project)
    page = show(project, "Two runs")
    options = next(table.value for table in page.dataframe if "option" in table.value)
    assert options.to_numpy().tolist() == [["dictionaries", "v1", "v2"]]


def test_two_sets_without_gold_have_no_scores_to_compare(project):
    page = show(project, "Two runs")
    assert page.info[-1].value == "Without gold there are no scores to compare."
    assert "The settings that both have are the same." in captions(page)


def test_the_command_trains_the_same_methods(project):
    words = show(project).code[-1].value.split()
    assert words == [
        *("glossa", "train", "--project", project.id),
        *("--preset", "quick", "--methods", "mpu,conf_mpu"),
    ]


# ---- hidden phrases -------------------------------------------------------------------------


def test_without_a_comparison_on_hidden_phrases_nothing_is_said_of_it(project):
    assert "hidden" not in html(show(project)).lower()


def test_hidden_phrases_choose_the_method_and_are_no_recall(project):
    [run] = jobs.list_jobs(project, "train")
    record_hidden(project, run.id, conf_mpu=0, mpu=2)
    page = show(project)
    assert "<b>Take MPU</b>" in html(page)
    assert "it finds 40 again, Conf-MPU 0" in html(page)
    assert [h.value for h in page.subheader][-1] == "Compared on hidden phrases"
    caution = "This compares runs; it says more than you will get on names your dictionary lacks."
    assert caution in captions(page) and caution in html(page)
    assert "Words found again" in html(page)


def test_hidden_phrases_suggest_how_many_epochs_to_train_for(project):
    [run] = jobs.list_jobs(project, "train")
    record_hidden(project, run.id, conf_mpu=0, mpu=2, epochs=2, after_epochs=(10, 40, 30))
    page = show(project)
    advice = "Try 2 epochs: after 2 of 3 it found 40 of the hidden words again, at the end 30."
    story, _, panel = html(page).partition('class="gl-story"')[2].partition("</div>")
    assert advice in story and f"MPU: {advice}" in panel
    assert "nothing is changed" in captions(page)


def test_gold_decides_before_hidden_phrases_do(gold_project):
    [run] = jobs.list_jobs(gold_project, "train")
    record_hidden(gold_project, run.id, conf_mpu=0, mpu=2)
    page = show(gold_project)
    assert "F1" in html(page) and "finds 40 again" not in html(page)
    assert "Words found again" in html(page)  # side by side with the scores


def test_another_run_that_finds_more_hidden_words_is_named(project):
    [before] = jobs.list_jobs(project, "train")
    record_hidden(project, before.id, conf_mpu=2, mpu=1)
    record_hidden(project, finish_run(project).id, conf_mpu=1, mpu=0)
    assert "Better: Conf-MPU of the run of " in html(show(project))


def test_the_downloads_have_cards(gold_project, monkeypatch):
    files = caught_cards(monkeypatch, scores)
    show(gold_project)
    name, _, facts = files["download_scores"]
    card = facts()
    assert name == "scores.csv" and card["what"] == "scores against gold"
    assert {run["method"] for run in card["runs"]} == {"mpu", "conf_mpu"}
    assert card["gold"] == gold_project.gold_key() and "Conf-MPU" in card["sets"]
    files = caught_cards(monkeypatch, runs)
    show(gold_project, "Two runs")
    card = files["download_changed"][2]()
    assert card["what"] == "entities that two sets do not share" and len(card["sets"]) == 2
