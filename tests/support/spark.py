"""A PySpark program in a process of its own: a session with Hive support runs a script and gives back its result.

    result = run_spark("result = [row[0] for row in spark.sql('show databases').collect()]",
                       conf={"spark.hadoop.hive.metastore.uris": server.uri})

Each run is a process with a folder of its own for all that Spark leaves behind, and a SparkContext of its own. The JVM
is shared with other runs (`spark_jvm.py`), unless the run needs its own: for settings that a JVM reads once, for
environment variables, and with `fresh`, for tests that kill. A run never outlives its time: the whole process group is
killed then. It never imports pyspark.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metastored.testing import RunningServer
from tests.support import local_files
from tests.support.spark_jvm import discard, jvm_for

ROOT = Path(__file__).resolve().parents[2]
SPARK_3_5 = ROOT / ".venv-spark35"
"""The environment with Spark 3.5: `make setup` installs it."""
TIMEOUT = 240.0
"""Seconds for a start of the JVM and a few statements on a busy machine."""
LOG_TAIL_LINES = 80

# PySpark would tell the JVM the line of each use of a column, in three messages, for its error messages.
CONF = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.showConsoleProgress": "false",
}
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Spark interprets expressions: for a few rows it takes longer to generate and compile Java."""
GENERATED = {"spark.sql.codegen.factoryMode": "FALLBACK"}
"""Spark's default, for programs that list tables by `spark.catalog`: it cannot read that list by interpretation."""
INTERPRET = "TESTS_INTERPRET"
"""The environment variable that turns this on. Large forms, benchmarks, and the pages of the documentation that are
followed have Spark's defaults."""


def interpreted() -> dict[str, str]:
    """The settings of a session, as far as that is turned on."""
    return INTERPRETED if os.environ.get(INTERPRET) else {}


ICEBERG_JAR = "lib/python*/site-packages/**/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"
"""Iceberg for Spark 3.5, in its environment."""


def iceberg_jar() -> str:
    (jar,) = SPARK_3_5.glob(ICEBERG_JAR)
    return str(jar)


def iceberg_over_thrift(server: RunningServer, clients: int) -> dict[str, str]:
    """The settings by which Spark 3.5 has the Iceberg tables of a server in the catalog `ice`."""
    return {
        "spark.jars": iceberg_jar(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hive",
        "spark.sql.catalog.ice.uri": server.uri,
        "spark.sql.catalog.ice.warehouse": server.warehouse,
        "spark.sql.catalog.ice.clients": str(clients),
        "spark.sql.catalog.ice.cache-enabled": "false",
    }


JVM_FLAGS = "spark.driver.extraJavaOptions"
OWN_JVM = {JVM_FLAGS, "spark.driver.extraClassPath", "spark.driver.memory", "spark.jars", "spark.jars.packages"}
"""Settings that a JVM reads at its start."""

# The program of the process: it starts the session, then runs the script.
PROGRAM = """\
import json, sys
from typing import Any
from pyspark.sql import SparkSession

INSTALL
with open(sys.argv[1], encoding="utf-8") as file:
    task = json.load(file)
builder = SparkSession.builder.appName("metastored-test")
for name, value in task["conf"].items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
install(spark._jvm, task["local_files"])
try:
    names = {"spark": spark, "result": None}
    exec(compile(task["script"], "<script>", "exec"), names)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(names["result"], file)
finally:
    spark.stop()
""".replace("INSTALL", inspect.getsource(local_files.install))


class SparkFailure(AssertionError):
    """The script raised, or took too long; the message ends with what the process printed."""


def run_spark(
    script: str,
    *,
    conf: Mapping[str, str],
    env: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
    python: str = sys.executable,
    fresh: bool = False,
) -> Any:
    """Runs the script with `spark` in its sight; what it assigned to `result`, as JSON carries it.

    `python` is the interpreter whose pyspark is used: that of the tests, or of another environment. With `fresh` the
    run has a JVM of its own, which ends with it.
    """
    shared = None if fresh or env or OWN_JVM & conf.keys() else jvm_for(python)
    with tempfile.TemporaryDirectory(prefix="metastored-spark-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = {
            **CONF,
            **interpreted(),
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
            **conf,
        }
        (folder / "tmp").mkdir()
        if shared is None:
            settings[JVM_FLAGS] = f"-Djava.io.tmpdir={folder / 'tmp'} {settings.get(JVM_FLAGS, '')}".strip()
        task, result, log = folder / "task.json", folder / "result.json", folder / "log"
        # A JVM of its own ends before a compilation of Java is worth its time.
        local = local_files.source() if shared is not None else None
        task.write_text(json.dumps({"conf": settings, "script": script, "local_files": local}), encoding="utf-8")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [python, "-c", PROGRAM, str(task), str(result)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=folder,
                env={
                    **os.environ,
                    "PYSPARK_PYTHON": python,
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    **(shared.environment if shared is not None else {}),
                    **(env or {}),
                },
                start_new_session=True,  # a group of its own: Python, its JVM and workers end together
            )
        try:
            in_time = _ends(process, timeout)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.returncode != 0:
                discard(python)
        if not in_time:
            raise SparkFailure(_with_log(f"Spark was not done after {timeout:g} s", log))
        if process.returncode != 0:
            raise SparkFailure(_with_log(f"Spark ended with exit code {process.returncode}", log))
        return json.loads(result.read_text(encoding="utf-8"))


def _ends(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Whether it ends in time. It is not reaped: until its group is killed, the id must stay its own."""
    deadline = time.monotonic() + timeout
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _with_log(what: str, log: Path) -> str:
    tail = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join([f"{what}. The end of what it printed:", *tail])
