import io
import random
import zipfile
from contextlib import suppress

import pytest

from engine.files.archives import packed_members, unzip, unzip_to
from engine.files.decoding import decode
from engine.files.sources import SourceFile, is_zip, path_source
from engine.settings import LIMITS, NO_LIMITS, Limits
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
    members = [(f"{n}.txt", random.Random(n).randbytes(600_000)) for n in range(4)]
    assert len(unzip(zipped(members), Limits(zip_unpacked_mb=3))) == 4
    with pytest.raises(InputError, match="unpacks to more than 2 MB"):
        unzip(zipped(members), Limits(zip_unpacked_mb=2))


DENSE = zipped([("a.txt", b"ab cd. " * 300_000)])  # 2.1 MB in 3 KB


def unpacked_on_disk(folder, limits):
    (folder / "texts.zip").write_bytes(DENSE.data)
    return packed_members(path_source(folder / "texts.zip", limits))


def unpacked_to_folder(folder, limits):
    (folder / "out").mkdir()
    unzip_to(io.BytesIO(DENSE.data), folder / "out", name="texts.zip", limits=limits)


UNPACKERS = [lambda _, limits: unzip(DENSE, limits), unpacked_on_disk, unpacked_to_folder]


@pytest.mark.parametrize("unpack", UNPACKERS, ids=["memory", "disk", "folder"])
def test_an_archive_of_hardly_anything_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch, unpack
):
    def read(*_arguments):
        raise AssertionError("it was unpacked")

    with monkeypatch.context() as patches, pytest.raises(InputError) as caught:
        patches.setattr(zipfile.ZipExtFile, "read", read)
        unpack(tmp_path, LIMITS)
    assert str(caught.value) == (
        "texts.zip unpacks to more than 100 times its size. Give the files themselves"
    )
    assert caught.value.fix == "no_limits"


@pytest.mark.parametrize("unpack", UNPACKERS, ids=["memory", "disk", "folder"])
@pytest.mark.parametrize(
    "limits",
    [NO_LIMITS, Limits(zip_ratio=1_000), Limits(zip_small_mb=3)],
    ids=["no", "ratio", "mb"],
)
def test_limits_of_its_own_let_such_an_archive_in(tmp_path, unpack, limits):
    unpack(tmp_path, limits)


def test_a_small_archive_may_shrink_as_much_as_it_can():
    [file] = unzip(zipped([("a.txt", b"x\n" * 490_000)]))
    assert file.size == 980_000


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
