"""Every page shows the content of a person's files as plain text and never runs it."""

import csv
import io
import json
from html import unescape
from html.parser import HTMLParser

import pytest
from streamlit.testing.v1 import AppTest

from engine import jobs
from engine.export.choice import DICTIONARY, RUN, ExportChoice
from engine.files.sources import SourceFile
from engine.projects.workspace import create_project
from engine.run_folder.card import PREDICTIONS
from engine.run_folder.predictions import write_predictions
from engine.text.model import Entity
from tests.support.finished_runs import end_job, finish_run
from tests.support.pages import open_page
from tests.support.waiting import LIMIT
from ui.views.export import downloads
from ui.views.export import state as export

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    "**bold** _x_ `y` # z",
    "$e^{i}$ costs $5",
    "=cmd()|'/C calc'!A0",
    ":material/home: :red[r]",
    "[a](javascript:alert(3))",
)
PAGES = {
    "home": (),
    "text": (),
    "dictionaries": (),
    "labels": ("Text", "Coverage", "Missing names", "Conflicts", "Precision", "Noisy phrases"),
    "train": (),
    "compare": (),
    "curves": (),
    "review": ("Decide", "Dictionary candidates", "Decisions"),
    "predict": (),
    "export": (),
}
# Fields that Streamlit's browser side shows as plain text: never read as markdown, TeX or HTML.
PLAIN_FIELDS = {
    "arrow_data_frame",
    "code.code_text",
    "file_uploader",
    "multiselect.options",
    "multiselect.default",
    "multiselect.raw_values",
    "selectbox.options",
    "selectbox.raw_value",
    "text.body",
    "text_area.default",
    "text_area.value",
    "text_input.default",
    "text_input.value",
    "text_input.placeholder",
}
# Fields with these names are never shown: keys, ids, addresses.
HIDDEN_FIELDS = ("id", "form_id", "key", "url", "page_script_hash", "query_string", "element_id")
# Only an upload could add these; our own pictures are inside the page.
FOREIGN_TAGS = {"script", "iframe", "object", "embed", "form", "input", "link", "base", "meta"}


@pytest.fixture
def project(monkeypatch):
    """A project in which every name and every text is hostile."""
    monkeypatch.setattr(jobs, "start", jobs.create)
    project = create_project(" ".join(HOSTILE[:3]))
    records = [
        {"id": f"{evil} {i}", "text": f"He took {evil} for gout. Then {evil} again."}
        for i, evil in enumerate(HOSTILE)
    ]
    lines = "\n".join(json.dumps(record) for record in records).encode()
    project.add_text([SourceFile(f"{HOSTILE[1]}.jsonl", lines)])
    phrases = [{"label": evil, "pattern": evil} for evil in HOSTILE]
    phrases += [{"label": HOSTILE[0], "pattern": "gout"}, {"label": HOSTILE[1], "pattern": "gout"}]
    patterns = "\n".join(json.dumps(phrase) for phrase in phrases).encode()
    project.add_dictionaries([SourceFile(f"{HOSTILE[0]}.jsonl", patterns)])
    return project


@pytest.fixture
def run(project):
    first = HOSTILE[0]
    findings = {
        "conf_mpu": [(first, first, 0.6), ("gout", HOSTILE[1], 0.9)],
        "mpu": [("took", HOSTILE[2], 0.7), ("again", HOSTILE[6], 0.8)],
    }
    return finish_run(project, findings)


@pytest.fixture
def predicted(project, run):
    files = (SourceFile(f"{HOSTILE[1]}.txt", HOSTILE[0].encode()),)
    job = jobs.create(project, jobs.PredictRequest(run.id, "conf_mpu", files))
    write_predictions(job.folder / PREDICTIONS, {HOSTILE[1]: (Entity(0, 8, HOSTILE[0], 0.5),)})
    return end_job(project, job)


class Tags(HTMLParser):
    """The tags of a piece of HTML that a page draws, and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names, self.attributes = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}


def fields(message, path=""):
    """Every text of an element's message with the names that lead to it."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}" if path else field.name
        if field.type == field.TYPE_MESSAGE:
            repeated = not hasattr(value, "ListFields")
            if repeated and hasattr(value, "items"):
                yield from ((name, str(text)) for pair in value.items() for text in pair)
                continue
            for part in value if repeated else [value]:
                yield from fields(part, name)
        elif field.type == field.TYPE_STRING:
            repeated = not isinstance(value, str)
            yield from ((name, text) for text in (value if repeated else [value]))


