"""A question about an object of Hive's has one function, and it is in `model/`."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import metastored
from metastored.model import acid, kinds, refusals

SOURCE = Path(metastored.__file__).parent

# All modules are read and parsed.
pytestmark = pytest.mark.slow


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """All modules outside of `model/` that were written by hand."""
    files = {str(file.relative_to(SOURCE)): file for file in SOURCE.rglob("*.py")}
    return [
        (name, ast.parse(file.read_text()))
        for name, file in files.items()
        if not name.startswith(("model/", "wire/generated/"))
    ]


@cache
def texts() -> list[tuple[str, str]]:
    """Every string constant of these modules, with its module."""
    return [
        (name, node.value)
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_names_and_questions_are_defined_only_in_the_model() -> None:
    names = {
        *("DatabaseName", "TableName", "is_external", "is_view", "owns_data", "stored_type"),
        *("is_transactional", "is_insert_only", "is_full_acid", "is_iceberg"),
    }
    found = [
        f"{module}: {node.name}"
        for module, tree in modules()
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name.lstrip("_") in names
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", [*kinds.TYPES, kinds.PURGE, acid.TRANSACTIONAL, acid.PROPERTIES, acid.INSERT_ONLY, refusals.TOO_MANY]
)
def test_a_constant_of_the_model_is_written_only_there(text: str) -> None:
    # The client lists parameters that servers add by themselves, as one table.
    found = [module for module, value in texts() if value == text and module != "client/outcomes.py"]
    if text == kinds.MATERIALIZED_VIEW:
        found = [module for module in found if module.startswith(("service/", "store/", "gate/"))]
    assert found == []


@pytest.mark.parametrize("text", [refusals.DENIED, refusals.READ_ONLY])
def test_the_texts_of_refusals_are_written_only_in_the_model(text: str) -> None:
    found = [module for module, value in texts() if value.startswith(text)]
    assert found == []


def defined(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module defines."""
    match node:
        case ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return set(map(ast.unparse, targets))
        case ast.AnnAssign(target=target):
            return {ast.unparse(target)}
    return set()


@pytest.mark.parametrize("name", ["Place", "Home", "FORMAT"])
def test_a_vague_name_does_not_stand_for_several_things(name: str) -> None:
    found = [module for module, tree in modules() for node in tree.body if name in defined(node)]
    assert len(found) <= 1, found
