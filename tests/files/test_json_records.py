import pytest

from engine.files.json_records import Record, Records, read_records
from engine.files.sources import SourceFile
from engine.settings import ReadOptions
from engine.text.model import InputError

SKIP = ReadOptions(skip_bad_lines=True)
LONG_NUMBER = '{"text": "x", "n": ' + "9" * 5000 + "}"
DEEP = '{"text": "x", "n": ' + "[" * 100_000 + "]" * 100_000 + "}"
# Deep enough for Python code that follows every level, not for the parser itself.
RATHER_DEEP = '{"text": "x", "n": ' + "[" * 900 + "]" * 900 + "}"


def read(text, options=None, name="data.jsonl"):
    return read_records(SourceFile(name, text.encode()), options or ReadOptions())


def lines(count, broken):
    return "".join(
        '{"text": "a" "id": 1}\n' if n in broken else f'{{"id": {n}}}\n'
        for n in range(1, count + 1)
    )


def test_one_value_per_line_keeps_its_line_number():
    assert read('{"a": 1}\r\n\n[2]\n"x"\n') == Records(
        (Record(1, {"a": 1}), Record(3, [2]), Record(4, "x")), "utf-8"
    )


@pytest.mark.parametrize("text", ['[{"a": 1},\n {"b": 2}]', '\ufeff[{"a": 1}, {"b": 2}]'])
def test_items_of_a_list_are_numbered(text):
    assert read(text, name="data.json").items == (Record(1, {"a": 1}), Record(2, {"b": 2}))


def test_broken_line_is_an_error_that_names_line_column_and_count():
    with pytest.raises(InputError) as caught:
        read(lines(900, broken={12}))
    # {"text": "a" "id": 1}   the comma is missing before column 14
    assert str(caught.value) == (
        "data.jsonl line 12: not valid JSON (Expecting ',' delimiter at column 14). "
        "1 of 900 lines. Correct it, or skip bad lines"
    )


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        ({12}, "1 line that is not JSON left out (line 12)"),
        ({3, 12}, "2 lines that are not JSON left out (lines 3, 12)"),
        ({1, 3, 5, 7, 9, 11}, "6 lines that are not JSON left out (lines 1, 3, 5, 7, 9 …)"),
    ],
    ids=["one", "two", "six"],
)
def test_broken_lines_are_skipped_and_counted_when_asked(broken, note):
    records = read(lines(20, broken), SKIP)
    assert [record.line for record in records.items] == sorted({*range(1, 21)} - broken)
    assert records.notes == (note,)


@pytest.mark.parametrize("options", [ReadOptions(), SKIP], ids=["as it is", "skipping"])
@pytest.mark.parametrize("name", ["data.jsonl", "data.json"])
def test_file_without_a_good_line_is_refused(name, options):
    with pytest.raises(InputError, match=rf"^{name} line 1: not valid JSON \(.+\)\. "):
        read("fever\nrash\n", options, name)


def test_broken_list_over_many_lines_names_the_line_of_the_fault():
    text = '[\n  {"text": "a"},\n  {"text": "b"\n   "id": 2}\n]\n'
    with pytest.raises(InputError) as caught:
        read(text, name="data.json")
    assert str(caught.value) == (
        "data.json line 4: not valid JSON (Expecting ',' delimiter at column 4). Correct it"
    )


@pytest.mark.parametrize(
    "value", [LONG_NUMBER, DEEP, RATHER_DEEP], ids=["number", "deep", "deepish"]
)
@pytest.mark.parametrize("name", ["data.jsonl", "data.json"])
@pytest.mark.parametrize(
    "text", ["{}", '{{"text": "a"}}\n{}\n', "[{}]"], ids=["one", "last", "list"]
)
def test_values_that_python_cannot_represent_are_an_input_error(value, name, text):
    with pytest.raises(InputError, match=r"nested too deeply, or a number too long"):
        read(text.format(value), name=name)


def test_values_that_python_cannot_represent_are_skipped_when_asked():
    records = read(f'{{"text": "a"}}\n{LONG_NUMBER}\n{DEEP}\n{RATHER_DEEP}\n', SKIP)
    assert records.items == (Record(1, {"text": "a"}),)
    assert records.notes == ("3 lines that are not JSON left out (lines 2, 3, 4)",)


def test_lone_surrogates_and_nul_become_the_replacement_character():
    records = read(r'{"te\ud800xt": ["a\udc00b", {"c": "\u0000"}], "ok": "\ud83d\ude00"}')
    assert records.items[0].value == {
        "te\ufffdxt": ["a\ufffdb", {"c": "\ufffd"}],
        "ok": "😀",
    }


def test_line_separators_inside_a_string_do_not_end_the_line():
    text = '{"text": "a\u2028b\u2029c\u0085d"}\n{"text": "e"}\n'
    values = [record.value["text"] for record in read(text).items]
    assert values == ["a\u2028b\u2029c\u0085d", "e"]


def test_empty_list_is_refused():
    with pytest.raises(InputError, match=r"^data\.json holds an empty list\. Nothing was added$"):
        read("[]", name="data.json")
