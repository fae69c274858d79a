"""Read brat's pairs of a .txt and an .ann file, and write them as one zip archive."""

import codecs
import hashlib
import re
import zipfile
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import IO
from urllib.parse import quote, unquote

from engine.files import Decoded, Source, SourceFile, decode, read_whole, unzip
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    surface,
    whole_writer,
)
from engine.formats.drafts import Faults, Totals
from engine.formats.ids import unique_ids
from engine.formats.pairing import pair_files
from engine.formats.plain_text import parse_lines, split_lines
from engine.formats.tagging import written_name
from engine.settings import ReadOptions
from engine.text import Corpus, Document, Entity, FileReport, InputError, make_document, one_line

_ENTITY_LINE = re.compile(r"T\S*\t(\S+) (\d{1,15} \d{1,15}(?:;\d{1,15} \d{1,15})*)\t(.*)")
_BREAKS = re.compile(r"[\r\n]+")
_CONFIGURATION = "[entities]\n{}\n\n[relations]\n\n[events]\n\n[attributes]\n"
_SKIPPED = "relations, events, attributes and notes skipped"
_NO_TEXT = ".ann files left out: no .txt file of the same name"
_LONGEST = 200  # characters of a file's name without its ending; systems allow 255 with it
_SPLIT = "entities left out: in pieces with other words between"


# ---- reading --------------------------------------------------------------------------------


def read(file: Source, options: ReadOptions) -> Corpus:
    """Return the documents of a zip archive of .txt and .ann files."""
    return read_zip(unzip(read_whole(file)), options, name=file.name)


def read_pair(text_file: Source, ann_file: Source, options: ReadOptions) -> Corpus:
    """Return the document of one .txt file with the entities of its .ann file."""
    pair = (read_whole(text_file), read_whole(ann_file))
    return _read(text_file.name, [pair], options, Counter())


def read_zip(
    members: list[SourceFile], options: ReadOptions, *, name: str = "brat files"
) -> Corpus:
    """Return one document per .txt file, annotated if there is an .ann file of the same name."""
    pairs: list[tuple[SourceFile, SourceFile | None]] = []
    counts: Counter[str] = Counter()
    for group in pair_files(members, key=_base):
        if group[0].extension == ".txt":
            pairs.append((group[0], group[1] if len(group) == 2 else None))
        counts[_NO_TEXT] += group[0].extension == ".ann"
    if not pairs:
        raise InputError(f"{name} holds no .txt file. brat keeps one beside each .ann file: add it")
    return _read(name, pairs, options, counts)


def _read(
    name: str,
    pairs: list[tuple[SourceFile, SourceFile | None]],
    options: ReadOptions,
    counts: Counter[str],
) -> Corpus:
    ids, renamed = unique_ids(unquote(text_file.stem) for text_file, _ in pairs)
    texts = [_decode(text_file, options) for text_file, _ in pairs]
    documents = [make_document(id, decoded.text) for id, decoded in zip(ids, texts, strict=True)]
    faults = Faults()
    entities: dict[str, tuple[Entity, ...]] = {}
    for document, (_, ann_file) in zip(documents, pairs, strict=True):
        if ann_file:
            entities[document.id] = _entities(ann_file, document.text, options, counts, faults)
    totals = Totals(renamed=renamed, cut=sum(document.cut_sentences for document in documents))
    remarks = [
        one_line(f"{file.name} {note}")
        for (file, _), decoded in zip(pairs, texts, strict=True)
        for note in decoded.notes
    ]
    report = FileReport(
        name=name,
        format="brat",
        encoding=", ".join(sorted({decoded.encoding for decoded in texts})),
        documents=len(documents),
        entities=sum(map(len, entities.values())),
        notes=(
            *remarks,
            *faults.notes(),
            *(f"{count:,} {what}" for what, count in counts.items() if count),
            *totals.notes,
        ),
    )
    return Corpus(tuple(documents), entities, (report,))


def _base(file: SourceFile) -> PurePosixPath:
    return PurePosixPath(file.name).with_suffix("")


def _decode(file: SourceFile, options: ReadOptions) -> Decoded:
    """Decode as brat does: an empty file is a text, and a byte order mark is a character."""
    if not file.data.strip():
        return Decoded(file.data.decode("ascii"), "utf-8")
    marked = "utf-8" if file.data.startswith(codecs.BOM_UTF8) else None
    return decode(file, options.encoding or marked)


def _entities(
    file: SourceFile, text: str, options: ReadOptions, counts: Counter[str], faults: Faults
) -> tuple[Entity, ...]:
    lines = list(enumerate(split_lines(_decode(file, options).text), start=1))
    kept = [(number, line) for number, line in lines if line.startswith("T")]
    counts[_SKIPPED] += sum(bool(line.strip()) for _, line in lines) - len(kept)
    parsed = list(parse_lines(file.name, kept, partial(_entity, text), options, faults))
    counts[_SPLIT] += parsed.count(None)
    return tuple(entity for entity in parsed if entity)


