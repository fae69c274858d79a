import errno
import io
import os
import stat
import threading
import zipfile
from contextlib import suppress

import pytest

from engine.files.archives import unzip
from engine.files.decoding import Decoded, decode
from engine.files.source_files import SourceFile, is_zip, read_source, written_whole
from engine.settings import Limits
from engine.text.model import InputError
from tests.support.archives import bomb, patched, zipped
from tests.support.counting import watched_memory
from tests.support.waiting import LIMIT

UNMARKED = "Fever and rash."
NUL_MESSAGE = (
    r"a\.txt line 2 holds a NUL byte \(character 7\), so it is not plain text\. "
    r"Save it as text again, or remove that byte"
)


def office(*names, name):
    return SourceFile(name, zipped([(member, b"<x/>") for member in names]).data)


# ---- decoding -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("Größe 😀\r\n".encode(), "utf-8"),
        ("Größe 😀\r\n".encode("utf-8-sig"), "utf-8-sig"),
        (b"\xff\xfe" + "Größe 😀\r\n".encode("utf-16-le"), "utf-16"),
        (b"\xfe\xff" + "Größe 😀\r\n".encode("utf-16-be"), "utf-16"),
        (b"\xff\xfe\0\0" + "Größe 😀\r\n".encode("utf-32-le"), "utf-32"),
        (b"\0\0\xfe\xff" + "Größe 😀\r\n".encode("utf-32-be"), "utf-32"),
    ],
    ids=["plain", "utf-8 mark", "utf-16-le mark", "utf-16-be mark", "utf-32-le mark", "utf-32-be"],
)
def test_decode_finds_the_encoding_and_keeps_line_ends(data, encoding):
    assert decode(SourceFile("a.txt", data)) == Decoded("Größe 😀\r\n", encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_decode_finds_utf_16_without_a_mark_and_says_so(encoding):
    decoded = decode(SourceFile("a.txt", UNMARKED.encode(encoding)))
    assert decoded == Decoded(UNMARKED, encoding, (f"read as {encoding.upper()}",))


def test_decode_falls_back_to_windows_1252_and_shows_a_word():
    decoded = decode(SourceFile("a.txt", "It was a naïve reading".encode("windows-1252")))
    note = (
        'is not UTF-8 (byte 0xEF at position 11); read as Windows-1252, e.g. "naïve". '
        "If that looks wrong, name its encoding"
    )
    assert decoded == Decoded("It was a naïve reading", "windows-1252", (note,))


def test_decode_names_the_byte_when_no_encoding_fits():
    with pytest.raises(InputError) as caught:
        decode(SourceFile("a.txt", b"x" * 1204 + b"\x81 fever"))
    assert str(caught.value) == (
        "a.txt is not UTF-8 (byte 0x81 at position 1,204), nor Windows-1252. "
        "Save it as UTF-8, or name its encoding"
    )


def test_decode_takes_the_encoding_that_is_named():
    decoded = decode(SourceFile("a.txt", "発熱".encode("shift_jis")), "shift_jis")
    assert decoded == Decoded("発熱", "shift_jis")


def test_decode_names_the_byte_that_a_named_encoding_cannot_hold():
    with pytest.raises(InputError, match=r"a\.txt is not ascii \(byte 0xC3 at position 2\)\. Name"):
        decode(SourceFile("a.txt", "naïve".encode()), "ascii")


def test_decode_counts_the_mark_when_it_names_a_byte():
    with pytest.raises(InputError, match=r"a\.txt is not utf-8-sig \(byte 0xE9 at position 5\)"):
        decode(SourceFile("a.txt", b"\xef\xbb\xbfab\xe9cd"))


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "undefined", "ut\0f"])
def test_decode_refuses_what_is_no_encoding_for_text(encoding):
    with pytest.raises(InputError, match=f'"{encoding}" is not an encoding; try utf-8, utf-16'):
        decode(SourceFile("a.txt", b"fever"), encoding)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["without mark", "with mark"])
def test_decode_refuses_a_nul_byte(mark):
    with pytest.raises(InputError, match=NUL_MESSAGE):
        decode(SourceFile("a.txt", mark + b"fever\nr\0sh and more"))


def test_decode_refuses_nul_in_utf_16():
    with pytest.raises(InputError, match=NUL_MESSAGE):
        decode(SourceFile("a.txt", "fever\nr\0sh and more".encode("utf-16")))


