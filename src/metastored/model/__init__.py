"""Hive's objects: what a table, a partition or a database is, as pure functions over the wire's structs.

    names.py        TableName, DatabaseName: parsing and printing
    kinds.py        managed, external, view, materialized view
    acid.py         transactional, insert-only, full ACID
    origins.py      Iceberg, Delta, Hudi, Lance; Spark, Trino, Presto
    formats.py      file formats by name, and Hive's classes for them
    columns.py      the columns of a table, also where Spark stores them in parameters; the Arrow schema
    spark/          Spark's own values, and all parameters in which it stores them
    normal.py       tables and storage descriptors as Hive returns them after storing them
    partitions.py   the values of a partition, however they are written
    values.py       times, texts, locations and decimals as metastores store them
    makers.py       a table, a partition or a database in one line
    counting.py     numbers with their nouns, for people
    plain.py        structs to plain dicts and back
    refusals.py     no permission, read-only, too many calls: recognised by the server's message
    remotes/        remote databases, tables and catalogs as values, and as parameters with their keys; look-ups by
                    local name; where remotes may point, and what of the server they may use
    arguments.py    which argument of a call has the wrong type

Every question about an object has one function here. Where Hive itself answers a question by two rules, both are here,
next to each other, with the reason. Nothing in this package does I/O.
"""

from __future__ import annotations

__all__: list[str] = []
