import pytest

from engine.files.delimited import Row, Table, find_column, find_delimiter, read_table
from engine.files.sources import SourceFile
from engine.settings import ReadOptions
from engine.text.model import InputError

SKIP = ReadOptions(skip_bad_lines=True)


def read(text, options=None, name="data.csv"):
    return read_table(SourceFile(name, text.encode()), options or ReadOptions())


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("id,text\n1,a\n", ","),
        ("id;text\n1;rash, fever\n2;cough, cold, pain\n", ";"),
        ("id\ttext\n1\trash, fever\n2\tcough\n", "\t"),
        ("id|text\n1|rash, fever\n2|cough\n", "|"),
        ('id,text\n1,"a;b;c"\n2,"d;e;f"\n', ","),
        ('id;text\n1;"two\nlines, here"\n2;c\n', ";"),
        ("id,note,text\n1;x,y,z\n2,y,z\n", ","),
        ("text\nfever\n", ","),
        ("text\nrash, fever\ncough\n", ","),
        ("", ","),
    ],
    ids=[
        "comma", "semicolon", "tab", "pipe", "others inside quotes", "lines inside quotes",
        "one stray", "one column", "one column with a comma", "nothing",
    ],
)  # fmt: skip
def test_delimiter_is_the_one_that_splits_rows_evenly(text, delimiter):
    assert find_delimiter(text) == delimiter


def test_table_named_tsv_is_split_at_tabs_however_even_its_commas_are():
    text = "who, when, where\ttext\nA, B, C\tfever\nD, E, F\trash\n"
    assert read(text, name="data.tsv").delimiter == "\t"


def test_rows_carry_the_line_they_begin_on():
    table = read('id,text\n\n1,"two\r\nlines"\n , \n2,b\n')
    rows = (Row(1, ("id", "text")), Row(3, ("1", "two\r\nlines")), Row(6, ("2", "b")))
    assert table == Table(rows, ",", "utf-8")


def test_ragged_rows_are_an_error_that_names_the_first_and_counts_them():
    with pytest.raises(InputError) as caught:
        read("id,text\n1,a\n2,b,c\n3\n4,d\n")
    assert str(caught.value) == (
        "data.csv line 3 has 3 fields, expected 2. 2 lines like this. "
        "Put quotes around cells that hold the delimiter, or skip bad lines"
    )


@pytest.mark.parametrize(
    ("bad", "note"),
    [
        (1, "1 row of another width left out (line 2)"),
        (2, "2 rows of another width left out (lines 2, 3)"),
        (6, "6 rows of another width left out (lines 2, 3, 4, 5, 6 …)"),
    ],
)
def test_ragged_rows_are_skipped_and_counted_when_asked(bad, note):
    table = read("id,text\n" + "a,b,c\n" * bad + "1,x\n", SKIP)
    assert [row.cells for row in table.rows] == [("id", "text"), ("1", "x")]
    assert table.notes == (note,)


def test_cell_of_two_megabytes_is_read_without_quotes():
    long = "fever " * 350_000
    assert read(f"id,text\n1,{long}\n").rows[1].cells == ("1", long)


def test_unclosed_quote_names_the_line_where_it_opens_not_where_the_file_ends():
    text = 'id,text\n1,"two\nlines"\n2,"open\n3,c\n4,d\n'
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value) == (
        'data.csv line 4: a quote (") opens a cell here and none closes it. '
        "Close it, or double quotes that belong to the text"
    )


def test_text_after_a_closing_quote_names_its_line():
    with pytest.raises(InputError, match=r"data\.csv line 3: .+\. Put quotes around the cell and"):
        read('id,text\n1,a\n2,"b" c\n')


def test_file_of_delimiters_only_is_refused():
    with pytest.raises(InputError, match=r"^data\.csv holds no rows\. Nothing was added$"):
        read(",,\n,,\n")


def test_old_mac_line_ends_separate_rows():
    rows = read("id,text\r1,a\r2,b\r").rows
    assert [row.cells for row in rows] == [("id", "text"), ("1", "a"), ("2", "b")]


@pytest.mark.parametrize(
    ("names", "expected"), [(("text",), 2), (("body", "text"), 1), (("note",), None)]
)
def test_columns_are_found_in_any_case_and_earlier_names_win(names, expected):
    assert find_column(("id", "Body ", " TEXT"), names) == expected
