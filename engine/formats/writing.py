"""Write a corpus to a file of any writable format."""

from pathlib import Path

from engine.files import written_whole
from engine.formats.catalog import FORMATS
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    missing_package,
)
from engine.text import Corpus, InputError

# The format of a file name without --format; the others share these extensions.
_BY_EXTENSION = {
    ".csv": "entities",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".jsonl": "jsonl",
    ".json": "label_studio",
    ".zip": "brat",
    ".pubtator": "pubtator",
    ".spacy": "docbin",
    ".parquet": "parquet",
}


def write_corpus(
    corpus: Corpus,
    path: str | Path,
    format: str | None = None,
    options: WriteOptions | None = None,
) -> WriteReport:
    """Write the corpus to `path` in the format named, or else in that of its extension."""
    chosen = writable_format(path, format)
    assert chosen.write is not None
    with written_whole(path) as out:
        return chosen.write(corpus, out, options or WriteOptions())


def write_documents(
    pairs: Pairs, path: str | Path, overview: Overview, format: str | None, options: WriteOptions
) -> WriteReport:
    """Write documents to `path` as they come; the file is the same as that of `write_corpus`.

    No document is held in memory, unless the format needs all of them.
    """
    chosen = writable_format(path, format)
    with written_whole(path) as out:
        if chosen.write_each:
            return chosen.write_each(pairs, out, options, overview)
        assert chosen.write is not None
        held = list(pairs)
        entities = {document.id: given for document, given in held if given is not None}
        return chosen.write(Corpus(tuple(document for document, _ in held), entities), out, options)


def writable_format(path: str | Path, format: str | None = None) -> Format:
    """Return the format that `path` would be written in, or say which there are."""
    extension = Path(path).suffix.lower()
    name = format or _BY_EXTENSION.get(extension)
    names = [known for known, candidate in FORMATS.items() if candidate.write]
    if name is None:
        raise InputError(
            f'a file ending in "{extension}" can be written in several ways or none; '
            f"name the format: {', '.join(names)}",
            fix="format",
        )
    if name not in names:
        raise InputError(f'"{name}" is not a format that can be written; choose {", ".join(names)}')
    chosen = FORMATS[name]
    if not chosen.is_installed:
        raise missing_package(chosen)
    return chosen
