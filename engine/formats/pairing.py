"""Put each .txt file and the .ann file with its annotations in one group, as brat keeps them."""

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

from engine.files import Source
from engine.text import InputError

F = TypeVar("F", bound=Source)


def extension(file: Source) -> str:
    """Return how a file's name ends, in lower case, with the dot."""
    return Path(file.name).suffix.lower()


def stem(file: Source) -> str:
    """Return a file's name without its folders and its ending."""
    return Path(file.name).stem


def pair_files(files: Iterable[F], key: Callable[[F], Hashable] = stem) -> list[list[F]]:
    """Return the files in order: a .txt and the .ann with the same key together, others alone.

    Several .txt files may have one key if as many .ann files do; they are paired in order.
    """
    files = list(files)
    texts, annotations = (_by_key(files, kind, key) for kind in (".txt", ".ann"))
    for shared in annotations.keys() & texts.keys():
        if len(annotations[shared]) != len(texts[shared]):
            name = stem(texts[shared][0])
            raise InputError(
                f"{name}.ann could belong to any of {len(texts[shared])} files called {name}.txt. "
                "Zip each folder, or give every text its own name"
            )
    groups: list[list[F]] = []
    for file in files:
        if extension(file) == ".txt" and key(file) in annotations:
            groups.append([file, annotations[key(file)].pop(0)])
        elif not (extension(file) == ".ann" and key(file) in texts):
            groups.append([file])
    return groups


def _by_key(files: Iterable[F], kind: str, key: Callable[[F], Hashable]) -> dict[Hashable, list[F]]:
    by_key: dict[Hashable, list[F]] = {}
    for file in files:
        if extension(file) == kind:
            by_key.setdefault(key(file), []).append(file)
    return by_key
