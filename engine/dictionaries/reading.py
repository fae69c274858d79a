"""Read files of phrases into dictionaries, and note what was skipped, dropped or assumed.

Only white space is corrected without a note: it is removed around a phrase or a type, and a run of
it inside becomes one space.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from engine.dictionaries.editing import with_own_names
from engine.dictionaries.layouts import Content, Skip, make_phrase, read_columns, read_text
from engine.dictionaries.model import NEVER, Dictionary, Phrase, type_name
from engine.dictionaries.patterns import PatternError, compile_pattern, is_pattern
from engine.dictionaries.records import read_json
from engine.files import SourceFile, is_zip, refuse_lines, refuse_many, unzip
from engine.settings import LIMITS, Limits, ReadOptions
from engine.system import without_collection
from engine.text import InputError, words

_READERS: dict[str, Callable[[SourceFile, ReadOptions, str], Content]] = {
    ".txt": read_text,
    ".csv": read_columns,
    ".tsv": read_columns,
    ".json": read_json,
    ".jsonl": read_json,
}
DICTIONARY_ENDINGS = (*_READERS, ".zip")
# File names that say nothing about the phrases inside.
_GENERIC_STEMS = frozenset(
    ("dictionary", "dict", "dict_core", "dict_full", "terms", "phrases", "words", "list")
) | {"lexicon", "gazetteer"}
# Files that lie beside dictionaries and are none.
_NOT_LISTS = frozenset(("readme", "license", "licence", "copying", "notice", "changelog"))
_NAMED_FAULTS = 20  # patterns that notes name, one each
_NAMED_OTHERS = 5  # files that a note names
MOST_TOKENS = LIMITS.sentence_tokens  # of a phrase
_STRETCH = 10_000  # characters whose tokens are counted at once
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DEFAULT_OPTIONS = ReadOptions()


def dictionary_paths(
    paths: Iterable[str | Path], limits: Limits = LIMITS
) -> tuple[list[Path], tuple[str, ...]]:
    """Return the files to read, for a folder every dictionary in it, and a note on its others.

    Sub-folders count. Hidden files and links to folders do not.
    """
    files: list[Path] = []
    notes: list[str] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        readable: list[str] = []
        others: list[str] = []
        for name in _files_in(path, limits):
            (readable if is_dictionary_name(name) else others).append(name)
        if not readable:
            raise InputError(
                f"{path} holds no dictionary. Supported: {' '.join(DICTIONARY_ENDINGS)}"
            )
        files += [path / name for name in readable]
        notes += _left_out(others, str(path))
    return files, tuple(notes)


def _files_in(folder: Path, limits: Limits) -> list[str]:
    """Return the files in a folder and its sub-folders, sorted, by their paths in it."""
    names: list[str] = []

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename} cannot be read: {error.strerror or error}") from error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(parent).relative_to(folder)
        names += [(inside / name).as_posix() for name in files if not name.startswith(".")]
        if len(names) > limits.zip_members:
            raise InputError(
                f"{folder} holds more than {limits.zip_members:,} files; name the dictionaries in "
                "it instead",
                "no_limits",
            )
    return sorted(names)


def read_dictionaries(
    files: Iterable[SourceFile],
    options: ReadOptions = _DEFAULT_OPTIONS,
    entity_type: str | None = None,
) -> list[Dictionary]:
    """Return one dictionary per file, archives unpacked, each with a unique name."""
    dictionaries: list[Dictionary] = []
    count = 0
    for file in files:
        members, skipped = _members(file)
        for member in members:
            dictionary = read_dictionary(member, options, entity_type)
            count += len(dictionary.phrases)
            refuse_many(file.name, "phrases", count, file.limits)
            notes = (*dictionary.notes, *skipped)
            skipped = ()  # noted once, on the archive's first dictionary
            dictionaries.append(replace(dictionary, notes=notes))
    return with_own_names(dictionaries)


def read_dictionary(
    file: SourceFile,
    options: ReadOptions = _DEFAULT_OPTIONS,
    entity_type: str | None = None,
) -> Dictionary:
    """Return the phrases of one file: .txt, .csv, .tsv, .json or .jsonl.

    `entity_type` is for phrases that have no type in the file. Without it, the type of a plain
    list is its file's name, and any other file must name the types itself.
    """
    if entity_type is not None:
        entity_type = " ".join(entity_type.split())
        if not entity_type:
            raise InputError("the entity type is empty. Name one, e.g. Disease")
    file = replace(file, name=PurePosixPath(file.name.replace("\\", "/")).name)
    if file.extension not in _READERS:
        raise InputError(
            f"{file.name} is no dictionary that can be read. "
            f"Supported: {' '.join(DICTIONARY_ENDINGS)}"
        )
    # All but JSON has a phrase per line, and lines cost nothing to count.
    refuse_lines(file, "lines" if file.extension == ".json" else "phrases")
    with without_collection():
        content = _READERS[file.extension](file, options, _list_type(file, entity_type))
        items = list(islice(content.items, file.limits.phrases + 1))
    refuse_many(file.name, "phrases", len(items), file.limits)
    unlabeled = [item for item in items if _lacks_label(item)]
    if unlabeled and not entity_type:
        raise InputError(_unlabeled_message(file.name, content, unlabeled), fix="entity_type")
    phrases, skips = _sift(_filled(items, entity_type) if unlabeled else items)
    phrases, faults = _compiled(phrases)
    if not phrases:
        held = ", ".join((*_skip_notes(skips, 0), *faults)) or content.blank
        raise InputError(f"{file.name} holds no phrases: {held}. Nothing was added")
    notes = [*content.notes, *_skip_notes(skips, len(phrases)), *faults, *_type_notes(phrases)]
    if unlabeled:
        notes.append(f"{_counted(len(unlabeled), 'phrase')} had no label; took {entity_type}")
    if content.is_list and not entity_type and file.stem.strip().lower() in _GENERIC_STEMS:
        verb = "has" if len(phrases) == 1 else "have"
        notes.append(f"{_counted(len(phrases), 'phrase')} {verb} no label; took the file name")
    return Dictionary(file.name, tuple(phrases), content.match, notes=tuple(notes))


def _members(file: SourceFile) -> tuple[list[SourceFile], tuple[str, ...]]:
    """Return the dictionaries in an archive and a note per other file; or the file itself."""
    if not is_zip(file):
        return [file], ()
    members = unzip(file)
    readable = [m for m in members if m.extension in _READERS and is_dictionary_name(m.name)]
    if not readable:
        raise InputError(f"{file.name} holds no dictionary. Supported: {' '.join(_READERS)}")
    others = [member.name for member in members if member not in readable]
    return readable, _left_out(others, file.name)


def is_dictionary_name(name: str) -> bool:
    """Return whether a file of a folder may be a dictionary, by its name.

    >>> [is_dictionary_name(name) for name in ("a/Disease.txt", "a/README.txt", "a/notes.pdf")]
    [True, False, False]
    """
    path = PurePosixPath(name)
    return path.suffix.lower() in DICTIONARY_ENDINGS and path.stem.lower() not in _NOT_LISTS


def _left_out(names: Sequence[str], where: str) -> tuple[str, ...]:
    """Return one note on the files of a folder or an archive that are no dictionaries."""
    if not names:
        return ()
    listed = ", ".join(f'"{name}"' for name in names[:_NAMED_OTHERS])
    more = len(names) - _NAMED_OTHERS
    listed += f" and {_counted(more, 'more file')}" if more > 0 else ""
    return (f"{listed} in {where} left out: no dictionary",)


def _list_type(file: SourceFile, entity_type: str | None) -> str:
    name = type_name(entity_type or file.stem)
    if not name:
        raise InputError(f'the file name "{file.name}" gives no type. Rename it, e.g. Disease.txt')
    return name


# ---- which phrases are kept -----------------------------------------------------------------

_DUPLICATE = ("duplicate phrase", "removed")
_Tally = dict[tuple[str, str], list[int]]  # (noun, why) -> [how many, the first one's line]


def _sift(items: Iterable[Phrase | Skip]) -> tuple[list[Phrase], _Tally]:
    """Return the phrases to keep, each once, and count the rest."""
    kept: list[Phrase] = []
    tally: _Tally = {}
    seen: defaultdict[str, dict[str, str]] = defaultdict(dict)  # type -> text -> canonical id
    for item in items:
        if isinstance(item, Skip):
            skip = item
        else:
            text, of_type = item.text, seen[item.entity_type]
            if text and text not in of_type and _can_match(text):
                of_type[text] = item.canonical_id
                kept.append(item)
                continue
            skip = _fault(item, of_type)
        tally.setdefault((skip.noun, skip.why), [0, skip.line])[0] += 1
    return kept, tally


def _compiled(phrases: list[Phrase]) -> tuple[list[Phrase], list[str]]:
    """Return the phrases without patterns that cannot be used, and a note on each of those."""
    faulty: dict[int, str] = {}
    for number in [i for i, phrase in enumerate(phrases) if is_pattern(phrase.text)]:
        phrase = phrases[number]
        try:
            compile_pattern(phrase.text)
        except PatternError as error:
            where = f"line {phrase.line:,}: " if phrase.line else ""
            faulty[number] = f"{where}the pattern {phrase.text[:80]} {error}; left out"
    if not faulty:
        return phrases, []
    kept = [phrase for number, phrase in enumerate(phrases) if number not in faulty]
    notes = list(faulty.values())
    if len(notes) > _NAMED_FAULTS:
        rest = _counted(len(notes) - _NAMED_FAULTS, "more pattern")
        notes = [*notes[:_NAMED_FAULTS], f"{rest} cannot be used; left out"]
    return kept, notes


def _fault(phrase: Phrase, seen: dict[str, str]) -> Skip:
    """Return why a phrase is not kept."""
    if not phrase.text:
        return Skip("empty phrase", "left out", phrase.line)
    if phrase.text in seen:
        if phrase.canonical_id not in ("", seen[phrase.text]):
            return Skip("duplicate phrase", "with another canonical_id removed", phrase.line)
        return Skip(*_DUPLICATE, phrase.line)
    if is_too_long(phrase.text):
        return Skip("phrase", f"of more than {MOST_TOKENS:,} tokens left out", phrase.line)
    return Skip("phrase", "with control characters left out", phrase.line)


def _can_match(text: str) -> bool:
    # Printable text has no control characters, and this test is faster than the search.
    is_clean = text.isprintable() or not _CONTROL.search(text)
    return is_clean and not is_too_long(text)


def is_too_long(text: str) -> bool:
    """Return whether a phrase has more tokens than a sentence: it could match nowhere.

    A file that is no list may hold one of a million tokens.

    >>> is_too_long("a " * 1_001), is_too_long("a" * 50_000)
    (True, False)
    """
    if len(text) <= MOST_TOKENS or is_pattern(text):
        return False
    count = 0
    for start in range(0, len(text), _STRETCH):
        count += len(words(text[start : start + _STRETCH]))
        if count > MOST_TOKENS:
            return True
    return False


def _lacks_label(item: Phrase | Skip) -> bool:
    return not isinstance(item, Skip) and not item.entity_type and bool(item.text)


def _filled(items: Iterable[Phrase | Skip], entity_type: str | None) -> Iterator[Phrase | Skip]:
    for item in items:
        if isinstance(item, Phrase) and not item.entity_type and entity_type:
            item = make_phrase(item.text, entity_type, item.line, item.canonical_id)
        yield item


# ---- messages and notes ---------------------------------------------------------------------


def _unlabeled_message(name: str, content: Content, unlabeled: list[Phrase | Skip]) -> str:
    verb = "has" if len(unlabeled) == 1 else "have"
    line = unlabeled[0].line if content.has_labels else 0
    first = f" (first on line {line:,})" if line else ""
    return (
        f"{_counted(len(unlabeled), 'term')} {verb} no label{first}: {name} {content.layout}. "
        f"Name one type for all of them (--type), or {content.remedy}"
    )


def _skip_notes(tally: _Tally, kept_count: int) -> Iterator[str]:
    for (noun, why), (count, line) in tally.items():
        note = f"{_counted(count, noun)} {why}"
        if (noun, why) != _DUPLICATE:
            note += f" (first on line {line:,})" if line else ""
        elif kept_count == 1:
            note += ", 1 phrase left"
        yield note


def _type_notes(phrases: Iterable[Phrase]) -> Iterator[str]:
    for name in sorted({phrase.entity_type for phrase in phrases}):
        if " " in name and name != NEVER:
            written = name.replace(" ", "_")
            yield f'Label "{name}" contains a space; it will be written as {written} in CoNLL.'


def _counted(count: int, noun: str) -> str:
    """Return the count with its noun.

    >>> _counted(1, "phrase"), _counted(2000, "phrase")
    ('1 phrase', '2,000 phrases')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
