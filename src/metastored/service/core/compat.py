"""What differs between the generations of Hive, in one table: `--compat` chooses a column of it.

A rule that is code in this room is a field of `Rules`; the few that live with the filters, in `metastored.hive`, are
listed for the reader only. The reference prints `table()`. Methods of all versions are always served, whatever the
column says; and the conditional alter is honoured under each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple

from metastored.hive.generation import Generation


def _rule(what: str) -> bool:
    """A field of Rules with the words that the reference prints for it."""
    declared: bool = field(default=False, metadata={"what": what})
    return declared


@dataclass(frozen=True)
class Rules:
    """How one generation behaves. Every field is false for 2.3."""

    names_catalogs: bool = _rule("Answers carry the catalog's name, and messages say `hive.db.table`, not `db.table`")
    alters_whole_database: bool = _rule(
        "`alter_database` also changes description and location, and refuses a missing one"
    )
    keeps_default_database: bool = _rule("`default` of other catalogs than `hive` can be dropped")
    names_max_0_is_none: bool = _rule("`get_partition_names` with `max_parts` 0 lists nothing, not everything")
    external_in_any_case: bool = _rule("A table with `EXTERNAL` = `true` in small letters is listed as EXTERNAL_TABLE")
    insert_only_acid: bool = _rule("A transactional table need not be bucketed, and may be insert-only")
    checks_capabilities: bool = _rule("Clients that did not say that they know insert-only tables do not get them")
    groups_with_user: bool = _rule("`set_ugi` answers with the groups and the user, not the groups alone")
    groups_alone: bool = _rule("`set_ugi` answers with the groups alone again")
    drops_need_database: bool = _rule("`drop_table` in a missing database names the database, not the table")
    explains_exchange: bool = _rule("`exchange_partition` looks for everything first and says what is missing")
    configures_columns: bool = _rule(
        "`getMetaConf` and `setMetaConf` know names without `hive.`, and the check of column types"
    )
    tells_metastore_keys: bool = _rule("`get_config_value` answers for keys that begin with `metastore`")
    explains_grants: bool = _rule(
        "Why a role or privilege was not granted or revoked is told, inside a MetaException, not an internal error"
    )
    calls_nameless_databases_invalid: bool = _rule(
        "`create_table` without a database is an InvalidObjectException, and `create_function` a NoSuchObjectException,"
        " not a MetaException"
    )
    calls_nameless_databases_unknown: bool = _rule(
        "`create_table` and `create_function` without a database are refused by a MetaException again"
    )
    empties_missing_tokens: bool = _rule("`get_token` of a missing one answers with an empty text, not without one")
    checks_foreign_keys: bool = _rule("A foreign key must refer to a whole primary or unique key of the same types")
    merges_accurate: bool = _rule("`set_aggr_stats_for` merges only with statistics that still hold")
    counts_renamed_external: bool = _rule("Files of a renamed partition are counted in external tables too")
    lowers_taken_names: bool = _rule(
        "A rename onto a taken name is refused with that name in small letters, not as it was written"
    )
    drop_names_database: bool = _rule(
        "`drop_database` of a missing one is a NoSuchObjectException, not a MetaException"
    )
    stamps_databases: bool = _rule("A new database gets a `createTime`, and its owner is the caller unless given")
    names_with_signs: bool = _rule("Databases and tables may have spaces and most punctuation in their names")
    gives_ids: bool = _rule("Answers carry the id of a table, and the write id of a partition even if it has none")
    purges_external: bool = _rule("An external table with `external.table.purge` = `TRUE` is dropped with its data")
    translates_managed: bool = _rule(
        "A managed table of `hive` that is not transactional becomes external, with `external.table.purge` and"
        " `TRANSLATED_TO_EXTERNAL`; a transactional one needs a client that says it can write it"
    )
    has_two_homes: bool = _rule(
        "External tables go below the database's location, or below `db.db` of the warehouse if that lies in it;"
        " managed ones below `managedLocationUri` or that. `get_database` tells the one, and writers also the other"
    )
    tells_access: bool = _rule(
        "Clients that name `processorCapabilities` are told what they may do with a table, and may not see buckets"
    )
    moves_translated: bool = _rule("A table with `TRANSLATED_TO_EXTERNAL` is moved when it or a partition is renamed")
    counts_erasure_coded: bool = _rule("Counted files come with `numFilesErasureCoded`")
    counts_on_create: bool = _rule(
        "Files of a new table are counted even if the client counted them; the call's environment can forbid it"
    )
    explains_functions: bool = _rule("Why a function cannot be altered is told, inside a MetaException")
    truncates_what_is_there: bool = _rule("`truncate_table` zeroes only those statistics of a table that are there")
    truncates_partitions_so: bool = _rule(
        "`truncate_table` does the same with partitions, and takes an empty list of them for none"
    )
    calls_databases_such: bool = _rule("A missing database is called `database hive.db`, not `db`")
    forgives_lists: bool = _rule(
        "`get_partitions`, `get_partition_names` and their request forms take a missing table for one without"
        " partitions; `get_partitions_with_auth` no longer does"
    )
    grants_for_user_and_groups: bool = _rule(
        "`get_partitions_with_auth` tells what was granted only for a user who is named with their groups"
    )
    lists_by_no_values: bool = _rule("`get_partitions_ps` without values lists everything")
    names_missing_tables: bool = _rule(
        "Which table is missing is told by all calls that add or get a partition, and to which table one belongs"
    )
    stamps_statistics: bool = _rule("Statistics of timestamps have a kind of their own; before, they are whole numbers")
    guards_statistics: bool = _rule("Who changes statistics of a transactional table must send write id and snapshot")
    names_engines: bool = _rule("Column statistics carry the name of the engine that they are for")
    specifies_filtered_tables: bool = _rule(
        "`get_partitions_by_filter` tells of a missing table in the words of `get_num_partitions_by_filter`"
    )
    filters_in_a_database: bool = _rule(
        "`get_table_names_by_filter` in a missing database is an UnknownDBException, not an empty list"
    )
    deletes_missing_statistics: bool = _rule(
        "Deleting column statistics that are not there succeeds, even those of a missing partition"
    )
    names_constraints_by_table: bool = _rule(
        "The name of a constraint must be free among those of its table, not in the whole metastore"
    )
    knows_proxies: bool = _rule(
        "`getMetaConf` and `setMetaConf` also know `metastore.expression.proxy` and `metastore.partition.order.expr`"
    )
    finds_by_patterns: bool = _rule(
        "`get_table_objects_by_name_req` takes a pattern of databases, and answers with the fields that are asked for"
    )
    tells_release: bool = _rule("`getVersion` answers with the release, not with 3.0")


_2_3 = Rules()
_3_1 = replace(
    _2_3,
    names_catalogs=True,
    alters_whole_database=True,
    keeps_default_database=True,
    names_max_0_is_none=True,
    external_in_any_case=True,
    insert_only_acid=True,
    checks_capabilities=True,
    groups_with_user=True,
    drops_need_database=True,
    explains_exchange=True,
    configures_columns=True,
    tells_metastore_keys=True,
    explains_grants=True,
    calls_nameless_databases_invalid=True,
    empties_missing_tokens=True,
    checks_foreign_keys=True,
    merges_accurate=True,
    counts_renamed_external=True,
    lowers_taken_names=True,
)
_4_0 = replace(
    _3_1,
    calls_nameless_databases_unknown=True,
    drop_names_database=True,
    stamps_databases=True,
    names_with_signs=True,
    gives_ids=True,
    groups_alone=True,
    purges_external=True,
    translates_managed=True,
    has_two_homes=True,
    tells_access=True,
    moves_translated=True,
    counts_erasure_coded=True,
    counts_on_create=True,
    truncates_what_is_there=True,
    explains_functions=True,
    calls_databases_such=True,
    forgives_lists=True,
    grants_for_user_and_groups=True,
    lists_by_no_values=True,
    names_missing_tables=True,
    stamps_statistics=True,
    guards_statistics=True,
    names_engines=True,
    specifies_filtered_tables=True,
    names_constraints_by_table=True,
    knows_proxies=True,
    finds_by_patterns=True,
    tells_release=True,
)
_4_2 = replace(
    _4_0,
    truncates_partitions_so=True,
    filters_in_a_database=True,
    deletes_missing_statistics=True,
)

RULES: Final[dict[Generation, Rules]] = {
    Generation.HIVE_2_3: _2_3,
    Generation.HIVE_3_1: _3_1,
    Generation.HIVE_4_0: _4_0,
    Generation.HIVE_4_2: _4_2,
}


class Line(NamedTuple):
    """One line of the printed table: what differs, and since which generation it is so."""

    what: str
    since: Generation


ELSEWHERE: Final = (
    Line("Partition filters have `==`, backticks, `DATE '…'` and `TIMESTAMP '…'`", Generation.HIVE_4_0),
    Line("`LIKE` in a filter means SQL's `%` and `_`, and a `.` itself unless there is a `.*`", Generation.HIVE_4_0),
    Line("Partition filters work on char, varchar and timestamp keys", Generation.HIVE_4_0),
    Line(
        "Partition filters compare dates and timestamps as strings with other text, or by `LIKE`, and do not refuse it",
        Generation.HIVE_4_0,
    ),
    Line("Partition filters have `IS [NOT] TRUE` and `IS [NOT] FALSE`", Generation.HIVE_4_2),
    Line("Table filters can ask for the table's name and type", Generation.HIVE_4_0),
)
"""Rules that `metastored.hive` knows."""


def table() -> Iterator[Line]:
    """Every difference, in the order of the generations that made it."""
    found = [
        Line(rule.metadata["what"], next(line for line, rules in RULES.items() if getattr(rules, rule.name)))
        for rule in fields(Rules)
    ]
    yield from sorted((*found, *ELSEWHERE), key=lambda line: line.since)
