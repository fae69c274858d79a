import pytest

from engine import jobs
from engine.export import curve_card
from engine.files.sources import SourceFile
from engine.jobs.reports import open_report
from engine.projects.workspace import create_project
from engine.text.model import InputError
from tests.support.finished_runs import end_job, make_project
from tests.support.pages import checked, html, open_page
from ui.views.curves.result import NO_GOLD

REQUEST = jobs.CurveRequest(
    fractions=(50, 100), methods=("conf_mpu", "mpu"), seeds=(0, 1), preset="quick"
)


@pytest.fixture
def project():
    return make_project()


def point(fraction, method, seed=0, f1=0.5):
    shares = {"precision": f1, "recall": f1, "f1": f1, "token_coverage": fraction / 1000}
    return {
        "fraction": fraction, "seed": seed, "method": method, **shares, "n_terms": fraction,
        "n_entities": 7, "run_id": f"{method}-seed{seed}", "seconds": 1.5,
    }  # fmt: skip


def cell(fraction, method, seed, state, message=""):
    return {
        "fraction": fraction,
        "method": method,
        "seed": seed,
        "state": state,
        "message": message,
    }


@pytest.fixture
def curve(project):
    """A curve whose first share is done."""
    job = jobs.create(project, REQUEST)
    report = open_report(project.folder, job.id)
    report.claim()
    assert report.begin()
    methods = [(method, seed) for method in REQUEST.methods for seed in REQUEST.seeds]
    report.cells([cell(50, *pair, "done") for pair in methods])
    report.cells([cell(100, *pair, "queued") for pair in methods[1:]])
    report.cells([cell(100, *methods[0], "running")])
    report.points([point(50, "dictionary", f1=0.3), *(point(50, *pair) for pair in methods)])
    report.progress(stage="100 % of the dictionary", share=0.5, seconds_left=90)
    return jobs.get_job(project, job.id)


def show(project):
    return checked(open_page("curves", project.id).run())


def texts(page):
    said = [element.value for element in (*page.markdown, *page.caption)]
    return " ".join(said).replace("\\", "")


def chart_count(page):
    return len(page.get("plotly_chart"))


# ---- before there is a curve ----------------------------------------------------------------


def test_page_says_what_is_missing():
    made = create_project("Empty")
    assert "No text yet." in html(show(made))
    made.add_text([SourceFile("a.txt", b"He had gout.\n")])
    assert "No dictionaries yet." in html(show(made))


def test_page_says_what_the_curve_will_contain(project):
    page = show(project)
    assert "No curve yet." in html(page)
    assert "5 shares × 3 methods × 1 seed = 15 points to train" in texts(page)
    assert "roughly" in texts(page) and "not measured here yet" in texts(page)
    assert chart_count(page) == 0


def test_a_known_speed_gives_an_estimate_of_the_time(project, monkeypatch):
    monkeypatch.setattr(jobs, "estimate", lambda project, request: 7_500.0)
    assert "about 2 h 5 min on this machine" in texts(show(project))


def test_start_is_disabled_when_nothing_is_chosen(project):
    page = show(project)
    page.pills(key="curves_shares").set_value([]).run()
    assert checked(page).info[0].value == "Choose at least one share and one method."
    assert not [button for button in page.button if button.key == "curves_start"]


def test_start_asks_for_what_was_chosen(project, monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "start", lambda project, request: asked.append(request))
    page = show(project)
    page.pills(key="curves_shares").set_value([100, 20])
    page.pills(key="curves_methods").set_value(["mpu"])
    page.segmented_control(key="curves_preset").set_value("balanced")
    page.number_input(key="curves_seeds").set_value(2)
    page.number_input(key="curves_epochs").set_value(3)
    page.run()
    assert "2 shares × 1 method × 2 seeds = 4 points to train" in texts(page)
    page.button(key="curves_start").click().run()
    assert not page.exception
    assert asked == [jobs.CurveRequest((20, 100), ("mpu",), (0, 1), "balanced", {"epochs": 3})]


def test_time_can_be_measured_before_the_start(project, monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "start", lambda project, request: asked.append(request))
    page = show(project)
    page.button(key="curves_measure").click().run()
    assert [type(request).__name__ for request in asked] == ["ProbeRequest"]
    assert asked[0].preset == "quick"


def test_reasons_against_a_start_are_shown(project, monkeypatch):
    def fail(project, request):
        raise InputError("only 3 MB are left on the disk")

    monkeypatch.setattr(jobs, "start", fail)
    page = show(project)
    page.button(key="curves_start").click().run()
    assert not page.exception
    assert page.error[0].value == "Only 3 MB are left on the disk\\."


