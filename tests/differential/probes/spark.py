"""A session as Spark's Hive client has it: one database, tables of its kinds, their partitions, and the end of all."""

from typing import Any

from metastored.wire.generated.common import (
    EnvironmentContext,
    FieldSchema,
    PrincipalPrivilegeSet,
    PrivilegeGrantInfo,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import AddPartitionsRequest, Partition
from tests.differential.probes.objects import all_of, starting, with_columns, with_fields, with_parameters, with_storage
from tests.differential.script import EditPartition, EditTable, Probe, Put, Tree, ask
from tests.support.objects import columns

DB = "spk"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
SCHEMA = '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}}]}'
QUIET = {"DO_NOT_UPDATE_STATS": "true"}
OWNER = PrincipalPrivilegeSet(userPrivileges={"ann": (PrivilegeGrantInfo("INSERT", -1, "ann", 1, True),)})


def parquet(cols: tuple[FieldSchema, ...], location: str | None = None) -> StorageDescriptor:
    return StorageDescriptor(
        cols=cols,
        location=location,
        inputFormat=f"{PARQUET}.MapredParquetInputFormat",
        outputFormat=f"{PARQUET}.MapredParquetOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(
            serializationLib=f"{PARQUET}.serde.ParquetHiveSerDe", parameters={"serialization.format": "1"}
        ),
        bucketCols=(),
        sortCols=(),
        parameters={},
        skewedInfo=SkewedInfo((), (), {}),
    )


def table(name: str, cols: str, keys: str = "", **other: object) -> Table:
    plain = {
        "owner": "ann",
        "createTime": 1700000000,
        "lastAccessTime": 0,
        "retention": 0,
        "sd": parquet(columns(cols), f"{{W}}/spk.db/{name}"),
        "partitionKeys": columns(keys),
        "parameters": {"spark.sql.sources.schema": SCHEMA, "spark.sql.create.version": "4.3.0"},
        "tableType": "MANAGED_TABLE",
        "privileges": OWNER,
        "temporary": False,
    }
    return Table(tableName=name, dbName=DB, **(plain | other))  # type: ignore[arg-type]


def partition(ds: str, h: str) -> Partition:
    place = f"{{W}}/spk.db/p1/ds={ds}/h={h}"
    return Partition((ds, h), DB, "p1", 0, 0, parquet(columns("a int"), place))


def add(ds: str, h: str, if_not_exists: bool) -> AddPartitionsRequest:
    return AddPartitionsRequest(DB, "p1", (partition(ds, h),), if_not_exists, True)


def alter(label: str, name: str, change: object, env: dict[str, str] | None = None) -> EditTable:
    return EditTable(label, DB, name, change, env or {})  # type: ignore[arg-type]


STATISTICS = with_parameters(
    **{
        "spark.sql.statistics.numRows": "1",
        "spark.sql.statistics.totalSize": "445",
        "spark.sql.statistics.colStats.a.version": "2",
        "spark.sql.statistics.colStats.a.max": "1",
    }
)
VIEW: dict[str, Any] = {
    "sd": parquet(columns("a int, b string")),
    "tableType": "VIRTUAL_VIEW",
    "viewOriginalText": "select * from t1",
    "viewExpandedText": "select * from t1",
}

