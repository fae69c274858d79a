import json

import pytest

from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.text import tokenization
from tests.support.archives import zipped
from tests.support.pages import (
    captions,
    checked,
    figures,
    open_page,
    plain,
    press,
    settled,
    table,
    upload,
)

NOTES = ("notes.txt", b"He had gout.\nLead was found.\nNothing else.\n", "text/plain")
TABLE = ("cases.csv", b"key;words\n1;He had gout.\n2;Lead was found.\n", "text/csv")
GOLD = (
    "gold.csv",
    b"doc_id,start,end,text,label\nnotes,7,11,gout,Disease\nnotes,13,17,Lead,Chemical\n",
    "text/csv",
)
CONLL = ("a.conll", b"He O\nhad O\ngout B-Disease\n. O\n", "text/plain")


@pytest.fixture
def project():
    return create_project("Mine")


def show(project):
    return checked(open_page("text", project.id).run())


def labels(page):
    return [plain(button.label) for button in page.button]


@pytest.fixture
def split_texts(monkeypatch):
    """The texts that are split into sentences and tokens, in order."""
    texts = []
    split = tokenization._sentences
    monkeypatch.setattr(tokenization, "_sentences", lambda text: texts.append(text) or split(text))
    return texts


def add(project, *files):
    project.add_text([SourceFile(name, data) for name, data, _ in files])
    return project


def test_an_empty_project_says_what_to_do(project):
    page = show(project)
    assert any("No text yet." in element.value for element in page.html)
    assert not page.metric
    assert "--project " + project.id in page.code[-1].value


def test_upload_limit_and_the_way_around_it_are_stated(project):
    said = " ".join(element.value for element in show(project).html)
    assert "For files above 200 MB" in said
    assert f"glossa import --project {project.id} --text corpus.jsonl" in said


def test_files_are_previewed_and_not_saved_at_once(project):
    page = checked(upload(show(project), NOTES))
    assert "Not saved yet" in page.markdown[0].value
    assert figures(page) == {"Documents": "1", "Sentences": "3", "Tokens": "11"}
    report = table(page, "encoding")
    assert report[["name", "format", "encoding"]].to_numpy().tolist() == [
        ["notes.txt", "txt", "utf-8"]
    ]
    assert table(page, "longest")["text"].tolist() == ["He had gout. Lead was found. Nothing else."]
    assert project.text_files() == []


def test_saving_adds_the_files_and_empties_the_uploader(project):
    page = checked(press(upload(show(project), NOTES), "Save to the project"))
    assert [file.name for file in project.text_files()] == ["notes.txt"]
    assert plain(page.success[0].value) == "Saved 1 file with 3 sentences."
    assert page.file_uploader[0].value == []
    assert figures(page) == {
        "Documents": "1",
        "Sentences": "3",
        "Tokens": "11",
        "Unique tokens": "9",  # the full stop three times
        "Longest sentence": "4",
    }
    assert not checked(page.run()).success  # said once


def test_a_file_uploaded_twice_is_noticed(project):
    page = upload(show(add(project, NOTES)), NOTES)
    page = checked(press(page, "Save to the project"))
    assert "in the project already" in plain(page.info[0].value)
    assert not page.success


def test_lines_can_be_documents(project):
    page = upload(show(project), NOTES)
    [lines] = [toggle for toggle in page.toggle if toggle.label == "One document per line"]
    page = checked(lines.set_value(True).run())
    assert figures(page)["Documents"] == "3"
    press(page, "Save to the project")
    assert len(project.corpus().documents) == 3


