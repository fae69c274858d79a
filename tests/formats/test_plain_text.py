import pytest

from engine.files.sources import SourceFile
from engine.formats import plain_text
from engine.settings import LIMITS, ReadOptions
from engine.text.model import Corpus, InputError

PLAIN = ReadOptions()
LINES = ReadOptions(lines_are_documents=True)


def read_txt(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return plain_text.read(SourceFile("notes.txt", raw), options)


def texts(corpus: Corpus) -> list[tuple[str, str]]:
    return [(document.id, document.text) for document in corpus.documents]


def test_text_file_is_one_document_named_after_it() -> None:
    corpus = read_txt("Fever came.\n\nIt went.")
    assert texts(corpus) == [("notes", "Fever came.\n\nIt went.")]
    assert corpus.entities == {}
    assert (corpus.files[0].format, corpus.files[0].documents) == ("txt", 1)


def test_text_keeps_windows_line_endings() -> None:
    assert texts(read_txt(b"a.\r\nb.\r\n")) == [("notes", "a.\r\nb.\r\n")]


def test_each_line_is_a_document_when_asked() -> None:
    corpus = read_txt("one \r\n\r\n  \ntwo\rthree\x0cstill three", LINES)
    assert texts(corpus) == [
        ("notes-000001", "one "),
        ("notes-000002", "two"),
        ("notes-000003", "three\x0cstill three"),
    ]


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbfna\xc3\xafve", "utf-8-sig"),
        ("naïve".encode("utf-16"), "utf-16"),
        ("naïve".encode("utf-16-le"), "utf-16-le"),
        (b"na\xefve", "windows-1252"),
    ],
    ids=["byte order mark", "utf-16", "utf-16 without mark", "windows-1252"],
)
def test_text_is_read_in_the_encoding_it_was_saved_in(data: bytes, encoding: str) -> None:
    corpus = read_txt(data)
    assert texts(corpus) == [("notes", "naïve")]
    assert corpus.files[0].encoding == encoding


def test_byte_order_mark_is_not_text_when_the_encoding_is_named() -> None:
    corpus = read_txt(b"\xef\xbb\xbffever", ReadOptions(encoding="utf-8"))
    assert texts(corpus) == [("notes", "fever")]


def test_guessed_encoding_is_noted() -> None:
    assert "read as Windows-1252" in read_txt(b"na\xefve").notes[0]


def test_nul_byte_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"notes.txt line 2 holds a NUL byte"):
        read_txt(b"fever\nco\0ugh and more\n")


def test_empty_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"notes.txt is empty"):
        read_txt(b"  \n")


def test_cut_sentences_are_noted() -> None:
    corpus = read_txt("word " * (LIMITS.sentence_tokens + 1))
    assert corpus.notes == ["notes.txt: 1 sentences were too long and were cut"]
