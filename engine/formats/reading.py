"""Read files of any format into one corpus."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from engine.files import Source, SourceFile, is_zip, packed_members, refuse_lines, unzip
from engine.formats import brat
from engine.formats.catalog import FORMATS
from engine.formats.detection import detect_format
from engine.formats.drafts import Counts, with_id
from engine.formats.ids import unique_ids
from engine.formats.pairing import extension, pair_files
from engine.settings import ENGLISH, ReadOptions
from engine.text import Corpus, Document, Entity, FileReport, InputError, in_language

F = TypeVar("F", bound=Source)


def read_corpus(
    files: Iterable[Source], options: ReadOptions | None = None, format: str | None = None
) -> Corpus:
    """Return all documents of the files, archives opened, with the annotations found in them.

    All or nothing: the first file that cannot be read raises InputError. If two documents have the
    same id, the second gets a new one, and a note says so.
    """
    options = options or ReadOptions()
    with in_language(options.language or ENGLISH):
        return _read_corpus(files, options, format)


def _read_corpus(files: Iterable[Source], options: ReadOptions, format: str | None) -> Corpus:
    parts: list[Corpus] = []
    counts: Counts | None = None
    for group in group_files(files, _unpack):
        parts.append(_read_group(group, options, format))
        counts = counts or Counts(group[0].limits)
        counts.add(group[0].name, *parts[-1].documents)
    if not parts:
        raise InputError("no files were given")
    corpus = join_corpora(parts)
    return corpus if options.keep_entities else replace(corpus, entities={})


def readable_formats() -> list[str]:
    """Return the names of the formats that can be read."""
    return [name for name, format in FORMATS.items() if format.read]


def group_files(files: Iterable[F], unpack: Callable[[F], Sequence[F]]) -> list[list[F]]:
    """Return files that are read together, in order, with archives unpacked.

    A .txt and its .ann are a group of two. An archive of brat files is left as it is.
    """
    unpacked: list[F] = []
    for file in files:
        members = unpack(file) if is_zip(file) else []
        is_brat = any(extension(member) == ".ann" for member in members)
        unpacked += [file] if is_brat or not members else members
    return pair_files(unpacked)


def _unpack(archive: Source) -> Sequence[Source]:
    """Unpack an archive in memory into memory; read the members of one on disk where they are."""
    return unzip(archive) if isinstance(archive, SourceFile) else packed_members(archive)


def _read_group(group: Sequence[Source], options: ReadOptions, format: str | None) -> Corpus:
    for part in group:
        if not is_zip(part):
            refuse_lines(part)
    if len(group) == 2:
        return brat.read_pair(group[0], group[1], options)
    file = group[0]
    name = "brat" if is_zip(file) else format or detect_format(file, options)
    reader = FORMATS[name].read if name in FORMATS else None
    if reader is None:
        raise InputError(
            f'"{name}" is not a format that can be read; choose one of '
            + ", ".join(readable_formats())
        )
    return reader(file, options)


def join_corpora(parts: Sequence[Corpus]) -> Corpus:
    """Return one corpus; a document whose id an earlier part uses gets a new id, with a note."""
    if len(parts) == 1:
        return parts[0]
    documents: list[Document] = []
    entities: dict[str, tuple[Entity, ...]] = {}
    files: list[FileReport] = []
    given = [[document.id for document in part.documents] for part in parts]
    ids, _ = unique_ids(id for part_ids in given for id in part_ids)
    lengths = dict(zip(ids, (len(d.text) for part in parts for d in part.documents), strict=True))
    position = 0
    for part, old_ids in zip(parts, given, strict=True):
        new_ids = ids[position : position + len(old_ids)]
        position += len(old_ids)
        renamed = dict(zip(old_ids, new_ids, strict=True))
        documents += [
            with_id(document, id) for document, id in zip(part.documents, new_ids, strict=True)
        ]
        for id, annotated in part.entities.items():
            # An entities CSV names documents of other files, so its ids are kept.
            if id not in renamed:
                check_places(part, id, annotated, lengths.get(id))
            id = renamed.get(id, id)
            entities[id] = (*entities.get(id, ()), *annotated)
        changed = sum(old != new for old, new in renamed.items())
        files += [with_rename_note(report, changed) for report in part.files]
    return Corpus(tuple(documents), entities, tuple(files))


def check_places(part: Corpus, id: str, entities: Iterable[Entity], length: int | None) -> None:
    """Raise InputError if an entity ends after its document; a length of None is unknown."""
    for entity in entities:
        if length is not None and entity.end > length:
            names = ", ".join(report.name for report in part.files)
            raise InputError(
                f"{names}: an entity at {entity.start}-{entity.end} lies outside document "
                f'"{id}", which has {length:,} characters. '
                "Was it made from another version of the text?"
            )


def with_rename_note(report: FileReport, changed: int) -> FileReport:
    """Return the report with a note on ids that earlier files used."""
    if not changed:
        return report
    note = f'{changed:,} ids were used by another file already; "~2" was added to them'
    return replace(report, notes=(*report.notes, note))
