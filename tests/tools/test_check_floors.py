"""The floors tool, on small houses built for the purpose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.check_floors import faults


def house(root: Path, files: Mapping[str, str]) -> Path:
    """A source folder with the package metastored, each file with its text and each folder a package."""
    for name, text in {"__init__.py": "", **files}.items():
        path = root / "metastored" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.parent != root / "metastored":
            (path.parent / "__init__.py").touch()
    return root


def test_a_room_may_import_lower_floors(tmp_path: Path) -> None:
    files = {
        "errors.py": "",
        "wire/codec.py": "from metastored.errors import Error",
        "service/tables/get.py": "import metastored.wire.codec\nfrom metastored.wire import codec",
    }
    assert faults(house(tmp_path, files)) == []


def test_modules_of_one_room_may_import_one_another(tmp_path: Path) -> None:
    files = {"wire/codec.py": "from .binary import read", "wire/binary.py": "def read() -> None: ..."}
    assert faults(house(tmp_path, files)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "import metastored.server.sockets",
        "from metastored.server import sockets",
        "from metastored.server.sockets import listen",
        "from metastored import server",
        "from ..server import sockets",
        "from .. import server",
        "def late() -> None:\n    from metastored.server import sockets",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from metastored.server.sockets import listen",
    ],
)
def test_an_import_of_a_higher_floor_is_a_fault_in_every_form(tmp_path: Path, statement: str) -> None:
    files = {"server/sockets.py": "def listen() -> None: ...", "wire/codec.py": statement}
    (fault,) = faults(house(tmp_path, files))
    assert "codec.py:" in fault
    assert "wire (floor 2) imports metastored.server" in fault
    assert "(floor 8)" in fault


def test_an_import_of_another_room_on_the_same_floor_is_a_fault(tmp_path: Path) -> None:
    (fault,) = faults(house(tmp_path, {"service/tables/get.py": "import metastored.client", "client/__init__.py": ""}))
    assert "metastore (floor 5) imports metastored.client (floor 5)" in fault


def test_an_import_from_the_front_door_is_a_fault(tmp_path: Path) -> None:
    (fault,) = faults(house(tmp_path, {"wire/codec.py": "from metastored import connect"}))
    assert "wire (floor 2) imports metastored (floor 10)" in fault


def test_a_circle_inside_a_room_names_its_modules(tmp_path: Path) -> None:
    files = {
        "hive/names.py": "from metastored.hive.types.type_strings import parse",
        "hive/types/type_strings.py": "from metastored.hive.filters.tree import compare",
        "hive/filters/tree.py": "def late() -> None:\n    import metastored.hive.names",
        "hive/patterns.py": "from metastored.hive.names import escape",
    }
    (fault,) = faults(house(tmp_path, files))
    assert fault.endswith(
        "in a circle: metastored.hive.filters.tree, metastored.hive.names, metastored.hive.types.type_strings"
    )


def test_a_module_that_imports_from_its_own_room_s_front_makes_a_circle(tmp_path: Path) -> None:
    files = {
        "hive/__init__.py": "from metastored.hive.names import escape",
        "hive/names.py": "from metastored.hive import quote",
    }
    (fault,) = faults(house(tmp_path, files))
    assert fault.endswith("in a circle: metastored.hive, metastored.hive.names")


def test_a_room_on_no_floor_is_a_fault(tmp_path: Path) -> None:
    (fault,) = faults(house(tmp_path, {"cellar/wine.py": ""}))
    assert "metastored/cellar is on no floor" in fault


def test_a_folder_without_the_package_is_a_fault(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path)
    assert "there is no package metastored" in fault


def test_types_may_refer_to_one_another_inside_a_room(tmp_path: Path) -> None:
    only_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from metastored.hive.{} import T"
    files = {"hive/a.py": only_types.format("b"), "hive/b.py": only_types.format("a")}
    assert faults(house(tmp_path, files)) == []


def test_the_version_is_anybody_s(tmp_path: Path) -> None:
    assert faults(house(tmp_path, {"wire/codec.py": "from metastored import __version__"})) == []
