"""Runs a project of Spark's declarative pipelines (`spark-pipelines run`) against a metastore, and shows its events.

Spark orders, runs and refreshes the tables of the project; nothing of that is done here. It runs in a process of its
own, because it needs a session of Spark Connect.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from metastored.errors import ConfigError, InvalidOperationException

NEEDED: Final = ("grpc", "grpc_status", "google.rpc", "pandas", "pyarrow", "zstandard", "yaml")
"""The modules of the extra `pyspark[pipelines]`."""
SPECS: Final = ("spark-pipeline.yml", "spark-pipeline.yaml")
_FLOW_DONE: Final = re.compile(r"Flow (\S+) has COMPLETED", re.IGNORECASE)
LAST_LINES: Final = 20


def missing_modules(modules: Sequence[str] = NEEDED) -> list[str]:
    """Those of the modules that are not installed."""
    found = []
    for name in modules:
        try:
            there = importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            found.append(name)
    return found


def command(program: Path, spec: Path, uri: str, full_refresh: bool | Sequence[str]) -> list[str]:
    """The command line of a run. The catalog is a static setting, so it is a flag and not in the project's file."""
    refresh = (
        (["--full-refresh-all"] if full_refresh else [])
        if isinstance(full_refresh, bool)
        else ["--full-refresh", ",".join(full_refresh)]
    )
    return [
        *(str(program), "run", "--conf", "spark.sql.catalogImplementation=hive"),
        *("--conf", f"spark.hadoop.hive.metastore.uris={uri}", "--spec", str(spec)),
        *refresh,
    ]


def run_project(
    project: Path, uri: str, full_refresh: bool | Sequence[str], show: Callable[[str], None] = print
) -> int:
    """Runs a project, a folder or its file. Returns how many flows were completed.

    Raises ConfigError if it cannot be run here, and InvalidOperationException with the last lines if it fails.
    """
    spec = spec_of(project)
    if missing := missing_modules():
        raise ConfigError(
            f"Spark's declarative pipelines need modules that are not installed ({', '.join(missing)}): "
            "pip install 'pyspark[pipelines]'"
        )
    home = Path(_pyspark_home())
    lines: list[str] = []
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    with subprocess.Popen(
        command(home / "bin" / "spark-pipelines", spec, uri, full_refresh),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=spec.parent,
        env=environment,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if "Flow" in line or "Run is" in line:
                show(line.rstrip())
    if process.returncode != 0:
        raise InvalidOperationException(f"{spec} failed:\n" + "\n".join(lines[-LAST_LINES:]))
    return completed_flows(lines)


def completed_flows(lines: Sequence[str]) -> int:
    """How many flows the events of a run name as completed."""
    return len({match[1] for line in lines if (match := _FLOW_DONE.search(line))})


def spec_of(project: Path) -> Path:
    """The file of a project. Raises ConfigError."""
    if project.is_file():
        return project
    for name in SPECS:
        if (project / name).is_file():
            return project / name
    raise ConfigError(f"{project} has no {' or '.join(SPECS)}: spark-pipelines init makes one")


def _pyspark_home() -> str:
    import pyspark

    return os.path.dirname(pyspark.__file__)
