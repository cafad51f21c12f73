"""Iceberg as a remote's definition describes it: tables at paths, REST and SQL catalogs, written by pyiceberg."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog as TheirRestCatalog
from pyiceberg.catalog.sql import SqlCatalog

from metastored.connectors.context import Context
from metastored.connectors.failures import CredentialsRefused, Unreachable
from metastored.connectors.iceberg.paths import newest_metadata
from metastored.connectors.registry import Connectors
from metastored.errors import (
    ConfigError,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    UnknownTableException,
)
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.support.iceberg_rest import RestCatalog

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def at(timeout: float = 60.0, /, **keys: str) -> Endpoint:
    """Keyword `path` is iceberg.table.path; others are iceberg.catalog.…"""
    names = {"path": "iceberg.table.path"}
    found = {names.get(key, f"iceberg.catalog.{key.replace('_', '-')}"): value for key, value in keys.items()}
    return Endpoint("iceberg", tuple(sorted(found.items())), timeout)


@asynccontextmanager
async def connected(endpoint: Endpoint, context: Context | None = None) -> AsyncIterator[Any]:
    handler: Any = Connectors(context).connect(endpoint)
    try:
        yield handler
    finally:
        await handler.close()


async def ask(handler: Any, name: str, *args: Any) -> Any:
    method = METHODS[name]
    return (await handler.handle(Call(method, args), Session())).value(method)


async def failure_of(handler: Any, name: str = "get_all_databases", *args: Any) -> Exception:
    reply = await handler.handle(Call(METHODS[name], args), Session())
    assert isinstance(reply.error, MetaException)
    return reply.error


class Lake:
    """A SQL catalog of pyiceberg's with the table `Sales.orders`."""

    def __init__(self, folder: Path) -> None:
        (folder / "warehouse").mkdir()
        self.uri = f"sqlite:///{folder / 'catalog.db'}"
        self.catalog: Catalog = SqlCatalog("lake", uri=self.uri, warehouse=(folder / "warehouse").as_uri())
        self.catalog.create_namespace("Sales")
        self.orders = self.catalog.create_table("Sales.orders", ROWS.schema)
        self.orders.append(ROWS)

    @property
    def metadata(self) -> str:
        """Where the present metadata is."""
        return self.catalog.load_table("Sales.orders").metadata_location


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    found = Lake(tmp_path)
    yield found
    found.catalog.close()


# Tables at paths


def test_a_table_is_found_by_the_path_of_its_metadata_under_any_name(lake: Lake) -> None:
    async def test() -> None:
        async with connected(at(path=lake.metadata)) as handler:
            table = await ask(handler, "get_table", "any", "name")
            assert (table.dbName, table.tableName, table.tableType) == ("any", "name", "EXTERNAL_TABLE")
            assert table.parameters["table_type"] == "ICEBERG"
            assert table.parameters["metadata_location"] == lake.metadata
            assert table.parameters["numRows"] == "3"
            assert [(column.name, column.type) for column in table.sd.cols] == [("id", "bigint"), ("name", "string")]
            assert table.sd.location == lake.orders.location()
            assert await ask(handler, "get_all_tables", "any") == ("orders",)
            assert await ask(handler, "get_partitions", "any", "name", -1) == ()

    run(test())


def test_a_table_is_found_by_its_directory_with_its_newest_metadata(lake: Lake) -> None:
    async def test() -> None:
        async with connected(at(path=lake.orders.location())) as handler:
            assert (await ask(handler, "get_table", "d", "t")).parameters["metadata_location"] == lake.metadata
            lake.orders.append(ROWS)
            table = await ask(handler, "get_table", "d", "t")
            assert (table.parameters["metadata_location"], table.parameters["numRows"]) == (lake.metadata, "6")

    run(test())


@pytest.mark.parametrize(
    ("names", "newest"),
    [
        (["00000-a1.metadata.json", "00010-b2.metadata.json", "00009-c3.metadata.json"], "00010-b2.metadata.json"),
        (["v1.metadata.json", "v12.gz.metadata.json", "v2.metadata.json"], "v12.gz.metadata.json"),
        (["snap-1.avro", "version-hint.text"], None),
    ],
)
def test_the_newest_metadata_has_the_highest_version(names: list[str], newest: str | None) -> None:
    assert newest_metadata([(name, 0) for name in names]) == newest


