import errno
import os
import stat
import threading

import pytest

from engine.files.writing import written_whole
from engine.text.model import InputError
from tests.support.waiting import LIMIT


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
