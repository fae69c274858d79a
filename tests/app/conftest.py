"""Fixtures of all page tests: a data folder per test, and a main module that stays the same."""

import sys

import pytest


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    """A data folder of its own for every test."""
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


@pytest.fixture(autouse=True)
def main_module_is_kept():
    """Streamlit makes the app the main module; a process spawned later would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
