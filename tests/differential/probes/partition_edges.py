"""Incomplete partitions: without storage, without columns, with invalid names and locations."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    AppendPartitionsRequest,
    DropPartitionRequest,
    DropPartitionsRequest,
    PartitionListComposingSpec,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
    RequestPartsSpec,
)
from metastored.wire.structs import replace
from tests.differential.probes.objects import field, with_storage
from tests.differential.script import HIVE_4, EditPartition, EditTable, Probe, Reconnect, ask
from tests.support.objects import DS_H, external, partition, storage, table, view

DB, OTHER = "ped", "ped2"
PLACE = field("sd", "location")
VALUES = field("values")
PLAIN_STORAGE = storage(location="{W}/ped.db/p/ds=z/h=1")


def bare(name: str, values: tuple[str, ...], **other: Any) -> Any:
    return partition(DB, name, values, sd=None, **other)


def columns_of(*pairs: tuple[str | None, str | None]) -> tuple[FieldSchema, ...]:
    return tuple(FieldSchema(name=name, type=type) for name, type in pairs)


def renamed(label: str, table: str = "p", **new: Any) -> list[Probe]:
    """A rename whose new partition has other changes as well."""
    old, named = ("old", "1"), ("new", "1")
    part = replace(partition(DB, table, named, f"{{W}}/ped.db/{table}/ds=old/h=1"), **new)
    return [
        ask(label, "append_partition", DB, table, old, show=VALUES),
        ask(label, "rename_partition", DB, table, old, part),
        Reconnect(f"after a rename {label}"),
        ask(
            f"renamed {label}",
            "get_partition",
            DB,
            table,
            named,
            show=lambda result: (result.dbName, result.sd.location),
        ),
        ask(f"left {label}", "get_partition", DB, table, old, show=VALUES),
        ask(f"renamed {label}", "drop_partition", DB, table, named, True),
        ask(f"left {label}", "drop_partition", DB, table, old, True),
    ]


def spec(**content: Any) -> PartitionSpec:
    return PartitionSpec(dbName=DB, tableName="p", rootPath="{W}/ped.db/p", catName="hive", **content)


def listed(*values: tuple[str, str]) -> PartitionListComposingSpec:
    return PartitionListComposingSpec(tuple(partition(DB, "p", each, catName="hive") for each in values))


def shared(*values: tuple[str, str]) -> PartitionSpecWithSharedSD:
    members = tuple(PartitionWithoutSD(each, 0, 0, f"/ds={each[0]}/h={each[1]}", {}) for each in values)
    return PartitionSpecWithSharedSD(members, storage(location="{W}/ped.db/p"))


VIEWS: list[Probe] = [
    ask("a view", "create_table", view(DB, "v", keys=DS_H, sd=storage())),
    ask("of a view, without storage", "add_partition", bare("v", ("1", "1"))),
    Reconnect("after a partition of a view"),
    ask("of a view, without storage", "add_partitions", (bare("v", ("2", "1")), bare("v", ("2", "2")))),
    Reconnect("after partitions of a view"),
    ask(
        "of a view, without storage",
        "add_partitions_req",
        AddPartitionsRequest(DB, "v", (bare("v", ("3", "1"), parameters={"k": "v"}),), True, True),
    ),
    Reconnect("after a request of partitions of a view"),
    ask("of a view", "get_partition_names", DB, "v", -1),
    ask("of a view", "get_partitions", DB, "v", -1),
    ask("of a view", "get_partition", DB, "v", ("3", "1")),
    ask("of a view", "get_partitions_by_filter", DB, "v", 'ds = "3"', -1, show=VALUES),
    ask("of a view, with storage", "add_partition", partition(DB, "v", ("4", "1"))),
    ask("of a view, with a place", "add_partition", partition(DB, "v", ("5", "1"), "{W}/elsewhere")),
    ask("of a view", "append_partition", DB, "v", ("6", "1")),
    EditPartition("of a view", DB, "v", ("3", "1"), lambda part: replace(part, parameters={"k": "w"})),
    Reconnect("after a change of a view's partition"),
    ask("of a view, changed", "get_partition", DB, "v", ("3", "1"), show=lambda part: (part.sd, part.values)),
    ask("of a view", "drop_partition", DB, "v", ("3", "1"), True),
    ask(
        "of a view",
        "drop_partitions_req",
        DropPartitionsRequest(DB, "v", RequestPartsSpec(names=("ds=2/h=1",)), True),
    ),
    ask("of a view", "exchange_partition", {"ds": "2", "h": "2"}, DB, "v", DB, "m"),
    Reconnect("after an exchange with a view"),
    ask("to a view", "exchange_partition", {"ds": "keep", "h": "1"}, DB, "p", DB, "v"),
    Reconnect("after an exchange to a view"),
    ask(
        "of a view",
        "rename_partition",
        DB,
        "v",
        ("2", "2"),
        bare("v", ("renamed", "1")),
    ),
    Reconnect("after a rename of a view's partition"),
    ask("of a view, at last", "get_partition_names", DB, "v", -1),
    EditTable("of a view", DB, "v", lambda result: replace(result, tableName="v2")),
    ask("of a renamed view", "get_partition_names", DB, "v2", -1),
    ask("of a table, without storage", "add_partition", bare("p", ("n", "1"))),
    Reconnect("after a partition without storage"),
]

PLACES: list[Probe] = [
    ask("a slash behind", "add_partition", partition(DB, "p", ("s1", "1"), "{W}/ped.db/p/ds=s1/h=1/"), show=PLACE),
    ask("a slash behind", "get_partition", DB, "p", ("s1", "1"), show=PLACE),
    ask("two slashes behind", "add_partition", partition(DB, "p", ("s2", "1"), "{W}/ped.db/p/ds=s2/h=1//"), show=PLACE),
    ask("the table's own, with a slash", "add_partition", partition(DB, "p", ("s3", "1"), "{W}/ped.db/p/"), show=PLACE),
    ask("a slash behind, elsewhere", "add_partition", partition(DB, "p", ("s4", "1"), "{W}/apart/x/"), show=PLACE),
    ask("two slashes inside", "add_partition", partition(DB, "p", ("s5", "1"), "{W}/ped.db//p//x"), show=PLACE),
    ask("places", "get_partitions", DB, "p", -1, show=PLACE),
    ask(
        "a slash behind",
        "alter_partition",
        DB,
        "p",
        partition(DB, "p", ("s1", "1"), "{W}/ped.db/p/ds=s1/h=1/", parameters={"k": "v"}),
    ),
    ask("a slash behind, altered", "get_partition", DB, "p", ("s1", "1"), show=PLACE),
    ask(
        "a slash behind",
        "alter_partitions",
        DB,
        "p",
        (partition(DB, "p", ("s1", "1"), "{W}/ped.db/p/ds=s1/h=1/", parameters={"k": "w"}),),
    ),
    ask("a slash behind, altered with others", "get_partition", DB, "p", ("s1", "1"), show=PLACE),
    *(ask(f"s{n}", "drop_partition", DB, "p", (f"s{n}", "1"), False) for n in (1, 2, 3, 4, 5)),
]

RENAMED: dict[str, dict[str, Any]] = {
    "plainly": {},
    "to another table": {"tableName": "q"},
    "to a missing table": {"tableName": "nope"},
    "to another database": {"dbName": OTHER},
    "to a missing database": {"dbName": "nodb"},
    "without a table": {"tableName": None},
    "without a database": {"dbName": None},
    "to another catalog": {"catName": "nocat"},
    "with a nameless column": {"sd": storage(columns_of((None, "int")), "{W}/ped.db/p/ds=old/h=1")},
}

RENAMES: list[Probe] = [
    probe
    for label, new in RENAMED.items()
    for probe in (*renamed(label, **new), *renamed(f"{label}, managed", "m", **new))
] + renamed("by upper case", tableName="P", dbName=DB.upper())

COLUMNS: list[Probe] = [
    *(
        probe
        for label, pairs in {
            "without a name": ((None, "int"),),
            "without a type": (("a", None),),
            "with an empty name": (("", "int"),),
            "with an empty type": (("a", ""),),
            "with an unknown type": (("a", "zzz"),),
        }.items()
        for probe in (
            ask(
                f"a column {label}",
                "add_partition",
                partition(DB, "p", ("c", "1"), sd=storage(columns_of(*pairs))),
                show=field("sd", "cols"),
            ),
            Reconnect(f"after a partition's column {label}"),
            ask(f"a column {label}", "get_partition", DB, "p", ("c", "1"), show=field("sd", "cols")),
            ask(f"a column {label}", "drop_partition", DB, "p", ("c", "1"), True),
            ask(f"a column {label}", "create_table", table(DB, "bad", sd=storage(columns_of(*pairs)))),
            Reconnect(f"after a table's column {label}"),
            ask(f"a column {label}", "get_table", DB, "bad", show=field("sd", "cols")),
            ask(f"a column {label}", "drop_table", DB, "bad", True),
            ask(
                f"a key {label}",
                "create_table",
                table(DB, "bad2", partitionKeys=columns_of(*pairs), cols="x int"),
            ),
            Reconnect(f"after a table's key {label}"),
            ask(f"a key {label}", "get_table", DB, "bad2", show=field("partitionKeys")),
            ask(f"a key {label}", "drop_table", DB, "bad2", True),
            EditPartition(
                f"a column {label}",
                DB,
                "p",
                ("keep", "1"),
                with_storage(cols=columns_of(*pairs)),
            ),
            Reconnect(f"after a change to a partition's column {label}"),
            ask(f"a column {label}, changed", "get_partition", DB, "p", ("keep", "1"), show=field("sd", "cols")),
            EditTable(
                f"a column {label}",
                DB,
                "q",
                with_storage(cols=columns_of(*pairs)),
            ),
            Reconnect(f"after a change to a table's column {label}"),
            ask(f"a column {label}, changed", "get_table", DB, "q", show=field("sd", "cols")),
        )
    ),
]

NAMES: list[Probe] = [
    ask("an empty name", "get_partition_by_name", DB, "p", ""),
    ask("a null name", "get_partition_by_name", DB, "p", None),
    ask("a blank name", "get_partition_by_name", DB, "p", " "),
    ask("a name without a key", "get_partition_by_name", DB, "p", "keep"),
    ask("half a name", "get_partition_by_name", DB, "p", "ds=keep"),
    ask("an empty name", "append_partition_by_name", DB, "p", ""),
    ask("a null name", "append_partition_by_name", DB, "p", None),
    ask("half a name", "append_partition_by_name", DB, "p", "ds=keep"),
    ask("an empty name", "drop_partition_by_name", DB, "p", "", True),
    ask("a null name", "drop_partition_by_name", DB, "p", None, True),
    ask("half a name", "drop_partition_by_name", DB, "p", "ds=keep", True),
    ask("blank names", "get_partitions_by_names", DB, "p", ("", " ", "ds=keep/h=1"), show=VALUES),
    ask("only an empty name", "get_partitions_by_names", DB, "p", ("",), show=VALUES),
    ask("names without a key", "get_partitions_by_names", DB, "p", ("keep",), show=VALUES),
    ask("half names", "get_partitions_by_names", DB, "p", ("ds=keep",), show=VALUES),
    ask("no names", "get_partitions_by_names", DB, "p", (), show=VALUES),
    ask("names in another spelling", "get_partitions_by_names", DB, "p", ("DS=keep/h=1", "ds=keep/h=01"), show=VALUES),
    ask("names with a null", "get_partitions_by_names", DB, "p", ("ds=keep/h=1", "ds=keep/h=1"), show=VALUES),
    ask(
        "blank names",
        "drop_partitions_req",
        DropPartitionsRequest(DB, "p", RequestPartsSpec(names=("", " ")), True, False),
    ),
    ask(
        "an empty name",
        "append_partition_req",
        AppendPartitionsRequest(dbName=DB, tableName="p", catalogName="hive", name=""),
        versions=HIVE_4,
    ),
    ask(
        "an empty name",
        "drop_partition_req",
        DropPartitionRequest(dbName=DB, tblName="p", catName="hive", partName=""),
        versions=HIVE_4,
    ),
    ask("blank names", "truncate_table", DB, "p", ("", " "), versions=("3.1", *HIVE_4)),
    Reconnect("after blank names"),
    ask("no values", "append_partition", DB, "p", ()),
    ask("no values", "add_partition", partition(DB, "p", ())),
    ask("no values", "get_partition", DB, "p", ()),
    ask("no values", "drop_partition", DB, "p", (), True),
    ask("an empty value", "append_partition", DB, "p", ("", "1"), show=VALUES),
    ask("after all names", "get_partition_names", DB, "p", -1),
]

SPECS: list[Probe] = [
    ask(
        "both kinds in one",
        "add_partitions_pspec",
        (spec(partitionList=listed(("l1", "1")), sharedSDPartitionSpec=shared(("h1", "1"))),),
    ),
    ask("after both kinds in one", "get_partition_names", DB, "p", -1),
    ask("neither kind", "add_partitions_pspec", (spec(),)),
    Reconnect("after a spec of neither kind"),
    ask(
        "one of each",
        "add_partitions_pspec",
        (spec(partitionList=listed(("l2", "1"))), spec(sharedSDPartitionSpec=shared(("h2", "1")))),
    ),
    ask("after one of each", "get_partition_names", DB, "p", -1),
    ask("an empty list", "add_partitions_pspec", (spec(partitionList=PartitionListComposingSpec(())),)),
    Reconnect("after an empty list"),
    ask(
        "without shared storage",
        "add_partitions_pspec",
        (spec(sharedSDPartitionSpec=PartitionSpecWithSharedSD((PartitionWithoutSD(("h3", "1"), 0, 0, "/x", {}),))),),
    ),
    Reconnect("after a spec without storage"),
    ask(
        "places of specs",
        "get_partitions",
        DB,
        "p",
        -1,
        show=lambda result: [(p.values, p.sd.location) for p in result],
    ),
]

SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("another", "create_database", Database(name=OTHER)),
    ask("p", "create_table", external(DB, "p", keys=DS_H)),
    ask("q", "create_table", external(DB, "q", keys=DS_H)),
    ask("m", "create_table", table(DB, "m", keys=DS_H)),
    ask("p in another", "create_table", external(OTHER, "p", keys=DS_H)),
    ask("one that stays", "append_partition", DB, "p", ("keep", "1"), show=PLACE),
    *VIEWS,
    *PLACES,
    *RENAMES,
    *COLUMNS,
    *NAMES,
    *SPECS,
    ask("with all", "drop_database", DB, True, True),
    ask("the other", "drop_database", OTHER, True, True),
]