def test_the_text_column_is_asked_for_when_none_is_known(project):
    page = upload(show(project), TABLE)
    assert plain(page.error[0].value).startswith("No text column found in cases.csv.")
    assert labels(page) == ["The text is in “key”", "The text is in “words”", "Discard"]
    page = checked(press(page, "The text is in “words”"))
    assert table(page, "delimiter")["text_column"].tolist() == ["words"]
    assert table(page, "delimiter")["delimiter"].tolist() == ["semicolon"]
    [id_column] = [box for box in page.selectbox if box.label == "Id column"]
    page = checked(id_column.set_value("key").run())
    press(page, "Save to the project")
    assert [document.id for document in project.corpus().documents] == ["1", "2"]


def test_bad_lines_can_be_skipped(project):
    page = upload(show(project), ("a.csv", b"id,text\n1,gout\n2,a,b\n", "text/csv"))
    assert plain(page.error[0].value).startswith("a.csv line 3 has 3 fields, expected 2.")
    page = checked(press(page, "Skip bad lines"))
    assert figures(page)["Documents"] == "1"
    assert any("1 row of another width left out" in element.value for element in page.html)


def test_bad_json_lines_can_be_skipped(project):
    page = upload(show(project), ("a.jsonl", b'{"text": "gout"}\n{"text": \n', "text/plain"))
    assert "line 2: not valid JSON" in plain(page.error[0].value)
    page = checked(press(page, "Skip bad lines"))
    assert figures(page)["Documents"] == "1"


def test_another_encoding_can_be_chosen(project):
    # 0x81 is no Windows-1252; 0x82 0xA0 is あ in Shift JIS.
    page = upload(show(project), ("a.txt", b"\x82\xa0\x81\x41\x82\xa0 gout", "text/plain"))
    assert "nor Windows-1252" in plain(page.error[0].value)
    page = checked(press(page, "Read as Shift JIS"))
    assert "あ" in table(page, "longest")["text"][0]
    press(page, "Save to the project")
    assert project.text_files()[0].options.encoding == "shift_jis"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (("a.txt", b"%PDF-1.7 ...", ""), "a.txt is a PDF file."),
        (("a.txt", b"", ""), "a.txt is empty (0 bytes)."),
        (("a.xyz", b"words", ""), 'a.xyz: files ending in ".xyz" are not known.'),
    ],
    ids=["PDF", "empty", "unknown"],
)
def test_a_file_that_cannot_be_read_is_explained_and_can_be_discarded(project, file, said):
    page = upload(show(project), file)
    assert plain(page.error[0].value).startswith(said)
    page = checked(press(page, "Discard"))
    assert page.file_uploader[0].value == []
    assert project.text_files() == []


def test_annotations_in_the_text_are_gold_unless_told_otherwise(project):
    page = checked(upload(show(project), CONLL))
    assert figures(page)["Gold entities"] == "1"
    [keep] = [toggle for toggle in page.toggle if toggle.label == "Keep annotations as gold"]
    page = checked(keep.set_value(False).run())
    assert "Gold entities" not in figures(page)
    press(page, "Save to the project")
    assert project.gold(project.corpus()) is None


def test_documents_can_be_searched(project):
    other = ("other.txt", b"Fever again.", "")
    page = show(add(project, NOTES, other))
    assert table(page, "longest")["document"].tolist() == ["notes", "other"]
    page = checked(page.text_input(key="text_find").set_value("FEVER").run())
    assert table(page, "longest")["document"].tolist() == ["other"]
    page = checked(page.text_input(key="text_find").set_value("[no such").run())
    assert page.info[0].value == "No document matches this search."


def test_chosen_files_are_removed(project):
    add(project, NOTES, ("other.txt", b"Fever again.", ""))
    page = show(project)
    key = f"text_files_{project.text_key()}"
    page.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    page = checked(page.run())
    page = checked(page.button(key="text_remove").click().run())
    assert [file.name for file in project.text_files()] == ["other.txt"]
    assert plain(page.info[0].value) == "Removed notes.txt."
    assert figures(page)["Documents"] == "1"


