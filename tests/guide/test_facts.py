"""The counts behind the checklist: right, cheap, and unknown where they are not known."""

import json

import pytest

from engine import jobs
from engine.export.choice import note_export
from engine.files.sources import SourceFile
from engine.guide import facts as facts_module
from engine.guide.facts import doubtful_phrases, project_facts, project_steps, skip_step
from engine.projects.labels import labels_of
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.finished_runs import finish_run, make_project, record_f1

# "He had gout and chronic kidney disease. Lead was found. Nothing else."


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


@pytest.fixture
def project():
    made = make_project()
    made.set_match_preset("balanced")  # in any case: lead and Lead
    return made


def test_an_empty_project_has_nothing():
    facts = project_facts(create_project("Empty"))
    assert (facts.sentences, facts.phrases, facts.matches, facts.methods) == (0, 0, None, 0)
    assert facts.train_seconds is None


def test_matches_and_doubtful_phrases_are_counted(project):
    facts = project_facts(project)
    assert (facts.sentences, facts.phrases, facts.matches) == (3, 2, 2)
    assert facts.doubtful == 1
    assert doubtful_phrases(project, labels_of(project)) == [("lead", "Chemical")]
    assert facts.train_seconds > 0 and not facts.is_time_measured


def test_abbreviations_of_three_letters_do_not_look_wrong():
    project = make_project(
        b"She had HCC, and K was low.\n",
        dictionaries={"Disease.txt": b"HCC\n", "Chemical.txt": b"K\n"},
    )
    assert doubtful_phrases(project, labels_of(project)) == [("K", "Chemical")]


def test_a_large_text_is_not_labeled_for_the_list(project, monkeypatch):
    monkeypatch.setattr(facts_module, "_SMALL_TOKENS", 1)
    assert project_facts(project).matches is None
    assert project_facts(project).doubtful is None
    labels_of(project)  # as a page does
    assert project_facts(project).matches == 2


def test_counts_are_kept_until_what_they_come_from_changes(project, monkeypatch):
    finish_run(project)
    first = project_facts(project)

    def fail(*arguments, **options):
        raise AssertionError("computed again")

    for name in ("labels_of", "stored_labels", "read_marks"):
        monkeypatch.setattr(facts_module, name, fail)
    assert project_facts(project) == first
    monkeypatch.undo()
    project.add_dictionaries([SourceFile("More.txt", b"kidney\n")], entity_type="Organ")
    assert project_facts(project).matches == 3


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"[" * 100_000, b'{"labels": 3}', b'{"disagreements": {"key": "", "value": []}}'],
)
def test_a_damaged_cache_is_ignored(project, content):
    finish_run(project)
    right = project_facts(project)
    (project.folder / "cache" / "guide.json").write_bytes(content)
    assert project_facts(project) == right


def test_kept_values_of_another_form_are_ignored(project):
    finish_run(project)
    right = project_facts(project)
    path = project.folder / "cache" / "guide.json"
    for value in ("x", [1], {"total": 2, "places": [["d", "1", 2, "T"]]}, {"total": "2"}):
        records = json.loads(path.read_bytes())
        for record in records.values():
            record["value"] = value
        path.write_text(json.dumps(records))
        assert project_facts(project) == right


def test_gold_is_known_from_files_and_from_the_text(project):
    assert not project_facts(project).has_gold
    project.set_gold([SourceFile("gold.csv", b"doc_id,start,end,label\nnotes,7,11,Disease\n")])
    assert project_facts(project).has_gold
    carried = create_project("Carried")
    carried.add_text([SourceFile("a.conll", b"He O\nhad O\ngout B-Disease\n")])
    assert project_facts(carried).has_gold


def test_a_scored_run_shows_that_there_is_gold(project, monkeypatch):
    monkeypatch.setattr(facts_module, "_SMALL_TOKENS", 1)
    job = finish_run(project)
    assert not project_facts(project).has_gold
    record_f1(project, job.id, {"mpu": 0.5})
    assert project_facts(project).has_gold


def test_disagreements_are_those_of_the_review_queue_and_shrink_with_decisions(project):
    finish_run(project)
    # Both find gout. "kidney disease" and "chronic kidney disease" overlap: two items. "Nothing" is
    # found by one of two methods, and "Lead" by the dictionary against both.
    before = project_facts(project).disagreements
    assert before == 4
    project.add_decision("review", "notes", 16, 38, "Disease", "accepted")  # settles both
    assert project_facts(project).disagreements == 2
    assert project_facts(project).reviewed == 1


def test_of_a_very_large_queue_only_the_number_is_kept(project, monkeypatch):
    monkeypatch.setattr(facts_module, "_MOST_PLACES", 2)
    finish_run(project)
    assert project_facts(project).disagreements == 4
    project.add_decision("review", "notes", 16, 38, "Disease", "accepted")
    assert project_facts(project).disagreements == 3  # at most: what else it settles is not known


def test_disagreements_in_a_very_large_text_are_not_counted(project, monkeypatch):
    monkeypatch.setattr(facts_module, "_MOST_TOKENS", 1)
    finish_run(project)
    assert project_facts(project).disagreements is None


def test_a_damaged_run_leaves_them_unknown(project):
    job = finish_run(project)
    (jobs.run_folder(job, "mpu") / "predictions.parquet").write_bytes(b"no parquet")
    assert project_facts(project).disagreements is None


def test_a_run_is_outdated_after_a_change(project):
    finish_run(project)
    assert not project_facts(project).is_outdated
    project.set_match_preset("loose")
    assert project_facts(project).is_outdated


def test_a_training_in_progress_is_noticed(project):
    jobs.create(project, jobs.TrainRequest(preset="quick"))
    assert project_facts(project).is_training


def test_judged_matches_count_and_unsure_ones_do_not(project):
    project.add_decision("check", "notes", 7, 11, "Disease", "accepted")
    project.add_decision("check", "notes", 40, 44, "Chemical", "unsure")
    assert project_facts(project).judged == 1


def test_an_export_is_remembered(project):
    assert not project_facts(project).is_exported
    note_export(project)
    assert project_facts(project).is_exported


def test_a_step_can_be_skipped(project):
    assert skip_step(project, "phrases").key == "precision"
    assert skip_step(project, "precision").key == "train"
    states = {step.key: step.state for step in project_steps(project)}
    assert states["phrases"] == states["precision"] == "skipped"


def test_a_step_that_is_needed_cannot_be_skipped(project):
    with pytest.raises(InputError, match="choose one of phrases, precision, review"):
        skip_step(project, "text")
