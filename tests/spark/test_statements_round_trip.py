"""SHOW CREATE TABLE of the definitions of the Spark catalog tests: the printed statement makes the same table again.

Python's external catalog stores them as Spark does, which `test_with_spark.py` shows with Spark. No Spark is started.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.model.spark.properties import PROVIDER, SPARK_SQL_PREFIX
from metastored.model.spark.reading import spark_table
from metastored.model.spark.values import CatalogTableType
from metastored.spark.external_catalog import ExternalCatalog
from metastored.wire.structs import replace as replace_struct
from tests.client.test_sql_shows import comparable
from tests.spark.test_with_spark import CASES, definition
from tests.support.in_process import serving_metastore


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with (
        serving_metastore(tmp_path_factory.mktemp("round_trip")) as uri,
        metastored.connect(uri, user="ann", cache=False) as client,
    ):
        client.create_database("lab")
        yield client


def stored(table: Any) -> Any:
    """The table without two things.

    Where only Spark can read a table, Spark gives the metastore a placeholder as its location, and reads the option
    `path`. Of a table of Hive's, Spark stores its own view, with the capitals of names; a statement does not.
    """
    plain = comparable(table)
    parameters = plain.parameters
    if PROVIDER not in parameters:
        parameters = {key: value for key, value in parameters.items() if not key.startswith(SPARK_SQL_PREFIX)}
        return replace_struct(plain, parameters=parameters)
    return replace_struct(plain, sd=replace_struct(plain.sd, location=None))


@pytest.mark.parametrize("external", [False, True], ids=["managed", "external"])
@pytest.mark.parametrize("name", CASES)
def test_the_printed_statement_makes_the_same_table_again(
    client: Any, tmp_path: Path, name: str, external: bool
) -> None:
    catalog = ExternalCatalog(client)
    table = definition(name, CASES[name])
    if external:
        table = replace(table, table_type=CatalogTableType.EXTERNAL).with_storage(
            location_uri=(tmp_path / "it's 100% here").as_uri()
        )
    catalog.create_table(table)
    before = client.fresh_table(f"lab.p_{name}")
    ((text,),) = client.sql(f"SHOW CREATE TABLE lab.p_{name}").rows
    client.sql(f"DROP TABLE lab.p_{name}")
    client.sql(text)
    after = client.fresh_table(f"lab.p_{name}")
    try:
        assert stored(after) == stored(before)
        if CASES[name].provider != "hive":
            assert spark_table(comparable(after)) == spark_table(comparable(before))
        assert client.sql(f"SHOW CREATE TABLE lab.p_{name}").rows == ((text,),)
    finally:
        client.sql(f"DROP TABLE lab.p_{name}")
