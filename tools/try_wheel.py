"""Installs the built wheel alone into an empty virtual environment, starts a server there and calls it.

Run it by `make dist`. pip downloads the dependencies as it is configured; extras are not installed. Nothing of this
checkout is imported in that environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from metastored.testing import running_server  # noqa: E402

INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile")
EXTRAS = ("boto3", "lance", "numpy", "psycopg", "pyarrow", "pyspark", "uvloop")
"""Modules that only extras bring."""
PROBE = f"""
import importlib.util, metastored
print(metastored.__file__)
print([name for name in {EXTRAS} if importlib.util.find_spec(name)])
"""


def attempt(wheel: Path, folder: Path) -> str:
    """What `metastored sql -e "show databases"` prints there. Raises CalledProcessError, or AssertionError."""
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python, command = environment / "bin/python", environment / "bin/metastored"
    subprocess.run([python, *INSTALL, str(wheel)], check=True)
    location, extras = _output([str(python), "-c", PROBE]).splitlines()
    assert Path(location).is_relative_to(environment), f"metastored is imported from {location}"
    assert extras == "[]", f"the wheel alone brings packages of extras: {extras}"
    with running_server(command=(str(command), "serve")) as server:
        return _output([str(command), "sql", "--uri", server.uri, "-e", "show databases"])


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def main(dist: Path) -> int:
    os.environ.pop("PYTHONPATH", None)
    (wheel,) = dist.glob("metastored-*.whl")
    with tempfile.TemporaryDirectory(prefix="metastored-wheel-") as folder:
        printed = attempt(wheel, Path(folder))
    if "default" not in printed.split():
        print(f"{wheel.name}: show databases printed {printed!r}")
        return 1
    print(f"{wheel.name}: installed alone, it serves and lists databases")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
