"""A JVM for several PySpark programs, one after the other: a start of Spark takes longer than most of what tests do.

A program finds it by PySpark's own environment variables, makes a SparkContext of its own settings in it, and stops
that at its end. So programs share nothing but loaded classes and Hadoop's file systems. There is one JVM for each
interpreter, at most; it ends after a program that failed, after `PROGRAMS` of them, and with this process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PROGRAMS: Final = 60
"""Each leaves the classes of its own Hive client behind."""
START_TIMEOUT: Final = 120.0
FIND_HOME: Final = "import os, pyspark; print(os.path.dirname(pyspark.__file__))"


class SparkJvm:
    """A running JVM. It never outlives the process that started it: it ends when its standard input is closed."""

    def __init__(
        self, python: str, flags: str = "", cwd: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        """`cwd` is its working directory, and `variables` its environment; by default a folder of its own, and ours."""
        self.folder = Path(tempfile.mkdtemp(prefix="metastored-spark-jvm-"))
        self.log = self.folder / "log"
        self.programs = 0
        address = self.folder / "address"
        (self.folder / "tmp").mkdir()
        home = subprocess.run([python, "-c", FIND_HOME], capture_output=True, text=True, check=True).stdout.strip()
        java = f"-Djava.io.tmpdir={self.folder / 'tmp'} {flags}".strip()
        settings = ("spark.driver.memory=2g", f"spark.driver.extraJavaOptions={java}")
        options = [word for setting in settings for word in ("--conf", setting)]
        environment = {
            **(os.environ if variables is None else variables),
            "SPARK_HOME": home,
            "SPARK_CONNECT_MODE": "0",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": python,
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
        }
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [f"{home}/bin/spark-submit", *options, "pyspark-shell"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=cwd or self.folder,
                env=environment,
                start_new_session=True,  # a group of its own: the JVM and its Python workers end together
            )
        self.port, self.secret = self._address(address)

    def _address(self, file: Path) -> tuple[int, str]:
        """What the JVM writes: its port, then the length of the secret and the secret."""
        deadline = time.monotonic() + START_TIMEOUT
        while not file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                text = self.log.read_text(errors="replace")
                self.stop()
                raise AssertionError(f"Spark's JVM did not start: {text}")
            time.sleep(0.05)
        content = file.read_bytes()  # It was renamed to this name when it was complete.
        port, length = struct.unpack(">ii", content[:8])
        return port, content[8 : 8 + length].decode()

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which PySpark finds it."""
        return {"PYSPARK_GATEWAY_PORT": str(self.port), "PYSPARK_GATEWAY_SECRET": self.secret}

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_running: Final[dict[str, SparkJvm]] = {}


def jvm_for(python: str, flags: str = "") -> SparkJvm:
    """The JVM for the next program of an interpreter; a new one if there is none, or if it has run enough of them."""
    jvm = _running.get(python)
    if jvm is not None and (jvm.programs >= PROGRAMS or jvm.process.poll() is not None):
        discard(python)
        jvm = None
    if jvm is None:
        jvm = _running[python] = SparkJvm(python, flags)
    jvm.programs += 1
    return jvm


def discard(python: str) -> None:
    """Ends the JVM of an interpreter, if there is one: what a failed program left in it is unknown."""
    jvm = _running.pop(python, None)
    if jvm is not None:
        jvm.stop()


@atexit.register
def stop_all() -> None:
    """Ends all of them."""
    for python in list(_running):
        discard(python)
