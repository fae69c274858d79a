import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.command_line import main
from engine.cli.epoch_lines import EpochLines
from engine.learning.progress import Progress
from engine.learning.training import Epoch
from tests.support.waiting import LIMIT

SAMPLE = Path(__file__).parents[2] / "sample_data"
SMALL = ["--preset", "quick", "--set", "contextual_layer=0", "epochs=1", "confidence_epochs=1",
         "hidden_size=16"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve documents of the sample, its dictionaries, and one trained run per method."""
    folder = tmp_path_factory.mktemp("learning")
    lines = (SAMPLE / "train.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "text.jsonl").write_text("\n".join(lines[:12]), encoding="utf-8")
    code = main(["train", str(folder / "text.jsonl"), *dictionaries(), *gold(), *SMALL,
                 "--workers", "2", "--out", str(folder / "runs")])  # fmt: skip
    assert code == 0
    return folder


def dictionaries():
    return ["--dictionary", *map(str, sorted((SAMPLE / "dictionary").glob("*.txt")))]


def gold():
    return ["--gold", str(SAMPLE / "gold.csv")]


def read_rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_train_leaves_a_finished_run_of_each_method(folder):
    for method in ("mpn", "mpu", "conf_mpu"):
        card = json.loads((folder / "runs" / f"{method}-seed0" / "run.json").read_text())
        assert card["settings"]["method"] == method
        assert len(card["history"]) == 1
        assert card["scores"]["train"].keys() == {"precision", "recall", "f1"}
        assert (folder / "runs" / f"{method}-seed0" / "predictions.csv").exists()


def test_train_again_keeps_the_runs_and_prints_the_comparison(capsys, folder):
    weights = folder / "runs" / "mpn-seed0" / "tagger-0.safetensors"
    before = weights.stat().st_mtime_ns
    code, out, err = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *gold(), *SMALL,
                         "--out", folder / "runs")  # fmt: skip
    assert code == 0
    assert weights.stat().st_mtime_ns == before
    assert [line.split()[0] for line in out.split("against gold")[1].splitlines()[4:8]] == [
        "dictionary",
        "Conf-MPU",
        "MPU",
        "MPN",
    ]
    assert "epoch" not in err
    confidence = out.split("Confidence above 0.5, against gold, by token")[1].splitlines()
    assert [line.split()[0] for line in confidence[4:6]] == ["unlabeled", "all"]


def test_train_reports_epochs_as_plain_lines_in_a_pipe(capsys, folder, tmp_path):
    code, out, err = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *SMALL,
                         "--methods", "mpn", "--out", tmp_path / "runs")  # fmt: skip
    assert code == 0
    assert re.search(r"^MPN, training: epoch 1 of 1, risk .*, about 0 s to go$", err, re.M)
    assert "\r" not in err
    assert "these are counts and agreement, not accuracy" in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_train_has_a_bar_below_the_epochs_on_a_terminal(monkeypatch, folder, tmp_path):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    code = main(["train", str(folder / "text.jsonl"), *dictionaries(), *SMALL, "--methods",
                 "conf_mpu,mpn", "--workers", "1", "--out", str(tmp_path / "runs")])  # fmt: skip
    assert code == 0
    shown = terminal.getvalue()
    # Five rounds and an epoch of Conf-MPU, an epoch of MPN.
    assert re.search(r"Training: 100%.* 7/7 \[", shown)
    assert len(re.findall(r"epoch \d of [15], risk .*? s to go", shown)) == 7


def test_epochs_of_a_resumed_run_and_of_the_next_share_all_count(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    record = Epoch(1, 0.5, 0.25, 0.25, 0.0, 1.0, 100.0)
    with EpochLines(7) as lines:
        for number in (3, 4, 1, 2, 3):  # three of them were trained before; then another share
            lines(Progress("mpn", "training", replace(record, number=number), 4, 1.0))
    assert "7/7" in terminal.getvalue()


def test_train_shows_the_progress_of_the_frozen_encoder(capsys, folder, tmp_path):
    code, _, err = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *SMALL,
                       "contextual_layer=1", "is_suited_to_labels=no", "--methods", "mpn", "--out",
                       tmp_path / "r")  # fmt: skip
    assert code == 0
    assert re.search(r"^Encoding: [\d,]+ tokens done$", err, re.M)
    assert len(list((tmp_path / "r" / "cache").glob("features-*.npy"))) == 1


def test_tokens_that_an_encoder_cannot_read_whole_are_counted(capsys, folder, tmp_path):
    text = tmp_path / "text.jsonl"
    long = json.dumps({"id": "long", "text": "A tablet of " + "qzxw" * 20})
    text.write_text(f"{(folder / 'text.jsonl').read_text(encoding='utf-8')}\n{long}")
    settings = ["contextual_layer=1", "encoder_window=32", "encoder_stride=4"]
    code, _, err = run(capsys, "train", text, *dictionaries(), *SMALL, *settings, "--methods",
                       "mpn", "--out", tmp_path / "runs")  # fmt: skip
    note = "note: 1 token is too long for the encoder to read at once; it reads the beginning only"
    assert code == 0
    assert note in err
    code, _, err = run(capsys, "predict", "--run", tmp_path / "runs" / "mpn-seed0", text, "--out",
                       tmp_path / "e.csv")  # fmt: skip
    assert code == 0
    assert note in err


def interrupted(command, *, after):
    """Press Ctrl-C once `after` is printed; return the epochs of MPN reported until then."""
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    epochs = []
    for line in process.stderr:
        epochs += map(int, re.findall(r"^MPN, training: epoch (\d+)", line))
        if after(epochs):
            break
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "Finished epochs are kept; the same command goes on after them." in out
    assert "Traceback" not in err
    return epochs


def test_ctrl_c_keeps_the_finished_epochs_and_the_same_command_resumes(folder, tmp_path):
    command = [sys.executable, "-m", "engine", "train", str(folder / "text.jsonl"),
               *dictionaries(), "--preset", "quick", "--set", "epochs=100000", "hidden_size=16",
               "contextual_layer=0", "--workers", "2", "--methods", "mpn,mpu",
               "--out", str(tmp_path / "runs")]  # fmt: skip
    first = interrupted(command, after=lambda epochs: len(epochs) == 3)
    again = interrupted(command, after=lambda epochs: len(epochs) == 2)
    assert first == [1, 2, 3]
    assert again[0] > 3 and again[1] == again[0] + 1


def test_predict_writes_entities_of_new_text(capsys, folder, tmp_path):
    lines = (SAMPLE / "score.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "new.jsonl").write_text("\n".join(lines[:3]), encoding="utf-8")
    code, out, _ = run(capsys, "predict", "--run", folder / "runs" / "conf_mpu-seed0",
                       tmp_path / "new.jsonl", "--out", tmp_path / "e.csv")  # fmt: skip
    rows = read_rows(tmp_path / "e.csv")
    texts = {r["id"]: r["text"] for r in map(json.loads, lines[:3])}
    assert code == 0
    assert f"Wrote {len(rows):,} rows" in out
    for row in rows:
        assert texts[row["doc_id"]][int(row["start"]) : int(row["end"])] == row["text"]
        assert row["method"] == "conf_mpu"
        assert 0 <= float(row["score"]) <= 1


def test_curve_writes_a_point_for_every_cell_and_resumes(capsys, folder, tmp_path):
    arguments = ["curve", folder / "text.jsonl", *dictionaries(), *gold(), *SMALL, "--methods",
                 "mpn", "--fractions", "50,100", "--out", tmp_path / "curve.csv"]  # fmt: skip
    code, _, _ = run(capsys, *arguments)
    rows = read_rows(tmp_path / "curve.csv")
    assert code == 0
    assert [(r["fraction"], r["method"]) for r in rows] == [
        ("50", "dictionary"),
        ("50", "mpn"),
        ("100", "dictionary"),
        ("100", "mpn"),
    ]
    assert float(rows[0]["token_coverage"]) < float(rows[2]["token_coverage"])
    card = json.loads((tmp_path / "curve.csv.card.json").read_text())
    assert card["curve"]["fractions"] == [50, 100] and card["command"].startswith("glossa curve ")
    assert card["text"]["documents"] and card["dictionaries"]["fingerprint"]
    _, _, err = run(capsys, *arguments)
    assert "epoch" not in err  # every cell was there already


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "tau=0.5"], '"tau" is not a setting'),
        (["--set", "confidence_threshold=1.7"], "must be a number from 0 to 1, got 1.7"),
        (["--set", "epochs=many"], "--set: epochs must be a whole number from 1 to"),
        (["--set", "contextual_layer=1", "encoder_stride=127"], "encoder_stride do not fit"),
        (["--set", "contextual_layer=9"], "contextual_layer is 9, and minilm has 6 layers."),
        (["--methods", "best"], '"best" is not one of'),
        (["--methods", ","], "names none"),
        (
            ["--encoder", "transformer", "--set", "encoder_name=/no/such/folder"],
            "/no/such/folder",
        ),
    ],
)
def test_bad_settings_are_explained_in_one_sentence(capsys, folder, tmp_path, arguments, message):
    code, _, err = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *arguments,
                       "--workers", "1", "--out", tmp_path / "runs")  # fmt: skip
    assert code == 2
    assert message in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("glossa train: ")


def test_predict_without_a_run_is_explained_in_one_sentence(capsys, folder, tmp_path):
    code, _, err = run(capsys, "predict", "--run", tmp_path, folder / "text.jsonl", "--out",
                       tmp_path / "e.csv")  # fmt: skip
    assert code == 2
    assert "is not a finished run" in err


def test_fractions_are_checked(capsys, folder, tmp_path):
    code, _, err = run(capsys, "curve", folder / "text.jsonl", *dictionaries(), "--fractions",
                       "0,50", "--out", tmp_path / "c.csv")  # fmt: skip
    assert code == 2
    assert "--fractions takes whole numbers from 1 to 100" in err


def test_suggest_prints_likely_names_and_writes_all_of_them(capsys, folder, tmp_path):
    out_file = tmp_path / "names.csv"
    code, out, err = run(capsys, "suggest", folder / "text.jsonl", *dictionaries(), "--set",
                         "contextual_layer=0", "word_vectors=none", "--out", out_file)  # fmt: skip
    assert code == 0
    assert re.search(r"About \d+ unlabeled tokens are likely entities \(\d+\.\d % of the", out)
    assert "Estimating: 5 rounds done" in err
    assert "distinct words are labeled; a larger dictionary helps most" in err
    rows = read_rows(out_file)
    assert f"Wrote {len(rows):,} rows" in out
    assert list(rows[0]) == ["phrase", "entity_type", "margin", "places", "documents",
                             "confidence", "examples"]  # fmt: skip
    assert rows[0]["phrase"] in out and rows[0]["phrase"] in rows[0]["examples"]
    assert {row["entity_type"] for row in rows} <= {"Chemical", "Disease"}
    card = json.loads((tmp_path / "names.csv.card.json").read_text())
    assert card["what"] == "likely names that the dictionaries lack"
    assert card["settings"]["word_vectors"] == "none" and card["matching"] == "adaptive"


def test_suggest_lists_the_phrases_that_the_text_contradicts(capsys, folder, tmp_path):
    everyday = tmp_path / "Everyday.csv"
    everyday.write_text("phrase,type\nthe,Chemical\nwith,Disease\n", encoding="utf-8")
    code, out, err = run(capsys, "suggest", folder / "text.jsonl", *dictionaries(), everyday,
                         "--set", "contextual_layer=0")  # fmt: skip
    assert code == 0
    listed = out[out.index("Phrases that the text contradicts") :]
    assert re.search(r'"the" \(Chemical, \d+ matches, an everyday word\)', listed)
    assert "not used as labels" in err


def test_suggest_takes_no_gold(capsys, folder):
    with pytest.raises(SystemExit):
        main(["suggest", str(folder / "text.jsonl"), *dictionaries(), *gold()])
    assert "unrecognized arguments: --gold" in capsys.readouterr().err


def test_supervised_learns_from_gold_and_says_so(capsys, folder, tmp_path):
    code, out, _ = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *gold(), *SMALL,
                       "--methods", "supervised,mpn", "--out", tmp_path / "runs")  # fmt: skip
    assert code == 0
    assert "Supervised (on gold)" in out
    card = json.loads((tmp_path / "runs" / "supervised-seed0" / "run.json").read_text())
    other = json.loads((tmp_path / "runs" / "mpn-seed0" / "run.json").read_text())
    assert card["data_fingerprint"] != other["data_fingerprint"]


def test_supervised_without_gold_is_refused(capsys, folder, tmp_path):
    code, _, err = run(capsys, "train", folder / "text.jsonl", *dictionaries(), *SMALL,
                       "--methods", "supervised", "--out", tmp_path / "runs")  # fmt: skip
    assert code == 2
    assert "supervised learns from human labels, and there are none" in err


def test_train_compares_on_hidden_phrases(capsys, folder):
    command = ["train", folder / "text.jsonl", *dictionaries(), *SMALL, "--methods", "mpn,mpu",
               "--out", folder / "runs"]  # fmt: skip
    command[command.index("epochs=1")] = "epochs=2"
    code, out, err = run(capsys, *command, "--hide", "0.3")
    assert code == 0, err
    head = "Words of hidden phrases found again. This compares runs; it says more than you will"
    assert head in out
    assert re.search(r"(?m)^Take MP[NU]\.$", out)
    assert re.search(r"(?m)^MPU: (Try )?[0-9]+ epochs", out)
    assert not list(folder.glob("runs/*hidden*"))


def test_too_few_phrases_to_hide_are_a_note_and_a_wrong_share_is_refused(capsys, folder, tmp_path):
    few = tmp_path / "Disease.txt"
    few.write_text("pain\ntoxicity\ndisease\n")
    command = ["train", folder / "text.jsonl", "--dictionary", few, *SMALL, "--methods", "mpn",
               "--priors", "Disease=0.05", "--out", tmp_path / "runs"]  # fmt: skip
    code, out, err = run(capsys, *command, "--hide", "0.1")
    assert code == 0 and "note: not compared on hidden phrases: " in err
    assert "hidden phrases found again" not in out
    code, out, err = run(capsys, *command, "--hide", "2")
    assert code == 2
    assert err == (
        "glossa train: the share of phrases to hide is above 0 and at most 0.5, such as 0.1; "
        "got 2.\n"
    )
