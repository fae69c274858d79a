import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.scoring.pool import pool_entities
from engine.text.model import Document, Entity, Layout
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora
from ui.views.compare.lanes import (
    Block,
    Column,
    Lane,
    LaneMark,
    block_html,
    columns,
    lanes_html,
    make_blocks,
)

COLORS = {"Chemical": "#E69F00", "Disease": "#56B4E9"}
SENTENCE = make_document("d", "Acute renal failure and gout.").sentences[0]
FAILURE = LaneMark(6, 19, "Disease")  # "renal failure"
ACUTE = LaneMark(0, 19, "Disease")  # "Acute renal failure"
GOUT = LaneMark(24, 28, "Disease", 0.875)


def test_each_column_has_words_that_every_lane_marks_alike():
    parts = columns(SENTENCE, [Lane("a", [FAILURE]), Lane("b", [ACUTE, GOUT])])
    assert parts == [
        Column("Acute", " ", 0, 5, (None, ACUTE)),
        Column("renal failure", " ", 6, 19, (FAILURE, ACUTE)),
        Column("and", " ", 20, 23, (None, None)),
        Column("gout", "", 24, 28, (None, GOUT)),
        Column(".", "", 28, 29, (None, None)),
    ]


def test_unmarked_words_are_separate_columns_so_that_they_can_wrap():
    texts = [column.text for column in columns(SENTENCE, [Lane("a", [])])]
    assert texts == ["Acute", "renal", "failure", "and", "gout", "."]


def test_adjacent_marks_of_one_type_stay_apart():
    sentence = make_tokenized_document("d", [("gout", "fever")]).sentences[0]
    marks = [LaneMark(0, 4, "Disease"), LaneMark(5, 10, "Disease")]
    assert [column.text for column in columns(sentence, [Lane("a", marks)])] == ["gout", "fever"]


def test_a_mark_that_ends_inside_a_token_covers_it():
    parts = columns(SENTENCE, [Lane("a", [LaneMark(8, 21, "Disease")])])
    assert parts[1].text == "renal failure and"


@pytest.mark.parametrize("mark", [LaneMark(40, 50, "Disease"), LaneMark(-9, -2, "Disease")])
def test_a_mark_outside_the_sentence_is_not_drawn(mark):
    assert not any(any(column.marks) for column in columns(SENTENCE, [Lane("a", [mark])]))


def test_of_overlapping_marks_in_a_lane_the_first_is_drawn():
    parts = columns(SENTENCE, [Lane("a", [FAILURE, ACUTE])])
    assert {column.marks[0] for column in parts} == {ACUTE, None}


def test_a_long_mark_is_cut_between_words_so_that_it_can_wrap():
    text = "very " * 30 + "long"
    sentence = make_document("d", text).sentences[0]
    parts = columns(sentence, [Lane("a", [LaneMark(0, len(text), "Disease")])])
    assert len(parts) > 3
    assert max(len(column.text) for column in parts) <= 40
    html = block_html(Block(1, sentence, [Lane("a", [LaneMark(0, len(text), "Disease")])]), COLORS)
    # It has one name and is rounded at its two ends only.
    assert html.count(">Disease<") == 1
    assert html.count('class="m s"') == html.count('class="m e"') == 1
    assert html.count('class="m"') == len(parts) - 2


def test_each_lane_has_a_cell_under_every_marked_word():
    html = block_html(Block(1, SENTENCE, [Lane("MPN", [FAILURE]), Lane("MPU", [])]), COLORS)
    assert (
        '<span class="gl-c d g"><b><u>renal failure</u> </b>'
        '<i class="m s e" style="--type:#56B4E9" title="MPN: Disease">Disease</i><i></i></span>'
    ) in html
    assert '<span class="gl-w">and </span>' in html
    assert 'style="--n:2"' in html


def test_words_are_dotted_only_where_lanes_differ():
    scores = [Lane("a", [GOUT]), Lane("b", [LaneMark(24, 28, "Disease", 0.5)])]
    assert 'class="gl-c d' not in block_html(Block(1, SENTENCE, scores), COLORS)
    types = [Lane("a", [GOUT]), Lane("b", [LaneMark(24, 28, "Chemical")])]
    assert 'class="gl-c d' in block_html(Block(1, SENTENCE, types), COLORS)


