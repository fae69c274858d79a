"""One record per method, and nothing about a method that is not in its record."""

import subprocess
import sys

import pytest

from engine.planning.methods import METHODS, title_of
from engine.settings import BASELINES, Settings
from engine.settings import METHODS as OFFERED_FIRST
from ui.charts.palette import METHOD_COLORS, METHOD_DASHES
from ui.parts.wording import METHOD_NAMES


def test_every_method_that_settings_accept_has_a_record_and_no_other():
    assert tuple(METHODS) == (*OFFERED_FIRST, *BASELINES)
    assert [name for name, method in METHODS.items() if method.name != name] == []
    offered = [method.name for method in METHODS.values() if method.is_offered_first]
    assert offered == list(OFFERED_FIRST)


def test_every_method_has_a_risk():
    from engine.experiment import RISKS

    assert RISKS.keys() == METHODS.keys()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_name_and_a_color_in_the_app(method):
    assert METHOD_NAMES[method] == METHODS[method].title
    assert method in METHOD_COLORS and method in METHOD_DASHES


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_titles_differ_and_help_is_sentences(method):
    assert [other.title for other in METHODS.values()].count(method.title) == 1
    assert method.help.endswith(".")


@pytest.mark.parametrize(
    ("method", "epochs"),
    [
        ("mpn", {"training": 40}),
        ("mpu", {"training": 40}),
        ("conf_mpu", {"confidence": 2 * 5 * 30, "training": 40}),
        ("bnpu", {"training": 3 * 40}),
        ("early_stopped", {"training": 4}),
        ("supervised", {"training": 40}),
    ],
)
def test_epochs_count_all_taggers_of_a_stage(method, epochs):
    settings = Settings(epochs=40, confidence_epochs=30, confidence_folds=5, confidence_seeds=2)
    assert METHODS[method].epochs(settings, types=3) == epochs


def test_a_tagger_per_type_has_two_classes():
    assert (METHODS["bnpu"].taggers(3), METHODS["bnpu"].outputs(3)) == (3, 2)
    assert (METHODS["mpu"].taggers(3), METHODS["mpu"].outputs(3)) == (1, 4)


def test_one_epoch_is_never_stopped_before_its_end():
    assert METHODS["early_stopped"].epochs(Settings(epochs=3)) == {"training": 1}


def test_other_names_than_methods_are_their_own_title():
    assert title_of("dictionary") == "dictionary"


def test_records_need_no_torch():
    script = "import sys, engine.planning.methods; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
