"""The filters of `where=`: SQL conditions over the partition keys of a table, of all types. Pure.

    tree.py         the parsed filter
    parser.py       from text to tree; errors have a position and say what was expected
    evaluation.py   what a filter means for the values of one partition
    functions.py    the functions that filters can call
    pushdown.py     the part of a filter that every metastore's filter language can express

The filter language of a metastore lacks decimals, doubles, booleans, NOT, functions and, before Hive 4, IN; LIKE has
patterns of its own there. The client sends the part that a server can evaluate and evaluates the complete filter on the
partitions that the server returns. What a server itself accepts is in `filters/hive`.
"""

from __future__ import annotations

from metastored.filters.logic import PartitionPredicate
from metastored.filters.where.evaluation import bind
from metastored.filters.where.parser import FilterFault, parse
from metastored.filters.where.pushdown import Pushed, pushed
from metastored.filters.where.tree import Condition

__all__ = ["Condition", "FilterFault", "PartitionPredicate", "Pushed", "bind", "parse", "pushed"]
