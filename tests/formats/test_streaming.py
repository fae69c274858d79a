import io
import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.sources import SourceFile
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.formats.ids import IdBook, unique_ids
from engine.formats.reading import read_corpus
from engine.formats.streaming import open_stream, stream_sources
from engine.settings import ReadOptions
from engine.text.model import InputError
from tests.support.archives import zipped
from tests.support.corpora import corpora
from tests.support.counting import watched_memory
from tests.support.dribbles import Dribble

PACKED = ("brat", "docbin", "parquet")  # not text
WRITABLE = [name for name, format in FORMATS.items() if format.write and name not in PACKED]
# Changes to a line of a file; most cause an error or a repeated id.
SURGERY = st.sampled_from(["twice", "dropped", "cut", "blank before", "junk before", "moved"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "windows-1252"])
OPTIONS = st.builds(
    ReadOptions,
    lines_are_documents=st.booleans(),
    skip_bad_lines=st.booleans(),
    encoding=st.sampled_from([None, None, None, "utf-8", "utf-16"]),
)
TABLES = (
    "id,text\n1,fever\n2,\n2,rash\n",
    'text;id\n"a ""quoted"";\nline";x\nplain;x\n;y\n',
    "note\ttext\n\n\nshort\tfever, rash\nlong\trow\ttoo\n",
    "id|text\na|x\na|y\na~2|z\n",
    'id,text\n1,"never closed\n2,b\n',
)
TEXTS = ("Fever came.\n\nIt went.", "a\x0cb\rc\u2028d", "1|t|Fever\n1|a|It rose.\n2|t|Rash\n")