def test_long_tables_are_shown_page_by_page(project):
    lines = "".join(f"Document {i}.\n" for i in range(450)).encode()
    page = upload(show(project), ("many.txt", lines, ""))
    [lines] = [toggle for toggle in page.toggle if toggle.label == "One document per line"]
    page = checked(press(lines.set_value(True).run(), "Save to the project"))
    assert len(table(page, "longest")) == 200
    page = checked(page.pagination[0].set_value(3).run())
    assert len(table(page, "longest")) == 50


def test_an_upload_is_split_and_tokenized_once(project, split_texts):
    table = ("once.csv", b"id,text\n1,Split me once.\n2,And me.\n", "text/csv")
    pair = [("case.txt", b"Fever.", ""), ("case.ann", b"T1\tSign 0 5\tFever\n", "")]
    page = checked(upload(show(project), table, *pair))
    page = checked(press(page, "Save to the project"))
    assert figures(page)["Documents"] == "3"
    assert project.corpus().documents[0].sentences
    assert sorted(split_texts) == ["And me.", "Fever.", "Split me once."]


# ---- gold -----------------------------------------------------------------------------------


def gold_tab(project):
    page = open_page("text", project.id)
    page.session_state["text_tab"] = "Gold (for scoring)"
    return checked(page.run())


def upload_gold(page, file):
    [uploader] = [u for u in page.file_uploader if "gold" in u.label.lower()]
    uploader.set_value([file]).run()
    assert not page.exception
    return page


def test_gold_needs_text_first(project):
    page = gold_tab(project)
    assert any("Add the texts first" in element.value for element in page.html)


def test_gold_is_previewed_then_saved_then_removed(project):
    page = checked(upload_gold(gold_tab(add(project, NOTES)), GOLD))
    assert figures(page)["Entities"] == "2"
    assert table(page, "entities").to_numpy().tolist() == [["Chemical", 1], ["Disease", 1]]
    assert project.gold_files() == []
    page = checked(press(page, "Save as gold"))
    assert [file.name for file in project.gold_files()] == ["gold.csv"]
    assert plain(page.success[0].value) == "Saved gold for 1 document."
    page = checked(page.button(key="gold_remove").click().run())
    assert project.gold_files() == []


def test_uploaded_gold_is_split_and_tokenized_once(project, split_texts):
    add(project, NOTES)
    record = {"id": "notes", "text": NOTES[1].decode(), "entities": [[7, 11, "Disease"]]}
    del split_texts[:]
    page = checked(upload_gold(gold_tab(project), ("gold.jsonl", json.dumps(record).encode(), "")))
    checked(press(page, "Save as gold"))
    assert project.gold(project.corpus()).entities.keys() == {"notes"}
    assert len(split_texts) == 1


def test_gold_for_other_documents_is_explained(project):
    stranger = ("gold.csv", GOLD[1].replace(b"notes", b"another"), "text/csv")
    page = upload_gold(gold_tab(add(project, NOTES)), stranger)
    assert "annotates none of these documents" in plain(page.error[0].value)
    assert project.gold_files() == []


def test_gold_inside_the_text_is_named(project):
    page = gold_tab(add(project, CONLL))
    assert figures(page)["Entities"] == "1"
    assert "From the text files themselves." in [plain(c.value) for c in page.caption]


def test_markup_in_names_and_text_is_shown_as_text(project):
    name, text = "<img src=x>_a_.txt", b"<script>alert(1)</script> and gout.\n"
    page = upload(show(project), (name, text, ""))
    page = checked(press(page, "Save to the project"))
    everything = "".join(e.value for e in (*page.html, *page.markdown, *page.caption))
    assert "<img" not in everything and "<script" not in everything
    page = upload(page, ("<b>bad<b>_x_.txt", b"%PDF", ""))
    assert page.error[0].value.startswith("\\<b\\>bad\\<b\\>\\_x\\_\\.txt is a PDF file")


# ---- uploads that a process of its own reads ------------------------------------------------


