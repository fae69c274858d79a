import zipfile

import pytest

from engine import jobs
from engine.guide.facts import skip_step
from engine.projects.workspace import (
    create_project,
    list_projects,
    open_project,
    untrained_sample,
    write_project_zip,
)
from tests.support.finished_runs import finish_run, make_project
from tests.support.pages import checked, open_page, plain, press, progress, settled
from ui.views.home import page as home


@pytest.fixture
def project():
    return create_project("Case reports")


def show():
    return checked(open_page("home").run())


def submit(page, label, form):
    [button] = [b for b in page.button if b.label == label and b.proto.form_id == form]
    return button.click().run()


def names():
    return sorted(summary.name for summary in list_projects())


def shown(page):
    return "".join(element.value for element in page.main.html)


def test_page_explains_itself_and_lists_the_projects(project):
    page = show()
    assert "Nothing leaves this machine." in shown(page)
    for step in ("Dictionary", "Distant labels", "PU learning", "Entities"):
        assert f"<b>{step}</b>" in shown(page)
    assert "Case reports" in shown(page)
    assert "0 sentences · 0 dictionaries · last job: none" in shown(page)
    assert "793 sentences · 2 dictionaries" in shown(page)  # the sample


def test_sample_opens_at_its_labels():
    page = show()
    page.button(key="home_sample").click().run()
    assert not page.exception
    assert page.query_params["project"] == "sample"
    assert page.title[0].value == "Distant labels"


# ---- the guide ------------------------------------------------------------------------------


def steps(page):
    """The lines of the checklist, with their icons, by key."""
    prefix = "home_step_"
    buttons = [b for b in page.button if (b.key or "").startswith(prefix)]
    return {b.key.removeprefix(prefix): (plain(b.label), b.proto.icon) for b in buttons}


def at(project):
    return checked(open_page("home", project.id).run())


def test_a_new_project_is_told_to_add_text(project):
    page = at(project)
    assert '<div class="gl-next">Add text</div>' in shown(page)
    assert steps(page)["text"] == ("**Add text**", ":material/arrow_circle_right:")
    assert page.button(key="home_step_train").disabled
    assert "home_skip" not in [button.key for button in page.button]
    checked(page.button(key="home_next").click().run())
    assert page.title[0].value == "Text"


def test_the_next_step_of_the_sample_opens_at_its_tab():
    page = show()
    assert "10 phrases look wrong: look at them" in shown(page)
    assert steps(page)["labels"] == ("1,101 matches in the text", ":material/check_circle:")
    checked(page.button(key="home_next").click().run())
    assert page.title[0].value == "Distant labels"
    assert page.session_state["labels_tab"] == "Noisy phrases"


def test_an_optional_step_can_be_skipped():
    untrained_sample()
    page = show()
    checked(page.button(key="home_skip").click().run())
    assert steps(page)["phrases"][1] == ":material/do_not_disturb_on:"
    assert "Train (roughly" in shown(page)


def test_a_trained_project_is_sent_to_its_disagreements():
    made = make_project()
    finish_run(made)
    for key in ("phrases", "precision"):
        skip_step(made, key)
    page = at(made)
    assert "disagreements to review" in shown(page)
    checked(page.button(key="home_step_review").click().run())
    assert page.title[0].value == "Review"


def test_an_own_project_comes_before_the_explanation(project):
    text = shown(at(project))
    assert text.index("Next in Case reports") < text.index("Nothing leaves this machine.")
    text = shown(show())
    assert text.index("Nothing leaves this machine.") < text.index("Next in Sample")


def test_home_shows_the_same_command(project):
    assert f"glossa status --project {project.id}" in at(project).code[0].value


# ---- projects -------------------------------------------------------------------------------


def test_a_project_can_be_made():
    page = show()
    page.text_input(key="home_new_name").set_value("  Trials\n2026 ")
    checked(submit(page, "Create project", "home_new"))
    assert "Trials 2026" in names()
    assert page.title[0].value == "Text"
    assert page.query_params["project"].startswith("trials-2026-")


def test_a_project_needs_a_name():
    page = submit(show(), "Create project", "home_new")
    assert not page.exception
    assert page.error[0].value.replace("\\", "") == "The project has no name. Type one."
    assert "Projects" in [heading.value for heading in page.subheader]  # the rest is still there


