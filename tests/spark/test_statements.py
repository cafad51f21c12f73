"""metastored from PySpark: sessions, and metastored's statements beside Spark's own."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import metastored
import metastored.spark
from metastored.errors import ConfigError, StatementError
from metastored.testing import RunningServer, running_server
from tests.support.spark import run_spark

pytestmark = pytest.mark.slow

DEAD = "thrift://127.0.0.1:1"

SCRIPT = """
import metastored, metastored.spark
from metastored.errors import ConfigError, StatementError

def rows(statement):
    return [list(row) for row in metastored.spark.sql(spark, statement).collect()]

result = {}
rows("create database shop")
rows("use shop")
rows("create table orders (id int) using parquet")
rows("insert into orders values (1), (2)")
result["of spark"] = rows("select count(*) from orders")
uris = "'hive.metastore.uris' = '%s'"
result["created"] = rows(f"CREATE REMOTE TABLE old_orders CONNECTED TO raw.orders WITH TBLPROPERTIES ({uris});")
spark.sql(f"create database old with dbproperties ({uris}, 'metastored.remote' = 'raw')")
result["remotes"] = [row[:5] for row in rows("-- of metastored\\nshow remotes")]
frame = metastored.spark.sql(spark, "SHOW REMOTES LIKE 'old'")
result["columns"], result["filtered"] = frame.columns[:2], frame.filter("kind = 'database'").count()
for name, statement in (("metastored", "CREATE REMOTE TABLE t VIA"), ("spark", "CREATE TABLE t VIA")):
    try:
        rows(statement)
    except Exception as error:
        result["error of " + name] = [type(error).__name__, str(error)[:200]]
with metastored.connect(spark.conf.get("spark.hadoop.hive.metastore.uris"), user="bob") as client:
    metastored.spark.sql(spark, f"CREATE REMOTE DATABASE bobs WITH DBPROPERTIES ({uris})", client=client)
    listed = metastored.structs.PropertyGetRequest("metastored.remotes", "database:")
    result["owners"] = {key: value["owner"] for key, value in client.api.get_properties(listed).properties.items()}
result["user"] = spark.sparkContext.sparkUser()
rows("CREATE REMOTE DATABASE mine WITH DBPROPERTIES (" + uris + ")")
with metastored.connect(spark.conf.get("spark.hadoop.hive.metastore.uris")) as client:
    result["mine"] = client.api.get_properties(listed).properties["database:hive.mine"]["owner"]
result["same session"] = metastored.spark.session(spark.conf.get("spark.hadoop.hive.metastore.uris")) is spark
try:
    metastored.spark.session("%s", warehouse="file:/x")
except ConfigError as error:
    result["other session"] = str(error)
