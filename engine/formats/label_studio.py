"""Read and write Label Studio's JSON tasks, and the labeling view they need."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import IO, Any
from xml.sax.saxutils import quoteattr

from engine.files import Text
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    surface,
    whole_reader,
    whole_writer,
)
from engine.formats.ids import as_object, find_id, find_text, quoted
from engine.formats.json_spans import (
    Content,
    JsonReading,
    check_offsets,
    dump,
    lost_tokens,
    read_spans,
    written_score,
)
from engine.settings import ReadOptions
from engine.text import Document, Entity, InputError

_NAME = "label_studio"
_SEVERAL = "tasks have several annotations: the ground truth, else the first, was taken"
_OTHER = "results are not labels on text (choices, relations …) and were left out"
_UTF16 = "tasks count characters as a browser does (UTF-16); their offsets were converted"


def view_config(types: Iterable[str]) -> str:
    """Return the labeling view of a Label Studio project for these entity types."""
    labels = "".join(f"    <Label value={quoteattr(name)}/>\n" for name in types)
    return (
        f'<View>\n  <Labels name="label" toName="text">\n{labels}  </Labels>\n'
        '  <Text name="text" value="$text"/>\n</View>\n'
    )


def reading(text: Text, options: ReadOptions) -> JsonReading:
    """Return a pass over tasks; human annotations win over predictions."""
    return JsonReading(text, options, format=_NAME, parse=_parse)


read = whole_reader(reading)


def _parse(value: object, options: ReadOptions) -> Content:
    task = as_object(value)
    data = as_object(task.get("data"), '"data"')
    text, text_key = find_text(data, options)
    id, id_key = find_id(options, data, task)
    remarks: list[str] = []
    spans = None
    if chosen := _annotation(task, remarks):
        spans = list(_spans(chosen, "gold", remarks))
    elif predictions := _list(task, "predictions"):
        spans = [span for one in predictions for span in _spans(one, _version_of(one), remarks)]
    if spans and _counts_utf16(data, spans, text):
        spans = _from_utf16(spans, text)
        remarks.append(_UTF16)
    entities = None if spans is None else read_spans(spans, text)
    return Content(text, text_key, id, id_key, entities, remarks=tuple(remarks))


def _list(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = value.get(key) or []
    if not isinstance(items, list):
        raise InputError(f'"{key}" is {quoted(items)}, expected a list. Correct it')
    return [as_object(item, f'an item of "{key}"') for item in items]


def _annotation(value: dict[str, Any], remarks: list[str]) -> dict[str, Any] | None:
    """Return the annotation to use; old versions call them "completions"."""
    annotations = _list(value, "annotations") or _list(value, "completions")
    kept = [item for item in annotations if not item.get("was_cancelled")]
    if len(kept) > 1:
        remarks.append(_SEVERAL)
    return next((item for item in kept if item.get("ground_truth")), kept[0] if kept else None)


def _version_of(prediction: dict[str, Any]) -> str:
    return str(prediction.get("model_version") or "prediction")


def _spans(source: dict[str, Any], version: str, remarks: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the labels on text in a list of results, one span per label."""
    method, _, run_id = version.partition(":")  # as we write it
    value: Any
    for result in _list(source, "result"):
        value = result.get("value")
        labels = value.get("labels") if isinstance(value, dict) else None
        if result.get("type") != "labels" or not isinstance(labels, list) or not labels:
            remarks.append(_OTHER)
            continue
        score = value.get("score", result.get("score"))
        for label in labels:
            yield {**value, "label": label, "score": score, "method": method, "run_id": run_id}


