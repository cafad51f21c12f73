"""Hive 4's translation: the access to a table, and its location, depend on the client's capabilities."""

from typing import Any

from metastored.wire.generated.common import GetProjectionsSpec, Table
from metastored.wire.generated.databases import CreateDatabaseRequest, GetDatabaseRequest
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    GetPartitionsByNamesRequest,
    GetPartitionsFilterSpec,
    GetPartitionsRequest,
    PartitionFilterMode,
    PartitionsRequest,
)
from metastored.wire.generated.tables import (
    AlterTableRequest,
    ClientCapabilities,
    ClientCapability,
    CreateTableRequest,
    GetTableRequest,
    GetTablesExtRequest,
    GetTablesRequest,
)
from tests.differential.probes.objects import with_fields, with_parameters, with_storage
from tests.differential.script import HIVE_4, Ask, EditTable, Probe, Put, Tree
from tests.differential.script import ask as ask_all
from tests.support.objects import DS_H, external, partition, storage, table, view

DB = "tr"
CAT = "hive"
FULL_WRITE = "HIVEFULLACIDWRITE"
ORC = {
    "inputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "outputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
}
ACID = {"transactional": "true"}
INSERT_ONLY = {**ACID, "transactional_properties": "insert_only"}
KNOWS_INSERT_ONLY = ClientCapabilities((ClientCapability.INSERT_ONLY_TABLES,))

ABILITIES: dict[str, tuple[str, ...]] = {
    "external reads": ("EXTREAD",),
    "external reads and writes": ("EXTREAD", "EXTWRITE"),
    "external writes": ("EXTWRITE",),
    "buckets": ("HIVEBUCKET2",),
    "metadata as it is": ("ACCEPTS_UNMODIFIED_METADATA",),
    "SQL": ("HIVESQL",),
    "connector reads": ("CONNECTORREAD",),
    "connector writes": ("CONNECTORWRITE", "HIVEMANAGESTATS"),
    "full reads": ("HIVEFULLACIDREAD",),
    "full reads and materialized": ("HIVEFULLACIDREAD", "HIVEMQT"),
    "full writes": ("HIVEFULLACIDWRITE", "EXTREAD"),
    "insert reads": ("HIVEMANAGEDINSERTREAD",),
    "insert writes": ("HIVEMANAGEDINSERTWRITE",),
    "all of the listed": ("EXTREAD", "EXTWRITE", "HIVEBUCKET2", "HIVEFULLACIDREAD", "HIVEFULLACIDWRITE", "HIVESQL"),
    "raw metadata": ("MANAGERAWMETADATA",),
    "something else": ("NOSUCHTHING",),
}
"""The capabilities that clients may send."""


def ask(label: str, method: str, *args: Any, show: Any = None) -> Ask:
    return ask_all(label, method, *args, show=show, versions=HIVE_4)


def make(label: str, given: Table, *abilities: str) -> Ask:
    request = CreateTableRequest(table=given, processorCapabilities=abilities or None, processorIdentifier="probe")
    return ask(label, "create_table_req", request)


def make_full(label: str, given: Table) -> Ask:
    """A fully transactional table. A standalone 4.0 lacks the classes of ORC, without which it creates none."""
    request = CreateTableRequest(table=given, processorCapabilities=(FULL_WRITE,), processorIdentifier="probe")
    return ask_all(label, "create_table_req", request, versions=("4.1",))


def dry(label: str, given: Table, *abilities: str) -> Ask:
    request = CreateTableRequest(table=given, processorCapabilities=abilities or None)
    return ask(label, "translate_table_dryrun", request, show=kind)


def kind(result: Table) -> Any:
    return result.tableType, result.parameters, result.sd.location if result.sd is not None else None


def access(result: Any) -> Any:
    got = result.table
    return got.accessType, got.requiredReadCapabilities, got.requiredWriteCapabilities, got.sd.numBuckets


def get(label: str, name: str, abilities: tuple[str, ...] | None, show: Any = access, db: str = DB) -> Ask:
    request = GetTableRequest(db, name, KNOWS_INSERT_ONLY, CAT, processorCapabilities=abilities)
    return ask(f"{name}, {label}", "get_table_req", request, show=show)


def place(name: str, db: str = DB, label: str = "its place") -> Ask:
    return get(label, name, None, lambda result: kind(result.table), db)


