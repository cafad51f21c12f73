"""The Python of Spark's workers: everything here that starts Spark gets it from this file.

PySpark takes `python3` of PATH, which has no metastored in it when a program of a virtual environment is called by its
path. pyspark is not imported here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

VARIABLE: Final = "PYSPARK_PYTHON"
SETTING: Final = "spark.pyspark.python"


def workers_python(settings: Mapping[str, str] | None = None) -> str:
    """The interpreter of the user, by Spark's setting or else by the variable; else the one that runs this."""
    return (settings or {}).get(SETTING) or os.environ.get(VARIABLE) or sys.executable


@contextmanager
def interpreter_set(settings: Mapping[str, str] | None = None) -> Iterator[None]:
    """A Spark that is started meanwhile uses `workers_python`: PySpark reads the variable when its context begins."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = workers_python(settings)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
