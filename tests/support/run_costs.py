"""Saves processor time in a test run, without a change to what tests see.

Collecting thousands of tests allocates many objects that live until the end: the garbage collector is off meanwhile,
and never looks at them again. The JVMs of tests, Spark's and Hive's, run for seconds or minutes: they compile with
the first compiler only, into a code cache that does not get full, collect garbage in one thread, and map the classes of
Spark from an archive (`class_archive.py`) if there is one. Spark writes local files without a process for each
(`local_files.py`), and interprets expressions (`spark.py`). Temporary files can be in memory (`memory_folder.py`). The
Derby databases of Hive's servers do not wait for the disk.

Large tests (`make soak`) start those processes and use the disk, and Spark generates code; longer ones (`SOAK=10`) have
Java's defaults but for Derby, and benchmarks all of them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from typing import Final

import pytest

from tests.support import class_archive, local_files, memory_folder, spark
from tests.support.soak import SCALE

JAVA_OPTIONS: Final = "JDK_JAVA_OPTIONS"
"""The environment variable with flags for every JVM that is started."""
DERBY: Final = "-Dderby.system.durability=test"
SHORT_LIVED: Final = f"-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC {DERBY}"


class RunCosts:
    """A plugin of pytest."""

    def pytest_configure(self, config: pytest.Config) -> None:
        large = config.option.markexpr == "soak"
        if not large:
            os.environ[local_files.WANTED] = os.environ[spark.INTERPRET] = "1"
            memory_folder.use()
        short_lived = f"{SHORT_LIVED} {class_archive.java_options()}".strip()
        os.environ.setdefault(JAVA_OPTIONS, DERBY if large and SCALE > 1 else short_lived)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()
