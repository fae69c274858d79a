"""What a person judged about a run, as scores of the project and at the command line."""

import numpy as np

from engine import jobs
from engine.cli import main
from engine.export import EntitySets, estimated_scores, measured_source, measured_units
from engine.run_folder import CONFIDENCE
from engine.scoring import PASSAGE
from tests.support.finished_runs import finish_run, make_project

# "He had gout and chronic kidney disease. Lead was found. Nothing else."
VERDICTS = {"gout": "accepted", "chronic kidney disease": "accepted", "Nothing": "0"}


def judged_project():
    project = make_project()
    job = finish_run(project)
    sets = EntitySets(project, project.corpus())
    units = measured_units(sets.corpus.documents, sets.predicted(job, "conf_mpu"), job)
    text = sets.corpus.documents[0].text
    for place in units.places:
        surface = text[place[1] : place[2]]
        missed = "1" if "Lead" in surface else "0"
        verdict = missed if place[3] == PASSAGE else VERDICTS[surface]
        source = measured_source(job, "conf_mpu")
        project.add_decision("measure", *place, verdict, source=source, surface=surface)
    return project, job, sets


def test_answers_of_a_project_give_scores_of_the_judged_method_only():
    _, job, sets = judged_project()
    scores = estimated_scores(sets, job, "conf_mpu")
    assert round(scores.precision.value, 3) == round(scores.recall.value, 3) == 0.667
    assert estimated_scores(sets, job, "mpu") is None


def test_export_prints_the_estimate(capsys, tmp_path):
    project, _, _ = judged_project()
    arguments = ["export", "--project", project.id, "--method", "conf_mpu"]
    assert main([*arguments, "--out", str(tmp_path / "a.csv")]) == 0
    said = capsys.readouterr().out
    assert "Estimated from 6 judgements: precision 66.7 % (66.7 % to 66.7 %), recall" in said
    assert main([*arguments[:-1], "mpu", "--out", str(tmp_path / "b.csv")]) == 0
    assert "Estimated" not in capsys.readouterr().out


def test_a_confidence_of_another_text_is_not_used():
    _, job, sets = judged_project()
    documents, found = sets.corpus.documents, sets.predicted(job, "conf_mpu")
    without = measured_units(documents, found, job)
    tokens = sum(len(sentence) for d in documents for sentence in d.sentences)
    path = jobs.run_folder(job, "conf_mpu") / CONFIDENCE
    np.save(path, np.full(tokens + 1, 0.5))
    other = measured_units(documents, found, job)
    assert [s.expected for s in other.strata] == [s.expected for s in without.strata]
    np.save(path, np.full(tokens, 0.5))
    own = measured_units(documents, found, job)
    assert [s.expected for s in own.strata] != [s.expected for s in without.strata]
