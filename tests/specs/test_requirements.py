"""Each requirement of the documents has one test, and each test of this folder names its requirement."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
LISTED = tomllib.loads((FOLDER / "requirements.toml").read_text("utf-8"))
_ITEM = re.compile(r"([a-z])\. \S.*")


def requirements(document: str) -> list[str]:
    """`7.2 h` and the like, in the order of the document."""
    found = []
    for section, items in LISTED[document].items():
        if isinstance(items, str):
            continue
        for item in items:
            match = _ITEM.fullmatch(item)
            assert match is not None, f"{section}: {item!r} has no letter"
            found.append(f"{section} {match[1]}")
    return found


def named(document: str) -> list[tuple[str, str]]:
    """The requirement that each test names, and the file of the test."""
    found = []
    for file in sorted(FOLDER.glob(f"test_{document}_section_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                match = re.match(r"test_((?:[0-9A-B]+_)+)([a-z])_\w", node.name)
                assert match is not None, f"{file.name}: {node.name} names no requirement"
                found.append((f"{match[1].rstrip('_').replace('_', '.')} {match[2]}", file.name))
    return found


@pytest.mark.parametrize("document", LISTED)
def test_each_requirement_has_one_test(document: str) -> None:
    found = Counter(each for each, _ in named(document))
    assert [each for each in requirements(document) if found[each] != 1] == []


@pytest.mark.parametrize("document", LISTED)
def test_each_test_names_a_requirement(document: str) -> None:
    assert {each for each, _ in named(document)} - set(requirements(document)) == set()


@pytest.mark.parametrize("document", LISTED)
def test_the_letters_of_a_section_follow_one_another(document: str) -> None:
    for section, items in LISTED[document].items():
        if not isinstance(items, str):
            assert [item[0] for item in items] == [chr(ord("a") + at) for at in range(len(items))], section


def test_a_test_is_in_the_file_of_its_section() -> None:
    for document in LISTED:
        for each, file in named(document):
            assert file.startswith(f"test_{document}_section_{each.split('.')[0].split()[0].lower()}_"), (each, file)
