import io
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given

from engine.files.sources import SourceFile
from engine.formats import brat
from engine.formats.contract import WriteOptions
from engine.formats.tagging import written_name
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
USUAL = WriteOptions()


def read_pair(text: bytes | str, ann: str, options: ReadOptions = PLAIN) -> Corpus:
    raw = text.encode() if isinstance(text, str) else text
    files = SourceFile("note%207.txt", raw), SourceFile("note%207.ann", ann.encode())
    return brat.read_pair(*files, options)


def write_zip(corpus: Corpus) -> tuple[bytes, tuple[str, ...]]:
    out = io.BytesIO()
    report = brat.write(corpus, out, USUAL)
    return out.getvalue(), report.notes


def unzipped(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


# ---- reading --------------------------------------------------------------------------------


def test_text_and_annotations_are_read_as_a_pair() -> None:
    corpus = read_pair("High fever.\r\nIt went.", "T1\tSign 0 10\tHigh fever\nT2\tX 13 15\tIt\n")
    assert [(d.id, d.text) for d in corpus.documents] == [("note 7", "High fever.\r\nIt went.")]
    assert corpus.entities == {
        "note 7": (Entity(0, 10, "Sign", method="gold"), Entity(13, 15, "X", method="gold"))
    }


def test_empty_annotation_file_means_annotated_with_nothing() -> None:
    assert read_pair("Fever", "").entities == {"note 7": ()}


def test_entity_in_pieces_is_read_when_only_space_lies_between() -> None:
    text = "High\r\n fever and cough"
    ann = "T1\tSign 0 4;7 12\tHigh fever\nT2\tSign 0 4;17 22\tHigh cough\n"
    corpus = read_pair(text, ann)
    assert corpus.entities == {"note 7": (Entity(0, 12, "Sign", method="gold"),)}
    assert corpus.notes == ["note%207.txt: 1 entities left out: in pieces with other words between"]


def test_annotations_that_are_not_entities_are_skipped_and_counted() -> None:
    ann = (
        "T1\tSign 0 5\tFever\nR1\tCause Arg1:T1 Arg2:T1\n#1\tAnnotatorNotes T1\tsure\nA1\tNeg T1\n"
    )
    corpus = read_pair("Fever", ann)
    assert corpus.files[0].entities == 1
    assert corpus.notes == ["note%207.txt: 3 relations, events, attributes and notes skipped"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("T1\tSign 0 5\tfever", '"fever" is not at 0 5; there is "Fever"'),
        ("T1\tSign 0 50\tFever", "0 50 is no stretch of the text (5 characters)"),
        ("T1\tSign 5 0\tFever", "5 0 is no stretch of the text"),
        ("T1\tSign 5 5\t", "5 5 is no stretch of the text"),
        ("T1\tSign 1 1;3 3\t ", "1 1;3 3 is no stretch of the text"),
        ("T1 Sign 0 5 Fever", '"T1 Sign 0 5 Fever" is not "T1<tab>Type start end<tab>text"'),
    ],
)
def test_bad_annotation_is_an_error_with_its_line_or_is_skipped(line: str, fault: str) -> None:
    ann = f"T9\tSign 0 5\tFever\n{line}\n"
    with pytest.raises(InputError) as error:
        read_pair("Fever", ann)
    assert str(error.value).startswith(f"note%207.ann line 2: {fault}")
    assert read_pair("Fever", ann, SKIP).files[0].entities == 1


def test_byte_order_mark_counts_as_a_character_as_in_brat() -> None:
    corpus = read_pair("Fever".encode("utf-8-sig"), "T1\tSign 1 6\tFever\n")
    assert corpus.entities == {"note 7": (Entity(1, 6, "Sign", method="gold"),)}


def test_archive_pairs_files_by_folder_and_name() -> None:
    members = [
        SourceFile("x/a.txt", b"Fever"),
        SourceFile("y/a.txt", b"Na\xefve"),
        SourceFile("y/a.ann", b""),
        SourceFile("y/b.ann", b""),
        SourceFile("annotation.conf", b"[entities]"),
    ]
    corpus = brat.read_zip(members, PLAIN)
    assert [(d.id, d.text) for d in corpus.documents] == [("a", "Fever"), ("a~2", "Naïve")]
    assert corpus.entities == {"a~2": ()}
    assert "y/a.txt is not UTF-8" in corpus.notes[0]
    assert corpus.files[0].notes[1:] == (
        "1 .ann files left out: no .txt file of the same name",
        "1 ids were used twice; ~2, ~3 … was added",
    )