def test_of_two_metadata_with_one_version_the_one_written_last_is_newest() -> None:
    assert newest_metadata([("00001-ff.metadata.json", 5), ("00001-aa.metadata.json", 9)]) == "00001-aa.metadata.json"


def test_a_path_without_a_table_is_a_table_that_does_not_exist(tmp_path: Path) -> None:
    async def test() -> None:
        for path in (tmp_path / "none", tmp_path / "none" / "v1.metadata.json"):
            async with connected(at(path=str(path))) as handler:
                with pytest.raises(NoSuchObjectException, match=f"there is no Iceberg table at {path}"):
                    await ask(handler, "get_table", "d", "t")
                with pytest.raises(UnknownTableException):
                    await ask(handler, "get_fields", "d", "t")

    run(test())


def test_a_file_that_is_no_metadata_is_refused_without_its_text(tmp_path: Path) -> None:
    file = tmp_path / "v1.metadata.json"
    file.write_text('{"password": "honey"}')

    async def test() -> None:
        async with connected(at(path=str(file))) as handler:
            error = await failure_of(handler, "get_table", "d", "t")
            assert f"{file} is not the metadata of an Iceberg table" in str(error)
            assert "honey" not in str(error)

    run(test())


def test_a_table_at_a_path_is_never_changed(lake: Lake) -> None:
    async def test() -> None:
        async with connected(at(path=lake.metadata)) as handler:
            table = await ask(handler, "get_table", "d", "t")
            for name, args in {"alter_table": ("d", "t", table)}.items():
                with pytest.raises(InvalidOperationException, match="which is only read"):
                    await ask(handler, name, *args)
            with pytest.raises(MetaException, match="which is only read"):
                await ask(handler, "drop_table", "d", "t", True)

    run(test())


def test_a_table_that_hive_reads_too_has_icebergs_storage_handler(lake: Lake) -> None:
    with lake.orders.transaction() as transaction:
        transaction.set_properties({"engine.hive.enabled": "true"})

    async def test() -> None:
        async with connected(at(path=lake.metadata)) as handler:
            table = await ask(handler, "get_table", "d", "t")
            assert table.parameters["storage_handler"] == "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
            assert table.sd.serdeInfo.serializationLib == "org.apache.iceberg.mr.hive.HiveIcebergSerDe"

    run(test())


# SQL catalogs


def test_a_sql_catalog_is_read_with_the_case_of_its_names(lake: Lake) -> None:
    async def test() -> None:
        async with connected(at(uri=lake.uri, name="lake")) as handler:
            assert await ask(handler, "get_all_databases") == ("Sales",)
            assert await ask(handler, "get_all_tables", "Sales") == ("orders",)
            table = await ask(handler, "get_table", "Sales", "orders")
            assert table.parameters["metadata_location"] == lake.metadata

    run(test())


def test_a_sql_catalog_that_is_not_there_is_not_created(tmp_path: Path) -> None:
    file = tmp_path / "none.db"

    async def test() -> None:
        async with connected(at(uri=f"sqlite:///{file}")) as handler:
            error = await failure_of(handler)
            assert isinstance(error, Unreachable)
            assert "there is no such file" in str(error)
        assert not file.exists()
        file.touch()
        async with connected(at(uri=f"sqlite:///{file}")) as handler:
            assert "no such table" in str(await failure_of(handler))
        assert file.stat().st_size == 0

    run(test())


def test_the_password_of_a_sql_catalog_is_in_no_error() -> None:
    async def test() -> None:
        uri = "postgresql+psycopg://ann:honey@127.0.0.1:1/lake"
        async with connected(at(uri=uri)) as handler:
            error = await failure_of(handler)
            assert isinstance(error, Unreachable)
            assert "127.0.0.1" in str(error) and "honey" not in str(error)

    run(test())


def test_the_host_of_a_sql_catalog_is_checked_after_its_name_was_resolved() -> None:
    async def test() -> None:
        context = Context(AllowedHosts.read(["*host"]))
        async with connected(at(uri="postgresql+psycopg://ann@localhost:1/lake"), context) as handler:
            assert "is not among the hosts that remotes may use" in str(await failure_of(handler))

    run(test())