def database(label: str, name: str, **given: Any) -> Ask:
    return ask(label, "create_database_req", CreateDatabaseRequest(name, catalogName=CAT, **given))


def where(name: str, label: str, *abilities: str) -> Ask:
    def places(result: Any) -> Any:
        return result.locationUri, result.managedLocationUri

    request = GetDatabaseRequest(name, CAT, abilities or None, "probe")
    return ask(f"{name}, {label}", "get_database_req", request, show=places)


def edit(label: str, name: str, change: Any, db: str = DB) -> EditTable:
    return EditTable(label, db, name, change, versions=HIVE_4)


def tree(label: str, location: str) -> Tree:
    return Tree(label, location, HIVE_4)


def bucketed(cols: str = "a int, b string", location: str | None = None) -> Any:
    return storage(cols, location, numBuckets=4, bucketCols=("a",))


def buckets(result: Any) -> Any:
    return tuple((part.values, part.sd.numBuckets) for part in result)


def wanted(name: str, abilities: tuple[str, ...]) -> Any:
    return GetPartitionsRequest(
        catName=CAT,
        dbName=DB,
        tblName=name,
        projectionSpec=GetProjectionsSpec(),
        filterSpec=GetPartitionsFilterSpec(PartitionFilterMode.BY_NAMES, ("ds=a/h=1",)),
        processorCapabilities=abilities,
    )


def spec_buckets(result: Any) -> Any:
    return tuple(spec.sharedSDPartitionSpec.sd.numBuckets for spec in result.partitionSpec)


def extended(label: str, fields: int, *abilities: str, pattern: str = "*", limit: int | None = -1) -> Ask:
    request = GetTablesExtRequest(CAT, DB, pattern, fields, limit, processorCapabilities=abilities)
    return ask(label, "get_tables_ext", request, show=lambda result: sorted(result, key=lambda one: one.tblName))


TABLES = ("plain", "ext", "bext", "io", "full", "v", "mv", "cext", "cbext", "cio", "cfull", "cv")
"""Of every type, with and without abilities that they demand themselves."""

OBJECTS: list[Probe] = [
    database("for them", DB),
    make("plain", table(DB, "plain")),
    make("external", external(DB, "ext")),
    make("bucketed", external(DB, "bext", sd=bucketed())),
    make("insert-only", table(DB, "io", parameters=INSERT_ONLY), "HIVEMANAGEDINSERTWRITE"),
    make_full("full", table(DB, "full", sd=storage(**ORC), parameters=ACID)),
    make("a view", view(DB, "v")),
    make("a materialized view", view(DB, "mv", tableType="MATERIALIZED_VIEW")),
    make("external that demands", external(DB, "cext", parameters={"OBJCAPABILITIES": "extread, EXTWRITE"})),
    make(
        "bucketed that demands",
        external(DB, "cbext", sd=bucketed(), parameters={"OBJCAPABILITIES": "EXTREAD,EXTWRITE,HIVEBUCKET2"}),
    ),
    make(
        "insert-only that demands",
        table(
            DB,
            "cio",
            parameters={**INSERT_ONLY, "OBJCAPABILITIES": "HIVEMANAGEDINSERTREAD,HIVEMANAGEDINSERTWRITE"},
        ),
        "HIVEMANAGEDINSERTWRITE",
    ),
    make_full(
        "full that demands",
        table(
            DB,
            "cfull",
            sd=storage(**ORC),
            parameters={**ACID, "OBJCAPABILITIES": "HIVEFULLACIDREAD,HIVEFULLACIDWRITE,HIVEMANAGESTATS"},
        ),
    ),
    make("a view that demands", view(DB, "cv", parameters={"OBJCAPABILITIES": "HIVESQL,EXTREAD"})),
    *(get("without a word", name, None) for name in TABLES),
    *(get(label, name, given) for name in TABLES for label, given in ABILITIES.items()),
    get("whole", "bext", ("EXTREAD",), lambda result: result),
    ask(
        "nothing is told",
        "get_table_objects_by_name_req",
        GetTablesRequest(DB, ("bext",), catName=CAT, processorCapabilities=("EXTREAD",)),
        show=lambda result: [(one.accessType, one.sd.numBuckets) for one in result.tables],
    ),
    extended("with access", 1, "EXTREAD", pattern="*ext"),
    extended("with abilities", 2, "EXTREAD", pattern="*ext"),
    extended("with both", 3, "EXTREAD", pattern="*ext"),
    extended("with neither", 0, "EXTREAD", pattern="*ext"),
    extended("of one who reads", 3, "EXTREAD", "HIVEFULLACIDREAD", "HIVESQL", pattern="*v"),
    extended("one at most", 3, "EXTREAD", pattern="bext", limit=1),
    extended("none at most", 3, "EXTREAD", limit=0),
    extended("no limit", 3, "EXTREAD", pattern="bext", limit=None),
    extended("raw", 3, "MANAGERAWMETADATA"),
]

