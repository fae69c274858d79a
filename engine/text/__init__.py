"""Documents, sentences, tokens and the spans that mark them; raw text is split here.

model         documents, sentences, spans, entities, corpora, and InputError
tokenization  raw text into sentences and tokens, with offsets
language      which language a text is in, and its stop words
messages      messages of one line, whatever they quote
figures       counts of documents, sentences and tokens, for tables and charts
"""

from engine.text.figures import (
    TextFigures,
    document_lengths,
    document_table,
    measure_text,
    sentence_lengths,
)
from engine.text.language import (
    current_language,
    detect_language,
    in_language,
    stop_words,
    use_language,
)
from engine.text.messages import LONGEST_MESSAGE, one_line
from engine.text.model import (
    Corpus,
    Document,
    EntitiesByDocument,
    Entity,
    FileReport,
    Fitted,
    InputError,
    Layout,
    Sentence,
    Span,
    classes_from_spans,
    entities_from_spans,
    fit_notes,
    spans_from_classes,
    spans_from_entities,
    spans_from_tags,
    tags_from_spans,
)
from engine.text.tokenization import (
    make_document,
    make_tokenized_document,
    split_sentences,
    tokenize,
    words,
    words_of_all,
)

__all__ = [
    "LONGEST_MESSAGE",
    "Corpus",
    "Document",
    "EntitiesByDocument",
    "Entity",
    "FileReport",
    "Fitted",
    "InputError",
    "Layout",
    "Sentence",
    "Span",
    "TextFigures",
    "classes_from_spans",
    "current_language",
    "detect_language",
    "document_lengths",
    "document_table",
    "entities_from_spans",
    "fit_notes",
    "in_language",
    "make_document",
    "make_tokenized_document",
    "measure_text",
    "one_line",
    "sentence_lengths",
    "spans_from_classes",
    "spans_from_entities",
    "spans_from_tags",
    "split_sentences",
    "stop_words",
    "tags_from_spans",
    "tokenize",
    "use_language",
    "words",
    "words_of_all",
]
