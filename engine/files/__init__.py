"""Files on disk: decoding bytes, archives, CSV, JSON, and writing whole files or nothing."""

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
)
from engine.files.text_files import ANY_END, NEWLINE, Text, open_text, text_of
from engine.files.writing import write_error, written_whole

__all__ = [
    "ANY_END",
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
    "text_of",
    "unzip",
    "unzip_to",
    "write_error",
    "written_whole",
]
