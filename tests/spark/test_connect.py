"""metastored's statements over Spark Connect, with Sail as its server: they need a client, and Spark's own do not."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.testing import running_server
from tests.support.foreign import run_foreign

pytestmark = [pytest.mark.witness, pytest.mark.slow]

SCRIPT = """
import os, sys
# Behind the packages of this environment, whose pyspark is the client of Spark Connect.
sys.path += paths
os.environ["SAIL_CATALOG__LIST"] = '[{type="hms", name="hive", uris=["%s:%d"]}]' % (host, port)
os.environ["SAIL_CATALOG__DEFAULT_CATALOG"] = "hive"
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession
import metastored, metastored.spark
from metastored.errors import ConfigError

sail = SparkConnectServer()
sail.start(background=True)
spark = SparkSession.builder.remote("sc://%s:%d" % sail.listening_address).getOrCreate()
result = {"kind": type(spark).__module__}
statement = f"CREATE REMOTE DATABASE old CONNECTED TO raw WITH DBPROPERTIES ('hive.metastore.uris' = '{far}')"
try:
    metastored.spark.sql(spark, statement)
except ConfigError as error:
    result["refused"] = str(error)
with metastored.connect(f"thrift://{host}:{port}", user="ann") as client:
    metastored.spark.sql(spark, statement, client=client)
    frame = metastored.spark.sql(spark, "SHOW REMOTES", client=client)
    result["remotes"] = [[row["kind"], row["name"]] for row in frame.collect()]
result["tables"] = [row[1] for row in metastored.spark.sql(spark, "show tables in old").collect()]
"""


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    with running_server() as far, running_server() as server:
        with metastored.connect(far.uri) as client:
            client.create_database("raw")
            client.create_table(metastored.table("raw.orders", {"id": "bigint"}))
        paths = [str(Path(metastored.__file__).parents[1]), sysconfig.get_paths()["purelib"]]
        place = {"host": server.host, "port": server.port, "far": far.uri, "paths": paths}
        found: dict[str, Any] = run_foreign(SCRIPT, **place)
    return found


def test_without_a_client_a_statement_of_metastored_is_refused_with_a_sentence(result: dict[str, Any]) -> None:
    assert result["kind"] == "pyspark.sql.connect.session"
    assert "a session of Spark Connect" in result["refused"] and "client=metastored.connect(" in result["refused"]


def test_with_a_client_a_remote_is_made_and_results_are_data_frames(result: dict[str, Any]) -> None:
    assert result["remotes"] == [["database", "old"]]


def test_other_statements_are_executed_by_the_server_and_see_the_remote(result: dict[str, Any]) -> None:
    assert result["tables"] == ["orders"]
