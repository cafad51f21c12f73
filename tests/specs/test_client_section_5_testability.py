"""The client's document, section 5: tests without a server, tests across versions, and the fixtures."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from metastored.catalog import (
    Buckets,
    CatalogManager,
    ColumnStatus,
    DatabaseDefinition,
    PartitionDefinition,
    TableDefinition,
)
from metastored.catalog._sync.hive import HiveProvider
from metastored.client._sync.client import connect
from metastored.errors import (
    ApplicationError,
    Error,
    ErrorKind,
    NoSuchObjectException,
    NotSupported,
    ObjectNotFound,
    kind_of,
)
from metastored.structs import Database
from metastored.wire.message import Call, Reply, Session
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


class Mock:
    """The document's mock of a metastore: it knows the database `default`."""

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name != "get_database":
            return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, "a mock knows little"))
        if call.args == ("default",):
            made = Database("default", "Default database", "hdfs://namenode/warehouse/default", {})
            return Reply.of(call.method, made)
        return Reply.raised(call.method, NoSuchObjectException(str(call.args[0])))


def mocked() -> CatalogManager:
    return CatalogManager({"hive": HiveProvider("hive", connect(handler=Mock()))})


def test_5_2_a_a_catalog_can_be_tested_over_a_handler_in_the_process() -> None:
    with mocked() as catalogs:
        found = catalogs.get_database("default")
        assert (found.database, found.comment) == (("default",), "Default database")
        assert found.location == "hdfs://namenode/warehouse/default"


def test_5_2_b_a_missing_database_of_such_a_handler_is_not_found() -> None:
    with mocked() as catalogs, pytest.raises(ObjectNotFound, match="nonexistent") as caught:
        catalogs.get_database("nonexistent")
    assert kind_of(caught.value) is ErrorKind.NOT_FOUND


def test_5_3_2_a_a_database_is_created_and_read_back_against_a_real_server(current: Server, db: str) -> None:
    with current.catalogs(username="hive") as catalogs:
        catalogs.create_database(db, DatabaseDefinition(comment="Test database"))
        found = catalogs.get_database(db)
        assert (found.database, found.comment) == ((db,), "Test database")
        catalogs.drop_database(db)


# 5.4


def test_5_4_a_the_life_of_a_database_is_the_same_across_versions(server: Server, db: str) -> None:
    with server.catalogs() as catalogs:
        made = catalogs.create_database(db, DatabaseDefinition(comment="one", properties={"a": "b"}))
        assert (made.name, made.comment, made.properties["a"]) == (db, "one", "b")
        assert db in [each.name for each in catalogs.list_databases()]
        assert catalogs.get_database(db) == made
        catalogs.drop_database(db)
        with pytest.raises(ObjectNotFound):
            catalogs.get_database(db)


def test_5_4_b_tables_are_created_in_all_kinds_across_versions(
    server: Server, catalogs: CatalogManager, db: str, tmp_path: Path
) -> None:
    columns = [ColumnStatus("id", "bigint"), ColumnStatus("name", "string"), ColumnStatus("ds", "string")]
    simple = catalogs.create_table(f"{db}.simple", TableDefinition(columns=columns))
    # Hive 4 makes managed tables external for clients without its capabilities.
    assert simple.external == (server.version >= (4, 0)) and simple.partition_by == ()
    partitioned = catalogs.create_table(f"{db}.parts", TableDefinition(columns=columns, partition_by=["ds"]))
    assert partitioned.partition_by == ("ds",)
    buckets = TableDefinition(columns=columns, bucket_by=Buckets(("id",), 4), format="orc")
    assert catalogs.create_table(f"{db}.buckets", buckets).bucket_by == Buckets(("id",), 4)
    outside = TableDefinition(columns=columns, location=f"file:{tmp_path}/outside")
    external = catalogs.create_table(f"{db}.external", outside)
    assert external.external and external.location == f"file:{tmp_path}/outside"
    # Hive 2.3 has transactional tables with buckets only; Apache's standalone metastores lack the jar of ORC.
    acid = TableDefinition(
        columns=columns, format="orc", properties={"transactional": "true"}, bucket_by=Buckets(("id",), 4)
    )
    if not server.is_own and server.version >= (3, 0):
        insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
        acid = TableDefinition(columns=columns, properties=insert_only)
    made = ["buckets", "external", "parts", "simple"]
    if server.version < (4, 0):
        assert catalogs.create_table(f"{db}.acid", acid).acid is not None
        made.insert(0, "acid")
    else:
        with pytest.raises(Error, match="has no capabilities, cannot create an ACID table"):
            catalogs.create_table(f"{db}.acid", acid)
    assert sorted(each.name for each in catalogs.list_tables(db)) == made


