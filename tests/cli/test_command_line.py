import errno
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli.command_line import main, make_parser
from engine.files.sources import read_source
from engine.formats.catalog import FORMATS
from engine.formats.reading import read_corpus
from engine.scoring.checking import wilson_interval
from engine.text.model import InputError
from tests.support.archives import bomb, zipped
from tests.support.waiting import LIMIT

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data"
TRAIN = str(SAMPLE / "train.jsonl")
SCORED = str(SAMPLE / "score.jsonl")
GOLD = str(SAMPLE / "gold.csv")
DICTIONARIES = [str(SAMPLE / "dictionary" / f"{name}.txt") for name in ("Chemical", "Disease")]

NOTES = (
    '{"id": "d1", "text": "High fever came . Aspirin helped ."}\n'
    '{"id": "d2", "text": "No rash , no Fever ."}\n'
)
FOUND = [("High fever", "Sign"), ("Aspirin", "Drug"), ("rash", "Sign"), ("Fever", "Sign")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a text, its dictionaries, and an empty folder for results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "notes.jsonl").write_text(NOTES, encoding="utf-8")
    (tmp_path / "Sign.txt").write_text("fever\nhigh fever\nrash\n", encoding="utf-8")
    (tmp_path / "Drug.txt").write_text("aspirin\n", encoding="utf-8")
    return tmp_path


def write(path, content):
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def run(capsys, *arguments):
    """The output of a command without the lines that describe each file it read."""
    code = main(arguments)
    out, err = capsys.readouterr()
    lines = err.splitlines(keepends=True)
    return code, out, "".join(line for line in lines if not line.startswith("read: "))


def test_what_was_detected_about_each_file_is_shown(capsys, folder):
    write("a.csv", "pmid;body\n1;fever\n2;caf\xe9\n".encode("windows-1252"))
    assert main(["convert", "a.csv", "--out", "out/a.jsonl"]) == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (
        'read: a.csv: table, windows-1252, delimiter ";", text in "body", id in "pmid", 2 documents'
    )


def label(capsys, *arguments, text="notes.jsonl", dictionaries=("Sign.txt", "Drug.txt")):
    """Run label and return what it printed; it must succeed."""
    code, out, err = run(capsys, "label", text, "--dictionary", *dictionaries, *arguments)
    assert code == 0, err
    return out


def read(*paths):
    return read_corpus([read_source(path) for path in paths])


def surfaces(corpus, method=None):
    return [
        (document.text[entity.start : entity.end], entity.entity_type)
        for document in corpus.documents
        for entity in corpus.entities.get(document.id, ())
        if method in (None, entity.method)
    ]


def cells(line):
    """The cells of a table row; columns are at least two spaces apart."""
    return re.split(r" {2,}", line.strip())


# ---- label ----------------------------------------------------------------------------------


def test_label_prints_every_table_of_the_sample_and_writes_the_entities(capsys, tmp_path):
    path = tmp_path / "labels.csv"
    code, out, err = run(
        capsys, "label", TRAIN, "--dictionary", *DICTIONARIES, "--gold", GOLD, "--out", str(path)
    )
    assert code == 0
    headings = re.findall(r"^(.+)\n=+$", out, flags=re.MULTILINE)
    assert [re.sub(r" \(.*", "", heading) for heading in headings] == [
        "Coverage",
        "Matching, as the text decides",
        "Abbreviations",
        "Conflicts between types",
        "Against gold",
        "Phrases that may be noisy",
        "Frequent and unmatched: maybe missing from your dictionary",
    ]
    lines = {cells(line)[0]: cells(line) for line in out.splitlines() if line}
    assert lines["type"][1:] == ["precision %", "recall %", "F1 %", "correct", "predicted", "gold"]
    correct, predicted, gold = (int(cell.replace(",", "")) for cell in lines["all"][4:])
    assert float(lines["all"][1]) == pytest.approx(100 * correct / predicted, abs=0.05)
    assert lines["alcohol"][:4] == ["alcohol", "Chemical", "4", "4"]  # the noisy phrase: there are
    # fewer columns in the table of conflicts; "like" in that of missing names
    assert lines["mirtazapine"][1:] == ["Chemical", "3", "3"]
    assert gold > 1000 and f"Wrote {predicted:,} rows to {path}." in out
    assert len(surfaces(read(TRAIN, path))) == predicted
    assert err.splitlines()[-1] == "Matching: 793 sentences done" and "\r" not in err


