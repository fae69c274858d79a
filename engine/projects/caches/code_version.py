"""Hash the code behind a cached result, so that a change of that code makes the result stale."""

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # the folder that holds `engine`
_Find = Callable[[str], Path | None]  # the file of a module
_Imported = Callable[[str], tuple[tuple[str, str], ...]]  # (module, name) by importing module
_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def sources_of(modules: Iterable[str], root: Path = ROOT) -> dict[str, bytes]:
    """Return the source of these modules and of all they import from their package, by dotted name.

    A name that a package's `__init__` takes from one of its modules leads to that module alone:
    what else the package offers does not matter. Any other name counts the `__init__` as a whole.
    """
    left = list(modules)
    find = cache(lambda name: _file(name, root))  # a package is asked for often
    for name in left:
        if find(name) is None:  # an outdated name would cover less, and nobody would see it
            raise ModuleNotFoundError(f"There is no module {name} in {root}.")
    tops = {name.split(".")[0] for name in left}
    sources: dict[str, bytes] = {}
    imported = cache(lambda name: _imported(name, find))
    while left:
        name = left.pop()
        path = find(name)
        if name in sources or path is None or name.split(".")[0] not in tops:
            continue
        sources[name] = path.read_bytes()
        left += (_defining(module, member, find, imported) for module, member in imported(name))
    return sources


def code_version(sources: Mapping[str, bytes], libraries: Sequence[str], *more: object) -> str:
    """Return a hash of the sources, of the versions of these libraries and of what else counts."""
    digest = hashlib.sha256(repr((*more, [version(name) for name in libraries])).encode())
    for name, source in sorted(sources.items()):
        digest.update(f"{name} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


def _file(name: str, root: Path) -> Path | None:
    path = root.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _defining(module: str, member: str, find: _Find, imported: _Imported) -> str:
    """Return the module that a name comes from; the name may be a module itself."""
    if not member:
        return module
    if find(f"{module}.{member}"):
        return f"{module}.{member}"
    path = find(module)
    if path and path.name == "__init__.py":
        for source, name in imported(module):
            if name == member:
                return _defining(source, name, find, imported)
    return module


def _imported(name: str, find: _Find) -> tuple[tuple[str, str], ...]:
    """Return (module, name) of all that a module imports; the name is "" for `import module`.

    Imports inside functions count, as the code may run them.
    """
    path = find(name)
    assert path is not None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _imports_in(path.read_bytes(), package)


@cache  # several caches depend on the same modules, and parsing them takes longest
def _imports_in(source: bytes, package: str) -> tuple[tuple[str, str], ...]:
    imports: list[tuple[str, str]] = []
    for node in _executed(ast.parse(source)):
        if isinstance(node, ast.Import):
            imports += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            imports += ((module, alias.name) for alias in node.names)
    return tuple(imports)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through all statements but those that only type checkers read."""
    yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) in _FOR_TYPES:
        children = node.orelse
    for child in children:
        if not isinstance(child, ast.expr):
            yield from _executed(child)
