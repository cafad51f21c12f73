"""Names of statements, resolved with a real metastore: ACID tables, views that read them, and all others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import ApplicationError, MetaException
from metastored.model.names import TableName
from metastored.spark.acid.sql.resolving import MetastoreLookup, Names
from metastored.spark.acid.sql.tables import Definition, Found, Parts
from metastored.testing import running_server
from metastored.wire.message import Call, Reply, Session
from metastored.wire.structs import replace
from tests.support.memory_metastore import MemoryMetastore

ORDERS = TableName("", "shop", "orders")
ACID = {"transactional": "true"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[metastored.Client]:
    with running_server() as server, metastored.connect(server.uri, cache=False) as found:
        found.create_database(metastored.database("shop"))
        found.create_table(metastored.table("shop.orders", {"id": "int"}, format="orc", properties=ACID))
        insert_only = {**ACID, "transactional_properties": "insert_only"}
        found.create_table(metastored.table("shop.log", {"id": "int"}, properties=insert_only))
        found.create_table(metastored.table("shop.plain", {"id": "int"}))
        found.create_table(metastored.table("default.orders", {"id": "int"}))
        view(found, "default.of_acid", "SELECT * FROM shop.orders")
        view(found, "default.of_view", "SELECT * FROM of_acid JOIN shop.plain USING (id)")
        view(found, "default.of_plain", "SELECT * FROM shop.plain")
        view(found, "default.circle", "SELECT * FROM circle")
        namespace = {
            "view.catalogAndNamespace.numParts": "2",
            "view.catalogAndNamespace.part.0": "spark_catalog",
            "view.catalogAndNamespace.part.1": "shop",
            "view.query.out.numCols": "1",
            "view.query.out.col.0": "id",
        }
        view(found, "default.of_spark", "SELECT * FROM orders", **namespace)
        view(found, "default.odd", "TRANSFORM FROM shop.orders USING")
        yield found


def view(client: metastored.Client, name: str, text: str, **parameters: str) -> None:
    made = metastored.table(name, {"id": "int"}, properties=parameters)
    client.create_table(replace(made, tableType="VIRTUAL_VIEW", viewOriginalText=text, viewExpandedText=text))


def found(client: metastored.Client, *parts: str, names: Names | None = None) -> Found | None:
    wanted: Parts = parts
    return MetastoreLookup(client, names or Names("shop"))({wanted}).get(wanted)


def test_a_transactional_table_is_found_by_its_name_in_all_forms(client: metastored.Client) -> None:
    assert found(client, "orders") == Found(ORDERS)
    assert found(client, "shop", "orders") == Found(ORDERS)
    assert found(client, "spark_catalog", "shop", "orders") == Found(ORDERS)
    assert found(client, "log") == Found(TableName("", "shop", "log"))


def test_other_tables_are_not_found(client: metastored.Client) -> None:
    for parts in (("plain",), ("missing",), ("default", "orders"), ("nowhere", "orders"), ("parquet", "/data/x")):
        assert found(client, *parts) is None
    assert found(client, "iceberg", "shop", "orders") is None
    assert found(client, "orders", names=Names("default")) is None


@pytest.mark.parametrize(
    "error",
    [MetaException("the database is locked"), ApplicationError(ApplicationError.INTERNAL_ERROR, "Internal error")],
)
def test_an_error_of_the_metastore_does_not_make_a_table_look_plain(error: Exception) -> None:
    class Failing(MemoryMetastore):
        """Cannot list tables."""

        async def handle(self, call: Call, session: Session) -> Reply:
            if call.method.name.startswith("get_table_objects_by_name"):
                return Reply.raised(call.method, error)
            return await super().handle(call, session)

    with metastored.connect(handler=Failing({"shop": ("orders",)}), cache=False) as client:
        with pytest.raises(type(error), match=str(error)):
            found(client, "shop", "orders")
        assert found(client, "parquet", "/data/x") is None


def test_a_temporary_view_hides_a_table_of_the_current_database(client: metastored.Client) -> None:
    names = Names("shop", is_temporary=lambda name: name == "orders")
    assert found(client, "orders", names=names) is None
    assert found(client, "shop", "orders", names=names) == Found(ORDERS)


def test_names_of_another_current_catalog_are_not_in_the_metastore(client: metastored.Client) -> None:
    names = Names("shop", "iceberg")
    assert found(client, "orders", names=names) is None and found(client, "shop", "orders", names=names) is None
    assert found(client, "spark_catalog", "shop", "orders", names=names) == Found(ORDERS)


@pytest.mark.parametrize("name", ["of_acid", "of_view", "of_spark", "odd"])
def test_a_view_that_reads_an_acid_table_is_found(client: metastored.Client, name: str) -> None:
    view = found(client, "default", name)
    assert view is not None and view.table == ORDERS and view.name == TableName("", "default", name)


def test_the_definition_of_a_view_has_the_database_in_which_it_was_created(client: metastored.Client) -> None:
    plain, of_spark = found(client, "default", "of_acid"), found(client, "default", "of_spark")
    assert plain is not None and of_spark is not None
    name = TableName("", "default", "of_acid")
    assert plain.view == Definition(name, "SELECT * FROM shop.orders", "default", "spark_catalog", ("id",))
    name = TableName("", "default", "of_spark")
    assert of_spark.view == Definition(name, "SELECT * FROM orders", "shop", "spark_catalog", ("id",), ("id",))


@pytest.mark.parametrize("name", ["of_plain", "circle"])
def test_a_view_of_other_tables_is_not_found(client: metastored.Client, name: str) -> None:
    assert found(client, "default", name) is None