def test_label_says_what_the_text_decided_and_mutes_abbreviations(capsys, folder):
    write("af.txt", "He has atrial fibrillation (AF). For AF, aspirin. Aspirin helps.\n")
    write("Sign.txt", "atrial fibrillation\naspirin\n")
    code, out, _ = run(capsys, "label", "af.txt", "--dictionary", "Sign.txt")
    assert code == 0
    assert "Sign: any letter case matches, because 2 exact matches are too few to tell, and" in out
    assert "This adds 3 labels" in out
    assert ["AF", "atrial fibrillation", "Sign", "af", "2"] in [cells(x) for x in out.splitlines()]
    code, out, _ = run(capsys, "label", "af.txt", "--dictionary", "Sign.txt", "--mute", "AF")
    assert code == 0
    assert "This adds 1 label " in out and "Abbreviations" not in out
    arguments = ["--dictionary", "Sign.txt", "--mute", "AF", "--match", "balanced"]
    code, _, err = run(capsys, "label", "af.txt", *arguments)
    assert code == 2 and '--mute: "AF" is in none of the dictionaries' in err


BY_EXTENSION = {
    "csv": "entities", "conll": "conll", "bio": "conll", "iob": "conll", "iob2": "conll",
    "jsonl": "jsonl", "json": "label_studio", "zip": "brat", "pubtator": "pubtator",
}  # fmt: skip
BY_NAME = {name: format.extensions[0] for name, format in FORMATS.items() if format.write}


@pytest.mark.parametrize(
    ("format", "ending", "is_named"),
    [(format, f".{ending}", False) for ending, format in BY_EXTENSION.items()]
    + [(name, ending, True) for name, ending in BY_NAME.items()],
)
def test_label_writes_every_format_and_it_reads_back(capsys, folder, format, ending, is_named):
    path = f"out/labels{ending}"
    out = label(capsys, "--out", path, *(["--format", format] if is_named else []))
    assert re.search(rf"\nWrote \d+ rows to {path}\.\n$", out)
    corpus = read("notes.jsonl", path) if format == "entities" else read(path)
    assert [report.format for report in corpus.files][-1] == format
    # The benchmark format has numbers for types, which only gold can name.
    names = {"Drug": "class_1", "Sign": "class_2"} if format == "benchmark" else {}
    assert surfaces(corpus) == [(surface, names.get(type, type)) for surface, type in FOUND]
    assert sorted(os.listdir("out")) == [f"labels{ending}", f"labels{ending}.card.json"]


@pytest.mark.parametrize("format", ["benchmark", "tokens"])
def test_label_writes_gold_beside_the_dictionary_if_the_format_has_a_column(capsys, folder, format):
    write("gold.csv", "doc_id,start,end,label\nd1,18,25,Drug\nd2,3,7,Sign\n")
    path = f"out/labels{BY_NAME[format]}"
    label(capsys, "--gold", "gold.csv", "--out", path, "--format", format)
    assert surfaces(read(path), "gold") == [("Aspirin", "Drug"), ("rash", "Sign")]
    assert surfaces(read(path), "dictionary") == FOUND


def test_label_takes_gold_from_the_text_file_itself(capsys, folder):
    write("a.conll", "No O\nrash B-Sign\nor O\nfever O\n")
    out = label(capsys, text="a.conll")
    # one of two matches is gold; the only gold entity is found
    expected = ["Sign", "50.0", "100.0", "66.7", "1", "2", "1"]
    assert expected in [cells(line) for line in out.splitlines()]


def test_label_passes_writing_options_on(capsys, folder):
    label(capsys, "--out", "out/a.csv", "--essential", "--excel")
    assert Path("out/a.csv").read_bytes().startswith(b"\xef\xbb\xbfdoc_id,sent_id,start,end,text,")
    write("e.txt", "😀 fever")
    label(capsys, "--out", "out/a.json", "--utf16-offsets", text="e.txt")
    task = json.loads(Path("out/a.json").read_text(encoding="utf-8"))[0]
    assert task["predictions"][0]["result"][0]["value"]["start"] == 3  # 😀 counts as two


@pytest.mark.parametrize(
    ("preset", "matched"),
    [
        ("strict", ["fever"]),
        ("balanced", ["Fever", "fever"]),
        ("loose", ["Fever", "fevers", "fever"]),
    ],
)
def test_label_matches_as_freely_as_asked(capsys, folder, preset, matched):
    write("a.txt", "Fever and fevers and fever .")
    label(capsys, "--match", preset, "--out", "out/a.jsonl", text="a.txt")
    assert [surface for surface, _ in surfaces(read("out/a.jsonl"))] == matched


def test_label_leaves_muted_phrases_out(capsys, folder):
    label(capsys, "--mute", "FEVER", "aspirin", "--out", "out/a.jsonl")
    assert surfaces(read("out/a.jsonl")) == [("High fever", "Sign"), ("rash", "Sign")]


def test_label_reads_every_dictionary_of_a_folder(capsys, folder):
    (folder / "lists" / "more").mkdir(parents=True)
    for name, place in (("Sign", "lists"), ("Drug", "lists/more")):
        (folder / f"{name}.txt").rename(folder / place / f"{name}.txt")
    write("lists/about.pdf", "x")
    code, _, err = run(
        capsys, "label", "notes.jsonl", "--dictionary", "lists", "--out", "out/a.csv"
    )
    assert code == 0 and err.startswith('note: "about.pdf" in lists left out: no dictionary\n')
    rows = read_corpus([read_source("out/a.csv")]).entities
    assert {e.entity_type for entities in rows.values() for e in entities} == {"Sign", "Drug"}


