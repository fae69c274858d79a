"""Read files into a corpus and write a corpus to files; one small module per format.

To add a format: a module with `read`, `write` and `FORMAT`, a line in `catalog`, a round-trip test.
"""

from engine.formats.catalog import FORMATS
from engine.formats.contract import Format, WriteOptions, WriteReport
from engine.formats.detection import column_names, detect_format
from engine.formats.reading import read_corpus
from engine.formats.writing import write_corpus

__all__ = [
    "FORMATS",
    "Format",
    "WriteOptions",
    "WriteReport",
    "column_names",
    "detect_format",
    "read_corpus",
    "write_corpus",
]