def test_the_score_stands_in_the_hover_text():
    html = block_html(Block(1, SENTENCE, [Lane("MPU", [GOUT])]), COLORS)
    assert 'title="MPU: Disease, score 0.88"' in html


def test_names_are_repeated_for_each_line_that_the_text_may_take():
    html = block_html(Block(1, SENTENCE, [Lane("Gold", []), Lane("MPU", [])]), COLORS)
    names = re.search(r'<div class="gl-names" aria-hidden="true">(.*?)</div>', html, re.S)[1]
    # Text, two lanes and a gap: four lines each time.
    assert names == "\nGold\nMPU\n\n" * 3


def test_a_long_name_is_cut_and_a_number_has_thousands_separators():
    html = block_html(Block(1_204, SENTENCE, [Lane("a" * 40, [])]), COLORS)
    assert f"\n{'a' * 17}…\n" in html
    assert '<span class="gl-number">1,204</span>' in html


def test_a_line_does_not_break_where_the_text_has_no_gap():
    html = block_html(Block(1, SENTENCE, [Lane("a", [GOUT])]), COLORS)
    assert '</span>\u2060<span class="gl-w">.</span>' in html
    assert html.count("\u2060") == 2  # the second after the full stop, where nothing follows


def test_a_very_long_word_in_many_tokens_may_break():
    layout = Layout.of([[(i, i + 1) for i in range(100)]])
    tight = Document("d", "x" * 100, layout).sentences[0]
    assert block_html(Block(1, tight, [Lane("a", [])]), COLORS).count("\u2060") == 40


def test_everything_is_escaped():
    document = make_document("<d>", "<b>x</b> & <script>y</script>")
    marks = [LaneMark(0, len(document.text), '"><i>')]
    blocks = [Block(1, document.sentences[0], [Lane("<n>", marks)])]
    html = lanes_html(blocks, {'"><i>': "#000000"})
    for markup in ("<d>", "<b>x", "<script", "<n>", '"><i>'):
        assert markup not in html
    assert "&lt;script&gt;" in html.replace("</u><u>", "").replace("</b>", "")


def test_line_breaks_in_the_text_become_spaces():
    layout = Layout.of([[(0, 5), (7, 14)]])
    broken = Document("d", "renal\n failure", layout).sentences[0]
    html = block_html(Block(1, broken, [Lane("a", [LaneMark(0, 14, "Disease")])]), COLORS)
    assert "<u>renal failure</u>" in html


def test_a_document_is_named_once():
    blocks = [Block(1, SENTENCE, []), Block(2, SENTENCE, [])]
    assert lanes_html(blocks, COLORS).count('class="gl-document"') == 1


@given(corpora(aligned=False), st.integers(1, 3))
def test_lanes_show_the_whole_sentence_whatever_is_marked(corpus, lane_count):
    sets = {f"set {i}": corpus.entities for i in range(lane_count)}
    pool = pool_entities(corpus.documents, sets)
    sentences = list(corpus.sentences)
    colors = dict.fromkeys(pool.types, "#000000")
    for block in make_blocks(pool, sentences, range(len(sentences))):
        html = block_html(block, colors).split('dir="auto">', 1)[1]
        without_marks = re.sub(r"<i\b.*?</i>", "", html, flags=re.S)
        shown = unescape(re.sub(r"<[^>]*>", "", without_marks)).replace("\u2060", "")
        sentence = block.sentence
        first, last = sentence.starts[0], sentence.starts[-1] + len(sentence.tokens[-1])
        text = sentence.text[first:last].replace("\u2060", "")
        assert "".join(shown.split()) == "".join(text.split())


def test_make_blocks_takes_each_lane_from_its_own_set():
    documents = [make_document(id, "He had gout. It was lead.") for id in ("d1", "d2")]
    gout, lead = Entity(7, 11, "Disease", score=0.5), Entity(20, 24, "Chemical")
    pool = pool_entities(documents, {"MPU": {"d1": [gout, lead]}, "Gold": {"d2": [lead]}})
    sentences = [s for document in documents for s in document.sentences]
    blocks = make_blocks(pool, sentences, [0, 3])
    assert [block.number for block in blocks] == [1, 4]
    assert blocks[0].lanes == [Lane("MPU", [LaneMark(7, 11, "Disease", 0.5)]), Lane("Gold", [])]
    assert blocks[1].lanes == [Lane("MPU", []), Lane("Gold", [LaneMark(7, 11, "Chemical")])]
