import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.cli.command_line import main
from engine.experiment import Run, predict
from engine.files.sources import read_source
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.formats.reading import read_corpus
from engine.formats.writing import write_corpus
from engine.learning import training_data
from engine.learning.assembly import make_inputs, make_tagger
from engine.learning.training_data import TrainingData
from engine.network.pretrained import open_pretrained
from engine.runs import prediction
from engine.runs.saved import load_run, save_run
from engine.settings import Settings

ROOT = Path(__file__).parents[2]
TYPES = ("Chemical", "Disease")
SETTINGS = Settings(method="mpn", word_vectors="none", hidden_size=8, character_size=8)
WRITABLE = [name for name, format in FORMATS.items() if format.write]
OPTIONS = {
    "entities": ["--essential", "--excel"],
    "tokens": ["--excel"],
    "label_studio": ["--utf16-offsets"],
}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A run that was never trained: it finds many entities, and the same ones every time."""
    folder = tmp_path_factory.mktemp("run") / "mpn-seed0"
    data = TrainingData([["a"]], np.zeros(1, np.int16), TYPES)
    inputs = make_inputs(data, SETTINGS, torch.device("cpu"))
    tagger = make_tagger(inputs, 3, SETTINGS, 0, torch.device("cpu"))
    run = Run(
        SETTINGS, TYPES, np.array([0.8, 0.1, 0.1]), (tagger,), None, open_pretrained(SETTINGS), ()
    )
    save_run(folder, run, data=data)
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Three files: repeated ids, ids that some formats cannot hold, given tokens."""
    folder = tmp_path_factory.mktemp("texts")
    lines = (ROOT / "sample_data" / "score.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines[:6]]
    odd = [
        {"id": id, "text": "Fever 😀 came\nback."} for id in ("a\nb", "a b", "x|y", "x_y", "a b")
    ]
    written = "\n".join(json.dumps(record) for record in [*records, *odd, {"id": 7, "text": " "}])
    (folder / "new.jsonl").write_text(written, encoding="utf-8")
    (folder / "rows.csv").write_text("id,text\n7,Aspirin helped.\n8,\n7,It did\u00a0not.\n")
    (folder / "tokens.conll").write_text("# doc_id = 7\n5\u00a0mg O\nof O\naspirin B-Chemical\n")
    return [str(folder / name) for name in ("new.jsonl", "rows.csv", "tokens.conll")]


@pytest.fixture(params=[200_000, 30])
def tokens_at_once(request, monkeypatch):
    monkeypatch.setattr(training_data, "_TOKENS_AT_ONCE", request.param)


def at_once(run_folder, texts, path, format, arguments):
    """The file and notes that the command would give with all text in memory."""
    trained = load_run(run_folder)
    corpus = read_corpus([read_source(text) for text in texts])
    entities = {}
    for group in training_data.groups(corpus.documents):
        entities |= prediction.predict(trained, group, run_folder.name)
    options = WriteOptions(
        *(f"--{o}" in arguments for o in ("essential", "excel", "utf16-offsets"))
    )
    report = write_corpus(replace(corpus, entities=entities), path, format, options)
    notes = [*corpus.notes, *(f"{path.name}: {note}" for note in report.notes)]
    return path.read_bytes(), [f"note: {note}" for note in notes], report.rows


def command(capsys, run_folder, texts, path, *arguments):
    code = main(["predict", "--run", str(run_folder), *texts, "--out", str(path), *arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return path.read_bytes(), [line for line in err.splitlines() if line.startswith("note: ")], out


@pytest.mark.usefixtures("tokens_at_once")
@pytest.mark.parametrize("format", WRITABLE)
def test_the_file_equals_one_written_at_once(capsys, run_folder, texts, tmp_path, format):
    for arguments in ([], OPTIONS.get(format, [])):
        expected, notes, rows = at_once(run_folder, texts, tmp_path / "out", format, arguments)
        (tmp_path / "out").unlink()
        written, told, out = command(
            capsys, run_folder, texts, tmp_path / "out", "--format", format, *arguments
        )
        assert written == expected
        assert sorted(told) == sorted(notes)
        assert out == f"\nWrote {rows:,} rows to {tmp_path / 'out'}.\n"


@pytest.mark.parametrize("format", WRITABLE)
@pytest.mark.parametrize("finds", [lambda id: False, lambda id: id == "x_y"], ids=["none", "one"])
def test_a_file_that_begins_without_entities_equals_one_written_at_once(
    capsys, monkeypatch, run_folder, texts, tmp_path, format, finds
):
    def find_little(trained, documents, run_id):
        predicted = predict(trained, documents, run_id)
        return {id: entities if finds(id) else () for id, entities in predicted.items()}

    monkeypatch.setattr(prediction, "predict", find_little)
    monkeypatch.setattr(training_data, "_TOKENS_AT_ONCE", 30)
    expected, *_ = at_once(run_folder, texts, tmp_path / "out", format, [])
    written, *_ = command(capsys, run_folder, texts, tmp_path / "out", "--format", format)
    assert written == expected


def test_a_format_that_cannot_be_streamed_is_written_too(
    capsys, monkeypatch, run_folder, texts, tmp_path
):
    expected, *_ = at_once(run_folder, texts, tmp_path / "out", "jsonl", [])
    monkeypatch.setitem(FORMATS, "jsonl", replace(FORMATS["jsonl"], write_each=None))
    written, *_ = command(capsys, run_folder, texts, tmp_path / "out", "--format", "jsonl")
    assert written == expected


def test_what_was_read_is_printed_before_the_first_prediction(
    capsys, monkeypatch, run_folder, texts, tmp_path
):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(prediction, "predict", fail)
    code = main(["predict", "--run", str(run_folder), *texts, "--out", str(tmp_path / "e.csv")])
    err = capsys.readouterr().err
    assert code == 130
    assert 'read: rows.csv: table, utf-8, delimiter ",", text in "text"' in err
    assert "note: rows.csv: 1 rows without text left out" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": " "}\n{"text": "\\n"}\n', "holds no words to label."),
        ("a.csv", "doc_id,start,end,label\nd,0,5,Sign\n", "holds entities but not the texts"),
        ("a.jsonl", '{"text": "a"}\nnot json\n', "a.jsonl line 2: not valid JSON"),
    ],
)
def test_bad_texts_leave_the_old_file_unchanged(
    capsys, run_folder, tmp_path, name, content, message
):
    (tmp_path / name).write_text(content)
    (tmp_path / "e.csv").write_text("old")
    code = main(["predict", "--run", str(run_folder), str(tmp_path / name), "--out",
                 str(tmp_path / "e.csv")])  # fmt: skip
    assert code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert (tmp_path / "e.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_the_result_can_be_written_to_a_pipe(run_folder, texts):
    done = subprocess.run(
        [sys.executable, "-m", "engine", "predict", "--run", run_folder, texts[1], "--format",
         "jsonl", "--out", "/dev/stdout"],
        capture_output=True, check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    assert [record["id"] for record in records] == ["7", "7~2"]
