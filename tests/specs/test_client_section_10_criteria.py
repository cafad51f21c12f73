"""The client's document, section 10: the criteria of success."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.catalog import (
    Buckets,
    CatalogManager,
    ColumnStatus,
    DatabaseDefinition,
    PartitionDefinition,
    SortColumn,
    TableDefinition,
    TableKind,
    ViewDefinition,
)
from metastored.catalog._sync.hive import HiveProvider
from metastored.client.retry import Retry
from metastored.errors import Error, ErrorKind, ObjectNotFound, TimeoutExceeded, kind_of
from tests.client.handlers import WritableMetastore, table_of
from tests.specs.conftest import Server
from tests.support.scripted import say_and_hang_up, scripted, stall

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COLUMNS = [ColumnStatus("id", "bigint"), ColumnStatus("name", "string")]
VIEW = ViewDefinition(definition="SELECT 1 AS id", columns=[ColumnStatus("id", "int")])


def client_of(catalogs: CatalogManager) -> metastored.Client:
    provider = catalogs.provider()
    assert isinstance(provider, HiveProvider)
    return provider.client


# 10.1


def test_10_1_a_namespaces_of_several_levels_are_handled_as_the_catalog_has_them(own: Server, tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir()
    iceberg = {
        "name": "ice", "type": "iceberg", "catalog": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": (tmp_path / "warehouse").as_uri(), "nested_namespaces": True,
    }  # fmt: skip
    hive = {"name": "hive", "type": "hive_metastore", "uri": own.uri}
    with CatalogManager.load(environment={}, list=[iceberg, hive]) as catalogs:
        catalogs.create_database("ice.a")
        assert catalogs.create_database("ice.a.b").database == ("a", "b")
        assert ("a", "b") in [each.database for each in catalogs.list_databases("ice")]
        # A metastore's databases have one level; a deeper name is an error, not another database.
        with pytest.raises(Error):
            catalogs.create_database("hive.a.b")
        assert catalogs.list_databases("hive", "a*") == []


def test_10_1_b_managed_external_partitioned_and_bucketed_tables_keep_what_they_are(
    catalogs: CatalogManager, db: str, tmp_path: Path
) -> None:
    given = TableDefinition(
        columns=[*COLUMNS, ColumnStatus("ds", "string")], location=f"file:{tmp_path}/t", partition_by=["ds"],
        bucket_by=Buckets(("id",), 8), sort_by=[SortColumn("name", ascending=False)], format="orc",
    )  # fmt: skip
    catalogs.create_table(f"{db}.t", given)
    found = catalogs.get_table(f"{db}.t")
    assert found.external and found.format == "orc" and found.partition_by == ("ds",)
    assert found.bucket_by == Buckets(("id",), 8) and found.sort_by == (SortColumn("name", ascending=False),)
    assert found.column("id").is_bucket and found.column("name").is_cluster and found.column("ds").is_partition


TYPES = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(38,18)", "string", "varchar(20)",
    "char(3)", "binary", "date", "timestamp", "array<int>", "map<string,double>", "struct<a:int,b:array<string>>",
)  # fmt: skip


def test_10_1_c_all_common_data_types_are_mapped_and_come_back(catalogs: CatalogManager, db: str) -> None:
    columns = [ColumnStatus(f"c{at}", type) for at, type in enumerate(TYPES)]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, format="orc"))
    found = catalogs.get_table(f"{db}.t")
    assert tuple(each.data_type for each in found.columns) == TYPES
    arrow = found.arrow_schema()
    assert [str(arrow.field(f"c{at}").type) for at in (0, 3, 7, 12)] == [
        "bool", "int32", "decimal128(38, 18)", "date32[day]",
    ]  # fmt: skip


def test_10_1_d_table_properties_and_options_come_back(catalogs: CatalogManager, db: str) -> None:
    given = TableDefinition(columns=COLUMNS, format="textfile", properties={"a": "1"}, options={"field.delim": "|"})
    catalogs.create_table(f"{db}.t", given)
    found = catalogs.get_table(f"{db}.t")
    assert (found.properties["a"], found.options["field.delim"]) == ("1", "|")


def test_10_1_e_tables_and_views_are_told_apart(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TableDefinition(columns=COLUMNS))
    catalogs.create_view(f"{db}.v", VIEW)
    kinds = {each.name: each.kind for each in catalogs.list_tables(db)}
    assert kinds == {"t": TableKind.TABLE, "v": TableKind.VIEW}


FILTERS = {
    "n > 1": [2, 3],
    "n IN (1, 3)": [1, 3],
    "NOT n = 1": [2, 3],
    "d >= '2024-01-02'": [2, 3],
    "s LIKE 'b%'": [2, 3],
    "m = 1.50": [1],
    "m > 2": [2, 3],
    "n BETWEEN 2 AND 3 AND s != 'bb'": [3],
    "s = 'a' OR d = '2024-01-03'": [1, 3],
}


def test_10_1_f_partitions_are_added_dropped_and_listed_and_a_filter_over_all_types_of_keys_works(
    catalogs: CatalogManager, db: str
) -> None:
    keys = {"n": "int", "d": "date", "s": "string", "m": "decimal(10,2)"}
    columns = [*COLUMNS, *(ColumnStatus(name, type) for name, type in keys.items())]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=list(keys)))
    rows = [("1", "2024-01-01", "a", "1.50"), ("2", "2024-01-02", "bb", "2.25"), ("3", "2024-01-03", "b", "3.00")]
    catalogs.add_partitions(f"{db}.t", [PartitionDefinition(values=row) for row in rows])
    wrong = {}
    for where, expected in FILTERS.items():
        try:
            found: Any = sorted(int(each.values["n"]) for each in catalogs.list_partitions(f"{db}.t", where))
        except Error as error:
            found = error
        if found != expected:
            wrong[where] = found
    assert wrong == {}
    with pytest.raises(Error) as caught:
        list(catalogs.list_partitions(f"{db}.t", "n >"))
    assert "NoViableAlt" not in str(caught.value) and "n >" in str(caught.value)
    catalogs.drop_partition(f"{db}.t", rows[0])
    assert [each.values["n"] for each in catalogs.list_partitions(f"{db}.t")] == ["2", "3"]


def test_10_1_g_columns_whose_names_differ_in_case_alone_are_refused(catalogs: CatalogManager, db: str) -> None:
    columns = [ColumnStatus("a", "int"), ColumnStatus("A", "string")]
    with pytest.raises(Error):
        catalogs.create_table(f"{db}.t", TableDefinition(columns=columns))
    assert catalogs.list_tables(db) == []


# 10.2


def test_10_2_a_the_cache_saves_more_than_70_percent_of_the_round_trips_of_each_operation(own: Server, db: str) -> None:
    with own.catalogs() as cached, own.catalogs(cache={"enabled": False}) as plain:
        plain.create_database(db)
        for number in range(5):
            plain.create_table(f"{db}.t{number}", TableDefinition(columns=COLUMNS))
        operations: dict[str, Callable[[CatalogManager], Any]] = {
            "get_database": lambda manager: manager.get_database(db),
            "list_databases": lambda manager: manager.list_databases(),
            "get_table": lambda manager: manager.get_table(f"{db}.t1"),
            "list_tables": lambda manager: manager.list_tables(db),
            "list_views": lambda manager: manager.list_views(db),
        }
        for name, operation in operations.items():
            spent = []
            for manager in (cached, plain):
                before = client_of(manager).api.calls
                for _ in range(20):
                    operation(manager)
                spent.append(client_of(manager).api.calls - before)
            assert spent[0] <= 0.3 * spent[1], (name, spent)
        plain.drop_database(db, cascade=True)


def test_10_2_b_a_connection_that_is_there_is_acquired_without_a_round_trip() -> None:
    with scripted(WritableMetastore((table_of("sales", "orders"),))) as server:
        with metastored.connect(
            server.uri, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        ) as client:
            client.databases()
            before = len(server.requests)
            for _ in range(50):
                client.databases()
            assert (len(server.requests) - before, server.accepted) == (50, 1)


def test_10_2_c_more_than_10_000_tables_in_a_database_are_listed_in_bulk() -> None:
    number = 10_001
    handler = WritableMetastore(tuple(table_of("sales", f"t{at:05}") for at in range(number)))
    client = metastored.connect(handler=handler, cache=False)
    with CatalogManager({"hive": HiveProvider("hive", client)}) as catalogs:
        before = client.api.calls
        found = catalogs.list_tables("sales")
        assert (len(found), found[-1].name) == (number, "t10000")
        assert client.api.calls - before <= 2 + 11, "the database, the names, and eleven batches of a thousand"


def test_10_2_d_a_call_has_a_timeout() -> None:
    with scripted(otherwise=stall) as server:
        with metastored.connect(
            server.uri,
            timeout=0.2,
            cache=False,
            transport=metastored.TransportSettings(protocol="binary", framed=False),
        ) as client:
            with pytest.raises(TimeoutExceeded, match="get_all_databases took longer than"):
                client.databases()


def test_10_2_e_there_are_documentation_of_the_api_an_overview_guides_and_versions() -> None:
    docs = ROOT / "docs"
    for page in (
        "reference/api.md", "development/design.md", "guide/catalog.md", "guide/client.md",
        "reference/configuration.md", "reference/versions.md", "guide/switching.md",
    ):  # fmt: skip
        assert len((docs / page).read_text("utf-8")) > 1000, page


def test_10_2_f_whatever_a_server_sends_the_error_is_one_of_the_clients_own() -> None:
    chance = random.Random(4711)
    acts = [say_and_hang_up(chance.randbytes(chance.randrange(1, 60))) for _ in range(40)]
    acts += [say_and_hang_up(b"\x80\x01\x00\x02" + chance.randbytes(30)) for _ in range(40)]
    once = Retry(attempts=1)
    with scripted(None, *acts, otherwise=stall) as server:
        for _ in acts:
            client = metastored.connect(
                server.uri,
                retry=once,
                cache=False,
                timeout=5.0,
                transport=metastored.TransportSettings(protocol="binary", framed=False),
            )
            with client, pytest.raises(Error):
                client.databases()


# 10.3


def test_10_3_a_databases_and_tables_are_listed_created_read_with_their_schema_and_dropped_on_3_1(
    current: Server, db: str
) -> None:
    with current.catalogs() as catalogs:
        catalogs.create_database(db, DatabaseDefinition(comment="of the acceptance"))
        assert db in [each.name for each in catalogs.list_databases()]
        catalogs.create_table(f"{db}.t", TableDefinition(columns=COLUMNS))
        assert [each.name for each in catalogs.list_tables(db)] == ["t"]
        columns = catalogs.get_table(f"{db}.t").columns
        assert [(each.name, each.data_type) for each in columns] == [("id", "bigint"), ("name", "string")]
        catalogs.drop_table(f"{db}.t")
        catalogs.drop_database(db)
        with pytest.raises(ObjectNotFound):
            catalogs.get_database(db)


def test_10_3_b_error_messages_say_what_was_wrong(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TableDefinition(columns=COLUMNS))
    cases: dict[str, Callable[[], Any]] = {
        f"{db}.nothing": lambda: catalogs.get_table(f"{db}.nothing"),
        "nowhere": lambda: catalogs.get_table("nowhere.there.t"),
        "needs at least one column": lambda: catalogs.create_table(f"{db}.u", TableDefinition(columns=[])),
        "no column z": lambda: catalogs.create_table(f"{db}.u", TableDefinition(columns=COLUMNS, partition_by=["z"])),
        "has no partitions": lambda: list(catalogs.list_partitions(f"{db}.t")),
    }
    for words, call in cases.items():
        with pytest.raises(Error) as caught:
            call()
        message = str(caught.value)
        assert words in message or "is not a column" in message, message
        assert "Internal error" not in message and kind_of(caught.value) is not ErrorKind.EXTERNAL


def test_10_3_c_the_client_does_not_grow_under_many_calls(sqlite: Server) -> None:
    with sqlite.client(cache=False) as client:

        def call(number: int) -> None:
            for _ in range(number):
                client.databases("default"), client.database("default")

        call(100)
        tracemalloc.start()
        try:
            call(50)
            first = tracemalloc.get_traced_memory()[0]
            call(500)
            assert tracemalloc.get_traced_memory()[0] - first < 200_000
        finally:
            tracemalloc.stop()
