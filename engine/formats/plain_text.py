"""Plain text files become documents; the reading of lines is shared by the other formats."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from engine.files import Decoded, SourceFile, decode
from engine.formats.contract import Format
from engine.settings import ReadOptions
from engine.text import Corpus, Document, FileReport, InputError
from engine.tokenization import make_document

# Not splitlines(): U+2028, form feeds and the like are characters of the text here.
_LINE_END = re.compile(r"\r\n|\r|\n")

Item = TypeVar("Item")
Value = TypeVar("Value")


def read(file: SourceFile, options: ReadOptions) -> Corpus:
    """Return the file as one document, or one document for each line that is not blank."""
    decoded = decode_text(file, options)
    if options.lines_are_documents:
        lines = [line for line in split_lines(decoded.text) if line.strip()]
        documents = tuple(
            make_document(f"{file.stem}-{number:06d}", line)
            for number, line in enumerate(lines, start=1)
        )
    else:
        documents = (make_document(file.stem, decoded.text),)
    report = FileReport(
        name=file.name,
        format="txt",
        encoding=decoded.encoding,
        documents=len(documents),
        notes=(*decoded.notes, *document_notes(documents)),
    )
    return Corpus(documents, files=(report,))


def decode_text(file: SourceFile, options: ReadOptions) -> Decoded:
    """Return the text of `file` without the byte order mark that a named encoding leaves there."""
    decoded = decode(file, options.encoding)
    return Decoded(decoded.text.removeprefix("\ufeff"), decoded.encoding, decoded.notes)


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` without their ends, whichever system wrote them.

    >>> split_lines("a\\r\\nb\\x0cc\\n")
    ['a', 'b\\x0cc', '']
    """
    return _LINE_END.split(text)


def document_notes(documents: Iterable[Document], renamed: int = 0) -> tuple[str, ...]:
    """Return what was decided about documents as such: ids made unique, sentences cut."""
    cut = sum(document.cut_sentences for document in documents)
    counts = {
        "ids were used twice; ~2, ~3 … was added": renamed,
        "sentences were too long and were cut": cut,
    }
    return tuple(f"{count:,} {what}" for what, count in counts.items() if count)


def parse_lines(
    name: str,
    lines: Iterable[tuple[int, Item]],
    parse: Callable[[Item], Value],
    options: ReadOptions,
) -> tuple[list[Value], list[str]]:
    """Return the value of each numbered line, and the faults of those left out.

    Without `options.skip_bad_lines` the first fault is raised, with its line.
    """
    values: list[Value] = []
    faults: list[str] = []
    for number, line in lines:
        try:
            values.append(parse(line))
        except InputError as error:
            faults.append(f"{name} line {number:,}: {error}")
            if not options.skip_bad_lines:
                raise InputError(f"{faults[0]}, or skip bad lines", "skip_bad_lines") from None
    return values, faults


def fault_notes(faults: Sequence[str]) -> tuple[str, ...]:
    """Return the note that counts the lines left out, none when there are none."""
    return (f"{len(faults):,} lines left out, e.g. {faults[0]}",) if faults else ()


FORMAT = Format("txt", "plain text", (".txt",), read=read)
