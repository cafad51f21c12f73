"""The request forms of Hive 4: one struct in, one struct out."""

from typing import Any

from metastored.wire.generated.common import EnvironmentContext, GetProjectionsSpec, Table
from metastored.wire.generated.databases import (
    AlterDatabaseRequest,
    CreateDatabaseRequest,
    Database,
    DropDatabaseRequest,
    GetDatabaseObjectsRequest,
    GetDatabaseRequest,
)
from metastored.wire.generated.functions import GetFunctionsRequest
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    AlterPartitionsRequest,
    AppendPartitionsRequest,
    DropPartitionRequest,
    DropPartitionsRequest,
    GetPartitionNamesPsRequest,
    GetPartitionRequest,
    GetPartitionsByFilterRequest,
    GetPartitionsByNamesRequest,
    GetPartitionsFilterSpec,
    GetPartitionsPsWithAuthRequest,
    GetPartitionsRequest,
    Partition,
    PartitionFilterMode,
    PartitionsRequest,
    PartitionValuesRequest,
    RenamePartitionRequest,
    RequestPartsSpec,
)
from metastored.wire.generated.tables import (
    AlterTableRequest,
    CreateTableRequest,
    DropTableRequest,
    GetFieldsRequest,
    GetSchemaRequest,
    GetTableRequest,
    GetTablesExtRequest,
    GetTablesRequest,
    TruncateTableRequest,
)
from tests.differential.probes.objects import field
from tests.differential.script import HIVE_4, Ask, Probe, Put, Tree
from tests.differential.script import ask as ask_all
from tests.support.objects import DS_H, columns, external, partition, table, view

DB = "rq"
CAT = "hive"
"""Clients of Hive 4 always send it."""
VALUES = field("values")


def ask(label: str, method: str, *args: Any, show: Any = None, versions: tuple[str, ...] = HIVE_4) -> Ask:
    return ask_all(label, method, *args, show=show, versions=versions)


def make(label: str, given: Table | None, **other: Any) -> Ask:
    return ask(label, "create_table_req", CreateTableRequest(table=given, **other))


def get(label: str, name: str, show: Any = None) -> Ask:
    return ask(label, "get_table_req", GetTableRequest(dbName=DB, tblName=name, catName=CAT), show=show)


def parts(label: str, show: Any = None) -> Ask:
    return ask(label, "get_partitions_req", PartitionsRequest(CAT, DB, "p", -1), show=show)


def part(*values: str) -> Partition:
    return partition(DB, "p", values)


def specs(label: str, mode: int | None, filters: tuple[str, ...], *fields: str) -> Ask:
    expected = GetPartitionsRequest(
        catName=CAT,
        dbName=DB,
        tblName="p",
        projectionSpec=GetProjectionsSpec(fieldList=fields),
        filterSpec=GetPartitionsFilterSpec(mode, filters),
    )
    return ask(label, "get_partitions_with_specs", expected)


def places(result: Any) -> Any:
    return tuple((part.values, part.sd.location) for part in result.partitions)


def kind(result: Any) -> Any:
    return result.table.tableType, result.table.parameters, result.table.sd.location


