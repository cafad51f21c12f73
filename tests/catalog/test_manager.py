"""Names, defaults, temporary views, and catalogs that are opened when they are needed."""

from __future__ import annotations

import asyncio
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
)
from metastored.testing import running_server
from tests.support.driven import managed

TWO = [{"name": "one", "type": "memory"}, {"name": "two", "type": "memory", "initial_database": "first"}]
TABLE = TableDefinition(columns=[ColumnStatus("id", "bigint")])
VIEW = ViewDefinition(definition="select 1 as id", columns=[ColumnStatus("id", "int")], comment="one")


def test_names_are_made_whole_by_the_defaults(half: str) -> None:
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
        for ask in (catalogs.get_table, catalogs.get_database):
            with pytest.raises(InvalidInputException, match="a part of it is empty"):
                ask(name)


def test_a_catalog_that_is_not_there_is_named_with_those_that_are(half: str) -> None:
    with managed(half, environment={}, list=TWO) as catalogs:
        with pytest.raises(
            InvalidInputException, match=r"'three', which is no catalog; known are one, two\. Write table"
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


def test_a_catalog_that_is_down_stands_in_nobodys_way(half: str) -> None:
    dead = {"name": "dead", "type": "hive", "uri": "thrift://127.0.0.1:1", "thrift": {"timeout_ms": 500}}
    with managed(half, environment={}, list=[*TWO, dead]) as catalogs:
        assert catalogs.get_database("one.default").catalog == "one"
        for _ in range(2):
            with pytest.raises(ConnectError, match=r"catalog 'dead' at thrift://127\.0\.0\.1:1: no connection"):
                catalogs.get_database("dead.default")
        assert catalogs.get_database("two.first").catalog == "two"


def test_many_who_open_a_catalog_at_once_open_it_once() -> None:
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


def test_one_who_opens_in_vain_leaves_the_next_to_try(half: str) -> None:
    broken = {"name": "broken", "type": "memory", "initial_database": "a-b"}
    with managed(half, environment={}, list=[broken]) as catalogs:
        for _ in range(2):
            with pytest.raises(Exception, match="a-b is not a valid database name"):
                catalogs.get_database("default")


def test_settings_of_a_metastore_reach_its_client(half: str) -> None:
    with running_server() as server:
        settings = {
            "name": "hive",
            "type": "hive_metastore",
            "uri": server.uri,
            "username": "ann",
            "connection_pool": {"max_size": 3, "min_idle": 9, "idle_timeout_ms": 1500},
            "cache": {"max_capacity": 5, "ttl_seconds": 7, "tti_seconds": 6},
            "thrift": {"protocol": "compact", "transport": "framed", "timeout_ms": 1234},
        }
        with managed(half, environment={}, list=[settings]) as catalogs:
            client = catalogs.provider().client
            assert client.api.timeout == 1.234
            assert (client.api.pool.settings.max_size, client.api.pool.settings.min_idle) == (3, 3)
            assert client.api.pool.settings.idle_timeout == 1.5
            assert client.pool_stats().opened == 3
            assert client.cache.settings[:4] == (True, 5, 7, 6)
            assert catalogs.get_database("default").catalog == "hive"
            with client.lock("default"):
                pass


def test_kerberos_is_asked_for_by_the_metastores_principal(half: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None
    monkeypatch.setitem(sys.modules, "gssapi", absent)
    settings = {"name": "h", "type": "hive", "uri": "thrift://127.0.0.1:1", "kerberos_principal": "hive/_HOST@REALM"}
    with managed(half, environment={}, list=[settings]) as catalogs:
        with pytest.raises(MissingExtra, match=r"metastored\[kerberos\]"):
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


# Providers of one's own


def test_a_provider_of_ones_own_is_used_and_closed() -> None:
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
def test_without_its_library_a_catalog_names_the_pip_line(
    half: str, monkeypatch: pytest.MonkeyPatch, entry: dict[str, str], module: str, extra: str
) -> None:
    absent: Any = None
    monkeypatch.setitem(sys.modules, module, absent)
    with managed(half, environment={}, list=[{"name": "x", **entry}]) as catalogs:
        with pytest.raises(MissingExtra, match=rf"pip install 'metastored\[{extra}\]'"):
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


def test_a_type_that_is_none_is_said_when_it_is_needed() -> None:
    with managed("sync", environment={}, list=TWO) as catalogs:
        odd = catalogs.create_table("odd", TableDefinition(columns=[ColumnStatus("c", "int(3)")]))
        assert odd.column("C").data_type == "int(3)"
        with pytest.raises(ConversionError, match="column 'c' has no type of Hive"):
            odd.arrow_schema()
        with pytest.raises(KeyError, match=r"one\.default\.odd has no column 'd'; it has c"):
            odd.column("d")
