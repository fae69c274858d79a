"""spaCy's DocBin and Parquet: formats that are not text."""

import io
import json
import random
import subprocess
import sys
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from hypothesis import given
from spacy.tokens import DocBin

from engine.cli.command_line import main
from engine.export.verification import verify
from engine.files.sources import SourceFile, read_source
from engine.formats import contract
from engine.formats.catalog import FORMATS
from engine.formats.contract import WriteOptions
from engine.formats.reading import read_corpus
from engine.formats.streaming import open_stream
from engine.formats.writing import writable_format, write_corpus
from engine.projects.previews import is_previewed_at_once, is_read_at_once
from engine.settings import Limits, ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

TEXT = "He  had gout.\n\nLow-dose aspirin 😀 helped. "
GOUT, ASPIRIN = Entity(8, 12, "Disease", 0.5), Entity(24, 31, "Chemical", canonical_id="D001")
DOSE = Entity(15, 31, "Chemical")  # overlaps
HALF = Entity(9, 12, "Disease")  # begins inside a token
FORMATS_HERE = ("docbin", "parquet")


def written(format, corpus):
    out = io.BytesIO()
    report = FORMATS[format].write(corpus, out, WriteOptions())
    return out.getvalue(), report


def one(*entities, text=TEXT):
    return Corpus((make_document("a b", text),), {"a b": entities})