def operate(text, surgery, at, end):
    lines = text.splitlines(keepends=False)
    at %= max(len(lines), 1)
    lines[at:at] = {
        "twice": lines[at : at + 1],
        "blank before": [" "],
        "junk before": ["junk"],
    }.get(surgery, [])
    if surgery == "dropped":
        del lines[at : at + 1]
    elif surgery == "cut":
        lines[at : at + 1] = [line[: len(line) // 2] for line in lines[at : at + 1]]
    elif surgery == "moved":
        lines = lines[at:] + lines[:at]
    return end.join([*lines, ""])


@st.composite
def files(draw):
    """A file of any format, often with something wrong in it."""
    kind = draw(st.sampled_from([*WRITABLE, "table", "txt"]))
    if kind in ("table", "txt"):
        text = draw(st.sampled_from(TABLES if kind == "table" else TEXTS))
        extension = draw(st.sampled_from([".csv", ".tsv"])) if kind == "table" else ".txt"
    else:
        out = io.BytesIO()
        FORMATS[kind].write(draw(corpora(aligned=False)), out, WriteOptions())
        text, extension = out.getvalue().decode(), FORMATS[kind].extensions[0]
        if kind == "label_studio":  # also as JSON lines, which Label Studio does not write
            text = draw(st.sampled_from([text, text[2:-3].replace(",\n", "\n")]))
    for surgery in draw(st.lists(SURGERY, max_size=2)):
        text = operate(text, surgery, draw(st.integers(0, 20)), draw(ENDS))
    name = draw(st.sampled_from(["d", "e"])) + extension
    return SourceFile(name, text.encode(draw(ENCODINGS), "replace"))


def whole(sources, options=None):
    corpus = read_corpus(sources, options)
    return corpus.documents, corpus.files, corpus.notes


def streamed(sources, options=None):
    stream = stream_sources(sources, options)
    documents = tuple(stream)
    assert (len(stream), tuple(stream.ids())) == (len(documents), tuple(d.id for d in documents))
    return documents, stream.files, stream.notes


def outcome(read, *arguments):
    try:
        return read(*arguments)
    except InputError as error:
        return str(error), error.fix


def file(name, content):
    return SourceFile(name, content.encode() if isinstance(content, str) else content)


# ---- the same as reading at once ------------------------------------------------------------


@given(st.lists(files(), min_size=1, max_size=3), OPTIONS, st.sampled_from([1, 2, 3, 64]))
def test_a_stream_gives_what_reading_at_once_gives(sources, options, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.files.decoding._BLOCK", size)
        pieces = outcome(streamed, [Dribble(source, size) for source in sources], options)
    assert pieces == outcome(whole, sources, options)


PAIR = [file("d.ann", "T1\tSign 0 5\tFever\n"), file("d.txt", "Fever")]
TOKENS = "doc_id,sent_id,token_id,token,start,end,tag_gold\n"
GOLD = "doc_id,start,end,label\n"


@pytest.mark.parametrize(
    "sources",
    [
        PAIR,
        [zipped({"d.txt": "Fever", "d.ann": "T1\tSign 0 5\tFever\n"}, "b.zip")],
        [zipped({"x/a.txt": "Fever", "b.csv": "id,text\n7,rash\n7,itch\n"}, "a.zip")],
        [zipped({"d.ann": ""}, "only.zip")],
        [zipped({"inner.txt": PAIR[1].data, "z.txt": zipped({"a": "b"}, "i").data}, "outer.zip")],
        [zipped({"word/document.xml": "x"}, "notes.txt")],
        [file("broken.zip", b"PK\x03\x04 and no more")],
        [file("photo.txt", b"\x89PNG\r\n")],
        [file("notes.docx", "text")],
        [file("notes", "text")],
        [file("a.ann", b"\xff\xfe\x00")],
        [file("d.txt", "Fever"), file("d.txt", "Rash"), file("d.txt", "Itch")],
        [file("a.jsonl", '{"id": "d", "text": "x"}'), file("b.jsonl", '{"id": "d", "text": "y"}')],
        [file("a.csv", "id,text\na,x\na,y\na~2,z\n"), file("b.csv", "id,text\na~3,x\na,y\n")],
        [file("d.txt", "Fever"), file("gold.csv", f"{GOLD}d,0,5,Sign\n")],
        [file("d.txt", "Fever"), file("gold.csv", f"{GOLD}d,0,50,Sign\n")],
        [file("gold.csv", f"{GOLD}d,0,5,Sign\n")],
        [file("t.csv", f"{TOKENS}d,0,0,a,0,1,O\ne,0,0,b,0,1,B-X\nd,0,1,c,2,3,O\n")],
        [file("t.csv", f"{TOKENS}d,0,0,a,0,1,O\ne,0,0,b,0,1,O\nd,0,1,c,200000,200001,O\n")],
        [file("t.csv", f"{TOKENS}d,0,0,ab,0,1,O\n")],
        [file("t.csv", TOKENS)],
        [file("s.jsonl", '"text"\n{"entities": []}\n')],
        [file("s.jsonl", '["a", {"entities": []}]\n"text"\n{"entities": []}\n')],
        [file("l.jsonl", '[{"text": "a"},\n {"text": "b"}]')],
        [file("l.json", '{"text": "a"}\n{"text": "b"}\n')],
        [file("l.json", '{"text": \n"b"\n')],
        [file("e.jsonl", "[]")],
        [file("long.tsv", "\n" * 300 + "id\ttext\n1\ta, b\n2\tc, d\n")],
        [file("one.conll", "# doc_id = 7\n\nFever B-Sign\n")],
        [file("two.conll", "Fever I-Sign\n\n-DOCSTART- O\n\nRash I-Sign\n")],
        [file("b.conll", "Fever B-Sign 1\nrose O 0\n")],
        [file("nul.txt", "a\nb\0c")],
        [],
    ],
)
def test_files_that_are_not_lines_are_streamed_too(sources):
    expected = outcome(whole, sources)
    assert outcome(streamed, sources) == expected
    assert outcome(streamed, [Dribble(source, 2) for source in sources]) == expected


def test_a_file_beyond_the_head_keeps_its_format_encoding_and_columns(tmp_path):
    pad = "x" * 300  # the head of a file is its first 200,000 bytes
    lines = [json.dumps({"key": n % 500, "text": f"{n} été", "pad": pad}) for n in range(900)]
    bad = '{"text": 5}'
    data = "\n".join([*lines, bad, "no json"]).encode("windows-1252") + b"\n"
    path = tmp_path / "many.jsonl"
    path.write_bytes(data.replace(b"\\u00e9", b"\xe9"))
    options = ReadOptions(skip_bad_lines=True, id_column="key")
    stream = open_stream([path], options)
    source = file("many.jsonl", path.read_bytes())
    assert (tuple(stream), stream.files, stream.notes) == whole([source], options)
    assert [report.encoding for report in stream.files] == ["windows-1252"]
    assert any("line 901" in note for note in stream.notes)


def test_archives_on_the_disk_are_read_member_by_member(tmp_path):
    archive = zipped({"a.jsonl": '{"text": "Fever"}\n{"text": "Rash"}\n', "b.txt": "It"}, "a.zip")
    (tmp_path / "a.zip").write_bytes(archive.data)
    stream = open_stream([tmp_path / "a.zip"])
    assert (tuple(stream), stream.files, stream.notes) == whole([archive])


# ---- what only a stream has -----------------------------------------------------------------


def test_notes_on_split_text_come_when_it_was_split(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "text": "x " * 1500}))
    stream = open_stream([tmp_path / "a.jsonl"])
    assert stream.notes == []
    assert not stream.has_words
    list(stream)
    assert stream.notes == ["a.jsonl: 1 sentences over 1,000 tokens were cut"]
    assert stream.has_words


def test_a_stream_holds_one_document_at_a_time(tmp_path):
    path = tmp_path / "large.jsonl"
    with open(path, "w") as out:
        for number in range(400):
            out.write(
                json.dumps({"id": f"d{number}", "text": f"Fever {number} rose. " * 20}) + "\n"
            )
    stream = open_stream([path])
    next(iter(stream))  # load everything that is loaded only once
    with watched_memory() as memory:
        count = sum(len(document.sentences) for document in stream)
    assert count == 8_000
    assert memory.peak < 300_000  # the documents take six million bytes together


def test_a_pipe_is_read_once_and_kept(tmp_path):
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=('{"text": "Fever"}\n',))
    writer.start()
    stream = open_stream([path])
    writer.join()
    assert [document.text for document in stream] == ["Fever"]
    assert [document.text for document in stream] == ["Fever"]


