"""A standalone Spark cluster: a master and workers as processes of their own, from the pyspark package.

    with running_cluster(2) as cluster:
        run_spark(script, conf={"spark.master": cluster.url, **cluster.conf})

Each worker has one core. All processes are killed by their ids at the end, with the executors that they started.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_TIMEOUT = 120.0
LOG_TAIL_LINES = 40
_URL = re.compile(r"spark://127\.0\.0\.1:[1-9]\d*")


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    url: str
    workers: int

    @property
    def conf(self) -> dict[str, str]:
        """Settings of an application that uses all workers."""
        return {
            "spark.master": self.url,
            "spark.cores.max": str(self.workers),
            "spark.executor.cores": "1",
            "spark.executor.memory": "600m",
        }


@contextlib.contextmanager
def running_cluster(workers: int = 2) -> Iterator[Cluster]:
    """Starts a master and workers, and stops them at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="metastored-cluster-", ignore_cleanup_errors=True) as name,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(name)
        master = folder / "master.log"
        address = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        stack.enter_context(_process("org.apache.spark.deploy.master.Master", address, folder, master))
        url = _awaited(master, _URL, 1)
        for number in range(workers):
            place = folder / f"worker{number}"
            arguments = (*address, "--cores", "1", "--memory", "700m", "--work-dir", str(place), url)
            log = folder / f"worker{number}.log"
            stack.enter_context(_process("org.apache.spark.deploy.worker.Worker", arguments, folder, log))
        _awaited(master, re.compile("Registering worker"), workers)
        yield Cluster(url, workers)


@contextlib.contextmanager
def _process(main: str, arguments: tuple[str, ...], folder: Path, log: Path) -> Iterator[None]:
    package = importlib.util.find_spec("pyspark")
    assert package is not None and package.origin is not None
    home = Path(package.origin).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(folder / "conf"),  # No directory: the archive of Spark's classes fits without one.
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", str(home / "bin" / "spark-class"), main, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment,
            start_new_session=True,  # A group of its own: a worker and its executors end together.
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _awaited(log: Path, pattern: re.Pattern[str], times: int) -> str:
    """What is found in a log as often as this. Raises AssertionError with the end of the log after a timeout."""
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        text = log.read_text(errors="replace")
        found = pattern.findall(text)
        if len(found) >= times:
            return str(found[0])
        if time.monotonic() > deadline:
            tail = "\n".join(text.splitlines()[-LOG_TAIL_LINES:])
            raise AssertionError(f"{pattern.pattern} is not in {log.name} after {START_TIMEOUT:g} s:\n{tail}")
        time.sleep(0.1)