def test_the_command_makes_the_same_curve(project):
    page = show(project)
    page.pills(key="curves_methods").set_value(["conf_mpu"]).run()
    assert page.code[-1].value == (
        f"glossa curve --project {project.id} --fractions 20,40,60,80,100 --seeds 0 "
        "--preset quick --methods conf_mpu"
    )


# ---- while it is made -----------------------------------------------------------------------


def test_points_are_there_before_the_curve_is_done(project, curve):
    page = show(project)
    assert chart_count(page) == 3
    said = [bar.proto.text.replace("\\", "") for bar in page.get("progress")]
    assert "Training, 100 % of the dictionary, 90 s left" in said
    text = html(page)
    assert text.count("✓ done") == 4 and text.count("▸ training") == 1
    assert text.count("· waiting") == 3
    assert "Conf-MPU, seed 1" in text
    assert "4 of 8 trained." in texts(page)
    assert "means over 2 seeds" in texts(page)


def test_a_second_curve_is_queued(project, curve):
    page = show(project)
    assert page.button(key="curves_start").label == "Queue this curve"


def test_a_curve_can_be_cancelled(project, curve):
    page = show(project)
    page.button(key=f"curves_cancel_{curve.id}").click().run()
    assert not page.exception
    assert jobs.get_job(project, curve.id).state == "stopping"


def test_before_the_first_point_the_page_says_so(project):
    jobs.create(project, REQUEST)
    page = show(project)
    assert "The first points appear when the smallest share is trained." in html(page)
    assert chart_count(page) == 0


# ---- afterwards -----------------------------------------------------------------------------


def test_another_measure_can_be_shown(project, curve):
    page = show(project)
    measure = next(control for control in page.segmented_control if control.label == "Show")
    assert measure.options == ["F1", "Precision", "Recall", "Entities", "Coverage"]
    for name in measure.options:
        checked(
            next(control for control in page.segmented_control if control.label == "Show")
            .set_value(name)
            .run()
        )


def test_without_gold_there_are_counts_only(project):
    job = jobs.create(project, REQUEST)
    report = open_report(project.folder, job.id)
    report.claim()
    report.begin()
    without = {"precision": None, "recall": None, "f1": None}
    report.points([{**point(50, method), **without} for method in ("dictionary", "mpu")])
    end_job(project, job)
    page = show(project)
    assert page.info[0].value == NO_GOLD
    measure = next(control for control in page.segmented_control if control.label == "Show")
    assert measure.options == ["Entities", "Coverage"]
    assert chart_count(page) == 2


@pytest.mark.parametrize("state", ["cancelled", "failed", "interrupted"])
def test_a_curve_that_ended_early_keeps_its_points_and_can_be_resumed(
    project, curve, state, monkeypatch
):
    end_job(project, curve, state, "The disk is full")
    resumed = []
    monkeypatch.setattr(jobs, "resume", lambda project, id: resumed.append(id))
    page = show(project)
    assert "The disk is full" in page.warning[0].value
    assert chart_count(page) == 3
    page.button(key=f"curves_resume_{curve.id}").click().run()
    assert resumed == [curve.id]


def test_a_failed_cell_says_why(project, curve):
    report = open_report(project.folder, curve.id)
    report.cells([cell(100, "conf_mpu", 0, "failed", "Disease has no labeled token")])
    end_job(project, curve)
    page = open_page("curves", project.id).run()
    assert page.error[0].value.replace("\\", "") == "Disease has no labeled token."
    assert "✕ failed" in html(page)


def test_an_older_curve_can_be_chosen_and_says_its_version(project, curve):
    end_job(project, curve)
    project.add_dictionaries([SourceFile("More.txt", b"kidney disease\n")])
    end_job(project, jobs.create(project, REQUEST))
    page = show(project)
    assert "Trained with dictionaries" not in texts(page)
    box = next(choice for choice in page.selectbox if choice.label == "Curve")
    checked(box.set_value(curve.id).run())
    assert "Trained with dictionaries v1" in texts(page)
    assert chart_count(page) == 3


def test_data_can_be_read_and_downloaded(project, curve):
    end_job(project, curve)
    page = show(project)
    table = next(frame.value for frame in page.dataframe if "n_terms" in frame.value)
    assert table["method"].tolist()[:2] == ["Dictionary", "Conf-MPU"]
    assert [button.key for button in page.get("download_button")] == [
        "download_curve_csv",
        "download_curve_csv_card",
        "download_curve_html",
        "download_curve_html_card",
    ]
    card = curve_card(project, curve, "the points of a coverage curve")
    assert card["what"] == "the points of a coverage curve"
    assert card["curve"]["id"] == curve.id and card["curve"]["asked"]["fractions"]
    assert card["dictionaries"]["version"] == 1 and card["text"]["fingerprint"] == curve.text_key
