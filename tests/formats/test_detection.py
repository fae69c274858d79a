import json

import pytest

from engine.files.sources import SourceFile
from engine.formats.detection import column_names, detect_format
from engine.settings import ReadOptions
from engine.text.model import InputError

DOCCANO_OLD = {"text": "fever", "labels": [[0, 5, "Sign"]]}
DOCCANO_NEW = {"text": "fever", "entities": [{"start_offset": 0, "end_offset": 5, "label": "Sign"}]}
PLAIN_SPANS = {"text": "fever", "entities": [{"start": 0, "end": 5, "label": "Sign"}]}
TASK = {"data": {"text": "fever"}, "predictions": []}


def detect(name, content, options=None):
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    data = content.encode() if isinstance(content, str) else content
    return detect_format(SourceFile(name, data), options)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("gold.csv", "doc_id,start,end,label\nd,0,5,Sign\n", "entities"),
        ("gold.csv", "PMID;Start;End;Type\nd;0;5;Sign\n", "entities"),
        ("gold.tsv", "doc_id\tstart\tend\tentity_type\nd\t0\t5\tSign\n", "entities"),
        ("tokens.csv", "doc_id,token_id,token,start,end,label\nd,0,fever,0,5,O\n", "entities"),
        ("tokens.csv", "doc_id,sent_id,token_id,token,start,end,tag\nd,0,0,a,0,1,O\n", "tokens"),
        ("notes.csv", "id,text\n1,fever\n", "table"),
        ("notes.csv", "\ufeff\r\nid,text\r\n1,fever\r\n", "table"),
        ("notes.tsv", "id\ttext\n1\tfever, rash\n", "table"),
        ("notes.tsv", "a, b, c\tstart\tend\tlabel\nd, e, f\t0\t5\tSign\n", "entities"),
        ("notes.jsonl", {"id": 1, "text": "fever"}, "jsonl"),
        ("notes.jsonl", PLAIN_SPANS, "jsonl"),
        ("notes.json", [{"text": "fever"}, {"text": "rash"}], "jsonl"),
        ("notes.json", ["fever", "rash"], "jsonl"),
        ("notes.jsonl", "broken", "jsonl"),
        ("tasks.jsonl", {"text": "fever", "spans": []}, "prodigy"),
        ("tasks.jsonl", {"text": "fever", "tokens": [{"text": "fever", "start": 0}]}, "prodigy"),
        ("export.jsonl", DOCCANO_OLD, "doccano"),
        ("export.jsonl", {"text": "fever", "label": [[0, 5, "Sign"]]}, "doccano"),
        ("export.jsonl", {"text": "fever", "label": None, "labels": [[0, 5, "Sign"]]}, "doccano"),
        ("export.jsonl", DOCCANO_NEW, "doccano"),
        ("export.json", [DOCCANO_OLD], "doccano"),
        ("reviews.jsonl", {"text": "good", "label": "positive"}, "jsonl"),
        ("tasks.json", [TASK], "label_studio"),
        ("tasks.json", TASK, "label_studio"),
        ("train.jsonl", ["fever", {"entities": []}], "spacy"),
        ("train.json", [["fever", {"entities": []}], ["rash", {}]], "spacy"),
        ("train.conll", "-DOCSTART- O\n\nFever B-Sign\nrose O\n", "conll"),
        ("train.bio", "Fever\n", "conll"),
        ("train.iob2", "Fever O 0\n", "benchmark"),
        ("train.txt", "Fever B-Sign 1\nrose O 0\n\nIt O 0\n", "benchmark"),
        ("train.txt", "# doc_id = 1\nFever NN B-Sign\nrose VB O\n", "conll"),
        ("a.txt", "12|t|Fever\n12|a|Rose.\n12\t0\t5\tFever\tSign\n", "pubtator"),
        ("a.pubtator", "12|t|Fever\n", "pubtator"),
        ("a.txt", "Fever rose.\nIt was O\n", "txt"),
        ("a.TXT", "O", "txt"),
    ],
)  # fmt: skip
def test_format_is_detected_by_name_and_first_lines(name, content, expected):
    assert detect(name, content) == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"text": "fever", "spans": []}, "prodigy"),
        (DOCCANO_OLD, "doccano"),
        (DOCCANO_NEW, "doccano"),
    ],
    ids=["prodigy", "doccano old", "doccano new"],
)
def test_format_is_detected_by_a_later_record_when_the_first_is_not_annotated(record, expected):
    plain = {"id": 1, "text": "no fever", "Comments": []}
    lines = "".join(json.dumps(value) + "\n" for value in (plain, plain, record))
    assert detect("export.jsonl", lines) == expected
    assert detect("export.json", [plain, plain, record]) == expected


