"""Names, defaults, temporary views, and catalogs that are opened when they are needed."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from metastored.catalog import (
    AsyncCatalogManager,
    CatalogManager,
    ColumnStatus,
    TableDefinition,
    TableKind,
    ViewDefinition,
)
from metastored.catalog.settings import MemoryCatalog
from metastored.client.metrics import Prometheus
from metastored.errors import (
    ConfigError,
    ConnectError,
    ConversionError,
    InvalidInputException,
    MissingExtra,
    ObjectAlreadyExists,
    ObjectNotFound,
    install_command,
)
from tests.support.driven import managed
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

TWO = [{"name": "one", "type": "memory"}, {"name": "two", "type": "memory", "initial_database": "first"}]
TABLE = TableDefinition(columns=[ColumnStatus("id", "bigint")])
VIEW = ViewDefinition(definition="select 1 as id", columns=[ColumnStatus("id", "int")], comment="one")


def test_names_are_completed_by_the_defaults(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        assert catalogs.catalogs == ("one", "two")
        assert catalogs.create_table("t", TABLE).full_name == "one.default.t"
        catalogs.use("two", "first")
        assert catalogs.create_table("t", TABLE).full_name == "two.first.t"
        assert catalogs.get_table("one.default.t").full_name == "one.default.t"
        assert catalogs.get_table("first.t").full_name == "two.first.t"
        assert catalogs.get_database().name == "first"
        assert catalogs.get_database("one.default").catalog == "one"
        assert [each.name for each in catalogs.list_databases()] == ["default", "first"]
        assert [each.name for each in catalogs.list_tables()] == ["t"]
        assert catalogs.get_table(("one", "default", "t")).catalog == "one"


@pytest.mark.parametrize("name", ["", "a..b", ".t", ()])
def test_names_with_empty_parts_are_refused(name: Any) -> None:
    with managed("sync", environment={}, list=TWO) as catalogs:
        for call in (catalogs.get_table, catalogs.get_database):
            with pytest.raises(InvalidInputException, match="a part of it is empty"):
                call(name)


def test_an_unknown_catalog_is_named_with_the_known_ones(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        with pytest.raises(
            InvalidInputException, match=r"'three', which is not a catalog; known are one, two\. Write table"
        ):
            catalogs.get_table("three.db.t")
        with pytest.raises(InvalidInputException, match=r"Write database or catalog\.database"):
            catalogs.get_database("three.db")
        with pytest.raises(InvalidInputException, match="there is no catalog 'three'; known are one, two"):
            catalogs.provider("three")
        with pytest.raises(InvalidInputException, match="there is no catalog 'three'"):
            catalogs.use("three")
    with pytest.raises(ConfigError, match="at least one catalog"):
        CatalogManager({})


def test_a_catalog_that_is_down_affects_only_calls_to_it(half: str) -> None:
    dead = {"name": "dead", "type": "hive", "uri": "thrift://127.0.0.1:1", "thrift": {"timeout_ms": 500}}
    with managed(half, environment={}, list=[*TWO, dead]) as catalogs:
        assert catalogs.get_database("one.default").catalog == "one"
        for _ in range(2):
            message = r"catalog 'dead': cannot connect to thrift://127\.0\.0\.1:1: connection refused"
            with pytest.raises(ConnectError, match=message):
                catalogs.get_database("dead.default")
        assert catalogs.get_database("two.first").catalog == "two"


def test_concurrent_calls_open_a_catalog_once() -> None:
    registry = CollectorRegistry()
    with CatalogManager.load(environment={}, list=TWO, metrics=Prometheus(registry)) as catalogs:
        found: list[Any] = []
        threads = [threading.Thread(target=lambda: found.append(catalogs.provider("two"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(map(id, found))) == 1
        assert registry.get_sample_value(
            "metastored_client_calls_total", {"method": "create_database", "outcome": "ok"}
        ) == 1  # fmt: skip

    async def together() -> int:
        async with AsyncCatalogManager.load(environment={}, list=TWO) as manager:
            return len(set(map(id, await asyncio.gather(*(manager.provider("two") for _ in range(4))))))

    assert asyncio.run(together()) == 1


def test_opening_a_catalog_is_retried_by_the_next_call(half: str) -> None:
    broken = {"name": "broken", "type": "memory", "initial_database": "a\\b"}
    with managed(half, environment={}, list=[broken]) as catalogs:
        for _ in range(2):
            with pytest.raises(Exception, match=r"a\\b is not a valid database name"):
                catalogs.get_database("default")


def test_settings_of_a_metastore_reach_its_client(half: str) -> None:
    with running_server() as server:
        settings = {
            "name": "hive",
            "type": "hive_metastore",
            "uri": server.uri,
            "username": "ann",
            "connection_pool": {"max_size": 3, "min_idle": 9, "idle_timeout_ms": 1500, "connection_timeout_ms": 900},
            "cache": {"max_capacity": 5, "ttl_seconds": 7, "tti_seconds": 6, "events_every": 2.5},
            "thrift": {"protocol": "compact", "transport": "framed", "timeout_ms": 1234},
        }
        with managed(half, environment={}, list=[settings]) as catalogs:
            client = catalogs.provider().client
            assert client.api.timeout == 1.234
            assert (client.api.pool.settings.max_size, client.api.pool.settings.min_idle) == (3, 3)
            assert client.api.pool.settings.idle_timeout == 1.5
            assert client.pool_stats().opened == 3
            assert client.api.pool.settings.acquire_timeout == 0.9
            assert client.cache.settings[:4] == (True, 5, 7, 6)
            assert (client.cache.settings.tables, client.cache.settings.events_every) == (50, 2.5)
            assert catalogs.get_database("default").catalog == "hive"
            with client.lock("default"):
                pass


def test_the_metastores_principal_turns_kerberos_on(half: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None
    monkeypatch.setitem(sys.modules, "gssapi", absent)
    settings = {"name": "h", "type": "hive", "uri": "thrift://127.0.0.1:1", "kerberos_principal": "hive/_HOST@REALM"}
    with managed(half, environment={}, list=[settings]) as catalogs:
        with pytest.raises(MissingExtra, match=re.escape(install_command("kerberos"))):
            catalogs.get_database()


# Temporary views


def test_a_temporary_view_comes_before_a_table_of_its_name(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        catalogs.create_table("t", TABLE)
        made = catalogs.temporary.create("T", VIEW, shared=False, replace=False)
        assert (made.kind, made.comment, made.is_view) == (TableKind.TEMPORARY_VIEW, "one", True)
        assert catalogs.get_table("t") == catalogs.get_view("t") == made
        assert catalogs.get_table("default.t").kind is TableKind.TABLE
        with pytest.raises(ObjectAlreadyExists, match="temporary view t"):
            catalogs.temporary.create("t", VIEW, shared=False, replace=False)
        catalogs.temporary.create("t", VIEW, shared=False, replace=True)
        catalogs.temporary.drop("t", shared=False, if_exists=False)
        assert catalogs.get_table("t").kind is TableKind.TABLE
        with pytest.raises(ObjectNotFound, match="temporary view t not found"):
            catalogs.temporary.drop("t", shared=False, if_exists=False)
        catalogs.temporary.drop("t", shared=False, if_exists=True)


def test_global_views_are_in_a_database_of_their_own(half: str) -> None:
    with managed(half, environment={}, list=TWO, global_temporary_database="shared") as catalogs:
        catalogs.temporary.create("v", VIEW, shared=True, replace=False)
        catalogs.temporary.create("w", VIEW, shared=False, replace=False)
        assert catalogs.get_view("shared.v").kind is TableKind.GLOBAL_TEMPORARY_VIEW
        assert [each.name for each in catalogs.temporary.list()] == ["w", "v"]
        assert [each.name for each in catalogs.temporary.list("v*")] == ["v"]
        with pytest.raises(ObjectNotFound):
            catalogs.get_table("v")


def test_a_temporary_view_is_created_and_dropped_by_its_name_alone(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        catalogs.temporary.create("v", VIEW)
        catalogs.temporary.create("GLOBAL_TEMP.w", VIEW)
        assert [(each.name, each.kind) for each in catalogs.temporary.list()] == [
            ("v", TableKind.TEMPORARY_VIEW),
            ("w", TableKind.GLOBAL_TEMPORARY_VIEW),
        ]
        catalogs.temporary.drop("V")
        catalogs.temporary.drop("w")
        assert catalogs.temporary.list() == []
        with pytest.raises(ObjectNotFound, match="temporary view v not found"):
            catalogs.temporary.drop("v")
        catalogs.temporary.drop("v", if_exists=True)
        with pytest.raises(InvalidInputException, match=r"'db\.v' is not a name of a temporary view: .*global_temp\.v"):
            catalogs.temporary.create("db.v", VIEW)


def test_global_views_are_found_in_every_call_and_any_case(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        created = catalogs.create_view("Global_Temp.V", VIEW)
        assert created.kind is TableKind.GLOBAL_TEMPORARY_VIEW
        assert catalogs.create_view("global_temp.v", VIEW, if_not_exists=True) == created
        with pytest.raises(ObjectAlreadyExists):
            catalogs.create_view("global_temp.v", VIEW)
        catalogs.create_view("global_temp.v", VIEW, replace=True)
        for database in ("global_temp", "GLOBAL_TEMP", ("Global_Temp",)):
            assert [each.name for each in catalogs.list_tables(database)] == ["v"]
            assert [each.name for each in catalogs.list_views(database, "v*")] == ["v"]
        assert catalogs.list_views("global_temp", "x*") == []
        assert catalogs.get_view("GLOBAL_TEMP.v").name == catalogs.get_table("global_temp.V").name == "v"
        with pytest.raises(InvalidInputException, match="is a temporary view: drop it with drop_view"):
            catalogs.drop_table("global_temp.v")
        catalogs.drop_view("Global_TEMP.V")
        for call in (catalogs.get_table, catalogs.get_view, catalogs.drop_view):
            with pytest.raises(ObjectNotFound, match="global temporary view"):
                call("global_temp.v")
        catalogs.drop_view("global_temp.v", if_exists=True)
        catalogs.temporary.create("s", VIEW)
        catalogs.drop_view("S")
        assert catalogs.temporary.list() == []


@pytest.mark.apache
@pytest.mark.slow
@pytest.mark.parametrize("idle", [0, 2])
def test_a_wrong_transport_names_the_key_to_change(half: str, hive_2_3: Any, idle: int) -> None:
    settings = {
        "name": "h",
        "type": "hive",
        "uri": hive_2_3.uri,
        "connection_pool": {"min_idle": idle},
        "thrift": {"transport": "framed", "timeout_ms": 5000},
    }
    with managed(half, environment={}, list=[settings]) as catalogs:
        with pytest.raises(
            Exception, match=r"thrift\.transport is framed: if the server is not framed.*set .* to auto"
        ):
            catalogs.get_database("default")


# Custom providers


def test_a_custom_provider_is_used_and_closed() -> None:
    class Mine:
        name = "mine"
        closed = False

        def close(self) -> None:
            self.closed = True

        def get_database(self, database: tuple[str, ...]) -> Any:
            return f"mine: {database[0]}"

    mine: Any = Mine()
    with CatalogManager({"mine": mine, "m": MemoryCatalog(name="m")}) as catalogs:
        found: Any = catalogs.get_database("x")
        assert found == "mine: x"
    assert mine.closed


@pytest.mark.parametrize(
    ("entry", "module", "extra"),
    [
        ({"type": "iceberg", "uri": "http://127.0.0.1:1"}, "pyiceberg.catalog", "iceberg"),
        ({"type": "glue"}, "boto3", "glue"),
    ],
)
def test_a_catalog_without_its_library_names_the_pip_command(
    half: str, monkeypatch: pytest.MonkeyPatch, entry: dict[str, str], module: str, extra: str
) -> None:
    absent: Any = None
    monkeypatch.setitem(sys.modules, module, absent)
    with managed(half, environment={}, list=[{"name": "x", **entry}]) as catalogs:
        with pytest.raises(MissingExtra, match=re.escape(install_command(extra))):
            catalogs.list_databases()


def test_libraries_are_imported_when_they_are_used() -> None:
    program = """
import sys
from metastored.catalog import CatalogManager, ColumnStatus, TableDefinition
with CatalogManager.load(environment={}, list=[{"name": "m", "type": "memory"}]) as catalogs:
    catalogs.create_table("t", TableDefinition(columns=[ColumnStatus("id", "int")]))
print(sorted({"pyarrow", "pyiceberg", "boto3", "pyspark", "prometheus_client"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_an_invalid_type_is_an_error_when_it_is_converted() -> None:
    with managed("sync", environment={}, list=TWO) as catalogs:
        odd = catalogs.create_table("odd", TableDefinition(columns=[ColumnStatus("c", "int(3)")]))
        assert odd.column("C").data_type == "int(3)"
        with pytest.raises(ConversionError, match="column 'c' has no type of Hive"):
            odd.arrow_schema()
        with pytest.raises(KeyError, match=r"one\.default\.odd has no column 'd'; it has c"):
            odd.column("d")
