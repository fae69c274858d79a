import codecs
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.decoding import decode
from engine.files.sources import PathSource, SourceFile, path_source, read_whole
from engine.files.text_files import ANY_END, NEWLINE, open_text
from engine.text.model import InputError
from tests.support.dribbles import Dribble

ENCODINGS = (
    None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "windows-1252",
    "shift_jis", "gb18030", "iso2022_jp", "utf-7", "ascii", "idna", "unicode_escape", "undefined",
    "hex", "no such", "a\0b", "",
)  # fmt: skip
PIECES = st.sampled_from(
    [
        b"a", b"\n", b"\r", b"\r\n", b" ", b"\0", b"\xff", b"\x81", b"\xe9", b"\x0c", b"\x1a",
        "ï".encode(), "\u2028".encode(), "東京".encode(), "東京".encode("shift_jis"),
        "été".encode("utf-16-le"), "x\n".encode("utf-16-be"), "😀".encode(), "😀".encode()[:3],
        codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE,
        b"%PDF", b"\x1f\x8b", b"+AGE-",
    ]
)  # fmt: skip
DATA = st.lists(PIECES, max_size=9).map(b"".join) | st.binary(max_size=12)


def outcome(read, source, encoding):
    """The text with everything reported about it, or the error message."""
    try:
        text = read(source, encoding)
    except InputError as error:
        return str(error), error.fix
    return (
        text.name, text.encoding, text.notes, text.is_marked, text.whole(),
        list(text.lines(ANY_END)), list(text.lines(NEWLINE)),
    )  # fmt: skip


@given(DATA, st.sampled_from(ENCODINGS), st.integers(1, 5))
def test_text_on_the_disk_is_decoded_as_in_memory(data, encoding, size):
    file = SourceFile("notes.txt", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.files.decoding._BLOCK", size)
        stored = outcome(open_text, Dribble(file, size), encoding)
    assert stored == outcome(open_text, file, encoding)


@given(DATA, st.sampled_from(ENCODINGS))
def test_a_text_that_is_accepted_is_what_python_decodes(data, encoding):
    try:
        text = open_text(SourceFile("notes.txt", data), encoding)
    except InputError:
        return
    assert text.whole() == data.decode(text.encoding).removeprefix("\ufeff")


@given(st.text(st.sampled_from("ab\r\n\x0b\x0c\x1c\x85\u2028"), max_size=12))
def test_lines_end_where_python_ends_them_and_keep_their_ends(text):
    lines = open_text(SourceFile("a.txt", f"x{text}".encode())).lines
    assert list(lines(ANY_END)) == list(io.StringIO(f"x{text}", newline=""))
    assert "".join(lines(NEWLINE)) == f"x{text}"
    assert list(lines(NEWLINE)) == list(io.StringIO(f"x{text}", newline="\n"))


def test_a_late_byte_decides_the_encoding_of_text_on_disk(tmp_path):
    data = b"plain\n" * 1_000_000 + b"caf\xe9 au lait\n"
    (tmp_path / "a.txt").write_bytes(data)
    text = open_text(path_source(tmp_path / "a.txt"))
    assert text.encoding == "windows-1252"
    assert text.notes == decode(SourceFile("a.txt", data)).notes
    assert 'e.g. "café"' in text.notes[0]
    assert sum(1 for _ in text.lines(ANY_END)) == 1_000_001


def test_a_source_that_cannot_be_read_is_explained_in_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"absent\.txt cannot be read: No such file"):
        path_source(tmp_path / "absent.txt")
    with pytest.raises(InputError, match="is a folder; name the files in it, or zip them"):
        path_source(tmp_path)


def test_only_files_held_in_memory_are_limited(tmp_path):
    source = PathSource(Path("large.txt"), "large.txt", 201_000_000)
    with pytest.raises(InputError, match=r"large\.txt is 201 MB; the limit is 200 MB per file"):
        read_whole(source)
