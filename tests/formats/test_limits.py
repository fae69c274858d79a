"""What one reading of files may cost: lines, documents and tokens."""

from dataclasses import replace

import pytest

from engine.files import SourceFile, path_source
from engine.formats import open_stream, plain_text, read_corpus
from engine.settings import LIMITS, NO_LIMITS, Limits, ReadOptions
from engine.text import InputError
from tests.support.archives import zipped
from tests.support.counting import watched_memory

LINES = ReadOptions(lines_are_documents=True)
JSON = b'{"text": "fever"}\n' * 4


def refusal(files, options=None):
    with pytest.raises(InputError) as caught:
        read_corpus(files, options)
    assert caught.value.fix == "no_limits"
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("a.txt", b"x\n" * 4, LINES),
        ("a.jsonl", JSON, None),
        ("a.json", b'[{"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d"}]', None),
        ("a.csv", b"text\na\nb\nc\nd\n", None),
        ("a.conll", b"-DOCSTART- O\n\nfever O\n\n" * 4, None),
    ],
)
def test_documents_are_limited_in_every_format(name, data, options):
    limits = Limits(documents=4)
    assert len(read_corpus([SourceFile(name, data, limits)], options).documents) == 4
    limits = Limits(documents=3)
    assert refusal([SourceFile(name, data, limits)], options) == (
        f"{name} holds more than 3 documents. Split it into smaller files"
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"a b c d"),
        ("a.jsonl", JSON),
        ("a.conll", b"fever O\n" * 4),
        ("a.txt", b"fever O 0\n" * 4),  # the format of the benchmark
    ],
)
def test_tokens_are_limited_in_every_format(name, data):
    assert read_corpus([SourceFile(name, data, Limits(tokens=4))]).documents
    assert refusal([SourceFile(name, data, Limits(tokens=3))]) == (
        f"{name} holds more than 3 tokens. Split it into smaller files"
    )


@pytest.mark.parametrize("limits", [Limits(tokens=3), Limits(documents=1)])
def test_files_that_are_read_together_count_together(limits):
    pair = [SourceFile(name, b"a b", limits) for name in ("a.txt", "b.txt")]
    assert refusal(pair).startswith("b.txt holds more than ")
    archive = zipped({"a.txt": b"a b", "b.txt": b"a b"})
    assert refusal([replace(archive, limits=limits)]).startswith("b.txt holds more than ")
    brat = zipped({"a.txt": b"a b", "a.ann": b"", "b.txt": b"a b"})
    assert refusal([replace(brat, limits=limits)]).startswith("texts.zip holds more than ")


def test_no_document_is_made_beyond_the_limit(monkeypatch):
    made = []
    make = plain_text.make_document

    def counted(id, text):
        made.append(id)
        return make(id, text)

    monkeypatch.setattr(plain_text, "make_document", counted)
    refusal([SourceFile("a.txt", b"x\n" * 1_000, Limits(documents=10))], LINES)
    assert len(made) == 11


def test_a_file_with_too_many_lines_is_refused_before_it_is_decoded():
    file = SourceFile("a.csv", b"\n" * 1_000_000, Limits(lines=10))
    with watched_memory() as memory:
        message = refusal([file])
    assert message == "a.csv holds more than 10 lines. Split it into smaller files"
    assert memory.peak < 2_000_000


def test_a_file_of_short_lines_takes_few_bytes_per_document():
    file = SourceFile("a.txt", b"x\n" * 5_000)
    with watched_memory() as memory:
        read_corpus([file], LINES)
    assert memory.peak / 5_000 < 900


def test_no_limits_read_it_all():
    limits = replace(LIMITS, tokens=1, documents=1, lines=1)
    data = b"a b\nc d\ne f\n"
    assert refusal([SourceFile("a.txt", data, limits)], LINES)
    assert len(read_corpus([SourceFile("a.txt", data, NO_LIMITS)], LINES).documents) == 3


def test_a_stream_of_lines_has_no_limits(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a b\nc d\ne f\n")
    limits = Limits(tokens=1, documents=1, lines=1)
    assert refusal([path_source(path, limits)], LINES)
    assert len(list(open_stream([path], LINES, limits))) == 3
