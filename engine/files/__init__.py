"""Files on disk: from bytes to text, rows and records, and writing files whole or not at all.

sources       a file to read, in memory or on disk; refuses large and binary ones
archives      zip archives, checked before they are unpacked
decoding      bytes into text: finds the encoding, names what does not fit
text_files    the text of a file, by lines or at once
delimited     CSV and TSV into rows with line numbers
json_records  JSON and JSON lines into records with line numbers
writing       all of a new file, or the old one
"""

from engine.files.archives import packed_members, unzip, unzip_to
from engine.files.decoding import Decoded, decode
from engine.files.delimited import (
    Row,
    Table,
    TableReading,
    file_delimiter,
    find_column,
    find_delimiter,
    read_table,
)
from engine.files.json_records import Record, RecordReading, read_records
from engine.files.sources import (
    BLOCK,
    TEXT_EXTENSIONS,
    GivenFile,
    Source,
    SourceFile,
    is_zip,
    open_source,
    path_source,
    read_blocks,
    read_head,
    read_source,
    read_whole,
    refuse_large,
    refuse_lines,
    refuse_many,
)
from engine.files.text_files import ANY_END, NEWLINE, Text, open_text, text_of
from engine.files.writing import write_error, written_whole

__all__ = [
    "ANY_END",
    "BLOCK",
    "NEWLINE",
    "TEXT_EXTENSIONS",
    "Decoded",
    "GivenFile",
    "Record",
    "RecordReading",
    "Row",
    "Source",
    "SourceFile",
    "Table",
    "TableReading",
    "Text",
    "decode",
    "file_delimiter",
    "find_column",
    "find_delimiter",
    "is_zip",
    "open_source",
    "open_text",
    "packed_members",
    "path_source",
    "read_blocks",
    "read_head",
    "read_records",
    "read_source",
    "read_table",
    "read_whole",
    "refuse_large",
    "refuse_lines",
    "refuse_many",
    "text_of",
    "unzip",
    "unzip_to",
    "write_error",
    "written_whole",
]
