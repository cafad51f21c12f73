"""Lets a virtual environment see the packages of another one: `PYTHON tools/overlay.py .venv`, run by its own Python.

Packages that are installed in it come first; pip installs only those that the other one has not in the same version.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path


def main(base: str) -> None:
    own = Path(sysconfig.get_path("purelib"))
    there = Path(base).resolve() / own.relative_to(Path(sys.prefix))
    if not there.is_dir():
        sys.exit(f"{base} is not a virtual environment of Python {sysconfig.get_python_version()}")
    (own / "overlay.pth").write_text(f"{os.path.relpath(there, own.resolve())}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