SCRIPT: list[Probe] = [
    # --- databases
    ask(
        "new",
        "create_database_req",
        CreateDatabaseRequest(DB, "d", ownerName="o", ownerType=1, catalogName=CAT, parameters={}),
    ),
    ask("taken", "create_database_req", CreateDatabaseRequest(DB, "d", catalogName=CAT)),
    ask("a bad name", "create_database_req", CreateDatabaseRequest("a\tb", "d", catalogName=CAT)),
    ask("in no catalog", "create_database_req", CreateDatabaseRequest("rqz", catalogName="zz")),
    ask("plain", "get_database_req", GetDatabaseRequest(DB, CAT)),
    ask("in upper case", "get_database_req", GetDatabaseRequest("RQ", CAT), show=field("name")),
    ask("missing", "get_database_req", GetDatabaseRequest("nodb", CAT)),
    ask("without a name", "get_database_req", GetDatabaseRequest(None, CAT)),
    ask("all at once", "alter_database_req", AlterDatabaseRequest(DB, Database(DB, "new", parameters={"x": "y"}))),
    ask("after that", "get_database_req", GetDatabaseRequest(DB, CAT)),
    ask("missing", "alter_database_req", AlterDatabaseRequest("nodb", Database("nodb"))),
    ask(
        "some",
        "get_databases_req",
        GetDatabaseObjectsRequest(CAT, pattern="rq*"),
        show=lambda result: [d.name for d in result.databases],
    ),
    # --- tables
    make("plain", table(DB, "t1")),
    get("plain", "t1", kind),
    make("taken", table(DB, "t1")),
    make("in no database", table("nodb", "t1")),
    make("with signs in its name", table(DB, "a-b c")),
    make("of no type", table(DB, "nt", tableType=None)),
    get("of no type", "nt", kind),
    make("external", external(DB, "ext")),
    get("external", "ext", kind),
    make("a view", view(DB, "v")),
    get("a view", "v"),
    make("transactional", table(DB, "acid", parameters={"transactional": "true"})),
    make(
        "insert-only", table(DB, "io", parameters={"transactional": "true", "transactional_properties": "insert_only"})
    ),
    make(
        "insert-only, by one who can",
        table(DB, "io", parameters={"transactional": "true", "transactional_properties": "insert_only"}),
        processorCapabilities=("HIVEMANAGEDINSERTWRITE",),
    ),
    get("insert-only", "io", kind),
    ask("plain", "translate_table_dryrun", CreateTableRequest(table=table(DB, "dry")), show=field("parameters")),
    get("missing", "nope"),
    ask("some", "get_table_objects_by_name_req", GetTablesRequest(DB, ("t1", "nope")), show=lambda f: len(f.tables)),
    ask("of no database", "get_table_objects_by_name_req", GetTablesRequest("nodb", ("t1",))),
    ask("plain", "get_fields_req", GetFieldsRequest(CAT, dbName=DB, tblName="t1")),
    ask("missing", "get_fields_req", GetFieldsRequest(CAT, dbName=DB, tblName="nope")),
    ask("plain", "get_schema_req", GetSchemaRequest(CAT, dbName=DB, tblName="t1")),
    ask("without capabilities", "get_tables_ext", GetTablesExtRequest("hive", DB, "*", 1)),
    ask("of one", "get_table_meta", DB, "t*", None),
    ask("all", "get_all_tables", DB),
    ask("names", "get_tables", DB, "t*"),
    ask(
        "a property",
        "alter_table_req",
        AlterTableRequest(CAT, DB, "ext", external(DB, "ext", "{X}/ext", parameters={"k": "v"})),
    ),
    ask("missing", "alter_table_req", AlterTableRequest(CAT, DB, "nope", table(DB, "nope"))),
    ask(
        "not as expected",
        "alter_table_req",
        AlterTableRequest(
            *(CAT, DB, "ext", external(DB, "ext", "{X}/ext", parameters={"k": "w"})),
            expectedParameterKey="k",
            expectedParameterValue="z",
        ),
    ),
    # --- partitions
    make("partitioned", external(DB, "p", "{X}/p", keys=DS_H)),
    ask(
        "two",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (part("a", "1"), part("b", "2")), False, True),
        show=places,
    ),
    ask("taken", "add_partitions_req", AddPartitionsRequest(DB, "p", (part("a", "1"),), True, True), show=places),
    ask("by values", "append_partition_req", AppendPartitionsRequest(CAT, DB, "p", None, ("c", "3")), show=VALUES),
    ask("by name", "append_partition_req", AppendPartitionsRequest(CAT, DB, "p", "ds=d/h=4"), show=VALUES),
    ask("to no table", "append_partition_req", AppendPartitionsRequest(CAT, DB, "nope", None, ("c", "3"))),
    parts("all", places),
    ask("of no table", "get_partitions_req", PartitionsRequest(CAT, DB, "nope", -1)),
    ask("one", "get_partition_req", GetPartitionRequest(CAT, DB, "p", ("a", "1")), show=lambda f: f.partition.values),
    ask("missing", "get_partition_req", GetPartitionRequest(CAT, DB, "p", ("zz", "1"))),
    ask("all", "fetch_partition_names_req", PartitionsRequest(CAT, DB, "p", -1)),
    ask("none", "fetch_partition_names_req", PartitionsRequest(CAT, DB, "p", 0)),
    ask("of no table", "fetch_partition_names_req", PartitionsRequest(CAT, DB, "nope", -1)),
    ask("some", "get_partitions_by_names_req", GetPartitionsByNamesRequest(DB, "p", ("ds=a/h=1", "zz")), show=places),
    ask("some", "get_partitions_by_filter_req", GetPartitionsByFilterRequest(CAT, DB, "p", "h > 2", -1), show=VALUES),
    ask("wrong", "get_partitions_by_filter_req", GetPartitionsByFilterRequest(CAT, DB, "p", "z > 2", -1)),
    ask("some", "get_partition_names_ps_req", GetPartitionNamesPsRequest(CAT, DB, "p", ("a",), -1)),
    ask(
        "some",
        "get_partitions_ps_with_auth_req",
        GetPartitionsPsWithAuthRequest(CAT, DB, "p", ("b", ""), -1),
        show=places,
    ),
    ask(
        "without values",
        "get_partitions_ps_with_auth_req",
        GetPartitionsPsWithAuthRequest(CAT, DB, "p", None, -1),
        show=places,
    ),
    specs("by names", PartitionFilterMode.BY_NAMES, ("ds=a/h=1",), "values"),
    specs("by values", PartitionFilterMode.BY_VALUES, ("a",), "values", "sd.location"),
    specs("by a filter", PartitionFilterMode.BY_EXPR, ("h = 2",), "values"),
    specs("all", None, ()),
    ask(
        "a property",
        "alter_partitions_req",
        AlterPartitionsRequest(
            None, DB, "p", (partition(DB, "p", ("a", "1"), "{X}/p/ds=a/h=1", parameters={"k": "v"}),)
        ),
    ),
    ask("missing", "alter_partitions_req", AlterPartitionsRequest(CAT, DB, "p", (part("zz", "1"),))),
    ask(
        "other values",
        "rename_partition_req",
        RenamePartitionRequest(CAT, DB, "p", ("b", "2"), partition(DB, "p", ("e", "5"), "{X}/p/ds=b/h=2")),
    ),
    parts("after changes", places),
    ask("by values", "drop_partition_req", DropPartitionRequest(CAT, DB, "p", None, ("c", "3"), True)),
    ask("by name", "drop_partition_req", DropPartitionRequest(CAT, DB, "p", "ds=d/h=4", None, True)),
    ask("missing", "drop_partition_req", DropPartitionRequest(CAT, DB, "p", None, ("c", "3"), True)),
    ask(
        "one",
        "drop_partitions_req",
        DropPartitionsRequest(DB, "p", RequestPartsSpec(names=("ds=e/h=5",)), True, True),
        show=places,
    ),
    ask("values", "get_partition_values", PartitionValuesRequest(DB, "p", columns("h int"), catName=CAT)),
    Put("data", "{X}/p/ds=a/h=1/f", 1, HIVE_4),
    ask("one", "truncate_table_req", TruncateTableRequest(DB, "p", ("ds=a/h=1",))),
    Tree("after all", "{X}/p", HIVE_4),
    ask("some", "get_functions_req", GetFunctionsRequest(DB, CAT, "*", True)),
    # --- the end
    ask("missing", "drop_table_req", DropTableRequest(CAT, DB, "nope", True)),
    ask("plain", "drop_table_req", DropTableRequest(CAT, DB, "t1", True)),
    ask("for good", "drop_table_req", DropTableRequest(CAT, DB, "ext", True, EnvironmentContext({"ifPurge": "TRUE"}))),
    ask("not empty", "drop_database_req", DropDatabaseRequest(DB, CAT, False, True, False)),
    ask("all", "drop_database_req", DropDatabaseRequest(DB, CAT, False, True, True)),
    ask("missing", "drop_database_req", DropDatabaseRequest(DB, CAT, False, True, True)),
    ask("missing, never mind", "drop_database_req", DropDatabaseRequest(DB, CAT, True, True, True)),
]
