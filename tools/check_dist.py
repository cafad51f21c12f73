"""Checks a built wheel and source package: their names, metadata and contents. It builds nothing.

Run it by `make dist`, which builds both into `dist/` first.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src/metastored"
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/metastored/__init__.py")
"""Files that a source package needs at least."""
FORBIDDEN = ("/__pycache__/", ".pyc", "/.venv", "/.peers", "/benchmarks/results/", ".coverage")


def faults(folder: Path, version: str) -> Iterator[str]:
    """A sentence for each fault of the two packages in a folder."""
    wheel = folder / f"metastored-{version}-py3-none-any.whl"
    source = folder / f"metastored-{version}.tar.gz"
    for file in (wheel, source):
        if not file.exists():
            yield f"there is no {file.name}"
    if wheel.exists():
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
            metadata = archive.read(f"metastored-{version}.dist-info/METADATA").decode()
        yield from _metadata_faults(wheel.name, Parser().parsestr(metadata), version)
        yield from _wheel_faults(wheel.name, names, version)
    if source.exists():
        with tarfile.open(source) as packed:
            paths = {name.partition("/")[2] for name in packed.getnames()}
        yield from (f"{source.name} lacks {name}" for name in SOURCES if name not in paths)
        yield from _strays(source.name, paths)


def _metadata_faults(wheel: str, metadata: Message, version: str) -> Iterator[str]:
    expected = {"Name": "metastored", "Version": version, "License-Expression": "Apache-2.0"}
    for key, value in expected.items():
        if metadata[key] != value:
            yield f"{wheel}: {key} is {metadata[key]!r}, not {value!r}"
    if metadata["Description-Content-Type"] != "text/markdown" or not str(metadata.get_payload()).strip():
        yield f"{wheel} has no description: pyproject.toml names README.md"


def _wheel_faults(wheel: str, names: set[str], version: str) -> Iterator[str]:
    """Every file of the package is in it, and nothing else."""
    wanted = {
        f"metastored/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    yield from (f"{wheel} lacks {name}" for name in sorted(wanted - names))
    others = {name for name in names - wanted if not name.startswith(f"metastored-{version}.dist-info/")}
    yield from (f"{wheel} has {name}, which is not a part of the package" for name in sorted(others))


def _strays(name: str, paths: set[str]) -> Iterator[str]:
    for path in sorted(paths):
        if any(part in f"/{path}" for part in FORBIDDEN):
            yield f"{name} has {path}"


def main(folder: Path) -> int:
    sys.path.insert(0, str(ROOT / "src"))
    from metastored import __version__

    found = list(faults(folder, __version__))
    for fault in found:
        print(fault)
    if not found:
        print(f"{folder}: the wheel and the source package of {__version__} are complete")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
