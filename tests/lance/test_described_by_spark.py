"""Spark without Lance: it describes a Lance table by its columns in the metastore, and refuses to read its files."""

from __future__ import annotations

import pytest

from tests.support.lance import Space
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
columns = [[row.col_name, row.data_type] for row in spark.sql("DESCRIBE " + TABLE).collect()]
try:
    refused = str(spark.table(TABLE).count())
except Exception as error:
    refused = str(error)
result = [columns, refused]
"""


def test_the_columns_are_described_and_the_files_are_not_read_as_text(managed: Space) -> None:
    managed.create("points")
    script = f"TABLE = '{managed.name}.points'\n{SCRIPT}"
    columns, refused = run_spark(script, conf={"spark.hadoop.hive.metastore.uris": managed.uri})
    assert columns == [["id", "bigint"], ["name", "string"], ["vector", "array<float>"]]
    assert "org.lance.mapred.LanceInputFormat" in refused
