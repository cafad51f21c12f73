"""Fails when modules of metastored import each other in a circle, imports for types and inside of functions included.

The contract of import-linter in `pyproject.toml` leaves imports for types out. A circle of them runs, but none of its
modules can be read, or moved, without the others: names that both need get a module of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

import grimp

PACKAGE = "metastored"


def circles(modules: Iterable[str], imported_by: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """The groups of modules of which each imports, directly or not, all others of its group (Tarjan)."""
    number, lowest = dict[str, int](), dict[str, int]()
    stack, groups, numbers = list[str](), list[list[str]](), count()

    def visit(module: str) -> None:
        number[module] = lowest[module] = next(numbers)
        stack.append(module)
        for other in imported_by(module):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == number[module]:
            at = stack.index(module)
            group, stack[at:] = stack[at:], []
            if len(group) > 1:
                groups.append(sorted(group))

    for module in sorted(modules):
        if module not in number:
            visit(module)
    return groups


def faults(package: str) -> list[list[str]]:
    """The circles of a package."""
    graph = grimp.build_graph(package, cache_dir=None)
    return circles(graph.modules, lambda module: sorted(graph.find_modules_directly_imported_by(module)))


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    found = faults(PACKAGE)
    for group in found:
        print(f"these modules import each other in a circle: {', '.join(group)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
