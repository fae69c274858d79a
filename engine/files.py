"""Files become text or one clear message; results reach the disk whole or not at all."""

import errno
import io
import lzma
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from engine.encoding import (
    AROUND,
    HEAD_BYTES,
    empty_file,
    encoding_by_head,
    holds_nul,
    of_no_encoding,
    read_as_windows_1252,
    wrong_encoding,
)
from engine.settings import LIMITS, Limits
from engine.text import InputError

TEXT_EXTENSIONS = ".txt .csv .tsv .jsonl .json .conll .bio .iob .iob2 .pubtator .ann .zip"

# First bytes of files that people rename to .txt or .csv, and what to tell them.
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
# What zipfile raises over bytes that are not as they should be.
ZIP_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OSError,
    ValueError,
)  # fmt: skip
_OFFICE_MEMBERS = {"word/": "a Word file", "xl/": "an Excel file", "ppt/": "a PowerPoint file"}


class Source(Protocol):
    """Where the bytes of a file are, to be read as often as needed."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    def open(self) -> IO[bytes]: ...


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file from disk or an upload: a name and its bytes."""

    name: str
    data: bytes

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
class Decoded:
    """A file's text, the encoding it was read with, and what the person should know about it."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def read_source(path: str | Path, limits: Limits = LIMITS) -> SourceFile:
    """Return the file at `path`, or say why it cannot be read."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the files in it, or zip them")
        refuse_large(path.name, path.stat().st_size, limits)
        return SourceFile(path.name, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def refuse_large(name: str, size: int, limits: Limits = LIMITS) -> None:
    """Raise InputError when a file that would have to be held in memory is over the limit."""
    if size > limits.file_mb * 1_000_000:
        raise InputError(
            f"{name} is {size / 1e6:,.0f} MB; the limit is {limits.file_mb} MB a file. "
            "Split it into smaller files"
        )


def decode(file: SourceFile, encoding: str | None = None) -> Decoded:
    """Return the text of `file`, line endings kept.

    In order: the encoding asked for, a byte order mark, UTF-8, UTF-16 by its NUL bytes,
    Windows-1252. A file that is none of these is refused.
    """
    if not file.data.strip():
        raise empty_file(file.name, file.size)
    refuse_binary(file)
    decoded = _decode(file, encoding)
    if not decoded.text.removeprefix("\ufeff"):
        raise empty_file(file.name, file.size)
    position = decoded.text.find("\0")
    if position >= 0:
        raise holds_nul(file.name, decoded.text.count("\n", 0, position) + 1, position)
    return decoded


def _decode(file: SourceFile, encoding: str | None) -> Decoded:
    if encoding:
        return Decoded(_decode_as(file, encoding), encoding)
    name, notes = encoding_by_head(file.data[:HEAD_BYTES], file.size)
    if name != "utf-8":
        return Decoded(_decode_as(file, name), name, notes)
    try:
        return Decoded(file.data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return _decode_windows_1252(file, error.start)


def refuse_binary(file: Source) -> None:
    """Raise InputError when the bytes are a known binary format under a text name."""
    with file.open() as stream:
        head = stream.read(_SIGNATURE_BYTES)
        for signature, kind in _SIGNATURES:
            if head.startswith(signature):
                raise InputError(_wrong_type(file.name, kind))
        if head.startswith(_ZIP_SIGNATURES):
            raise InputError(_wrong_type(file.name, _zip_kind(stream)))


def is_zip(file: Source) -> bool:
    """Return whether `file` is an archive to be opened (an Office file is not)."""
    with file.open() as stream:
        return stream.read(4).startswith(_ZIP_SIGNATURES) and _zip_kind(stream) == "a zip archive"


@contextmanager
def written_whole(path: str | Path, *, is_synced: bool = True) -> Iterator[IO[bytes]]:
    """Open `path` for writing such that it holds all of the new content, or what it held before.

    The bytes go to a temporary file beside it that is renamed at the end. A device or a pipe
    (/dev/stdout) is written as it is, and what a link points to is replaced, not the link.
    Unless `is_synced`, a power failure may still lose the file: for what can be made again, and
    for many files that the caller brings to the disk together.
    """
    path = Path(path)
    if _is_device(path):
        with _opened(path) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed and renamed below
            dir=target.parent, prefix=f".{target.name[:60]}.", suffix=".part", delete=False
        )
    except OSError as error:
        raise write_error(path, error) from error
    try:
        yield handle
        handle.flush()
        if is_synced:
            os.fsync(handle.fileno())
        handle.close()
        os.chmod(handle.name, _mode_for(target))
        os.replace(handle.name, target)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        # Closing flushes again, which fails again on a full disk; the message is out already.
        with suppress(OSError):
            handle.close()
        Path(handle.name).unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    # os.path, unlike Path, takes what may not be looked at for absent; opening it says why.
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open(path, "wb") as out:
            yield out
    except OSError as error:
        raise write_error(path, error) from error


def _mode_for(path: Path) -> int:
    """Temporary files are private; the result is as open as the old one, or as any new file."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def write_error(path: Path, error: OSError) -> InputError:
    """Return what to tell the person when `path` cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            f"no room left on the disk for {path}; nothing was written. "
            "Free some space or choose another folder"
        )
    return InputError(f"{path} cannot be written: {error.strerror or error}. Nothing was written")


def _decode_as(file: SourceFile, encoding: str) -> str:
    try:
        return file.data.decode(encoding)
    except UnicodeDecodeError as error:
        # The codec that takes a mark off counts without it.
        position = error.start + len(file.data) - len(error.object)
        raise wrong_encoding(file.name, encoding, file.data[position], position) from None
    # No codec, one that is not for text, or (ValueError) not even a name.
    except (LookupError, ValueError):
        raise InputError(
            f'"{encoding}" is not an encoding; try utf-8, utf-16, windows-1252 or shift_jis',
            fix="encoding",
        ) from None


def _decode_windows_1252(file: SourceFile, position: int) -> Decoded:
    byte = file.data[position]
    try:
        text = file.data.decode("windows-1252")
    except UnicodeDecodeError:
        raise of_no_encoding(file.name, byte, position) from None
    around = text[max(0, position - AROUND) : position + AROUND]
    return Decoded(text, "windows-1252", (read_as_windows_1252(byte, position, around),))


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
