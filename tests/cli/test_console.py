import io

import pandas as pd
import pytest

from engine.cli.console import ProgressBar, columns_of, percent, table


def test_table_aligns_words_left_and_numbers_right():
    frame = pd.DataFrame({"phrase": ["high fever", "rash"], "matches": [7, 12_345]})
    assert table(frame) == (
        "phrase      matches\n"
        "----------  -------\n"
        "high fever        7\n"
        "rash         12,345"
    )  # fmt: skip


def test_table_picks_and_renames_columns_in_the_order_asked():
    frame = pd.DataFrame({"a": [1], "b": ["x"], "c": [2]})
    assert table(frame, {"c": "third", "b": "second"}) == ("third  second\n-----  ------\n    2  x")


def test_shares_are_percent_under_a_percent_sign_and_decimals_elsewhere():
    frame = pd.DataFrame({"precision %": [0.5, 1.0], "est. false": [0.25, 1234.0]})
    assert table(frame).splitlines()[2:] == ["       50.0         0.2", "      100.0     1,234.0"]


def test_unknown_figures_are_dashes_aligned_right():
    frame = columns_of([{"type": "A", "F1 %": None, "gold": 3}, {"type": "B", "F1 %": 0.5}])
    assert table(frame).splitlines()[2:] == ["A        –     3", "B     50.0     –"]


def test_whole_numbers_beside_gaps_stay_whole():
    assert columns_of([{"n": 3}, {"n": None}])["n"].tolist() == [3, None]


def test_long_cells_are_cut_and_line_breaks_become_spaces():
    frame = pd.DataFrame({"text": ["x" * 61, "y" * 60, "two\r\nlines\tand  tabs"]})
    assert table(frame).splitlines()[2:] == ["x" * 59 + "…", "y" * 60, "two lines and tabs"]


def test_empty_table_is_its_header():
    assert table(pd.DataFrame({"phrase": [], "n": []})) == "phrase  n\n------  -"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0.0 %"), (0.1234, "12.3 %"), (1.0, "100.0 %"), (None, "–"), (float("nan"), "–")],
)
def test_percent_has_one_decimal_or_is_a_dash(share, shown):
    assert percent(share) == shown


def test_progress_in_a_pipe_is_one_plain_line_at_the_end(capsys):
    with ProgressBar("Matching", 1234, "sentences") as progress:
        progress.advance(1000)
        assert capsys.readouterr().err == ""
        progress.advance(234)
    assert capsys.readouterr().err == "Matching: 1,234 sentences done\n"


def test_progress_says_nothing_more_when_the_work_fails(capsys):
    with pytest.raises(ValueError, match="x"), ProgressBar("Matching", 3, "sentences"):
        raise ValueError("x")
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_is_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with ProgressBar("Matching", 10, "sentences") as progress:
        progress.advance(10)
    assert "Matching: 100%" in terminal.getvalue() and "\r" in terminal.getvalue()
