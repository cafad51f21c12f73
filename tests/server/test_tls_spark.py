"""PySpark's own Java metastore client over TLS, with a truststore, and metastored's statements in such a session."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import metastored.spark
from tests.server.support import certificate
from tests.support.forks import running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = """
spark.sql("create database d")
spark.sql("create table d.t (a int) using parquet")
spark.sql("insert into d.t values (1), (2)")
result = {"rows": [row[0] for row in spark.sql("select a from d.t order by a").collect()]}

import metastored.spark
remote = "CREATE REMOTE DATABASE old WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')"
metastored.spark.sql(spark, remote)
result["remotes"] = [row["name"] for row in metastored.spark.sql(spark, "SHOW REMOTES").collect()]
"""


def test_spark_and_statements_of_metastored_work_over_tls(tmp_path: Path) -> None:
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
        uri = f"thrifts://localhost:{server.port}"
        conf = metastored.spark.conf(uri, server.warehouse, truststore=str(store), truststore_password=password)
        assert run_spark(SCRIPT, conf=conf) == {"rows": [1, 2], "remotes": ["old"]}
        assert "create_table" in server.log