def test_label_leaves_out_what_is_never_an_entity(capsys, folder):
    write("no.csv", "term,label\nhigh fever,x\n")
    write("Code.txt", "re:(no|NO)\nre:(\n")
    given = ("label", "notes.jsonl", "--dictionary", "Sign.txt", "Drug.txt", "Code.txt")
    code, out, err = run(capsys, *given, "--never", "no.csv", "--out", "out/a.csv")
    assert code == 0 and "note: Code.txt: line 2: the pattern re:( does not compile" in err
    assert "Never an entity: 1 of 1 phrases in 1 places, which are not labeled." in out
    found = read_corpus([read_source("out/a.csv")]).entities
    assert sorted(e.entity_type for entities in found.values() for e in entities) == [
        *("Code", "Drug", "Sign", "Sign")
    ]


def test_label_follows_the_language_of_the_text(capsys, folder):
    text = "Er nahm evtl. Aspirin und es half ihm, aber nur ca. drei Tage. "
    write("de.txt", text * 4)
    given = ("label", "de.txt", "--dictionary", "Drug.txt", "--match", "balanced")
    code, out, err = run(capsys, *given)
    assert code == 0 and "the text looks German" in err
    assert "4 of 4 sentences" in out
    code, out, err = run(capsys, *given, "--language", "en")
    assert code == 0 and "looks German" not in err and "4 of 4 sentences" not in out


def test_label_gives_a_type_to_phrases_that_have_none(capsys, folder):
    write("words.csv", "term\nrash\n")
    label(capsys, "--type", "Skin", "--out", "out/a.jsonl", dictionaries=["words.csv"])
    assert surfaces(read("out/a.jsonl")) == [("rash", "Skin")]


def test_label_reads_lines_as_documents(capsys, folder):
    write("a.txt", "fever\n\nno rash\n")
    label(capsys, "--lines", "--out", "out/a.jsonl", text="a.txt")
    assert [d.id for d in read("out/a.jsonl").documents] == ["a-000001", "a-000002"]


def test_label_reads_the_columns_asked_for(capsys, folder):
    write("a.csv", "key,text,remark\n7,none,fever\n")
    arguments = ["--text-column", "remark", "--id-column", "key", "--out", "out/a.jsonl"]
    label(capsys, *arguments, text="a.csv")
    assert [(d.id, d.text) for d in read("out/a.jsonl").documents] == [("7", "fever")]


def test_label_skips_bad_lines_and_reads_other_encodings_when_asked(capsys, folder):
    write("a.csv", "id,text\n1,fever\n2,a,b\n3,rash α\n".encode("iso8859_7"))
    arguments = ["--skip-bad-lines", "--encoding", "iso8859_7", "--out", "out/a.jsonl"]
    code, _, err = run(capsys, "label", "a.csv", "--dictionary", "Sign.txt", *arguments)
    assert code == 0 and "note: a.csv: 1 row of another width left out (line 3)\n" in err
    assert [d.text for d in read("out/a.jsonl").documents] == ["fever", "rash α"]


def test_label_notes_a_dictionary_of_duplicates_and_one_that_matches_nothing(capsys, folder):
    write("Gene.txt", "BRCA1\nBRCA1\nBRCA1\n")
    code, _, err = run(
        capsys, "label", "notes.jsonl", "--dictionary", "Sign.txt", "Gene.txt", "--out", "out/a.csv"
    )
    assert code == 0 and err.splitlines() == [
        "note: Gene.txt: 2 duplicate phrases removed, 1 phrase left",
        "Matching: 3 sentences done",
        'note: "Gene.txt" matches nothing in this text (0 of 1 phrases). '
        "Try a freer --match, or check the language",
    ]


def test_label_result_does_not_depend_on_the_order_of_dictionaries(capsys, folder):
    write("Illness.txt", "fever\nrash\n")
    for number, dictionaries in enumerate(
        (["Sign.txt", "Illness.txt"], ["Illness.txt", "Sign.txt"])
    ):
        label(capsys, "--out", f"out/{number}.csv", dictionaries=dictionaries)
    assert Path("out/0.csv").read_bytes() == Path("out/1.csv").read_bytes()


# ---- a checked sample -----------------------------------------------------------------------


