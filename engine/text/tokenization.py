"""Split raw text into sentences and tokens, with offsets into the text as uploaded."""

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import regex
import sentencex

from engine.settings import LIMITS
from engine.system import advance
from engine.text.language import current_language
from engine.text.model import Document, Layout

# Scripts without spaces: each character is a token, so that phrases match anywhere in a run.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}"
# A run of letters, combining marks, digits and invisible joiners, or any one other character:
# "Selegiline-induced" is three tokens, as in the benchmark. White space is what str.split() treats
# as such, with the four separators of ASCII.
_TOKEN = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}--[{_UNSPACED}]]+|[^\s\x1c-\x1f]",
    regex.V1,
)
# The same for several texts at once, with a line feed between them.
_TOKEN_OR_END = regex.compile(rf"{_TOKEN.pattern}|\n", regex.V1)
# The same where all is ASCII: Python's own module takes half the time.
_ASCII_TOKEN_OR_END = re.compile(r"[0-9A-Za-z]+|\S|\n")
# The splitter fails at multi-byte spaces and control characters next to a full stop, so it gets a
# copy of the same length with plain spaces instead.
_UNSAFE_FOR_SPLITTER = regex.compile(r"[^\S\n\r ]|(?![\n\r])\p{C}")
# The splitter takes quadratic time where quotes or non-Latin scripts are frequent, so it gets this
# many characters at a time.
_WINDOW = 5_000
_SHORT = 200  # characters
_BLANK_LINE = regex.compile(r"\r?\n[^\S\n]*\r?\n|\r[^\S\n\r]*\r")


def tokenize(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the tokens of `text` and where each begins.

    >>> tokenize("Selegiline-induced rash")
    (('Selegiline', '-', 'induced', 'rash'), (0, 10, 11, 19))
    """
    matches = list(_TOKEN.finditer(text))
    # Interning keeps one copy of each distinct token, however large the corpus.
    tokens = tuple(sys.intern(match.group()) for match in matches)
    return tokens, tuple(match.start() for match in matches)


def words(text: str) -> list[str]:
    """Return only the tokens of `text`, in a third less time than `tokenize`."""
    tokens: list[str] = _TOKEN.findall(text)
    return tokens


def words_of_all(texts: Iterable[str]) -> list[str]:
    """Return the tokens of all texts, with a line feed after each text; faster than `words`.

    >>> words_of_all(["beta-blocker", "rash"])
    ['beta', '-', 'blocker', '\\n', 'rash', '\\n']
    """
    joined = "".join([text.replace("\n", " ") + "\n" for text in texts])
    pattern = _ASCII_TOKEN_OR_END if joined.isascii() else _TOKEN_OR_END
    tokens: list[str] = pattern.findall(joined)
    return tokens


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence, without the white space around it.

    >>> split_sentences("Dr. Roy gave 5 mg i.v. daily. It helped.\\n\\nNext")
    [(0, 29), (30, 40), (42, 46)]
    """
    return list(_sentences(text))


def make_document(id: str, text: str) -> Document:
    """Return `text` as a document, split into sentences and tokens."""
    most = LIMITS.sentence_tokens
    tokens, sentences = array("i"), array("i", (0,))
    cut = count = 0
    for start, end in _sentences(text):
        advance(end - start)
        for match in _TOKEN.finditer(text, start, end):
            tokens.extend(match.span())
        before, count = count, len(tokens) // 2
        if count - before > most:
            cut += 1
            sentences.extend(range(before + most, count, most))
        if count > before:
            sentences.append(count)
    return Document(id, text, Layout(tokens, sentences), cut_sentences=cut)


def make_tokenized_document(id: str, token_lists: Iterable[Sequence[str]]) -> Document:
    """Return a document from given tokens: spaces between them, one line per sentence."""
    lines: list[str] = []
    tokens, sentences = array("i"), array("i", (0,))
    start = 0
    for given in token_lists:
        if not given:
            continue
        lines.append(" ".join(given))
        for token in given:
            tokens.extend((start, start + len(token)))
            start += len(token) + 1
        sentences.append(len(tokens) // 2)
    return Document(id, "\n".join(lines), Layout(tokens, sentences), tokens_given=True)


def _sentences(text: str) -> Iterable[tuple[int, int]]:
    # Nothing ends a sentence here: a short cut for files with a word or a name per line.
    if len(text) < _SHORT and text.isascii() and text.replace(" ", "").isalnum():
        return ((len(text) - len(text.lstrip()), len(text.rstrip())),)
    return _split(text)


def _split(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _paragraphs(text):
        view = _UNSAFE_FOR_SPLITTER.sub(" ", text[start:end])
        for first, last in pairwise(_boundaries(view)):
            piece = text[start + first : start + last]
            left = len(piece) - len(piece.lstrip())
            right = len(piece.rstrip())
            if left < right:
                yield start + first + left, start + first + right


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of paragraphs: a blank line ends a sentence, whatever the splitter does."""
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        yield start, blank.start()
        start = blank.end()
    yield start, len(text)


def _boundaries(view: str) -> Iterator[int]:
    """Yield the boundaries between the sentences of a paragraph, and its two ends."""
    yield 0
    start = 0
    while start + _WINDOW < len(view):
        ends = _sentence_ends(view[start : start + _WINDOW])
        # The last sentence may continue in the next window, so that window begins with it. A
        # sentence as long as the window certainly continues.
        yield from (start + end for end in ends[:-1])
        start += ends[-2] if len(ends) > 1 else _WINDOW
    yield from (start + end for end in _sentence_ends(view[start:]))


def _sentence_ends(view: str) -> list[int]:
    advance(len(view))
    code = current_language()
    return [piece["end_index"] for piece in sentencex.get_sentence_boundaries(code, view)]
