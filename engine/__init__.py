"""Glossa's engine: a dictionary and raw text become a named-entity tagger.

documents = read_corpus([read_source("notes.txt")]).documents    # files -> documents
dictionaries = read_dictionaries([read_source("Disease.txt")])   # files -> phrases by type
labels = label(documents, dictionaries, "balanced")              # -> distant labels
measure_coverage(labels)                                                 # how far they reach
conflicts(labels, sentences)                                     # where two types meet
evaluate_documents(documents, gold, entities)                    # where gold exists
draw_sample(kept_matches(labels, sentences))                     # where it does not
write_corpus(Corpus(documents, entities), "entities.csv")        # -> any format
"""

from engine.alignment import align, gold_of
from engine.audit import audit_dictionaries
from engine.candidates import missing_candidates
from engine.changes import Changes, change_examples, label_changes
from engine.checking import (
    Judgement,
    checked_precision,
    draw_sample,
    judgements_from_gold,
    kept_matches,
    noisy_phrases,
    wilson_interval,
)
from engine.coverage import (
    coverage_along,
    coverage_by_dictionary,
    coverage_by_type,
    measure_coverage,
    phrase_usage,
)
from engine.decisions import Review, judgements
from engine.dictionary import Dictionary, Phrase, first_share
from engine.dictionary_editing import mute, relabel, unmute
from engine.dictionary_files import read_dictionaries, read_dictionary
from engine.dictionary_versions import DictionaryVersion
from engine.distant import DistantLabels, conflicts, dictionary_entities, label
from engine.files import SourceFile, read_source
from engine.formats import (
    FORMATS,
    WriteOptions,
    column_names,
    detect_format,
    read_corpus,
    write_corpus,
)
from engine.metrics import Evaluation, Scores, evaluate, evaluate_documents
from engine.project import Project
from engine.project_files import StoredFile
from engine.settings import LIMITS, MATCH_PRESETS, MatchOptions, ReadOptions
from engine.text import Corpus, Document, Entity, InputError, Sentence, Span
from engine.text_figures import (
    TextFigures,
    document_lengths,
    document_table,
    measure_text,
    sentence_lengths,
)
from engine.tokenization import make_document, make_tokenized_document
from engine.workspace import (
    ProjectSummary,
    create_project,
    data_folder,
    delete_project,
    duplicate_project,
    import_project_zip,
    list_projects,
    open_project,
    reset_sample,
    sample_project,
    write_project_zip,
)

__all__ = [
    "FORMATS",
    "LIMITS",
    "MATCH_PRESETS",
    "Changes",
    "Corpus",
    "Dictionary",
    "DictionaryVersion",
    "DistantLabels",
    "Document",
    "Entity",
    "Evaluation",
    "InputError",
    "Judgement",
    "MatchOptions",
    "Phrase",
    "Project",
    "ProjectSummary",
    "ReadOptions",
    "Review",
    "Scores",
    "Sentence",
    "SourceFile",
    "Span",
    "StoredFile",
    "TextFigures",
    "WriteOptions",
    "align",
    "audit_dictionaries",
    "change_examples",
    "checked_precision",
    "column_names",
    "conflicts",
    "coverage_along",
    "coverage_by_dictionary",
    "coverage_by_type",
    "create_project",
    "data_folder",
    "delete_project",
    "detect_format",
    "dictionary_entities",
    "document_lengths",
    "document_table",
    "draw_sample",
    "duplicate_project",
    "evaluate",
    "evaluate_documents",
    "first_share",
    "gold_of",
    "import_project_zip",
    "judgements",
    "judgements_from_gold",
    "kept_matches",
    "label",
    "label_changes",
    "list_projects",
    "make_document",
    "make_tokenized_document",
    "measure_coverage",
    "measure_text",
    "missing_candidates",
    "mute",
    "noisy_phrases",
    "open_project",
    "phrase_usage",
    "read_corpus",
    "read_dictionaries",
    "read_dictionary",
    "read_source",
    "relabel",
    "reset_sample",
    "sample_project",
    "sentence_lengths",
    "unmute",
    "wilson_interval",
    "write_corpus",
    "write_project_zip",
]