def test_5_4_c_partition_operations_are_the_same_across_versions(catalogs: CatalogManager, db: str) -> None:
    columns = [ColumnStatus("id", "bigint"), ColumnStatus("year", "int"), ColumnStatus("month", "int")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=["year", "month"]))
    given = [PartitionDefinition(values={"year": 2023, "month": month}) for month in (1, 2, 12)]
    catalogs.add_partitions(f"{db}.t", given)
    assert [each.name for each in catalogs.list_partitions(f"{db}.t")] == [
        "year=2023/month=1", "year=2023/month=12", "year=2023/month=2",
    ]  # fmt: skip
    assert catalogs.get_partition(f"{db}.t", "year=2023/month=2").values == {"year": "2023", "month": "2"}
    catalogs.drop_partition(f"{db}.t", {"year": 2023, "month": 12})
    with pytest.raises(ObjectNotFound):
        catalogs.get_partition(f"{db}.t", ["2023", "12"])


# 5.5

SIMPLE = (ColumnStatus("id", "bigint", nullable=False), ColumnStatus("name", "string", "User name"))


def test_5_5_a_the_simple_table_of_the_fixtures_can_be_created_with_its_not_null_column(
    server: Server, catalogs: CatalogManager, db: str
) -> None:
    given = TableDefinition(columns=SIMPLE, comment="Simple test table", format="parquet")
    try:
        made = catalogs.create_table(f"{db}.simple_table", given)
    except Error as refused:
        # What cannot be stored is refused; it is never dropped.
        assert server.version < (3, 0) and isinstance(refused, NotSupported), refused
        return
    assert (made.comment, made.format) == ("Simple test table", "parquet")
    assert [(each.name, each.data_type, each.nullable, each.comment) for each in made.columns] == [
        ("id", "bigint", False, None), ("name", "string", True, "User name"),
    ]  # fmt: skip
    with server.catalogs() as others:
        assert not others.get_table(f"{db}.simple_table").column("id").nullable


def test_5_5_b_the_partitioned_table_of_the_fixtures_can_be_created(catalogs: CatalogManager, db: str) -> None:
    columns = [
        ColumnStatus("id", "bigint"),
        ColumnStatus("year", "int", is_partition=True),
        ColumnStatus("month", "int", is_partition=True),
    ]
    made = catalogs.create_table(
        f"{db}.partitioned_table", TableDefinition(columns=columns, partition_by=["year", "month"])
    )
    assert made.partition_by == ("year", "month")
    assert [each.name for each in made.columns if each.is_partition] == ["year", "month"]


def test_5_5_c_the_acid_table_of_the_fixtures_can_be_created_with_transactional_among_its_options(
    server: Server, catalogs: CatalogManager, db: str
) -> None:
    options = {"transactional": "true", "transactional_properties": "insert_only"}
    given = TableDefinition(columns=[ColumnStatus("id", "bigint")], format="parquet", options=options)
    try:
        made = catalogs.create_table(f"{db}.acid_table", given)
    except Error as refused:
        # It is refused where the server refuses it, and never made as another table.
        assert server.version < (3, 0) or (server.version >= (4, 0) and "capabilities" in str(refused)), refused
        assert catalogs.list_tables(db) == []
        return
    assert made.acid is not None and made.acid.insert_only
    assert made.options["transactional"] == "true"


def test_5_6_a_at_least_85_percent_of_the_code_must_be_covered_and_90_of_client_and_catalog() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["tool"]["coverage"]["report"]["fail_under"] >= 85
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (well,) = re.findall(r"^WELL_COVERED := (.*)$", makefile, re.M)
    assert {"catalog", "client"} <= set(well.split())
    assert re.search(r"check_coverage\.py \$\(WELL_COVERED\)", makefile)
