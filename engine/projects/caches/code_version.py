"""Hash the code behind a cached result, so that a change of that code makes the result stale."""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # the folder that holds `engine`
_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def sources_of(modules: Iterable[str], root: Path = ROOT) -> dict[str, bytes]:
    """Return the source of these modules and of all they import from their package, by dotted name.

    Python runs the `__init__` of every package on the way to a module, so it counts as well. The
    top one counts only when it is imported by name: it gathers names from the whole package, and
    with it every cache would depend on every file.
    """
    starts = list(modules)
    for name in starts:
        if _file(name, root) is None:  # an outdated name would cover less, and nobody would see it
            raise ModuleNotFoundError(f"There is no module {name} in {root}.")
    tops = {name.split(".")[0] for name in starts}
    sources: dict[str, bytes] = {}
    left = [part for name in starts for part in _with_parents(name)]
    while left:
        name = left.pop()
        top, _, rest = name.partition(".")
        if name in sources or top not in tops:
            continue
        path = _file(name, root)
        if path:
            sources[name] = path.read_bytes()
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            for imported in _imported(ast.parse(sources[name]), package):
                left += _with_parents(imported)
        elif "." not in rest:  # no module: a name that the top `__init__` defines
            left.append(top)
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


def _with_parents(name: str) -> list[str]:
    """Name a module and the packages it is in; the top package only if it is meant itself.

    >>> _with_parents("engine.formats.conll"), _with_parents("engine")
    (['engine.formats', 'engine.formats.conll'], ['engine'])
    """
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(2, len(parts) + 1)] or [name]


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Name all that is imported: modules, and what is taken from a module, as it may be one, too.

    Imports inside functions count, as the code may run them.
    """
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through all statements but those that only type checkers read."""
    yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) in _FOR_TYPES:
        children = node.orelse
    for child in children:
        if not isinstance(child, ast.expr):
            yield from _executed(child)