# REST catalogs


@pytest.fixture
def db(iceberg_rest: RestCatalog) -> Iterator[str]:
    """A namespace of the REST catalog with the table `orders`."""
    name = f"lake_{uuid.uuid4().hex[:8]}"
    catalog = TheirRestCatalog("rest", uri=iceberg_rest.uri)
    catalog.create_namespace(name)
    catalog.create_table(f"{name}.orders", ROWS.schema)
    yield name
    catalog.drop_table(f"{name}.orders")
    catalog.drop_namespace(name)
    catalog.close()


def test_a_rest_catalog_is_read(iceberg_rest: RestCatalog, db: str) -> None:
    async def test() -> None:
        async with connected(at(uri=iceberg_rest.uri)) as handler:
            assert db in await ask(handler, "get_all_databases")
            assert (await ask(handler, "get_table", db, "orders")).parameters["table_type"] == "ICEBERG"
            with pytest.raises(NoSuchObjectException, match=rf"^{db}\.none table not found$"):
                await ask(handler, "get_table", db, "none")

    run(test())


def test_a_commit_by_the_metastores_api_is_refused_and_not_lost_silently(iceberg_rest: RestCatalog, db: str) -> None:
    async def test() -> None:
        async with connected(at(uri=iceberg_rest.uri)) as handler:
            table = await ask(handler, "get_table", db, "orders")
            moved = replace(
                table, parameters=table.parameters | {"metadata_location": "file:///elsewhere.metadata.json"}
            )
            with pytest.raises(
                InvalidOperationException, match=f"commit through the Iceberg catalog at {iceberg_rest.uri}"
            ):
                await ask(handler, "alter_table", db, "orders", moved)
            await ask(handler, "alter_table", db, "orders", replace(table, parameters=table.parameters | {"x": "1"}))
            assert (await ask(handler, "get_table", db, "orders")).parameters["x"] == "1"

    run(test())


def test_a_token_is_a_reference_that_is_read_again_after_it_was_refused(
    iceberg_rest: RestCatalog, db: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("old-token")
    context = Context(secrets=RemoteSecrets(references=[f"file:{tmp_path}/*"]))

    async def test() -> None:
        async with connected(at(uri=iceberg_rest.uri, token=f"file:{file}"), context) as handler:
            with iceberg_rest.demanding("old-token"):
                assert db in await ask(handler, "get_all_databases")
            with iceberg_rest.demanding("new-token"):
                error = await failure_of(handler)
                assert isinstance(error, CredentialsRefused)
                assert iceberg_rest.uri in str(error) and "old-token" not in str(error)
                file.write_text("new-token")
                assert db in await ask(handler, "get_all_databases")

    run(test())


def test_the_host_of_a_rest_catalog_is_checked_at_the_connection(iceberg_rest: RestCatalog) -> None:
    port = int(iceberg_rest.uri.rpartition(":")[2])

    async def test() -> None:
        context = Context(AllowedHosts.read(["*host"]))
        async with connected(at(uri=f"http://localhost:{port}"), context) as handler:
            text = str(await failure_of(handler))
            assert f"localhost:{port} (127.0.0.1) is not among the hosts that remotes may use" in text

    run(test())


def test_a_rest_catalog_that_is_not_there_is_unreachable_and_found_once_it_is() -> None:
    async def test() -> None:
        async with connected(at(uri="http://127.0.0.1:1")) as handler:
            error = await failure_of(handler)
            assert isinstance(error, Unreachable)
            assert "the Iceberg catalog at http://127.0.0.1:1" in str(error)

    run(test())


# Definitions


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"uri": "ftp://there"}, "begins with ftp://"),
        ({"uri": "https://there", "type": "sql"}, "REST catalogs have"),
        ({"uri": "https://there", "py_catalog_impl": "os.system"}, "may set"),
        ({"uri": "https://there", "py_io_impl": "x.Y"}, "may set"),
        ({"uri": "https://there", "path": "/t"}, "are both given"),
    ],
)
def test_definitions_that_cannot_be_used_are_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Connectors().connect(at(60.0, **keys))
