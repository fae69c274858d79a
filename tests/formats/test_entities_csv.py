import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.sources import SourceFile
from engine.formats import entities_csv
from engine.formats.contract import WriteOptions
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
USUAL, EXCEL = WriteOptions(), WriteOptions(excel=True)
ESSENTIAL = WriteOptions(essential_columns=True)
HEADER = (
    "doc_id,sent_id,entity_id,start,end,text,label,score,method,source,in_dictionary,matched_term,"
    "canonical_id,sent_start,sent_end,token_start,token_end,sentence,run_id,review_status\n"
)
FULL = Entity(
    6, 16, "Sign", 0.87654, "conf_mpu", "run 3", True, "high fever", "D005334", "r3", "accepted"
)
FEVER = Corpus((make_document("d1", "It is.high fever, now"),), {"d1": (FULL,)})


def write_entities(corpus: Corpus, options: WriteOptions = USUAL) -> bytes:
    out = io.BytesIO()
    entities_csv.write(corpus, out, options)
    return out.getvalue()


def read_entities(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return entities_csv.read(SourceFile("gold.csv", raw), options)


# ---- writing --------------------------------------------------------------------------------


def test_entity_row_holds_all_columns() -> None:
    corpus = Corpus(
        (make_document("d1", "It rained. High fever, now."),),
        {"d1": (replace(FULL, start=11, end=21),)},
    )
    assert write_entities(corpus).decode() == HEADER + (
        "d1,1,d1:11-21:Sign,11,21,High fever,Sign,0.8765,conf_mpu,run 3,true,high fever,D005334,"
        '0,10,0,2,"High fever, now.",r3,accepted\n'
    )


def test_there_are_seven_essential_columns() -> None:
    corpus = Corpus((make_document("d1", "Fever."),), {"d1": (Entity(0, 5, "Sign"),)})
    expected = b"doc_id,sent_id,start,end,text,label,score\nd1,0,0,5,Fever,Sign,\n"
    assert write_entities(corpus, ESSENTIAL) == expected


def test_entity_in_no_sentence_or_across_tokens_leaves_those_cells_empty() -> None:
    corpus = Corpus(
        (make_document("d", "  fever"),),
        {"d": (Entity(0, 4, "A"), Entity(2, 4, "B", in_dictionary=False))},
    )
    rows = write_entities(corpus).decode().splitlines()
    assert rows[1] == "d,,d:0-4:A,0,4,  fe,A,,,,,,,,,,,,,"
    assert rows[2] == "d,0,d:2-4:B,2,4,fe,B,,,,false,,,0,2,,,fever,,"


def test_no_entities_give_the_header_alone() -> None:
    out = io.BytesIO()
    report = entities_csv.write(Corpus((make_document("d", "x"),)), out, USUAL)
    assert out.getvalue().decode() == HEADER
    assert report.rows == 0 and report.notes == ("no entities; the file holds the header only",)


def test_scores_that_are_no_numbers_are_left_empty_and_counted() -> None:
    corpus = Corpus((make_document("d", "x"),), {"d": (Entity(0, 1, "A", float("nan")),)})
    out = io.BytesIO()
    report = entities_csv.write(corpus, out, ESSENTIAL)
    assert out.getvalue().endswith(b"d,0,0,1,x,A,\n")
    assert report.notes == ("1 scores are not numbers; left empty",)


def test_entities_without_their_text_are_counted() -> None:
    report = entities_csv.write(Corpus((), {"d": (Entity(0, 1, "A"),)}), io.BytesIO(), USUAL)
    assert report.notes[0] == "1 entities left out: the text of their document is not here"


def test_excel_file_has_a_mark_and_guards_formulas() -> None:
    corpus = Corpus((make_document("d", "=1+1 x"),), {"d": (Entity(0, 4, "@A"),)})
    data = write_entities(corpus, WriteOptions(excel=True, essential_columns=True))
    assert data.startswith(b"\xef\xbb\xbfdoc_id,")
    assert data.endswith(b"d,0,0,4,'=1+1,'@A,\n")
    assert b"'" not in write_entities(corpus)


def test_entity_outside_the_text_is_a_fault_of_the_program() -> None:
    with pytest.raises(ValueError, match="outside document 'd'"):
        write_entities(Corpus((make_document("d", "x"),), {"d": (Entity(0, 2, "A"),)}))


# ---- reading --------------------------------------------------------------------------------


def test_entities_are_read_without_documents() -> None:
    corpus = read_entities(write_entities(FEVER))
    assert corpus.documents == ()
    assert corpus.entities == {"d1": (replace(FULL, score=0.8765),)}
    assert (corpus.files[0].format, corpus.files[0].entities) == ("entities", 1)


def test_column_names_of_other_tools_are_understood() -> None:
    corpus = read_entities("Type;End;Start;PMID\nSign;5;0;77\n")
    assert corpus.entities == {"77": (Entity(0, 5, "Sign", method="gold"),)}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("d,1.5,3,A,", 'gold.csv line 2: start "1.5" is not a whole number'),
        ("d,-1,3,A,", 'gold.csv line 2: start "-1" is not a whole number'),
        ("d,3,3,A,", "gold.csv line 2: end 3 is not after start 3"),
        ("d,0,3,,", "gold.csv line 2: label is empty"),
        (",0,3,A,", "gold.csv line 2: doc_id is empty"),
        ("d,0,3,A,nan", 'gold.csv line 2: score "nan" is not a number from 0 to 1'),
        ("d,0,3,A,high", 'gold.csv line 2: score "high" is not a number from 0 to 1'),
    ],
)
def test_bad_entity_row_is_an_error_with_its_line_or_is_skipped(row: str, fault: str) -> None:
    data = f"doc_id,start,end,label,score\n{row}\nd,0,1,B,1\n"
    with pytest.raises(InputError) as error:
        read_entities(data)
    assert str(error.value).startswith(fault)
    corpus = read_entities(data, SKIP)
    assert corpus.entities == {"d": (Entity(0, 1, "B", 1.0, method="gold"),)}
    assert corpus.files[0].notes[0].startswith(f"1 lines left out, e.g. {fault}")


def test_missing_entity_column_is_an_error_that_lists_the_columns() -> None:
    with pytest.raises(InputError, match=r"No end column found in gold.csv. Columns: id, start"):
        read_entities("id,start\nd,0\n")


@given(corpora(plain_types=False, aligned=False), st.booleans())
def test_entities_come_back_from_csv(corpus: Corpus, excel: bool) -> None:
    data = write_entities(corpus, WriteOptions(excel=excel))
    expected = {id: entities for id, entities in corpus.entities.items() if entities}
    assert read_entities(data).entities == expected


@given(st.text(st.sampled_from("'=+-@\t\r\n,\"ab"), min_size=1, max_size=6))
def test_formula_guard_is_undone(source: str) -> None:
    corpus = Corpus((make_document("d", "x"),), {"d": (Entity(0, 1, "A", source=source),)})
    assert read_entities(write_entities(corpus, EXCEL)).entities == corpus.entities
