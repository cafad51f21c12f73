"""Runs a project of Spark's declarative pipelines (`spark-pipelines run`) against a metastore, and shows its events.

Spark orders, runs and refreshes the tables of the project; nothing of that is done here. It runs in a process of its
own, because it needs a session of Spark Connect.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from metastored.errors import ConfigError, InvalidOperationException
from metastored.spark.interpreter import VARIABLE, workers_python

NEEDED: Final = ("grpc", "grpc_status", "google.rpc", "pandas", "pyarrow", "zstandard", "yaml")
"""The modules of the extra `pyspark[pipelines]`."""
SPECS: Final = ("spark-pipeline.yml", "spark-pipeline.yaml")
MASTER: Final = "spark.master"
DEFAULT_MASTER: Final = "local[*]"
"""That of a session without settings; `spark-pipelines` alone uses one core."""
LAST_LINES: Final = 20
PATIENCE: Final = 10.0
"""Seconds after SIGTERM until a program is killed."""
_EVENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: (.*)")
"""A line that `spark-pipelines` itself prints. Others are of Spark's log, of tracebacks, or go on with an event."""
_FLOW_DONE: Final = re.compile(r"Flow (\S+) has COMPLETED")
_ERROR: Final = re.compile(r"pyspark\.errors\.\S+: ?(.*)")


def missing_modules(modules: Sequence[str] = NEEDED) -> list[str]:
    """Those of the modules that are not installed."""
    missing = []
    for name in modules:
        try:
            there = importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            missing.append(name)
    return missing


def command(program: Path, spec: Path, settings: Path, master: str, full_refresh: bool | Sequence[str]) -> list[str]:
    """The command line of a run.

    The catalog is a static setting, which the project's file cannot have, and settings may have secrets, which do not
    belong into a command line: all settings are in a file of their own. `spark-pipelines` takes the master as --remote.
    """
    refresh = (
        (["--full-refresh-all"] if full_refresh else [])
        if isinstance(full_refresh, bool)
        else ["--full-refresh", ",".join(full_refresh)]
    )
    return [
        *(str(program), "run", "--remote", master, "--properties-file", str(settings), "--load-spark-defaults"),
        *("--spec", str(spec)),
        *refresh,
    ]


def properties(settings: Mapping[str, str]) -> str:
    """The text of a Java properties file."""
    return "".join(f"{_escaped(name, '=: ')}={_escaped(value, '')}\n" for name, value in settings.items())


def _escaped(text: str, special: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    for each in special:
        escaped = escaped.replace(each, f"\\{each}")
    return escaped


def run_project(
    project: Path,
    settings: Mapping[str, str],
    full_refresh: bool | Sequence[str],
    show: Callable[[str], None] = print,
) -> int:
    """Runs a project, a folder or its file, with settings of Spark. Returns how many flows were completed.

    Raises ConfigError if it cannot be run here, and InvalidOperationException with Spark's reasons if it fails.
    """
    spec = spec_of(project)
    if missing := missing_modules():
        raise ConfigError(
            f"Spark's declarative pipelines need modules that are not installed ({', '.join(missing)}): "
            "pip install 'pyspark[pipelines]'"
        )
    home = Path(_pyspark_home())
    others = {name: value for name, value in settings.items() if name != MASTER}
    environment = {**os.environ, VARIABLE: workers_python(settings), "SPARK_HOME": str(home)}
    with tempfile.TemporaryDirectory(prefix="metastored-dataflow-") as folder:
        file = Path(folder) / "spark.properties"
        file.write_text(properties(others), "utf-8")
        words = command(
            home / "bin" / "spark-pipelines", spec, file, settings.get(MASTER, DEFAULT_MASTER), full_refresh
        )
        status, lines = run_program(words, spec.parent, environment, show)
    if status != 0:
        raise InvalidOperationException(f"{spec} failed with exit status {status}:\n{reasons(lines)}")
    return completed_flows(lines)


def run_program(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], show: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Runs a program in a folder and shows its events. Returns its exit status, and all lines that it printed.

    An error here, such as an interruption, ends the program: otherwise it would go on to write tables. It has a session
    of its own, so that everything that it starts can be ended.
    """
    lines: list[str] = []
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        env=environment,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if (text := event(line)) is not None:
                    show(text)
        except BaseException:
            _end(process)
            raise
    return process.returncode, lines


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a program and all that it has started: `spark-pipelines` starts Python, which starts a JVM."""
    with suppress(ProcessLookupError, PermissionError):  # It has ended.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def event(line: str) -> str | None:
    """The text of a line about the run, without its time; None for lines of Spark's log."""
    match = _EVENT.match(line)
    return match[1] if match else None


def completed_flows(lines: Sequence[str]) -> int:
    """How many flows the events of a run name as completed."""
    return len({match[1] for line in lines if (match := _FLOW_DONE.search(line))})


def reasons(lines: Sequence[str]) -> str:
    """Why a run failed: the events with an error, then the last error; the last lines if there is neither."""
    reasons_given: list[str] = []
    for at, line in enumerate(lines):
        text = event(line)
        if text is not None and at + 1 < len(lines) and lines[at + 1].startswith("Error: "):
            reasons_given += [text, lines[at + 1]]
        elif match := _ERROR.match(line):
            reasons_given += [each for each in (match[1], *lines[at + 1 :]) if each]
            break
    return "\n".join(reasons_given or lines[-LAST_LINES:])


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
