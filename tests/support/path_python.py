"""A PATH whose `python3` fails, as that of a machine where no virtual environment is activated."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PYSPARK_PYTHON"


def without_python(folder: Path) -> dict[str, str]:
    """The environment of this process without PYSPARK_PYTHON, with a `python3` that fails at the front of PATH."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        program = programs / name
        program.write_text("#!/bin/sh\necho 'this is the python3 of PATH' >&2\nexit 1\n")
        program.chmod(0o755)
    found = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return {**found, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