def test_archive_without_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"brat files holds no .txt file"):
        brat.read_zip([SourceFile("a.ann", b"")], PLAIN)


# ---- writing --------------------------------------------------------------------------------


def test_archive_holds_text_annotations_and_configuration() -> None:
    entities = (Entity(0, 11, "Cell line"), Entity(11, 14, "Sign"), Entity(4, 6, "Sign"))
    documents = (make_document("a/b", "High\r\nfever\n It"), make_document(".x", ""))
    data, notes = write_zip(Corpus(documents, {"a/b": entities}))
    assert unzipped(data) == {
        "a%2Fb.txt": "High\r\nfever\n It",
        "a%2Fb.ann": "T1\tCell_line 0 4;6 11\tHigh fever\nT2\tSign 11 11;12 14\t  I\n",
        "%2Ex.txt": "",
        "%2Ex.ann": "",
        "annotation.conf": (
            "[entities]\nCell_line\nSign\n\n[relations]\n\n[events]\n\n[attributes]\n"
        ),
    }
    assert notes == (
        "1 entities left out: nothing but white space",
        "1 documents are not annotated; their .ann files are empty",
        'type "Cell line" holds a space; written as Cell_line',
    )


def test_same_corpus_gives_the_same_archive() -> None:
    corpus = Corpus((make_document("d", "Fever"),), {"d": (Entity(0, 5, "Sign"),)})
    assert write_zip(corpus) == write_zip(corpus)


@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_a_long_id_is_shortened_to_the_name_of_a_file(letter: str) -> None:
    ids = ("x" * 200, letter * 70_000, letter * 69_999 + "y")
    corpus = Corpus(tuple(make_document(id, "Fever") for id in ids))
    data, notes = write_zip(corpus)
    assert notes[0] == "2 ids are too long for the name of a file; shortened"
    back = [document.id for document in brat.read(SourceFile("all.zip", data), PLAIN).documents]
    assert back[0] == ids[0] and len({*back}) == 3
    for name in zipfile.ZipFile(io.BytesIO(data)).namelist():
        assert len(name) <= 204
    for id in back[1:]:
        assert id.startswith(letter * 10) and id[-13] == "~" and "\ufffd" not in id


@given(corpora(plain_types=False))
def test_documents_and_entities_come_back_from_brat(corpus: Corpus) -> None:
    back = brat.read(SourceFile("all.zip", write_zip(corpus)[0]), PLAIN)
    assert back.documents == corpus.documents
    assert back.entities == {
        id: tuple(
            replace(e, entity_type=written_name(e.entity_type), method="gold", score=None)
            for e in entities
        )
        for id, entities in corpus.entities.items()
    }


@given(corpora(aligned=False))
def test_every_entity_with_a_word_is_kept_by_brat(corpus: Corpus) -> None:
    back = brat.read(SourceFile("all.zip", write_zip(corpus)[0]), PLAIN)
    for document in corpus.documents:
        surfaces = [document.text[e.start : e.end] for e in corpus.entities[document.id]]
        read_back = [document.text[e.start : e.end] for e in back.entities[document.id]]
        assert read_back == [s for s in surfaces if s.strip()]


@pytest.mark.parametrize("edge", [" ", "\t ", "\n", "\r\n", " \n", "\n \n", "\u2028", "\x0b\n\n "])
def test_an_entity_that_begins_or_ends_with_white_space_comes_back_from_brat(edge: str) -> None:
    text = f"High{edge}fever{edge}came"
    entities = (
        Entity(4, len(text) - 4, "Sign", method="gold"),
        Entity(4, 4 + len(edge) + 5, "Sign", method="gold"),
        Entity(4 + len(edge), len(text) - 4, "Sign", method="gold"),
    )
    data, notes = write_zip(Corpus((make_document("d", text),), {"d": entities}))
    assert brat.read(SourceFile("all.zip", data), PLAIN).entities == {"d": entities}
    assert notes == ()


def test_pieces_of_an_entity_out_of_order_are_left_out_with_a_note() -> None:
    corpus = read_pair("Fever came", "T1\tSign 6 10;0 5\tcame Fever\n")
    assert corpus.entities == {"note 7": ()}
    assert "1 entities left out: in pieces with other words between" in corpus.notes[0]
