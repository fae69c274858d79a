import io
import re
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given

from engine.files.sources import SourceFile
from engine.formats import brat, pubtator
from engine.formats.contract import WriteOptions
from engine.formats.tagging import written_name
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
USUAL = WriteOptions()


def read_pubtator(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return pubtator.read(SourceFile("cdr.pubtator", raw), options)


def write_pubtator(corpus: Corpus) -> tuple[str, tuple[str, ...]]:
    out = io.BytesIO()
    report = pubtator.write(corpus, out, USUAL)
    return out.getvalue().decode(), report.notes


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


# ---- PubTator -------------------------------------------------------------------------------

ARTICLE = (
    "12|t|Fever after aspirin\n"
    "12|a|It | went.\n"
    "12\t0\t5\tFever\tDisease\tD005334\n"
    "12\t12\t19\taspirin\tChemical\n"
    "12\t23\t30\t| went.\tSign\t-1\tmore\n"
    "12\tCID\tD001241\tD005334\n"
)


def test_article_is_title_space_abstract_with_its_entities() -> None:
    corpus = read_pubtator(f"{ARTICLE}\n13|t|Next\n13|a|\n")
    assert [(d.id, d.text) for d in corpus.documents] == [
        ("12", "Fever after aspirin It | went."),
        ("13", "Next"),
    ]
    assert corpus.entities == {
        "12": (
            Entity(0, 5, "Disease", method="gold", canonical_id="D005334"),
            Entity(12, 19, "Chemical", method="gold"),
            Entity(23, 30, "Sign", method="gold", canonical_id="-1"),
        ),
        "13": (),
    }
    assert corpus.notes == ["cdr.pubtator: 1 relations skipped"]


def test_articles_without_annotations_are_not_annotated() -> None:
    assert read_pubtator("1|t|Fever\n1|a|It went.\n").entities == {}


def test_repeated_article_ids_become_unique() -> None:
    corpus = read_pubtator(b"1|t|A\r\n1|a|\r\n\r\n1|t|B\r\n1|a|b\r\n")
    assert [(d.id, d.text) for d in corpus.documents] == [("1", "A"), ("1~2", "B b")]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("1\t0\t5\tfever\tSign\tD1", '"fever" is not at 0-5; the text there is "Fever"'),
        ("1\t0\t50\tFever\tSign\tD1", "0-50 is no stretch of the text (8 characters)"),
        ("1\t5\t5\t\tSign\tD1", "5-5 is no stretch of the text"),
        ("1\t0\tx\tFever\tSign\tD1", 'end "x" is not a whole number'),
        ("1\t0\t5\tFever", '"Fever" has no type'),
        ("2\t0\t5\tFever\tSign\tD1", 'no title line "2|t|…" comes before this'),
        ("2|a|Text", 'no title line "2|t|…" comes before this'),
        ("Some words", '"Some words" is neither id|t|title, id|a|abstract nor an annotation'),
    ],
)
def test_bad_pubtator_line_is_an_error_with_its_number_or_is_skipped(line: str, fault: str) -> None:
    data = f"1|t|Fever\n1|a|it\n{line}\n1\t6\t8\tit\tPRP\n"
    with pytest.raises(InputError) as error:
        read_pubtator(data)
    assert str(error.value).startswith(f"cdr.pubtator line 3: {fault}")
    corpus = read_pubtator(data, SKIP)
    assert corpus.entities == {"1": (Entity(6, 8, "PRP", method="gold"),)}
    assert corpus.files[0].notes[0].startswith("1 lines left out, e.g. cdr.pubtator line 3")


def test_file_without_title_is_refused() -> None:
    with pytest.raises(InputError, match=r"cdr.pubtator holds no line id\|t\|title"):
        read_pubtator("\ufeff \n")


def test_title_is_the_first_line_and_offsets_stay() -> None:
    text = "High\tfever\r\nIt\nwent."
    entities = (Entity(0, 10, "Sign", canonical_id="D1"), Entity(12, 20, "A\tB"))
    corpus = Corpus((make_document("a|b", text), make_document("c", "x")), {"a|b": entities})
    written, notes = write_pubtator(corpus)
    assert written == (
        "a_b|t|High fever\n"
        "a_b|a| It went.\n"
        "a_b\t0\t10\tHigh fever\tSign\tD1\n"
        "a_b\t12\t20\tIt went.\tA_B\t\n"
        "\n"
        "c|t|x\n"
        "c|a|\n"
    )
    assert notes == (
        '1 document ids hold "|" or a tab; written with "_"',
        "4 line breaks and tabs became spaces",
    )


def test_line_break_at_the_end_of_the_text_is_cut_off() -> None:
    entities = (Entity(0, 6, "Sign"), Entity(5, 6, "Sign"))
    written, notes = write_pubtator(Corpus((make_document("d", "Fever\n"),), {"d": entities}))
    assert written == "d|t|Fever\nd|a|\nd\t0\t5\tFever\tSign\t\n"
    assert notes[0] == "2 entities cut before the line break that ends the text"


@given(corpora(plain_types=False, aligned=False))
def test_articles_come_back_from_pubtator(corpus: Corpus) -> None:
    kept = {d.id: d.text for d in corpus.documents if not re.fullmatch(r".*[\r\n]", d.text)}
    back = read_pubtator(write_pubtator(corpus)[0])
    assert [d.id for d in back.documents] == [d.id for d in corpus.documents]
    for document in back.documents:
        if document.id in kept:
            assert document.text == re.sub(r"[\r\n\t]", " ", kept[document.id])
            assert back.entities.get(document.id, ()) == tuple(
                replace(e, method="gold", score=None) for e in corpus.entities[document.id]
            )


# ---- brat: reading --------------------------------------------------------------------------


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


def test_what_is_no_entity_is_skipped_and_counted() -> None:
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


# ---- brat: writing --------------------------------------------------------------------------


def test_archive_holds_text_annotations_and_configuration() -> None:
    entities = (Entity(0, 11, "Cell line"), Entity(11, 14, "Sign"), Entity(4, 6, "Sign"))
    documents = (make_document("a/b", "High\r\nfever\n It"), make_document(".x", ""))
    data, notes = write_zip(Corpus(documents, {"a/b": entities}))
    assert unzipped(data) == {
        "a%2Fb.txt": "High\r\nfever\n It",
        "a%2Fb.ann": "T1\tCell_line 0 4;6 11\tHigh fever\nT2\tSign 12 14\t I\n",
        "%2Ex.txt": "",
        "%2Ex.ann": "",
        "annotation.conf": (
            "[entities]\nCell_line\nSign\n\n[relations]\n\n[events]\n\n[attributes]\n"
        ),
    }
    assert notes == (
        "1 entities began or ended with a line break; written without it",
        "1 entities left out: nothing but white space",
        "1 documents are not annotated; their .ann files are empty",
        'type "Cell line" holds a space; written as Cell_line',
    )


def test_same_corpus_gives_the_same_archive() -> None:
    corpus = Corpus((make_document("d", "Fever"),), {"d": (Entity(0, 5, "Sign"),)})
    assert write_zip(corpus) == write_zip(corpus)


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
        found = [document.text[e.start : e.end] for e in back.entities[document.id]]
        assert [s.strip() for s in found] == [s.strip() for s in surfaces if s.strip()]
