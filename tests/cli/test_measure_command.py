"""`glossa measure`: items to judge in a file, answers from a file, and the estimate."""

import csv

import pytest

import glossa
from engine import jobs
from engine.cli.command_line import main
from engine.projects.workspace import create_project
from tests.support.finished_runs import finish_run, make_project

# What Conf-MPU finds: gout and chronic kidney disease are right, Nothing is wrong; Lead is missed.
RIGHT = {"gout": "y", "chronic kidney disease": "Yes", "Nothing": "0"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    made = make_project()
    finish_run(made)
    return made


def items(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def answered(row):
    if row["type"]:
        name = row["text"].partition("[")[2].partition("]")[0]
        return {**row, "answer": RIGHT[name]}
    return {**row, "answer": "1" if "Lead" in row["text"] else "0"}


def test_items_are_judged_in_a_file_and_give_an_estimate(project, tmp_path, capsys):
    path, command = tmp_path / "items.csv", ["measure", "--project", project.id]
    assert main([*command, "--items", str(path)]) == 0
    out = capsys.readouterr().out
    assert "No method is judged enough." in out and "items about Conf-MPU" in out
    rows = items(path)
    assert {row["text"] for row in rows if row["type"]} and not any(row["answer"] for row in rows)
    assert any("[gout] and [chronic kidney disease]" in row["text"] for row in rows)
    write(path, [answered(row) for row in rows])
    assert main([*command, "--answers", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"Stored {len(rows)} answers about Conf-MPU." in out
    # Everything is judged, so the estimate is exact.
    assert out.count("66.7 % (66.7 % to 66.7 %)") == 3
    table = glossa.measure(project).set_index("method")
    assert (
        table.loc["conf_mpu", ["precision", "recall", "f1"]].tolist() == [pytest.approx(2 / 3)] * 3
    )
    assert table.loc["conf_mpu", "judged"] == len(rows) and table.loc["conf_mpu", "to_judge"] == 0
    assert table.loc["mpu", "judged"] == 0 and table["f1"].isna().tolist() == [False, True]


def test_rows_without_an_answer_are_left_for_later(project, tmp_path):
    path = tmp_path / "items.csv"
    assert main(["measure", "--project", project.id, "--items", str(path), "--method", "mpu"]) == 0
    first, *others = items(path)
    write(path, [{**first, "answer": "u"}, *others])
    command = ["measure", "--project", project.id, "--answers", str(path), "--method", "mpu"]
    assert main(command) == 0
    assert [d.verdict for d in project.decisions("measure")] == ["unsure"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "maybe"}, 'the answer "maybe" is not one of '),
        ({"answer": "y", "type": ""}, "was not asked about"),
        ({"answer": "1", "start": "x"}, "items.csv, line 2: start and end are whole numbers"),
    ],
)
def test_a_wrong_answer_is_named_and_nothing_is_stored(project, tmp_path, capsys, change, message):
    path = tmp_path / "items.csv"
    assert main(["measure", "--project", project.id, "--items", str(path)]) == 0
    rows = sorted(items(path), key=lambda row: not row["type"])  # an entity first
    write(path, [{**rows[0], **change}, *map(answered, rows[1:])])
    assert main(["measure", "--project", project.id, "--answers", str(path)]) == 2
    assert message in capsys.readouterr().err
    assert project.decisions("measure") == []


def test_a_passage_is_not_simply_right(project, tmp_path, capsys):
    path = tmp_path / "items.csv"
    assert main(["measure", "--project", project.id, "--items", str(path)]) == 0
    passage = next(row for row in items(path) if not row["type"])
    write(path, [{**passage, "answer": "y"}])
    assert main(["measure", "--project", project.id, "--answers", str(path)]) == 2
    assert 'the answer "y" is not one of 0 to 9, or u' in capsys.readouterr().err


def test_other_files_runs_and_methods_are_refused(project, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("document,start,end\nnotes,0,1\n", encoding="utf-8")
    command = ["measure", "--project", project.id]
    [run] = jobs.list_jobs(project, "train")
    for more, message in (
        (["--answers", str(other)], "other.csv has no column type"),
        (["--method", "bnpu"], f"run {run.id} has no bnpu; it has conf_mpu, mpu"),
        (["--run", "nothing"], "nothing"),
    ):
        assert main([*command, *more]) == 2
        assert message in capsys.readouterr().err


def test_without_a_run_there_is_nothing_to_judge(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    project = create_project("Empty")
    assert main(["measure", "--project", project.id]) == 2
    assert "no finished run, so there is nothing to judge" in capsys.readouterr().err
    with pytest.raises(glossa.InputError, match="nothing to judge"):
        glossa.measure(project)
    with pytest.raises(glossa.InputError, match='no run "x"'):
        glossa.measure(project, run="x")
    assert glossa.advice(project) == ""
