"""Read and write the paper's files: a token, a tag and a class number per line."""

from collections import Counter
from collections.abc import Iterable
from typing import IO

import numpy as np

from engine.files import Source, Text, open_text
from engine.formats.contract import Format, Overview, Pairs, WriteOptions, WriteReport, whole_writer
from engine.formats.tagging import (
    ColumnCounts,
    FitCounts,
    check_tag,
    fit,
    written_name,
    written_token,
)
from engine.settings import ReadOptions
from engine.text import (
    Corpus,
    Entity,
    FileReport,
    InputError,
    classes_from_spans,
    entities_from_spans,
    make_tokenized_document,
    one_line,
    spans_from_classes,
    spans_from_tags,
    tags_from_spans,
)

_LARGEST_CLASS = 999
_WRITTEN = ("gold", "dictionary")  # the methods in the two columns

Columns = tuple[list[list[str]], list[list[str]], list[list[int]]]


# ---- reading --------------------------------------------------------------------------------


def read(file: Source, options: ReadOptions) -> Corpus:
    """Return the file as one document: tags are gold, class numbers are dictionary labels."""
    text = open_text(file, options.encoding)
    tokens, tags, classes = _parse(text)
    document = make_tokenized_document(text.stem, tokens)
    types, notes = _types(tags, classes)
    entities: list[Entity] = []
    for i, sentence in enumerate(document.sentences):
        entities += entities_from_spans(sentence, spans_from_tags(tags[i]), "gold")
        if any(classes[i]):
            spans = spans_from_classes(np.array(classes[i]), types)
            entities += entities_from_spans(sentence, spans, "dictionary")
    report = FileReport(
        name=file.name,
        format="benchmark",
        encoding=text.encoding,
        delimiter=" ",
        documents=1,
        entities=len(entities),
        notes=(*text.notes, *notes),
    )
    return Corpus((document,), {document.id: tuple(entities)}, (report,))


def read_columns(file: Source) -> Columns:
    """Return tokens, tags and class numbers, each by sentence."""
    return _parse(open_text(file))


def _parse(text: Text) -> Columns:
    name = text.name
    tokens: list[list[str]] = [[]]
    tags: list[list[str]] = [[]]
    classes: list[list[int]] = [[]]
    known: set[tuple[str, str]] = set()  # each is checked once: many lines, few tags
    for number, line in enumerate(text.whole().replace("\r\n", "\n").split("\n"), start=1):
        cells = line.split(" ")
        if len(cells) == 3 and cells[0]:
            token, tag, label = cells
            if (tag, label) not in known:
                _check(name, number, tag, label)
                known.add((tag, label))
            tokens[-1].append(token)
            tags[-1].append(tag)
            classes[-1].append(int(label))
        elif line.strip():
            raise InputError(
                f'{name} line {number:,}: "{line[:40]}" is not a token, a tag and a class number '
                "with one space between. Correct it"
            )
        elif tokens[-1]:
            tokens.append([])
            tags.append([])
            classes.append([])
    if not tokens[-1]:
        del tokens[-1], tags[-1], classes[-1]
    if not tokens:
        raise InputError(f"{name} holds no tokens. Nothing was added")
    return tokens, tags, classes


def _check(name: str, line: int, tag: str, label: str) -> None:
    try:
        check_tag(tag)
    except InputError as error:
        raise InputError(f"{name} line {line:,}: {error}") from None
    if not (label.isascii() and label.isdigit() and int(label) <= _LARGEST_CLASS):
        raise InputError(
            f'{name} line {line:,}: "{label[:40]}" is not a class number. '
            f"Write 0 for no entity, or 1 to {_LARGEST_CLASS}"
        )


def _types(tags: list[list[str]], classes: list[list[int]]) -> tuple[tuple[str, ...], list[str]]:
    """Name each class number by the gold type it meets most often; the file has no names."""
    meetings: Counter[tuple[int, str]] = Counter()
    highest = 0
    for sentence_tags, labels in zip(tags, classes, strict=True):
        for tag, label in zip(sentence_tags, labels, strict=True):
            if label:
                highest = max(highest, label)
                meetings[label, tag[2:]] += 1
    if not highest:
        return (), []
    names: dict[int, str] = {}
    for label, name in sorted(meetings, key=lambda pair: (-meetings[pair], pair)):
        if name and label not in names and name not in names.values():
            names[label] = name
    types = tuple(names.get(label, f"class_{label}") for label in range(1, highest + 1))
    note = f"classes read as {_listed(types)}, by the gold type each meets most often"
    return types, [one_line(note)]


def _listed(types: Iterable[str]) -> str:
    return ", ".join(f"{number} = {name}" for number, name in enumerate(types, start=1))


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write gold entities as tags, and dictionary entities as numbers in order of type name."""
    types = sorted({kind for method, _, kind in overview.kinds if method in _WRITTEN})
    fits, columns = FitCounts(), ColumnCounts()
    rows = documents = other = 0
    for document, entities in pairs:
        given = entities or ()
        gold, labels = (fit(document, (e for e in given if e.method == m)) for m in _WRITTEN)
        fits.add(gold, labels)
        columns.add(document, entities)
        documents += 1
        other += sum(entity.method not in _WRITTEN for entity in given)
        for i, sentence in enumerate(document.sentences):
            count = len(sentence)
            tags = map(written_name, tags_from_spans(gold.spans[i], count))
            classes = classes_from_spans(labels.spans[i], count, types)
            tokens = map(written_token, sentence.tokens)
            lines = [" ".join(map(str, row)) for row in zip(tokens, tags, classes, strict=True)]
            out.write("\n".join([*lines, "", ""]).encode())
            rows += count
    notes = [f"classes are {_listed(types)}"] if types else []
    if other:
        notes.append(f"{other:,} entities left out: neither gold nor dictionary")
    if documents > 1:
        notes.append(f"{documents:,} documents are written as one")
    return WriteReport(rows, (*fits.notes, *columns.notes, *notes))


write = whole_writer(write_each)


FORMAT = Format(
    "benchmark",
    "the paper's format: token, tag, class number",
    (".txt",),
    read,
    write,
    write_each=write_each,
)