PARTITIONS: list[Probe] = [
    make("partitioned", external(DB, "p", keys=DS_H, sd=bucketed())),
    ask(
        "bucketed",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (partition(DB, "p", ("a", "1"), sd=bucketed()),), False, False),
    ),
    *(
        ask(
            label,
            "get_partitions_by_names_req",
            GetPartitionsByNamesRequest(DB, "p", ("ds=a/h=1",), processorCapabilities=given),
            show=lambda result: buckets(result.partitions),
        )
        for label, given in ABILITIES.items()
    ),
    ask("by one who reads", "get_partitions_with_specs", wanted("p", ("EXTREAD",)), show=spec_buckets),
    ask("by one who knows buckets", "get_partitions_with_specs", wanted("p", ("HIVEBUCKET2",)), show=spec_buckets),
    ask("all", "get_partitions_req", PartitionsRequest(CAT, DB, "p", -1), show=lambda f: buckets(f.partitions)),
]

CREATING: list[Probe] = [
    dry("managed", table(DB, "d")),
    dry("of a type in small letters", table(DB, "d", tableType="managed_table")),
    dry("not transactional, it says", table(DB, "d", parameters={"transactional": "false", "k": "v"})),
    dry("insert-only, but not transactional", table(DB, "d", parameters={"transactional_properties": "insert_only"})),
    dry("placed", table(DB, "d", location="{X}/tr_d")),
    dry("external", external(DB, "d")),
    dry("external by its type alone", table(DB, "d", tableType="EXTERNAL_TABLE")),
    dry("a view", view(DB, "d")),
    dry("of no type", table(DB, "d", tableType=None)),
    dry("of no database", table("nodb", "d")),
    dry("transactional", table(DB, "d", parameters=ACID)),
    dry("transactional, by one who cannot", table(DB, "d", parameters=ACID), "EXTREAD"),
    dry("transactional, by one who can", table(DB, "d", parameters=ACID), "HIVEFULLACIDWRITE"),
    dry("insert-only, by one who cannot", table(DB, "d", parameters=INSERT_ONLY), "HIVEFULLACIDWRITE"),
    dry("insert-only, by one who can", table(DB, "d", parameters=INSERT_ONLY), "HIVEMANAGEDINSERTWRITE"),
    dry(
        "transactional, placed in the warehouse",
        table(DB, "d", parameters=ACID, location="{W}/anywhere/d"),
        "HIVEFULLACIDWRITE",
    ),
    dry("transactional, placed outside", table(DB, "d", parameters=ACID, location="{X}/d"), "HIVEFULLACIDWRITE"),
    dry("in another catalog", table("default", "d", catName="nocat")),
    make("external by its type alone", table(DB, "t_ext", tableType="EXTERNAL_TABLE")),
    place("t_ext"),
    database("external tables only", "tr_only", parameters={"EXTERNAL_TABLES_ONLY": "TRUE"}),
    dry("where only external ones may be", table("tr_only", "d", parameters=ACID), "HIVEFULLACIDWRITE"),
    dry("plain, where only external ones may be", table("tr_only", "d")),
]

PLACES = ("{W}/somewhere", "{W}/tr.db", "{W}/tr_in.db", "{W}/tr_out.db", "{W}/tr_managed", "{X}/tr_out", "{X}/tr_two")

