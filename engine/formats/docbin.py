"""Read and write spaCy's DocBin (.spacy), with spaCy itself; it is imported only when asked for.

Tokens are ours, cut where an entity begins or ends inside one, so that no entity moves. Of entities
that overlap, `doc.ents` holds the longest; `doc.spans["sc"]` then holds all of them.
"""

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import IO, Any

from engine.files import BLOCK, Source, read_whole
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    missing_package,
    surface,
    whole_writer,
)
from engine.formats.drafts import read_drafts
from engine.formats.packed import PackedDocument, PackedReading, damaged, without_surrogates
from engine.settings import Limits, ReadOptions
from engine.text import Corpus, Document, Entity, InputError

_NAME = "docbin"
_ID = "doc_id"  # in `doc.user_data`
_ALL = "sc"  # the name that spaCy's span categorizer reads
_ATTRIBUTES = ("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "SENT_START")


def _check_installed() -> None:
    if not FORMAT.is_installed:
        raise missing_package(FORMAT)


# ---- writing --------------------------------------------------------------------------------


def write_each(
    pairs: Pairs, out: IO[bytes], options: WriteOptions, overview: Overview
) -> WriteReport:
    """Write one Doc per document; entities of a document that is not annotated stay unset."""
    _check_installed()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocabulary = Vocab()
    docs = DocBin(attrs=_ATTRIBUTES, store_user_data=True)
    rows = overlapping = changed = 0
    for document, entities in pairs:
        text = without_surrogates(document.text)
        changed += text != document.text
        doc, left_out = make_doc(vocabulary, document, text, entities)
        doc.user_data[_ID] = without_surrogates(document.id)
        docs.add(doc)
        rows += len(entities or ())
        overlapping += left_out
    out.write(docs.to_bytes())
    counts = {
        f'entities overlap longer ones: they are in doc.spans["{_ALL}"], not in doc.ents': (
            overlapping
        ),
        'documents held half a character; "?" is in its place': changed,
        "entities left out: the text of their document is not here": overview.lost,
    }
    return WriteReport(rows, tuple(f"{count:,} {what}" for what, count in counts.items() if count))


def make_doc(
    vocabulary: Any, document: Document, text: str, entities: Sequence[Entity] | None
) -> tuple[Any, int]:
    """Return a document as spaCy's Doc, and how many entities overlap longer ones."""
    from spacy.tokens import Doc, Span

    for entity in entities or ():
        surface(document, entity)
    pieces = _pieces(document, text, entities or ())
    begins = {sentence.start for sentence in document.sentences}
    doc = Doc(
        vocabulary,
        words=[text[start:end] for start, end, _ in pieces],
        spaces=[has_space for *_, has_space in pieces],
        sent_starts=[start in begins for start, *_ in pieces],
    )
    if entities is None:
        return doc, 0
    starts = {start: i for i, (start, _, _) in enumerate(pieces)}
    ends = {end: i + 1 for i, (_, end, _) in enumerate(pieces)}

    def span(entity: Entity) -> Any:
        label, link = map(without_surrogates, (entity.entity_type, entity.canonical_id))
        return Span(doc, starts[entity.start], ends[entity.end], label=label, kb_id=link)

    kept: list[Entity] = []
    taken = bytearray(len(text))
    for entity in sorted(entities, key=lambda e: (e.start - e.end, e.start, e.entity_type)):
        if not any(taken[entity.start : entity.end]):
            taken[entity.start : entity.end] = b"\1" * (entity.end - entity.start)
            kept.append(entity)
    doc.set_ents([span(entity) for entity in kept])
    if len(kept) < len(entities):
        doc.spans[_ALL] = [span(entity) for entity in entities]
    return doc, len(entities) - len(kept)


def _pieces(
    document: Document, text: str, entities: Sequence[Entity]
) -> list[tuple[int, int, bool]]:
    """Return start, end and whether a space follows, so that all pieces together are the text."""
    begins, ends = {e.start for e in entities}, {e.end for e in entities}
    pieces: list[tuple[int, int, bool]] = []
    for start, end in pairwise(sorted({0, len(text), *document.layout.tokens, *begins, *ends})):
        # A space belongs to the piece before it, as in spaCy, unless an entity has it at its edge.
        is_free = text[start] == " " and start not in begins and start + 1 not in ends
        if pieces and is_free and not pieces[-1][2]:
            pieces[-1] = (*pieces[-1][:2], True)
            start += 1
        if start < end:
            pieces.append((start, end, False))
    return pieces


# ---- reading --------------------------------------------------------------------------------


def read(file: Source, options: ReadOptions) -> Corpus:
    """Return the documents of a DocBin, with the entities in `doc.ents` and `doc.spans["sc"]`."""
    _check_installed()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    data = read_whole(file).data
    _refuse_large(file.name, data, file.limits)
    try:
        docs = list(DocBin().from_bytes(data).get_docs(Vocab()))
        documents = [_document(doc, i) for i, doc in enumerate(docs, start=1)]
    except Exception as error:  # spaCy raises whatever its parts do
        raise damaged(file.name, "spaCy's DocBin", error) from error
    return read_drafts(PackedReading(file.name, _NAME, documents), file.name, file.limits)


def _refuse_large(name: str, data: bytes, limits: Limits) -> None:
    """Raise InputError if the file is no DocBin, or would unpack to more than an archive may."""
    unpacker, size = zlib.decompressobj(), 0
    most = limits.zip_unpacked_mb * 1_000_000
    try:
        while data and size <= most:
            size += len(unpacker.decompress(data, BLOCK))
            data = unpacker.unconsumed_tail
    except zlib.error as error:
        raise damaged(name, "spaCy's DocBin", error) from error
    if size > most:
        raise InputError(
            f"{name} unpacks to more than {limits.zip_unpacked_mb:,} MB. "
            "Split it into smaller files",
            "no_limits",
        )


def _document(doc: Any, number: int) -> PackedDocument:
    id = doc.user_data.get(_ID)
    spans = {(s.start_char, s.end_char, s.label_): s for s in (*doc.ents, *doc.spans.get(_ALL, ()))}
    entities = tuple(
        Entity(start, end, label, method="gold", canonical_id=span.kb_id_)
        for (start, end, label), span in sorted(spans.items(), key=lambda item: item[0])
    )
    is_annotated = bool(entities) or doc.has_annotation("ENT_IOB")
    return PackedDocument(
        id if isinstance(id, str) and id else str(number),
        doc.text,
        entities if is_annotated else None,
    )


FORMAT = Format(
    _NAME,
    "spaCy's DocBin, for spacy train",
    (".spacy",),
    read,
    whole_writer(write_each),
    write_each=write_each,
    needs="spacy",
)
