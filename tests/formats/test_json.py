import io
import json
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from engine.files.sources import SourceFile
from engine.formats import doccano, json_text, label_studio, prodigy, spacy_jsonl
from engine.formats.contract import Format, WriteOptions
from engine.formats.ids import unique_ids
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora

FORMATS = [module.FORMAT for module in (json_text, prodigy, doccano, label_studio, spacy_jsonl)]
every_format = pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
DEFAULT, UTF16 = WriteOptions(), WriteOptions(utf16_offsets=True)
FEVER = "Fever came."  # Fever = 0..5


def read(format: Format, *records: Any, options: ReadOptions = PLAIN) -> Corpus:
    """Read records as the lines of a file, or as one JSON list if the format is a list."""
    is_list = format.extensions == (".json",)
    text = json.dumps(records) if is_list else "\n".join(json.dumps(r) for r in records)
    assert format.read
    return format.read(SourceFile(f"notes{format.extensions[0]}", text.encode()), options)


def written(format: Format, corpus: Corpus, options: WriteOptions = DEFAULT) -> bytes:
    out = io.BytesIO()
    assert format.write
    format.write(corpus, out, options)
    return out.getvalue()


def round_trip(format: Format, corpus: Corpus, options: WriteOptions = DEFAULT) -> Corpus:
    assert format.read
    name = f"notes{format.extensions[0]}"
    return format.read(SourceFile(name, written(format, corpus, options)), PLAIN)


def content(corpus: Corpus) -> list[Any]:
    return [
        (d.id, d.text, [(e.start, e.end, e.entity_type) for e in corpus.entities[d.id]])
        for d in corpus.documents
    ]


def record_with_span(format: Format, start: Any, end: Any, text: str = FEVER) -> Any:
    label = [start, end, "Sign"]
    span = {"start": start, "end": end, "label": "Sign"}
    value = {"start": start, "end": end, "labels": ["Sign"]}
    return {
        "jsonl": {"id": "d", "text": text, "entities": [span]},
        "prodigy": {"text": text, "spans": [span], "meta": {"doc_id": "d"}},
        "doccano": {"id": "d", "text": text, "label": [label]},
        "label_studio": {
            "data": {"text": text, "doc_id": "d"},
            "annotations": [{"result": [{"type": "labels", "value": value}]}],
        },
        "spacy": [text, {"doc_id": "d", "entities": [label]}],
    }[format.name]


# Every format


@every_format
@settings(max_examples=50, deadline=None)
@given(corpus=corpora(plain_types=False, aligned=False) | corpora(pretokenized=True))
def test_round_trip_keeps_ids_texts_and_entities(format: Format, corpus: Corpus) -> None:
    assert content(round_trip(format, corpus)) == content(corpus)


@every_format
def test_reader_returns_gold_entities(format: Format) -> None:
    corpus = read(format, record_with_span(format, 0, 5))
    assert corpus.documents == (make_document("d", FEVER),)
    assert corpus.entities == {"d": (Entity(0, 5, "Sign", method="gold"),)}
    assert (corpus.files[0].format, corpus.files[0].encoding) == (format.name, "utf-8")
    assert (corpus.files[0].documents, corpus.files[0].entities) == (1, 1)


@every_format
@pytest.mark.parametrize(
    ("start", "end", "fault"),
    [
        (0, 99, r"span 0\.\.99 lies outside the text \(11 characters\)"),
        (-1, 5, r"span -1\.\.5 lies outside the text"),
        (5, 5, r"span 5\.\.5 does not end after it begins"),
        ("0", 5, r'span "0"\.\.5: offsets must be whole numbers'),
        (0, 5.0, r"span 0\.\.5\.0: offsets must be whole numbers"),
        (True, 5, r"span true\.\.5: offsets must be whole numbers"),
        (None, 5, r"span null\.\.5: offsets must be whole numbers"),
    ],
)
def test_reader_names_a_bad_span(format: Format, start: Any, end: Any, fault: str) -> None:
    good, bad = record_with_span(format, 0, 5), record_with_span(format, start, end)
    where = "record 2" if format is label_studio.FORMAT else "line 2"
    with pytest.raises(InputError, match=rf"^notes\.jsonl? {where}: {fault}.*skip bad lines$"):
        read(format, good, bad)
    corpus = read(format, good, bad, options=SKIP)
    assert [document.id for document in corpus.documents] == ["d"]
    assert any(note.startswith("1 records left out") for note in corpus.files[0].notes)


