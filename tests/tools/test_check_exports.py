"""The exports tool, on small packages and on metastored itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.check_exports import public_names

ROOT = Path(__file__).parents[2]


def run(source: Path) -> subprocess.CompletedProcess[str]:
    """The tool in a process of its own, since it imports the package that it checks."""
    command = [sys.executable, str(ROOT / "tools" / "check_exports.py"), str(source)]
    # The package of this test is named metastored too; it must not count in metastored's coverage.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def package(root: Path, code: str) -> Path:
    (root / "metastored" / "wire").mkdir(parents=True)
    (root / "metastored" / "__init__.py").touch()
    (root / "metastored" / "wire" / "__init__.py").write_text(code)
    return root


def test_public_names_are_defined_in_the_module_or_imported_from_the_package(tmp_path: Path) -> None:
    front = tmp_path / "__init__.py"
    front.write_text(
        "from __future__ import annotations\nimport os\nfrom typing import Any\n"
        "from metastored.wire.call import Call as Ask\nfrom .codec import read\n"
        "LIMIT, _PRIVATE = 1, 2\nname: str = ''\ndef f() -> None: ...\nclass C: ...\n"
    )
    assert public_names(front) == {"Ask", "read", "LIMIT", "name", "f", "C"}


def test_a_list_equal_to_the_public_names_passes(tmp_path: Path) -> None:
    result = run(package(tmp_path, "__all__ = ['read']\ndef read() -> None: ...\n"))
    assert (result.returncode, result.stderr) == (0, "")


def test_a_listed_name_may_be_imported_late(tmp_path: Path) -> None:
    code = "__all__ = ['late']\ndef __getattr__(name: str) -> object:\n    return name\n"
    assert run(package(tmp_path, code)).returncode == 0


def test_a_listed_name_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    result = run(package(tmp_path, "__all__ = ['gone']\n"))
    assert result.returncode == 1
    assert "lists gone, which metastored.wire does not have" in result.stderr


def test_a_public_name_that_is_not_listed_is_a_fault(tmp_path: Path) -> None:
    result = run(package(tmp_path, "__all__: list[str] = []\ndef read() -> None: ...\n"))
    assert result.returncode == 1
    assert "read is public but not in __all__" in result.stderr


def test_public_names_without_a_list_are_a_fault(tmp_path: Path) -> None:
    result = run(package(tmp_path, "def read() -> None: ...\n"))
    assert result.returncode == 1
    assert "no __all__, but public names: read" in result.stderr


def test_imports_of_a_plain_module_are_not_its_exports(tmp_path: Path) -> None:
    source = package(tmp_path, "__all__: list[str] = []\n")
    (source / "metastored" / "errors.py").write_text("__all__ = ['E']\nclass E(Exception): ...\n")
    (source / "metastored" / "config.py").write_text("from metastored.errors import E\n")
    assert run(source).returncode == 0
