import os
from dataclasses import asdict

import pytest

from engine.files.sources import SourceFile, read_source, refuse_lines
from engine.settings import LIMITS, NO_LIMITS, Limits
from engine.text.model import InputError


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


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_are_counted_however_they_end(end):
    refuse_lines(SourceFile("a.txt", (b"x" + end) * 3, Limits(lines=3)))
    with pytest.raises(InputError) as caught:
        refuse_lines(SourceFile("a.txt", (b"x" + end) * 4, Limits(lines=3)))
    assert str(caught.value) == "a.txt holds more than 3 lines. Split it into smaller files"
    assert caught.value.fix == "no_limits"


def test_no_limits_lift_all_but_where_sentences_are_cut():
    lifted = {name for name, most in asdict(NO_LIMITS).items() if most > 10**12}
    assert lifted == asdict(LIMITS).keys() - {"sentence_tokens"}


def test_read_source_refuses_a_file_over_the_limit(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 2_600_000)
    with pytest.raises(InputError) as caught:
        read_source(tmp_path / "a.txt", Limits(file_mb=2))
    assert str(caught.value) == (
        "a.txt is 3 MB; the limit is 2 MB per file. Split it into smaller files"
    )