rows("DROP REMOTE TABLE old_orders")
rows("DROP REMOTE DATABASE old; DROP REMOTE DATABASE bobs; DROP REMOTE DATABASE mine")
result["left"] = rows("SHOW REMOTES")
""" % (DEAD, DEAD)  # noqa: UP031


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def result(server: RunningServer) -> dict[str, Any]:
    found: dict[str, Any] = run_spark(SCRIPT, conf=metastored.spark.conf(server.uri))
    return found


# Without Spark


def test_importing_the_package_does_not_import_pyspark() -> None:
    program = "import sys, metastored.spark; print('pyspark' in sys.modules, 'lark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_no_module_has_the_name_of_a_function_of_the_package() -> None:
    modules = {module.name for module in pkgutil.iter_modules(metastored.spark.__path__)}
    assert not modules & {"repair", "copy", "session", "conf", "sql"}


def test_the_settings_of_a_session_are_the_address_and_the_warehouse_of_the_server(server: RunningServer) -> None:
    assert metastored.spark.conf(server.uri) == {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": server.uri,
        "spark.sql.warehouse.dir": server.warehouse,
    }


def test_an_address_with_tls_is_said_in_hives_words_with_the_key_store_that_spark_needs() -> None:
    found = metastored.spark.conf(
        "thrifts://a:1,thrifts://b:1", "s3://b/w", truststore="/etc/trust.jks", truststore_password="changeit"
    )
    assert found == {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": "thrift://a:1,thrift://b:1",
        "spark.hadoop.hive.metastore.use.SSL": "true",
        "spark.hadoop.hive.metastore.truststore.path": "/etc/trust.jks",
        "spark.hadoop.hive.metastore.truststore.password": "changeit",
        "spark.sql.warehouse.dir": "s3://b/w",
    }


def test_kerberos_is_said_in_hives_words() -> None:
    assert metastored.spark.conf("thrift://a:1", "s3://b/w", principal="hive/_HOST@REALM") == {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": "thrift://a:1",
        "spark.hadoop.hive.metastore.sasl.enabled": "true",
        "spark.hadoop.hive.metastore.kerberos.principal": "hive/_HOST@REALM",
        "spark.sql.warehouse.dir": "s3://b/w",
    }


@pytest.mark.parametrize(
    ("uri", "arguments", "said"),
    [
        ("https://a/metastore", {}, "not an address for Spark's Hive client.*does not speak HTTP"),
        ("thrift://a:1,thrifts://b:1", {}, "not an address for Spark's Hive client"),
        ("localhost:9083", {}, "not an address for Spark's Hive client"),
        ("thrifts://a:1", {"warehouse": "s3://b/w"}, "give truststore="),
        ("thrift://a:1", {"truststore": "/t.jks"}, "is an address without TLS"),
        ("thrifts://a:1", {"truststore": "/t.jks"}, "give warehouse=, or client="),
    ],
)
def test_what_spark_cannot_use_is_refused_with_the_reason(uri: str, arguments: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        metastored.spark.conf(uri, **arguments)  # type: ignore[arg-type]


# With Spark


@pytest.mark.spark
@pytest.mark.slow
def test_other_statements_are_executed_by_spark(result: dict[str, Any]) -> None:
    assert result["of spark"] == [[2]]
    assert result["error of spark"][0] == "ParseException"


@pytest.mark.spark
@pytest.mark.slow
def test_a_remote_table_is_made_in_sparks_current_database(result: dict[str, Any]) -> None:
    ((warning,),) = result["created"]  # Nobody answers at the address.
    assert DEAD in warning and "it does not answer now" in warning
    assert ["table", "shop.old_orders", "raw.orders", "thrift", DEAD] in result["remotes"]


@pytest.mark.spark
@pytest.mark.slow
def test_create_database_typed_into_spark_sql_makes_a_remote_database(result: dict[str, Any]) -> None:
    assert ["database", "old", "raw", "thrift", DEAD] in result["remotes"]


@pytest.mark.spark
@pytest.mark.slow
def test_a_result_is_a_data_frame(result: dict[str, Any]) -> None:
    assert (result["columns"], result["filtered"]) == (["kind", "name"], 1)


@pytest.mark.spark
@pytest.mark.slow
def test_a_statement_of_metastored_that_cannot_be_parsed_has_its_position(result: dict[str, Any]) -> None:
    kind, text = result["error of metastored"]
    assert kind == StatementError.__name__
    assert text.startswith("line 1, column 26: the statement is not complete; expected: a text in quotes")


@pytest.mark.spark
@pytest.mark.slow
def test_statements_are_executed_as_sparks_user_or_by_the_client_that_is_given(result: dict[str, Any]) -> None:
    assert result["owners"]["database:hive.bobs"] == "bob"
    assert result["mine"] == result["user"]


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_is_that_of_the_process_and_another_metastore_is_refused(result: dict[str, Any]) -> None:
    assert result["same session"] is True
    assert "stop it first" in result["other session"]


@pytest.mark.spark
@pytest.mark.slow
def test_remotes_are_dropped_from_spark(result: dict[str, Any]) -> None:
    assert result["left"] == []