def test_label_draws_a_sample_and_reads_the_judged_one(capsys, folder):
    out = label(capsys, "--sample", "out/sample.csv", "--sample-size", "9", "--seed", "7")
    assert "Wrote 4 matches to judge to out/sample.csv: put y, n or u under verdict" in out
    header, *rows = Path("out/sample.csv").read_text(encoding="utf-8").splitlines()
    assert header == "document,start,end,text,entity_type,phrase,dictionary,context,verdict"
    rows.sort(key=lambda row: ",Drug," in row)  # Signs first, then the one Drug
    judged = [row + verdict for row, verdict in zip(rows, ["y", "No", "", "u"], strict=True)]
    write("checked.csv", "\n".join([header, *judged]))
    out = label(capsys, "--checked", "checked.csv")
    low, high = wilson_interval(1, 2)
    sign = ["Sign", "3", "2", "50.0", f"{100 * low:.1f}", f"{100 * high:.1f}"]
    assert sign in [cells(line) for line in out.splitlines()]
    assert ["Drug", "1", "1", "–", "0.0", "100.0"] in [cells(line) for line in out.splitlines()]


def test_label_reads_back_a_sample_of_text_with_any_line_ends(capsys, folder):
    write("a.txt", "He had\ra fever and a\u2028rash")
    label(capsys, "--sample", "out/sample.csv", text="a.txt")
    content = Path("out/sample.csv").read_bytes().decode()
    write("checked.csv", content.replace(",\n", ",y\n"))
    out = label(capsys, "--checked", "checked.csv", text="a.txt")
    assert ["Sign", "2", "2", "100.0"] in [cells(line)[:4] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "is not a sample written by --sample: it needs the columns document, start"),
        ("document,start,end,entity_type,verdict\nd1,0,10,Sign,\n", "has no verdict yet. Put y, n"),
        (
            "document,start,end,entity_type,verdict\nd1,0,10,Sign,ok\n",
            '2: the verdict "ok" is not y',
        ),
        (
            "document,start,end,entity_type,verdict\nd1,²,10,Sign,y\n",
            'start "²" and end "10" are n',
        ),
        (
            "document,start,end,entity_type,verdict\nd9,0,10,Sign,y\n",
            "judges none of these matches",
        ),
    ],
    ids=["other columns", "no verdict", "other verdict", "no offset", "other text"],
)
def test_label_refuses_a_checked_file_without_judgements(capsys, folder, content, message):
    write("checked.csv", content)
    arguments = ["--checked", "checked.csv", "--out", "out/a.csv"]
    code, _, err = run(capsys, "label", "notes.jsonl", "--dictionary", "Sign.txt", *arguments)
    assert code == 2 and message in err and os.listdir("out") == []


# ---- score and convert ----------------------------------------------------------------------


GOLD_ROWS = "doc_id,start,end,label\nd1,0,10,Sign\nd1,18,25,Drug\nd2,3,7,Sign\n"
PREDICTED_ROWS = (
    "doc_id,start,end,label,method\nd1,0,10,Sign,mpu\nd1,18,25,Sign,mpu\nd2,0,2,Drug,mpu\n"
)
# Drug: 0 of 1 predicted, 0 of 1 gold.  Sign: 1 of 2 predicted, 1 of 2 gold.
SCORE_LINES = [
    ["Drug", "0.0", "0.0", "0.0", "0", "1", "1"],
    ["Sign", "50.0", "50.0", "50.0", "1", "2", "2"],
    ["all", "33.3", "33.3", "33.3", "1", "3", "3"],
]


@pytest.fixture
def score_files(folder):
    write("gold.csv", GOLD_ROWS)
    write("predicted.csv", PREDICTED_ROWS)
    for name in ("gold", "predicted"):
        arguments = [f"{name}.csv", "--text", "notes.jsonl", "--out", f"{name}.conll"]
        assert main(["convert", *arguments]) == 0
    return folder


@pytest.mark.parametrize(
    ("gold", "predicted", "more"),
    [
        ("gold.csv", "predicted.csv", []),
        ("gold.csv", "predicted.csv", ["--text", "notes.jsonl"]),
        ("gold.conll", "predicted.conll", []),
        ("gold.conll", "predicted.csv", ["--text", "notes.jsonl"]),
    ],
    ids=["csv", "csv and text", "conll", "conll and csv"],
)
def test_score_prints_a_table_and_the_same_as_json(capsys, score_files, gold, predicted, more):
    capsys.readouterr()
    arguments = ["score", "--gold", gold, "--predicted", predicted, *more]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert [cells(line) for line in out.splitlines()[2:5]] == SCORE_LINES
    code, out, _ = run(capsys, *arguments, "--json")
    result = json.loads(out)
    assert code == 0 and out.count("\n") == 1
    assert result["overall"] == {
        "precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3, "correct": 1, "predicted": 3, "support": 3
    }  # fmt: skip
    assert result["by_type"]["Sign"]["f1"] == 0.5 and list(result["by_type"]) == ["Drug", "Sign"]
    has_text = bool(more) or gold.endswith(".conll")
    assert ("errors" in result) is has_text
    if has_text:
        assert result["errors"] == {"boundary": 0, "type": 1, "spurious": 1, "missed": 1}


