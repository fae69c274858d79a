"""The table of likely names that the dictionaries lack."""

import pandas as pd
import pytest

from engine.dictionaries.model import Dictionary, Phrase
from engine.files.sources import SourceFile
from engine.formats.reading import read_corpus
from engine.labels.distant import label
from engine.labels.likely import LIKELY, LikelyName
from engine.review.decisions import Decision
from engine.review.enrichment import known_phrases
from engine.review.missing import MISSING_COLUMNS, missing_names, ranked_by_likeness
from engine.settings import MatchOptions
from engine.text.model import Entity

OPTIONS = MatchOptions()
TEXT = "Gout and rash. Then gout again, and a rash, and measles."
DOCUMENTS = read_corpus([SourceFile("d.txt", TEXT.encode())]).documents
[ID] = [document.id for document in DOCUMENTS]


def name(surface, start=0, entity_type="Disease", confidence=0.8, margin=0.5):
    at = TEXT.index(surface, start)
    entity = Entity(at, at + len(surface), entity_type, confidence, LIKELY)
    return LikelyName(ID, entity, margin)


def table(names, phrases=(), **options):
    dictionary = Dictionary("Disease", tuple(Phrase(text, "Disease") for text in phrases))
    return missing_names(DOCUMENTS, names, known_phrases([dictionary], OPTIONS), OPTIONS, **options)


def test_places_of_one_name_are_one_row_with_means():
    rows = table([name("Gout", margin=0.2, confidence=0.9), name("gout", 5, margin=0.4)])
    assert list(rows.columns) == list(MISSING_COLUMNS)
    [row] = rows.to_dict("records")
    assert (row["phrase"], row["entity_type"], row["places"]) == ("Gout", "Disease", 2)
    assert row["margin"] == pytest.approx(0.3) and row["confidence"] == pytest.approx(0.85)
    assert row["examples"] and all("out" in example for example in row["examples"])


def test_the_most_convincing_name_comes_first():
    unsure, twice, clear = name("measles", margin=0.1), name("rash"), name("Gout", margin=0.9)
    rows = table([unsure, twice, name("rash", 20), clear, name("gout", 5, margin=0.9)])
    assert rows["phrase"].tolist() == ["Gout", "rash", "measles"]


def test_names_that_look_like_matches_come_before_parts_of_names():
    """Whole names stand between the same words as the matches; a part of a name does not."""
    drugs = ["zolamide", "fenamide", "boramide", "nilamide", "teramide"]
    lines = [f"He took {drug} for gout. " for drug in drugs for _ in range(5)]
    lines += ["He took coramide for gout. "] * 2 + ["The renal cortex was seen there. "] * 9
    [document] = read_corpus([SourceFile("n.txt", "".join(lines).encode())]).documents
    dictionary = Dictionary("Drug", tuple(Phrase(drug, "Drug") for drug in drugs))
    labels = label([document], [dictionary], "balanced")
    # The confidence and the number of places put the part first.
    table = pd.DataFrame({"phrase": ["renal", "xolamide", "coramide"], "places": [9, 1, 2]})
    ranked = ranked_by_likeness(table, labels, document.sentences)
    assert ranked["phrase"].tolist() == ["coramide", "renal", "xolamide"]  # the last is not there
    assert ranked["places"].tolist() == [2, 9, 1]
    without_matches = label([document], [], "balanced")
    assert ranked_by_likeness(table, without_matches, document.sentences).equals(table)


def test_known_and_rejected_names_are_left_out():
    places = [name("Gout"), name("rash"), name("measles")]
    entity = places[1].entity
    rejected = Decision(
        1, "review", ID, entity.start, entity.end, "Disease", "rejected", surface="rash"
    )
    assert table(places, ["gout"], decisions=[rejected])["phrase"].tolist() == ["measles"]


def test_without_names_the_table_is_empty_and_has_its_columns():
    rows = table([])
    assert rows.empty and list(rows.columns) == list(MISSING_COLUMNS)
