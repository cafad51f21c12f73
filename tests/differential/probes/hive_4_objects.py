"""Calls for tables that only Hive 4 has: statistics as requests, all constraints at once, properties, the write log."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated.common import GetProjectionsSpec, SQLNotNullConstraint, SQLPrimaryKey
from metastored.wire.generated.constraints import (
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AllTableConstraintsRequest,
)
from metastored.wire.generated.databases import CreateDatabaseRequest, DropDatabaseRequest
from metastored.wire.generated.notifications import (
    GetAllWriteEventInfoRequest,
    InsertEventRequestData,
    WriteNotificationLogBatchRequest,
    WriteNotificationLogRequest,
)
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    DropPartitionsExpr,
    DropPartitionsRequest,
    PartitionsByExprRequest,
    RequestPartsSpec,
)
from metastored.wire.generated.scheduled_queries import QueryState, ScheduledQueryProgressInfo
from metastored.wire.generated.service import PropertyGetRequest, PropertySetRequest
from metastored.wire.generated.statistics import (
    DeleteColumnStatisticsRequest,
    PartitionsStatsRequest,
    SetPartitionsStatsRequest,
    TableStatsRequest,
    UpdateTransactionalStatsRequest,
)
from metastored.wire.generated.tables import CreateTableRequest, GetTableRequest, GetTablesRequest
from metastored.wire.structs import replace
from tests.differential.probes import column_statistics
from tests.differential.probes.objects import field
from tests.differential.script import HIVE_4, Ask, Probe, Reconnect
from tests.differential.script import ask as ask_all
from tests.support.objects import external, partition

DB = "ob4"
SINCE_4_1 = ("4.1",)
CAT = "hive"
FLAGS = (True, False, True)
SHOWN = ("dbName", "tableName", "owner", "ownerType", "tableType", "catName")
FILES = InsertEventRequestData(filesAdded=("file:/x/1",), filesAddedChecksum=("",))


def ask(label: str, method: str, *args: Any, show: Any = None, versions: tuple[str, ...] = HIVE_4) -> Ask:
    return ask_all(label, method, *args, show=show, versions=versions)


def stats(*objects: Any, of: str = "t", part: str | None = None, engine: str = "hive") -> SetPartitionsStatsRequest:
    plain = column_statistics.stats(*objects, of=of, part=part)
    assert plain.statsDesc is not None
    one = replace(plain, statsDesc=replace(plain.statsDesc, dbName=DB), engine=engine)
    return SetPartitionsStatsRequest(colStats=(one,), engine=engine)


def numbers(low: int, high: int, column: str = "a") -> Any:
    return replace(column_statistics.numbers(column, low, high), colType="int")


def got(label: str, *columns: str, of: str = "t", engine: str = "hive") -> Ask:
    request = TableStatsRequest(dbName=DB, tblName=of, colNames=columns, catName=CAT, engine=engine)
    return ask(label, "get_table_statistics_req", request)


def got_parts(label: str, *names: str) -> Ask:
    request = PartitionsStatsRequest(DB, "p", ("a",), names, CAT, engine="hive")
    return ask(label, "get_partitions_statistics_req", request, show=column_statistics.by_partition)


def parameters(label: str) -> Ask:
    request = GetTableRequest(dbName=DB, tblName="t", catName=CAT)
    return ask(label, "get_table_req", request, show=field("table", "parameters"))


def delete(label: str, columns: tuple[str, ...] | None, of: str = "t", **other: Any) -> Ask:
    request = DeleteColumnStatisticsRequest(CAT, DB, of, col_names=columns, **other)
    return ask(label, "delete_column_statistics_req", request, versions=SINCE_4_1)


def constraints(label: str, of: str = "t") -> Ask:
    return ask(label, "get_all_table_constraints", AllTableConstraintsRequest(DB, of, CAT))


def by_expression(label: str, method: str, of: str = "p", show: Any = None, **other: Any) -> Ask:
    request = PartitionsByExprRequest(DB, of, expr=b"", maxParts=-1, catName=CAT)
    return ask(label, method, replace(request, **other), show=show)


def specified(result: Any) -> Any:
    """The kinds of specs: those with a shared storage descriptor, and lists."""
    kinds = [(spec.rootPath, spec.sharedSDPartitionSpec or spec.partitionList) for spec in result.partitionsSpec]
    return result.hasUnknownPartitions, [(root, [part.values for part in kind.partitions]) for root, kind in kinds]


def written(txn: int, table: str, *values: str) -> WriteNotificationLogRequest:
    return WriteNotificationLogRequest(txn, 1, DB, table, FILES, values or None)


def properties(label: str, prefix: str | None, **other: Any) -> Ask:
    return ask(label, "get_properties", PropertyGetRequest("hms", prefix, **other))


STATISTICS: list[Probe] = [
    got("none", "a"),
    ask("plain", "update_table_column_statistics_req", stats(numbers(1, 9))),
    got("plain", "a", "b"),
    parameters("with statistics"),
    ask("of another engine", "update_table_column_statistics_req", stats(numbers(2, 8), engine="impala")),
    got("of another engine", "a", engine="impala"),
    got("of the first engine", "a"),
    ask("a missing column", "update_table_column_statistics_req", stats(numbers(1, 9, "nope"))),
    ask("a missing table", "update_table_column_statistics_req", stats(numbers(1, 9), of="nope")),
    ask("two for a table", "update_table_column_statistics_req", SetPartitionsStatsRequest((), engine="hive")),
    ask("plain", "update_partition_column_statistics_req", stats(numbers(3, 4), of="p", part="ds=1")),
    ask("a missing one", "update_partition_column_statistics_req", stats(numbers(3, 4), of="p", part="ds=zz")),
    ask(
        "a missing column", "update_partition_column_statistics_req", stats(numbers(1, 9, "nope"), of="p", part="ds=1")
    ),
    got_parts("some", "ds=1", "ds=2"),
    delete("of a missing table", ("a",), "nope", engine="hive", tableLevel=True),
    delete("of a missing column", ("nope",), engine="hive", tableLevel=True),
    delete("of an engine", ("a",), engine="impala", tableLevel=True),
    got("of an engine, deleted", "a", engine="impala"),
    delete("of a partition", ("a",), "p", part_names=("ds=1",), engine="hive", tableLevel=False),
    delete("of a partition that has none", None, "p", part_names=("ds=2",), engine="hive", tableLevel=False),
    delete("all", None, engine="hive", tableLevel=True),
    got("at last", "a"),
    ask("of no table", "update_transaction_statistics", UpdateTransactionalStatsRequest(999_999, 1, 2, 3)),
]

CONSTRAINTS: list[Probe] = [
    constraints("none"),
    ask(
        "plain", "add_primary_key", AddPrimaryKeyRequest((SQLPrimaryKey(DB, "t", "a", 1, "pk4", *FLAGS, catName=CAT),))
    ),
    ask(
        "plain",
        "add_not_null_constraint",
        AddNotNullConstraintRequest((SQLNotNullConstraint(CAT, DB, "t", "b", "nn4", *FLAGS),)),
    ),
    constraints("two kinds"),
    constraints("of a missing table", "nope"),
]


def objects(label: str, *names: str, show: Any = None, **other: Any) -> Ask:
    request = GetTablesRequest(DB, names or None, catName=CAT, **other)
    return ask(label, "get_table_objects_by_name_req", request, show=show)


def named(result: Any) -> Any:
    return [(each.dbName, each.tableName) for each in result.tables]


def fields(*expected: str, **other: Any) -> GetProjectionsSpec:
    return GetProjectionsSpec(fieldList=expected, **other)


CHOSEN: list[Probe] = [
    objects("by names", "t", "p", "T", "nope", show=named),
    objects("by a pattern", tablesPattern="*", show=named),
    objects("by two patterns", tablesPattern="t|p", show=named),
    objects("by a pattern of SQL", tablesPattern="%", show=named),
    objects("by a pattern and names", "p", tablesPattern="t*", show=named),
    objects("by a pattern of none", tablesPattern="zz*", show=named),
    objects("by an empty pattern", tablesPattern="", show=named),
    objects("by neither names nor a pattern", show=named),
    objects("two fields", "t", projectionSpec=fields("dbName", "tableName")),
    objects("two fields, by a pattern", tablesPattern="*", projectionSpec=fields("dbName", "tableName")),
    objects("the owner", "t", projectionSpec=fields("tableName", "owner", "createTime")),
    objects("parameters", "t", projectionSpec=fields("tableName", "parameters")),
    objects("a field inside", "t", projectionSpec=fields("tableName", "sd.location")),
    objects("columns", "t", projectionSpec=fields("sd.cols.name", "sd.cols.type")),
    objects("whole storage", "t", projectionSpec=fields("sd")),
    objects("what Hive's client asks for", tablesPattern="*", projectionSpec=fields(*SHOWN)),
    objects("an unknown field", "t", projectionSpec=fields("nope")),
    objects("no fields", "t", projectionSpec=GetProjectionsSpec(fieldList=())),
    objects("parameters by a pattern", "t", projectionSpec=GetProjectionsSpec(includeParamKeyPattern="E%")),
    objects("a pattern and fields", "t", projectionSpec=fields("parameters", includeParamKeyPattern="E%")),
    *(
        ask(
            f"database {pattern!r}",
            "get_table_objects_by_name_req",
            GetTablesRequest(pattern, tablesPattern="t"),
            show=named,
        )
        for pattern in ("ob*", "ob4|zz", "*", "nodb", "", "OB4")
    ),
    *(
        ask(
            f"of the database {pattern!r}",
            "get_table_objects_by_name_req",
            GetTablesRequest(pattern, ("t",)),
            show=named,
        )
        for pattern in ("ob*", "ob4|zz", "nodb", "OB4")
    ),
    ask("an unknown database", "get_table_objects_by_name_req", GetTablesRequest("nodb", ("t",), catName=CAT)),
]

PARTITIONS: list[Probe] = [
    by_expression("all", "get_partition_names_req"),
    by_expression("one", "get_partition_names_req", maxParts=1),
    by_expression("by a text", "get_partition_names_req", expr=b"(ds = '2')"),
    by_expression("by a text", "get_partitions_spec_by_expr", expr=b"(ds = '2')", show=specified),
    by_expression("of no table", "get_partition_names_req", "nope"),
    by_expression("of no table", "get_partitions_spec_by_expr", "nope"),
    ask("none", "get_all_materialized_view_objects_for_rewriting"),
]


def repaired(label: str, text: str, of: str = "msck", **other: Any) -> list[Probe]:
    """The request of MSCK … DROP PARTITIONS.

    The filter as a text, its values always quoted and escaped as in a path.
    """
    names = PartitionsByExprRequest(DB, of, expr=text.encode(), maxParts=-1, catName=CAT)
    exprs = (DropPartitionsExpr(text.encode()),)
    drop = DropPartitionsRequest(DB, of, RequestPartsSpec(exprs=exprs), False, True, catName=CAT)
    return [
        ask(label, "get_partitions_by_expr", names, show=lambda result: [part.values for part in result.partitions]),
        ask(label, "drop_partitions_req", replace(drop, **other), show=lambda result: len(result.partitions)),
        ask(f"after {label}", "get_partition_names", DB, of, -1),
    ]


REPAIRED: list[Probe] = [
    ask(
        "msck",
        "create_table_req",
        CreateTableRequest(table=external(DB, "msck", keys="h int, ds string, d date, b bigint")),
    ),
    ask(
        "msck",
        "add_partitions_req",
        AddPartitionsRequest(
            DB,
            "msck",
            tuple(
                partition(DB, "msck", values)
                for values in (
                    ("1", "a", "2024-01-01", "5"),
                    ("2", "b", "2024-01-02", "6"),
                    ("10", "c/d", "2024-01-03", "7"),
                    ("11", "e", "2024-01-04", "8"),
                    ("012", "f", "2024-01-05", "9"),
                    ("__HIVE_DEFAULT_PARTITION__", "g", "2024-01-06", "10"),
                )
            ),
            False,
            False,
        ),
    ),
    Reconnect("before the proxy is set", HIVE_4),
    ask(
        "that of MSCK",
        "setMetaConf",
        "metastore.expression.proxy",
        "org.apache.hadoop.hive.metastore.MsckPartitionExpressionProxy",
    ),
    *repaired("by an int", "(h='1')"),
    *repaired("by all keys", "(h='2' AND ds='b' AND d='2024-01-02' AND b='6')"),
    *repaired("by a value that is escaped", "(h='10' AND ds='c%2Fd' AND d='2024-01-03' AND b='7')"),
    *repaired("by a text that is no number", "(h='zz')"),
    *repaired("by a number with a zero before it", "(h='012')"),
    *repaired("by the default partition", "(h='__HIVE_DEFAULT_PARTITION__')"),
    *repaired("by a date", "(d='2024-01-04')"),
    *repaired("by a number without marks", "(h=11)"),
]

WRITTEN: list[Probe] = [
    ask("plain", "add_write_notification_log", written(1, "t")),
    ask("of no table", "add_write_notification_log", written(1, "nope")),
    ask(
        "plain",
        "add_write_notification_log_in_batch",
        WriteNotificationLogBatchRequest(CAT, DB, "p", (written(1, "p", "1"), written(1, "p", "zz"))),
    ),
    ask("none", "get_all_write_event_info", GetAllWriteEventInfoRequest(txnId=999_999)),
]

PROPERTIES: list[Probe] = [
    ask("plain", "set_properties", PropertySetRequest("hms", {f"{DB}.t.color": "red", f"{DB}.t.size": "12"})),
    properties("of a database", f"{DB}."),
    properties("one of them", f"{DB}.", mapSelection=("color",)),
    properties("none", "nodb."),
    ask("removed", "set_properties", PropertySetRequest("hms", {f"{DB}.t.color": ""})),
    properties("after one was removed", f"{DB}."),
    ask("no such namespace", "set_properties", PropertySetRequest("zz", {"a": "b"})),
    ask("no such namespace", "get_properties", PropertyGetRequest("zz")),
]

SCRIPT: list[Probe] = [
    ask("for them", "create_database_req", CreateDatabaseRequest(DB, catalogName=CAT)),
    ask("t", "create_table_req", CreateTableRequest(table=external(DB, "t"))),
    ask("p", "create_table_req", CreateTableRequest(table=external(DB, "p", keys="ds string"))),
    ask(
        "p",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (partition(DB, "p", ("1",)), partition(DB, "p", ("2",))), False, False),
    ),
    *STATISTICS,
    *CONSTRAINTS,
    *CHOSEN,
    *PARTITIONS,
    *REPAIRED,
    *WRITTEN,
    *PROPERTIES,
    ask(
        "of no run",
        "scheduled_query_progress",
        ScheduledQueryProgressInfo(999_999, QueryState.EXECUTING, "q"),
    ),
    ask(
        "with all", "drop_database_req", DropDatabaseRequest(DB, CAT, False, True, True), show=lambda result: "dropped"
    ),
]