def test_score_counts_only_documents_with_gold_and_says_so(capsys, folder):
    write("gold.csv", GOLD_ROWS)
    write("predicted.csv", "doc_id,start,end,label\nd1,0,10,Sign\nd9,0,3,Sign\nd8,0,3,Sign\n")
    code, out, err = run(capsys, "score", "--gold", "gold.csv", "--predicted", "predicted.csv")
    assert code == 0
    # d8 and d9 have no gold: what is predicted there is neither right nor wrong
    assert cells(out.splitlines()[-1]) == ["all", "100.0", "33.3", "50.0", "1", "1", "3"]
    assert err.splitlines() == [
        'note: predicted.csv: 2 of 3 documents have no gold and are not counted, e.g. "d9"',
        "note: predicted.csv: 1 of 2 documents with gold have no prediction; their entities count "
        'as missed, e.g. "d2"',
    ]


def test_score_refuses_predictions_for_other_documents(capsys, folder):
    write("gold.csv", GOLD_ROWS)
    write("predicted.csv", "doc_id,start,end,label\nd9,0,10,Sign\n")
    code, out, err = run(capsys, "score", "--gold", "gold.csv", "--predicted", "predicted.csv")
    assert (code, out) == (2, "")
    assert err == (
        "glossa score: predicted.csv and gold.csv have no document in common (the first is "
        '"d9" in one, "d1" in the other). Give gold for the same documents.\n'
    )


def test_score_without_predictions_has_dashes(capsys, folder):
    write("gold.csv", GOLD_ROWS)
    write("predicted.csv", "doc_id,start,end,label\n")
    code, out, _ = run(capsys, "score", "--gold", "gold.csv", "--predicted", "predicted.csv")
    assert code == 0 and cells(out.splitlines()[-1]) == ["all", "–", "0.0", "0.0", "0", "0", "3"]


def test_convert_needs_the_texts_of_an_entities_file(capsys, folder):
    write("gold.csv", GOLD_ROWS)
    code, _, err = run(capsys, "convert", "gold.csv", "--out", "out/a.conll")
    assert (code, os.listdir("out")) == (2, [])
    assert err == (
        "glossa convert: gold.csv holds entities but not the texts they are in; "
        "give those with --text.\n"
    )
    code, out, _ = run(
        capsys, "convert", "gold.csv", "--text", "notes.jsonl", "--out", "out/a.conll"
    )
    assert (code, out) == (0, "\nWrote 13 rows to out/a.conll.\n")
    assert surfaces(read("out/a.conll")) == [
        ("High fever", "Sign"), ("Aspirin", "Drug"), ("rash", "Sign")
    ]  # fmt: skip


def test_convert_reads_the_format_it_is_told(capsys, folder):
    write("a.dat", "fever B-Sign\n")
    code, _, _ = run(capsys, "convert", "a.dat", "--from", "conll", "--out", "out/a.jsonl")
    assert code == 0 and surfaces(read("out/a.jsonl")) == [("fever", "Sign")]


# ---- bad input ------------------------------------------------------------------------------


TWELVE = "".join('{"text": "fever"\n' if n == 12 else '{"text": "fever"}\n' for n in range(1, 15))
WORD = zipped([("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")]).data
PNG = b"\x89PNG\r\n\x1a\n\0\0"
BAD_TEXTS = {
    "empty": ("a.txt", "", "a.txt is empty (0 bytes). Nothing was added."),
    "blank": ("a.txt", "\ufeff \n\n", "a.txt holds no words to label."),
    "word as txt": ("a.txt", WORD, "a.txt is a Word file. Save its content as .txt or .csv and"),
    "word as csv": ("a.csv", WORD, "a.csv is a Word file."),
    "png as txt": ("a.txt", PNG, "a.txt is a PNG image."),
    "png as csv": ("a.csv", PNG, "a.csv is a PNG image."),
    "gzip as txt": ("a.txt", gzip.compress(b"fever"), "a.txt is a gzip archive."),
    "gzip as csv": ("a.csv", gzip.compress(b"fever"), "a.csv is a gzip archive."),
    "no encoding": ("a.txt", b"fe\x81ver", "a.txt is not UTF-8 (byte 0x81 at position 2), nor W"),
    "nul": ("a.txt", b"fever\nra\0sh!", "a.txt line 2 holds a NUL byte (character 8), so it is"),
    "no text column": ("a.csv", "id,when\n1,2\n", "No text column found in a.csv. Columns: id"),
    "ragged": ("a.csv", "id,text\n1,a\n2,b,c\n", "a.csv line 3 has 3 fields, expected 2."),
    "unclosed quote": ("a.csv", 'id,text\n1,"a\n2,b\n', 'a.csv line 2: a quote (") opens a cell'),
    "broken line": ("a.jsonl", TWELVE, "a.jsonl line 12: not valid JSON (Expecting ',' delimiter"),
    "long number": ("a.jsonl", '{"text": ' + "9" * 5000 + "}", "a.jsonl line 1: not valid JSON (n"),
    "deep": ("a.json", '{"text": ' + "[" * 900 + "]" * 900 + "}", "a.json line 1: not valid JSON"),
    "odd spans": ("a.jsonl", '{"text": "x", "entities": [5]}', "a.jsonl line 1: a span is 5, exp"),
    "bad tag": ("a.conll", "fever Q-Sign\n", 'a.conll line 1: "Q-Sign" is not a tag.'),
    "uneven columns": ("a.conll", "a O\nb c O\n", "a.conll line 2: 3 columns, expected 2 as above"),
    "entities, no text": ("a.csv", GOLD_ROWS, "a.csv holds entities but not the texts they are in"),
    "climbing zip": ("a.zip", zipped([("../a.txt", b"x")]).data, 'a.zip holds the path "../a.txt"'),
    "nested zip": ("a.zip", zipped([("b.zip", b"x")]).data, 'a.zip holds another archive, "b.zip"'),
    "damaged zip": ("a.zip", zipped([("b.txt", b"x" * 99)]).data[:60], "a.zip is a damaged zip ar"),
    "no zip": ("a.zip", "fever", "a.zip is not a zip archive."),
    "unknown ending": ("a.md", "fever", 'a.md: files ending in ".md" are not known.'),
    "nothing matches": ("a.txt", "all is well", "no dictionary matches anything in this text"),
}  # fmt: skip


