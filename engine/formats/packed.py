"""What the formats share that are not text: they are read whole, and their names show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from engine.files import Source
from engine.formats.drafts import Draft, Totals
from engine.formats.pairing import extension
from engine.text import Document, Entity, FileReport, InputError, make_document, one_line

BY_ENDING = {".spacy": "docbin", ".parquet": "parquet"}


def is_packed(file: Source) -> bool:
    """Return whether the name of a file says that it is not text (nor an archive of texts)."""
    return extension(file) in BY_ENDING


def damaged(name: str, what: str, error: Exception) -> InputError:
    """Return the error for a file that is not what its name says."""
    reason = one_line(str(error) or type(error).__name__)[:120]
    return InputError(f"{name} cannot be read as {what} ({reason}). Save it again")


def without_surrogates(text: str) -> str:
    """Return a text that UTF-8 can hold; half a surrogate pair becomes "?", so no offset moves."""
    return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """A document as such a file holds it."""

    id: str
    text: str
    entities: tuple[Entity, ...] | None = None  # None: not annotated


class PackedReading:
    """A pass over documents that are at hand already."""

    def __init__(self, name: str, format: str, documents: Sequence[PackedDocument]) -> None:
        self._name, self._format, self._documents = name, format, documents

    def drafts(self) -> Iterator[Draft]:
        for given in self._documents:
            yield Draft(
                given.id,
                partial(_build, text=given.text),
                len(given.entities or ()),
                partial(_entities, given),
            )

    def report(self, totals: Totals) -> FileReport:
        """Return what was found in the file."""
        return FileReport(
            name=self._name,
            format=self._format,
            documents=totals.documents,
            entities=totals.entities,
            notes=totals.notes,
        )


def _build(id: str, text: str) -> Document:
    return make_document(id, text)


def _entities(given: PackedDocument, document: Document) -> tuple[Entity, ...] | None:
    return given.entities
