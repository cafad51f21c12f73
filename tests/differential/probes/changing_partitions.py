"""Partitions changed, renamed, exchanged and dropped, with their folders."""

from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import DropPartitionsRequest, RequestPartsSpec
from tests.differential.probes.objects import (
    field,
    with_columns,
    with_fields,
    with_parameters,
    with_storage,
    without_parameters,
)
from tests.differential.script import EditPartition, EditTable, Probe, Put, Reconnect, Tree, ask
from tests.support.objects import DS_H, external, partition, storage, table

DB = "chp"
ONE, TWO, THREE = ("2024-01-01", "1"), ("2024-01-02", "1"), ("2024-01-02", "2")
NINE = ("2024-01-09", "9")
PARAMETERS = field("parameters")
PLACE = field("sd", "location")
VALUES = field("values")


def edit(
    label: str, values: tuple[str, ...], change: object, env: dict[str, str] | None = None, name: str = "p"
) -> EditPartition:
    return EditPartition(label, DB, name, values, change, env)  # type: ignore[arg-type]


def get(label: str, values: tuple[str, ...], name: str = "p", show: object = None) -> Probe:
    return ask(label, "get_partition", DB, name, values, show=show)  # type: ignore[arg-type]


def drop(names: tuple[str, ...], **other: object) -> DropPartitionsRequest:
    return DropPartitionsRequest(DB, "p", RequestPartsSpec(names=names), **other)  # type: ignore[arg-type]