@every_format
def test_reader_keeps_nested_and_equal_spans(format: Format) -> None:
    entities = tuple(Entity(*at, "A") for at in ((0, 11), (0, 5), (0, 5)))
    corpus = Corpus((make_document("d", FEVER),), {"d": entities})
    assert content(round_trip(format, corpus)) == content(corpus)


@every_format
def test_documents_that_are_not_annotated_stay_so(format: Format) -> None:
    documents = (make_document("known", FEVER), make_document("unknown", FEVER))
    assert round_trip(format, Corpus(documents, {"known": ()})).entities == {"known": ()}


@every_format
def test_writer_refuses_an_entity_outside_its_document(format: Format) -> None:
    corpus = Corpus((make_document("d", FEVER),), {"d": (Entity(6, 12, "A"),)})
    with pytest.raises(ValueError, match="outside document 'd'"):
        written(format, corpus)


@every_format
@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_writer_leaves_out_a_score_that_is_no_number(format: Format, score: float) -> None:
    entity = Entity(0, 5, "A", score=score, method="mpu")
    data = written(format, Corpus((make_document("d", FEVER),), {"d": (entity,)}))
    assert b"NaN" not in data and b"Infinity" not in data


@every_format
def test_writer_says_when_tokens_are_not_kept(format: Format) -> None:
    corpus = Corpus((make_tokenized_document("d", [["Fe", "ver"]]),))
    assert format.write
    notes = format.write(corpus, io.BytesIO(), WriteOptions()).notes
    assert bool(notes) == (format is not prodigy.FORMAT)


@every_format
def test_equal_ids_are_made_unique_and_noted(format: Format) -> None:
    record = record_with_span(format, 0, 5)
    corpus = read(format, record, record)
    assert list(corpus.entities) == ["d", "d~2"]
    assert corpus.files[0].notes == ("1 ids were used twice; ~2, ~3 … was added",)


@every_format
def test_broken_line_is_named(format: Format) -> None:
    line = json.dumps(record_with_span(format, 0, 5))
    data = "\n".join([*[line] * 11, line[:-3], line]).encode()
    assert format.read
    with pytest.raises(InputError, match=r"notes\.jsonl line 12: not valid JSON.*1 of 13 lines"):
        format.read(SourceFile("notes.jsonl", data), PLAIN)
    assert len(format.read(SourceFile("notes.jsonl", data), SKIP).documents) == 12


@every_format
def test_file_without_one_good_record_is_refused(format: Format) -> None:
    bad = record_with_span(format, 0, 99)
    with pytest.raises(InputError, match=r"outside the text.*Nothing could be read"):
        read(format, bad, bad, options=SKIP)
    with pytest.raises(InputError, match="holds no JSON"):
        assert format.read
        format.read(SourceFile("notes.jsonl", b"Fever came.\nIt went."), SKIP)


@every_format
@pytest.mark.parametrize("value", [None, 3, "text", [], [[]], {}, {"data": 1}, ["a", {}, 1]])
def test_record_of_another_shape_is_an_input_error(format: Format, value: Any) -> None:
    with pytest.raises(InputError, match="notes"):
        read(format, record_with_span(format, 0, 5), value)


# Plain JSON


def test_json_text_reads_text_and_id_under_other_names() -> None:
    corpus = read(json_text.FORMAT, {"PMID": 12, "abstract": FEVER, "meta": {"year": 1999}})
    assert corpus.documents == (make_document("12", FEVER),)
    assert corpus.entities == {}
    assert (corpus.files[0].text_column, corpus.files[0].id_column) == ("abstract", "PMID")


