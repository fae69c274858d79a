import gc
import tomllib
from pathlib import Path

import pytest

from engine import jobs
from engine.jobs.rows import Job
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.pages import open_page
from ui.parts import sidebar
from ui.views.text import page as text

CONFIG = tomllib.loads(
    (Path(__file__).parents[2] / "ui" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
)

PAGES = ("Home", "Text", "Dictionaries", "Distant labels", "Train", "Compare", "Coverage curves")
PAGES += ("Review", "Predict", "Export")


def links(page):
    return {link.label: link.proto.query_string for link in page.sidebar.get("page_link")}


def test_first_visit_opens_the_sample_and_puts_it_into_the_address():
    page = open_page("home").run()
    assert not page.exception and not page.error
    assert page.query_params == {"project": "sample"}
    assert page.sidebar.selectbox[0].value == "sample"


def test_links_to_all_pages_keep_the_project():
    project = create_project("Mine")
    page = open_page("text", project.id).run()
    assert links(page) == dict.fromkeys(PAGES, f"project={project.id}")


def test_project_stays_open_when_the_address_does_not_name_it():
    project = create_project("Mine")
    page = open_page("text", project.id).run()
    page.query_params.clear()  # as another page of the app would be asked for
    page.run()
    assert page.query_params == {"project": project.id}


def test_another_project_can_be_chosen():
    mine = create_project("Mine")
    page = open_page("text").run()
    page.sidebar.selectbox[0].set_value(mine.id).run()
    assert not page.exception and not page.error
    assert page.query_params == {"project": mine.id}
    assert page.sidebar.selectbox[0].value == mine.id


@pytest.mark.parametrize("bad", ["no-such-project", "../../etc", "a", "SAMPLE", "<script>"])
@pytest.mark.parametrize("name", ["text", "labels"])
def test_unknown_project_is_explained_with_a_way_home(name, bad):
    page = open_page(name, bad).run()
    assert not page.exception
    assert len(page.error) == 1 and "hoose" in page.error[0].value
    assert [link.label for link in page.main.get("page_link")] == ["See all projects"]


def test_unknown_project_is_taken_out_of_the_address_at_home():
    page = open_page("home", "no-such-project").run()
    assert not page.exception and not page.error
    assert "There is no project" in page.warning[0].value.replace("\\", "")
    assert "project" not in page.query_params


def test_a_page_without_a_project_leads_home():
    page = open_page("home", "no-such-project").run()
    page._page_hash = open_page("text")._page_hash
    page.run()
    assert not page.exception and not page.error
    assert any("No project is open" in element.value for element in page.main.html)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (InputError("a_b.txt is empty"), "a\\_b\\.txt is empty\\."),
        (KeyError("x"), "Something went"),
    ],
    ids=["the person's", "ours"],
)
def test_no_traceback_is_shown_to_the_user(monkeypatch, error, shown):
    def fail(project):
        raise error

    monkeypatch.setattr(text, "show", fail)
    page = open_page("text").run()
    assert not page.exception
    assert page.error[0].value.startswith(shown)


def test_a_damaged_project_is_listed_and_the_others_stay_usable():
    project = create_project("Broken")
    (project.folder / "project.db").write_bytes(b"no database at all" * 100)
    page = open_page("home").run()
    assert not page.exception and not page.error
    assert any("Cannot be opened" in element.value for element in page.main.html)


def test_every_widget_has_a_label():
    page = open_page("home").run()
    for kind in ("button", "selectbox", "text_input", "file_uploader"):
        assert all(widget.label for widget in page.get(kind)), kind


# ---- the job strip --------------------------------------------------------------------------


def job(project, **changes):
    values = dict.fromkeys(Job.__dataclass_fields__)
    values |= {"id": "j1", "kind": "train", "state": "running", "share": 0.42, "seconds_left": 130}
    return Job(**(values | {"folder": project.folder, "request": {}} | changes))


def strip(page):
    return [element.value for element in page.sidebar.html if 'class="gl-job"' in element.value]


def test_strip_shows_the_running_job(monkeypatch):
    project = create_project("Mine")
    monkeypatch.setattr(jobs, "active_job", job)
    asked = []
    monkeypatch.setattr(jobs, "cancel", lambda project, id: asked.append((project.id, id)))
    page = open_page("text", project.id).run()
    assert not page.exception and not page.error
    assert strip(page) == ['<div class="gl-job"><b>Training</b><br>42 %, 2 min left</div>']
    assert links(page)["Open"] == f"project={project.id}"
    page.sidebar.button(key="job_cancel_j1").click().run()
    assert asked == [(project.id, "j1")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "queued"}, "waiting for its turn"),
        ({"state": "stopping"}, "stopping"),
        ({"seconds_left": None}, "42 %"),
    ],
)
def test_strip_says_what_the_job_is_doing(changes, said):
    assert sidebar.progress(job(create_project("Mine"), **changes)) == said


def test_strip_is_gone_when_the_job_has_ended(monkeypatch):
    active = [job(create_project("Mine"))]
    monkeypatch.setattr(jobs, "active_job", lambda project: active[0] if active else None)
    page = open_page("home").run()
    assert strip(page)
    active.clear()
    page.run()
    assert not page.exception and not strip(page)


# ---- set-up ---------------------------------------------------------------------------------


def luminance(color):
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["backgroundColor", "secondaryBackgroundColor"])
@pytest.mark.parametrize("color", ["primaryColor", "textColor"])
def test_small_text_can_be_read_in_both_themes(theme, ground, color):
    colors = CONFIG["theme"][theme]
    assert contrast(colors[color], colors[ground]) >= 4.5


def test_button_text_can_be_read_in_both_themes():
    assert contrast("#ffffff", CONFIG["theme"]["light"]["primaryColor"]) >= 4.5
    assert contrast("#0b1218", CONFIG["theme"]["dark"]["primaryColor"]) >= 4.5


def test_server_is_set_up_to_keep_uploads_and_tracebacks_in():
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["server"]["maxUploadSize"] == 200
    assert CONFIG["client"]["showErrorDetails"] == "none"


def test_projects_with_the_same_name_are_distinguished_in_the_picker():
    first, second = create_project("Trial"), create_project("Trial")
    page = open_page("text", first.id).run()
    picker = page.selectbox(key=f"project_picker_{first.id}")
    assert len(set(picker.options)) == 2
    picker.select(next(name for name in picker.options if name.endswith(second.id[-4:]))).run()
    assert page.query_params["project"] == second.id


def test_objects_loaded_at_the_start_are_left_out_of_garbage_collections():
    open_page("home").run()
    assert gc.get_freeze_count() > 50_000