def refused(label: str, spec: dict[str, str] | None, source: str = "e1", target: str = "e2") -> tuple[Probe, ...]:
    """An exchange that fails, after which Hive's connection is not to be used any more."""
    return ask(label, "exchange_partition", spec, DB, source, DB, target), Reconnect(f"after {label}")


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("partitioned", "create_table", table(DB, "p", keys=DS_H)),
    ask("external", "create_table", external(DB, "x", keys=DS_H)),
    *(ask(f"{values}", "append_partition", DB, "p", values, show=PLACE) for values in (ONE, TWO, THREE)),
    *(ask(f"external {values}", "append_partition", DB, "x", values, show=PLACE) for values in (ONE, TWO)),
    # --- changed
    edit("one more property", ONE, with_parameters(k="v")),
    get("one more property", ONE),
    Put("a file", "{W}/chp.db/p/ds=2024-01-01/h=1/f", 4),
    edit("again, nothing new", ONE, with_parameters(k="w")),
    get("again, nothing new", ONE, show=PARAMETERS),
    edit("without statistics", ONE, without_parameters("numFiles", "totalSize")),
    get("without statistics", ONE, show=PARAMETERS),
    edit("other statistics", ONE, with_parameters(numFiles="77")),
    get("other statistics", ONE, show=PARAMETERS),
    edit("without counting", ONE, without_parameters("numFiles"), {"DO_NOT_UPDATE_STATS": "true"}),
    get("without counting", ONE, show=PARAMETERS),
    edit("as a task", ONE, with_parameters(numRows="3"), {"STATS_GENERATED": "TASK"}),
    get("as a task", ONE, show=PARAMETERS),
    edit("as a user", ONE, with_parameters(numRows="4"), {"STATS_GENERATED": "USER"}),
    get("as a user", ONE, show=PARAMETERS),
    edit("without the time", ONE, without_parameters("transient_lastDdlTime")),
    get("without the time", ONE, show=PARAMETERS),
    edit("a time of its own", ONE, with_parameters(transient_lastDdlTime="123")),
    get("a time of its own", ONE, show=PARAMETERS),
    edit("without parameters", ONE, with_fields(parameters=None)),
    get("without parameters", ONE, show=PARAMETERS),
    edit("other columns", ONE, with_columns("Z int")),
    get("other columns", ONE, show=field("sd", "cols")),
    edit("an unknown type", ONE, with_columns("z zzz")),
    edit("another time of creation", ONE, with_fields(createTime=5, lastAccessTime=6)),
    get("another time of creation", ONE, show=lambda p: (p.createTime, p.lastAccessTime)),
    edit("time of creation null", ONE, with_fields(createTime=None)),
    get("time of creation null", ONE, show=lambda p: (p.createTime, p.lastAccessTime)),
    edit("another location", ONE, with_storage(location="{W}/moved_part")),
    get("another location", ONE, show=PLACE),
    Tree("another location", "{W}/moved_part"),
    edit("the old location", ONE, with_storage(location="{W}/chp.db/p/ds=2024-01-01/h=1")),
    edit("no location", ONE, with_storage(location=None)),
    get("no location", ONE, show=PLACE),
    edit("the old location again", ONE, with_storage(location="{W}/chp.db/p/ds=2024-01-01/h=1")),
    edit("no storage", ONE, with_fields(sd=None)),
    edit("another table's name", ONE, with_fields(tableName="other", dbName="nodb")),
    get("another table's name", ONE, show=lambda p: (p.dbName, p.tableName)),
    ask("missing", "alter_partition", DB, "p", partition(DB, "p", ("zz", "1"))),
    ask("of no table", "alter_partition", DB, "nope", partition(DB, "nope", ("zz", "1"))),
    ask("too few values", "alter_partition", DB, "p", partition(DB, "p", ("zz",))),
    ask("null", "alter_partition", DB, "p", None),
    ask(
        "one missing",
        "alter_partitions",
        DB,
        "p",
        (partition(DB, "p", TWO, "{W}/chp.db/p/ds=2024-01-02/h=1"), partition(DB, "p", ("zz", "1"), "{W}/zz")),
    ),
    get("all or nothing", TWO, show=PARAMETERS),
    ask("without a location", "alter_partitions", DB, "p", (partition(DB, "p", TWO),)),
    ask("of no table", "alter_partitions", DB, "nope", (partition(DB, "nope", ("zz", "1")),)),
    ask("none", "alter_partitions", DB, "p", ()),
    ask("null", "alter_partitions", DB, "p", None),
    ask(
        "two",
        "alter_partitions",
        DB,
        "p",
        tuple(
            partition(DB, "p", values, f"{{W}}/chp.db/p/ds={values[0]}/h={values[1]}", parameters={"x": "1"})
            for values in (TWO, THREE)
        ),
    ),
    ask("two", "get_partitions", DB, "p", -1),
    ask(
        "two, not counted",
        "alter_partitions_with_environment_context",
        DB,
        "p",
        (partition(DB, "p", TWO, "{W}/chp.db/p/ds=2024-01-02/h=1", parameters={"y": "1"}),),
        EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"}),
    ),
    get("two, not counted", TWO, show=PARAMETERS),
    # --- renamed
    edit("other values", ONE, with_fields(values=NINE)),
    get("other values", NINE),
    get("the old values", ONE),
    Tree("other values", "{W}/chp.db/p"),
    edit("values that are taken", NINE, with_fields(values=TWO)),
    ask("missing", "rename_partition", DB, "p", ("qq", "1"), partition(DB, "p", ("ww", "1"))),
    ask("of no table", "rename_partition", DB, "nope", ("qq", "1"), partition(DB, "nope", ("ww", "1"))),
    ask("too few values", "rename_partition", DB, "p", ("qq",), partition(DB, "p", ("ww", "1"))),
    ask("too few new values", "rename_partition", DB, "p", NINE, partition(DB, "p", ("ww",))),
    ask("to itself", "rename_partition", DB, "p", NINE, partition(DB, "p", NINE, "{W}/chp.db/p/ds=2024-01-09/h=9")),
    edit("odd values", NINE, with_fields(values=("a/b c", "9"))),
    get("odd values", ("a/b c", "9"), show=PLACE),
    edit("back to nine", ("a/b c", "9"), with_fields(values=NINE)),
    Put("in the way", "{W}/chp.db/p/ds=blocked/h=1/f", 1),
    edit("where a folder is in the way", NINE, with_fields(values=("blocked", "1"))),
    get("still nine", NINE, show=PLACE),
    edit("of an external table", ONE, with_fields(values=NINE), name="x"),
    get("of an external table", NINE, name="x", show=PLACE),
    get("of an external table, its statistics", NINE, name="x", show=PARAMETERS),
    get("of a managed table, its statistics", NINE, show=PARAMETERS),
    ask("counted", "add_partition", partition(DB, "x", ("c", "1"), parameters={"numFiles": "7"}), show=PARAMETERS),
    edit("counted", ("c", "1"), with_fields(values=("c", "2")), name="x"),
    get("counted and renamed", ("c", "2"), name="x", show=PARAMETERS),
    ask("elsewhere", "add_partition", partition(DB, "p", ("far", "1"), "{W}/far_part"), show=PLACE),
    edit("one that lies elsewhere", ("far", "1"), with_fields(values=("far", "2"))),
    get("one that lies elsewhere", ("far", "2"), show=PLACE),
    Tree("one that lies elsewhere", "{W}/far_part"),
    edit("to an empty value", NINE, with_fields(values=("", "9"))),
    edit("to two empty values", NINE, with_fields(values=("", ""))),
    ask("a missing one, to an empty value", "rename_partition", DB, "p", ("qq", "1"), partition(DB, "p", ("", "1"))),
    edit("to an empty value, of an external table", NINE, with_fields(values=("", "9")), name="x"),
    ask("names of an external table", "get_partition_names", DB, "x", -1),
    edit("from an empty value, of an external table", ("", "9"), with_fields(values=NINE), name="x"),
    ask("without a value", "append_partition", DB, "p", ("", "7"), show=PLACE),
    edit("to an empty value that is taken", NINE, with_fields(values=("", "7"))),
    edit("from an empty value", ("", "7"), with_fields(values=("seven", "7"))),
    Tree("after empty values", "{W}/chp.db/p"),
    EditTable("the table's name", DB, "p", with_fields(tableName="pr")),
    ask("after the table's name", "get_partitions", DB, "pr", -1, show=PLACE),
    EditTable("the table's name back", DB, "pr", with_fields(tableName="p")),
    # --- exchanged
    ask("from", "create_table", table(DB, "e1", keys=DS_H)),
    ask("to", "create_table", table(DB, "e2", keys=DS_H)),
    ask("with other columns", "create_table", table(DB, "e3", "q int", keys=DS_H)),
    ask("with other keys", "create_table", table(DB, "e4", keys="ds string")),
    *(
        ask(f"e1 {values}", "append_partition", DB, "e1", values, show=PLACE)
        for values in (("e", "1"), ("e", "2"), ("g", "1"))
    ),
    Put("data to exchange", "{W}/chp.db/e1/ds=e/h=1/f", 1),
    ask("one", "exchange_partition", {"ds": "e", "h": "1"}, DB, "e1", DB, "e2"),
    ask("the rest", "get_partition_names", DB, "e1", -1),
    ask("exchanged", "get_partitions", DB, "e2", -1),
    Tree("where it was", "{W}/chp.db/e1"),
    Tree("where it is", "{W}/chp.db/e2"),
    *refused("missing", {"ds": "zz", "h": "1"}),
    *refused("a wrong key", {"qq": "zz"}),
    *refused("an empty value", {"ds": "", "h": "1"}),
    *refused("no values", {}),
    *refused("null", None),
    *refused("a gap", {"h": "1"}),
    *refused("other columns", {"ds": "e", "h": "2"}, target="e3"),
    *refused("other keys", {"ds": "e"}, target="e4"),
    *refused("from no table", {"ds": "e"}, source="nope"),
    *refused("to no table", {"ds": "e"}, target="nope"),
    ask("one that is there already", "append_partition", DB, "e2", ("e", "2"), show=PLACE),
    *refused("taken", {"ds": "e", "h": "2"}),
    ask("all of a day", "exchange_partitions", {"ds": "g"}, DB, "e1", DB, "e2", show=VALUES),
    ask("after a day", "get_partition_names", DB, "e1", -1),
    # --- dropped
    Put("data to drop", "{W}/chp.db/p/ds=2024-01-02/h=1/f", 1),
    ask("with data", "drop_partition", DB, "p", TWO, True),
    Tree("one of two", "{W}/chp.db/p"),
    ask("with data, the last of a day", "drop_partition", DB, "p", THREE, True),
    Tree("the last of a day", "{W}/chp.db/p"),
    ask("missing", "drop_partition", DB, "p", TWO, True),
    ask("without data", "drop_partition_by_name", DB, "p", "ds=2024-01-09/h=9", False),
    Tree("without data", "{W}/chp.db/p"),
    ask("missing", "drop_partition_by_name", DB, "p", "ds=zz/h=1", False),
    ask("no name", "drop_partition_by_name", DB, "p", "zz", False),
    ask("of no table", "drop_partition_by_name", DB, "nope", "ds=zz/h=1", False),
    ask("too few values", "drop_partition", DB, "p", ("a",), True),
    ask("of no table", "drop_partition", DB, "nope", ("a",), True),
    ask("null values", "drop_partition", DB, "p", None, True),
    ask("external", "drop_partition", DB, "x", NINE, True),
    Tree("external", "{W}/chp.db/x"),
    *(ask(f"again {values}", "append_partition", DB, "p", values, show=PLACE) for values in (ONE, TWO, THREE)),
    ask(
        "for good",
        "drop_partition_with_environment_context",
        DB,
        "p",
        ONE,
        True,
        EnvironmentContext(properties={"ifPurge": "true"}),
    ),
    ask("two", "drop_partitions_req", drop(("ds=2024-01-02/h=1",), deleteData=True)),
    ask("missing", "drop_partitions_req", drop(("ds=2024-01-02/h=1",), deleteData=True, ifExists=False)),
    ask("missing, if there", "drop_partitions_req", drop(("ds=2024-01-02/h=1",), ifExists=True)),
    ask("missing, by default", "drop_partitions_req", drop(("ds=2024-01-02/h=1",))),
    ask("without a result", "drop_partitions_req", drop(("ds=2024-01-02/h=2",), deleteData=True, needResult=False)),
    ask("none", "drop_partitions_req", drop(())),
    ask("of no table", "drop_partitions_req", DropPartitionsRequest(DB, "nope", RequestPartsSpec(names=("ds=1/h=1",)))),
    ask("no name", "drop_partitions_req", drop(("zzz",), ifExists=False)),
    ask("left", "get_partition_names", DB, "p", -1),
    Tree("left", "{W}/chp.db/p"),
    ask("with storage of its own", "add_partition", partition(DB, "p", ONE, sd=storage("other int")), show=PLACE),
    ask("the table", "drop_table", DB, "p", True),
    Tree("after the table", "{W}/chp.db/p"),
    Tree("what lay elsewhere", "{W}/far_part"),
    ask("all", "drop_database", DB, True, True),
]
