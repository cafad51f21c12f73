"""The API files: the only description of the metastore's API, one TOML file a topic.

    [enum.LockState]             names and numbers; {value, in} where a version range matters
    [struct.Database]
    fields = ["1 string name required @db in=3.1+", …]    id type name, then required, default=, @role, in=
    union = true                 a Thrift union: exactly one field is set
    was_when = "2 string"        an older layout, told apart by this field's type on the wire …
    was = ["1 i64 txnid", …]     … and its fields, read into the same names
    [method.get_table]
    args, returns, throws        as in Thrift; throws_in for versions whose exception ids differ
    in = "2.3-4.0.0"             the versions that have it; all when absent

What a method says about itself, for every reader of the table:

    verb        read, write, ddl, grant, admin, session
    object      what it is about: catalog, database, table, partition, function, …
    cost        point (one row by its key), scan (many rows), write
    route       local (never asked of a remote), names (by the names in its arguments), pattern (names are
                patterns: local and each remote that can match), all (every remote), id (a transaction or lock id)
    merge       of the answers of several: none, concat, sorted_union, sum
    retry       safe (a repeat does no harm), lookup (ask first whether it took effect), never
    privileges  what a caller needs, e.g. "select table", "create database", "admin"; empty: nothing
    event       the notification it writes, e.g. CREATE_TABLE; empty: none
    hook        the name of code for the few methods that no table can describe

The roles of fields: cat, db, table, part_name, part_values, function, full_name ("db.table"), pattern, view_text,
location, txn_id, lock_id, user, secret. `tools/generate.py` turns these files into Python.
"""
