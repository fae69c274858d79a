import io
import json

from engine.dictionaries.editing import mute
from engine.dictionaries.model import NEVER, Dictionary, Phrase
from engine.dictionaries.reading import read_dictionary
from engine.export.dictionary_writing import write_patterns, write_phrases
from engine.files.sources import SourceFile
from engine.formats.contract import WriteOptions

DISEASES = Dictionary(
    "Disease.txt",
    (
        Phrase("gout", "Disease", "D006073"),
        Phrase('say "a, b"', "Disease"),
        Phrase("=cmd()", "Cell line"),
        Phrase("cold", "Disease"),
    ),
)
MUTED = mute(DISEASES, [("cold", "Disease")])
SHUT = Dictionary("Off.txt", (Phrase("off", "Disease"),), is_enabled=False)
WRITTEN = [
    ("gout", "Disease", "D006073"),
    ('say "a, b"', "Disease", ""),
    ("=cmd()", "Cell line", ""),
]


def read(name, write, *dictionaries, **options):
    out = io.BytesIO()
    count = write(dictionaries, out, **options)
    phrases = read_dictionary(SourceFile(name, out.getvalue())).phrases
    assert len(phrases) == count
    return [(p.text, p.entity_type, p.canonical_id) for p in phrases]


def test_phrases_are_read_back_without_those_that_match_nothing():
    assert read("phrases.csv", write_phrases, MUTED, SHUT) == WRITTEN


def test_patterns_are_read_back_once_each():
    twice = Dictionary("Again.txt", (Phrase("gout", "Disease"),))
    phrases = read("patterns.jsonl", write_patterns, MUTED, twice)
    assert [(text, entity_type) for text, entity_type, _ in phrases] == [
        (text, entity_type) for text, entity_type, _ in WRITTEN
    ]


def test_patterns_have_the_form_of_spacy_and_prodigy():
    out = io.BytesIO()
    write_patterns([MUTED], out)
    assert json.loads(out.getvalue().splitlines()[0]) == {
        "label": "Disease",
        "pattern": "gout",
        "id": "D006073",
    }


def test_phrases_for_excel_guard_formulas():
    out = io.BytesIO()
    write_phrases([DISEASES], out, WriteOptions(excel=True))
    assert out.getvalue().startswith(b"\xef\xbb\xbf") and b"'=cmd()" in out.getvalue()


def test_patterns_and_never_lists_are_written_and_read_back():
    rules = 'tokens:[{"LIKE_NUM": true}, {"LOWER": "mg"}]'
    held = Dictionary("a", (Phrase("re:a+", "X"), Phrase(rules, "Dose"), Phrase("cold", NEVER)))
    everything = [(phrase.text, phrase.entity_type, "") for phrase in held.phrases]
    assert read("a.csv", write_phrases, held) == everything
    assert read("a.jsonl", write_patterns, held) == [(rules, "Dose", "")]
