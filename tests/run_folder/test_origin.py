"""An imported run uses nothing outside its folder that the user has not allowed."""

from dataclasses import replace

import pytest

from engine.run_folder.card import write_card
from engine.run_folder.origin import (
    allow,
    is_allowed,
    mark_imported,
    names_elsewhere,
    refuse_unasked,
    to_ask,
    to_ask_of_run,
)
from engine.settings import Settings
from engine.text.model import InputError
from tests.support.finished_runs import make_card

ELSEWHERE = Settings(word_vectors="/secret.txt", encoder_name="someone/model", contextual_layer=1)


@pytest.fixture
def folder(tmp_path):
    """The folder of a run in that of its job."""
    folder = tmp_path / "runs" / "job" / "mpu-seed0"
    folder.mkdir(parents=True)
    write_card(folder, replace(make_card("mpu-seed0", "mpu"), settings=ELSEWHERE))
    return folder


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (Settings(), ()),
        (Settings(word_vectors="none"), ()),
        (Settings(word_vectors="/v.txt"), ("/v.txt",)),
        (Settings(word_vectors="/v.txt", encoder="transformer"), ()),
        (Settings(encoder_name="someone/model"), ()),
        (Settings(encoder_name="someone/model", encoder="transformer"), ("someone/model",)),
        (ELSEWHERE, ("/secret.txt", "someone/model")),
    ],
)
def test_only_names_that_are_used_and_do_not_ship_with_glossa_count(settings, names):
    assert names_elsewhere(settings) == names


def test_a_run_made_here_is_no_question(folder):
    assert to_ask_of_run(folder) == ()


def test_an_imported_run_is_asked_about_until_each_name_is_allowed(folder):
    mark_imported(folder.parent)
    assert to_ask_of_run(folder) == ("/secret.txt", "someone/model")
    allow(folder, ["/secret.txt"])
    assert to_ask_of_run(folder) == ("someone/model",)
    assert is_allowed(folder, "/secret.txt")
    assert not is_allowed(folder, "someone/model")
    allow(folder.parent, ["someone/model"])
    assert to_ask_of_run(folder) == ()


def test_what_lies_in_the_folder_of_the_run_is_no_question(folder):
    mark_imported(folder.parent)
    (folder / "secret.txt").write_text("a 1 2\n")
    (folder / "encoder").mkdir()
    assert to_ask_of_run(folder) == ()
    assert to_ask(folder, ELSEWHERE) == names_elsewhere(ELSEWHERE)  # but a training reads the path


def test_a_second_import_forgets_what_was_allowed(folder):
    mark_imported(folder.parent)
    allow(folder, names_elsewhere(ELSEWHERE))
    mark_imported(folder.parent)
    assert len(to_ask_of_run(folder)) == 2


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, '{"a": 1}', "7"])
def test_a_damaged_mark_allows_nothing(folder, content):
    mark_imported(folder.parent)
    (folder.parent / "imported.json").write_text(content)
    assert len(to_ask_of_run(folder)) == 2


def test_the_refusal_names_what_is_used():
    refuse_unasked(())
    with pytest.raises(InputError, match=r'uses "/secret\.txt" and "m"') as caught:
        refuse_unasked(("/secret.txt", "m"))
    assert caught.value.fix == "trust"