def assert_refused(result, command, message, folder):
    """Check for one sentence, with only notes and progress before it, and for no file."""
    code, out, err = result
    *before, last = err.splitlines()
    assert (code, out) == (2, "")
    assert last.startswith(f"glossa {command}: {message}") and last.endswith(".")
    assert [line for line in before if not line.startswith(("note: ", "Matching: "))] == []
    assert os.listdir(folder / "out") == []


@pytest.mark.parametrize("case", list(BAD_TEXTS))
def test_label_refuses_a_bad_text_with_one_sentence_and_writes_nothing(capsys, folder, case):
    name, content, message = BAD_TEXTS[case]
    write(name, content)
    outputs = ["--out", "out/labels.csv", "--sample", "out/sample.csv"]
    result = run(capsys, "label", name, "--dictionary", "Sign.txt", *outputs)
    assert_refused(result, "label", message, folder)


@pytest.mark.parametrize(
    "case", [case for case in BAD_TEXTS if case not in ("blank", "nothing matches")]
)
def test_convert_refuses_a_bad_file_with_one_sentence_and_writes_nothing(capsys, folder, case):
    name, content, message = BAD_TEXTS[case]
    write(name, content)
    result = run(capsys, "convert", name, "--out", "out/labels.jsonl")
    assert_refused(result, "convert", message, folder)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (zipped([(f"{n}.txt", b"x") for n in range(10_000)]), "a.zip holds 10,000 files; the limi"),
        (bomb(), "a.zip unpacks to more than 600 MB."),
    ],
    ids=["10,000 files", "bomb"],
)
def test_label_refuses_archives_that_are_too_large(capsys, folder, file, message):
    write("a.zip", file.data)
    result = run(capsys, "label", "a.zip", "--dictionary", "Sign.txt", "--out", "out/labels.csv")
    assert_refused(result, "label", message, folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "term,other\nfever,x\n", "1 term has no label: a.csv has the columns term"),
        ("a.txt", "# only\n# comments\n", "a.txt holds no phrases: 2 comment lines"),
        ("a.txt", "", "a.txt is empty (0 bytes)."),
        ("a.txt", PNG, "a.txt is a PNG image."),
        ("a.pdf", "%PDF-1.4", "a.pdf is no dictionary that can be read."),
        ("a.zip", zipped([("../a.txt", b"x")]).data, 'a.zip holds the path "../a.txt"'),
    ],
    ids=["no labels", "comments", "empty", "png", "pdf", "climbing zip"],
)  # fmt: skip
def test_label_refuses_a_bad_dictionary(capsys, folder, name, content, message):
    write(name, content)
    result = run(capsys, "label", "notes.jsonl", "--dictionary", name, "--out", "out/labels.csv")
    assert_refused(result, "label", message, folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "out/labels.xyz"], 'a file ending in ".xyz" can be written in several ways'),
        (["--out", "out/labels"], 'a file ending in "" can be written in several ways or none'),
        (["--out", "out/a.csv", "--gold", "other.csv"], "other.csv annotates none of these docum"),
        (["--out", "out/a.csv", "--gold", "no.csv"], "no.csv cannot be read: No such file or dir"),
        (["--out", "out/a.csv", "--gold", "out"], "out is a folder; name the files in it, or zip"),
        (["--out", "out/a.csv", "--mute", "cough"], '--mute: "cough" is in none of the dictiona'),
        (["--out", "out/a.csv", "--type", " "], "the entity type is empty."),
        (["--out", "out/a.csv", "--encoding", "klingon"], '"klingon" is not an encoding; try utf'),
        (["--out", "notes.jsonl/a.csv"], "notes.jsonl/a.csv cannot be written: "),
    ],
    ids=[
        "ending",
        "no ending",
        "other gold",
        "no gold",
        "folder",
        "mute",
        "type",
        "encoding",
        "path",
    ],
)
def test_label_refuses_options_that_do_not_fit(capsys, folder, arguments, message):
    write("other.csv", "doc_id,start,end,label\nelsewhere,0,3,Sign\n")
    code, out, err = run(capsys, "label", "notes.jsonl", "--dictionary", "Sign.txt", *arguments)
    assert_refused(
        (code, "" if "notes.jsonl/a.csv" in arguments else out, err), "label", message, folder
    )


