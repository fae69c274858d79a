"""Look at new files before they are saved: how they are read, and what is in them.

Large text files are read only at their beginning. A preview holds counts and examples, not the
documents, so that one made by another process is small.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any

from engine.dictionaries import Dictionary, read_dictionaries, with_own_names
from engine.files import (
    GivenFile,
    Source,
    SourceFile,
    is_zip,
    packed_members,
    read_blocks,
    read_head,
    read_whole,
)
from engine.formats import align, gold_of, is_packed, join_corpora, pair_files, read_corpus
from engine.projects.caches.dictionaries import (
    dictionary_reader_version,
    load_dictionaries,
    store_dictionaries,
)
from engine.projects.files import CACHE, checked
from engine.projects.texts import read_once, read_text
from engine.settings import ReadOptions
from engine.text import Corpus, FileReport, InputError, document_table, measure_text

# The one rule on what the process that serves pages may read itself: plain files of so many bytes
# in all, or so many bytes of the beginnings of larger ones. A process of its own reads anything
# else: larger files, and every zip.
AT_ONCE_BYTES = 200_000
_LEAST_HEAD = 4_000  # bytes of each file, however many there are
_LIST_GAP = re.compile(r"[\s,]*")
_FIRST_ROWS, _FIRST_PHRASES = 5, 5


@dataclass(frozen=True, slots=True)
class TextPreview:
    """What saving text files would add."""

    files: tuple[FileReport, ...]
    documents: int
    sentences: int
    tokens: int
    entities: int
    first: tuple[Mapping[str, Any], ...]  # document, sentences, tokens, longest, text
    notes: tuple[str, ...]
    bytes: int  # of all files
    is_whole: bool  # not only the beginnings were read
    read: tuple[Corpus, ...] | None = field(default=None, compare=False)  # for saving, if at hand


@dataclass(frozen=True, slots=True)
class GoldPreview:
    """What gold files annotate in the project's text."""

    documents: int
    entities: Mapping[str, int]  # by type
    notes: tuple[str, ...]
    read: Corpus | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DictionarySummary:
    """A dictionary in an uploaded file."""

    name: str
    types: Mapping[str, int]  # phrases by type, in the dictionary's order
    first: tuple[str, ...]  # phrases
    notes: tuple[str, ...]

    @property
    def has_more(self) -> bool:
        return sum(self.types.values()) > len(self.first)


@dataclass(frozen=True, slots=True)
class DictionaryPreview:
    """The dictionaries in uploaded files."""

    dictionaries: tuple[DictionarySummary, ...]
    untyped: tuple[str, ...]  # the message for each file that names no type for its phrases
    read: tuple[Dictionary, ...] | None = field(default=None, compare=False)


Preview = TextPreview | GoldPreview | DictionaryPreview


# ---- which process reads ----------------------------------------------------------------------


def is_read_at_once(files: Sequence[GivenFile]) -> bool:
    """Return whether the process that serves pages may read all of these files itself."""
    return sum(file.size for file in files) <= AT_ONCE_BYTES and not any(map(_is_unpacked, files))


def is_previewed_at_once(files: Sequence[GivenFile]) -> bool:
    """Return whether it may read the beginnings of these text files itself."""
    if any(map(_is_annotation, files)):  # pairs are not cut
        return is_read_at_once(files)
    is_few = len(files) * _LEAST_HEAD <= AT_ONCE_BYTES
    return is_few and not any(map(_is_unpacked, files))


def _is_unpacked(file: GivenFile) -> bool:
    """Return whether a file holds more than its size says: an archive, Parquet, spaCy's DocBin."""
    return is_zip(file) or is_packed(file)


# ---- text -------------------------------------------------------------------------------------


def preview_units(files: Sequence[GivenFile], units: Sequence[Corpus]) -> TextPreview:
    """Return the preview of files that were read already."""
    return _summary(join_corpora(units), _bytes(files), is_whole=True, read=tuple(units))


def preview_heads(files: Sequence[GivenFile], options: ReadOptions) -> TextPreview:
    """Return a preview of the beginnings of text files.

    InputError says nothing about the files: it may be that a cut made one unreadable.
    """
    heads, is_whole = _cut(files)
    return _preview_of(heads, options, _bytes(files), is_whole=is_whole)


def preview_text(folder: Path, files: Sequence[GivenFile], options: ReadOptions) -> TextPreview:
    """Return a preview of text files: of their beginnings if that is possible, else of all.

    What was read whole is cached, so that saving it does not read it again.
    """
    heads, is_whole = _cut(files)
    if not is_whole:
        with suppress(InputError):  # it may be due to the cut, so all of the file decides
            return _preview_of(heads, options, _bytes(files), is_whole=False)
    units = read_once(folder, pair_files(checked(files)), options)
    return _summary(join_corpora(units), _bytes(files), is_whole=True)