@pytest.mark.parametrize(
    "record",
    [
        '{"text": "fever", "entities": [5]}',
        '{"text": "fever", "entities": {"a": 1}}',
        '{"text": "fever", "n": ' + "9" * 5000 + "}",
        '{"text": "fever", "n": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "[" * 100_000,
        "[]",
        "null",
    ],
    ids=["number for a span", "object of spans", "number", "deep", "brackets", "list", "null"],
)
def test_odd_json_is_refused_by_the_plain_reader(record):
    assert detect("a.jsonl", record) == "jsonl"
    assert detect("a.json", f"[{record}, {record}]") == "jsonl"


def test_format_of_a_long_list_is_detected_by_its_first_records():
    tasks = [{"data": {"text": "fever " * 1000}} for _ in range(100)]  # 600 kB, cut at 200 kB
    assert detect("tasks.json", tasks) == "label_studio"


def test_head_is_cut_between_characters():
    first = "ü" * 150_000  # 300 kB without a line end
    assert detect("a.txt", f"{first}\nfever\n") == "txt"
    assert detect("a.txt", ("Fever rose. ü\n" * 20_000).encode("utf-16-be")) == "txt"


def test_named_encoding_is_used():
    content = "doc_id,start,end,label\n発熱,0,1,Sign\n".encode("shift_jis")
    assert detect("a.csv", content, ReadOptions(encoding="shift_jis")) == "entities"


def test_annotations_alone_ask_for_their_text():
    with pytest.raises(InputError) as caught:
        detect("d1.ann", "T1\tSign 0 5\tFever\n")
    assert str(caught.value) == (
        "d1.ann is brat's annotation of a text that is not here. Give d1.txt with it, or zip both"
    )


@pytest.mark.parametrize(
    ("name", "ending"), [("notes.md", 'ending in ".md" are'), ("notes", "without an ending are")]
)
def test_unknown_ending_lists_what_is_known(name, ending):
    with pytest.raises(InputError) as caught:
        detect(name, "fever")
    assert str(caught.value) == (
        f"{name}: files {ending} not known. Supported: "
        ".txt .csv .tsv .jsonl .json .conll .bio .iob .iob2 .pubtator .ann .spacy .parquet .zip"
    )


def test_file_named_zip_that_is_not_a_zip_is_explained():
    with pytest.raises(InputError, match=r"^notes\.zip is not a zip archive\. Zip the files again"):
        detect("notes.zip", "fever")


def test_binary_of_an_unknown_ending_is_named_by_its_kind():
    with pytest.raises(InputError, match=r"^scan\.png is a PNG image\. "):
        detect("scan.png", b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("name", "data", "columns"),
    [
        ("a.csv", b"id;body\n1;x, y\n", ["id", "body"]),
        ("a.tsv", b"id\tbody\n1\tx\n", ["id", "body"]),
        ("a.jsonl", b'{"key": 1, "body": "x"}\n{"other": 2}\n', ["key", "body"]),
        ("a.json", b'[{"body": "x"}]', ["body"]),
        ("a.txt", b"id,body\n", []),
        ("a.jsonl", b"not json\n", []),
    ],
)
def test_columns_are_those_of_the_first_row_or_record(name, data, columns):
    assert column_names(SourceFile(name, data)) == columns
