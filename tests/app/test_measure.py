"""Measuring a method without gold: judging in Review, and the estimate in Compare."""

import pytest

from engine.files.sources import SourceFile
from tests.support.finished_runs import finish_run, make_project
from tests.support.pages import checked, html, open_page

# What Conf-MPU finds: gout and chronic kidney disease are right, Nothing is wrong; Lead is missed.
ANSWERS = {"gout": "accepted", "chronic kidney disease": "accepted", "Nothing": "0", "Lead": "1"}
GOLD = (
    b"doc_id,start,end,text,label\nnotes,7,11,gout,Disease\n"
    b"notes,16,38,chronic kidney disease,Disease\nnotes,40,44,Lead,Chemical\n"
)


@pytest.fixture
def project():
    made = make_project()
    finish_run(made)
    return made


def show(project):
    page = open_page("review", project.id)
    page.session_state["review_tab"] = "Measure"
    return checked(page.run())


def press(page, key):
    return checked(page.button(key=key).click().run())


def marked(page):
    card = next(e.value for e in page.html if 'class="gl-document"' in e.value)
    return card.partition("<mark")[2].partition(">")[2].partition("<")[0]


def judge_all(page):
    """Answer every question as the text asks for."""
    for _ in range(20):
        if not any(button.key == "measure_unsure" for button in page.button):
            return page
        asks_entity = any(button.key == "measure_accepted" for button in page.button)
        shown = next(e.value for e in page.html if 'class="gl-document"' in e.value)
        verdict = ANSWERS[marked(page)] if asks_entity else "1" if "Lead" in shown else "0"
        page = press(page, f"measure_{verdict}")
    raise AssertionError("the questions do not end")


def test_answers_are_stored_at_once_and_give_an_estimate(project):
    page = show(project)
    assert "estimated" not in " ".join(metric.label for metric in page.metric)
    page = judge_all(page)
    stored = project.decisions("measure")
    assert {d.surface: d.verdict for d in stored if d.entity_type} == {
        name: ANSWERS[name] for name in ("gout", "chronic kidney disease", "Nothing")
    }
    # Everything is judged, so the estimate is exact: 2 of 3 found are right, 2 of 3 names found.
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Precision, estimated"] == shown["Recall, estimated"] == "67 %"
    assert shown["F1, estimated"] == "67 %"


def test_back_undoes_the_latest_answer(project):
    page = press(show(project), "measure_unsure")
    assert len(project.decisions("measure")) == 1
    press(page, "measure_back")
    assert not project.decisions("measure")


def test_answers_about_one_method_do_not_count_for_another(project):
    page = judge_all(show(project))
    method = next(widget for widget in page.selectbox if widget.label == "Method")
    page = checked(method.set_value("mpu").run())
    assert any(button.key == "measure_unsure" for button in page.button)
    page = press(page, "measure_0")
    # An answer about the same place for another run does not replace the first.
    assert len({d.source for d in project.decisions("measure")}) == 2
    sources = [d.source for d in project.decisions("measure")]
    assert sources.count(sources[0]) == 6


def test_measuring_is_no_review(project):
    judge_all(show(project))
    assert not project.review_effect(project.corpus().documents).accepted


def test_without_a_run_there_is_nothing_to_measure():
    assert "Nothing is trained yet" in html(show(make_project()))


def compare(project):
    return checked(open_page("compare", project.id).run())


def test_compare_shows_the_estimate_and_says_so(project):
    assert "Measure in Review" in str([link.proto for link in compare(project).get("page_link")])
    judge_all(show(project))
    text = html(compare(project))
    assert "F1, estimated (%)" in text and "F1, gold" not in text
    row = text.partition("F1, estimated (%)")[2].partition("</span>Conf-MPU</th>")[2]
    assert "66.7" in row.partition("</tr>")[0]


def test_compare_shows_estimate_and_gold_side_by_side(project):
    project.set_gold([SourceFile("gold.csv", GOLD)])
    judge_all(show(project))
    text = html(compare(project))
    assert "F1, gold" in text
    row = text.partition("F1, estimated (%)")[2].partition("</span>Conf-MPU</th>")[2]
    assert row.partition("</tr>")[0].count("66.7") >= 6


def test_no_button_shows_its_key_twice(project):
    page, seen = show(project), set()
    for _ in range(20):
        buttons = [button for button in page.button if button.key.startswith("measure_")]
        for button in buttons:
            seen.add(button.label)
            assert button.proto.shortcut.upper() not in button.label.upper().split()
        if not any(button.key == "measure_unsure" for button in buttons):
            break
        page = press(page, "measure_unsure")
    assert {"Three", "Wrong, three names"} <= seen


def test_the_keys_of_decide_do_nothing_while_a_person_judges(project):
    assert not [button for button in show(project).button if button.label.startswith("Accept")]