def test_json_text_reads_the_columns_asked_for() -> None:
    options = ReadOptions(text_column="note", id_column="key")
    record = {"id": 1, "text": "no", "key": "k", "note": FEVER}
    assert read(json_text.FORMAT, record, options=options).documents == (make_document("k", FEVER),)


def test_json_text_names_records_without_id_after_the_file() -> None:
    corpus = read(json_text.FORMAT, {"text": "a"}, {"text": "b", "id": " "}, {"text": "c", "id": 0})
    assert [d.id for d in corpus.documents] == ["notes-000001", "notes-000002", "0"]
    assert corpus.files[0].notes == ("2 records have no id; they are named after the file",)


@pytest.mark.parametrize(
    ("options", "wanted"), [(PLAIN, "no text found"), (ReadOptions(text_column="x"), 'no key "x"')]
)
def test_json_text_lists_the_keys_when_none_holds_text(options: ReadOptions, wanted: str) -> None:
    fault = rf"notes\.jsonl line 1: {wanted}; its keys are: id, note.*text_column"
    with pytest.raises(InputError, match=fault):
        read(json_text.FORMAT, {"id": 1, "note": FEVER}, options=options)


@pytest.mark.parametrize(
    "record",
    [
        {"text": None},
        {"text": 5},
        {"text": FEVER, "id": ["a"]},
        {"text": FEVER, "entities": {"start": 0}},
        {"text": FEVER, "entities": [{"start": 0, "end": 5}]},
        {"text": FEVER, "entities": [{"start": 0, "end": 5, "label": " "}]},
        {"text": FEVER, "entities": [{"start": 0, "end": 5, "label": "A", "score": "high"}]},
        {"text": FEVER, "entities": [{"start": 0, "end": 5, "label": "A", "score": float("nan")}]},
        {"text": FEVER, "entities": [{"start": 0, "end": 5, "label": "A", "score": 10**400}]},
        {"text": FEVER, "entities": [[0, 5]]},
    ],
)
def test_json_text_refuses_values_of_another_kind(record: Any) -> None:
    with pytest.raises(InputError, match=r"^notes\.jsonl line 1: "):
        read(json_text.FORMAT, record)


def test_json_text_refuses_a_span_that_is_not_its_surface() -> None:
    span = {"start": 0, "end": 5, "label": "A", "text": "Fewer"}
    with pytest.raises(InputError, match=r'0\.\.5 should be "Fewer" but the text there is "Fever"'):
        read(json_text.FORMAT, {"text": FEVER, "entities": [span]})


@pytest.mark.parametrize("format", [json_text.FORMAT, prodigy.FORMAT], ids=lambda f: f.name)
def test_everything_known_about_an_entity_comes_back(format: Format) -> None:
    entity = Entity(
        0, 5, "A", 0.98765, "conf_mpu", "signs.txt", False, "fever", "C0015967", "run7", "edited"
    )
    corpus = Corpus((make_document("d", FEVER),), {"d": (entity,)})
    (read_back,) = round_trip(format, corpus).entities["d"]
    assert read_back == Entity(
        0, 5, "A", 0.9877, "conf_mpu", "signs.txt", False, "fever", "C0015967", "run7", "edited"
    )


def test_json_text_writes_readable_lines() -> None:
    corpus = Corpus((make_document("d", "Fièvre"),), {"d": (Entity(0, 6, "A", method="gold"),)})
    assert written(json_text.FORMAT, corpus).decode() == (
        '{"id": "d", "text": "Fièvre", "entities": '
        '[{"start": 0, "end": 6, "label": "A", "text": "Fièvre", "method": "gold"}]}\n'
    )


def test_empty_text_is_kept_and_noted() -> None:
    corpus = read(json_text.FORMAT, {"id": "d", "text": ""})
    assert [document.text for document in corpus.documents] == [""]
    assert corpus.files[0].notes == ("1 documents hold no text",)


def test_cut_sentences_are_noted() -> None:
    corpus = read(json_text.FORMAT, {"id": "d", "text": "a " * 1001})
    assert corpus.files[0].notes == ("1 sentences over 1,000 tokens were cut",)


# Prodigy


