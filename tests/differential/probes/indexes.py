"""Indexes of Hive 2.3, and the named types that every version keeps."""

from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.generated.indexes import Index
from metastored.wire.generated.types import Type
from tests.differential.script import Ask, ask
from tests.support.objects import storage, table

DB = "idx"
ONLY_2_3 = ("2.3",)


def index(name: str, own: str, base: str = "t", **other: object) -> Index:
    plain = {"indexHandlerClass": "x.Compact", "sd": storage(), "parameters": {"k": "v"}, "deferredRebuild": True}
    return Index(
        indexName=name,
        dbName=DB,
        origTableName=base,
        indexTableName=own,
        **(plain | other),  # type: ignore[arg-type]
    )


def index_table(name: str) -> object:
    return table(DB, name, tableType="INDEX_TABLE")


def old(label: str, method: str, *args: object) -> Ask:
    return ask(label, method, *args, versions=ONLY_2_3)


SCRIPT = [
    old("for them", "create_database", Database(name=DB)),
    old("for them", "create_table", table(DB, "t")),
    old("plain", "add_index", index("Idx1", "idx_t1"), index_table("idx_t1")),
    old("plain", "get_index_by_name", DB, "t", "idx1"),
    old("in upper case", "get_index_by_name", "IDX", "T", "IDX1"),
    old("missing", "get_index_by_name", DB, "t", "nope"),
    old("of no table", "get_index_by_name", DB, "nope", "idx1"),
    old("of no database", "get_index_by_name", "nodb", "t", "idx1"),
    old("taken", "add_index", index("idx1", "idx_t2"), index_table("idx_t2")),
    old("of no table", "add_index", index("idx2", "idx_t2", "nope"), index_table("idx_t2")),
    old("whose table is there", "add_index", index("idx2", "idx_t1"), index_table("idx_t1")),
    old("a second", "add_index", index("idx2", "idx_t2", deferredRebuild=None), index_table("idx_t2")),
    old("all", "get_indexes", DB, "t", -1),
    old("one of two", "get_index_names", DB, "t", 1),
    old("all", "get_index_names", DB, "t", -1),
    old("of no table", "get_index_names", DB, "nope", -1),
    old("of no table", "get_indexes", DB, "nope", -1),
    old("other parameters", "alter_index", DB, "t", "idx2", index("idx2", "idx_t2", parameters={"x": "y"})),
    old("other parameters", "get_index_by_name", DB, "t", "idx2"),
    old("missing", "alter_index", DB, "t", "nope", index("idx2", "idx_t2")),
    old("tables now", "get_all_tables", DB),
    old("its own table", "drop_table", DB, "idx_t1", True),
    old("missing", "drop_index_by_name", DB, "t", "nope", True),
    old("one", "drop_index_by_name", DB, "t", "idx1", True),
    old("tables then", "get_all_tables", DB),
    old("the table of the other", "drop_table", DB, "t", True),
    old("tables at last", "get_all_tables", DB),
    ask("plain", "create_type", Type(name="ty1", type1="int", fields=(FieldSchema("a", "int", "c"),))),
    ask("plain", "get_type", "ty1"),
    ask("with blanks around", "get_type", " ty1 "),
    ask("in upper case", "get_type", "TY1"),
    ask("taken", "create_type", Type(name="ty1")),
    ask("a bad name", "create_type", Type(name="a-b")),
    ask("the least", "create_type", Type(name="least")),
    ask("the least", "get_type", "least"),
    ask("all", "get_type_all", "ty1"),
    ask("one", "drop_type", "ty1"),
    ask("one that is gone", "drop_type", "ty1"),
    ask("gone", "get_type", "ty1"),
]
