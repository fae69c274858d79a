"""Projects of people who signed in: whose they are, who sees them, and who may delete them."""

import pytest

from engine.projects.project import Project
from engine.projects.workspace import (
    claim_project,
    create_project,
    delete_project,
    duplicate_project,
    import_project_zip,
    list_projects,
    open_project,
    reset_sample,
    sample_project,
    share_project,
    unshare_project,
    write_project_zip,
)
from engine.text.model import InputError

ANN, BOB = "ann@example.org", "bob@example.org"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))


@pytest.fixture
def project():
    return create_project("Ann's", owner=ANN)


def ids(user=None):
    return [summary.id for summary in list_projects(user)]


def test_a_project_is_its_owners_alone(project):
    assert ids(ANN) == ids() == [project.id]
    assert ids(BOB) == []
    assert open_project(project.id, ANN) == open_project(project.id) == project


@pytest.mark.parametrize(
    "act",
    [
        lambda id: open_project(id, BOB),
        lambda id: delete_project(id, BOB),
        lambda id: duplicate_project(id, "Mine now", BOB),
        lambda id: share_project(id, BOB, BOB),
        lambda id: unshare_project(id, ANN, BOB),
        lambda id: claim_project(id, BOB),
    ],
    ids=["open", "delete", "duplicate", "share", "unshare", "claim"],
)
def test_a_project_of_someone_else_is_as_if_it_were_not_there(project, act):
    with pytest.raises(InputError) as other:
        act(project.id)
    with pytest.raises(InputError) as missing:
        act("not-there")
    assert str(other.value) == str(missing.value).replace("not-there", project.id)
    assert ids() == [project.id]


def test_a_shared_project_can_be_opened_but_not_deleted_or_shared_on(project):
    share_project(project.id, " Bob@Example.ORG ", ANN)
    assert ids(BOB) == [project.id]
    assert open_project(project.id, BOB) == project
    [summary] = list_projects(BOB)
    assert (summary.owner, summary.guests) == (ANN, (BOB,))
    for act in (delete_project, claim_project):
        with pytest.raises(InputError, match=f"only the owner of this project, {ANN}, can"):
            act(project.id, BOB)
    with pytest.raises(InputError, match="only the owner"):
        share_project(project.id, "eve@example.org", BOB)
    unshare_project(project.id, BOB, ANN)
    assert ids(BOB) == []


def test_sharing_with_the_owner_leaves_the_owner_in_place(project):
    share_project(project.id, ANN, ANN)
    unshare_project(project.id, ANN, ANN)
    [summary] = list_projects(ANN)
    assert (summary.owner, summary.guests) == (ANN, ())


@pytest.mark.parametrize("address", ["", "bob", "@x", "bob@", "a b@x", "b\n@x", "x" * 300 + "@x"])
def test_only_an_address_can_be_shared_with(project, address):
    with pytest.raises(InputError, match="is no e-mail address") as error:
        share_project(project.id, address, ANN)
    assert len(str(error.value)) < 300 and "\n" not in str(error.value)


def test_the_owner_deletes(project):
    delete_project(project.id, ANN)
    assert ids() == []


def test_a_project_without_owner_is_everyones_until_someone_claims_it():
    old = create_project("Old")
    assert ids(ANN) == ids(BOB) == [old.id]
    with pytest.raises(InputError, match="everyone who signs in sees it already"):
        share_project(old.id, BOB, ANN)
    claim_project(old.id, ANN)
    assert (ids(ANN), ids(BOB)) == ([old.id], [])


def test_the_sample_stays_everyones():
    sample = sample_project()
    with pytest.raises(InputError, match="belongs to everyone"):
        claim_project(sample.id, ANN)
    assert reset_sample().id in ids(BOB)


def test_a_copy_belongs_to_who_made_it(project):
    share_project(project.id, BOB, ANN)
    copy = duplicate_project(project.id, "Copy", BOB)
    assert copy.id in ids(BOB) and copy.id not in ids(ANN)


def test_a_zip_brings_neither_owner_nor_guests(project, tmp_path):
    share_project(project.id, BOB, ANN)
    write_project_zip(project, tmp_path / "a.zip")
    imported = import_project_zip(tmp_path / "a.zip", owner="eve@example.org")
    assert imported.id not in [*ids(ANN), *ids(BOB)]
    nobodys = import_project_zip(tmp_path / "a.zip")
    [summary] = [summary for summary in list_projects() if summary.id == nobodys.id]
    assert (summary.owner, summary.guests) == ("", ())


def test_a_damaged_project_is_shown_to_the_operator_alone(project):
    (project.folder / "project.db").write_bytes(b"no database at all" * 100)
    assert ids() == [project.id]
    assert ids(ANN) == []
    with pytest.raises(InputError):
        delete_project(project.id, BOB)
    assert Project(project.id, project.folder).folder.is_dir()