@pytest.mark.parametrize("command", ["label", "convert"])
def test_a_missing_file_is_explained_in_one_sentence(capsys, folder, command):
    arguments = ["--dictionary", "Sign.txt"] if command == "label" else []
    result = run(capsys, command, "no.txt", *arguments, "--out", "out/labels.csv")
    message = "no.txt cannot be read: No such file or directory."
    assert_refused(result, command, message, folder)


def test_message_stays_on_one_line_whatever_the_file_holds(capsys, folder):
    write("a.csv", '"first\nname",when\n1,2\n')
    _, _, err = run(capsys, "convert", "a.csv", "--out", "out/a.jsonl")
    assert err == (
        "glossa convert: No text column found in a.csv. Columns: first name, when. "
        "Name the one that holds the text (--text-column).\n"
    )


@pytest.mark.parametrize(
    ("fixes", "hint"),
    [
        (("skip_bad_lines",), " (--skip-bad-lines)"),
        (("text_column", "skip_bad_lines"), " (--text-column, --skip-bad-lines)"),
        (("format",), " (--format)"),
        (("entity_type",), ""),  # convert has no such option
        ((), ""),
    ],
)
def test_a_hint_follows_from_the_fix_and_not_from_the_words(
    capsys, folder, monkeypatch, fixes, hint
):
    def refuse(*_arguments, **_options):
        raise InputError("oh dear. Skip bad lines? Name its encoding", *fixes)

    monkeypatch.setattr("engine.cli.convert.read_files", refuse)
    write("a.txt", "fever")
    _, _, err = run(capsys, "convert", "a.txt", "--out", "out/a.jsonl")
    assert err == f"glossa convert: oh dear. Skip bad lines? Name its encoding{hint}.\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "hint"),
    [
        ("a.csv", b"when,who\n1,2\n", [], "--text-column"),
        ("a.csv", b"text,who\n1,2\n", ["--id-column", "no"], "--id-column"),
        ("a.csv", b"text,who\n1,2\n1\n", [], "--skip-bad-lines"),
        ("a.jsonl", b'{"text": "a"}\n{', [], "--skip-bad-lines"),
        ("a.jsonl", b'{"x": "a"}', [], "--text-column, --skip-bad-lines"),
        ("a.txt", b"a", ["--encoding", "no"], "--encoding"),
        ("a.txt", b"a\xff", ["--encoding", "utf-8"], "--encoding"),
        ("a.txt", b"a", ["--out", "out/a.xyz"], "--format"),
    ],
)
def test_an_error_names_the_option_that_helps(capsys, folder, name, content, options, hint):
    Path(name).write_bytes(content)
    code, _, err = run(capsys, "convert", name, "--out", "out/a.jsonl", *options)
    assert code == 2
    assert err.endswith(f" ({hint}).\n")


def test_no_limits_lift_the_limits_on_texts_and_dictionaries(capsys, folder):
    write("a.txt", "He had fever.")
    write("a.zip", zipped([("a.txt", b"He had fever. " * 100_000)]).data)
    write("fever.zip", zipped([("Sign.txt", b"fever\n" * 300_000)]).data)
    for files in (["a.zip", "--dictionary", "Sign.txt"], ["a.txt", "--dictionary", "fever.zip"]):
        code, _, err = run(capsys, "label", *files, "--out", "out/labels.csv")
        assert (code, err.endswith(" (--no-limits).\n")) == (2, True)
        assert "unpacks to more than 100 times its size" in err
        assert run(capsys, "label", *files, "--out", "out/labels.csv", "--no-limits")[0] == 0


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_counts_must_be_whole_and_positive(capsys, count):
    with pytest.raises(SystemExit, match="2"):
        main(["label", "a.txt", "--dictionary", "b.txt", "--sample-size", count])
    assert (
        f"--sample-size: must be a whole number of 1 or more, got {count}"
        in capsys.readouterr().err
    )


# ---- a full disk ----------------------------------------------------------------------------


