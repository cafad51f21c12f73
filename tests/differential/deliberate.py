"""The deliberate differences to Apache Hive, each with its reason and a check of the parts that must still agree.

A line that differs and is not listed fails the suite, and so does a listed line that no longer differs. Differences to
Hive 4 alone are in `deliberate_hive_4.py` and the files beside it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.differential.script import ALL, BEFORE_4, HIVE_4, SINCE_3_1

Agreement = Callable[[str, str], bool]
"""A check of Hive's reply and metastored's."""


def both_refuse(hive: str, metastored: str) -> bool:
    """Errors of whatever kind."""
    return hive.startswith("!") and metastored.startswith("!")


def contained(hive: str, metastored: str) -> bool:
    """Whether metastored's reply contains all fields of Hive's, and perhaps more."""

    def within(less: Any, more: Any) -> bool:
        if isinstance(less, dict):
            return isinstance(more, dict) and all(key in more and within(less[key], more[key]) for key in less)
        if isinstance(less, list):
            return isinstance(more, list) and len(less) == len(more) and all(map(within, less, more))
        return bool(less == more)

    read = [ast.literal_eval(re.sub(r"(?<!')<now>(?!')", "'now'", line)) for line in (hive, metastored)]
    return within(*read)


def _dropped(line: str) -> list[str]:
    return re.findall(r"\{'ds': '\d', 'h': '\d'\}", line)


def same_kind(hive: str, metastored: str) -> bool:
    """The same exception in other words."""
    return both_refuse(hive, metastored) and hive.split()[0] == metastored.split()[0]


def same_words(hive: str, metastored: str) -> bool:
    """The same in another order."""
    return sorted(re.findall(r"[^\s,\[\](){}]+", hive)) == sorted(re.findall(r"[^\s,\[\](){}]+", metastored))


def untimed(hive: str, metastored: str) -> bool:
    """The same but for times, which Hive lacks."""

    def without(text: str) -> str:
        return re.sub(r"createTime=(0|<now>)|'transient_lastDdlTime': '<now>'(, )?", "", text)

    return without(hive) == without(metastored)


def metastored_says(text: str) -> Agreement:
    """metastored's reply, word for word."""
    return lambda hive, metastored: metastored == text


def metastored_begins(text: str) -> Agreement:
    return lambda hive, metastored: metastored.startswith(text)


def adds_the_reason(hive: str, metastored: str) -> bool:
    """Both fail internally, and metastored says why."""
    return "Internal error processing" in hive and metastored.startswith(f"{hive}: ")


def says_what_is_missing(hive: str, metastored: str) -> bool:
    """Hive throws what the call does not declare; metastored's is declared, with Hive's own words."""
    return "Internal error" in hive and metastored.startswith(("!MetaException ", "!NoSuchObjectException "))


@dataclass(frozen=True)
class Difference:
    reason: str
    lines: tuple[str, ...]
    """`topic/label`."""
    agreement: Agreement
    versions: tuple[str, ...] = BEFORE_4
    sometimes: bool = False
    """Hive's reply is not the same every time."""


