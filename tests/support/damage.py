"""Damage a stored file in the ways that a reader has to notice."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

CUTS = (0, 0.1, 0.5, 0.9, 0.999)  # the share of a file that is left


def cut_short(path: Path, share: float) -> None:
    """Leave only the first share of the file."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def changed_bytes(path: Path) -> Iterator[int]:
    """Change every seventh byte, one at a time, and yield its place while it is changed."""
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        yield place


def swap_array(path: Path, name: str, value: npt.NDArray[np.generic]) -> None:
    """Replace one array of a .npz file, and keep the others."""
    with np.load(path) as stored:
        arrays = {key: stored[key] for key in stored.files}
    with open(path, "wb") as out:
        np.savez(out, **{**arrays, name: value})