SCRIPT: list[Probe] = [
    ask("who", "set_ugi", "ann", ("ann",)),
    ask("all", "get_databases", "*", show=starting(DB)),
    ask("not yet", "get_database", DB),
    ask("new", "create_database", Database(DB, "", "{W}/spk.db", {}, None, "ann", 1)),
    ask("new", "get_database", DB),
    ask("not yet", "get_table", DB, "t1"),
    ask("t1", "create_table_with_environment_context", table("t1", "a int, b string"), None),
    ask("t1", "get_table", DB, "t1"),
    Put("an insert", "{W}/spk.db/t1/part-00000.parquet", 445),
    alter("after an insert", "t1", STATISTICS, QUIET),
    ask("after an insert", "get_table", DB, "t1"),
    ask("p1", "create_table_with_environment_context", table("p1", "a int", "ds string, h int"), None),
    Put("an insert into a partition", "{W}/spk.db/p1/ds=2024-01-01/h=1/part-00000.parquet", 445),
    ask("one", "add_partitions_req", add("2024-01-01", "1", True)),
    Put("an insert into another", "{W}/spk.db/p1/ds=2024-01-02/h=2/part-00000.parquet", 445),
    ask("another", "add_partitions_req", add("2024-01-02", "2", True)),
    ask("again", "add_partitions_req", add("2024-01-02", "2", True)),
    ask("one day", "get_partitions_by_filter", DB, "p1", 'ds = "2024-01-01"', -1),
    ask("a range", "get_partitions_by_filter", DB, "p1", 'ds >= "2024-01-01" and (h) in (1, 2)', -1),
    ask("a pattern", "get_partitions_by_filter", DB, "p1", 'ds like "2024.*"', -1),
    ask("names", "get_partition_names", DB, "p1", -1),
    ask("all", "get_partitions_ps_with_auth", DB, "p1", ("", ""), -1, "ann", ("ann",)),
    ask("with a space", "add_partitions_req", add("x y", "3", False)),
    ask("with a space, again", "add_partitions_req", add("x y", "3", False)),
    ask("with a space", "get_partition_with_auth", DB, "p1", ("x y", "3"), "ann", ("ann",)),
    ask("missing", "get_partition_with_auth", DB, "p1", ("zz", "3"), "ann", ("ann",)),
    ask("with a space", "drop_partition_with_environment_context", DB, "p1", ("x y", "3"), True, None),
    EditPartition("other values", DB, "p1", ("2024-01-02", "2"), with_fields(values=("2024-01-03", "2"))),
    ask("other values", "get_partitions_ps_with_auth", DB, "p1", ("2024-01-03", ""), -1, "ann", ("ann",)),
    EditPartition(
        "statistics", DB, "p1", ("2024-01-03", "2"), with_parameters(**{"spark.sql.statistics.numRows": "1"}), QUIET
    ),
    ask("statistics", "get_partition_with_auth", DB, "p1", ("2024-01-03", "2"), "ann", ("ann",)),
    Tree("the partitions", "{W}/spk.db/p1"),
    ask("all", "get_tables", DB, "*"),
    ask("views", "get_tables_by_type", DB, "*", "VIRTUAL_VIEW"),
    ask("some", "get_tables", DB, "t*"),
    alter("a property", "t1", with_parameters(k="v")),
    alter("a column", "t1", all_of(with_columns("a int, b string, c int"), with_parameters(last_modified_by="ann"))),
    ask("a column", "get_table", DB, "t1"),
    ask("ds1", "create_table_with_environment_context", table("ds1", "x int"), EnvironmentContext({})),
    ask("v1", "create_table_with_environment_context", table("v1", "a int", **VIEW), None),
    ask("v1", "get_table", DB, "v1"),
    alter("truncated", "t1", with_parameters(**{"spark.sql.statistics.totalSize": "0"}), QUIET),
    alter("another name", "t1", with_fields(tableName="t2")),
    ask("another name", "get_table", DB, "t2"),
    alter("another place", "ds1", with_storage(location="{W}/ds1_elsewhere")),
    ask("another place", "get_table", DB, "ds1"),
    ask("f1", "create_function", Function("f1", DB, "x.Lower", "ann", 1, 1700000000, 1, ())),
    ask("f*", "get_functions", DB, "f*"),
    ask("f1", "get_function", DB, "f1"),
    ask("f1", "drop_function", DB, "f1"),
    ask("after all", "get_function", DB, "f1"),
    ask("v1", "drop_table_with_environment_context", DB, "v1", True, None),
    ask("t2", "drop_table_with_environment_context", DB, "t2", True, EnvironmentContext({"ifPurge": "FALSE"})),
    ask("p1", "drop_table_with_environment_context", DB, "p1", True, EnvironmentContext({"ifPurge": "TRUE"})),
    Tree("what is left", "{W}/spk.db"),
    ask("properties", "alter_database", DB, Database(DB, "", "{W}/spk.db", {"a": "b"}, None, "ann", 1)),
    ask("properties", "get_database", DB),
    ask("all", "get_all_tables", DB),
    ask("all", "drop_database", DB, True, True),
    Tree("after all", "{W}/spk.db"),
]
