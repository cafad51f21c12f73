"""The differences between the generations of Hive, in one table: `--compat` selects a column of it.

A rule that is code in `service/` is a field of `Rules`; the few rules of filters, in `metastored.hive`, are only listed
here. The reference prints `table()`. Methods of all versions are always served, whatever the
column says; and the conditional alter works under each.

Rules of replies follow the generation of the session (`ctx.rules`), which `show` raises when a request shows a newer
client. Rules of requests, such as which names are valid, follow the newest generation that is accepted
(`ctx.accepted`): with `--compat any` that is the last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple

from metastored.hive.generation import Generation
from metastored.wire.message import Session
from metastored.wire.methods import Method


def _rule(what: str) -> bool:
    """A field of Rules with the text that the reference prints for it."""
    declared: bool = field(default=False, metadata={"what": what})
    return declared


@dataclass(frozen=True)
class Rules:
    """The behaviour of one generation. Every field is false for 2.3."""

    names_catalogs: bool = _rule(
        "Replies contain the catalog's name, and messages name `hive.db.table`, not `db.table`"
    )
    alters_complete_database: bool = _rule(
        "`alter_database` also changes description and location, and fails if the database does not exist"
    )
    drops_other_defaults: bool = _rule("`default` of other catalogs than `hive` can be dropped")
    names_max_0_is_none: bool = _rule("`get_partition_names` with `max_parts` 0 lists nothing, not everything")
    external_in_any_case: bool = _rule("A table with `EXTERNAL` = `true` in lower case is listed as EXTERNAL_TABLE")
    insert_only_acid: bool = _rule("A transactional table need not be bucketed, and may be insert-only")
    checks_capabilities: bool = _rule("Insert-only tables are returned only to clients that declare support for them")
    groups_with_user: bool = _rule("`set_ugi` returns the groups and the user, not only the groups")
    groups_alone: bool = _rule("`set_ugi` returns only the groups again")
    drops_need_database: bool = _rule(
        "The error of `drop_table` in a missing database names the database, not the table"
    )
    explains_exchange: bool = _rule(
        "`exchange_partition` first checks that all objects exist; its error names the missing one"
    )
    configures_columns: bool = _rule(
        "`getMetaConf` and `setMetaConf` accept names without `hive.`, and the setting for the check of column types"
    )
    returns_metastore_keys: bool = _rule("`get_config_value` returns keys that begin with `metastore`")
    explains_grants: bool = _rule(
        "A refused grant or revoke of a role or privilege is a MetaException with the reason, not an internal error"
    )
    nameless_database_is_invalid_object: bool = _rule(
        "`create_table` without a database is an InvalidObjectException, and `create_function` a NoSuchObjectException,"
        " not a MetaException"
    )
    nameless_database_is_meta_exception: bool = _rule(
        "`create_table` and `create_function` without a database are refused with a MetaException again"
    )
    empties_missing_tokens: bool = _rule("`get_token` of a missing token returns an empty string, not null")
    checks_foreign_keys: bool = _rule("A foreign key must refer to a complete primary or unique key of the same types")
    merges_accurate: bool = _rule("`set_aggr_stats_for` merges only with statistics that are still accurate")
    counts_renamed_external: bool = _rule("The files of a renamed partition are also counted in external tables")
    lowers_taken_names: bool = _rule(
        "The error of a rename to an existing name has the name in lower case, not as it was written"
    )
    drop_names_database: bool = _rule(
        "`drop_database` of a missing database is a NoSuchObjectException, not a MetaException"
    )
    stamps_databases: bool = _rule("A new database gets a `createTime`, and its default owner is the caller")
    names_with_signs: bool = _rule("Names of databases and tables may contain spaces and most punctuation")
    returns_ids: bool = _rule("Replies contain the id of a table, and the write id of a partition even if it has none")
    purges_external: bool = _rule("An external table with `external.table.purge` = `TRUE` is dropped with its data")
    translates_managed: bool = _rule(
        "A managed table of `hive` that is not transactional becomes external, with `external.table.purge` and"
        " `TRANSLATED_TO_EXTERNAL`; creating a transactional table"
        " needs a client that declares that it can write it"
    )
    separates_managed_location: bool = _rule(
        "External tables are created in the database's location, or in `db.db` of the warehouse if that location is in"
        " the warehouse; managed tables in `managedLocationUri`, or in `db.db` of the warehouse. `get_database` returns"
        " the location of external tables and, to clients that can write managed tables, also that of managed tables"
    )
    refuses_roots: bool = _rule(
        "A table at the root of a file system or bucket is refused; before, only at the root of the local file system"
    )
    returns_access: bool = _rule(
        "Clients that send `processorCapabilities` get the access type of a table, and may get it without buckets"
    )
    moves_translated: bool = _rule("A table with `TRANSLATED_TO_EXTERNAL` is moved when it or a partition is renamed")
    counts_erasure_coded: bool = _rule("Basic statistics include `numFilesErasureCoded`")
    counts_on_create: bool = _rule(
        "The files of a new table are counted even if the client counted them; the environment context can forbid it"
    )
    explains_functions: bool = _rule("A refused `alter_function` is a MetaException with the reason")
    truncates_existing_statistics: bool = _rule("`truncate_table` sets only existing statistics of a table to zero")
    truncates_existing_partition_statistics: bool = _rule(
        "`truncate_table` sets only existing statistics of partitions to zero; an empty list of partitions means none"
    )
    names_missing_databases_in_full: bool = _rule("Errors name a missing database `database hive.db`, not `db`")
    lists_missing_table_as_empty: bool = _rule(
        "`get_partitions`, `get_partition_names` and their request forms return an empty list for a missing table;"
        " `get_partitions_with_auth` no longer does"
    )
    refuses_empty_names: bool = _rule(
        "Calls that list partitions refuse an empty name of a database or table with a NoSuchObjectException that says"
        " so; `get_partition_names` with a MetaException"
    )
    grants_for_user_and_groups: bool = _rule(
        "`get_partitions_with_auth` returns privileges only if the request names the user and the groups"
    )
    lists_all_without_values: bool = _rule("`get_partitions_ps` without values lists everything")
    names_missing_tables: bool = _rule(
        "The errors of all calls that add or get a partition name the missing table, or the table of the partition"
    )
    stamps_statistics: bool = _rule("Statistics of timestamps have their own type; before, they are integers")
    guards_statistics: bool = _rule(
        "A change of statistics of a transactional table must contain a write id and a snapshot"
    )
    names_engines: bool = _rule("Column statistics contain the name of their engine")
    specifies_filtered_tables: bool = _rule(
        "`get_partitions_by_filter` has the same error for a missing table as `get_num_partitions_by_filter`"
    )
    filters_in_a_database: bool = _rule(
        "`get_table_names_by_filter` in a missing database is an UnknownDBException, not an empty list"
    )
    deletes_missing_statistics: bool = _rule(
        "Deleting missing column statistics succeeds, even those of a missing partition"
    )
    names_constraints_by_table: bool = _rule(
        "The name of a constraint must be unique in its table, not in the whole metastore"
    )
    accepts_proxy_keys: bool = _rule(
        "`getMetaConf` and `setMetaConf` also accept `metastore.expression.proxy` and `metastore.partition.order.expr`"
    )
    finds_by_patterns: bool = _rule(
        "`get_table_objects_by_name_req` accepts a database pattern, and returns the requested fields"
    )
    returns_release: bool = _rule("`getVersion` returns the release, not 3.0")


_2_3 = Rules()
_3_1 = replace(
    _2_3,
    names_catalogs=True,
    alters_complete_database=True,
    drops_other_defaults=True,
    names_max_0_is_none=True,
    external_in_any_case=True,
    insert_only_acid=True,
    checks_capabilities=True,
    groups_with_user=True,
    drops_need_database=True,
    explains_exchange=True,
    configures_columns=True,
    returns_metastore_keys=True,
    explains_grants=True,
    nameless_database_is_invalid_object=True,
    empties_missing_tokens=True,
    checks_foreign_keys=True,
    merges_accurate=True,
    counts_renamed_external=True,
    lowers_taken_names=True,
)
_4_0 = replace(
    _3_1,
    nameless_database_is_meta_exception=True,
    drop_names_database=True,
    stamps_databases=True,
    names_with_signs=True,
    returns_ids=True,
    groups_alone=True,
    purges_external=True,
    translates_managed=True,
    separates_managed_location=True,
    refuses_roots=True,
    returns_access=True,
    moves_translated=True,
    counts_erasure_coded=True,
    counts_on_create=True,
    truncates_existing_statistics=True,
    explains_functions=True,
    names_missing_databases_in_full=True,
    lists_missing_table_as_empty=True,
    refuses_empty_names=True,
    grants_for_user_and_groups=True,
    lists_all_without_values=True,
    names_missing_tables=True,
    stamps_statistics=True,
    guards_statistics=True,
    names_engines=True,
    specifies_filtered_tables=True,
    names_constraints_by_table=True,
    accepts_proxy_keys=True,
    finds_by_patterns=True,
    returns_release=True,
)
_4_2 = replace(
    _4_0,
    truncates_existing_partition_statistics=True,
    filters_in_a_database=True,
    deletes_missing_statistics=True,
)

RULES: Final[dict[Generation, Rules]] = {
    Generation.HIVE_2_3: _2_3,
    Generation.HIVE_3_1: _3_1,
    Generation.HIVE_4_0: _4_0,
    Generation.HIVE_4_2: _4_2,
}


_OBJECTS_OF_CLIENTS: Final = frozenset({"database", "table", "partition"})
_WITH_WRITE_IDS: Final = frozenset({"alter_table_req", "alter_partitions_req", "update_transaction_statistics"})
"""The only calls that change an object with a write id: clients that otherwise use Hive 3's calls make them, too."""


