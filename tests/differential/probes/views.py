"""Materialized views and truncation, which Hive has since 3.0, and tables that need a capable client."""

from metastored.wire.generated.common import CreationMetadata
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import ClientCapabilities, GetTableRequest, GetTablesRequest
from tests.differential.probes.objects import field
from tests.differential.script import SINCE_3_1, Ask, Probe, Put, Tree
from tests.differential.script import ask as ask_all
from tests.support.objects import DS_H, external, partition, table, view

DB = "viw"
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


def ask(label: str, method: str, *args: object, show: object = None) -> Ask:
    return ask_all(label, method, *args, show=show, versions=SINCE_3_1)  # type: ignore[arg-type]


def put(location: str, size: int = 1) -> Put:
    return Put(f"a file at {location}", location, size, SINCE_3_1)


def tree(label: str, location: str) -> Tree:
    return Tree(label, location, SINCE_3_1)


def metadata(name: str, *used: str) -> CreationMetadata:
    return CreationMetadata("hive", DB, name, frozenset(used), "1:9223372036854775807::")


SCRIPT: list[Probe] = [
    ask("for them", "create_database", Database(name=DB)),
    ask("plain", "create_table", table(DB, "t1")),
    ask("materialized", "create_table", view(DB, "mv", tableType="MATERIALIZED_VIEW", rewriteEnabled=True)),
    ask("materialized, not for rewriting", "create_table", view(DB, "mv0", tableType="MATERIALIZED_VIEW")),
    ask("a plain view", "create_table", view(DB, "v", rewriteEnabled=True)),
    ask("for rewriting", "get_materialized_views_for_rewriting", DB),
    ask("of no database", "get_materialized_views_for_rewriting", "nodb"),
    ask("a new one", "update_creation_metadata", "hive", DB, "mv", metadata("mv", f"{DB}.t1")),
    ask("with its metadata", "get_table", DB, "mv"),
    ask("of no view", "update_creation_metadata", "hive", DB, "nope", metadata("nope", f"{DB}.t1")),
    ask(
        "with metadata",
        "create_table",
        view(DB, "mv2", tableType="MATERIALIZED_VIEW", creationMetadata=metadata("mv2", f"{DB}.t1")),
    ),
    ask("made with metadata", "get_table", DB, "mv2"),
    ask("used by a view", "drop_table", DB, "t1", True),
    # --- truncated
    ask("to truncate", "create_table", table(DB, "tr")),
    put("{W}/viw.db/tr/f"),
    put("{W}/viw.db/tr/sub/g"),
    ask("plain", "truncate_table", DB, "tr", None),
    tree("plain", "{W}/viw.db/tr"),
    ask("plain, after", "get_table", DB, "tr", show=field("parameters")),
    ask("to truncate, external", "create_table", external(DB, "ex")),
    put("{W}/viw.db/ex/f"),
    ask("external", "truncate_table", DB, "ex", ()),
    tree("external", "{W}/viw.db/ex"),
    ask("to truncate, partitioned", "create_table", table(DB, "tp", keys=DS_H)),
    *(ask(f"{n}", "append_partition", DB, "tp", ("d", str(n)), show=field("values")) for n in (1, 2, 3)),
    *(put(f"{{W}}/viw.db/tp/ds=d/h={n}/f") for n in (1, 2, 3)),
    ask("one partition", "truncate_table", DB, "tp", ("ds=d/h=1",)),
    tree("one partition", "{W}/viw.db/tp"),
    ask("one partition, after", "get_partitions", DB, "tp", -1, show=field("parameters")),
    ask("a missing partition", "truncate_table", DB, "tp", ("ds=zz/h=1",)),
    ask("all partitions", "truncate_table", DB, "tp", None),
    tree("all partitions", "{W}/viw.db/tp"),
    ask("all partitions, after", "get_partitions", DB, "tp", -1, show=field("parameters")),
    ask("missing", "truncate_table", DB, "nope", None),
    ask("a view", "truncate_table", DB, "v", None),
    # --- capabilities
    ask("insert-only", "create_table", table(DB, "io", parameters=INSERT_ONLY)),
    ask("without capabilities", "get_table", DB, "io", show=field("parameters")),
    ask("without capabilities", "get_table_req", GetTableRequest(dbName=DB, tblName="io")),
    ask(
        "with another capability",
        "get_table_req",
        GetTableRequest(dbName=DB, tblName="io", capabilities=ClientCapabilities((1,))),
    ),
    ask(
        "with the capability",
        "get_table_req",
        GetTableRequest(dbName=DB, tblName="io", capabilities=ClientCapabilities((1, 2))),
        show=field("table", "parameters"),
    ),
    ask("without capabilities", "get_table_objects_by_name", DB, ("io", "tr")),
    ask("without capabilities", "get_table_objects_by_name_req", GetTablesRequest(DB, ("io", "tr"))),
    ask("partitions for a view", "add_partition", partition(DB, "v", ("1",))),
    ask("all", "drop_database", DB, True, True),
    ask("what is left", "get_all_tables", DB),
]
