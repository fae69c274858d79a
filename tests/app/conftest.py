"""What a page leaves behind in the process that draws it for a test."""

import sys

import pytest


@pytest.fixture(autouse=True)
def main_module_is_kept():
    """Streamlit makes the app the main module; a process spawned later would run it again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