@settings(max_examples=50, deadline=None)
@given(corpora() | corpora(pretokenized=True))
def test_prodigy_keeps_sentences_and_tokens(corpus: Corpus) -> None:
    read_back = round_trip(prodigy.FORMAT, corpus)
    assert [d.layout for d in read_back.documents] == [d.layout for d in corpus.documents]


def test_prodigy_writes_tokens_and_both_kinds_of_offsets() -> None:
    corpus = Corpus((make_document("d", "Go. A bc"),), {"d": (Entity(4, 8, "LOC", 0.5),)})
    assert json.loads(written(prodigy.FORMAT, corpus)) == {
        "text": "Go. A bc",
        "tokens": [
            {"text": "Go", "start": 0, "end": 2, "id": 0, "sent": 0},
            {"text": ".", "start": 2, "end": 3, "id": 1, "sent": 0},
            {"text": "A", "start": 4, "end": 5, "id": 2, "sent": 1},
            {"text": "bc", "start": 6, "end": 8, "id": 3, "sent": 1},
        ],
        "spans": [
            {
                "start": 4, "end": 8, "label": "LOC", "text": "A bc", "score": 0.5,
                "token_start": 2, "token_end": 3,
            }
        ],
        "answer": "accept",
        "meta": {"doc_id": "d"},
    }  # fmt: skip


def test_prodigy_writes_a_span_inside_a_token_without_token_numbers() -> None:
    corpus = Corpus((make_document("d", FEVER),), {"d": (Entity(0, 3, "A"),)})
    report = prodigy.write(corpus, io.BytesIO(), WriteOptions())
    assert report.notes[0].startswith("1 spans begin or end inside a token")


def test_prodigy_keeps_rejected_and_ignored_tasks_as_text_only() -> None:
    task = {"text": FEVER, "spans": [{"start": 0, "end": 5, "label": "A"}]}
    answers = ("accept", "reject", "ignore", "reject")
    tasks = [task | {"id": f"{a}{i}", "answer": a} for i, a in enumerate(answers)]
    corpus = read(prodigy.FORMAT, *tasks)
    assert len(corpus.documents) == 4
    assert list(corpus.entities) == ["accept0"]
    assert corpus.files[0].notes == (
        '2 records are answered "reject": kept as text, not as gold',
        '1 records are answered "ignore": kept as text, not as gold',
    )


def test_prodigy_takes_an_accepted_task_without_spans_as_annotated() -> None:
    corpus = read(prodigy.FORMAT, {"id": "a", "text": FEVER, "answer": "accept"}, {"text": FEVER})
    assert corpus.entities == {"a": ()}


def test_prodigy_keeps_tokens_of_others_without_their_white_space() -> None:
    text = "IL-2. \nHm"
    tokens = [{"text": text[s:e], "start": s, "end": e} for s, e in [(0, 5), (5, 7), (7, 9)]]
    corpus = read(prodigy.FORMAT, {"id": "d", "text": text, "tokens": tokens})
    assert [s.tokens for s in corpus.sentences] == [("IL-2.",), ("Hm",)]
    assert corpus.documents[0].tokens_given


def test_prodigy_keeps_a_token_that_only_python_takes_for_white_space() -> None:
    corpus = Corpus((make_document("d", "a\x1fb"),), {"d": ()})
    assert round_trip(prodigy.FORMAT, corpus).documents == corpus.documents


def test_prodigy_prefers_our_tokens_when_they_are_the_same() -> None:
    tokens = [{"text": FEVER[s:e], "start": s, "end": e} for s, e in [(0, 5), (6, 10), (10, 11)]]
    corpus = read(prodigy.FORMAT, {"id": "d", "text": FEVER, "tokens": tokens})
    assert corpus.documents == (make_document("d", FEVER),)


