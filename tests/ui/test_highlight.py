import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.model import Span
from engine.text.tokenization import make_document
from ui.charts.palette import PALETTE
from ui.parts.highlight import (
    Line,
    Mark,
    bullets,
    highlight,
    highlight_lines,
    legend,
    marks,
    plain_markdown,
    type_colors,
)

COLORS = {"Chemical": "#E69F00", "Disease": "#56B4E9"}


def marked(text, entity_type):
    return (
        f'<mark class="gl-mark" style="--type:{COLORS[entity_type]}">{text}'
        f'<span class="gl-type">{entity_type}</span></mark>'
    )


def test_highlight_marks_a_span_and_names_its_type():
    html = highlight("no gout here", [Mark(3, 7, "Disease")], COLORS)
    assert html == f"no {marked('gout', 'Disease')} here"


def test_highlight_marks_adjacent_spans_separately_whatever_their_order():
    spans = [Mark(4, 8, "Disease"), Mark(0, 4, "Chemical")]
    html = highlight("leadcold", spans, COLORS)
    assert html == marked("lead", "Chemical") + marked("cold", "Disease")


def test_highlight_counts_code_points_when_the_text_has_emoji():
    assert marked("gout", "Disease") in highlight("😀😀 gout", [Mark(3, 7, "Disease")], COLORS)


def test_highlight_escapes_text_inside_and_outside_marks():
    html = highlight("<b>&<i>", [Mark(4, 7, "Disease")], COLORS)
    assert html == f"&lt;b&gt;&amp;{marked('&lt;i&gt;', 'Disease')}"


def test_highlight_escapes_the_name_of_a_type():
    html = highlight("x", [Mark(0, 1, '"><script>')], {'"><script>': PALETTE[0]})
    assert "<script>" not in html and "&quot;&gt;&lt;script&gt;" in html


@pytest.mark.parametrize(
    "spans",
    [[Mark(0, 3, "Disease"), Mark(2, 4, "Chemical")], [Mark(2, 9, "Disease")]],
    ids=["overlap", "outside"],
)
def test_highlight_refuses_marks_that_cannot_be_drawn(spans):
    with pytest.raises(ValueError, match="overlaps another mark or leaves the text"):
        highlight("text", spans, COLORS)


@given(st.text(), st.lists(st.integers(0, 30), unique=True).map(sorted))
def test_highlight_shows_the_text_unchanged(text, cuts):
    cuts = [cut for cut in cuts if cut <= len(text)]
    spans = [Mark(a, b, "Disease") for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    html = highlight(text, spans, COLORS).replace('<span class="gl-type">Disease</span>', "")
    assert unescape(re.sub(r"<[^>]*>", "", html)) == text


def test_marks_are_places_in_the_sentence_not_in_the_document():
    document = make_document("d", "First one. He had kidney stones.")
    sentence = document.sentences[1]
    marked = marks(sentence, [Span(2, 4, "Disease")])
    assert marked == [Mark(7, 20, "Disease")]
    assert sentence.text[7:20] == "kidney stones"


def test_highlight_lines_names_a_document_once_and_escapes_names_and_notes():
    lines = [Line(1, "<d>", "a"), Line(2, "<d>", "b", (), ["<lost>"]), Line(1_003, "e", "c")]
    html = highlight_lines(lines, COLORS)
    assert html.count("gl-document") == 2
    assert html.count("&lt;d&gt;") == html.count("&lt;lost&gt;") == 1
    assert '<span class="gl-number">1,003</span>' in html
    assert "<d>" not in html and "<lost>" not in html


def test_legend_shows_each_type_with_its_matches():
    html = legend({"Chemical": 1_537, "Disease": 2}, COLORS)
    assert re.sub(r"<[^>]*>", "|", html) == "|||Chemical| 1,537|||Disease| 2||"


def test_bullets_escape_what_they_list():
    assert bullets(["<b>", "c"]) == '<ul class="gl-notes"><li>&lt;b&gt;</li><li>c</li></ul>'


def test_type_colors_follow_the_names_and_begin_again_after_the_last():
    names = [f"type {i:02}" for i in range(len(PALETTE) + 1)]
    colors = type_colors(reversed(names))
    assert [colors[name] for name in names] == [*PALETTE, PALETTE[0]]


def test_plain_markdown_escapes_every_special_character():
    text = "a*b*_c_ [x](y) `z` $1$ <i> :red[r] #1"
    assert re.findall(r"(?<!\\)[*_\[\]()`$<>:#]", plain_markdown(text)) == []
    assert re.sub(r"\\(.)", r"\1", plain_markdown(text)) == text
