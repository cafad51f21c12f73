"""Tables and views: create, get, list, and their columns."""

from metastored.wire.generated.common import (
    EnvironmentContext,
    FieldSchema,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import ClientCapabilities, GetTableRequest, GetTablesRequest
from tests.differential.probes.objects import field
from tests.differential.script import Probe, Put, Tree, ask
from tests.support.objects import columns, external, storage, table, view

DB = "tab"
NAMES = ("a-b", "1t", "_t", "a.b", "a b", "", "ünï", "a/b")
TYPES = (
    *("zzz", "INT", "int ", "char", "char(3)", "decimal", "decimal(10;2)", "varchar(5)", "array<int>", "array<zzz>"),
    *("struct<x:int;y:array<map<string;decimal(10;2)>>>", "map<int;string>", "uniontype<int;string>", "timestamp"),
    *("interval_day_time", "void", "date", "binary", "string", "list<int>", "struct<>", "bigint comment"),
)
PATTERNS = ("*", "T*", "ext*|v1", ".*", "t1", "ext?", "ext.", "", "EXT1", "*1|*2", "t[1]", "%")
KINDS = ("VIRTUAL_VIEW", "MANAGED_TABLE", "EXTERNAL_TABLE", "MATERIALIZED_VIEW", "BOGUS", "", None, "external_table")
KIND = field("tableType")
OVER_FILES = "{X}/files"
ODD = (FieldSchema("a b", "int"), FieldSchema("", "int"), FieldSchema("É.x", "int", ""))
NOT_UTF_8 = b"caf\xe9, na\xc3\xafve \xe2\x82 \xff".decode("utf-8", "surrogateescape")
LATIN_1 = table(
    DB, "latin_1", sd=storage(cols=(FieldSchema("a", "int", NOT_UTF_8),)), parameters={"comment": NOT_UTF_8}
)
INSERT_ONLY = {"transactional_properties": "insert_only"}
"""Without `transactional`: not a transactional table."""


def bare(name: str, **other: object) -> Table:
    return Table(tableName=name, dbName=DB, **other)  # type: ignore[arg-type]


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("plain", "create_table", table(DB, "T1", "A int, b string")),
    ask("plain", "get_table", DB, "t1"),
    ask("in upper case", "get_table", "TAB", " T1 ", show=field("tableName")),
    ask("taken", "create_table", table(DB, "t1")),
    ask("taken, in upper case", "create_table", table(DB, "T1")),
    ask("in no database", "create_table", table("nodb", "t1")),
    *(ask(f"named {name!r}", "create_table", table(DB, name)) for name in NAMES),
    ask("without a name", "create_table", table(DB, None)),
    ask("null", "create_table", None),
    ask("without storage", "create_table", bare("nosd")),
    ask("without columns", "create_table", bare("nocols", sd=StorageDescriptor())),
    ask("without a serde", "create_table", bare("noserde", sd=StorageDescriptor(cols=columns("a int")))),
    ask(
        "with the least",
        "create_table",
        bare("mini", sd=StorageDescriptor(cols=columns("a int"), serdeInfo=SerDeInfo())),
    ),
    ask("with the least", "get_table", DB, "mini"),
    *(ask(f"of type {type}", "create_table", table(DB, f"ty{n}", f"x {type}")) for n, type in enumerate(TYPES)),
    ask("of a null type", "create_table", table(DB, "tynull", sd=storage(cols=(FieldSchema("x"),)))),
    ask("with a key of an odd type", "create_table", table(DB, "keyed", keys="k zzz")),
    ask("with odd columns", "create_table", table(DB, "odd", sd=storage(cols=ODD))),
    ask("with odd columns", "get_fields", DB, "odd"),
    ask(
        "with comments",
        "create_table",
        table(DB, "noted", sd=storage(), partitionKeys=(FieldSchema("K", "int", "a key"),), retention=7),
    ),
    ask("with comments", "get_table", DB, "noted"),
    ask("with two columns of a name", "create_table", table(DB, "same", "a int, a string")),
    ask("with two columns of a name in any case", "create_table", table(DB, "same", "a int, A string")),
    ask("with two columns of a name", "get_table", DB, "same"),
    ask("with two keys of a name", "create_table", table(DB, "same_keys", keys="p int, P string")),
    ask("with texts that are not UTF-8", "create_table", LATIN_1),
    ask("with texts that are not UTF-8", "get_table", DB, "latin_1"),
    ask("said to be insert-only", "create_table", table(DB, "said", parameters=INSERT_ONLY)),
    ask("said to be insert-only", "get_table", DB, "said", show=KIND),
    ask("said to be insert-only", "get_table_req", GetTableRequest(DB, "said"), show=field("table", "tableType")),
    ask("a key named as a column", "create_table", table(DB, "twice", keys="a int")),
    ask("a key named as a column", "get_table", DB, "twice", show=field("partitionKeys")),
    ask("external by its parameter", "create_table", table(DB, "ext1", parameters={"EXTERNAL": "TRUE"})),
    ask("external by its parameter", "get_table", DB, "ext1", show=KIND),
    ask("external by small letters", "create_table", table(DB, "ext3", parameters={"EXTERNAL": "true"})),
    ask("external by small letters", "get_table", DB, "ext3", show=KIND),
    ask("external by its type", "create_table", table(DB, "ext2", tableType="EXTERNAL_TABLE")),
    ask("external by its type", "get_table", DB, "ext2", show=KIND),
    ask("of no type", "create_table", table(DB, "ntype", tableType=None)),
    ask("of no type", "get_table", DB, "ntype", show=KIND),
    ask("of an odd type", "create_table", table(DB, "btype", tableType="BOGUS")),
    ask("of an odd type", "get_table", DB, "btype", show=KIND),
    ask("a view", "create_table", view(DB, "v1")),
    ask("a view", "get_table", DB, "v1"),
    ask("a view with a location", "create_table", view(DB, "v2", sd=storage(location="{W}/v2"))),
    ask("a view with a location", "get_table", DB, "v2", show=field("sd", "location")),
    Tree("of the view", "{W}/v2"),
    ask("a view with an odd column", "create_table", view(DB, "v3", sd=storage("a zzz"))),
    ask("a materialized view", "create_table", view(DB, "mv1", tableType="MATERIALIZED_VIEW", rewriteEnabled=True)),
    ask("a materialized view", "get_table", DB, "mv1"),
    ask(
        "a rich one",
        "create_table",
        table(
            DB,
            "rich",
            owner=None,
            lastAccessTime=5,
            retention=9,
            parameters={"transient_lastDdlTime": "77", "comment": "c", "empty": ""},
            sd=storage(
                compressed=True,
                numBuckets=4,
                bucketCols=("A", "b"),
                storedAsSubDirectories=True,
                parameters={"p": "q"},
                serdeInfo=SerDeInfo(name="s", serializationLib="x.Y", parameters={"field.delim": "\x01"}),
                skewedInfo=SkewedInfo(("a",), (("1",), ("2",)), {}),
            ),
        ),
    ),
    ask("a rich one", "get_table", DB, "rich"),
    ask("temporary", "create_table", table(DB, "temp", temporary=True)),
    ask("temporary", "get_table", DB, "temp", show=field("temporary")),
    Put("a file", f"{OVER_FILES}/f1", 10),
    Put("a hidden file", f"{OVER_FILES}/_hidden", 10),
    Put("a file below", f"{OVER_FILES}/sub/f2", 2),
    Put("a file in a hidden folder", f"{OVER_FILES}/.tmp/f3", 2),
    ask("over files", "create_table", external(DB, "wf", OVER_FILES)),
    ask("over files", "get_table", DB, "wf", show=field("parameters")),
    ask(
        "told to leave statistics",
        "create_table",
        external(DB, "wf2", OVER_FILES, parameters={"DO_NOT_UPDATE_STATS": "true"}),
    ),
    ask("told to leave statistics", "get_table", DB, "wf2", show=field("parameters")),
    ask(
        "told so by the environment",
        "create_table_with_environment_context",
        external(DB, "wf3", OVER_FILES),
        EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"}),
    ),
    ask("told so by the environment", "get_table", DB, "wf3", show=field("parameters")),
    ask(
        "with statistics of its own",
        "create_table",
        external(
            DB,
            "wf4",
            OVER_FILES,
            parameters={"numFiles": "9", "totalSize": "9", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'},
        ),
    ),
    ask("with statistics of its own", "get_table", DB, "wf4", show=field("parameters")),
    ask(
        "that a task gathered",
        "create_table_with_environment_context",
        external(DB, "wf5", OVER_FILES),
        EnvironmentContext(properties={"STATS_GENERATED": "TASK"}),
    ),
    ask("that a task gathered", "get_table", DB, "wf5", show=field("parameters")),
    ask(
        "with a state but no statistics",
        "create_table",
        external(DB, "wf6", OVER_FILES, parameters={"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}),
    ),
    ask("with a state but no statistics", "get_table", DB, "wf6", show=field("parameters")),
    ask("partitioned over files", "create_table", external(DB, "wf7", OVER_FILES, keys="k int")),
    ask("partitioned over files", "get_table", DB, "wf7", show=field("parameters")),
    ask("at a file", "create_table", external(DB, "wf8", f"{OVER_FILES}/f1")),
    ask("transactional, not bucketed", "create_table", table(DB, "acid1", parameters={"transactional": "true"})),
    ask("transactional, oddly", "create_table", table(DB, "acid2", parameters={"transactional": "maybe"})),
    ask("not transactional", "create_table", table(DB, "acid3", parameters={"transactional": "false"})),
    ask("not transactional", "get_table", DB, "acid3", show=field("parameters")),
    # --- lists
    ask("all", "get_all_tables", DB),
    ask("of no database", "get_all_tables", "nodb"),
    ask("of no database", "get_tables", "nodb", "*"),
    ask("of a null database", "get_all_tables", None),
    *(ask(f"{pattern!r}", "get_tables", DB, pattern) for pattern in (*PATTERNS, None)),
    *(ask(f"{kind!r}", "get_tables_by_type", DB, "*", kind) for kind in KINDS),
    ask("with a pattern", "get_tables_by_type", DB, "ext*", "EXTERNAL_TABLE"),
    ask("of no database", "get_tables_by_type", "nodb", "*", "EXTERNAL_TABLE"),
    ask("patterns", "get_table_meta", "ta*", "*1", None),
    ask("of one type", "get_table_meta", DB, "*", ("VIRTUAL_VIEW",)),
    ask("of two types", "get_table_meta", DB, "*", ("VIRTUAL_VIEW", "MATERIALIZED_VIEW")),
    ask("of an odd type", "get_table_meta", DB, "*", ("BOGUS",)),
    ask("of no type", "get_table_meta", DB, "r*", ()),
    ask("with a comment", "get_table_meta", DB, "rich", None),
    ask("of no database", "get_table_meta", "nodb", "*", None),
    # --- one
    ask("missing", "get_table", DB, "nope"),
    ask("of no database", "get_table", "nodb", "nope"),
    ask("null", "get_table", DB, None),
    ask("of a null database", "get_table", None, "t1"),
    ask("missing", "get_table_req", GetTableRequest(dbName=DB, tblName="nope")),
    ask("plain", "get_table_req", GetTableRequest(dbName=DB, tblName="t1")),
    ask(
        "with a capability for tests",
        "get_table_req",
        GetTableRequest(dbName=DB, tblName="t1", capabilities=ClientCapabilities((1,))),
        show=field("table", "tableName"),
    ),
    # --- many
    ask("some", "get_table_objects_by_name", DB, ("t1", "nope", "EXT1", "t1"), show=field("tableName")),
    ask("of no database", "get_table_objects_by_name", "nodb", ("t1",)),
    ask("none", "get_table_objects_by_name", DB, ()),
    ask("null", "get_table_objects_by_name", DB, None),
    ask("of an empty name", "get_table_objects_by_name", "", ("a",)),
    ask(
        "some",
        "get_table_objects_by_name_req",
        GetTablesRequest(dbName=DB, tblNames=("t1", "nope")),
    ),
    ask("of no database", "get_table_objects_by_name_req", GetTablesRequest(dbName="nodb", tblNames=("t1",))),
    ask("null", "get_table_objects_by_name_req", GetTablesRequest(dbName=DB)),
    # --- columns
    ask("plain", "get_fields", DB, "noted"),
    ask("plain", "get_schema", DB, "noted"),
    ask("of a view", "get_schema", DB, "v1"),
    ask("missing", "get_fields", DB, "nope"),
    ask("missing", "get_schema", DB, "nope"),
    ask("of no database", "get_fields", "nodb", "nope"),
    ask("null", "get_fields", DB, None),
    ask("without an environment", "get_schema_with_environment_context", DB, "noted", None),
    ask("without an environment", "get_fields_with_environment_context", DB, "noted", None),
    ask("of a column", "get_fields", DB, "t1.a"),
    ask("of a column", "get_schema", DB, "t1.a"),
    # --- the end
    ask("missing", "drop_table", DB, "nope", True),
    ask("of no database", "drop_table", "nodb", "nope", True),
    ask("null", "drop_table", DB, None, True),
    ask("in upper case", "drop_table", "TAB", "T1", True),
    ask("external, with data", "drop_table", DB, "wf", True),
    ask("a view", "drop_table", DB, "v1", True),
    ask("a materialized view", "drop_table", DB, "mv1", True),
    Put("a file of ntype", "{W}/tab.db/ntype/f", 1),
    ask("without its data", "drop_table", DB, "ntype", False),
    ask(
        "for good",
        "drop_table_with_environment_context",
        DB,
        "ext2",
        True,
        EnvironmentContext(properties={"ifPurge": "TRUE"}),
    ),
    Tree("what is left", "{W}/tab.db"),
    Tree("the files of others", OVER_FILES),
    ask("all the rest", "drop_database", DB, True, True),
    Tree("nothing", "{W}/tab.db"),
]