def elements(block):
    """Everything that was drawn, blocks (their labels: tabs, expanders) included."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def test_check_notices_markup_that_would_be_rendered():
    def draw(evil):
        import streamlit as st

        st.markdown(f"Look: {evil}")

    page = AppTest.from_function(draw, args=(HOSTILE[2],), default_timeout=LIMIT).run()
    with pytest.raises(AssertionError, match=r"markdown\.body would read markup"):
        check(page)


def check(page: AppTest) -> None:
    assert not page.exception
    for root in (page.main, page.sidebar):
        for element in elements(root):
            if element.proto is not None:
                check_element(element.type, element.proto)


def check_element(kind, proto):
    for path, text in fields(proto):
        name = f"{kind}.{path}"
        if kind == "html" and path == "body":
            check_html(text)
        elif kind == "plotly_chart" or "plotly" in name:
            check_chart(text)
        elif path.rpartition(".")[2] in HIDDEN_FIELDS or name in PLAIN_FIELDS:
            continue
        elif kind not in PLAIN_FIELDS:
            raw = [evil for evil in HOSTILE if evil in text]
            assert raw == [], f"{name} would read markup: {text[:200]}"


def check_html(body):
    tags = Tags(body)
    assert tags.names & FOREIGN_TAGS == set(), body[:300]
    assert [attribute for attribute in tags.attributes if is_foreign(attribute)] == []


def is_foreign(attribute):
    name, _, value = attribute.partition("=")
    is_outside = name in ("src", "href") and not value.startswith(("data:image/", "#"))
    return name.startswith("on") or "javascript:" in value or is_outside


def check_chart(spec):
    """Plotly reads a little HTML in names and hover texts, so "<" must not come in raw."""
    for evil in HOSTILE[:2]:
        assert json.dumps(evil)[1:-1] not in spec and evil not in spec


@pytest.mark.parametrize("name", PAGES)
def test_pages_show_markup_as_text(project, run, predicted, name):
    page = open_page(name, project.id).run()
    check(page)
    for tab in PAGES[name]:
        page.session_state[f"{name}_tab"] = tab
        check(page.run())


@pytest.mark.parametrize("name", ["labels", "review", "predict"])
def test_markup_in_the_text_stays_readable(project, run, predicted, name):
    page = open_page(name, project.id).run()
    bodies = "".join(element.value for element in page.html)
    assert HOSTILE[0] not in bodies and HOSTILE[0] in unescape(bodies)


@pytest.mark.parametrize("name", PAGES)
def test_pages_without_a_run_show_markup_as_text(project, name):
    check(open_page(name, project.id).run())


def test_review_shows_markup_as_text_while_deciding_and_editing(project, run):
    page = open_page("review", project.id).run()
    for key in ("review_accept", "review_type_1", "review_edit_button", "review_end_later"):
        buttons = [button for button in page.button if button.key == key and not button.disabled]
        if buttons:
            page = buttons[0].click().run()
            check(page)


@pytest.mark.parametrize("order", ["disagreement", "uncertain", "dictionary", "unseen", "random"])
def test_every_queue_shows_markup_as_text(project, run, order):
    project.set_choice("review", {"order": order})
    check(open_page("review", project.id).run())


@pytest.mark.parametrize("what", [export.RUN, export.DICTIONARY])
def test_every_format_is_previewed_as_text(project, run, what):
    page = open_page("export", project.id).run()
    page.segmented_control[0].set_value(what)
    for format in export.writable():
        check(page.radio(key="export_format").set_value(format).run())


def test_names_of_files_that_cannot_be_read_are_shown_as_text(project, run):
    page = open_page("predict", project.id).run()
    page.segmented_control(key="predict_kind").set_value("Upload files").run()
    page.file_uploader[0].set_value([(f"{HOSTILE[5]}.txt", b"%PDF-1.7", "text/plain")])
    page.button(key="predict_start").click().run()
    assert len(page.error) == 1
    check(page)


def test_report_shows_markup_as_text(project, run):
    choice = ExportChoice(RUN, run.id, "conf_mpu")
    page = downloads.report(project, choice, run).decode()
    tags = Tags(page)
    assert tags.names & (FOREIGN_TAGS | {"img", "a"}) == {"meta"}
    assert [attribute for attribute in tags.attributes if is_foreign(attribute)] == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_formulas_are_guarded_in_files_for_excel(project, run):
    options = export.WriteOptions(excel=True)
    choice = ExportChoice(DICTIONARY, options=options)
    for data in (
        export.whole_file(project, choice),
        downloads.phrases(project, options),
        downloads.comparison(project, run, options),
    ):
        table = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        cells = [cell for row in table for cell in row]
        assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
        assert any(cell.startswith("'=cmd()") for cell in cells)