DATABASES: list[Probe] = [
    where(DB, "without a word"),
    where(DB, "writer", "HIVEFULLACIDWRITE"),
    where(DB, "reader", "EXTREAD"),
    where("default", "without a word"),
    where("default", "writer", "HIVEMANAGEDINSERTWRITE"),
    database("elsewhere in the warehouse", "tr_in", locationUri="{W}/somewhere"),
    database("outside", "tr_out", locationUri="{X}/tr_out"),
    database("with a managed place", "tr_two", locationUri="{X}/tr_two", managedLocationUri="{W}/tr_managed"),
    *(
        where(name, label, *abilities)
        for name in ("tr_in", "tr_out", "tr_two")
        for label, abilities in (
            ("without a word", ()),
            ("writer", ("HIVEFULLACIDWRITE",)),
            ("raw", ("MANAGE_RAW_METADATA",)),
        )
    ),
    *(
        make(f"{what} in {name}", given, "HIVEFULLACIDWRITE")
        for name in ("tr_in", "tr_out", "tr_two")
        for what, given in (
            ("plain", table(name, "plain")),
            ("external", external(name, "ext")),
        )
    ),
    *(
        make_full(f"full in {name}", table(name, "full", sd=storage(**ORC), parameters=ACID))
        for name in ("tr_in", "tr_out", "tr_two")
    ),
    *(
        get(f"place in {name}", each, None, lambda result: kind(result.table), name)
        for name in ("tr_in", "tr_out", "tr_two")
        for each in ("plain", "ext", "full")
    ),
    make(
        "outside the managed place",
        table("tr_two", "far", sd=storage(location="{W}/far", **ORC), parameters=ACID),
        "HIVEFULLACIDWRITE",
    ),
    make_full(
        "in the managed place",
        table("tr_two", "near", sd=storage(location="{W}/tr_managed/near_by", **ORC), parameters=ACID),
    ),
    make(
        "outside the warehouse",
        table(DB, "far", sd=storage(location="{X}/far", **ORC), parameters=ACID),
        "HIVEFULLACIDWRITE",
    ),
    *(tree(f"all of {place}", place) for place in PLACES),
]

CHANGING: list[Probe] = [
    make("to be renamed", table(DB, "r1", keys=DS_H)),
    ask("to be renamed", "append_partition", DB, "r1", ("a", "1"), show=lambda part: part.sd.location),
    Put("data to be renamed", "{W}/tr.db/r1/ds=a/h=1/f", 1, HIVE_4),
    edit("a translated table's name", "r1", with_fields(tableName="r2")),
    place("r2"),
    ask("renamed", "get_partitions", DB, "r2", -1, show=lambda result: [part.sd.location for part in result]),
    tree("renamed", "{W}/tr.db/r2"),
    make("placed and translated", table(DB, "r3", location="{X}/r3")),
    Put("data of a placed one", "{X}/r3/f", 1, HIVE_4),
    edit("a placed and translated table's name", "r3", with_fields(tableName="r4")),
    place("r4"),
    tree("placed, after its rename", "{X}/r3"),
    tree("placed, renamed", "{W}/tr.db/r4"),
    edit("an external table's name", "ext", with_fields(tableName="ext2")),
    place("ext2"),
    edit("another database", "r2", with_fields(dbName="tr_out")),
    place("r2", "tr_out", "in another database"),
    tree("in another database", "{X}/tr_out"),
    make("for Iceberg", table(DB, "ice", parameters={"table_type": "ICEBERG"})),
    edit("an Iceberg table's name", "ice", with_fields(tableName="ice2")),
    place("ice2"),
    tree("Iceberg", "{W}/tr.db/ice"),
    edit("a full table's name", "full", with_fields(tableName="full2")),
    place("full2"),
    edit("a full table's place, outside", "full2", with_storage(location="{X}/full2")),
    edit("a full table's place, inside", "full2", with_storage(location="{W}/full3")),
    place("full2", label="its new place"),
    edit("a translated table's place", "plain", with_storage(location="{X}/plain2")),
    place("plain"),
    edit("no longer external", "plain", with_parameters(EXTERNAL="FALSE")),
    place("plain", label="no longer external"),
    get("by one who reads", "plain", ("EXTREAD",)),
    ask(
        "a property",
        "alter_table_req",
        AlterTableRequest(
            *(CAT, DB, "v", view(DB, "v", parameters={"k": "v"})),
            processorCapabilities=("EXTREAD",),
            processorIdentifier="probe",
        ),
    ),
    place("v"),
]

ENDING: list[Probe] = [
    *(ask(f"{name}, all", "drop_database", name, True, True) for name in (DB, "tr_only", "tr_in", "tr_out", "tr_two")),
    *(tree(f"the end of {place}", place) for place in PLACES),
]

SCRIPT: list[Probe] = [*OBJECTS, *PARTITIONS, *CREATING, *DATABASES, *CHANGING, *ENDING]
