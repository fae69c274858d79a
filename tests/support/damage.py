"""Ways in which a stored file comes to harm, for tests of what is read back."""

from collections.abc import Iterator
from pathlib import Path

CUTS = (0, 0.1, 0.5, 0.9, 0.999)  # shares of a file that are left of it


def cut_short(path: Path, share: float) -> None:
    """Leave only the first share of the file."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def changed_bytes(path: Path) -> Iterator[int]:
    """Change one byte of the file after the other, all else as it was; yield its place."""
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        yield place
