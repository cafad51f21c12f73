"""Fails when the `__all__` of metastored or of one of its packages does not list exactly its public names.

A name in `__all__` must exist, also if a module's `__getattr__` imports it late. A public name that the module defines
must be listed, and so must a name that the `__init__.py` of a package imports from another module of metastored. Names
from other packages (a `from typing import …`) are not exports. ruff checks the order of a list (RUF022).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "metastored"
# Modules that are run or loaded by other programs, and never imported.
WITHOUT_EXPORTS = frozenset({"__main__"})


def modules_of(source: Path) -> Iterator[tuple[str, Path]]:
    """The package itself and each module or package directly in it, with its file."""
    yield PACKAGE, source / PACKAGE / "__init__.py"
    for path in sorted((source / PACKAGE).iterdir()):
        if path.is_dir() and (path / "__init__.py").exists():
            yield f"{PACKAGE}.{path.name}", path / "__init__.py"
        elif path.suffix == ".py" and path.stem != "__init__" and path.stem not in WITHOUT_EXPORTS:
            yield f"{PACKAGE}.{path.stem}", path


def public_names(front: Path) -> set[str]:
    """The public names that a module defines and, for a package, imports from other modules of metastored."""
    statements = ast.parse(front.read_text(), str(front)).body
    names = _bound(statements, package=front.name == "__init__.py")
    return {name for name in names if not name.startswith("_")}


def _is_ours(node: ast.ImportFrom) -> bool:
    return bool(node.level) or (node.module or "").partition(".")[0] == PACKAGE


def _bound(statements: list[ast.stmt], package: bool) -> Iterator[str]:
    for node in statements:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Assign():
                yield from (
                    name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
                )
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom() if package and _is_ours(node):
                yield from (alias.asname or alias.name for alias in node.names)
            case ast.If() | ast.Try():
                yield from _bound(node.body, package)
                yield from _bound(node.orelse, package)


def faults(source: Path) -> list[str]:
    """All problems, one line each."""
    lines = []
    for module_name, front in modules_of(source):
        offered = public_names(front)
        module = importlib.import_module(module_name)
        listed = getattr(module, "__all__", None)
        if listed is None:
            if offered:
                lines.append(f"{front}: no __all__, but public names: {', '.join(sorted(offered))}")
            continue
        missing = sorted(name for name in listed if not hasattr(module, name))
        twice = sorted({name for name in listed if list(listed).count(name) > 1})
        unlisted = sorted(offered - set(listed))
        lines.extend(f"{front}: __all__ lists {name}, which {module_name} does not have" for name in missing)
        lines.extend(f"{front}: __all__ lists {name} twice" for name in twice)
        lines.extend(
            f"{front}: {name} is public but not in __all__; list it, or begin its name with _" for name in unlisted
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("source", type=Path, nargs="?", default=Path("src"))
    source: Path = parser.parse_args().source
    sys.path.insert(0, str(source))
    lines = faults(source)
    for fault in lines:
        print(fault, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