def test_a_project_can_be_opened(project):
    page = show()
    checked(page.button(key=f"home_open_{project.id}").click().run())
    assert page.query_params["project"] == project.id
    assert page.title[0].value == "Text"


def test_a_project_can_be_renamed(project):
    page = show()
    page.text_input(key=f"home_rename_name_{project.id}").set_value("Case series")
    checked(submit(page, "Rename", f"home_rename_{project.id}"))
    assert project.name == "Case series"
    assert "Case series" in shown(page)


def test_a_project_can_be_copied(project):
    checked(submit(show(), "Duplicate", f"home_copy_{project.id}"))
    assert names() == ["Case reports", "Case reports (copy)", "Sample: medical abstracts"]


def test_a_project_is_deleted_only_when_its_name_is_typed(project):
    page = submit(show(), "Delete permanently", f"home_delete_{project.id}")
    assert page.error[0].value.replace("\\", "") == 'Type "Case reports" to delete this project.'
    assert "Case reports" in names()
    page.text_input(key=f"home_delete_name_{project.id}").set_value("Case reports")
    checked(submit(page, "Delete permanently", f"home_delete_{project.id}"))
    assert names() == ["Sample: medical abstracts"]
    assert page.info[0].value.replace("\\", "") == "Case reports was deleted."


def test_deleting_the_open_project_closes_it(project):
    page = checked(open_page("home", project.id).run())
    page.text_input(key=f"home_delete_name_{project.id}").set_value("Case reports")
    checked(submit(page, "Delete permanently", f"home_delete_{project.id}"))
    assert "project" not in page.query_params
    assert page.sidebar.selectbox[0].value is None


def test_sample_can_be_reset():
    page = show()
    open_project("sample").rename("Mine now")
    checked(page.button(key="home_reset").click().run())
    assert names() == ["Sample: medical abstracts"]


def test_a_sample_without_results_is_kept_and_offers_the_reset_that_brings_them():
    untrained_sample().rename("Mine now")
    page = show()
    assert names() == ["Mine now"]
    assert "reset it under “More”" in shown(page)
    checked(page.button(key="home_reset").click().run())
    assert "reset it under “More”" not in shown(page)
    assert len(jobs.list_jobs(open_project("sample"), "train")) == 1


def test_a_project_is_restored_from_a_zip(project, tmp_path):
    path = tmp_path / "project.zip"
    path.write_bytes(home.zipped(project.id))
    assert "project.db" in " ".join(zipfile.ZipFile(path).namelist())
    page = show()
    page.file_uploader[0].set_value(("p.zip", path.read_bytes(), "application/zip")).run()
    page.button(key="home_import").click().run()
    checked(settled(page))
    assert names().count("Case reports") == 2
    assert page.title[0].value == "Text"


def test_an_import_shows_progress_and_can_be_cancelled_and_begun_again(project):
    page = show()
    file = ("p.zip", home.zipped(project.id), "application/zip")
    page.file_uploader[0].set_value(file).run()
    page = press(page, "Import project")
    assert progress(page).startswith("Importing") and names().count("Case reports") <= 2
    page = settled(press(page, "Cancel"))
    if page.title[0].value != "Text":  # or it was faster than the click
        assert page.info[0].value == "Importing was cancelled. Nothing was changed."
        assert names().count("Case reports") == 1
        page = settled(press(press(page, "Back"), "Import project"))
    assert checked(page).title[0].value == "Text"
    assert names().count("Case reports") == 2


def test_a_file_that_is_not_a_zip_is_explained(project, tmp_path):
    write_project_zip(project, tmp_path / "project.zip")
    page = show()
    page.file_uploader[0].set_value(("p.zip", b"PK\x03\x04 no zip", "application/zip")).run()
    page = settled(page.button(key="home_import").click().run())
    assert len(page.error) == 1
    assert "p.zip" not in names()
    assert page.title[0].value == "From a dictionary to a tagger"


def test_markup_in_a_name_is_shown_as_text():
    create_project("<img src=x onerror=alert(1)> **bold** $x$")
    page = show()
    assert "<img src=x" not in shown(page)
    assert "&lt;img src=x onerror=alert(1)&gt; **bold** $x$" in shown(page)