def _counts_utf16(data: dict[str, Any], spans: list[dict[str, Any]], text: str) -> bool:
    """Return whether offsets count UTF-16 units: our files say so, others show it by surfaces."""
    if data.get("offsets") == "utf-16":
        return True
    said = [span for span in spans if isinstance(span.get("text"), str)]
    try:
        if all(text[span["start"] : span["end"]] == span["text"] for span in said):
            return False
        converted = _from_utf16(said, text)
    except (InputError, KeyError, TypeError):
        return False  # reading the spans will name the fault
    return all(text[span["start"] : span["end"]] == span["text"] for span in converted)


def _from_utf16(spans: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    positions = utf16_positions(text)
    wide = " " * positions[-1]  # as long as the text in UTF-16 units
    converted = []
    for span in spans:
        first, last = check_offsets({"start": span.get("start"), "end": span.get("end")}, wide)
        start, end = bisect_left(positions, first), bisect_left(positions, last)
        if (positions[start], positions[end]) != (first, last):
            raise InputError(f"span {first}..{last} cuts a character in two. Correct it")
        converted.append({**span, "start": start, "end": end})
    return converted


def utf16_positions(text: str) -> list[int]:
    """Return the position of each character, and of the end, in UTF-16 units.

    >>> utf16_positions("a😀b")
    [0, 1, 3, 4]
    """
    return list(accumulate((1 + (character > "\uffff") for character in text), initial=0))


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write one task per document: gold as annotations, anything else as predictions."""
    versions = {_version(method, run_id) for method, run_id, _ in overview.kinds}
    # The version to name for a document without an entity.
    usual = next(iter(versions)) if len(versions) == 1 else ""
    separator = b"[\n"
    rows = given = 0
    for document, entities in pairs:
        task: dict[str, Any] = {"data": {"text": document.text, "doc_id": document.id}}
        if options.utf16_offsets:
            task["data"]["offsets"] = "utf-16"
        if entities is not None:
            results = _results(document, entities, options) or {usual: []}
            if usual == "gold":
                task["annotations"] = [{"result": results["gold"]}]
            else:
                task["predictions"] = _predictions(results)
        out.write(separator + dump(task))
        separator = b",\n"
        rows += 1
        given += document.tokens_given
    out.write(b"\n]\n" if rows else b"[]\n")
    return WriteReport(rows, lost_tokens(given))


write = whole_writer(write_each)


def _version(method: str, run_id: str) -> str:
    return f"{method}:{run_id}" if run_id else method


def _results(
    document: Document, entities: tuple[Entity, ...], options: WriteOptions
) -> dict[str, list[dict[str, Any]]]:
    """Return the entities as Label Studio's results, by the version of the model."""
    text, is_utf16 = document.text, options.utf16_offsets
    positions = utf16_positions(text) if is_utf16 else range(len(text) + 1)
    units = text.encode("utf-16-le") if is_utf16 else b""  # two bytes per unit
    results: dict[str, list[dict[str, Any]]] = {}
    for number, entity in enumerate(entities, start=1):
        text_there = surface(document, entity)
        start, end = positions[entity.start], positions[entity.end]
        if is_utf16 and units[2 * start : 2 * end].decode("utf-16-le") != text_there:
            raise ValueError(
                f"UTF-16 offsets {start}..{end} of {document.id!r} are not {text_there!r}"
            )
        value = {"start": start, "end": end, "text": text_there, "labels": [entity.entity_type]}
        if (score := written_score(entity)) is not None:
            value["score"] = score
        result = {"id": f"e{number}", "from_name": "label", "to_name": "text", "type": "labels"}
        results.setdefault(_version(entity.method, entity.run_id), []).append(
            result | {"value": value}
        )
    return results


def _predictions(results: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    predictions = []
    for version, result in results.items():
        prediction: dict[str, Any] = {"model_version": version, "result": result}
        if scores := [r["value"]["score"] for r in result if "score" in r["value"]]:
            prediction["score"] = round(sum(scores) / len(scores), 4)
        predictions.append(prediction)
    return predictions


FORMAT = Format(
    _NAME, "Label Studio: predictions or annotations", (".json",), read, write, reading, write_each
)
