import io
import zipfile
from contextlib import suppress

import pytest

from engine.files.archives import packed_members, unzip
from engine.files.decoding import decode
from engine.files.sources import SourceFile, is_zip, path_source
from engine.settings import Limits
from engine.text.model import InputError
from tests.support.archives import bomb, patched, zipped
from tests.support.counting import count_calls, watched_memory


def test_unzip_leaves_out_files_that_operating_systems_add():
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


@pytest.mark.parametrize("is_on_disk", [True, False], ids=["on disk", "in memory"])
def test_a_member_costs_the_same_in_an_archive_of_any_size(tmp_path, is_on_disk):
    def calls(size):
        archive = zipped([(f"{n:04d}.txt", b"Fever") for n in range(size)])
        if is_on_disk:
            (tmp_path / "texts.zip").write_bytes(archive.data)
            archive = path_source(tmp_path / "texts.zip")
        last = packed_members(archive)[-1]
        with last.open() as stream:
            assert stream.read() == b"Fever"
        return count_calls(lambda: last.open().close())

    assert calls(200) == calls(2)


def test_a_member_without_a_name_is_refused():
    with pytest.raises(InputError, match='holds the path "", which leaves the archive'):
        unzip(zipped([("", b"x"), ("a.txt", b"x")]))
