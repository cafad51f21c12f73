"""PySpark's own Java metastore client over TLS, with a truststore: unmodified, with the usual settings of Hive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from metastored.testing import running_server
from tests.server.support import certificate
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
spark.sql("create database d")
spark.sql("create table d.t (a int) using parquet")
spark.sql("insert into d.t values (1), (2)")
result = [row[0] for row in spark.sql("select a from d.t order by a").collect()]
"""


def test_spark_works_over_tls(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    store, password = tmp_path / "trust.jks", "changeit"
    keytool = shutil.which("keytool")
    assert keytool is not None, "keytool comes with every Java"
    subprocess.run(
        [
            *(keytool, "-importcert", "-noprompt", "-alias", "metastored", "-file", str(chain)),
            *("-keystore", str(store), "-storepass", password),
        ],
        check=True,
        capture_output=True,
    )
    with running_server(tls_certificate=chain, tls_key=key, slow_call=0) as server:
        conf = {
            "spark.hadoop.hive.metastore.uris": f"thrift://localhost:{server.port}",
            "spark.hadoop.hive.metastore.use.SSL": "true",
            "spark.hadoop.hive.metastore.truststore.path": str(store),
            "spark.hadoop.hive.metastore.truststore.password": password,
            "spark.sql.warehouse.dir": server.warehouse,
        }
        assert run_spark(SCRIPT, conf=conf) == [1, 2]
        assert "create_table" in server.log
