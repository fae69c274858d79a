"""Open files as sources of bytes, within the limits, and refuse binary ones."""

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from engine.settings import LIMITS, Limits
from engine.text import InputError

BLOCK = 1 << 20  # bytes read at a time
TEXT_EXTENSIONS = (
    ".txt .csv .tsv .jsonl .json .conll .bio .iob .iob2 .pubtator .ann .spacy .parquet .zip"
)

# First bytes of files that people rename to .txt or .csv, and the kind to name in the message.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF", "a PDF file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0", "an old Word or Excel file"),
    (b"PAR1\x15", "a Parquet file"),  # PAR1 alone is a gene
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\x7fELF", "a program"),
)
_SIGNATURE_BYTES = 32  # none is longer
_ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
# What zipfile raises for a damaged archive.
ZIP_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OSError,
    ValueError,
)  # fmt: skip
_OFFICE_MEMBERS = {"word/": "a Word file", "xl/": "an Excel file", "ppt/": "a PowerPoint file"}


# ---- sources --------------------------------------------------------------------------------


class Source(Protocol):
    """A file whose bytes can be read as often as needed."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def limits(self) -> Limits: ...

    def open(self) -> IO[bytes]: ...


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file from disk or an upload: a name and its bytes."""

    name: str
    data: bytes
    limits: Limits = field(default=LIMITS, compare=False, repr=False)

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def extension(self) -> str:
        return Path(self.name).suffix.lower()

    @property
    def size(self) -> int:
        return len(self.data)

    def open(self) -> IO[bytes]:
        return io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class PathSource:
    """A file that stays on disk; it may be larger than what may be held in memory."""

    path: Path
    name: str
    size: int
    limits: Limits = LIMITS

    def open(self) -> IO[bytes]:
        """Return the opened file, or say why it cannot be read."""
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise _unreadable(self.path, error) from error


GivenFile = SourceFile | PathSource  # what a person hands over


def read_source(path: str | Path, limits: Limits = LIMITS) -> SourceFile:
    """Return the file at `path` with its bytes, or say why it cannot be read."""
    path = Path(path)
    try:
        _refuse_folder(path)
        refuse_large(path.name, path.stat().st_size, limits)
        return SourceFile(path.name, path.read_bytes(), limits)
    except OSError as error:
        raise _unreadable(path, error) from error


def path_source(path: str | Path, limits: Limits = LIMITS, name: str = "") -> PathSource:
    """Return the file at `path` without reading it, or say why it cannot be read.

    Its size is checked only when all of it has to be held in memory. `name` is shown instead of the
    file's own name.
    """
    path = Path(path)
    try:
        _refuse_folder(path)
        source = PathSource(path, name or path.name, path.stat().st_size, limits)
        source.open().close()
        return source
    except OSError as error:
        raise _unreadable(path, error) from error


def open_source(path: str | Path, limits: Limits = LIMITS) -> GivenFile:
    """Return the file at `path`, left on disk if it can be read more than once."""
    # A pipe can be read only once, so its bytes are kept.
    return path_source(path, limits) if Path(path).is_file() else read_source(path, limits)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the files in it, or zip them")


def _unreadable(path: Path | str, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read: {error.strerror or error}")


def refuse_large(name: str, size: int, limits: Limits = LIMITS) -> None:
    """Raise InputError if a file is over the limit on one file."""
    if size > limits.file_mb * 1_000_000:
        raise InputError(
            f"{name} is {size / 1e6:,.0f} MB; the limit is {limits.file_mb:,} MB per file. "
            "Split it into smaller files",
            "no_limits",
        )


def refuse_many(name: str, what: str, count: int, limits: Limits) -> None:
    """Raise InputError if there are more `what` (tokens, documents, …) than the limit of this name.

    Call it while counting: nothing is spent on what lies beyond the limit.
    """
    most: int = getattr(limits, what)
    if count > most:
        raise InputError(
            f"{name} holds more than {most:,} {what}. Split it into smaller files", "no_limits"
        )


def refuse_lines(file: Source, what: str = "lines") -> None:
    """Raise InputError if a file has more lines than the limit; `what` is on each line."""
    newlines = returns = 0
    for block in read_blocks(file):
        newlines += block.count(b"\n")
        returns += block.count(b"\r")
        refuse_many(file.name, what, max(newlines, returns), file.limits)


def read_whole(source: Source) -> SourceFile:
    """Return a file with its bytes, unless it is too large to be held in memory."""
    if isinstance(source, SourceFile):
        return source
    refuse_large(source.name, source.size, source.limits)
    return SourceFile(source.name, b"".join(read_blocks(source)), source.limits)


def read_head(source: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file."""
    with source.open() as stream:
        return stream.read(size)


def read_blocks(source: Source, size: int = BLOCK) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks, so that a large file is never held in memory."""
    with source.open() as stream:
        try:
            while block := stream.read(size):
                yield block
        except OSError as error:
            raise _unreadable(source.name, error) from error


# ---- files that are not text ----------------------------------------------------------------


def refuse_binary(file: Source) -> None:
    """Raise InputError if the bytes are a known binary format under a text name."""
    with file.open() as stream:
        head = stream.read(_SIGNATURE_BYTES)
        for signature, kind in _SIGNATURES:
            if head.startswith(signature):
                raise InputError(_wrong_type(file.name, kind))
        if head.startswith(_ZIP_SIGNATURES):
            raise InputError(_wrong_type(file.name, _zip_kind(stream)))


def is_zip(file: Source) -> bool:
    """Return whether `file` is a zip archive to open (an Office file is not)."""
    with file.open() as stream:
        return stream.read(4).startswith(_ZIP_SIGNATURES) and _zip_kind(stream) == "a zip archive"


def _wrong_type(name: str, kind: str) -> str:
    return (
        f"{name} is {kind}. Save its content as .txt or .csv and try again. "
        f"Supported: {TEXT_EXTENSIONS}"
    )


def _zip_kind(stream: IO[bytes]) -> str:
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()[:200]
    except ZIP_DAMAGE:
        return "a zip archive"
    for prefix, kind in _OFFICE_MEMBERS.items():
        if any(name.startswith(prefix) for name in names):
            return kind
    if "mimetype" in names and "content.xml" in names:
        return "an OpenDocument file"
    return "a zip archive"
