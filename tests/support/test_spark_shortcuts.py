"""Spark of a test sets permissions without a process and keeps no times of its rules; files and rows are the same."""

from __future__ import annotations

import pytest

from tests.support import spark_shortcuts
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
import os, tempfile
folder = tempfile.mkdtemp()
path = spark._jvm.org.apache.hadoop.fs.Path(folder)
files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
spark.range(3).write.orc(folder + "/made/below")
modes = {
    oct(os.stat(os.path.join(place, name)).st_mode & 0o777)
    for place, folders, names in os.walk(folder) for name in names
}
kept = spark._jvm.org.apache.hadoop.fs.Path(folder + "/made")
files.setPermission(kept, spark._jvm.org.apache.hadoop.fs.permission.FsPermission("0710"))
rules = spark._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.rules.RuleExecutor$")
meter = rules.getMethod("queryExecutionMeter", None).invoke(rules.getField("MODULE$").get(None), None)
result = {
    "own": files.getClass().getName() == "LocalFiles",
    "files": sorted(modes),
    "folder": oct(os.stat(folder + "/made").st_mode & 0o777),
    "rows": spark.read.orc(folder + "/made/below").count(),
    "timed": meter.totalNumRuns() > 0 and meter.totalTime() > 0,
}
"""


@pytest.mark.parametrize("wanted", [True, False])
def test_a_spark_of_tests_replaces_two_parts_and_writes_the_same(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second program has a JVM of its own: a shared one keeps what it was given."""
    if wanted:
        monkeypatch.setenv(spark_shortcuts.WANTED, "1")
    else:
        monkeypatch.delenv(spark_shortcuts.WANTED, raising=False)
    found = run_spark(SCRIPT, conf={"spark.sql.catalogImplementation": "in-memory"}, fresh=not wanted)
    assert found == {
        "own": wanted,
        "files": ["0o644"],
        "folder": "0o710",
        "rows": 3,
        "timed": not wanted,
    }
