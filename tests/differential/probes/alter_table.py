"""Tables changed: properties, columns, location, names, with cascade and on a condition."""

from metastored.wire.generated.databases import Database
from tests.differential.probes.objects import (
    all_of,
    field,
    with_columns,
    with_fields,
    with_parameters,
    with_storage,
    without_parameters,
)
from tests.differential.script import EditTable, Probe, Put, Tree, ask
from tests.support.objects import columns, external, partition, table, view

DB, OTHER = "alt", "alt2"
PLACE = field("sd", "location")
PARAMETERS = field("parameters")
COLUMNS = field("sd", "cols")


def edit(label: str, name: str, change: object, env: dict[str, str] | None = None, db: str = DB) -> EditTable:
    return EditTable(label, db, name, change, env)  # type: ignore[arg-type]


def moved(name: str, db: str | None = None, **other: object) -> object:
    return with_fields(tableName=name, **({"dbName": db} if db else {}), **other)


TYPE_CHANGES = (
    *(("int", "bigint"), ("bigint", "int"), ("int", "string"), ("string", "int"), ("int", "date"), ("date", "string")),
    *(("float", "double"), ("double", "float"), ("char(3)", "varchar(5)"), ("string", "char(3)"), ("int", "boolean")),
    *(("array<int>", "array<bigint>"), ("struct<x:int>", "struct<x:int;y:int>"), ("decimal(5;2)", "decimal(3;1)")),
    *(("timestamp", "date"), ("tinyint", "decimal(4;0)"), ("binary", "string"), ("map<int;int>", "string")),
)

SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("for others", "create_database", Database(name=OTHER)),
    ask("plain", "create_table", table(DB, "t1")),
    ask("external", "create_table", external(DB, "ext1")),
    ask("elsewhere", "create_table", table(DB, "far", location="{W}/far_away")),
    ask("a view", "create_table", view(DB, "v1")),
    # --- properties and statistics
    edit("one more property", "t1", with_parameters(zk="zv")),
    ask("after one more", "get_table", DB, "t1"),
    Put("a file", "{W}/alt.db/t1/f", 5),
    edit("one more again", "t1", with_parameters(z2="z")),
    ask("counted again", "get_table", DB, "t1", show=PARAMETERS),
    Put("another file", "{W}/alt.db/t1/g", 5),
    edit("without counting", "t1", with_parameters(z3="z"), {"DO_NOT_UPDATE_STATS": "true"}),
    ask("not counted", "get_table", DB, "t1", show=PARAMETERS),
    edit("as a task", "t1", with_parameters(numRows="3"), {"STATS_GENERATED": "TASK"}),
    ask("as a task", "get_table", DB, "t1", show=PARAMETERS),
    edit("as a user", "t1", with_parameters(numRows="4"), {"STATS_GENERATED": "USER"}),
    ask("as a user", "get_table", DB, "t1", show=PARAMETERS),
    edit("one property less", "t1", without_parameters("z2", "z3")),
    ask("one property less", "get_table", DB, "t1", show=PARAMETERS),
    edit("without the time", "t1", without_parameters("transient_lastDdlTime")),
    ask("without the time", "get_table", DB, "t1", show=PARAMETERS),
    edit("the time zero", "t1", with_parameters(transient_lastDdlTime="0")),
    ask("the time zero", "get_table", DB, "t1", show=PARAMETERS),
    edit("a time of its own", "t1", with_parameters(transient_lastDdlTime="123")),
    ask("a time of its own", "get_table", DB, "t1", show=PARAMETERS),
    edit("without parameters", "t1", with_fields(parameters=None)),
    ask("without parameters", "get_table", DB, "t1", show=PARAMETERS),
    edit("a comment on a view", "v1", with_parameters(comment="x")),
    ask("a comment on a view", "get_table", DB, "v1"),
    edit("the view's text", "v1", with_fields(viewOriginalText="select 2", viewExpandedText="select 2")),
    ask("the view's text", "get_table", DB, "v1", show=field("viewExpandedText")),
    ask("missing", "alter_table", DB, "nope", table(DB, "nope")),
    ask("of no database", "alter_table", "nodb", "nope", table("nodb", "nope")),
    ask("null", "alter_table", DB, "t1", None),
    edit("another owner and time of creation", "t1", with_fields(owner="new", createTime=5, retention=3)),
    ask("another owner", "get_table", DB, "t1"),
    edit("external", "t1", with_parameters(EXTERNAL="TRUE")),
    ask("external", "get_table", DB, "t1", show=field("tableType")),
    edit("managed again", "t1", with_parameters(EXTERNAL="FALSE")),
    ask("managed again", "get_table", DB, "t1", show=field("tableType")),
    edit("external by type only", "t1", with_fields(tableType="EXTERNAL_TABLE")),
    ask("external by type only", "get_table", DB, "t1", show=field("tableType")),
    # --- columns
    edit("a column more", "t1", with_columns("a int, b string, c bigint")),
    edit("a wider type", "t1", with_columns("a string, b string, c bigint")),
    edit("a narrower type", "t1", with_columns("a string, b int, c bigint")),
    edit("two narrower types", "t1", with_columns("a int, b int, c bigint")),
    edit("other names", "t1", with_columns("x string, Y string, c bigint")),
    ask("other names", "get_table", DB, "t1", show=COLUMNS),
    edit("a column less", "t1", with_columns("x string")),
    edit("an unknown type", "t1", with_columns("x zzz")),
    edit("no columns", "t1", with_storage(cols=())),
    ask("no columns", "get_table", DB, "t1", show=COLUMNS),
    edit("null columns", "t1", with_storage(cols=None)),
    edit("some columns again", "t1", with_columns("a int, b string")),
    edit("without storage", "t1", with_fields(sd=None)),
    edit("without a serde", "t1", with_storage(serdeInfo=None)),
    *(
        probe
        for n, (old, new) in enumerate(TYPE_CHANGES)
        for probe in (
            ask(f"of {old}, number {n}", "create_table", table(DB, f"ty{n}", f"x {old}")),
            edit(f"{old} to {new}", f"ty{n}", with_columns(f"x {new}")),
        )
    ),
    # --- location
    edit("another location", "t1", with_storage(location="{W}/newloc")),
    ask("another location", "get_table", DB, "t1", show=PLACE),
    Tree("the new location", "{W}/newloc"),
    Tree("the old location", "{W}/alt.db/t1"),
    edit("no location", "t1", with_storage(location=None)),
    edit("an empty location", "t1", with_storage(location="")),
    edit("the old location", "t1", with_storage(location="{W}/alt.db/t1")),
    # --- names
    edit("another name", "t1", moved("t1r")),
    ask("another name", "get_table", DB, "t1r"),
    Tree("after the rename", "{W}/alt.db"),
    edit("a name that is taken", "t1r", moved("ext1")),
    edit("a name that is taken, in upper case", "t1r", moved("EXT1")),
    edit("a name that is taken, database in upper case", "t1r", moved("Ext1", DB.upper())),
    edit("a bad name", "t1r", moved("a-b")),
    edit("an empty name", "t1r", moved("")),
    edit("a null name", "t1r", with_fields(tableName=None)),
    edit("in upper case", "t1r", moved("T1")),
    ask("in upper case", "get_table", DB, "t1", show=PLACE),
    edit("the same name in upper case", "t1", moved("T1")),
    ask("the same name in upper case", "get_table", DB, "t1", show=PLACE),
    edit("of an external one", "ext1", moved("ext1r")),
    ask("of an external one", "get_table", DB, "ext1r", show=PLACE),
    edit("of a far one", "far", moved("farr")),
    ask("of a far one", "get_table", DB, "farr", show=PLACE),
    edit("of a view", "v1", moved("v1r")),
    ask("of a view", "get_table", DB, "v1r", show=field("tableName")),
    edit("to another database", "t1", moved("t1x", OTHER)),
    ask("to another database", "get_table", OTHER, "t1x", show=PLACE),
    ask("to another database", "get_all_tables", OTHER),
    edit("and back", "t1x", moved("t1", DB), db=OTHER),
    edit("of an external one to another database", "ext1r", moved("ext1", OTHER)),
    ask("of an external one to another database", "get_table", OTHER, "ext1", show=PLACE),
    edit("to no database", "t1", moved("q", "nodb")),
    edit("with another location", "t1", all_of(moved("t1n"), with_storage(location="{W}/named"))),  # type: ignore[arg-type]
    ask("with another location", "get_table", DB, "t1n", show=PLACE),
    Tree("with another location", "{W}/named"),
    edit("and back again", "t1n", all_of(moved("t1"), with_storage(location="{W}/alt.db/t1"))),  # type: ignore[arg-type]
    ask("and back again", "get_table", DB, "t1", show=PLACE),
    Put("in the way", "{W}/alt.db/blocked/f", 1),
    edit("where a folder is in the way", "t1", moved("blocked")),
    ask("still there", "get_table", DB, "t1", show=PLACE),
    edit("with a property", "t1", all_of(moved("t1p"), with_parameters(renamed="yes"))),  # type: ignore[arg-type]
    ask("with a property", "get_table", DB, "t1p", show=PARAMETERS),
    edit("and back for good", "t1p", moved("t1")),
    ask("placeless", "create_table", table(DB, "pl")),
    edit("without a location", "pl", all_of(moved("plr"), with_storage(location=None))),  # type: ignore[arg-type]
    ask("placeless too", "create_table", table(DB, "pl2")),
    edit("with an empty location", "pl2", all_of(moved("ple"), with_storage(location=""))),  # type: ignore[arg-type]
    # --- partition keys
    edit("keys for a plain table", "t1", with_fields(partitionKeys=columns("z string"))),
    ask("partitioned", "create_table", table(DB, "p", keys="ds string, h int")),
    ask("one", "add_partition", partition(DB, "p", ("d1", "1"))),
    ask("one elsewhere", "add_partition", partition(DB, "p", ("d2", "1"), "{W}/elsewhere_part")),
    Put("data of a partition", "{W}/alt.db/p/ds=d1/h=1/f", 4),
    edit("a key less", "p", with_fields(partitionKeys=columns("ds string"))),
    edit("another key name", "p", with_fields(partitionKeys=columns("ds string, i int"))),
    edit("another key type", "p", with_fields(partitionKeys=columns("ds string, h bigint"))),
    ask("another key type", "get_table", DB, "p", show=field("partitionKeys")),
    edit("a property of a partitioned one", "p", with_parameters(k="v")),
    ask("a property of a partitioned one", "get_table", DB, "p", show=PARAMETERS),
    edit("a column more, alone", "p", with_columns("a int, b string, c bigint")),
    ask("a column more, alone", "get_partitions", DB, "p", -1, show=COLUMNS),
    edit("a column more, with cascade", "p", with_columns("a int, b string, c bigint, d int"), {"CASCADE": "true"}),
    ask("a column more, with cascade", "get_partitions", DB, "p", -1, show=COLUMNS),
    ask(
        "with cascade",
        "alter_table_with_cascade",
        DB,
        "p",
        table(DB, "p", "e int", "ds string, h bigint", "{W}/alt.db/p"),
        True,
    ),
    ask("with cascade, no name changed", "get_partitions", DB, "p", -1, show=COLUMNS),
    edit("partitioned, another name", "p", moved("pr")),
    ask("partitioned, another name", "get_partitions", DB, "pr", -1),
    Tree("partitioned, another name", "{W}/alt.db/pr"),
    edit("partitioned, to another database", "pr", moved("p", OTHER)),
    ask("partitioned, to another database", "get_partitions", OTHER, "p", -1, show=PLACE),
    edit("partitioned, another location", "p", with_storage(location="{W}/newp"), db=OTHER),
    ask("partitioned, another location", "get_partitions", OTHER, "p", -1, show=PLACE),
    ask("below the new location", "append_partition", OTHER, "p", ("d3", "1"), show=PLACE),
    # --- on a condition
    edit("a value to expect", "t1", with_parameters(state="one")),
    edit(
        "not as expected",
        "t1",
        with_parameters(state="two"),
        {"expected_parameter_key": "state", "expected_parameter_value": "WRONG"},
    ),
    ask("not as expected", "get_table", DB, "t1", show=PARAMETERS),
    edit(
        "as expected",
        "t1",
        with_parameters(state="two"),
        {"expected_parameter_key": "state", "expected_parameter_value": "one"},
    ),
    ask("as expected", "get_table", DB, "t1", show=PARAMETERS),
    edit(
        "no new value",
        "t1",
        without_parameters("state"),
        {"expected_parameter_key": "state", "expected_parameter_value": "two"},
    ),
    edit("a key without a value", "t1", with_parameters(zk="1"), {"expected_parameter_key": "nokey"}),
    ask("all", "drop_database", DB, True, True),
    ask("the others", "drop_database", OTHER, True, True),
    Tree("far away", "{W}/far_away"),
    Tree("the partition elsewhere", "{W}/elsewhere_part"),
    Tree("the new home of p", "{W}/newp"),
]
