"""Shared test code is in tests/support and conftest.py only."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MODULES = sorted(TESTS.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(TESTS)))
def test_nothing_is_imported_from_a_test_module(path):
    source = path.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*(?:from|import) .*\btest_\w+", source, re.M)
