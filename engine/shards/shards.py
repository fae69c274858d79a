"""Find the shards of a corpus, and name the files that their results go to."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from engine.files import TEXT_EXTENSIONS
from engine.formats import WriteOptions, writable_format
from engine.settings import LIMITS, Limits, ReadOptions
from engine.shards.stores import Store, StoredFile, open_store
from engine.text import InputError

PARQUET = "parquet"
OWN_FOLDER = "_glossa"  # inside the folder of results: the job, and a record per shard
_EXTENSIONS = frozenset(TEXT_EXTENSIONS.split()) - {".ann"} | {f".{PARQUET}"}
_HIDDEN = (".", "_")


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a corpus, and the name of its result."""

    store: Store
    name: str
    size: int
    version: str
    output: str

    @property
    def path(self) -> str:
        return self.store.path_of(self.name)


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """How shards are read, and where and how their results are written."""

    out: str  # a folder or a URL
    format: str = "jsonl"
    read: ReadOptions = field(default_factory=ReadOptions)
    limits: Limits = LIMITS
    write: WriteOptions = field(default_factory=WriteOptions)

    @property
    def store(self) -> Store:
        return open_store(self.out)

    @property
    def extension(self) -> str:
        """The ending of the results' names."""
        if self.format == PARQUET:
            return f".{PARQUET}"
        return writable_format("", self.format).extensions[0]


def is_sharded(texts: Sequence[str]) -> bool:
    """Return whether one of these texts is a folder or a URL, and not a file."""
    return any("://" in text or os.path.isdir(text) for text in texts)


def find_shards(texts: Sequence[str], options: ShardOptions) -> list[Shard]:
    """Return the shards in these folders, URLs and files, by name.

    Names that begin with "." or "_" are no shards, nor are files with other endings.
    """
    listed = [pair for text in texts for pair in _listed(text)]
    extension = options.extension
    shards = [
        Shard(store, file.name, file.size, file.version, _output(file.name, extension))
        for store, file in listed
        if _is_shard(file.name)
    ]
    if not shards:
        endings = " ".join(sorted(_EXTENSIONS))
        raise InputError(f"{', '.join(texts)} holds no shards: files ending in {endings}")
    _refuse_same(shards)
    return sorted(shards, key=lambda shard: shard.output)


def foreign_files(options: ShardOptions, shards: Iterable[Shard]) -> list[str]:
    """Return files in the folder of results that this job does not write."""
    own = {shard.output for shard in shards}
    names = (file.name for file in options.store.files())
    return [name for name in names if _is_shown(name) and name not in own]


def _listed(text: str) -> list[tuple[Store, StoredFile]]:
    store = open_store(text)
    if store.is_local and os.path.isfile(store.root):
        folder, name = os.path.split(store.root)
        status = os.stat(store.root)
        return [(Store(folder), StoredFile(name, status.st_size, str(status.st_mtime_ns)))]
    if store.is_local and not os.path.isdir(store.root):
        raise InputError(f"{text} cannot be read: No such file or folder")
    files = store.files()
    if not files and "://" in text and _has_ending(text):  # the URL of one file
        folder, _, name = store.root.rpartition("/")
        files = [file for file in Store(folder).files() if file.name == name]
        store = Store(folder)
    return [(store, file) for file in files]


def _is_shard(name: str) -> bool:
    return _is_shown(name) and _has_ending(name)


def _has_ending(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _EXTENSIONS


def _is_shown(name: str) -> bool:
    """Return whether no part of the name is hidden.

    >>> [_is_shown(name) for name in ("a/b.txt", "_glossa/job.json", "a/.b.txt")]
    [True, False, False]
    """
    return not any(part.startswith(_HIDDEN) for part in PurePosixPath(name).parts)


def _output(name: str, extension: str) -> str:
    return str(PurePosixPath(name).with_suffix(extension))


def _refuse_same(shards: Sequence[Shard]) -> None:
    first: dict[str, Shard] = {}
    for shard in shards:
        other = first.setdefault(shard.output, shard)
        if other is not shard:
            raise InputError(
                f"{other.path} and {shard.path} would both be written to {shard.output}. "
                "Rename one of them"
            )
