"""Conditions over partitions and tables: trees, grammars, evaluations, and texts for other servers. Pure.

    logic.py      AND, OR, the comparisons and the three truth values, for all of them; patterns.py: LIKE
    hive/         what a metastore takes: the filters of each version of Hive, and the expressions of Hive's clients
    where/        what a program writes behind `where=`: SQL over partition keys of all types
    spark/        Spark's predicates, read and evaluated by `where/`; as filters, by the rules of Spark's HiveShim
    glue.py       Hive's filters in the words of Glue
    refusals.py   what a server's refusal of a filter means

Filters as SQL of the database are in `store/objects/partition_filters.py`. No partition is read here.
"""
