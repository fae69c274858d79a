import re
from html.parser import HTMLParser

import pytest

from ui.parts.highlight import Line, Mark
from ui.views.export.report import (
    Bar,
    Dot,
    Figure,
    MethodRow,
    Report,
    TypeRow,
    bar_chart,
    dot_chart,
    make_report,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    "</style></title><svg onload=alert(3)>",
    "**bold** $x^2$ :material/home: [a](javascript:alert(4))",
    "=cmd()",
]
TYPES = (TypeRow("Chemical", 449, 300, 512, 0.031), TypeRow("Disease", 575, 310, 700, 0.059))
SCORED = (
    MethodRow("dictionary", "Dictionary", 512, 0.97, 0.55, 0.7, 0.66, 0.74),
    MethodRow("conf_mpu", "Conf-MPU", 900, 0.8, 0.9, 0.85, 0.82, 0.88),
)
COLORS = {"Chemical": "#E69F00", "Disease": "#56B4E9"}


def report(**changes):
    values = {
        "name": "Trial",
        "made_at": "16 November 2026",
        "figures": (Figure("Token coverage", "9.0 %", "1,580 of 17,605 tokens"),),
        "types": TYPES,
        "methods": SCORED,
        "sentences": (Line(3, "d1", "He had gout.", (Mark(7, 11, "Disease"),)),),
        "sentences_by": "Conf-MPU",
        "colors": COLORS,
    }
    return make_report(Report(**(values | changes)))


class Tags(HTMLParser):
    """Every tag with its attributes, and whether what is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "path", "rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_report_holds_figures_coverage_scores_and_sentences():
    page = report()
    for said in ("Trial", "9.0 %", "1,580 of 17,605 tokens", "575", "85.0 %", "82.0–88.0 %"):
        assert said in page
    assert '>gout<span class="gl-type">Disease</span></mark>' in page
    assert "<h2>Sentences drawn at random</h2>" in page


def test_report_is_well_formed_and_needs_nothing_from_elsewhere():
    page = report()
    tags = Tags(page)
    assert tags.open == []
    names = {name for name, _ in tags.elements}
    assert names & {"script", "link", "img", "iframe", "object", "base", "form"} == set()
    attributes = {name for _, attrs in tags.elements for name in attrs}
    assert attributes & {"src", "href", "srcset", "action"} == set()
    assert "url(" not in page and "@import" not in page and "http://" not in page
    policy = [attrs["content"] for name, attrs in tags.elements if attrs.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


@pytest.mark.parametrize("evil", HOSTILE)
def test_markup_in_names_types_and_text_is_text(evil):
    page = report(
        name=evil,
        figures=(Figure(evil, evil, evil),),
        types=(TypeRow(evil, 1, 1, 1, 0.5),),
        methods=(MethodRow("conf_mpu", evil, 3),),
        sentences=(Line(1, evil, f"{evil} gout", (Mark(0, len(evil), evil),), (evil,)),),
        sentences_by=evil,
        colors={evil: "#E69F00"},
        notes=(evil,),
    )
    plain = Tags(report(types=TYPES[:1], methods=(MethodRow("conf_mpu", "x", 3),), notes=("x",)))
    allowed = {name for name, _ in plain.elements} | {"li", "ul"}
    tags = Tags(page)
    assert tags.open == []
    assert {name for name, _ in tags.elements} <= allowed
    assert not [attrs for _, attrs in tags.elements if any(name.startswith("on") for name in attrs)]


def test_without_gold_the_report_only_counts():
    page = report(methods=(MethodRow("conf_mpu", "Conf-MPU", 900),))
    assert "Without gold labels, nobody knows" in page.replace("\n", " ")
    assert "Precision" not in page


def test_without_intervals_none_are_shown():
    page = report(methods=(MethodRow("mpu", "MPU", 9, 0.5, 0.5, 0.5),))
    assert "interval" not in page


def test_a_report_of_text_alone_has_no_empty_sections():
    page = report(types=(), methods=(), sentences=())
    assert "<h2>" not in page and "<svg" not in page


def test_bars_are_as_long_as_their_values():
    chart = bar_chart([Bar("a", 10, "10", "#111"), Bar("b", 5, "5", "#222")])
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', chart)]
    assert widths == [400.0, 200.0]


def test_dots_lie_in_their_intervals():
    chart = dot_chart([Dot("a", 0.5, 0.25, 0.75, "#111")])
    assert 'cx="390.0"' in chart  # 190 + 400 * 0.5
    assert "M290.0 15.0H490.0" in chart


def test_empty_charts_do_not_fail():
    assert bar_chart([]).startswith("<svg") and dot_chart([]).startswith("<svg")
    assert 'width="0.0"' in bar_chart([Bar("a", 0, "0", "#111")])
