"""Code becomes a hash, so that what other code has made is not taken for one's own."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

ENGINE = Path(__file__).resolve().parent
_IMPORTED = re.compile(rb"^(?:from|import) engine\.(\w+)", re.MULTILINE)


def sources_of(paths: Iterable[Path]) -> dict[str, bytes]:
    """Return these modules, and all modules of the engine that they import, by file name."""
    sources: dict[str, bytes] = {}
    left = list(paths)
    while left:
        path = left.pop()
        sources[path.name] = path.read_bytes()
        imported = {f"{name.decode()}.py" for name in _IMPORTED.findall(sources[path.name])}
        left += [ENGINE / name for name in imported - sources.keys() if (ENGINE / name).is_file()]
    return sources


def code_version(sources: Mapping[str, bytes], libraries: Sequence[str], *more: object) -> str:
    """Return a hash of the sources, of the versions of these packages and of what else counts."""
    digest = hashlib.sha256(repr((*more, [version(name) for name in libraries])).encode())
    for _, source in sorted(sources.items()):
        digest.update(source)
    return digest.hexdigest()[:16]
