"""Every setting has a rule, and a value that breaks it is refused in one line."""

import json
from dataclasses import asdict, fields, replace

import pytest

from engine.settings import (
    MATCH_PRESETS,
    MATCH_RULES,
    READ_RULES,
    SETTING_RULES,
    TRAINING_PRESETS,
    MatchOptions,
    ReadOptions,
    Settings,
    settings_of_card,
    training_settings,
)

RULES = {Settings: SETTING_RULES, MatchOptions: MATCH_RULES, ReadOptions: READ_RULES}
NAN, INFINITE = float("nan"), float("inf")
ALL_RULES = [
    pytest.param(kind, name, rule, id=f"{kind.__name__}.{name}")
    for kind, rules in RULES.items()
    for name, rule in rules.items()
]


@pytest.mark.parametrize("kind", RULES)
def test_every_setting_has_a_rule_of_its_kind(kind):
    assert list(RULES[kind]) == [field.name for field in fields(kind)]
    for name, value in asdict(kind()).items():
        rule = RULES[kind][name]
        assert rule.allows(value)
        assert rule.is_optional if value is None else rule.kind is type(value)


@pytest.mark.parametrize("options", MATCH_PRESETS.values())
def test_match_options_come_back_from_their_record(options):
    assert MatchOptions(**json.loads(json.dumps(options.record()))) == options


def test_match_options_that_earlier_versions_had_are_stored_and_hashed_as_they_were():
    record = {
        "ignore_case": True, "exact_acronym_letters": 4, "ignore_unicode_form": True,
        "ignore_accents": False, "ignore_plurals": False, "ignore_hyphens": False,
    }  # fmt: skip
    assert MATCH_PRESETS["balanced"].record() == record
    assert repr(MATCH_PRESETS["balanced"]) == (
        "MatchOptions(ignore_case=True, exact_acronym_letters=4, ignore_unicode_form=True, "
        "ignore_accents=False, ignore_plurals=False, ignore_hyphens=False)"
    )
    assert "is_adaptive=True" in repr(MATCH_PRESETS["adaptive"])


@pytest.mark.parametrize(("kind", "name", "rule"), ALL_RULES)
def test_values_of_another_kind_or_out_of_range_are_refused(kind, name, rule):
    wrong = [[], object(), *([] if rule.is_optional else [None])]
    if rule.kind is bool:
        wrong += [0, 1, "yes", NAN]
    elif rule.kind is str:
        wrong += [0, True, NAN, *([] if rule.is_optional else ["", " "])]
        wrong += ["else"] if rule.choices else []
    else:
        wrong += [True, "1", NAN, INFINITE, -INFINITE, rule.low - 3, rule.high + 1]
        wrong += [rule.low + 0.5] if rule.kind is int else []
    for value in wrong:
        with pytest.raises(ValueError, match=f"^{name} must be .+, got ") as error:
            kind(**{name: value})
        assert str(error.value) == f"{name} must be {rule}, got {value!r}"
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [n for n, r in SETTING_RULES.items() if r.kind in (int, float)])
def test_both_ends_of_a_range_are_allowed(name):
    rule = SETTING_RULES[name]
    for value in (rule.low, rule.high):
        assert rule.allows(value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confidence_seeds": 0}, "confidence_seeds must be a whole number from 1 to 100, got 0"),
        (
            {"contextual_layer": -1},
            "contextual_layer must be a whole number from 0 to 1,000, got -1",
        ),
        ({"lexicon_window": -2}, "lexicon_window must be a whole number from 0 to 100, got -2"),
        ({"learning_rate_decay": -5}, "learning_rate_decay must be a number from 0 to 100, got -5"),
        ({"learning_rate": NAN}, "learning_rate must be a number from 1e-08 to 1, got nan"),
        (
            {"confidence_folds": 1},
            "confidence_folds must be 0 or a whole number from 2 to 100, got 1",
        ),
        (
            {"confidence_folds": -1},
            "confidence_folds must be 0 or a whole number from 2 to 100, got -1",
        ),
        ({"seed": -1}, "seed must be a whole number from 0 to 4,294,967,295, got -1"),
        ({"epochs": 2.0}, "epochs must be a whole number from 1 to 100,000, got 2.0"),
        ({"batch_size": True}, "batch_size must be a whole number from 1 to 100,000, got True"),
        ({"dropout": "0.5"}, "dropout must be a number from 0 to 0.95, got '0.5'"),
        ({"is_one_sample": 1}, "is_one_sample must be True or False, got 1"),
        ({"encoder_name": ""}, "encoder_name must be a text that is not empty, got ''"),
        ({"loss": "mse"}, "loss must be one of mae, cross_entropy, gce, got 'mse'"),
        (
            {"encoder_window": 16, "encoder_stride": 16},
            "encoder_stride must be below encoder_window, which is 16, got 16",
        ),
    ],
)
def test_a_refusal_names_the_setting_the_range_and_the_value(changes, message):
    with pytest.raises(ValueError, match="must be") as error:
        Settings(**changes)
    assert str(error.value) == message


def test_a_whole_number_may_stand_for_a_decimal_one():
    assert Settings(entity_weight=28).entity_weight == 28


def test_no_column_and_no_encoding_are_allowed():
    assert ReadOptions(text_column=None, encoding=None) == ReadOptions()


@pytest.mark.parametrize("preset", TRAINING_PRESETS)
def test_a_card_keeps_the_settings_of_every_preset(preset):
    for encoder in ("bilstm", "transformer"):
        settings = training_settings(preset, encoder)
        assert settings_of_card(json.loads(json.dumps(asdict(settings)))) == settings


def test_a_card_of_an_earlier_version_keeps_numbers_that_are_out_of_range_today():
    old = {"confidence_folds": 1, "contextual_layer": -1, "learning_rate_decay": -0.5}
    settings = settings_of_card({"method": "mpn", **old})
    assert {name: getattr(settings, name) for name in old} == old
    assert replace(settings, confidence_folds=0, contextual_layer=0, learning_rate_decay=0.05) == (
        Settings(method="mpn")
    )


@pytest.mark.parametrize(
    "values", [{"x": 1}, {"method": 5}, {"method": "best"}, {"epochs": "2"}, {"epochs": None}]
)
def test_a_card_with_unknown_names_or_other_kinds_is_refused(values):
    with pytest.raises((TypeError, ValueError)):
        settings_of_card(values)
