"""Catalogs, which Hive has since 3.0, and the names that carry one."""

from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import AddPartitionsRequest, DropPartitionsRequest, RequestPartsSpec
from metastored.wire.generated.tables import GetTableRequest, GetTablesRequest
from tests.differential.probes.objects import field, starting, with_fields
from tests.differential.script import SINCE_3_1, Ask, EditTable, Probe, Put, Tree
from tests.differential.script import ask as ask_all
from tests.support.objects import partition, table

CAT = "cat2"


def ask(label: str, method: str, *args: object, show: object = None) -> Ask:
    return ask_all(label, method, *args, show=show, versions=SINCE_3_1)  # type: ignore[arg-type]


def create(name: str | None, **other: object) -> CreateCatalogRequest:
    return CreateCatalogRequest(Catalog(name=name, **other))  # type: ignore[arg-type]


PLACE = field("sd", "location")
PLACES = {
    "a slash behind": "{X}/cat4/",
    "two slashes inside": "{X}//cat4",
    "dots inside": "{X}/a/../cat4",
}


def placed(label: str, location: str) -> list[Probe]:
    """A catalog whose location is written in another way."""
    return [
        ask(label, "create_catalog", create("cat4", locationUri=location)),
        ask(label, "get_catalog", GetCatalogRequest("cat4"), show=field("catalog", "locationUri")),
        ask(f"of a catalog, {label}", "get_database", "@cat4#default", show=field("locationUri")),
        ask(f"{label}, altered", "alter_catalog", AlterCatalogRequest("cat4", Catalog("cat4", "n", location))),
        ask(f"{label}, altered", "get_catalog", GetCatalogRequest("cat4"), show=field("catalog", "locationUri")),
        ask(label, "drop_catalog", DropCatalogRequest("cat4")),
    ]