DIFFERENCES: Final = (
    Difference(
        "Hive stumbles over statistics of no column; metastored has nothing to do",
        ("column_statistics/update_table_column_statistics: no column",),
        metastored_says("True"),
        ("2.3",),
    ),
    Difference(
        "Hive throws what these calls do not declare, so that clients see an internal error; metastored says"
        " what is missing",
        (
            "constraints/add_primary_key: missing table",
            "constraints/add_primary_key: missing column",
            "constraints/add_foreign_key: missing child",
            "constraints/add_foreign_key: missing parent",
            "constraints/drop_constraint: again",
        ),
        lambda hive, metastored: "Internal error" in hive and metastored.startswith("!NoSuchObjectException"),
        ("3.1",),
    ),
    Difference(
        "The same, of calls that declare no NoSuchObjectException: metastored answers with a MetaException",
        ("roles/list_privileges: on a partition of no table",),
        says_what_is_missing,
        ALL,
    ),
    Difference(
        "Hive's own error, with what is missing behind it",
        ("functions/alter_function: to no database",),
        adds_the_reason,
        BEFORE_4,
    ),
    Difference(
        "The same, since Hive 3.1",
        ("views/truncate_table: missing",),
        adds_the_reason,
        SINCE_3_1,
    ),
    Difference(
        "The same, in Hive 2.3 alone",
        (
            "partitions/get_partition_names: of no table",
            "partitions/get_partition_names: of no database",
            "roles/grant_role: missing",
            "roles/grant_role: to a missing role",
            "roles/revoke_role: missing",
            "roles/grant_privileges: on a missing database",
            "roles/grant_privileges: to a missing role",
            "roles/revoke_privileges: on a missing database",
        ),
        says_what_is_missing,
        ("2.3",),
    ),
    Difference(
        "The same, since Hive 3.1",
        ("resource_plans/create_resource_plan: a copy of none",),
        says_what_is_missing,
        SINCE_3_1,
    ),
    Difference(
        "Hive stumbles over the name of a key with several columns; metastored says that it is taken",
        ("constraints/add_unique_constraint: a name that is taken",),
        metastored_says("!MetaException Constraint name already exists: pk1"),
        ("3.1",),
    ),
    Difference(
        "The keys that a foreign key may refer to are listed in alphabetical order",
        ("constraints/add_foreign_key: half a key", "constraints/add_foreign_key: another type"),
        same_words,
        ("3.1",),
    ),
    Difference(
        "Hive 2.3 lets a reader pass who waits for an exclusive lock, and then gives that lock beside the reader;"
        " metastored gives it when the reader has gone",
        ("acid/check_lock: alone beside the late reader",),
        metastored_says("LockResponse(lockid=10, state=2)"),
        versions=("2.3",),
    ),
    Difference(
        "Hive stumbles over a null and answers with Java's NullPointerException, or with an internal error that ends"
        " the connection; metastored says what is missing",
        (
            "databases/create_database: null",
            "tables/create_table: without a name",
            "tables/create_table: null",
            "tables/create_table: without storage",
            "tables/create_table: without columns",
            "tables/create_table: of a null type",
            "tables/get_all_tables: of a null database",
            "tables/get_tables_by_type: None",
            "tables/get_table: null",
            "tables/get_table: of a null database",
            "tables/get_fields: null",
            "tables/drop_table: null",
            "alter_table/alter_table: null",
            "alter_table/alter: null columns",
            "alter_table/alter: without storage",
            "alter_table/alter: a null name",
            "partitions/add_partition: null values",
            "partitions/add_partition: without storage",
            "partitions/add_partition: null",
            "partitions/get_partition: null values",
            "partitions/get_partitions_ps: null values",
            "partitions/add_partitions_pspec: without a table",
            "partitions/get_partition_values: of no table",
            "partitions/get_partition_values: no keys",
            "partitions/get_partitions_by_names: null",
            "changing_partitions/alter_partition: null",
        ),
        both_refuse,
    ),
    Difference(
        "The same, where only 2.3 stumbles",
        (
            "databases/create_database: without a name",
            "databases/get_database: null",
            "partitions/append_partition: null values",
            "changing_partitions/exchange_partition: null",
            "changing_partitions/exchange_partition: from no table",
            "changing_partitions/exchange_partition: to no table",
            "changing_partitions/drop_partition: null values",
        ),
        both_refuse,
        ("2.3",),
    ),
    Difference(
        "2.3 lets a null pass and changes nothing; 3.1 answers with an internal error",
        ("databases/alter_database: null",),
        metastored_says("!MetaException alter_database needs the new definition of dbab"),
    ),
    Difference(
        "A null list or name is taken for an empty one where Hive stumbles over it",
        (
            "service/partition_name_to_vals: null",
            "partitions/add_partitions: null",
            "changing_partitions/alter_partitions: null",
        ),
        lambda hive, metastored: hive.startswith("!") and metastored in ("[]", "0", "None"),
    ),
    Difference(
        "A null pattern lists everything, as in 2.3",
        ("databases/get_databases: null",),
        metastored_begins("['dba_g'"),
        ("3.1",),
    ),
    Difference(
        "2.3 loses the connection when a user has no groups",
        ("service/set_ugi: no groups",),
        metastored_says("[]"),
        ("2.3",),
    ),
    Difference(
        "Hive hands a pattern of nothing but a bar to its query language, which refuses it",
        ("databases/get_databases: '|'",),
        metastored_says("[]"),
    ),
    Difference(
        "Hive looks at the missing database's name and stumbles",
        tuple(f"databases/drop_database: {name}" for name in ("missing", "padded", "dba_e", "dba_rel")),
        same_kind,
    ),
    Difference(
        "Hive quotes Java's exceptions; metastored says what would work",
        ("databases/create_database: with a relative location",),
        same_kind,
    ),
    Difference(
        "3.1 quotes the file system's exception; metastored says it in the words of 2.3",
        ("tables/create_table: at a file", "partitions/add_partition: at a file"),
        same_kind,
        ("3.1",),
    ),
    Difference(
        "A table that was created without a type is listed as what it is shown as; Hive leaves it out of lists by type",
        ("tables/get_tables_by_type: 'MANAGED_TABLE'",),
        lambda hive, metastored: (
            set(re.findall(r"\w+", metastored)) - set(re.findall(r"\w+", hive)) == {"mini", "ntype"}
        ),
    ),
    Difference(
        "Hive sorts neither; metastored lists by name",
        (
            "tables/get_table_meta: patterns",
            "tables/get_table_meta: of two types",
            "partitions/get_partitions_ps: the second",
            "partitions/get_partition_names_ps: the second",
            "partitions/get_partition_values: one key",
            "partitions/get_partition_values: two keys in order",
            "partitions/get_partition_values: all keys",
            "functions/get_all_functions: of this database",
        ),
        same_words,
        sometimes=True,
    ),
    Difference(
        "Hive sorts neither; metastored lists by name",
        ("indexes/get_indexes: all", "indexes/get_index_names: all"),
        same_words,
        ("2.3",),
        sometimes=True,
    ),
    Difference(
        "Java prints a hash map, and the operators of a hash set, in the order of a run",
        (
            "changing_partitions/exchange_partition: missing",
            "filters/get_table_names_by_filter: 'hive_filter_field_params__transient_lastDdlTime > \"1\"'",
        ),
        same_kind,
        sometimes=True,
    ),
    Difference(
        "Hive compares with null before it looks whether the location is empty; metastored leaves the"
        " location to the server,"
        " as Hive means to",
        ("alter_table/alter: without a location",),
        metastored_says("None"),
    ),
    Difference(
        "A name that is no partition key is an error; Hive answers with parts of other names",
        ("partitions/get_partition_values: of no key",),
        metastored_says("!MetaException Specified key <zz> is not a partitioning key for the table"),
    ),
    Difference(
        "A call that failed leaves no directories behind; Hive leaves those that it made on the way",
        ("partitions/tree: after these", "partitions/tree: all or nothing"),
        lambda hive, metastored: metastored == "nothing" or set(metastored.split()) < set(hive.split()),
        sometimes=True,
    ),
    Difference(
        "The word IOException makes Java clients try again what cannot succeed",
        ("partitions/add_partitions: one of them twice",),
        lambda hive, metastored: (
            hive.startswith("!MetaException java.io.IOException: Duplicate partitions in the list: ")
            and metastored.startswith("!MetaException Duplicate partitions in the list: ")
        ),
    ),
    Difference(
        "A partition added as a spec has its times of creation and change; Hive sets them on a copy and stores none",
        (
            "partitions/get_partitions: shared",
            "partitions/get_part_specs_by_filter: some",
        ),
        untimed,
    ),
    Difference(
        "The same",
        ("partitions/get_partitions_pspec: all",),
        untimed,
        ("2.3",),
    ),
    Difference(
        "3.1 answers with an internal error to a spec that is a list",
        ("partitions/add_partitions_pspec: listed",),
        metastored_says("1"),
        ("3.1",),
    ),
    Difference(
        "So in 3.1 that partition is missing",
        ("partitions/get_partitions_pspec: all", "partitions/get_partitions_pspec: one"),
        metastored_begins("[PartitionSpec(dbName='par', tableName='s', rootPath='{W}/par.db/s', partitionList="),
        ("3.1",),
    ),
    Difference(
        "Dropping a database drops the data of all its managed partitions; of those that lie elsewhere, Hive forgets"
        " all but the last table's",
        ("partitions/tree: their own places", "partitions/tree: the files of others"),
        metastored_says("nothing"),
        sometimes=True,
    ),
    Difference(
        "2.3 finds out from the file system, whose exception it quotes; metastored says it in the words of 3.1",
        ("changing_partitions/exchange_partition: taken",),
        same_kind,
        ("2.3",),
    ),
    Difference(
        "Hive finds out from the file system, whose exception it quotes",
        ("changing_partitions/exchange_partition: an empty value", "changing_partitions/exchange_partition: a gap"),
        same_kind,
    ),
    Difference(
        "Hive's IDL says that `ifExists` is true unless given, and its server takes it for false then",
        ("changing_partitions/drop_partitions_req: missing, by default",),
        metastored_says("DropPartitionsResult(partitions=[])"),
    ),
    Difference(
        "LIKE understands SQL's wildcards as well as `.*`: clients of all generations ask",
        (
            "filters/get_partitions_by_filter: 'ds like \"a%\"'",
            "filters/get_num_partitions_by_filter: 'ds like \"a%\"'",
            "filters/get_table_names_by_filter: 'hive_filter_field_params__color like \"%e%\"'",
        ),
        lambda hive, metastored: hive in ("[]", "0") and metastored not in ("[]", "0"),
    ),
    Difference(
        "A date is written with all its digits; Java reads it with fewer",
        tuple(f"filters/get_{what}_by_filter: 'd < \"2024-1-5\"'" for what in ("partitions", "num_partitions")),
        lambda hive, metastored: (
            metastored == "!MetaException Filtering is supported only on partition keys of type string"
            and hive in ("[['A', '-1', '2023-12-31'], ['a b', '7', '2024-01-01'], ['a', '1', '2024-01-01']]", "3")
        ),
    ),
    Difference(
        "A literal of the wrong type is an error; on Derby, Hive finds nothing",
        (
            "filters/get_table_names_by_filter: 'hive_filter_field_last_access__ = \"0\"'",
            "filters/get_table_names_by_filter: 'hive_filter_field_owner__ = 1'",
        ),
        lambda hive, metastored: hive == "[]" and metastored.startswith("!MetaException"),
    ),
    Difference(
        "Hive stumbles over a function without types; metastored says what is missing",
        ("functions/create_function: with the least",),
        both_refuse,
    ),
    Difference(
        "Hive quotes its database, with the stack of calls",
        ("functions/alter_function: a name that is taken",),
        same_kind,
    ),
    Difference(
        "The conditional alter is honoured; 3.1.3 ignores the condition",
        ("alter_table/alter: not as expected", "alter_table/alter: no new value"),
        metastored_begins("!MetaException "),
        ("3.1",),
    ),
    Difference(
        "So the table is unchanged",
        ("alter_table/get_table: not as expected",),
        lambda hive, metastored: "'state': 'one'" in metastored,
        ("3.1",),
    ),
    Difference(
        "3.1 answers with an internal error to any new metadata of a materialized view that had none",
        ("views/update_creation_metadata: a new one",),
        metastored_says("None"),
        ("3.1",),
    ),
    Difference(
        "So the view has none",
        ("views/get_table: with its metadata",),
        lambda hive, metastored: "creationMetadata=" in metastored and "creationMetadata=" not in hive,
        ("3.1",),
    ),
    Difference(
        "3.1 does not declare what it throws",
        ("views/update_creation_metadata: of no view",),
        both_refuse,
        ("3.1",),
    ),
    Difference(
        "A table that materialized views were made from can be dropped; Hive's database refuses it with its own words",
        ("views/drop_table: used by a view",),
        metastored_says("None"),
        ("3.1",),
    ),
    Difference(
        "Hive stumbles over its own exception, and the client learns nothing; it is declared, and metastored sends it",
        ("schema_registry/drop_ischema: with versions",),
        metastored_begins("!InvalidOperationException Schema ISchemaName("),
        SINCE_3_1,
    ),
    Difference(
        "Hive does not declare what it throws here; metastored sends it as what is declared",
        ("hive_4_documents/add_package: of no database",),
        metastored_says("!MetaException There is no database hive.nodb"),
        HIVE_4,
    ),
    Difference(
        "A query that will never be due again has no next time, over which Hive stumbles",
        ("hive_4_documents/get_scheduled_query: never due",),
        lambda hive, metastored: hive.startswith("!TApplicationException 6") and "nextExecution" not in metastored,
        HIVE_4,
    ),
    Difference(
        "The same sentence without the name of a Java class before it",
        ("indexes/drop_table: its own table",),
        same_kind,
        ("2.3",),
    ),
)

