"""What a visitor sees before and after signing in, and whose projects the pages show."""

import pytest

from engine.projects.workspace import create_project, list_projects, open_project, share_project
from tests.support.pages import checked, html, open_page, press
from ui import access
from ui.parts import sign_in
from ui.state import visitor

ANN, BOB = "ann@example.org", "bob@example.org"
PAGES = ("home", "text", "dictionaries", "labels", "train", "compare", "curves", "review")
PAGES += ("predict", "export")


def by_oidc(monkeypatch, **claims):
    monkeypatch.setattr(access, "sign_in", lambda: access.OIDC)
    monkeypatch.setattr(access, "providers", lambda: [""])
    monkeypatch.setattr(visitor, "_claims", lambda: claims)


def as_user(monkeypatch, address):
    by_oidc(monkeypatch, is_logged_in=True, email=address, email_verified=True)


def has_nothing_to_see(page):
    assert not page.exception
    return not page.sidebar.get("page_link") and not page.selectbox and "Mine" not in html(page)


# ---- the shared password --------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_drawn_without_the_password(name, monkeypatch):
    project = create_project("Mine")
    monkeypatch.setenv("GLOSSA_PASSWORD", "correct horse")
    page = open_page(name, project.id).run()
    assert has_nothing_to_see(page)
    assert [title.value for title in page.title] == ["Glossa"]


def test_the_password_shows_the_pages_and_a_way_out(monkeypatch):
    create_project("Mine")
    monkeypatch.setenv("GLOSSA_PASSWORD", "correct horse")
    token = access.SESSIONS.begin()
    cookies = type("Context", (), {"cookies": {access.COOKIE: token}})
    monkeypatch.setattr(visitor.st, "context", cookies)
    page = checked(open_page("home").run())
    assert "Mine" in html(page)
    assert 'href="sign-out"' in html(page.sidebar)
    access.SESSIONS.end(token)
    assert has_nothing_to_see(page.run())


# ---- OpenID Connect -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_drawn_before_signing_in(name, monkeypatch):
    project = create_project("Mine")
    by_oidc(monkeypatch, is_logged_in=False)
    page = open_page(name, project.id).run()
    assert has_nothing_to_see(page)
    assert [button.label for button in page.button] == ["Sign in"]


def test_each_provider_has_a_button(monkeypatch):
    by_oidc(monkeypatch)
    monkeypatch.setattr(access, "providers", lambda: ["google", "work"])
    asked = []
    monkeypatch.setattr(sign_in.st, "login", lambda *names: asked.append(names))
    page = open_page("home").run()
    press(page, "Sign in with work")
    assert asked == [("work",)]


@pytest.mark.parametrize(
    "claims", [{}, {"email": ""}, {"email": BOB, "email_verified": False}, {"email": "bob"}]
)
def test_an_account_without_a_confirmed_address_sees_nothing(monkeypatch, claims):
    create_project("Mine", owner=BOB)
    by_oidc(monkeypatch, is_logged_in=True, **claims)
    page = open_page("home").run()
    assert has_nothing_to_see(page)
    assert len(page.error) == 1 and [button.label for button in page.button] == ["Sign out"]


def test_an_account_that_the_operator_did_not_name_sees_nothing(monkeypatch):
    create_project("Mine")
    as_user(monkeypatch, BOB)
    monkeypatch.setenv("GLOSSA_USERS", ANN)
    page = open_page("home").run()
    assert has_nothing_to_see(page) and "may not use this server" in page.error[0].value


def test_someone_elses_project_is_neither_listed_nor_opened(monkeypatch):
    theirs = create_project("Secret plans", owner=ANN)
    as_user(monkeypatch, BOB)
    page = checked(open_page("home").run())
    assert "Secret plans" not in html(page)
    assert [box.options for box in page.sidebar.selectbox] == [["Sample: medical abstracts"]]
    page = open_page("text", theirs.id).run()
    assert "there is no project" in page.error[0].value.lower()


def test_a_new_project_belongs_to_who_made_it(monkeypatch):
    as_user(monkeypatch, "Ann@example.org")
    page = open_page("home").run()
    page.text_input(key="home_new_name").set_value("Trials")
    [button] = [b for b in page.button if b.label == "Create project"]
    checked(button.click().run())
    [summary] = [s for s in list_projects() if s.name == "Trials"]
    assert summary.owner == ANN


def test_the_owner_shares_and_stops_sharing(monkeypatch):
    project = create_project("Plans", owner=ANN)
    as_user(monkeypatch, ANN)
    page = checked(open_page("home").run())
    assert "· yours<" in html(page)
    assert f"Signed in as {ANN}" in html(page.sidebar)
    page.text_input(key=f"home_share_address_{project.id}").set_value("BOB@example.org")
    checked(press(page, "Share"))
    assert open_project(project.id, BOB)
    assert "yours, shared with 1" in html(page)
    checked(page.button(key=f"home_unshare_{project.id}_{BOB}").click().run())
    assert [s.id for s in list_projects(BOB)] == ["sample"]


def test_a_guest_cannot_delete_or_share(monkeypatch):
    project = create_project("Plans", owner=ANN)
    share_project(project.id, BOB, ANN)
    as_user(monkeypatch, BOB)
    page = checked(open_page("home").run())
    assert f"shared by {ANN}" in html(page)
    keys = [widget.key for kind in ("button", "text_input") for widget in page.get(kind)]
    assert f"home_rename_name_{project.id}" in keys
    for name in ("delete_name", "share_address", "claim"):
        assert f"home_{name}_{project.id}" not in keys


def test_a_project_without_owner_can_be_claimed(monkeypatch):
    project = create_project("Old")
    as_user(monkeypatch, ANN)
    page = checked(open_page("home").run())
    checked(page.button(key=f"home_claim_{project.id}").click().run())
    assert [s.id for s in list_projects(BOB)] == ["sample"]


def test_without_a_sign_in_nothing_is_said_about_owners():
    create_project("Old")
    page = checked(open_page("home").run())
    assert "everyone's" not in html(page) and 'href="sign-out"' not in html(page)
    assert not [b for b in page.button if b.label in ("Sign out", "Make it mine", "Share")]
