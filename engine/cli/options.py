"""Turn the options of `train` and `curve` into settings, methods, priors and numbers."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.planning import METHODS
from engine.projects import encoder_folder
from engine.settings import SETTING_RULES, Settings, training_settings
from engine.text import InputError


def check_files_only(options: argparse.Namespace, what: str) -> None:
    """Raise InputError for options that only a project has, and without a place for results."""
    if getattr(options, "use_decisions", False) or options.resume:
        raise InputError("--use-decisions and --resume need a --project")
    if not options.out:
        raise InputError(f"name {what} with --out")


def make_settings(options: argparse.Namespace) -> Settings:
    """Return the preset with the changes that the command line asks for."""
    changes = {"seed": options.seed, **parse_changes(options)}
    try:
        return replace(training_settings(options.preset, options.encoder), **changes)
    except ValueError as error:
        raise InputError(str(error)) from None


def parse_changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of --set, each with a value of its own type."""
    changes: dict[str, Any] = {}
    for assignment in options.set:
        name, _, value = assignment.partition("=")
        if name not in SETTING_RULES:
            names = ", ".join(sorted(SETTING_RULES))
            raise InputError(f'--set: "{name}" is not a setting; choose one of {names}')
        changes[name] = _parse(name, value)
    if folder := encoder_folder(changes.get("encoder_name", "")):  # downloaded before
        changes["encoder_name"] = str(folder)
    return changes


def _parse(name: str, text: str) -> Any:
    rule = SETTING_RULES[name]
    try:
        if rule.kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
        return rule.kind(text)
    except (ValueError, KeyError):
        raise InputError(f"--set: {name} must be {rule}, got {text!r}") from None


def parse_priors(assignments: Sequence[str]) -> dict[str, float]:
    """Return the priors of a list such as ["Chemical=0.03", "Disease=0.02"]."""
    priors = {}
    for assignment in assignments:
        name, _, share = assignment.rpartition("=")
        try:
            priors[name] = float(share)
        except ValueError:
            raise InputError(
                f'--priors: "{assignment}" is not a type and a share, such as Disease=0.02'
            ) from None
    return priors


def parse_methods(text: str) -> list[str]:
    """Return the methods of a list such as "conf_mpu,mpu,mpn"."""
    methods = [method.strip() for method in text.split(",") if method.strip()]
    for method in methods:
        if method not in METHODS:
            raise InputError(f'--methods: "{method}" is not one of {", ".join(METHODS)}')
    if not methods:
        raise InputError(f"--methods names none; choose from {', '.join(METHODS)}")
    return list(dict.fromkeys(methods))


def parse_numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """Return the whole numbers of a list such as "20,40,60"."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or not all(least <= number <= most for number in numbers):
        raise InputError(
            f"{option} takes whole numbers from {least} to {most:,}, parted by commas, got {text!r}"
        )
    return sorted(set(numbers))