@pytest.mark.parametrize(
    ("tokens", "fault"),
    [
        ([{"text": "Fewer", "start": 0, "end": 5}], r'token 0\.\.5 should be "Fewer"'),
        ([{"start": 0, "end": 5}, {"start": 4, "end": 6}], r"token 4\.\.6 overlaps"),
        ([3], "a token is 3"),
        ({"a": 1}, "tokens are"),
    ],
)
def test_prodigy_names_a_bad_token(tokens: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        read(prodigy.FORMAT, {"text": FEVER, "tokens": tokens})


# doccano


@pytest.mark.parametrize(
    "spans",
    [
        {"label": [[0, 5, "A"]]},
        {"labels": [[0, 5, "A"]]},
        {
            "entities": [{"id": 7, "start_offset": 0, "end_offset": 5, "label": "A"}],
            "relations": [],
        },
    ],
    ids=["label", "labels", "entities"],
)
def test_doccano_reads_the_spans_of_all_its_versions(spans: Any) -> None:
    corpus = read(doccano.FORMAT, {"id": 3, "text": FEVER, "Comments": []} | spans)
    assert corpus.entities == {"3": (Entity(0, 5, "A", method="gold"),)}


def test_doccano_writes_its_own_shape() -> None:
    corpus = Corpus((make_document("d", FEVER),), {"d": (Entity(0, 5, "A", 0.5, "mpu"),)})
    assert json.loads(written(doccano.FORMAT, corpus)) == {
        "id": "d", "text": FEVER, "label": [[0, 5, "A"]], "Comments": [],
    }  # fmt: skip


# Label Studio

SMILE = "😀 Fever"  # Fever = 2..7, in UTF-16 units 3..8


def task(text: str, *results: Any, kind: str = "annotations", **more: Any) -> Any:
    return {"id": 9, "data": {"text": text}, kind: [{"result": list(results), **more}]}


def result(start: int, end: int, text: str | None = None, **more: Any) -> Any:
    value = {"start": start, "end": end, "labels": ["A"]} | ({"text": text} if text else {})
    return {"id": "x", "type": "labels", "value": value, **more}


@settings(max_examples=50, deadline=None)
@given(corpora(plain_types=False, aligned=False))
def test_label_studio_round_trip_in_utf16_offsets(corpus: Corpus) -> None:
    assert content(round_trip(label_studio.FORMAT, corpus, UTF16)) == content(corpus)


def test_label_studio_writes_predictions_by_method_and_run() -> None:
    entity = Entity(2, 7, "A", 0.87654, "conf_mpu", run_id="r1")
    corpus = Corpus(
        (make_document("d", SMILE), make_document("e", "No")), {"d": (entity,), "e": ()}
    )
    first, second = json.loads(written(label_studio.FORMAT, corpus, UTF16))
    assert first == {
        "data": {"text": SMILE, "doc_id": "d", "offsets": "utf-16"},
        "predictions": [
            {
                "model_version": "conf_mpu:r1",
                "score": 0.8765,
                "result": [
                    {
                        "id": "e1", "from_name": "label", "to_name": "text", "type": "labels",
                        "value": {
                            "start": 3, "end": 8, "text": "Fever", "labels": ["A"], "score": 0.8765,
                        },
                    }
                ],
            }
        ],
    }  # fmt: skip
    assert second["predictions"] == [{"model_version": "conf_mpu:r1", "result": []}]


def test_label_studio_keeps_method_run_and_score_of_mixed_predictions() -> None:
    entities = (
        Entity(0, 5, "A", 0.25, "mpu", run_id="r:2"),
        Entity(0, 5, "A", method="gold"),
    )
    corpus = Corpus((make_document("d", FEVER),), {"d": entities})
    assert round_trip(label_studio.FORMAT, corpus).entities == {"d": entities}


def test_label_studio_writes_gold_as_annotations() -> None:
    gold = {"d": (Entity(0, 5, "A", method="gold"),), "e": ()}
    corpus = Corpus((make_document("d", FEVER), make_document("e", "No")), gold)
    tasks = json.loads(written(label_studio.FORMAT, corpus))
    assert [len(task["annotations"][0]["result"]) for task in tasks] == [1, 0]
    assert round_trip(label_studio.FORMAT, corpus).entities == gold


def test_label_studio_annotations_win_over_predictions() -> None:
    both = task(FEVER, result(0, 5)) | {"predictions": [{"result": [result(6, 10)]}]}
    assert read(label_studio.FORMAT, both).entities == {"9": (Entity(0, 5, "A", method="gold"),)}


@pytest.mark.parametrize("kind", ["annotations", "completions"])
def test_label_studio_skips_cancelled_annotations(kind: str) -> None:
    skipped = task(FEVER, result(0, 5), kind=kind, was_cancelled=True)
    assert read(label_studio.FORMAT, skipped).entities == {}


def test_label_studio_takes_the_ground_truth_of_several_annotations() -> None:
    several = task(FEVER, result(0, 5))
    several["annotations"].append({"result": [result(6, 10)], "ground_truth": True})
    corpus = read(label_studio.FORMAT, several)
    assert corpus.entities == {"9": (Entity(6, 10, "A", method="gold"),)}
    assert corpus.files[0].notes[0].startswith("1 tasks have several annotations")


def test_label_studio_counts_results_that_are_no_spans() -> None:
    choice = {"type": "choices", "value": {"choices": ["yes"]}}
    corpus = read(label_studio.FORMAT, task(FEVER, choice, choice, result(0, 5)))
    assert corpus.files[0].entities == 1
    assert corpus.files[0].notes[0].startswith("2 results are not labels on text")


def test_label_studio_tells_browser_offsets_by_their_surfaces() -> None:
    corpus = read(label_studio.FORMAT, task(SMILE, result(3, 8, "Fever")))
    assert corpus.entities == {"9": (Entity(2, 7, "A", method="gold"),)}
    assert "UTF-16" in corpus.files[0].notes[0]


@pytest.mark.parametrize("offsets", [(2, 6), (1, 3)], ids=["elsewhere", "inside a character"])
def test_label_studio_refuses_a_span_that_is_its_surface_in_no_unit(offsets: Any) -> None:
    with pytest.raises(InputError, match='should be "ever" but the text there is'):
        read(label_studio.FORMAT, task(SMILE, result(*offsets, "ever")))


def test_label_studio_refuses_browser_offsets_inside_a_character() -> None:
    broken = task(SMILE, result(1, 3))
    broken["data"]["offsets"] = "utf-16"
    with pytest.raises(InputError, match=r"1\.\.3 cuts a character in two"):
        read(label_studio.FORMAT, broken)


def test_label_studio_writes_an_empty_corpus_as_an_empty_list() -> None:
    assert written(label_studio.FORMAT, Corpus(())) == b"[]\n"


def test_view_config_escapes_types() -> None:
    types = ["Disease", 'a"b<&', "it's"]
    view = ElementTree.fromstring(label_studio.view_config(types))
    assert [label.get("value") for label in view.iter("Label")] == types
    assert view.find("Text").attrib == {"name": "text", "value": "$text"}


# spaCy


def test_spacy_writes_pairs() -> None:
    corpus = Corpus((make_document("d", FEVER),), {"d": (Entity(0, 5, "A"),)})
    assert json.loads(written(spacy_jsonl.FORMAT, corpus)) == [
        FEVER,
        {"doc_id": "d", "entities": [[0, 5, "A"]]},
    ]


def test_spacy_reads_pairs_as_one_list_or_line_by_line() -> None:
    pairs = [[FEVER, {"entities": [[0, 5, "A"]]}], ["No.", {"entities": []}]]
    data = json.dumps(pairs).encode()
    whole = spacy_jsonl.read(SourceFile("notes.json", data), PLAIN)
    assert whole.documents == read(spacy_jsonl.FORMAT, *pairs).documents
    assert [d.id for d in whole.documents] == ["notes-000001", "notes-000002"]


# Ids


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "b"], (["a", "b"], 0)),
        (["a", "a", "a"], (["a", "a~2", "a~3"], 2)),
        (["a", "a", "a~2", "a~2"], (["a", "a~3", "a~2", "a~2~2"], 2)),
        ([], ([], 0)),
    ],
)
def test_unique_ids_changes_only_repeats(ids: list[str], expected: Any) -> None:
    assert unique_ids(ids) == expected
