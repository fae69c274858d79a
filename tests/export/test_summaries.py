import csv
import io

from engine.dictionaries.model import Dictionary, Phrase
from engine.export.summaries import write_comparison, write_surfaces
from engine.formats.contract import WriteOptions
from engine.review.enrichment import known_phrases
from engine.settings import MATCH_PRESETS
from engine.text.model import Entity
from engine.text.tokenization import make_document

BALANCED = MATCH_PRESETS["balanced"]
DOCUMENT = make_document("d", "He had gout. =Lead made it worse. Gout again.")
GOUT, LEAD, AGAIN = (7, 11), (14, 18), (34, 38)


def entity(place, entity_type, score=None):
    return Entity(*place, entity_type, score=score)


FOUND = {
    "dictionary": {"d": (entity(GOUT, "Disease"), entity(LEAD, "Chemical"))},
    "conf_mpu": {"d": (entity(GOUT, "Disease", 0.9), entity((13, 18), "Disease", 0.5))},
    "gold": {"d": (entity(GOUT, "Disease"), entity(AGAIN, "Disease"))},
}


def rows(write, *arguments, **options):
    out = io.BytesIO()
    count = write(*arguments, out, **options)
    table = list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8-sig"), newline="")))
    assert len(table) == count
    return table


def test_comparison_has_one_row_per_stretch_and_one_label_per_method():
    table = rows(write_comparison, [DOCUMENT], FOUND)
    assert list(table[0]) == [
        *("doc_id", "sent_id", "start", "end", "text", "label_dictionary", "label_conf_mpu"),
        *("label_gold", "score_dictionary", "score_conf_mpu", "score_gold"),
        *("n_agree", "disagreement"),
    ]
    columns = ("text", "label_dictionary", "label_conf_mpu", "label_gold", "score_conf_mpu")
    assert [tuple(row[name] for name in columns) for row in table] == [
        ("gout", "Disease", "Disease", "Disease", "0.9000"),
        ("=Lead", "", "Disease", "", "0.5000"),
        ("Lead", "Chemical", "", "", ""),
        ("Gout", "", "", "Disease", ""),
    ]
    assert [(row["n_agree"], row["disagreement"]) for row in table] == [
        ("2", "false"),
        ("1", "false"),  # a dictionary without a match is not a vote
        ("1", "true"),
        ("0", "false"),  # gold is not a vote either
    ]
    assert all(DOCUMENT.text[int(r["start"]) : int(r["end"])] == r["text"] for r in table)


def test_comparison_for_excel_guards_formulas():
    table = rows(write_comparison, [DOCUMENT], FOUND, options=WriteOptions(excel=True))
    assert [row["text"] for row in table][1] == "'=Lead"


def test_surfaces_are_counted_by_how_they_match():
    entities = {"d": (entity(GOUT, "Disease", 0.9), entity(AGAIN, "Disease", 0.7),
                      entity(LEAD, "Chemical"))}  # fmt: skip
    known = known_phrases([Dictionary("x", (Phrase("lead", "Chemical"),))], BALANCED)
    table = rows(write_surfaces, [DOCUMENT], entities, known=known, match=BALANCED)
    assert [tuple(row.values())[:-1] for row in table] == [
        ("Gout", "Disease", "2", "1", "0.8000", "false"),  # "gout" is as frequent, and later
        ("Lead", "Chemical", "1", "1", "", "true"),
    ]
    assert table[0]["example"] == DOCUMENT.text


def test_a_summary_without_entities_is_a_header():
    known = known_phrases([], BALANCED)
    assert rows(write_surfaces, [DOCUMENT], {}, known=known, match=BALANCED) == []
    assert rows(write_comparison, [DOCUMENT], {"mpu": {}}) == []
