"""The tool that finds circles of imports, also of imports for types."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_circles import PACKAGE, circles, faults

ONE = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {package}.two import Two\nclass One: ...\n"
TWO = "from {package}.one import One\nclass Two: ...\n"


@pytest.mark.parametrize(
    "imports, expected",
    [
        ({"a": "b", "b": "c", "c": ""}, []),
        ({"a": "b", "b": "c", "c": "b"}, [["b", "c"]]),
        ({"a": "bd", "b": "c", "c": "a", "d": "e", "e": "d"}, [["d", "e"], ["a", "b", "c"]]),
        ({"a": "a"}, []),
    ],
)
def test_circles_are_found(imports: dict[str, str], expected: list[list[str]]) -> None:
    assert circles(imports, imports.__getitem__) == expected


def made(folder: Path, package: str) -> None:
    (folder / package).mkdir()
    for name, text in (("__init__", ""), ("one", ONE), ("two", TWO)):
        (folder / package / f"{name}.py").write_text(text.format(package=package))


def test_an_import_for_types_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "circular_types")
    monkeypatch.syspath_prepend(tmp_path)
    assert faults("circular_types") == [["circular_types.one", "circular_types.two"]]


def test_metastored_has_no_circle() -> None:
    assert faults(PACKAGE) == []
