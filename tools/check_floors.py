"""Fails when a room of metastored imports one that is not on a lower floor, or when modules import in a circle.

It reads the source with ast and imports nothing. An import inside a function or under TYPE_CHECKING counts like
any other for floors: whatever a reader must know to understand a room is a dependency of it. For circles an
import under TYPE_CHECKING does not count, since types may well refer to one another and nothing is run.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "metastored"

# The house. A room is a package or a module directly in metastored; the front door is metastored's own __init__.
# errors.py lies under the first floor, so that every room can raise from the one error tree.
FLOORS: Mapping[str, int] = {
    "__init__": 10,
    "__main__": 10,
    "pytest_plugin": 10,
    "cli": 9,
    "testing": 9,
    "server": 8,
    "catalog": 7,
    "console": 7,
    "gate": 7,
    "remotes": 7,
    "spark": 7,
    "transfer": 7,
    "connectors": 6,
    "lance": 6,
    "client": 5,
    "metastore": 5,
    "store": 4,
    "structs": 4,
    "model": 3,
    "wire": 2,
    "config": 2,
    "hive": 1,
    "errors": 0,
}

# What the front door says of the package as a whole, and every room may repeat.
ANYBODYS = frozenset({(PACKAGE, "__version__")})


@dataclass(frozen=True, order=True)
class Import:
    """One import of one of the package's modules by another, and the line it is on."""

    importer: str
    line: int
    imported: str
    for_types: bool = False


def modules_of(source: Path) -> dict[str, Path]:
    """The dotted name and file of each module under source/PACKAGE."""
    found = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[Import]:
    """The imports in one module that lead to other modules of the package."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text(), str(path))
    for_types = {inner for node in ast.walk(tree) if _is_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(package, node)
            # A name that is no module of its own is an attribute of the module it is imported from.
            names = [alias.name for alias in node.names if (base, alias.name) not in ANYBODYS]
            targets = [f"{base}.{each}" if f"{base}.{each}" in modules else base for each in names]
        else:
            continue
        for target in dict.fromkeys(targets):
            if target.partition(".")[0] == PACKAGE and target != name:
                yield Import(name, node.lineno, target, node in for_types)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _base(package: str, node: ast.ImportFrom) -> str:
    """The absolute name of what `from X import …` imports from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    anchor = parts[: len(parts) - node.level + 1]
    return ".".join([*anchor, *([node.module] if node.module else [])])


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def floor_faults(imports: list[Import], modules: Mapping[str, Path]) -> Iterator[str]:
    for room in sorted({room_of(module) for module in modules} - set(FLOORS)):
        yield f"{PACKAGE}/{room} is on no floor: add it to FLOORS in tools/check_floors.py and to the design"
    for each in imports:
        room, other = room_of(each.importer), room_of(each.imported)
        if room == other or room not in FLOORS or other not in FLOORS:
            continue
        if FLOORS[other] >= FLOORS[room]:
            yield (
                f"{modules[each.importer]}:{each.line}: {room} (floor {FLOORS[room]}) imports {each.imported}"
                f" (floor {FLOORS[other]}); a room imports only rooms on lower floors"
            )


def circles(imports: list[Import]) -> list[list[str]]:
    """Each group of modules that reach one another, by Tarjan's algorithm, in name order."""
    graph: dict[str, list[str]] = {}
    for each in imports:
        if each.for_types:
            continue
        graph.setdefault(each.importer, []).append(each.imported)
        graph.setdefault(each.imported, [])
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            start = stack.index(module)
            group = sorted(stack[start:])
            del stack[start:]
            if len(group) > 1:
                groups.append(group)

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return sorted(groups)


def faults(source: Path) -> list[str]:
    """All that is wrong with the package under a source folder, one line each."""
    modules = modules_of(source)
    if not modules:
        return [f"there is no package {PACKAGE} in {source}"]
    imports = sorted(each for name, path in modules.items() for each in imports_of(name, path, modules))
    found = list(floor_faults(imports, modules))
    found.extend(f"these modules import one another in a circle: {', '.join(group)}" for group in circles(imports))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("source", type=Path, nargs="?", default=Path("src"))
    found = faults(parser.parse_args().source)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
