"""New files before they are saved: large text is read at its beginning only."""

import json

import pytest

from engine.files import SourceFile
from engine.projects import (
    AT_ONCE_BYTES,
    create_project,
    is_previewed_at_once,
    is_read_at_once,
    preview_from,
    preview_heads,
    preview_record,
    preview_text,
    preview_units,
    read_units,
)
from engine.settings import ReadOptions
from engine.text import InputError, tokenization
from tests.support.archives import zipped

OPTIONS = ReadOptions()
TEXT = "Gout and “fever”, said he. They went on for a while."
ROWS = 10_000


def jsonl():
    lines = (json.dumps({"id": str(i), "text": TEXT}, ensure_ascii=False) for i in range(ROWS))
    return "\n".join(lines)


LARGE = {
    "a.jsonl": jsonl().encode(),
    "utf16.jsonl": jsonl().encode("utf-16"),
    "a.csv": ("id,text\n" + "".join(f'{i},"{TEXT}\nNext."\n' for i in range(ROWS))).encode(),
    "a.json": json.dumps([{"id": str(i), "text": TEXT} for i in range(ROWS)], indent=1).encode(),
    "a.txt": (f"{TEXT}\n" * ROWS).encode(),
    "a.conll": b"He O\nhas O\ngout B-Disease\n\n" * ROWS,
    "a.pubtator": "".join(
        f"{i}|t|Gout\n{i}|a|{TEXT}\n{i}\t0\t4\tGout\tDisease\n\n" for i in range(ROWS)
    ).encode(),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path))
    return create_project("Previews")


@pytest.mark.parametrize("name", LARGE)
def test_of_a_large_file_only_the_beginning_is_read(name, monkeypatch):
    characters = []
    split = tokenization.split_sentences
    monkeypatch.setattr(
        tokenization, "split_sentences", lambda text: characters.append(len(text)) or split(text)
    )
    file = SourceFile(name, LARGE[name])
    preview = preview_heads([file], OPTIONS)
    assert not preview.is_whole
    assert preview.bytes == len(file.data)
    assert preview.sentences > 100
    assert sum(characters) <= AT_ONCE_BYTES
    assert preview.files[0].name == name


def test_a_small_file_is_read_whole():
    file = SourceFile("a.txt", b"He has gout.")
    preview = preview_heads([file], OPTIONS)
    assert preview.is_whole
    assert preview == preview_units([file], read_units([file], OPTIONS))


def test_of_many_files_each_is_looked_at():
    files = [SourceFile(f"{i}.txt", b"He has gout.\n" * 1000) for i in range(100)]
    preview = preview_heads(files, OPTIONS)
    assert [report.documents for report in preview.files] == [1] * 100
    assert preview.sentences < 100 * 1000


def test_the_members_of_a_zip_are_looked_at(project):
    file = zipped({"a.txt": LARGE["a.txt"], "b.jsonl": LARGE["a.jsonl"]})
    preview = preview_text(project.folder, [file], OPTIONS)
    assert not preview.is_whole
    assert [report.name for report in preview.files] == ["a.txt", "b.jsonl"]


def test_a_fault_in_the_beginning_is_told_as_for_the_whole_file(project):
    file = SourceFile("a.jsonl", b'{"text": \n' + LARGE["a.jsonl"])
    with pytest.raises(InputError) as whole:
        project.add_text([file])
    with pytest.raises(InputError) as previewed:
        preview_text(project.folder, [file], OPTIONS)
    assert str(previewed.value) == str(whole.value)
    assert f"1 of {ROWS + 1:,} lines" in str(whole.value)


def test_which_process_reads():
    small, large = SourceFile("a.txt", b"gout"), SourceFile("a.jsonl", LARGE["a.jsonl"])
    packed = zipped({"a.txt": b"gout"})
    pair = [SourceFile("b.txt", LARGE["a.txt"]), SourceFile("b.ann", b"T1\tSign 0 4\tGout\n")]
    assert is_read_at_once([small]) and is_previewed_at_once([small])
    assert not is_read_at_once([small, large]) and is_previewed_at_once([small, large])
    assert not is_read_at_once([packed]) and not is_previewed_at_once([packed])
    assert not is_previewed_at_once(pair)
    assert not is_previewed_at_once([small] * 100)


def test_a_preview_survives_json():
    preview = preview_heads([SourceFile("a.csv", LARGE["a.csv"])], OPTIONS)
    assert preview_from(json.loads(json.dumps(preview_record(preview)))) == preview