def test_a_file_that_changes_while_it_is_read_is_reported(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Fever"}\n{"text": "Rash"}\n')
    stream = open_stream([path])
    path.write_text('{"text": "Fever"}\n')
    with pytest.raises(InputError, match=r"^a\.jsonl was changed while it was read\. Try again$"):
        list(stream)


def test_size_limits_only_what_has_to_be_held():
    lines = Dribble(file("a.jsonl", '{"text": "a"}\n{"text": "b"}\n'), 64, claimed=201_000_000)
    assert [document.text for document in stream_sources([lines])] == ["a", "b"]
    one_list = Dribble(file("a.json", '[{"text": "a"},\n{"text": "b"}]'), 64, claimed=201_000_000)
    with pytest.raises(InputError, match=r"^a\.json is 201 MB; the limit is 200 MB per file\."):
        stream_sources([one_list])


# ---- ids ------------------------------------------------------------------------------------

IDS = st.lists(st.sampled_from(["a", "b", "a~2", "a~3", "a~2~2", ""]), max_size=12)


@given(IDS)
def test_an_id_book_renames_as_unique_ids_does(ids):
    book = IdBook(ids)
    book.close()
    expected, changed = unique_ids(ids)
    for _ in range(2):
        rename = book.renamer()
        assert [rename(id) for id in ids] == expected
    assert book.renamed([len(ids)]) == [changed]


def test_an_id_book_counts_changed_ids_by_stretch():
    book = IdBook(["a", "b", "a", "c", "b", "a"])
    book.close()
    assert book.renamed([2, 0, 2, 2]) == [0, 0, 1, 2]


def test_ids_with_the_same_hash_are_distinguished_by_their_text(monkeypatch):
    monkeypatch.setattr("engine.formats.ids.hash", lambda id: 7, raising=False)
    book = IdBook(["a", "b", "c"])
    book.close()
    rename = book.renamer()
    assert [rename(id) for id in ("a", "b", "c")] == ["a", "b", "c"]