DIFFERENCES_OF_THE_REST: Final = (
    Difference(
        "Hive tells of an object as the client gave it; metastored as it is kept, with the server's defaults"
        " and its catalog",
        (
            *(f"events/leaves: {name}" for name in ("create_database: new", "create_function: plain")),
            *(f"events/leaves: create_table: {name}" for name in ("plain", "partitioned")),
            *(f"events/leaves: alter: {name}" for name in ("a property", "a column", "another name")),
            "events/leaves: add_partition: one",
            "events/leaves: add_partitions: two",
            "events/leaves: add_partitions_req: two by request",
            "events/leaves: alter_database: changed",
        ),
        contained,
        ("3.1",),
    ),
    Difference(
        "Hive writes an event for each partition that a call drops; metastored one with all of them, which"
        " readers of Hive's"
        " messages understand as well",
        ("events/leaves: drop_partitions_req: two by request",),
        lambda hive, metastored: _dropped(hive) == _dropped(metastored) != [],
    ),
    Difference(
        "2.3's readers get the messages of 3.1, which have more fields",
        tuple(
            f"events/leaves: {name}"
            for name in (
                *("create_database: new", "create_table: plain", "create_table: partitioned"),
                *("alter: a property", "alter: a column", "alter: another name"),
                *("add_partition: one", "add_partitions: two", "add_partitions_req: two by request"),
                *("append_partition_by_name: by name", "alter partition: a property", "alter partition: other values"),
                *("drop_partition: one", "create_function: plain", "drop_table: plain", "drop_database: with all"),
            )
        ),
        contained,
        ("2.3",),
    ),
    Difference(
        "2.3 has no event for a changed database",
        ("events/leaves: alter_database: changed",),
        lambda hive, metastored: hive == "[False, []]" and "'ALTER_DATABASE'" in metastored,
        ("2.3",),
    ),
    Difference(
        "Options are remembered by one server of Hive until it ends; servers on one database would have different ones",
        ("rest/getOption: what was set",),
        lambda hive, metastored: hive == "'y'" and metastored == "None",
        ALL,
    ),
    Difference(
        "Hive stumbles over the cache that it does not have; metastored says the same of it in every call",
        ("rest/clear_file_metadata: some",),
        metastored_says("ClearFileMetadataResult()"),
        ALL,
    ),
    Difference(
        "Hive has no tokens unless it asks for Kerberos, and stumbles; metastored says what is missing",
        (
            "rest/get_delegation_token: nobody's",
            "rest/renew_delegation_token: no token",
            "rest/cancel_delegation_token: no token",
        ),
        same_kind,
        ALL,
    ),
    Difference(
        "Hive gives its tokens and keys to whoever asks; metastored only to services that have proven who they are,"
        " and nobody has on a server without authentication. Kept as in tests/service/security/test_tokens.py",
        (
            "roles/add_token: new",
            "roles/add_token: taken",
            "roles/get_token: one",
            "roles/get_token: missing",
            "roles/get_all_token_identifiers: all",
            "roles/remove_token: one",
            "roles/remove_token: missing",
            "roles/get_master_keys: none",
            "roles/remove_master_key: missing",
            "roles/update_master_key: missing",
            "rest/add_master_key: new",
            "rest/get_master_keys: one",
        ),
        lambda hive, metastored: metastored.startswith("!") and "Permission denied" in metastored,
        ALL,
    ),
    Difference(
        "Hive stumbles over a null; metastored says what is missing",
        (
            "absent/create_table: of a null database",
            "absent/alter: to a null database",
            "absent/alter partition: to null columns",
            "absent/get_partitions_by_names: null",
        ),
        same_kind,
        ALL,
    ),
    Difference(
        "The same",
        ("absent/create_function: of a null database",),
        both_refuse,
        ALL,
    ),
    Difference(
        "A partition that was added without columns has an empty list of them, and can be altered; Hive answers with"
        " null, and cannot alter the partition any more",
        (
            "absent/get_partition: without columns",
            "absent/get_partition: without columns, of a list",
            "absent/get_partitions: without columns",
        ),
        lambda hive, metastored: hive.replace("None", "[]") == metastored,
        ALL,
    ),
    Difference(
        "The same",
        ("absent/alter partition: to columns again",),
        metastored_says("None"),
        ALL,
    ),
    Difference(
        "The same",
        ("absent/get_partition: with columns again",),
        lambda hive, metastored: hive == "None" and metastored.startswith("[FieldSchema("),
        ALL,
    ),
    Difference(
        "A name with an empty catalog is malformed; Hive looks for a catalog without a name",
        ("absent/get_database: of an empty catalog", "absent/get_database: of an empty catalog alone"),
        both_refuse,
        SINCE_3_1,
    ),
    Difference(
        "Hive 4 quotes Java's exception",
        ("absent/alter: to an empty name",),
        both_refuse,
        HIVE_4,
    ),
    Difference(
        "Hive quotes the statement that its database refused; metastored names the column",
        (
            "tables/create_table: with two columns of a name",
            "tables/create_table: with two columns of a name in any case",
            "tables/create_table: with two keys of a name",
        ),
        same_kind,
        ALL,
    ),
)
