"""What each statement does, in a sentence or two: for the page of statements and for `help` in the shell.

The syntax itself is in the grammar, and `syntax.py` prints it.
"""

from __future__ import annotations

from typing import Final

SECTIONS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "Databases and catalogs": (
        ("create_database", "The clauses may be in any order. Without LOCATION the server chooses the directory."),
        ("alter_database", ""),
        ("drop_database", "With CASCADE also its tables and functions. Without it a database with tables is an error."),
        ("create_catalog", "A catalog needs a LOCATION."),
        ("alter_catalog", ""),
        ("drop_catalog", ""),
        ("use", "The current database of the statements that follow."),
    ),
    "Tables": (
        ("create_table", "Without USING the table is one of Hive's, and text unless STORED AS names another format "
         "(PARQUET, ORC, AVRO, TEXTFILE, JSONFILE, SEQUENCEFILE, RCFILE). With USING it is stored as Spark's catalog "
         "stores it, and Spark reads it as its own; OPTIONS belong to USING. Names are stored in small letters, but "
         "for Spark's own schema. CREATE TABLE AS writes rows: run it by Spark, or with `metastored sql --spark`."),
        ("create_table_like", "A table of Hive's with the columns, partition keys and format of another one."),
        ("alter_table", "What others change in the table at the same time is kept. A change of columns is made in "
         "Spark's schema too, if the table has one; CASCADE changes the columns of the partitions too."),
        ("drop_table", "Files of a managed table are removed with it; PURGE skips the trash."),
        ("truncate_table", "The metastore empties the directories of a managed table, or of the partitions with these "
         "values. External tables and ACID tables are refused."),
        ("comment_on", "IS NULL removes the comment. A column is named with its table: `table.column`."),
        ("msck", "Is refused: it lists directories. `metastored.spark.repair` does it."),
    ),
    "Views and functions": (
        ("create_view", "The text of the query is stored. Columns without types are known where the query selects "
         "columns of one table (`SELECT a, b AS c FROM t WHERE …`); for any other query, write the columns with their "
         "types, and name them in the query: `(number BIGINT) AS SELECT count(*) AS number …`."),
        ("alter_view", ""),
        ("drop_view", ""),
        ("create_materialized_view", "Its text, its columns and the names of its tables are stored, and its rows are "
         "Hive's: it is empty, and Hive does not rewrite queries to it until it was built there (`ALTER MATERIALIZED "
         "VIEW … REBUILD`). The metastores of Hive 3.1 and later have it."),
        ("alter_materialized_view", "Whether Hive may rewrite queries to it. ENABLE is for a view that Hive has built "
         "from ACID tables; REBUILD is Hive's."),
        ("drop_materialized_view", ""),
        ("create_function", ""),
        ("drop_function", ""),
    ),
    "Reading": (
        ("show_databases", "In patterns `*` stands for any text and `|` separates alternatives."),
        ("show_tables", "A database that does not exist is an error."),
        ("show_partitions", "With PARTITION, those with these values; any of the keys may be named. WHERE is a "
         "condition over the keys, as in [filters](../guide/filters.md)."),
        ("show_views", ""),
        ("show_materialized_views", ""),
        ("show_table_extended", "Numbers of files are those of the table's statistics."),
        ("show_columns", ""),
        ("show_tblproperties", ""),
        ("show_create_table", "The statement that makes the table or the view again: in Hive's form, for a table of "
         "Spark's in Spark's. Columns of a view have types where CREATE VIEW needs them."),
        ("show_create_database", "The statement that makes the database again, in the form of Hive 4."),
        ("show_functions", "The functions of a database."),
        ("show_locks", ""),
        ("show_transactions", ""),
        ("show_compactions", ""),
        ("show_catalogs", ""),
        ("describe_catalog", ""),
        ("describe_function", ""),
        ("describe_database", "Of a remote database: what the remote says, and the configuration behind it."),
        ("describe_table", "EXTENDED has Spark's layout, FORMATTED Hive's. Of a remote table: what the remote says, "
         "and the configuration behind it."),
    ),
    "Rights": (
        ("create_role", "Makes a role. Names of roles are stored in small letters, unless they are in backquotes."),
        ("drop_role", "Removes a role, its members and all that was granted to it."),
        ("grant", "Grants privileges (SELECT, INSERT, UPDATE, DELETE, ALL, CREATE, ALTER, DROP, INDEX, LOCK, "
         "SHOW_DATABASE, CREATE_REMOTE, USE_LOCATION) or roles. Without ON, privileges are granted on the server, and "
         "words that are no privileges are roles. ALL is stored as SELECT, INSERT, UPDATE and DELETE, as Hive does; ON "
         "SERVER it is one word. Privileges of several principals are granted together, or none of them. The API has "
         "no grants on catalogs, locations and functions: the error says what to grant instead."),
        ("revoke", "With GRANT OPTION FOR, or ADMIN OPTION FOR of a role, only the option is revoked. Hive's REVOKE "
         "has no CASCADE: what the principal has granted to others stays."),
        ("show_grant", "Of one principal or of all, on one object or on all. Of a table, also grants on its columns. "
         "Users see their own grants, owners those on their objects, and admins all."),
        ("show_roles", ""),
        ("show_role_grant", "The roles of a user, a group or a role."),
        ("show_principals", "The members of a role."),
        ("show_current_roles", "All roles of the caller, also those through other roles."),
        ("set_role", "Changes nothing: a session of the metastore always has all roles of its user. A role that the "
         "user does not have is an error."),
    ),
    "Remotes": (
        ("create_remote_table", "Makes a remote table. Without CONNECTED TO the remote table has the same name and is "
         "in a database of the same name; `CONNECTED TO t` names the table only."),
        ("create_remote_database", "Makes a remote database. USING is Hive 4's form: the connector has the address."),
        ("create_remote_catalog", "Makes all databases of another metastore visible: with PREFIX as databases of the "
         "default catalog whose names begin with it, without PREFIX as a catalog of their own."),
        ("alter_remote_table", "Changes a definition. Properties that are not named stay as they are."),
        ("alter_remote_database", ""),
        ("alter_remote_catalog", ""),
        ("drop_remote", "Removes a definition here. Nothing at the remote changes."),
        ("show_remotes", "Lists definitions, IN a database only its remote tables. This calls no remote."),
        ("show_create_remote", "Prints the statement that makes the remote again. Secrets are masked, unless they are "
         "references (`env:NAME`, `file:PATH`)."),
    ),
    "Connectors of Hive 4": (
        ("create_connector", "TYPE `thrift`, `ssh`, `http`, `glue` and `iceberg` lead to remotes; Hive's own types, "
         "such as `mysql`, are stored for Hive."),
        ("alter_connector", ""),
        ("drop_connector", ""),
        ("show_connectors", ""),
        ("describe_connector", ""),
    ),
}  # fmt: skip
"""Rules of the grammar, and what they do."""
PARTS: Final = {
    "object": "The object of a grant. A word without TABLE is a table or a view.",
    "principal": "",
    "column": "Types are Hive's, with USING Spark's. NOT NULL, PRIMARY KEY, UNIQUE, DEFAULT and CHECK are constraints.",
    "constraint": "DISABLE NOVALIDATE are the states that Hive takes for keys; NORELY is the default.",
    "table_clause": "",
    "table_action": "A comparison in DROP PARTITION has `=`, `!=`, `<`, `<=`, `>` or `>=`. EXCHANGE moves partitions "
    "of the table behind WITH TABLE to this one, with their directories. COMPACT puts a compaction into the queue of "
    "the metastore, for Hive's workers or those of `metastored compact`; a partitioned table is compacted by "
    "partition. AND WAIT is refused.",
}
"""Rules that have a place of their own on the page: statements show their names in angle brackets."""
