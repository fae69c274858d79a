"""A person loses nothing when a page, the server or a training process ends."""

import os
import re
import signal

import pytest
from playwright.sync_api import expect

from engine import jobs
from tests.browser.steps import HOME, follow, main, press, see_page, settle
from tests.support.small_project import make_small_project, tiny_request
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def project(server):
    return make_small_project("Survival")


@pytest.fixture(scope="module")
def page(visitor, project):
    return visitor(f"text?project={project.id}")


def test_back_leads_through_pages_and_projects(page, project):
    see_page(page, "Text")
    follow(page, "Dictionaries")
    follow(page, "Distant labels")
    page.go_back()
    see_page(page, "Dictionaries")
    page.go_back()
    see_page(page, "Text")
    expect(page).to_have_url(re.compile(rf"/text\?project={project.id}$"))
    page.go_forward()
    see_page(page, "Dictionaries")


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("..%2F..%2Fetc", "That is no project id"),
        ("%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "That is no project id"),
        ("nobody-0000", "nobody-0000"),
    ],
)
def test_an_unknown_project_has_a_way_home(page, app, id, said):
    page.goto(f"{app}/labels?project={id}")
    expect(page.get_by_test_id("stAlert")).to_contain_text(said)
    page.get_by_role("link", name="See all projects").click()
    see_page(page, HOME)


def test_a_run_is_seen_in_two_tabs_and_after_a_reload(page, app, project, visitor):
    job = jobs.start(project, tiny_request(settings={"epochs": 100_000}))
    page.goto(f"{app}/train?project={project.id}")
    see_page(page, "Train")
    expect(page.get_by_role("heading", name="Run in progress")).to_be_visible()
    wait_for_epochs(project, job, 1)
    page.reload()
    see_page(page, "Train")
    expect(live(page)).to_contain_text("MPN: training")

    other = visitor(f"train?project={project.id}")
    see_page(other, "Train")
    expect(live(other)).to_contain_text("MPN: training")
    expect(main(other).get_by_role("button", name="Queue this run")).to_be_visible()
    live(other).get_by_role("button", name="Cancel").click()
    for tab in (other, page):
        expect(main(tab)).to_contain_text("The latest run was cancelled.")
    other.close()


def test_a_restarted_server_finds_its_run_again(page, app, server, project, faults):
    page.goto(f"{app}/train?project={project.id}")
    press(page, "Resume")
    expect(live(page)).to_contain_text("MPN: training")
    job = jobs.active_job(project)
    server.kill()
    before = len(jobs.epochs(project, job.id))
    wait_for_epochs(project, job, before + 2)  # with no server at all
    server.start()
    page.goto(f"{app}/train?project={project.id}")
    see_page(page, "Train")
    expect(live(page)).to_contain_text("MPN: training")
    assert jobs.active_job(project).pid == job.pid
    faults.clear()  # the browser reported that the server was gone


def test_a_run_that_was_killed_is_resumed(page, project):
    job = jobs.active_job(project)
    os.kill(job.pid, signal.SIGKILL)
    expect(main(page)).to_contain_text("The latest run was interrupted.")
    done = len(jobs.epochs(project, job.id))
    press(page, "Resume")
    expect(live(page)).to_contain_text("MPN: training")
    wait_for_epochs(project, job, done + 1)
    epochs = jobs.epochs(project, job.id)["epoch"].tolist()
    assert epochs == list(range(1, len(epochs) + 1))  # none twice, none left out
    settle(page)
    live(page).get_by_role("button", name="Cancel").click()
    expect(main(page)).to_contain_text("The latest run was cancelled.")


def live(page):
    return page.locator(".st-key-train_live")


def wait_for_epochs(project, job, count):
    wait_until(
        lambda: len(jobs.epochs(project, job.id)) >= count, f"{count} epochs of a run", every=0.2
    )
