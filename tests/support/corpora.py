"""Corpora with awkward text, made by hypothesis for the round-trip tests of every format."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from engine.text.model import Corpus, Document, Entity, Span
from engine.text.tokenization import make_document, make_tokenized_document

IDS = ("d1", "12", "note 7", "ünï-😀", 'say "x"', "a,b;c")
PLAIN_TYPES = ("Disease", "Chemical", "LOC")
ODD_TYPES = ("Cell line", "Größe", "A-B", 'a"b<&', "疾病", "B/C")
WORDS = (
    "fever", "IL-2", "5.5", "U.S.", "na\u00efve", "cafe\u0301", "\U0001d49c", "😀", "👩\u200d👧",
    "שלום", "مرض", "\u202eabc", "zero\u200bwidth", "soft\u00adhyphen", "東京", "<script>", "&amp;",
    '"quoted"', "it's", "=1+1", "C:\\new", "a|b", "#", "-DOCSTART-", "O", "B-LOC", "{x}", "ß",
)  # fmt: skip
GAPS = (" ", " ", " ", ". ", "  ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u2028", "\u3000", "")
METHODS = ("gold", "dictionary", "conf_mpu")
# Not NUL, which no text file may hold, and no halves of surrogate pairs, which UTF-8 cannot.
ANY_CHARACTER = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@st.composite
def corpora(
    draw: DrawFn, pretokenized: bool = False, plain_types: bool = True, aligned: bool = True
) -> Corpus:
    """One to three annotated documents, each with at least one token.

    Entities follow tokens and do not overlap; with `aligned=False` they lie anywhere.
    """
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True))
    make = tokenized_documents if pretokenized else raw_documents
    documents = tuple(draw(make(id)) for id in ids)
    types = PLAIN_TYPES if plain_types else PLAIN_TYPES + ODD_TYPES
    method = draw(st.sampled_from(METHODS))
    place = aligned_offsets if aligned else any_offsets
    return Corpus(
        documents,
        {
            document.id: tuple(draw(entity(*at, types, method)) for at in draw(place(document)))
            for document in documents
        },
    )


def raw_documents(id: str) -> SearchStrategy[Document]:
    word = st.sampled_from(WORDS) | st.text(ANY_CHARACTER, min_size=1, max_size=5)
    piece = st.tuples(word, st.sampled_from(GAPS)).map("".join)
    # A byte order mark at the very beginning belongs to a file, never to its text.
    texts = st.lists(piece, min_size=1, max_size=12).map(lambda p: "".join(p).lstrip("\ufeff"))
    return texts.map(lambda text: make_document(id, text)).filter(lambda d: bool(d.sentences))


def tokenized_documents(id: str) -> SearchStrategy[Document]:
    any_token = st.text(ANY_CHARACTER, min_size=1, max_size=5).filter(
        lambda token: not any(c.isspace() for c in token) and not token.startswith("\ufeff")
    )
    sentence = st.lists(st.sampled_from(WORDS) | any_token, min_size=1, max_size=8)
    sentences = st.lists(sentence, min_size=1, max_size=3)
    return sentences.map(lambda token_lists: make_tokenized_document(id, token_lists))


@st.composite
def entity(draw: DrawFn, start: int, end: int, types: tuple[str, ...], method: str) -> Entity:
    score = draw(st.integers(0, 10_000)) / 10_000 if method == "conf_mpu" else None
    return Entity(start, end, draw(st.sampled_from(types)), score=score, method=method)


@st.composite
def aligned_offsets(draw: DrawFn, document: Document) -> list[tuple[int, int]]:
    """Offsets of stretches of tokens, in order; neighbours may touch."""
    offsets = []
    for sentence in document.sentences:
        token = draw(st.integers(0, 3))
        while token < len(sentence.tokens) and draw(st.booleans()):
            end = min(token + draw(st.integers(1, 3)), len(sentence.tokens))
            offsets.append(sentence.offsets(Span(token, end, "any")))
            token = end + draw(st.integers(0, 2))
    return offsets


@st.composite
def any_offsets(draw: DrawFn, document: Document) -> list[tuple[int, int]]:
    """Offsets of stretches of characters, in order; they may overlap, nest or hold only space."""
    length = len(document.text)
    starts = draw(st.lists(st.integers(0, length - 1), max_size=4))
    return sorted({(start, draw(st.integers(start + 1, length))) for start in starts})