SCRIPT: list[Probe] = [
    ask("those of this script", "get_catalogs", show=lambda result: [n for n in result.names if n in (CAT, "hive")]),
    ask("the default one", "get_catalog", GetCatalogRequest("hive")),
    ask("missing", "get_catalog", GetCatalogRequest("zz")),
    ask("plain", "create_catalog", create(CAT, description="x", locationUri="{X}/cat2")),
    ask("plain", "get_catalog", GetCatalogRequest("CAT2")),
    Tree("its folder", "{X}/cat2", SINCE_3_1),
    ask("taken", "create_catalog", create("CAT2", locationUri="{X}/cat2")),
    ask("without a location", "create_catalog", create("cat3")),
    ask("a bad name", "create_catalog", create("a-b", locationUri="{X}/cat3")),
    ask("its databases", "get_databases", "@cat2#"),
    ask("its databases by a pattern", "get_databases", "@cat2#*"),
    ask("its default database", "get_database", "@cat2#default"),
    ask("in it", "create_database", Database(name="cdb", catalogName=CAT)),
    ask("in it, taken", "create_database", Database(name="cdb", catalogName=CAT)),
    ask("in no catalog", "create_database", Database(name="cdb", catalogName="zz")),
    ask("in it", "get_database", "@cat2#cdb"),
    ask("in it, by the wrong name", "get_database", "cdb"),
    ask("in it", "create_table", table("cdb", "ct", catName=CAT)),
    ask("in it, without saying so", "create_table", table("cdb", "ct")),
    ask("in it, taken", "create_table", table("cdb", "ct", catName=CAT)),
    ask("in it", "get_table", "@cat2#cdb", "ct"),
    ask("missing in it", "get_table", "@cat2#cdb", "nope"),
    ask(
        "in it",
        "get_table_req",
        GetTableRequest(dbName="cdb", tblName="ct", catName=CAT),
        show=field("table", "catName"),
    ),
    ask("in it", "get_table_objects_by_name_req", GetTablesRequest("cdb", ("ct",), None, CAT)),
    ask("in it", "get_tables", "@cat2#cdb", "*"),
    ask("in it", "get_all_tables", "@cat2#cdb"),
    ask("in it", "get_tables_by_type", "@cat2#cdb", "*", "MANAGED_TABLE"),
    ask("in it", "get_table_meta", "@cat2#c*", "*", None),
    ask("in it", "get_fields", "@cat2#cdb", "ct"),
    ask("in it", "get_table_names_by_filter", "@cat2#cdb", 'hive_filter_field_owner__ = "bob"', -1),
    ask("all of the default one", "get_all_databases", show=starting("cdb", "default")),
    ask("a pattern in the default one", "get_databases", "@hive#def*"),
    ask("an empty name", "get_databases", "@hive#!"),
    ask("an empty name", "get_database", "@hive#!"),
    ask("no name", "get_database", "@hive#"),
    ask("no catalog", "get_database", "@hivedefault"),
    ask("no catalog", "get_table", "@hivedefault", "t"),
    ask("partitioned", "create_table", table("cdb", "p", keys="ds string", catName=CAT)),
    ask("in it", "add_partition", partition("cdb", "p", ("1",), catName=CAT)),
    ask("in it, by the name", "append_partition", "@cat2#cdb", "p", ("2",), show=PLACE),
    ask(
        "in it",
        "add_partitions_req",
        AddPartitionsRequest("cdb", "p", (partition("cdb", "p", ("3",), catName=CAT),), True, True, CAT),
        show=lambda result: [part.sd.location for part in result.partitions],
    ),
    ask("in it", "get_partitions", "@cat2#cdb", "p", -1),
    ask("in it", "get_partition_names", "@cat2#cdb", "p", -1),
    ask("in it", "get_partition", "@cat2#cdb", "p", ("1",), show=PLACE),
    ask("in it", "get_partitions_by_filter", "@cat2#cdb", "p", 'ds = "1"', -1, show=PLACE),
    ask("in it", "drop_partition", "@cat2#cdb", "p", ("1",), True),
    ask(
        "in it",
        "drop_partitions_req",
        DropPartitionsRequest("cdb", "p", RequestPartsSpec(names=("ds=2",)), True, catName=CAT),
    ),
    EditTable("another name in it", "@cat2#cdb", "ct", with_fields(tableName="cu"), versions=SINCE_3_1),
    ask("another name in it", "get_table", "@cat2#cdb", "cu", show=PLACE),
    EditTable("to another catalog", "@cat2#cdb", "cu", with_fields(catName="hive"), versions=SINCE_3_1),
    ask("in it", "create_function", Function("cf", "cdb", "x.Y", "o", 1, 1, 1, (), CAT)),
    ask("in it", "get_function", "@cat2#cdb", "cf"),
    ask("in it", "drop_function", "@cat2#cdb", "cf"),
    ask("in it", "alter_database", "@cat2#cdb", Database(name="cdb", description="new", parameters={"a": "b"})),
    ask("after a change", "get_database", "@cat2#cdb"),
    ask("another description", "alter_catalog", AlterCatalogRequest(CAT, Catalog(CAT, "new", "{X}/cat2b"))),
    ask("after another description", "get_catalog", GetCatalogRequest(CAT)),
    ask("missing", "alter_catalog", AlterCatalogRequest("zz", Catalog("zz", "new", "{X}/cat2b"))),
    ask("not empty", "drop_catalog", DropCatalogRequest(CAT)),
    ask("not empty", "drop_database", "@cat2#cdb", True, False),
    Put("data", "{X}/cat2/cdb.db/cu/f", 1, SINCE_3_1),
    ask("with all in it", "drop_database", "@cat2#cdb", True, True),
    Tree("what is left", "{X}/cat2", SINCE_3_1),
    ask("with a table in its default database", "create_table", table("default", "dt", catName=CAT)),
    ask("with a table", "drop_catalog", DropCatalogRequest(CAT)),
    ask("the table", "drop_table", "@cat2#default", "dt", True),
    ask("empty", "drop_catalog", DropCatalogRequest(CAT)),
    Tree("after the catalog", "{X}/cat2", SINCE_3_1),
    ask("once more", "create_catalog", create(CAT, locationUri="{X}/cat2c")),
    ask("its default database", "drop_database", "@cat2#default", True, True),
    ask("without databases", "drop_catalog", DropCatalogRequest(CAT)),
    ask("missing", "drop_catalog", DropCatalogRequest(CAT)),
    *(probe for label, location in PLACES.items() for probe in placed(label, location)),
    ask("the default one", "drop_catalog", DropCatalogRequest("hive")),
]
