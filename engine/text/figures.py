"""Count documents, sentences and tokens of a corpus, for the tables and charts about its text."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.text.model import Corpus

_SHOWN_CHARACTERS = 120  # of a document's beginning
_MOST_BINS = 30


@dataclass(frozen=True, slots=True)
class TextFigures:
    """How much text there is."""

    documents: int
    sentences: int
    tokens: int
    unique_tokens: int  # different tokens; case counts
    longest_sentence: int  # tokens


def measure_text(corpus: Corpus) -> TextFigures:
    """Return how much text the corpus holds."""
    lengths = [len(sentence) for sentence in corpus.sentences]
    unique: set[str] = set()
    for document in corpus.documents:
        unique.update(document.tokens)
    return TextFigures(
        len(corpus.documents), len(lengths), sum(lengths), len(unique), max(lengths, default=0)
    )


def document_table(corpus: Corpus, most: int | None = None) -> pd.DataFrame:
    """Return one row per document: document, sentences, tokens, longest, text.

    `longest` is the longest sentence, in tokens. `text` is the beginning of the document, on one
    line. With `most`, only the first documents are listed.
    """
    rows = []
    for document in corpus.documents[:most]:
        lengths = [len(sentence) for sentence in document.sentences]
        # Twice as much as is shown: white space may shrink it.
        beginning = " ".join(document.text[: 2 * _SHOWN_CHARACTERS].split())
        text = beginning[:_SHOWN_CHARACTERS]
        is_cut = len(beginning) > len(text) or len(document.text) > 2 * _SHOWN_CHARACTERS
        rows.append(
            (
                document.id,
                len(lengths),
                sum(lengths),
                max(lengths, default=0),
                f"{text} …" if is_cut else text,
            )
        )
    columns = ["document", "sentences", "tokens", "longest", "text"]
    return pd.DataFrame(rows, columns=columns)


def sentence_lengths(corpus: Corpus) -> pd.DataFrame:
    """Return a histogram of tokens per sentence: first, last (both included), count."""
    return histogram([len(sentence) for sentence in corpus.sentences])


def document_lengths(corpus: Corpus) -> pd.DataFrame:
    """Return a histogram of tokens per document: first, last (both included), count."""
    return histogram([document.token_count for document in corpus.documents])


def histogram(values: list[int], bins: int = _MOST_BINS) -> pd.DataFrame:
    """Return how many values fall in each of at most `bins` equal ranges of whole numbers.

    The last range holds the 99th percentile and everything above it, so that one book among
    abstracts does not push everything else into the first bar.

    >>> histogram([1, 2, 2, 9], bins=3)
       first  last  count
    0      1     3      3
    1      4     6      0
    2      7     9      1
    """
    columns = ["first", "last", "count"]
    if not values:
        return pd.DataFrame(columns=columns)
    data = np.array(values)
    low, high = int(data.min()), int(np.percentile(data, 99, method="higher"))
    width = max(1, -(-(high - low + 1) // bins))
    count = (high - low) // width + 1
    places = np.minimum((data - low) // width, count - 1)
    first = low + width * np.arange(count)
    last = first + width - 1
    last[-1] = max(int(last[-1]), int(data.max()))
    table = pd.DataFrame({"first": first, "last": last})
    table["count"] = np.bincount(places, minlength=count)
    return table[columns]
