"""Where metastored deliberately differs from Hive 4, with reasons; see `deliberate.py`. Filters have their own file."""

from __future__ import annotations

import re
from typing import Final

from tests.differential.deliberate import (
    DIFFERENCES,
    DIFFERENCES_OF_THE_REST,
    Difference,
    both_refuse,
    metastored_begins,
    metastored_says,
    same_kind,
    same_words,
)
from tests.differential.deliberate_edges import DIFFERENCES_AT_EDGES
from tests.differential.deliberate_hive_4_filters import DIFFERENCES_IN_FILTERS
from tests.differential.deliberate_hive_4_rest import DIFFERENCES_IN_THE_REST
from tests.differential.script import HIVE_4

SINCE_4_0_1 = ("4.0.1", "4.1")


DIFFERENCES_OF_HIVE_4: Final = (
    Difference(
        "Later versions answer with a struct where these answer with nothing; clients of these pass over it",
        ("requests/drop_database_req: all",),
        lambda hive, metastored: hive == "None" and metastored.startswith("AsyncOperationResp("),
        HIVE_4,
    ),
    Difference(
        "The same",
        ("requests/drop_table_req: plain", "requests/drop_table_req: for good"),
        lambda hive, metastored: hive == "None" and metastored.startswith("AsyncOperationResp("),
        SINCE_4_0_1,
    ),
    Difference(
        "`ignoreUnknownDb` is honoured; Hive leaves that to its own client",
        ("requests/drop_database_req: missing, never mind",),
        metastored_begins("AsyncOperationResp("),
        HIVE_4,
    ),
    Difference(
        "4.1.0 closes its query's result before it has written it out, and loses the connection",
        ("requests/get_partitions_with_specs: by values", "requests/get_functions_req: some"),
        lambda hive, metastored: hive == "!connection lost" and not metastored.startswith("!"),
        ("4.1",),
    ),
    Difference(
        "Hive counts; metastored says which partition is missing, as 3.1 does",
        ("requests/alter_partitions_req: missing",),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "metastored answers as the last of 4.0 does, and as 4.2 to clients of 4.1",
        ("service/getVersion: version",),
        lambda hive, metastored: metastored in ("'4.0.1'", "'4.2.0'"),
        ("4.0.0", "4.1"),
    ),
    Difference(
        "Hive loses the connection when a user has no groups",
        ("service/set_ugi: no groups",),
        metastored_says("[]"),
        HIVE_4,
    ),
    Difference(
        "LIKE understands SQL's wildcards as well as `.*`: clients of all generations ask",
        ("spark/get_partitions_by_filter: a pattern",),
        lambda hive, metastored: hive == "[]" and metastored.startswith("[Partition("),
        HIVE_4,
    ),
    Difference(
        "Hive lists tables as its database has them; metastored lists by name",
        (
            "spark/get_tables: all",
            *(f"tables/get_tables: {pattern}" for pattern in ("'*'", "'T*'", "'ext*|v1'", "'.*'", "'ext.'", "'*1|*2'")),
            "tables/get_tables: None",
            "tables/get_table_meta: patterns",
            "tables/get_table_meta: of two types",
            "constraints/add_foreign_key: half a key",
            "constraints/add_foreign_key: another type",
            "partitions/get_partitions_ps: the second",
            "partitions/get_partition_names_ps: the second",
            "partitions/get_partition_values: one key",
            "partitions/get_partition_values: two keys in order",
            "partitions/get_partition_values: all keys",
        ),
        same_words,
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "Hive stumbles over a null, or loses the connection; metastored says what is missing",
        (
            "databases/create_database: null",
            "databases/alter_database: null",
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
            "alter_table/alter: without a location",
            "changing_partitions/alter_partition: null",
            "partitions/add_partition: without storage",
            "partitions/get_partition: null values",
            "partitions/add_partitions_pspec: without a table",
            "partitions/get_partition_values: of no table",
            "partitions/get_partition_values: no keys",
            "views/update_creation_metadata: of no view",
        ),
        both_refuse,
        HIVE_4,
    ),
    Difference(
        "The same, in versions that say it in other words",
        ("changing_partitions/drop_partition: null values",),
        same_kind,
        SINCE_4_0_1,
    ),
    Difference(
        "A null list or name is taken for an empty one where Hive stumbles over it",
        (
            "service/partition_name_to_vals: null",
            "changing_partitions/alter_partitions: null",
            "partitions/add_partitions: null",
        ),
        lambda hive, metastored: hive.startswith("!") and metastored in ("[]", "None", "0"),
        HIVE_4,
    ),
    Difference(
        "Hive answers with Java's NullPointerException to a null list of names",
        ("partitions/get_partitions_by_names: null",),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "A null pattern lists everything",
        ("databases/get_databases: null",),
        metastored_begins("['dba_g'"),
        ("4.0.0", "4.0.1"),
    ),
    Difference(
        "Hive hands a pattern of nothing but a bar to its query language, which refuses it",
        ("databases/get_databases: '|'",),
        metastored_says("[]"),
        HIVE_4,
    ),
    Difference(
        "A caller that did not say who it is owns nothing; Hive writes its own user down",
        (
            "databases/get_database: plain",
            "databases/get_database: owned by a group, unnamed",
            "databases/get_database: with a location",
            "databases/get_database: with a location of three slashes",
            "catalogs/get_database: in it",
        ),
        lambda hive, metastored: re.sub(r"ownerName='<user>', ", "", hive) == metastored,
        HIVE_4,
    ),
    Difference(
        "The default database of a new catalog has no owner; Hive writes its own user down",
        ("catalogs/get_database: its default database",),
        lambda hive, metastored: re.sub(r"ownerName='<user>', ", "", hive) == metastored,
        HIVE_4,
    ),
    Difference(
        "The same",
        ("catalogs/get_catalog: the default one",),
        lambda hive, metastored: (
            hive.replace("Default catalog for Hive", "Default catalog, for Hive").replace(", createTime=0", "")
            == metastored
        ),
        HIVE_4,
    ),
    Difference(
        "A database's name is trimmed, as a table's is, and as it was before; Hive 4 keeps the spaces and then"
        " looks for it without them",
        ("databases/get_database: of the padded", "databases/drop_database: padded"),
        lambda hive, metastored: (
            hive == "!NoSuchObjectException database hive.padded" and not metastored.startswith("!")
        ),
        HIVE_4,
    ),
    Difference(
        "Hive quotes Java's exceptions, or those of its database; metastored says what would work",
        (
            "databases/create_database: with a relative location",
            "tables/create_table: at a file",
            "changing_partitions/exchange_partition: an empty value",
            "changing_partitions/exchange_partition: a gap",
            "functions/alter_function: a name that is taken",
            "partitions/add_partition: at a file",
        ),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "Hive believes that a database that is not there is a remote one, or does not look for it at first",
        ("alter_table/alter_table: of no database", "changing_partitions/drop_partition: of no table"),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "A table that was created without a type is listed as what it is shown as; Hive leaves it out of lists by type",
        ("tables/get_tables_by_type: 'MANAGED_TABLE'",),
        metastored_says("['ext2', 'mini', 'ntype']"),
        HIVE_4,
    ),
    Difference(
        "An empty location is left to the server, as before",
        ("alter_table/alter: with an empty location",),
        metastored_says("None"),
        HIVE_4,
    ),
    Difference(
        "Dropping a database drops the data of all its tables; of those that were moved, Hive forgets some",
        ("alter_table/tree: the new home of p",),
        metastored_says("nothing"),
        HIVE_4,
    ),
    Difference(
        "Hive counts; metastored says which partition is missing, as 3.1 does",
        ("changing_partitions/alter_partitions: one missing",),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "Java prints a hash map in the order of a run",
        ("changing_partitions/exchange_partition: missing",),
        same_kind,
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "Hive's IDL says that `ifExists` is true unless given, and its server takes it for false then",
        ("changing_partitions/drop_partitions_req: missing, by default",),
        metastored_says("DropPartitionsResult(partitions=[])"),
        HIVE_4,
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
        HIVE_4,
    ),
    Difference(
        "A malformed name is told as such; the request form takes it for a database's name",
        ("catalogs/get_table: no catalog",),
        both_refuse,
        SINCE_4_0_1,
    ),
    Difference(
        "From 4.0.1 on, Hive forgets the catalog of a partition that is added",
        ("catalogs/add_partition: in it",),
        lambda hive, metastored: hive.startswith("!InvalidObjectException") and metastored.startswith("Partition("),
        SINCE_4_0_1,
    ),
    Difference(
        "So it is missing",
        (
            "catalogs/get_partitions: in it",
            "catalogs/get_partition_names: in it",
            "catalogs/get_partition: in it",
            "catalogs/get_partitions_by_filter: in it",
            "catalogs/drop_partition: in it",
        ),
        lambda hive, metastored: not metastored.startswith("!"),
        SINCE_4_0_1,
    ),
    Difference(
        "A call that failed leaves no directories behind; Hive leaves those that it made on the way",
        ("partitions/tree: after these", "partitions/tree: all or nothing"),
        lambda hive, metastored: metastored == "nothing" or set(metastored.split()) < set(hive.split()),
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "metastored says it as later versions do",
        ("partitions/add_partition: to no table", "partitions/add_partition: to no database"),
        same_kind,
        ("4.0.0",),
    ),
    Difference(
        "A partition without columns has an empty list of them; Hive leaves it out in this one list",
        ("partitions/get_partitions_ps: no values", "partitions/get_partitions_ps: null values"),
        lambda hive, metastored: hive == metastored.replace("cols=[], ", ""),
        HIVE_4,
    ),
    Difference(
        "Hive asks its database by LIKE, where an underscore stands for any character",
        ("partitions/get_partitions_ps: an underscore",),
        metastored_says("[]"),
        SINCE_4_0_1,
    ),
    Difference(
        "Hive answers with Java's NullPointerException to a spec that is a list",
        ("partitions/add_partitions_pspec: listed",),
        metastored_says("1"),
        HIVE_4,
    ),
    Difference(
        "So that partition is missing",
        ("partitions/get_partitions_pspec: all", "partitions/get_partitions_pspec: one"),
        metastored_begins("[PartitionSpec(dbName='par', tableName='s', rootPath='{W}/par.db/s', partitionList="),
        HIVE_4,
    ),
    Difference(
        "A name that is no partition key is an error; Hive answers with parts of other names",
        ("partitions/get_partition_values: of no key",),
        metastored_says("!MetaException Specified key <zz> is not a partitioning key for the table"),
        HIVE_4,
    ),
    Difference(
        "Dropping a database drops the data of all its tables' partitions; Hive forgets some that lie elsewhere",
        ("partitions/tree: their own places", "partitions/tree: the files of others"),
        metastored_says("nothing"),
        HIVE_4,
        sometimes=True,
    ),
    Difference(
        "Hive answers with an internal error to any new metadata of a materialized view that had none",
        ("views/update_creation_metadata: a new one",),
        metastored_says("None"),
        HIVE_4,
    ),
    Difference(
        "So the view has none",
        ("views/get_table: with its metadata",),
        lambda hive, metastored: "creationMetadata=" in metastored and "creationMetadata=" not in hive,
        HIVE_4,
    ),
    Difference(
        "The tables that a view was made from are told by their names, as before, not once more as whole tables",
        ("views/get_table: made with metadata",),
        lambda hive, metastored: re.sub(r", sourceTables=\[.*\]\)(?=, ownerType)", ")", hive) == metastored,
        HIVE_4,
    ),
    Difference(
        "A table that materialized views were made from can be dropped",
        ("views/drop_table: used by a view",),
        metastored_says("None"),
        HIVE_4,
    ),
    Difference(
        "4.0 gives a renamed Iceberg table a new location and leaves its files where they are; metastored leaves both",
        ("translation/get_table_req: ice2, its place",),
        lambda hive, metastored: hive.replace("tr.db/ice2", "tr.db/ice") == metastored,
        ("4.0.0", "4.0.1"),
    ),
    Difference(
        "Without a limit there is none; Hive takes it for zero, and its own clients always give one",
        ("translation/get_tables_ext: no limit",),
        lambda hive, metastored: hive == "[]" and metastored.startswith("[ExtendedTableInfo(tblName='bext'"),
        HIVE_4,
    ),
    Difference(
        "Hive throws what this call does not declare, so that clients see an internal error; metastored says"
        " what is missing",
        ("hive_4_objects/delete_column_statistics_req: of a missing table",),
        metastored_begins("!NoSuchObjectException "),
        ("4.1",),
    ),
    Difference(
        "Hive's own proxy of expressions understands texts only in drops, and no empty ones; that of its standalone"
        " server understands them everywhere, and so does metastored",
        (
            "hive_4_objects/get_partition_names_req: all",
            "hive_4_objects/get_partition_names_req: one",
            "hive_4_objects/get_partition_names_req: by a text",
            "hive_4_objects/get_partitions_spec_by_expr: by a text",
        ),
        lambda hive, metastored: (
            hive.startswith("!MetaException SerializationUtilities#") and not metastored.startswith("!")
        ),
        ("4.1",),
    ),
    Difference(
        "4.1 reads the expression before it looks for the table",
        ("hive_4_objects/get_partition_names_req: of no table",),
        both_refuse,
        ("4.1",),
    ),
    Difference(
        "A Hive server has its namespace of properties only when it also serves them over HTTP; metastored"
        " always has it",
        (
            "hive_4_objects/set_properties: plain",
            "hive_4_objects/set_properties: removed",
            "hive_4_objects/get_properties: of a database",
            "hive_4_objects/get_properties: one of them",
            "hive_4_objects/get_properties: none",
            "hive_4_objects/get_properties: after one was removed",
        ),
        lambda hive, metastored: hive.endswith("namespace hms") and not metastored.startswith("!"),
        HIVE_4,
    ),
    Difference(
        "Hive quotes its database",
        ("hive_4_objects/scheduled_query_progress: of no run", "hive_4_acid/seed_write_id: again"),
        same_kind,
        HIVE_4,
    ),
    Difference(
        "A compactor is told what is now in the queue: the state, its own name, and the times; Hive leaves them empty",
        tuple(
            f"hive_4_acid/take: {name}"
            for name in (
                *("a table", "a partition", "a partition again", "one to be aborted"),
                "of any pool, by the older call",
            )
        ),
        lambda hive, metastored: (
            set(re.findall(r"(?:dbname|tablename|partitionname|type|properties|poolname)=[^,)]*", hive))
            <= set(re.findall(r"\w+=[^,)]*", metastored))
        ),
        HIVE_4,
    ),
    Difference(
        "The highest write id that was compacted is told; Hive keeps it to itself",
        tuple(
            f"hive_4_acid/show_compact: {name}"
            for name in ("with a transaction and a job", "one waits for the cleaner", "committed", "cleaned")
        ),
        lambda hive, metastored: hive == metastored.replace(", hightestWriteId=1", ""),
        HIVE_4,
    ),
    Difference(
        "Hive stumbles over its own refusal, and the client learns nothing",
        ("hive_4_acid/refused: lower than there is",),
        metastored_begins("!MetaException Invalid txnId seed "),
        HIVE_4,
    ),
    Difference(
        "4.1 throws what these calls do not declare, so that clients see an internal error; metastored says"
        " what is missing",
        (
            "column_statistics/delete_table_column_statistics: missing table",
            "column_statistics/delete_partition_column_statistics: of no table",
        ),
        lambda hive, metastored: (
            "Internal error" in hive
            and metastored
            in (
                "!NoSuchObjectException Table hive.cst.nope  for which stats deletion is requested doesn't exist",
                "!InvalidObjectException cst.nope table not found",
            )
        ),
        ("4.1",),
    ),
    Difference(
        "The case of a partition's keys does not matter, as before; 4.1 finds nothing under a name in upper case",
        ("column_statistics/get_partition_column_statistics: one",),
        lambda hive, metastored: (
            hive == "None" and metastored.startswith("ColumnStatistics(") and "partName='ds=p1'" in metastored
        ),
        ("4.1",),
    ),
    Difference(
        "The same",
        ("column_statistics/delete_partition_column_statistics: one column",),
        lambda hive, metastored: (
            hive == "!InvalidObjectException incomplete partition name - missing ds" and metastored == "True"
        ),
        ("4.1",),
    ),
    Difference(
        "Without a column, all columns of the partition lose their statistics, as before; 4.1 answers that they did and"
        " keeps them",
        ("column_statistics/get_partition_column_statistics: deleted",),
        lambda hive, metastored: (
            hive.startswith("ColumnStatistics(") and "partName='ds=p7'" in hive and metastored == "None"
        ),
        ("4.1",),
    ),
    Difference(
        "4.1 asks Derby for a column that its query does not have",
        (
            "column_statistics/get_aggr_stats_for: all but one missing",
            "column_statistics/get_aggr_stats_for: columns differ",
        ),
        lambda hive, metastored: (
            hive.startswith("!MetaException See previous errors; StandardException: Column 'PARTITION_NAME' is either")
            and re.match(r"\[[12], \[ColumnStatisticsObj\(", metastored) is not None
        ),
        ("4.1",),
    ),
)

EVERY_DIFFERENCE: Final = (
    *DIFFERENCES,
    *DIFFERENCES_OF_THE_REST,
    *DIFFERENCES_IN_THE_REST,
    *DIFFERENCES_OF_HIVE_4,
    *DIFFERENCES_IN_FILTERS,
    *DIFFERENCES_AT_EDGES,
)


def differences(version: str) -> dict[str, Difference]:
    """The differences of a version, by line."""
    return {line: each for each in EVERY_DIFFERENCE if version in each.versions for line in each.lines}