def shown_by(method: Method) -> Generation:
    """The generation of a client that calls a method, at least.

    A client of Hive 4 is shown by its calls for databases, tables and partitions, of which earlier ones have other
    forms. Its other methods, such as those of compactions, have no earlier form, and every client may use them.
    """
    since = method.versions[0]
    if since == "2.3":
        return Generation.HIVE_2_3
    if since == "3.1" or method.object not in _OBJECTS_OF_CLIENTS or method.name in _WITH_WRITE_IDS:
        return Generation.HIVE_3_1
    return Generation.HIVE_4_0 if since in ("4.0.0", "4.0.1") else Generation.HIVE_4_2


def show(session: Session, shown: Generation) -> None:
    """Raises the generation of a session's replies to one that a request has shown.

    Replies of Hive 4 are only for servers that accept its requests: `--compat 2.3` has those of 3.1 at most.
    """
    if session.generation < shown:
        session.generation = max(session.generation, min(shown, max(session.accepts, Generation.HIVE_3_1)))


class Line(NamedTuple):
    """One line of the printed table: the difference, and the generation since which it holds."""

    what: str
    since: Generation


ELSEWHERE: Final = (
    Line("Partition filters have `==`, backticks, `DATE '…'` and `TIMESTAMP '…'`", Generation.HIVE_4_0),
    Line(
        "`LIKE` in a filter has SQL's `%` and `_`; a `.` matches itself unless the pattern contains `.*`",
        Generation.HIVE_4_0,
    ),
    Line("Partition filters work on char, varchar and timestamp keys", Generation.HIVE_4_0),
    Line(
        "Partition filters compare dates and timestamps as strings with other text, or by `LIKE`; before, refused",
        Generation.HIVE_4_0,
    ),
    Line("Partition filters have `IS [NOT] TRUE` and `IS [NOT] FALSE`", Generation.HIVE_4_2),
    Line("Table filters can use the table's name and type", Generation.HIVE_4_0),
)
"""Rules that `metastored.hive` implements."""


def table() -> Iterator[Line]:
    """Every difference, sorted by the generation that introduced it."""
    lines = [
        Line(rule.metadata["what"], next(line for line, rules in RULES.items() if getattr(rules, rule.name)))
        for rule in fields(Rules)
    ]
    yield from sorted((*lines, *ELSEWHERE), key=lambda line: line.since)