def large(bad=b""):
    lines = (b'{"id": "%d", "text": "He had gout. Lead was found."}\n' % i for i in range(6000))
    return ("large.jsonl", b"".join(lines) + bad, "application/json")


def zip_upload(members):
    file = zipped(members, "texts.zip")
    return (file.name, file.data, "application/zip")


def test_of_a_large_file_the_first_documents_are_shown_and_all_are_saved(project, split_texts):
    page = checked(upload(show(project), large()))
    first = int(figures(page)["Documents"].replace(",", ""))
    assert 0 < first < 6000
    said = f"The first {first:,} documents; the file has {len(large()[1]) / 1e3:.0f} kB."
    assert any(text.startswith(said) for text in captions(page))
    assert len(split_texts) == first
    page = checked(press(page, "Save to the project"))
    page = checked(settled(page))
    assert plain(page.success[0].value) == "Saved 1 file with 12,000 sentences."
    assert page.file_uploader[0].value == []
    assert project.text_files()[0].documents == 6000
    assert len(split_texts) == first  # all else was read by the other process


def test_a_page_that_was_left_while_saving_says_what_was_saved(project):
    page = checked(upload(show(project), large()))
    page = checked(press(page, "Save to the project"))
    page.file_uploader[0].set_value([])  # as after a visit to another page
    page = checked(settled(page))
    assert plain(page.success[0].value) == "Saved 1 file with 12,000 sentences."
    page = checked(upload(page, NOTES))  # nothing of the first upload is left
    page = checked(press(page, "Save to the project"))
    assert [file.name for file in project.text_files()] == ["large.jsonl", "notes.txt"]


def test_a_fault_beyond_the_first_documents_is_told_when_saving(project):
    page = checked(upload(show(project), large(bad=b'{"text": \n')))
    page = settled(press(page, "Save to the project"))
    assert "line 6,001: not valid JSON" in plain(page.error[0].value)
    assert project.text_files() == []
    page = checked(press(page, "Skip bad lines"))
    page = checked(settled(press(page, "Save to the project")))
    assert project.text_files()[0].documents == 6000


def test_reading_a_zip_shows_progress_and_can_be_cancelled_and_begun_again(project):
    page = upload(show(project), zip_upload({"a.txt": b"He had gout."}))
    assert page.get("progress") and "Cancel" in labels(page)
    press(page, "Cancel")
    page = settled(page)
    if "Read again" in labels(page):  # or it was faster than the click
        assert page.info[0].value == "Reading was cancelled. Nothing was changed."
        page = settled(press(page, "Read again"))
    assert figures(checked(page))["Documents"] == "1"
    page = checked(settled(press(page, "Save to the project")))
    assert [document.text for document in project.corpus().documents] == ["He had gout."]


def test_gold_in_a_zip_is_read_in_a_process_and_saved(project):
    page = gold_tab(add(project, NOTES))
    page = upload_gold(page, zip_upload({"gold.csv": GOLD[1]}))
    page = checked(settled(page))
    assert table(page, "entities").to_numpy().tolist() == [["Chemical", 1], ["Disease", 1]]
    page = checked(settled(press(page, "Save as gold")))
    assert plain(page.success[0].value) == "Saved gold for 1 document."
    assert [file.name for file in project.gold_files()] == ["texts.zip"]


def test_the_language_is_shown_and_can_be_changed():
    project = create_project("Notizen")
    text = "Er nahm z.B. Aspirin und es half ihm, aber nur ca. drei Tage. " * 4
    project.add_text([SourceFile("n.txt", text.encode())])
    page = checked(open_page("text", project.id).run())
    [box] = [box for box in page.selectbox if box.label == "Language"]
    assert box.value == "de"
    assert any("know English only" in caption.value for caption in page.caption)
    page = checked(box.set_value("en").run())
    assert project.language() == "en"
    assert "read as English from now on" in page.success[0].value
    assert not any("know English only" in caption.value for caption in page.caption)
