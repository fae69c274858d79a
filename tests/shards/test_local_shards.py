import errno
import json
import socket
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from engine.cli.command_line import main
from engine.dictionaries.model import fingerprint
from engine.dictionaries.reading import read_dictionaries
from engine.files.sources import SourceFile
from engine.settings import MATCH_PRESETS
from engine.shards import ray_workers
from engine.shards.executors import LocalExecutor
from engine.shards.jobs import label_shards, predict_shards
from engine.shards.shards import ShardOptions, find_shards
from engine.shards.tasks import LabelTask
from engine.shards.work import run_stage
from engine.text.model import InputError
from tests.support.full_disk import full_disk
from tests.support.sharding import (
    DeadlyTask,
    contents,
    make_dictionaries,
    make_shards,
    untrained_run,
    write_dictionaries,
)

STRICT = MATCH_PRESETS["strict"]


def label_here(texts, out, **options):
    options = ShardOptions(str(out), **options)
    return label_shards([str(texts)], make_dictionaries(), options, LocalExecutor())


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    return untrained_run(tmp_path_factory.mktemp("run") / "mpn-seed0")


# ---- one corpus -----------------------------------------------------------------------------


def test_shards_get_the_labels_and_the_report_of_the_whole_corpus(tmp_path, capsys):
    texts = make_shards(tmp_path / "texts", 60)
    dictionaries = ["--dictionary", *write_dictionaries(tmp_path / "dictionaries")]
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out"
    files = [str(path) for path in sorted(texts.iterdir())]
    assert main(["label", *files, *dictionaries, "--out", str(whole)]) == 0
    said_of_whole = capsys.readouterr().out
    assert main(["label", str(texts), *dictionaries, "--out", str(out), "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert b"".join(contents(out).values()) == whole.read_bytes()
    report = said[: said.index("\nWrote 60 of 60 shards")]
    assert "Matching, as the text decides" in report and "Conflicts" not in report
    assert said_of_whole.startswith(report.rstrip("\n"))


def test_the_report_names_never_lists_and_slow_patterns_like_one_machine(
    tmp_path, capsys, monkeypatch
):
    """The pattern is slow in one sentence of one shard, and would match in the others."""
    monkeypatch.setattr("engine.labels.patterns.SENTENCE_SECONDS", 0.05)
    texts = make_shards(tmp_path / "texts", 8)
    (texts / "part-0003.jsonl").write_text(json.dumps({"id": "x", "text": "a" * 200}) + "\n")
    (texts / "part-0004.jsonl").write_text('{"id": "y", "text": "Gout and aab, then ab."}\n')
    more = tmp_path / "Code.txt"
    more.write_text("re:(?:a|aa)+(?:b|c)\nre:no[.] [0-9]+\n")
    never = tmp_path / "never.txt"
    never.write_text("cold\nre:(?:a|aa)+(?:b|d)\nre:renal fail[a-z]+\nnowhere\n")
    given = write_dictionaries(tmp_path / "dictionaries")
    options = ["--dictionary", *given, str(more), "--never", str(never)]
    files = [str(path) for path in sorted(texts.iterdir())]
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out"
    assert main(["label", *files, *options, "--out", str(whole)]) == 0
    of_whole = capsys.readouterr()
    assert main(["label", str(texts), *options, "--out", str(out), "--workers", "1"]) == 0
    sharded = capsys.readouterr()
    report = sharded.out[: sharded.out.index("\nWrote 8 of 8 shards")]
    assert "Never an entity: 2 of 4 phrases in" in report
    assert of_whole.out.startswith(report.rstrip("\n"))
    notes = [
        [line for line in said.err.splitlines() if line.startswith("note: ")]
        for said in (of_whole, sharded)
    ]
    assert len(notes[1]) == 2 and "takes too long" in notes[1][0]
    assert notes[1] == [note for note in notes[0] if "takes too long" in note]
    assert b"".join(contents(out).values()) == whole.read_bytes()


def test_results_have_a_card(tmp_path, run_folder):
    texts = make_shards(tmp_path / "texts", 2)
    label_here(texts, tmp_path / "labels")
    card = json.loads((tmp_path / "labels" / "_glossa" / "card.json").read_text())
    assert card["what"] == "what the dictionaries match" and card["matching"] == "adaptive"
    assert card["texts"] == [str(texts)] and card["shards"] == 2 and card["glossa"]
    assert card["dictionaries"]["fingerprint"] == fingerprint(make_dictionaries())
    out = tmp_path / "entities"
    result = predict_shards([str(texts)], run_folder, ShardOptions(str(out)), LocalExecutor())
    card = json.loads((out / "_glossa" / "card.json").read_text())
    assert card["run"]["id"] == run_folder.name and card["run"]["method"] == "mpn"
    assert card["entities"] == result.report.entities
    again = label_here(texts, tmp_path / "labels")  # the card is no foreign file
    assert again.skipped == 2


def test_letter_case_is_decided_by_all_shards(tmp_path):
    """One shard alone has too few matches to tell that its drugs are words and no names."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for i in range(30):
        (texts / f"{i:02d}.txt").write_text("They took codeine and aspirin daily.")
    given = SourceFile("Chemical.txt", b"Aspirin\nLithium\nLead\ncodeine")
    options = ShardOptions(str(tmp_path / "out"))
    result = label_shards([str(texts)], read_dictionaries([given]), options, LocalExecutor())
    assert [(case.entity_type, case.is_free) for case in result.report.cases] == [
        ("Chemical", True)
    ]
    assert result.report.coverage.matches == 60


def test_prediction_by_shards_finds_what_one_command_finds(tmp_path, run_folder):
    texts, out = make_shards(tmp_path / "texts", 12), tmp_path / "out"
    files = [str(path) for path in sorted(texts.iterdir())]
    whole = tmp_path / "whole.jsonl"
    assert main(["predict", "--run", str(run_folder), *files, "--out", str(whole)]) == 0
    assert main(["predict", "--run", str(run_folder), str(texts), "--out", str(out),
                 "--workers", "1"]) == 0  # fmt: skip
    places = [
        [
            (record["id"], e["start"], e["end"], e["label"])
            for line in data.splitlines()
            for record in [json.loads(line)]
            for e in record["entities"]
        ]
        for data in (b"".join(contents(out).values()), whole.read_bytes())
    ]
    assert places[0] and places[0] == places[1]


def test_parquet_and_plain_text_are_read_and_parquet_is_written(tmp_path):
    texts, out = tmp_path / "texts", tmp_path / "out"
    (texts / "deep").mkdir(parents=True)
    table = pd.DataFrame({"id": ["a", "b"], "text": ["He took lithium.", "Nothing."]})
    table.to_parquet(texts / "deep" / "one.parquet")
    (texts / "two.txt").write_text("Lead is bad.")
    (texts / "readme.md").write_text("no shard")
    label_here(texts, out, format="parquet")
    assert sorted(contents(out)) == ["deep/one.parquet", "two.parquet"]
    rows = pq.read_table(out / "deep" / "one.parquet").to_pylist()
    assert [(row["id"], [e["text"] for e in row["entities"]]) for row in rows] == [
        ("a", ["lithium"]),
        ("b", []),
    ]
    assert pq.read_schema(out / "two.parquet") == pq.read_schema(out / "deep" / "one.parquet")


def test_urls_are_read_and_written(tmp_path):
    import fsspec

    memory = fsspec.filesystem("memory")
    for i in range(3):
        memory.pipe_file(f"/corpus/{i}.txt", b"They took lithium.")
    try:
        first = label_here("memory://corpus", "memory://labels")
        assert (first.done, first.skipped) == (3, 0)
        names = sorted(path for path in memory.find("/labels") if "_glossa" not in path)
        assert names == [f"/labels/{i}.jsonl" for i in range(3)]
        assert b'"lithium"' in memory.cat_file("/labels/0.jsonl")
        again = label_here("memory://corpus", "memory://labels")
        assert (again.done, again.skipped) == (3, 3)
    finally:
        memory.rm("/corpus", recursive=True)
        memory.rm("/labels", recursive=True)


# ---- started again --------------------------------------------------------------------------


def times(folder: Path):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.jsonl")}


def test_finished_shards_are_skipped_and_changed_ones_are_done_again(tmp_path):
    texts, out = make_shards(tmp_path / "texts", 5), tmp_path / "out"
    first = label_here(texts, out)
    before = times(out)
    again = label_here(texts, out)
    assert (first.skipped, again.skipped, again.done) == (0, 5, 5)
    assert times(out) == before
    pd.testing.assert_frame_equal(again.report.by_type, first.report.by_type)
    (texts / "part-0002.jsonl").write_text('{"id": "new", "text": "Gout."}\n')
    changed = label_here(texts, out)
    assert (changed.skipped, changed.done) == (4, 5)
    assert b'"new"' in (out / "part-0002.jsonl").read_bytes()
    (out / "part-0003.jsonl").write_text("damaged")
    assert label_here(texts, out).skipped == 4


def test_other_settings_do_every_shard_again(tmp_path):
    texts, out = make_shards(tmp_path / "texts", 3), ShardOptions(str(tmp_path / "out"))
    dictionaries = make_dictionaries()
    label_shards([str(texts)], dictionaries, out, LocalExecutor(), "strict")
    other = label_shards([str(texts)], dictionaries, out, LocalExecutor(), "loose")
    fewer = label_shards([str(texts)], dictionaries[:1], out, LocalExecutor(), "loose")
    assert (other.skipped, fewer.skipped) == (0, 0)


def test_a_job_that_was_stopped_keeps_what_is_finished(tmp_path):
    texts, out = make_shards(tmp_path / "texts", 6), ShardOptions(str(tmp_path / "out"))
    asked = iter([False, False, True])
    job = [str(texts)], make_dictionaries(), out, LocalExecutor(), "strict"
    stopped = label_shards(*job, None, lambda: next(asked))
    assert (stopped.is_stopped, stopped.done) == (True, 3)
    assert label_shards(*job).skipped == 3


# ---- faults ---------------------------------------------------------------------------------


def test_shards_that_cannot_be_read_are_named_and_the_others_kept(tmp_path, capsys):
    texts, out = make_shards(tmp_path / "texts", 4), tmp_path / "out"
    (texts / "part-0001.jsonl").write_text("{broken")
    (texts / "part-0005.parquet").write_bytes(b"PAR1 but not really")
    dictionaries = ["--dictionary", *write_dictionaries(tmp_path / "dictionaries")]
    command = ["label", str(texts), *dictionaries, "--out", str(out), "--workers", "1"]
    assert main(command) == 2
    said = capsys.readouterr()
    assert sorted(contents(out)) == [f"part-000{i}.jsonl" for i in (0, 2, 3)]
    assert "Wrote 3 of 5 shards" in said.out
    assert "part-0005.parquet cannot be read as Parquet" in said.err
    last = said.err.splitlines()[-1]
    assert last.startswith("glossa label: 2 of 5 shards could not be done, the first because: ")
    assert "part-0001.jsonl" in last


def test_a_shard_that_the_disk_does_not_give_back_is_named(tmp_path, monkeypatch):
    texts, out = make_shards(tmp_path / "texts", 3), tmp_path / "out"
    read = Path.read_bytes

    def fail_once(path):
        if path.name == "part-0001.jsonl" and path.parent == texts:
            raise OSError(errno.EIO, "Input/output error")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", fail_once)
    result = label_here(texts, out)
    assert [fault.reason for fault in result.faults] == [
        f"{texts}/part-0001.jsonl cannot be read: Input/output error"
    ]
    assert sorted(contents(out)) == ["part-0000.jsonl", "part-0002.jsonl"]


def cluster_command(tmp_path, address):
    texts = make_shards(tmp_path / "texts", 1)
    dictionaries = ["--dictionary", *write_dictionaries(tmp_path / "dictionaries")]
    cluster = ["--engine", "ray", "--address", address]
    return ["label", str(texts), *dictionaries, "--out", str(tmp_path / "out"), *cluster]


def test_an_address_that_does_not_answer_ends_the_command_in_one_sentence(tmp_path, capsys):
    pytest.importorskip("ray")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        assert main(cluster_command(tmp_path, address)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"glossa label: no Ray cluster answers at {address} (")
    assert not (tmp_path / "out").exists()


def test_without_ray_the_command_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ray_workers, "find_spec", lambda name: None)
    assert main(cluster_command(tmp_path, "127.0.0.1:6379")) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == 'glossa label: Ray is not installed here. Run: pip install "glossa[ray]".'


def test_a_worker_whose_node_lacks_a_package_says_which():
    class NeedsTorch:
        def open(self):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

    said = ray_workers.ShardWorker().open(NeedsTorch())
    assert said == 'torch is not installed there. Run: pip install "glossa[ray,train]"'


def test_a_full_disk_ends_the_job_in_one_sentence_and_it_continues(tmp_path):
    texts, out = make_shards(tmp_path / "texts", 5), ShardOptions(str(tmp_path / "out"))
    job = [str(texts)], make_dictionaries(), out, LocalExecutor(), "strict"
    with (
        full_disk(tmp_path / "out", at=30),
        pytest.raises(InputError, match="shards are finished and are kept") as failed,
    ):
        label_shards(*job)
    assert "\n" not in str(failed.value)
    finished = int(str(failed.value).split(" of 5 shards")[0].split()[-1])
    assert 0 < finished < 5
    again = label_shards(*job)
    assert (again.done, again.skipped) == (5, finished)
    assert len(contents(tmp_path / "out")) == 5  # no temporary file is left


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda texts, out: (out / "old.txt").write_text("x"), "holds 1 files that are no results"),
        (lambda texts, out: (texts / "part-0000.txt").write_text("x"), "would both be written to"),
        (lambda texts, out: [p.unlink() for p in texts.iterdir()], "holds no shards"),
    ],
)
def test_what_would_mix_results_is_refused(tmp_path, prepare, message):
    texts, out = make_shards(tmp_path / "texts", 2), tmp_path / "out"
    out.mkdir()
    prepare(texts, out)
    with pytest.raises(InputError, match=message):
        label_here(texts, out)


def test_results_do_not_go_among_the_shards(tmp_path):
    texts = make_shards(tmp_path / "texts", 2)
    with pytest.raises(InputError, match="Name another folder for the results"):
        label_here(texts, texts / "out")


@pytest.mark.parametrize(
    ("url", "message"),
    [("nowhere://x", "cannot be opened"), ("/no/such/folder", "No such file or folder")],
)
def test_a_place_that_cannot_be_opened_is_named(tmp_path, url, message):
    with pytest.raises(InputError, match=message):
        label_here(url, tmp_path / "out")


@pytest.mark.parametrize("extra", [["--gold", "x.csv"], ["--sample", "x.csv"]])
def test_what_needs_the_whole_corpus_is_refused(tmp_path, capsys, extra):
    texts = make_shards(tmp_path / "texts", 1)
    dictionaries = ["--dictionary", *write_dictionaries(tmp_path / "dictionaries")]
    assert main(["label", str(texts), *dictionaries, "--out", str(tmp_path / "o"), *extra]) == 2
    assert "does not go with shards" in capsys.readouterr().err


# ---- processes ------------------------------------------------------------------------------


def test_a_worker_that_dies_is_replaced_and_a_shard_that_kills_is_named(tmp_path):
    texts, out = make_shards(tmp_path / "texts", 5), ShardOptions(str(tmp_path / "out"))
    shards = find_shards([str(texts)], out)
    task = LabelTask(make_dictionaries(), STRICT, out, None)
    once = DeadlyTask(task, ["part-0003.jsonl"], tmp_path / "died")
    stage = run_stage(once, shards[:4], LocalExecutor(2))
    assert (len(stage.records), stage.faults) == (4, ())
    always = DeadlyTask(task, ["part-0004.jsonl"])
    stage = run_stage(always, shards, LocalExecutor(2))
    assert (len(stage.records), stage.skipped) == (4, 4)
    [fault] = stage.faults
    assert fault.reason.startswith("part-0004.jsonl: 3 workers died while they did it")


def test_several_processes_write_the_same_bytes_as_one(tmp_path, run_folder):
    texts = make_shards(tmp_path / "texts", 6)
    for workers in (1, 2):
        options = ShardOptions(str(tmp_path / f"out{workers}"))
        result = predict_shards([str(texts)], run_folder, options, LocalExecutor(workers))
        assert result.done == 6
    assert contents(tmp_path / "out1") == contents(tmp_path / "out2")


def test_options_decide_the_ending_of_results():
    options = ShardOptions("out")
    endings = [replace(options, format=name).extension for name in ("jsonl", "parquet", "conll")]
    assert endings == [".jsonl", ".parquet", ".conll"]