@pytest.fixture
def tiny_disk(tmp_path):
    """A disk of 64 kB; needs the right to mount one."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


@pytest.fixture
def full_disk(tmp_path, monkeypatch):
    """A folder on a disk that is full when a file is to be stored."""

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.mark.parametrize("disk", ["tiny_disk", "full_disk"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["label", SCORED, "--dictionary", *DICTIONARIES, "--out", "labels.csv"],
        ["convert", TRAIN, "--out", "labels.conll"],
        ["convert", TRAIN, "--out", "labels.jsonl"],
        ["convert", TRAIN, "--out", "labels.json"],
        ["convert", TRAIN, "--out", "labels.zip"],
    ],
    ids=["label", "conll", "jsonl", "json", "zip"],
)
def test_full_disk_keeps_the_old_result_and_leaves_nothing_else(capsys, request, disk, arguments):
    path = request.getfixturevalue(disk) / arguments[-1]
    path.write_bytes(b"the result of yesterday")
    code, out, err = run(capsys, *arguments[:-1], str(path))
    assert code == 2 and "Wrote" not in out
    assert err.splitlines()[-1] == (
        f"glossa {arguments[0]}: no room left on the disk for {path}; nothing was written. "
        "Free some space or choose another folder."
    )
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"the result of yesterday"


# ---- help -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["label", "score", "convert"])
def test_help_names_every_option_and_gives_an_example(capsys, command):
    parsers = make_parser()._subparsers._group_actions[0].choices
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    out = capsys.readouterr().out
    for action in parsers[command]._actions:
        described = f"{'|'.join(action.option_strings) or action.metavar}"
        assert re.search(rf"^  .*({described})\b", out, flags=re.MULTILINE), described
        assert action.help, described
    assert f"Example:\n  glossa {command} " in out


@pytest.mark.parametrize("command", ["label", "score", "convert"])
def test_example_of_the_help_works(capsys, folder, command):
    (folder / "sample_data").symlink_to(SAMPLE)
    if command != "label":
        write("labels.csv", Path(GOLD).read_bytes())  # stands for what the first example writes
    with pytest.raises(SystemExit):
        main([command, "--help"])
    example = capsys.readouterr().out.split("glossa ")[-1].split()
    arguments = [
        str(path)
        for word in example
        for path in (sorted(Path().glob(word)) if "*" in word else [word])
    ]
    assert main(arguments) == 0


# ---- as a program ---------------------------------------------------------------------------


def engine(*arguments, **options):
    """Run the program itself, in the folder of the test."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("environment", {})}
    command = [sys.executable, "-m", "engine", *arguments]
    return subprocess.run(command, env=environment, timeout=LIMIT, **options)


def test_program_prints_results_and_plain_progress_into_a_pipe(folder):
    write("Größe.txt", "fever\n")
    arguments = ["label", "notes.jsonl", "--dictionary", "Größe.txt", "--out", "out/labels.csv"]
    # A terminal that knows only ASCII must not break the output.
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    done = engine(*arguments, capture_output=True, environment=ascii_only)
    assert done.returncode == 0, done.stderr
    assert b"\nGr\\xf6\\xdfe.txt " in done.stdout
    assert b"\nWrote 2 rows to out/labels.csv." in done.stdout
    assert done.stderr.splitlines()[-1] == b"Matching: 3 sentences done"
    assert b"\r" not in done.stdout + done.stderr


def test_program_refuses_bad_input_without_a_traceback(folder):
    done = engine("label", "no.txt", "--dictionary", "Sign.txt", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "glossa label: no.txt cannot be read: No such file or directory.\n"


def test_file_is_written_even_if_nobody_reads_the_tables(folder, monkeypatch):
    read_end, write_end = os.pipe()
    os.close(read_end)
    arguments = ["label", "notes.jsonl", "--dictionary", "Sign.txt", "--out", "out/labels.csv"]
    with open(write_end, "w", encoding="utf-8") as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        assert main(arguments) == 0
    assert len(surfaces(read("notes.jsonl", "out/labels.csv"))) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_tables_that_cannot_be_printed_are_an_error(capsys, folder, monkeypatch):
    write("gold.csv", GOLD_ROWS)
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code = main(["score", "--gold", "gold.csv", "--predicted", "gold.csv"])
    message = "glossa score: the result cannot be printed: No space left on device."
    assert (code, capsys.readouterr().err.splitlines()[-1]) == (2, message)


def test_learning_without_torch_says_what_to_install(capsys, monkeypatch):
    def without_torch(options):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("engine.cli.command_line.doctor_command", without_torch)
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == (
        "glossa doctor: torch is not installed, and learning needs it. "
        'Run: pip install "glossa[train]"\n'
    )


def test_an_error_with_hints_is_one_line_of_at_most_300_characters(capsys, monkeypatch):
    def fail(options):
        message = f"{'several words ' * 30}end. Name the column"
        raise InputError(message, "text_column", "id_column", "skip_bad_lines", "encoding")

    monkeypatch.setattr("engine.cli.command_line.convert_command", fail)
    assert main(["convert", "a.csv", "--out", "b.txt"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("glossa convert: several words")
    assert line.endswith("--encoding).")
    assert len(line) <= 300
