"""Spark of a test writes local files without a process for each, with the permissions that Hadoop gives them."""

from __future__ import annotations

import pytest

from tests.support import local_files
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
result = {
    "own": files.getClass().getName() == "LocalFiles",
    "files": sorted(modes),
    "folder": oct(os.stat(folder + "/made").st_mode & 0o777),
    "rows": spark.read.orc(folder + "/made/below").count(),
}
"""


@pytest.mark.parametrize("wanted", [True, False])
def test_local_files_have_the_permissions_of_hadoop(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second program has a JVM of its own: a shared one keeps what it was given."""
    if wanted:
        monkeypatch.setenv(local_files.WANTED, "1")
    else:
        monkeypatch.delenv(local_files.WANTED, raising=False)
    found = run_spark(SCRIPT, conf={"spark.sql.catalogImplementation": "in-memory"}, fresh=not wanted)
    assert found == {
        "own": wanted,
        "files": ["0o644"],
        "folder": "0o710",
        "rows": 3,
    }