@pytest.mark.parametrize(
    "data",
    [b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xff\xfe"],
    ids=["no bytes", "white space", "utf-8 mark alone", "utf-16 mark alone"],
)
def test_decode_refuses_a_file_without_text(data):
    with pytest.raises(InputError) as caught:
        decode(SourceFile("a.txt", data))
    assert str(caught.value) == f"a.txt is empty ({len(data)} bytes). Nothing was added"


# ---- binary files under text names ----------------------------------------------------------


WORD = ("[Content_Types].xml", "word/document.xml")
EXCEL = ("[Content_Types].xml", "xl/workbook.xml")
OPEN_DOCUMENT = ("mimetype", "content.xml")


@pytest.mark.parametrize("extension", [".txt", ".csv", ".jsonl"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (office(*WORD, name="x").data, "a Word file"),
        (office(*EXCEL, name="x").data, "an Excel file"),
        (office("ppt/presentation.xml", name="x").data, "a PowerPoint file"),
        (office(*OPEN_DOCUMENT, name="x").data, "an OpenDocument file"),
        (office("a.txt", name="x").data, "a zip archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"GIF89a\x01\0\x01\0", "a GIF image"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "a gzip archive"),
        (b"BZh91AY&SY\0\0", "a bzip2 archive"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF file"),
        (b"PAR1\x15\x04\x15\0", "a Parquet file"),
        (b"SQLite format 3\0\x10", "a SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word or Excel file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_decode_says_what_kind_of_binary_a_text_name_hides(data, kind, extension):
    with pytest.raises(InputError) as caught:
        decode(SourceFile(f"report{extension}", data))
    assert str(caught.value) == (
        f"report{extension} is {kind}. Save its content as .txt or .csv and try again. Supported: "
        ".txt .csv .tsv .jsonl .json .conll .bio .iob .iob2 .pubtator .ann .zip"
    )


@pytest.mark.parametrize(
    "text",
    ["PAR1 is a receptor.", "BZhang wrote this.", "GIF8 is a gene.", "SQLite format 3 is old."],
)
def test_decode_reads_text_that_begins_like_a_binary_file(text):
    assert decode(SourceFile("a.txt", text.encode())).text == text


# ---- reading from disk ----------------------------------------------------------------------


def test_read_source_returns_name_and_bytes(tmp_path):
    (tmp_path / "Notes.TXT").write_bytes(b"fever\r\n")
    file = read_source(tmp_path / "Notes.TXT")
    assert file == SourceFile("Notes.TXT", b"fever\r\n")
    assert (file.stem, file.extension) == ("Notes", ".txt")


def test_read_source_says_that_a_file_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"no\.txt cannot be read: No such file or directory$"):
        read_source(tmp_path / "no.txt")


def test_read_source_refuses_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"is a folder; name the files in it, or zip them$"):
        read_source(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_read_source_says_that_a_file_may_not_be_read(tmp_path):
    (tmp_path / "a.txt").touch(mode=0o000)
    with pytest.raises(InputError, match=r"a\.txt cannot be read: Permission denied$"):
        read_source(tmp_path / "a.txt")


def test_read_source_refuses_a_file_over_the_limit(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 2_600_000)
    with pytest.raises(InputError) as caught:
        read_source(tmp_path / "a.txt", Limits(file_mb=2))
    assert str(caught.value) == (
        "a.txt is 3 MB; the limit is 2 MB per file. Split it into smaller files"
    )


# ---- archives -------------------------------------------------------------------------------


def test_unzip_returns_files_without_what_systems_add():
    archive = zipped(
        [
            ("notes/", b""),
            ("notes/a.txt", b"fever"),
            ("__MACOSX/notes/._a.txt", b"\0\5"),
            ("notes/._b.txt", b"\0\5"),
            ("notes/.DS_Store", b"\0\0\0\1Bud1"),
            ("notes/Thumbs.db", b"\xd0\xcf\x11\xe0"),
            ("notes/desktop.ini", b"[x]"),
            ("12:30.txt", b"rash"),
        ]
    )
    assert unzip(archive) == [
        SourceFile("notes/a.txt", b"fever"),
        SourceFile("12:30.txt", b"rash"),
    ]


@pytest.mark.parametrize(
    "path",
    ["../a.txt", "notes/../../a.txt", "/etc/a.txt", "..\\a.txt", "\\a.txt", "C:\\a.txt", "c:a.txt"],
)
def test_unzip_refuses_a_path_that_leaves_the_archive(path):
    with pytest.raises(InputError) as caught:
        unzip(zipped([("ok.txt", b"fever"), (path, b"rash")]))
    assert str(caught.value) == (
        f'texts.zip holds the path "{path}", which leaves the archive. '
        "Zip the files again without it"
    )


@pytest.mark.parametrize("name", ["inner.zip", "inner.ZIP", "inner.txt"])
def test_unzip_refuses_an_archive_in_an_archive(name):
    inner = zipped([("a.txt", b"fever")]).data
    with pytest.raises(InputError) as caught:
        unzip(zipped([(name, inner)]))
    assert str(caught.value) == (
        f'texts.zip holds another archive, "{name}". Unpack that one first'
    )


def test_unzip_refuses_ten_thousand_members():
    with pytest.raises(InputError, match=r"holds 10,000 files; the limit is 5,000\. Join small"):
        unzip(zipped([(f"{n}.txt", b"") for n in range(10_000)]))


def test_unzip_refuses_an_encrypted_member():
    data = patched(zipped([("a.txt", b"fever")]).data, local=6, central=8, value=1, layout="<H")
    with pytest.raises(InputError, match=r'"a\.txt" is encrypted\. Zip it without a password'):
        unzip(SourceFile("texts.zip", data))


def broken_archives():
    text = "".join(f"word{n} " for n in range(500)).encode()
    whole = zipped([("a.txt", text)]).data
    body = whole.index(b"a.txt") + 5
    accent = zipped([("é.txt", text)]).data
    return {
        "cut off": whole[:-30],
        "a bit of the content flipped": whole[: body + 40] + b"\xff\xff" + whole[body + 42 :],
        "content overwritten": whole[:body] + b"\xff" * 40 + whole[body + 40 :],
        "unknown compression": patched(whole, local=8, central=10, value=99, layout="<H"),
        "a newer version needed": patched(whole, local=4, central=6, value=90, layout="<H"),
        "a name that is not UTF-8": accent.replace("é.txt".encode(), b"\xff\xff.txt"),
        "another checksum": patched(whole, local=14, central=16, value=1, layout="<I"),
    }


@pytest.mark.parametrize("fault", list(broken_archives()))
def test_unzip_says_that_an_archive_is_damaged(fault):
    file = SourceFile("texts.zip", broken_archives()[fault])
    assert is_zip(file)
    with pytest.raises(InputError, match=r"^texts\.zip is a damaged zip archive \(.+\)\. Zip it"):
        unzip(file)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_unzip_reads_or_refuses_an_archive_with_any_byte_changed(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("é.txt", "fever " * 20)
    whole = buffer.getvalue()
    for place in range(4, len(whole)):
        for byte in (0, 0x5A, 0xFF):
            file = SourceFile("texts.zip", whole[:place] + bytes([byte]) + whole[place + 1 :])
            with suppress(InputError):
                decode(file) if not is_zip(file) else unzip(file)


def test_unzip_refuses_an_empty_archive():
    with pytest.raises(InputError, match=r"^texts\.zip holds no files\. Nothing was added$"):
        unzip(zipped([]))


def test_unzip_refuses_a_bomb_before_it_takes_memory():
    file = bomb()
    with (
        watched_memory() as memory,
        pytest.raises(InputError, match=r"bomb\.zip unpacks to more than 600 MB\. Split it"),
    ):
        unzip(file)
    assert memory.peak < 10_000_000


def test_unzip_reads_no_more_than_a_lying_header_claims():
    file = bomb(claimed_size=100)
    with (
        watched_memory() as memory,
        pytest.raises(InputError, match=r"bomb\.zip is a damaged zip archive \(Bad CRC-32"),
    ):
        unzip(file)
    assert memory.peak < 10_000_000


def test_unzip_counts_the_limit_over_all_members():
    members = [(f"{n}.txt", b"x" * 600_000) for n in range(4)]
    assert len(unzip(zipped(members), Limits(zip_unpacked_mb=3))) == 4
    with pytest.raises(InputError, match="unpacks to more than 2 MB"):
        unzip(zipped(members), Limits(zip_unpacked_mb=2))


# ---- writing --------------------------------------------------------------------------------


def test_written_whole_replaces_the_old_content(tmp_path):
    path = tmp_path / "new folder" / "labels.csv"
    for content in (b"old and long", b"new"):
        with written_whole(path) as out:
            out.write(content)
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["labels.csv"]


@pytest.mark.parametrize("fault", [ValueError("x"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_written_whole_keeps_the_old_content_when_writing_fails(tmp_path, fault):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"old")
    with pytest.raises(type(fault)), written_whole(path) as out:
        out.write(b"half of the n")
        raise fault
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["labels.csv"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_written_whole_leaves_nothing_on_a_full_disk(tmp_path, monkeypatch, call):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "labels.csv"
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(InputError) as caught, written_whole(path) as out:
        out.write(b"new")
    assert str(caught.value) == (
        f"no room left on the disk for {path}; nothing was written. "
        "Free some space or choose another folder"
    )
    assert os.listdir(tmp_path) == []


def test_written_whole_refuses_a_folder_in_place_of_a_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.mkdir()
    with pytest.raises(InputError) as caught, written_whole(path) as out:
        out.write(b"new")
    assert str(caught.value) == f"{path} cannot be written: Is a directory. Nothing was written"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_written_whole_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "a").touch()
    path = tmp_path / "a" / "labels.csv"
    with pytest.raises(InputError) as caught, written_whole(path) as out:
        out.write(b"new")
    assert str(caught.value).startswith(f"{path} cannot be written: ")


def test_written_whole_gives_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    with written_whole(tmp_path / "labels.csv") as out:
        out.write(b"new")
    assert (tmp_path / "labels.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_written_whole_keeps_the_permissions_of_the_file_it_replaces(tmp_path):
    path = tmp_path / "labels.csv"
    path.touch()
    path.chmod(0o600)
    with written_whole(path) as out:
        out.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_written_whole_writes_where_a_link_points(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "labels.csv")
    with written_whole(tmp_path / "link.csv") as out:
        out.write(b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "labels.csv").read_bytes() == b"new"


def test_written_whole_writes_into_a_pipe_and_does_not_replace_it(tmp_path):
    # As with /dev/null and /dev/stdout, which must never become files.
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    with written_whole(path) as out:
        out.write(b"new")
    assert stat.S_ISFIFO(path.lstat().st_mode)
    reader.join(LIMIT)
    assert read == [b"new"]
