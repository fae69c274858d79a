"""Read a corpus from files and write it back: one small module per format.

contract, drafts           what a format offers; documents before they are built
ids, tagging, json_spans, text_table   what several formats share
plain_text, benchmark, conll, tokens_csv, entities_csv, json_text, brat, pubtator,
doccano, label_studio, prodigy, spacy_jsonl   the formats that are text
docbin, parquet, packed    those that are not, and what they share
catalog, detection         every format by name; which one a file has
pairing, reading           .txt with .ann; files of any format into one corpus
streaming                  documents one after another, for a corpus of any size
alignment                  annotations of one file on the documents of another
writing                    a corpus into a file
"""

from engine.formats.alignment import Aligned, align, gold_of
from engine.formats.benchmark import Columns, read_columns
from engine.formats.catalog import FORMATS
from engine.formats.contract import (
    Format,
    Overview,
    Pairs,
    WriteOptions,
    WriteReport,
    missing_package,
)
from engine.formats.detection import column_names
from engine.formats.docbin import make_doc
from engine.formats.drafts import with_id
from engine.formats.ids import unique_ids
from engine.formats.label_studio import view_config
from engine.formats.packed import is_packed
from engine.formats.pairing import pair_files
from engine.formats.reading import join_corpora, read_corpus
from engine.formats.streaming import DocumentStream, open_stream
from engine.formats.tagging import written_token
from engine.formats.text_table import read_guarded_table, row_writer
from engine.formats.writing import writable_format, write_corpus, write_documents

__all__ = [
    "FORMATS",
    "Aligned",
    "Columns",
    "DocumentStream",
    "Format",
    "Overview",
    "Pairs",
    "WriteOptions",
    "WriteReport",
    "align",
    "column_names",
    "gold_of",
    "is_packed",
    "join_corpora",
    "make_doc",
    "missing_package",
    "open_stream",
    "pair_files",
    "read_columns",
    "read_corpus",
    "read_guarded_table",
    "row_writer",
    "unique_ids",
    "view_config",
    "with_id",
    "writable_format",
    "write_corpus",
    "write_documents",
    "written_token",
]