def _preview_of(
    units: Sequence[Sequence[SourceFile]], options: ReadOptions, size: int, *, is_whole: bool
) -> TextPreview:
    corpus = join_corpora([read_corpus(unit, options) for unit in units])
    return _summary(corpus, size, is_whole=is_whole)


def _cut(files: Sequence[GivenFile]) -> tuple[list[list[SourceFile]], bool]:
    """Return the beginnings of the files, by unit, and whether nothing was cut off."""
    units = pair_files(checked(files))
    size = max(_LEAST_HEAD, AT_ONCE_BYTES // len(files))
    heads, is_whole = [], True
    for unit in units:
        sources = _sources(unit)
        own = [_head(source, size // len(sources)) for source in sources]
        heads.append(own)
        is_whole = is_whole and _bytes(own) == _bytes(sources)
    return heads, is_whole


def _summary(
    corpus: Corpus, size: int, *, is_whole: bool, read: tuple[Corpus, ...] | None = None
) -> TextPreview:
    figures = measure_text(corpus)
    rows = document_table(corpus, _FIRST_ROWS).to_dict("records")
    return TextPreview(
        corpus.files,
        figures.documents,
        figures.sentences,
        figures.tokens,
        sum(map(len, corpus.entities.values())),
        tuple({str(name): value for name, value in row.items()} for row in rows),
        tuple(corpus.notes),
        size,
        is_whole,
        read,
    )


def _bytes(files: Sequence[Source]) -> int:
    return sum(file.size for file in files)


def _sources(unit: Sequence[GivenFile]) -> Sequence[Source]:
    """Return the files to cut: the members of an archive, or those that are read together."""
    if len(unit) > 1 or not is_zip(unit[0]):
        return unit
    members = packed_members(unit[0])
    return unit if any(map(_is_annotation, members)) else members or unit


def _is_annotation(file: Source) -> bool:
    return file.name.lower().endswith(".ann")


def _head(file: Source, size: int) -> SourceFile:
    """Return a file that ends after the last line, row or item that ends within `size` bytes."""
    size = max(_LEAST_HEAD, size)
    data = read_head(file, size)
    if is_zip(file) or len(data) == file.size:
        data = read_whole(file).data
    else:
        ending = PurePath(file.name).suffix.lower()
        if ending in (".csv", ".tsv"):
            data = _whole_rows(data)
        elif ending in (".json", ".jsonl"):
            data = _whole_records(data)
        else:
            data = _whole_paragraphs(data)
    return SourceFile(file.name, data, file.limits)


def _whole_lines(data: bytes) -> bytes:
    """Return the lines that are complete; the last one may be the only one.

    >>> _whole_lines(b"one\\ntw"), _whole_lines("one\\ntw".encode("utf-16-le")[:9])
    (b'one\\n', b'o\\x00n\\x00e\\x00\\n\\x00')
    """
    end = data.rfind(b"\n") + 1
    if end and b"\0" in data:  # two bytes per character
        end += end % 2
    return data[:end] if end else data


def _whole_paragraphs(data: bytes) -> bytes:
    """Return the paragraphs that are complete; sentences, annotated documents in some formats."""
    ends = [data.rfind(blank) + len(blank) for blank in (b"\n\n", b"\n\r\n") if blank in data]
    return data[: max(ends)] if ends and 2 * max(ends) > len(data) else _whole_lines(data)


def _whole_rows(data: bytes) -> bytes:
    """Return the rows that are complete; a field in quotes may hold line ends.

    >>> _whole_rows(b'1,"a"\\n2,"b\\nc')
    b'1,"a"\\n'
    """
    rows = _whole_lines(data)
    while rows.count(b'"') % 2 and (end := rows.rstrip(b"\r\n").rfind(b"\n")) >= 0:
        rows = rows[: end + 1]
    return rows


def _whole_records(data: bytes) -> bytes:
    """Return the lines, or the items of the one list, that are complete.

    >>> _whole_records(b'{"a": 1}\\n{"a"'), _whole_records(b'[{"a": 1},\\n {"a": 2}, {"a')
    (b'{"a": 1}\\n', b'[{"a": 1},\\n {"a": 2}]')
    """
    text = data.decode("utf-8-sig", "ignore")
    if not text.lstrip().startswith("[") or _is_json(text.partition("\n")[0]):
        return _whole_lines(data)
    decoder, end = json.JSONDecoder(), 0
    position = text.index("[") + 1
    with suppress(ValueError, RecursionError):
        while True:
            position = _LIST_GAP.match(text, end or position).end()  # type: ignore[union-attr]
            _, end = decoder.raw_decode(text, position)
    return f"{text[:end]}]".encode() if end else data


def _is_json(line: str) -> bool:
    with suppress(ValueError, RecursionError):
        json.loads(line)
        return True
    return False


# ---- gold -------------------------------------------------------------------------------------


def preview_gold(corpus: Corpus, text: Corpus) -> GoldPreview:
    """Return what the gold of a corpus annotates in the project's text."""
    gold = gold_of(corpus)
    aligned = align(text.documents, gold)
    counts = Counter(e.entity_type for listed in aligned.entities.values() for e in listed)
    notes = (*gold.notes, *aligned.notes)
    return GoldPreview(len(aligned.entities), dict(sorted(counts.items())), notes, corpus)


def preview_gold_files(
    folder: Path, files: Sequence[GivenFile], options: ReadOptions
) -> GoldPreview:
    """Return what gold files annotate; what was read is cached, so that saving is quick."""
    [corpus] = read_once(folder, [checked(files)], options)
    return preview_gold(corpus, read_text(folder))


# ---- dictionaries -----------------------------------------------------------------------------


def preview_dictionaries(
    files: Sequence[GivenFile], options: ReadOptions, entity_type: str
) -> DictionaryPreview:
    """Return the dictionaries in the files, each under a name of its own.

    `entity_type` is for files that name no type. A plain list still takes its file's name as type.
    """
    dictionaries: list[Dictionary] = []
    untyped: list[InputError] = []
    for file in map(read_whole, files):
        try:
            dictionaries += read_dictionaries([file], options)
        except InputError as error:
            if error.fix != "entity_type":
                raise
            untyped.append(error)
            if entity_type:
                dictionaries += read_dictionaries([file], options, entity_type)
    return _dictionaries_preview(with_own_names(dictionaries), map(str, untyped))


def preview_dictionary_files(
    folder: Path,
    files: Sequence[GivenFile],
    options: ReadOptions,
    entity_type: str,
    *,
    is_last: bool = False,
) -> DictionaryPreview:
    """Return the same, and cache what was read, so that saving it does not read it again.

    `is_last` says that it is saved now: the cache is used, and not kept any longer.
    """
    path = folder / CACHE / f"{_dictionaries_key(files, options, entity_type)}.json"
    if held := load_dictionaries(path):
        preview = _dictionaries_preview(*held)
    else:
        preview = preview_dictionaries(files, options, entity_type)
        if not is_last:
            store_dictionaries(preview.read or (), preview.untyped, path)
    if is_last:
        with suppress(OSError):
            path.unlink()
    return preview


def _dictionaries_key(files: Sequence[GivenFile], options: ReadOptions, entity_type: str) -> str:
    """Return the name of the cache; other bytes, names, options or code give another one."""
    whole = hashlib.sha256(f"{dictionary_reader_version()} {options} {entity_type!r}".encode())
    for file in files:
        content = hashlib.sha256()
        for block in read_blocks(file):
            content.update(block)
        whole.update(f"\n{content.hexdigest()} {file.name!r}".encode())
    return whole.hexdigest()[:24]


def _dictionaries_preview(
    dictionaries: Iterable[Dictionary], untyped: Iterable[str]
) -> DictionaryPreview:
    read = tuple(dictionaries)
    return DictionaryPreview(tuple(map(_dictionary_summary, read)), tuple(untyped), read)


def _dictionary_summary(dictionary: Dictionary) -> DictionarySummary:
    counts = Counter(phrase.entity_type for phrase in dictionary.phrases)
    return DictionarySummary(
        dictionary.name,
        {name: counts[name] for name in dictionary.types},
        tuple(phrase.text for phrase in dictionary.phrases[:_FIRST_PHRASES]),
        dictionary.notes,
    )


# ---- as JSON ----------------------------------------------------------------------------------


def preview_record(preview: Preview) -> dict[str, Any]:
    """Return a preview as JSON values, without the documents or phrases."""
    if isinstance(preview, TextPreview):
        files = [asdict(report) for report in preview.files]
        return {**_values(preview), "kind": "text", "files": files}
    if isinstance(preview, GoldPreview):
        return {**_values(preview), "kind": "gold"}
    dictionaries = [asdict(dictionary) for dictionary in preview.dictionaries]
    return {**_values(preview), "kind": "dictionaries", "dictionaries": dictionaries}


def preview_from(record: Mapping[str, Any]) -> Preview:
    """Return the preview that `preview_record` wrote."""
    values = {name: value for name, value in record.items() if name != "kind"}
    if record["kind"] == "text":
        files = tuple(FileReport(**_with_tuples(report)) for report in values.pop("files"))
        return TextPreview(files=files, **_with_tuples(values))
    if record["kind"] == "gold":
        return GoldPreview(**_with_tuples(values))
    listed = tuple(DictionarySummary(**_with_tuples(item)) for item in values.pop("dictionaries"))
    return DictionaryPreview(dictionaries=listed, **_with_tuples(values))


def _values(preview: Preview) -> dict[str, Any]:
    return {name: getattr(preview, name) for name in preview.__slots__ if name != "read"}


def _with_tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