def docs(data):
    return list(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


def places(entities):
    return sorted((e.start, e.end, e.entity_type) for e in entities)


# ---- what other tools see -------------------------------------------------------------------


def test_spacy_sees_the_same_text_entities_and_sentences():
    data, report = written("docbin", one(GOUT, ASPIRIN))
    [doc] = docs(data)
    assert doc.text == TEXT and doc.user_data["doc_id"] == "a b"
    assert [(e.text, e.label_, e.kb_id_) for e in doc.ents] == [
        ("gout", "Disease", ""),
        ("aspirin", "Chemical", "D001"),
    ]
    starts = [token.idx for token in doc if token.is_sent_start]
    assert 0 in starts and 15 in starts and len(starts) <= 3
    assert (report.rows, report.notes) == (2, ())


def test_overlapping_entities_are_all_in_the_span_group():
    data, report = written("docbin", one(ASPIRIN, DOSE, HALF))
    [doc] = docs(data)
    assert [e.text for e in doc.ents] == ["out", "Low-dose aspirin"]
    assert sorted(s.text for s in doc.spans["sc"]) == ["Low-dose aspirin", "aspirin", "out"]
    assert report.notes == (
        '1 entities overlap longer ones: they are in doc.spans["sc"], not in doc.ents',
    )


def test_what_nobody_annotated_is_unset_in_spacy_and_null_in_parquet():
    documents = (make_document("d", "Fever."), make_document("e", "Rash."))
    corpus = Corpus(documents, {"e": ()})
    first, second = docs(written("docbin", corpus)[0])
    assert not first.has_annotation("ENT_IOB") and second.has_annotation("ENT_IOB")
    rows = pq.read_table(io.BytesIO(written("parquet", corpus)[0])).to_pylist()
    assert [row["entities"] for row in rows] == [None, []]
    assert [row["ner_tags"] for row in rows] == [None, [0, 0]]


def test_hugging_face_sees_tokens_and_named_tags():
    table = pq.read_table(io.BytesIO(written("parquet", one(GOUT, DOSE))[0]))
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    names = features["ner_tags"]["feature"]["names"]
    assert names == ["O", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease"]
    assert list(features) == table.column_names
    [row] = table.to_pylist()
    tagged = [(t, names[n]) for t, n in zip(row["tokens"], row["ner_tags"], strict=True) if n]
    assert tagged[:2] == [("gout", "B-Disease"), ("Low", "B-Chemical")]
    assert row["entities"][0] == {
        "start": 8, "end": 12, "label": "Disease", "text": "gout", "score": 0.5,
        "canonical_id": None,
    }  # fmt: skip
    assert row["tokens"][row["sentences"][1]] == "Low"


# ---- there and back -------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS_HERE)
@given(corpus=corpora(aligned=False))
def test_any_corpus_comes_back_at_the_same_places(format, corpus):
    data, _ = written(format, corpus)
    assert verify(data, format, corpus).problem == ""


@pytest.mark.parametrize("format", FORMATS_HERE)
def test_files_are_read_whole_and_as_a_stream(format, tmp_path):
    path = tmp_path / f"x{FORMATS[format].extensions[0]}"
    write_corpus(one(GOUT, ASPIRIN, DOSE), path)
    corpus = read_corpus([read_source(path)])
    assert corpus.documents[0].text == TEXT
    assert places(corpus.entities["a b"]) == places([GOUT, ASPIRIN, DOSE])
    assert [document.id for document in open_stream([path])] == ["a b"]


def test_half_a_character_does_not_stop_an_export():
    corpus = one(GOUT, text=TEXT.replace("😀", "\ud83d"))
    for format in FORMATS_HERE:
        assert verify(written(format, corpus)[0], format, corpus).problem == ""


def test_the_command_line_converts_to_and_fro(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.jsonl").write_text(
        '{"id": "n", "text": "He had gout.", "entities": [[7, 11, "Disease"]]}'
    )
    for source, out in (
        ("notes.jsonl", "a.spacy"),
        ("a.spacy", "b.parquet"),
        ("b.parquet", "c.jsonl"),
    ):
        assert main(["convert", source, "--out", out]) == 0
    record = json.loads((tmp_path / "c.jsonl").read_text())
    assert record["entities"][0]["text"] == "gout"


# ---- bad input ------------------------------------------------------------------------------


def read(name, data, limits=None):
    return read_corpus([SourceFile(name, data, limits or Limits())])


@pytest.mark.parametrize("format", FORMATS_HERE)
def test_damaged_files_are_refused_in_one_sentence(format):
    data, _ = written(format, one(GOUT, ASPIRIN, DOSE))
    name, chance = f"x{FORMATS[format].extensions[0]}", random.Random(0)
    refused = 0
    for _ in range(60):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 3, 20))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        if format == "docbin" and chance.random() < 0.7:  # past the checksum of zlib
            inside = bytearray(zlib.decompress(data))
            inside[chance.randrange(len(inside))] = chance.randrange(256)
            changed = zlib.compress(bytes(inside))
        try:
            read(name, bytes(changed[: chance.choice((len(changed), len(changed) // 2))]))
        except InputError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 20


def test_text_under_such_a_name_is_refused():
    for name, kind in (("x.spacy", "spaCy's DocBin"), ("x.parquet", "Parquet")):
        with pytest.raises(InputError, match=f"^{name} cannot be read as {kind} "):
            read(name, b"He had gout.")


def test_what_unpacks_to_too_much_is_refused():
    bomb = zlib.compress(bytes(3_000_000))
    with pytest.raises(InputError, match="unpacks to more than 2 MB"):
        read("x.spacy", bomb, Limits(zip_unpacked_mb=2))
    out = io.BytesIO()
    pq.write_table(pa.table({"text": [random.Random(0).randbytes(1_500_000).hex()]}), out)
    with pytest.raises(InputError, match="unpacks to more than 2 MB"):
        read("x.parquet", out.getvalue(), Limits(zip_unpacked_mb=2))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"words": ["x"]}, r"^No text column found in x.parquet. Columns: words"),
        ({"text": [None]}, "row 1 has no text"),
        (
            {"text": ["gout"], "entities": [[{"start": 0, "end": 9, "label": "D"}]]},
            r"row 1: entity 0..9 lies outside the text",
        ),
        ({"text": ["gout"], "entities": [[{"start": 0, "end": 4}]]}, "an entity has no label"),
        ({"text": ["gout"], "entities": ["D"]}, "an entity has no label"),
    ],
)
def test_faults_in_parquet_are_named(columns, message):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    with pytest.raises(InputError, match=message):
        read("x.parquet", out.getvalue())


def test_columns_can_be_named():
    out = io.BytesIO()
    pq.write_table(pa.table({"note": ["gout"], "key": [7]}), out)
    options = ReadOptions(text_column="note", id_column="key")
    corpus = read_corpus([SourceFile("x.parquet", out.getvalue())], options)
    assert [(d.id, d.text) for d in corpus.documents] == [("7", "gout")]
    with pytest.raises(InputError, match='has no column "nots"'):
        read_corpus([SourceFile("x.parquet", out.getvalue())], ReadOptions(text_column="nots"))


def test_the_process_that_serves_pages_does_not_unpack_them():
    files = [SourceFile("x.parquet", b"PAR1")]
    assert not is_read_at_once(files) and not is_previewed_at_once(files)


def test_without_spacy_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(contract, "find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        writable_format(tmp_path / "x.spacy")
    assert str(error.value) == (
        'the format docbin needs spacy, which is not installed. Run: pip install "glossa[spacy]"'
    )
    assert writable_format(tmp_path / "x.parquet").name == "parquet"


def test_spacy_is_imported_only_when_it_is_asked_for():
    script = "import sys, engine.cli.command_line, glossa; assert 'spacy' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
