import pytest

from engine.files.sources import SourceFile
from engine.formats import text_table
from engine.settings import ReadOptions
from engine.text.model import Corpus, InputError

PLAIN = ReadOptions()


def read_table(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return text_table.read(SourceFile("data.csv", raw), options)


def texts(corpus: Corpus) -> list[tuple[str, str]]:
    return [(document.id, document.text) for document in corpus.documents]


def test_table_columns_are_found_by_name() -> None:
    corpus = read_table("PMID,Year,Abstract\n7,1999,Fever came.\n8,2000,It went.\n")
    assert texts(corpus) == [("7", "Fever came."), ("8", "It went.")]
    report = corpus.files[0]
    assert (report.text_column, report.id_column, report.delimiter) == ("Abstract", "PMID", ",")


def test_table_columns_are_taken_as_asked() -> None:
    options = ReadOptions(text_column="remark", id_column="Key")
    corpus = read_table("key;text;Remark\nk1;no;yes, this\n", options)
    assert texts(corpus) == [("k1", "yes, this")]


def test_documents_without_id_are_named_after_file_and_row() -> None:
    corpus = read_table("id,text\n,a\nx,b\n")
    assert texts(corpus) == [("data-000001", "a"), ("x", "b")]


def test_repeated_ids_become_unique_and_are_noted() -> None:
    corpus = read_table("id,text\nx,a\nx,b\n")
    assert texts(corpus) == [("x", "a"), ("x~2", "b")]
    assert corpus.notes == ["data.csv: 1 ids were used twice; ~2, ~3 … was added"]


def test_single_column_is_read_when_its_name_says_text() -> None:
    assert texts(read_table("text\nfever\n")) == [("data-000001", "fever")]


@pytest.mark.parametrize("header", ["id,when,date", "fever"], ids=["three", "one"])
def test_missing_text_column_is_an_error_that_lists_the_columns(header: str) -> None:
    with pytest.raises(InputError) as error:
        read_table(f"{header}\n{header}\n")
    assert str(error.value) == (
        f"No text column found in data.csv. Columns: {header.replace(',', ', ')}. "
        "Name the one that holds the text"
    )


def test_column_that_is_asked_for_and_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match=r'No column "notes" in data.csv. Columns: id, text'):
        read_table("id,text\n1,a\n", ReadOptions(text_column="notes"))


def test_empty_texts_are_left_out_and_counted() -> None:
    corpus = read_table("id,text\n1,a\n2,\n3, \n")
    assert texts(corpus) == [("1", "a")]
    assert corpus.notes == ["data.csv: 2 rows without text left out"]


def test_table_without_any_text_is_refused() -> None:
    with pytest.raises(InputError, match=r'data.csv has nothing in its column "text"'):
        read_table("id,text\n1,\n")


def test_ragged_row_is_an_error_with_its_line_or_is_skipped() -> None:
    data = "id,text\n1,a\n2,b,c\n"
    with pytest.raises(InputError, match=r"data.csv line 3 has 3 fields, expected 2"):
        read_table(data)
    assert texts(read_table(data, ReadOptions(skip_bad_lines=True))) == [("1", "a")]


def test_very_long_quoted_cell_is_read_whole() -> None:
    long = 'fever, "cold"\r\n' * 140_000  # 2.1 MB
    quoted = long.replace('"', '""')
    assert read_table(f'id,text\n1,"{quoted}"\n').documents[0].text == long


def test_quote_that_is_never_closed_names_its_line() -> None:
    with pytest.raises(InputError, match=r"data.csv line 3: a quote \(\"\) opens a cell here"):
        read_table('id,text\n1,a\n2,"b\n3,c\n')


def test_table_in_utf_16_is_read() -> None:
    assert texts(read_table("id\ttext\n1\tnaïve\n".encode("utf-16"))) == [("1", "naïve")]
