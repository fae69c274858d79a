import pytest

from engine import jobs
from engine.export.choice import (
    DICTIONARY,
    GOLD,
    REVIEWED,
    RUN,
    EntitySets,
    ExportChoice,
    choose_entities,
    count_entities,
    default_method,
    default_run,
    filter_entities,
    methods_with_entities,
    offered,
    runs_with_entities,
    with_known,
)
from engine.export.selection import Selection
from engine.files.sources import SourceFile
from engine.text.model import InputError
from tests.support.finished_runs import end_job, finish_run, make_project, record_f1


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return make_project()


def choose(project, what, job=None, method=""):
    sets = EntitySets(project, project.corpus())
    choice = ExportChoice(what, job.id if job else "", method)
    return sets, choice, choose_entities(sets, choice, job)


def surfaces(project, chosen):
    texts = {document.id: document.text for document in project.corpus().documents}
    return [
        texts[id][e.start : e.end] for id, entities in chosen.entities.items() for e in entities
    ]


def test_sets_are_offered_with_the_most_complete_first():
    everything = dict.fromkeys(("has_run", "has_decisions", "has_dictionary", "has_gold"), True)
    assert offered(**everything) == [RUN, REVIEWED, DICTIONARY, GOLD]
    assert offered(**everything | {"has_run": False, "has_gold": False}) == [REVIEWED, DICTIONARY]


def test_only_methods_that_found_something_are_offered(project):
    jobs.create(project, jobs.TrainRequest(preset="quick"))
    assert runs_with_entities(project) == [] and default_run([]) is None
    job = finish_run(project, {"mpn": [("gout", "Disease", 0.9)], "conf_mpu": []})
    assert runs_with_entities(project) == [job]
    assert methods_with_entities(job) == ["conf_mpu", "mpn"]


def test_default_run_is_the_latest_done_else_the_latest(project):
    first, second = finish_run(project), finish_run(project)
    assert default_run([second, first]) == second
    second = end_job(project, second, "cancelled")
    assert default_run([second, first]) == first
    assert default_run([second]) == second


@pytest.mark.parametrize(
    ("f1", "method"),
    [
        ({}, "conf_mpu"),
        ({"conf_mpu": 0.5, "mpu": 0.5}, "conf_mpu"),
        ({"conf_mpu": 0.5, "mpu": 0.6}, "mpu"),
        ({"mpu": None}, "conf_mpu"),
        ({"dictionary": 0.9, "mpu": 0.1}, "mpu"),
    ],
)
def test_default_method_has_the_best_f1_else_the_most_trust(project, f1, method):
    job = finish_run(project)
    if f1:
        record_f1(project, job.id, f1)
    assert default_method(project, job) == method


def test_a_method_that_learned_from_gold_is_no_default(project):
    job = finish_run(project, {"mpn": [], "supervised": []})
    record_f1(project, job.id, {"mpn": 0.4, "supervised": 0.9})
    assert default_method(project, job) == "mpn"
    assert default_method(project, finish_run(project, {"supervised": []})) == "supervised"


def test_entities_whose_text_is_gone_are_left_out_and_counted(project):
    job = finish_run(project)
    assert choose(project, RUN, job, "conf_mpu")[2].note == ""
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("notes.txt", b"He had gout and chronic.\n")])
    chosen = choose(project, RUN, job, "conf_mpu")[2]
    assert (surfaces(project, chosen), chosen.lost) == (["gout"], 2)
    assert chosen.note == "2 entities left out: their text is no longer in the project"
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("other.txt", b"He had gout.\n")])
    assert choose(project, RUN, job, "mpu")[2].lost == 2


def test_one_entity_is_reported_in_the_singular(project):
    job = finish_run(project, {"mpn": [("Nothing", "Chemical", 0.5)]})
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("notes.txt", b"He had gout.\n")])
    note = choose(project, RUN, job, "mpn")[2].note
    assert note == "1 entity left out: its text is no longer in the project"


def test_an_entity_whose_text_is_gone_does_not_displace_a_match(project):
    job = finish_run(project, {"mpn": [("gout and chronic kidney", "Disease", 0.5)]})
    project.remove_text(project.text_files()[0].id)
    project.add_text([SourceFile("notes.txt", b"He had gout.\n")])
    chosen = choose(project, REVIEWED, job, "mpn")[2]
    assert (surfaces(project, chosen), chosen.lost) == (["gout"], 1)


def test_reviewed_entities_need_no_run(project):
    project.add_decision("review", "notes", 40, 44, "Chemical", "rejected", surface="Lead")
    assert surfaces(project, choose(project, REVIEWED)[2]) == ["gout"]


def test_filters_apply_after_the_choice_and_known_phrases_are_marked(project):
    job = finish_run(project)
    sets, _, chosen = choose(project, RUN, job, "conf_mpu")
    assert chosen.types == ["Chemical", "Disease"]
    narrow = ExportChoice(RUN, job.id, "conf_mpu", Selection(types=("Disease",)))
    corpus = with_known(sets, narrow, filter_entities(sets, narrow, chosen))
    assert count_entities(corpus) == 2
    assert [entity.in_dictionary for entity in corpus.entities["notes"]] == [True, False]


def test_missing_gold_is_an_error(project):
    with pytest.raises(InputError, match="has no gold"):
        choose(project, GOLD)