def _entity(text: str, line: str) -> Entity | None:
    """Return the entity of a T line; None if other words lie between its pieces."""
    match = _ENTITY_LINE.fullmatch(line)
    if not match:
        raise InputError(f'"{line[:40]}" is not "T1<tab>Type start end<tab>text". Correct it')
    entity_type, places, said = match.groups()
    pieces = [tuple(map(int, place.split(" "))) for place in places.split(";")]
    # A piece without a character stands for a line break at the edge of an entity.
    is_inside = all(start <= end <= len(text) for start, end in pieces)
    if not is_inside or all(start == end for start, end in pieces):
        raise InputError(
            f"{places} is no stretch of the text ({len(text):,} characters). Correct it"
        )
    there = " ".join(text[start:end] for start, end in pieces)
    # Older versions of brat wrote a line break inside an entity as a space.
    if _one_line(there) != _one_line(said):
        raise InputError(f'"{said[:40]}" is not at {places}; there is "{there[:40]}". Correct it')
    gaps = pairwise(pieces)
    if any(left[1] > right[0] or text[left[1] : right[0]].strip() for left, right in gaps):
        return None
    return Entity(pieces[0][0], pieces[-1][1], entity_type, method="gold")


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write a zip archive with a .txt and an .ann file per document, and annotation.conf."""
    counts: Counter[str] = Counter()
    types: set[str] = set()
    rows = 0
    with zipfile.ZipFile(out, "w") as archive:
        for document, given in pairs:
            entities = given or ()
            rows += 1
            types |= {entity.entity_type for entity in entities}
            base = _file_name(document.id)
            counts["ids are too long for the name of a file; shortened"] += len(base) > _LONGEST
            base = base if len(base) <= _LONGEST else _shortened(document.id)
            _add(archive, f"{base}.txt", document.text)
            _add(archive, f"{base}.ann", "".join(_lines(document, entities, counts)))
            counts["documents are not annotated; their .ann files are empty"] += given is None
        names = {entity_type: written_name(entity_type) for entity_type in sorted(types)}
        _add(
            archive, "annotation.conf", _CONFIGURATION.format("\n".join(sorted({*names.values()})))
        )
    spaced = [
        f'type "{entity_type}" holds a space; written as {name}'
        for entity_type, name in names.items()
        if name != entity_type
    ]
    notes = [f"{count:,} {what}" for what, count in counts.items() if count]
    return WriteReport(rows, (*notes, *spaced))


write = whole_writer(write_each)


def _file_name(id: str) -> str:
    name = quote(id, safe="")
    # Files whose name begins with a dot are hidden, or skipped as files that macOS adds.
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _shortened(id: str) -> str:
    """Return the beginning of a long id and a hash, which keeps it apart from others."""
    digest = hashlib.sha256(id.encode()).hexdigest()[:12]
    start = id[:_LONGEST]
    while len(_file_name(start)) > _LONGEST - len(digest) - 1:
        start = start[:-1]
    return f"{_file_name(start)}~{digest}"


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    member = zipfile.ZipInfo(name)  # without a time, so that the same corpus gives the same bytes
    member.external_attr = 0o644 << 16
    archive.writestr(member, text.encode(), zipfile.ZIP_DEFLATED)


def _lines(document: Document, entities: Iterable[Entity], counts: Counter[str]) -> Iterable[str]:
    for number, entity in enumerate(entities, start=1):
        text = surface(document, entity)
        if not text.strip():
            counts["entities left out: nothing but white space"] += 1
            continue
        pieces = [(entity.start + start, entity.start + end) for start, end in _pieces(text)]
        places = ";".join(f"{start} {end}" for start, end in pieces)
        said = " ".join(document.text[start:end] for start, end in pieces)
        yield f"T{number}\t{written_name(entity.entity_type)} {places}\t{said}\n"


def _pieces(text: str) -> Iterable[tuple[int, int]]:
    """Yield where the pieces of an entity lie: brat allows no line break inside one.

    Blank pieces are left out, but not the first and the last: they hold the entity's bounds.

    >>> list(_pieces("high\\n \\nfever\\n"))
    [(0, 4), (7, 12), (13, 13)]
    """
    breaks = [match.span() for match in _BREAKS.finditer(text)]
    starts = [0, *(end for _, end in breaks)]
    ends = [*(start for start, _ in breaks), len(text)]
    for start, end in zip(starts, ends, strict=True):
        if start == 0 or end == len(text) or not text[start:end].isspace():
            yield start, end


FORMAT = Format(
    "brat", "brat, a zip of .txt and .ann files", (".zip",), read, write, write_each=write_each
)
