"""A file that is handed out a few bytes at a time, so that characters and lines come in pieces."""

import io
from dataclasses import dataclass
from typing import IO

from engine.files.sources import SourceFile
from engine.settings import LIMITS, Limits


@dataclass(frozen=True)
class Dribble:
    """A source of at most `most` bytes per read, which may claim to be larger than it is."""

    file: SourceFile
    most: int
    claimed: int | None = None
    limits: Limits = LIMITS

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def size(self) -> int:
        return self.file.size if self.claimed is None else self.claimed

    def open(self) -> IO[bytes]:
        return io.BufferedReader(_Raw(self.file.data, self.most), buffer_size=1)


class _Raw(io.RawIOBase):
    def __init__(self, data: bytes, most: int) -> None:
        self._stream, self._most = io.BytesIO(data), most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer) -> int:
        piece = self._stream.read(min(len(buffer), self._most))
        buffer[: len(piece)] = piece
        return len(piece)
