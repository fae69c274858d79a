"""Every error is one line of at most 300 characters, whatever names from files it quotes."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.model import Dictionary
from engine.dictionaries.reading import read_dictionary
from engine.files.sources import SourceFile
from engine.formats.contract import WriteReport
from engine.formats.reading import read_corpus
from engine.settings import ReadOptions
from engine.text.messages import LONGEST_MESSAGE, one_line
from engine.text.model import Corpus, FileReport, InputError

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=40)
HUGE = st.builds(
    lambda text, times: text * times,
    st.text(
        st.characters(exclude_categories=()) | st.sampled_from('"\n\r\u2028\ud800 ,'), max_size=30
    ),
    st.integers(1, 200),
)


@given(st.lists(ANYTHING | HUGE, max_size=4).map("".join))
def test_a_message_is_one_short_line_that_can_be_written(message):
    shown = str(InputError(message))
    assert len(shown) <= LONGEST_MESSAGE
    assert len(shown.splitlines()) <= 1
    assert "\0" not in shown
    shown.encode()


@given(st.text(st.characters(exclude_categories=("C", "Z")), max_size=LONGEST_MESSAGE))
def test_a_short_message_of_one_line_is_shown_as_it_is(message):
    assert one_line(message) == message


def test_a_long_message_keeps_its_beginning_and_what_to_do():
    columns = ", ".join(f"column_{i}" for i in range(1000))
    shown = one_line(f"No column text in a.csv. Columns: {columns}. Name one of these")
    assert shown.startswith("No column text in a.csv. Columns: column_0, column_1,")
    assert " … " in shown
    assert shown.endswith(", column_999. Name one of these")


def test_long_quoted_values_and_words_are_shortened_before_anything_else():
    path = "/folder" * 30 + "/notes.txt"
    shown = one_line(f'{path} line 3: "{"value " * 50}" is not a tag. Write O')
    assert shown.startswith("/folder/folder/folder/folder/")
    assert "/notes.txt line 3: " in shown
    assert shown.endswith('…" is not a tag. Write O')


def test_an_error_keeps_its_options_when_it_is_sent_to_another_process():
    error = pickle.loads(pickle.dumps(InputError("a\nb", "encoding", "format")))
    assert (str(error), error.fix, error.fixes) == ("a b", "encoding", ("encoding", "format"))


def test_notes_are_one_short_line_too():
    note = 'type "' + "x\n" * 500 + '" holds a space'
    for notes in (Dictionary("a", (), notes=(note,)).notes, WriteReport(1, (note,)).notes):
        assert all(len(n) <= LONGEST_MESSAGE and "\n" not in n for n in notes)


LONG = "very long name " * 100


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f'"{LONG}\n{LONG}",other\n1,2\n'),
        ("a.csv", ",".join(f"column {i}" for i in range(5000)) + "\n" + "1," * 4999 + "1\n"),
        ("a.csv", f"token,token_id,{LONG}\nx,1,2\n"),
        ("a.csv", f"start,end,label,{LONG}\n1,2,x,3\n"),
        ("a.jsonl", f'{{"{LONG}\\n\\u0000\\ud800": 1}}\n'),
        ("a.jsonl", f'{{"text": "a", "{LONG}": 1, "id": {{"{LONG}\\u2028": []}}}}\n'),
        ("a.conll", f"word {LONG.replace(' ', '_')}\n"),
        (f"{LONG}.txt", ""),
    ],
)
def test_columns_keys_and_names_of_any_length_make_a_short_message(name, content):
    with pytest.raises(InputError) as error:
        read_corpus([SourceFile(name, content.encode())], ReadOptions())
    assert len(str(error.value)) <= LONGEST_MESSAGE
    assert str(error.value).isprintable()


def test_the_columns_of_a_dictionary_may_have_any_length():
    with pytest.raises(InputError) as error:
        read_dictionary(SourceFile("a.csv", f'label,"{LONG}\n{LONG}"\nx,y\n'.encode()))
    assert len(str(error.value)) <= LONGEST_MESSAGE
    assert str(error.value).isprintable()


def test_notes_about_members_with_long_names_are_short():
    names = ("a\nb" * 500 + ".txt", "l" * 5_000 + ".csv")
    files = tuple(FileReport(name, "text", notes=("3 lines were left out",)) for name in names)
    for note in Corpus((), {}, files).notes:
        assert len(note) <= LONGEST_MESSAGE
        assert note.isprintable()
        assert note.endswith("3 lines were left out")
