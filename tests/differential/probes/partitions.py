"""Partitions: add, get, list by a part of their values, by name and as specs."""

from metastored.wire.generated.common import EnvironmentContext, FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    Partition,
    PartitionListComposingSpec,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionValuesRequest,
    PartitionWithoutSD,
)
from metastored.wire.structs import replace
from tests.differential.probes.objects import field
from tests.differential.script import Probe, Put, Tree, ask
from tests.support.objects import DS_H, external, partition, storage, table, view

DB = "par"
VALUES = field("values")
PLACE = field("sd", "location")
ODD = "a/b=c%d:e f#g\"h'i*j?k{l}m[n]o\\p^q\x01é"
LIMITS = (-1, 0, 1, 2, 32767, -5)


def part(*values: str, location: str | None = None, **other: object) -> Partition:
    return partition(DB, "p", values, location, **other)


def spec(**other: object) -> PartitionSpec:
    return PartitionSpec(dbName=DB, tableName="s", rootPath="{W}/par.db/s", **other)  # type: ignore[arg-type]


SHARED = PartitionSpecWithSharedSD(
    partitions=(
        PartitionWithoutSD(values=("s1", "1"), relativePath="/ds=s1/h=1", parameters={"x": "y"}),
        PartitionWithoutSD(values=("s2", "1"), relativePath="/elsewhere", parameters={}),
    ),
    sd=storage(location="{W}/par.db/s"),
)

SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("partitioned", "create_table", table(DB, "p", keys=DS_H)),
    ask("plain", "create_table", table(DB, "t1")),
    ask("a view", "create_table", view(DB, "v1")),
    ask("a partitioned view", "create_table", view(DB, "vp", keys="k string")),
    ask("external", "create_table", external(DB, "x", keys=DS_H)),
    # --- one
    ask("plain", "add_partition", part("2024-01-01", "1")),
    ask("plain", "get_partition", DB, "p", ("2024-01-01", "1")),
    ask("taken", "add_partition", part("2024-01-01", "1")),
    ask("too few values", "add_partition", part("x")),
    ask("too many values", "add_partition", part("x", "1", "2")),
    ask("no values", "add_partition", part()),
    ask("null values", "add_partition", replace(part(), values=None)),
    ask("an empty value", "add_partition", part("", "1")),
    ask("an empty value", "get_partition", DB, "p", ("", "1")),
    ask("the default value", "get_partition", DB, "p", ("__HIVE_DEFAULT_PARTITION__", "1")),
    ask("without storage", "add_partition", Partition(values=("a", "9"), dbName=DB, tableName="p")),
    ask("with storage without columns", "add_partition", part("nc", "1", sd=storage(cols=None))),  # type: ignore[arg-type]
    ask("without a serde", "add_partition", part("ns", "1", sd=storage(serdeInfo=None))),
    ask("without parameters", "add_partition", part("np", "1", parameters=None)),
    ask("without parameters", "get_partition", DB, "p", ("np", "1"), show=field("parameters")),
    ask("with times of its own", "add_partition", part("tm", "1", createTime=5, lastAccessTime=6)),
    ask(
        "with times of its own", "get_partition", DB, "p", ("tm", "1"), show=lambda p: (p.createTime, p.lastAccessTime)
    ),
    ask("a word for a number", "add_partition", part("q", "notint"), show=PLACE),
    ask("to no table", "add_partition", partition(DB, "nope", ("a", "1"))),
    ask("to no database", "add_partition", partition("nodb", "nope", ("a", "1"))),
    ask("to a plain table", "add_partition", partition(DB, "t1", ("a",))),
    ask("to a view", "add_partition", partition(DB, "v1", ("a",))),
    ask("to a partitioned view", "add_partition", partition(DB, "vp", ("a",))),
    ask("of a partitioned view", "get_partition", DB, "vp", ("a",)),
    ask("null", "add_partition", None),
    ask("an empty location", "add_partition", part("locempty", "1", location=""), show=PLACE),
    ask("a location of its own", "add_partition", part("own", "1", location="{W}/own"), show=PLACE),
    ask("a location with a slash behind", "add_partition", part("own2", "1", location="{W}/own2/"), show=PLACE),
    ask("a location with a slash behind", "get_partition", DB, "p", ("own2", "1"), show=PLACE),
    ask("odd characters", "add_partition", part(ODD, "2"), show=PLACE),
    ask("in upper case", "add_partition", partition("PAR", "P", ("up", "1")), show=lambda p: (p.dbName, p.tableName)),
    ask("in upper case", "get_partition", DB, "p", ("up", "1"), show=lambda p: (p.dbName, p.tableName)),
    Put("a file", "{X}/parts/f", 3),
    ask("over a file", "add_partition", part("files", "1", location="{X}/parts"), show=field("parameters")),
    ask(
        "over a file, as a task",
        "add_partition_with_environment_context",
        part("files", "2", location="{X}/parts"),
        EnvironmentContext(properties={"STATS_GENERATED": "TASK"}),
        show=field("parameters"),
    ),
    ask(
        "over a file, told not to count",
        "add_partition_with_environment_context",
        part("files", "3", location="{X}/parts", parameters={"DO_NOT_UPDATE_STATS": "true"}),
        EnvironmentContext(properties={}),
        show=field("parameters"),
    ),
    ask("at a file", "add_partition", part("files", "4", location="{X}/parts/f")),
    ask("to an external table", "add_partition", partition(DB, "x", ("e", "1")), show=PLACE),
    Tree("of the external table", "{W}/par.db/x"),
    ask("after these", "get_partition_names", DB, "p", -1),
    Tree("after these", "{W}/par.db/p"),
    # --- appended
    ask("plain", "append_partition", DB, "p", ("2024-01-02", "1")),
    ask("by name", "append_partition_by_name", DB, "p", "ds=2024-01-03/h=1"),
    ask("by name, out of order", "append_partition_by_name", DB, "p", "h=2/ds=2024-01-03", show=VALUES),
    ask("a wrong name", "append_partition_by_name", DB, "p", "foo=2024-01-03/h=1"),
    ask("a short name", "append_partition_by_name", DB, "p", "ds=2024-01-03"),
    ask("taken", "append_partition", DB, "p", ("2024-01-02", "1")),
    ask("too few values", "append_partition", DB, "p", ("x",)),
    ask("no values", "append_partition", DB, "p", ()),
    ask("null values", "append_partition", DB, "p", None),
    ask("to no table", "append_partition", DB, "nope", ("a", "1")),
    ask("to no table", "append_partition_by_name", DB, "nope", "ds=a/h=1"),
    ask("to a plain table", "append_partition", DB, "t1", ("a",)),
    ask("to a view", "append_partition", DB, "vp", ("b",)),
    # --- many
    ask("none", "add_partitions", ()),
    ask("null", "add_partitions", None),
    ask("two", "add_partitions", (part("2024-02-01", "1"), part("2024-02-02", "2"))),
    ask("one of them twice", "add_partitions", (part("2024-02-03", "1"), part("2024-02-03", "1"))),
    ask("one of them taken", "add_partitions", (part("2024-02-04", "1"), part("2024-02-01", "1"))),
    ask("all or nothing", "get_partition", DB, "p", ("2024-02-04", "1")),
    Tree("all or nothing", "{W}/par.db/p/ds=2024-02-04"),
    ask("of two tables", "add_partitions", (part("m", "1"), partition(DB, "t1", ("m", "1")))),
    ask("to no table", "add_partitions", (partition(DB, "nope", ("m", "1")),)),
    ask(
        "if not there",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (part("2024-02-01", "1"), part("2024-02-05", "10")), True, True),
        show=lambda result: tuple(part.values for part in result.partitions),
    ),
    ask(
        "without a result",
        "add_partitions_req",
        AddPartitionsRequest(DB, "p", (part("2024-02-06", "10"),), True, False),
    ),
    ask("one of them taken", "add_partitions_req", AddPartitionsRequest(DB, "p", (part("2024-02-01", "1"),), False)),
    ask("none", "add_partitions_req", AddPartitionsRequest(DB, "p", (), False)),
    ask("to no table", "add_partitions_req", AddPartitionsRequest(DB, "nope", (part("n", "1"),), False)),
    ask("to another table", "add_partitions_req", AddPartitionsRequest(DB, "x", (part("n", "1"),), False)),
    # --- found
    ask("missing", "get_partition", DB, "p", ("zz", "1")),
    ask("too few values", "get_partition", DB, "p", ("zz",)),
    ask("null values", "get_partition", DB, "p", None),
    ask("of no table", "get_partition", DB, "nope", ("zz",)),
    ask("a number written otherwise", "get_partition", DB, "p", ("2024-01-01", "01")),
    ask("odd characters", "get_partition", DB, "p", (ODD, "2"), show=VALUES),
    ask("with auth", "get_partition_with_auth", DB, "p", ("2024-01-01", "1"), "u", ("g",), show=VALUES),
    ask("missing, with auth", "get_partition_with_auth", DB, "p", ("zz", "1"), "u", ("g",)),
    ask("plain", "get_partition_by_name", DB, "p", "ds=2024-01-01/h=1", show=VALUES),
    ask("in upper case", "get_partition_by_name", DB, "p", "DS=2024-01-01/H=1", show=VALUES),
    ask("out of order", "get_partition_by_name", DB, "p", "h=1/ds=2024-01-01", show=VALUES),
    ask("missing", "get_partition_by_name", DB, "p", "ds=x/h=1"),
    ask("no name", "get_partition_by_name", DB, "p", "xyz"),
    ask("of no table", "get_partition_by_name", DB, "nope", "xyz=1"),
    ask("odd characters", "get_partition_by_name", DB, "p", "ds=a%2Fb/h=1"),
    # --- listed
    *(ask(f"at most {n}", "get_partition_names", DB, "p", n) for n in LIMITS),
    *(ask(f"at most {n}", "get_partitions", DB, "p", n, show=VALUES) for n in LIMITS),
    ask("of no table", "get_partition_names", DB, "nope", -1),
    ask("of no database", "get_partition_names", "nodb", "nope", -1),
    ask("of a plain table", "get_partition_names", DB, "t1", -1),
    ask("of no table", "get_partitions", DB, "nope", -1),
    ask("of no database", "get_partitions", "nodb", "nope", -1),
    ask("of a plain table", "get_partitions", DB, "t1", -1),
    ask("with auth", "get_partitions_with_auth", DB, "p", 2, "u", ("g",), show=VALUES),
    ask("of no table, with auth", "get_partitions_with_auth", DB, "nope", 2, "u", ("g",)),
    ask("two, whole", "get_partitions", DB, "p", 2),
    # --- by a part of their values
    ask("the first", "get_partitions_ps", DB, "p", ("2024-01-01",), -1, show=VALUES),
    ask("the second", "get_partitions_ps", DB, "p", ("", "1"), -1, show=VALUES),
    ask("any", "get_partitions_ps", DB, "p", ("", ""), -1, show=lambda result: len(result)),
    ask("at most one", "get_partitions_ps", DB, "p", ("", "1"), 1, show=lambda result: len(result)),
    ask("at most none", "get_partitions_ps", DB, "p", ("", "1"), 0, show=lambda result: len(result)),
    ask("no values", "get_partitions_ps", DB, "p", (), -1),
    ask("null values", "get_partitions_ps", DB, "p", None, -1),
    ask("too many values", "get_partitions_ps", DB, "p", ("a", "b", "c"), -1),
    ask("of no table", "get_partitions_ps", DB, "nope", ("a",), -1),
    ask("odd characters", "get_partitions_ps", DB, "p", (ODD,), -1, show=VALUES),
    ask("a percent sign", "get_partitions_ps", DB, "p", ("2024%",), -1, show=VALUES),
    ask("an underscore", "get_partitions_ps", DB, "p", ("2024_01_01",), -1, show=VALUES),
    ask("a pattern", "get_partitions_ps", DB, "p", ("2024.*",), -1, show=VALUES),
    ask("the default value", "get_partitions_ps", DB, "p", ("__HIVE_DEFAULT_PARTITION__",), -1, show=VALUES),
    ask("the first", "get_partition_names_ps", DB, "p", ("2024-02-01",), -1),
    ask("the second", "get_partition_names_ps", DB, "p", ("", "1"), -1),
    ask("at most one", "get_partition_names_ps", DB, "p", ("", "1"), 1, show=lambda result: len(result)),
    ask("at most none", "get_partition_names_ps", DB, "p", ("", "1"), 0, show=lambda result: len(result)),
    ask("of no table", "get_partition_names_ps", DB, "nope", ("a",), -1),
    ask("no values", "get_partition_names_ps", DB, "p", (), -1),
    ask("too many values", "get_partition_names_ps", DB, "p", ("a", "b", "c"), -1),
    ask("the first", "get_partitions_ps_with_auth", DB, "p", ("2024-01-01", ""), -1, "u", ("g",), show=VALUES),
    ask("of no table", "get_partitions_ps_with_auth", DB, "nope", ("a",), -1, "u", ("g",)),
    ask("too many values", "get_partitions_ps_with_auth", DB, "p", ("a", "b", "c"), -1, "u", ("g",)),
    # --- by name
    ask(
        "some",
        "get_partitions_by_names",
        DB,
        "p",
        ("ds=2024-01-02/h=1", "ds=2024-01-01/h=1", "ds=zz/h=1", "h=1/ds=2024-01-01", "ds=2024-01-01/h=1"),
        show=VALUES,
    ),
    ask("of no table", "get_partitions_by_names", DB, "nope", ("ds=1",)),
    ask("none", "get_partitions_by_names", DB, "p", ()),
    ask("null", "get_partitions_by_names", DB, "p", None),
    # --- specs
    ask("for specs", "create_table", table(DB, "s", keys=DS_H)),
    ask("shared", "add_partitions_pspec", (spec(sharedSDPartitionSpec=SHARED),)),
    ask("shared", "get_partitions", DB, "s", -1),
    ask(
        "listed",
        "add_partitions_pspec",
        (spec(partitionList=PartitionListComposingSpec((partition(DB, "s", ("l1", "1")),))),),
    ),
    ask("taken", "add_partitions_pspec", (spec(sharedSDPartitionSpec=SHARED),)),
    ask("none", "add_partitions_pspec", ()),
    ask("without a table", "add_partitions_pspec", (PartitionSpec(partitionList=PartitionListComposingSpec(())),)),
    ask(
        "to no table",
        "add_partitions_pspec",
        (PartitionSpec(DB, "nope", None, None, PartitionListComposingSpec((partition(DB, "nope", ("l1", "1")),))),),
    ),
    ask("all", "get_partitions_pspec", DB, "s", -1),
    ask("one", "get_partitions_pspec", DB, "s", 1),
    ask("with others", "get_partitions_pspec", DB, "p", 3),
    ask("of no table", "get_partitions_pspec", DB, "nope", -1),
    ask("of a plain table", "get_partitions_pspec", DB, "t1", -1),
    ask("some", "get_part_specs_by_filter", DB, "s", 'ds = "s1"', -1),
    ask("none", "get_part_specs_by_filter", DB, "s", 'ds = "zz"', -1),
    ask("of no table", "get_part_specs_by_filter", DB, "nope", 'ds = "zz"', -1),
    # --- values
    ask("one key", "get_partition_values", PartitionValuesRequest(DB, "p", (FieldSchema("ds", "string"),), filter="")),
    ask(
        "two keys in order",
        "get_partition_values",
        PartitionValuesRequest(
            *(DB, "p", (FieldSchema("ds", "string"), FieldSchema("h", "int")), False, ""),
            *((FieldSchema("ds", "string"),), False),
        ),
    ),
    ask(
        "some",
        "get_partition_values",
        PartitionValuesRequest(DB, "p", (FieldSchema("h", "int"),), filter='ds > "2024-02"'),
    ),
    ask("all keys", "get_partition_values", PartitionValuesRequest(DB, "p", (FieldSchema("h", "int"),), False)),
    ask("of no table", "get_partition_values", PartitionValuesRequest(DB, "nope", (FieldSchema("h", "int"),))),
    ask("of no key", "get_partition_values", PartitionValuesRequest(DB, "p", (FieldSchema("zz", "int"),))),
    ask("no keys", "get_partition_values", PartitionValuesRequest(DB, "p", ())),
    # --- events of partitions
    ask("not yet", "isPartitionMarkedForEvent", DB, "p", {"ds": "2024-01-01", "h": "1"}, 1),
    ask("one", "markPartitionForEvent", DB, "p", {"ds": "2024-01-01", "h": "1"}, 1),
    ask("now", "isPartitionMarkedForEvent", DB, "p", {"ds": "2024-01-01", "h": "1"}, 1),
    ask("another", "isPartitionMarkedForEvent", DB, "p", {"ds": "2024-01-02", "h": "1"}, 1),
    ask("missing", "markPartitionForEvent", DB, "p", {"ds": "zz", "h": "1"}, 1),
    ask("of no table", "markPartitionForEvent", DB, "nope", {"ds": "zz", "h": "1"}, 1),
    ask("of no table", "isPartitionMarkedForEvent", DB, "nope", {"ds": "zz", "h": "1"}, 1),
    ask("too few values", "markPartitionForEvent", DB, "p", {"ds": "zz"}, 1),
    ask("of a wrong key", "markPartitionForEvent", DB, "p", {"ds": "zz", "q": "1"}, 1),
    ask("without values", "markPartitionForEvent", DB, "p", {}, 1),
    ask("all", "drop_database", DB, True, True),
    Tree("their own places", "{W}/own"),
    Tree("the files of others", "{X}/parts"),
]
