"""The environment with the extras of PySpark for Spark Connect and declarative pipelines, which `.venv` is without."""

from __future__ import annotations

from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / ".venv-pipelines/bin/python"
needs_pipelines = pytest.mark.skipif(
    not PYTHON.exists(), reason="pyspark[pipelines] is not on this machine: make setup installs it"
)
