"""A disk that is full from the nth write on, for every n: all of a step is stored, or nothing."""

import pytest

from engine.projects.workspace import sweep_leftovers
from engine.text.model import InputError
from tests.support.fault_operations import OPERATIONS, check_whole, make_project
from tests.support.full_disk import full_disk


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "train"])
def test_a_full_disk_is_explained_and_leaves_nothing_half_done(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    project = make_project()
    operation = OPERATIONS[name](project)
    at, is_done = 0, False
    while not is_done:
        at += 1
        before, message = operation.count(), ""
        with full_disk(tmp_path, at=at) as disk:
            try:
                operation.step()
            except InputError as error:
                message = str(error)
        is_done = disk.count < at
        where = f"write {at} of {name}: {message}"
        after = operation.count()
        if message:
            assert after == before, where
            assert "no room left on the disk" in message, where
            assert len(message.splitlines()) == 1, where
        else:  # without room for a cache, it goes without
            assert after == before + 1, where
        check_whole(project)
        assert list((tmp_path / "data").rglob(".*")) == [], where
        sweep_leftovers()
    assert at > 3
