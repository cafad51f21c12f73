"""Where a partition filter is wrong, and what was expected there. Pure.

Hive words it as its parser does (`NoViableAltException(28@[])`). Here the filter is read again by the grammar of the
newest Hive, which knows more than the older ones and says what it expected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from metastored.hive.filters.parser import parse_filter
from metastored.hive.filters.tree import FilterError, FilterKeyError, FilterSyntaxError, predicate
from metastored.hive.generation import Generation
from metastored.wire.generated.common import Table

NEWEST: Final = Generation.HIVE_4_2
_PREFIX: Final = re.compile(r"^Error parsing partition filter ?[:;]? *")
_PLACE: Final = re.compile(r"^line (\d+):(\d+) ")


def is_about_filters(message: str | None) -> bool:
    """Whether a server's message says that it could not use a filter."""
    text = message or ""
    return "parsing partition filter" in text or "is not a partitioning key" in text or "Filtering is supported" in text


def fault(where: str, table: Table) -> str | None:
    """What is wrong with a filter over a table's partitions, where, and what would work; None where nothing is."""
    keys = tuple((key.name or "", key.type or "") for key in table.partitionKeys or ())
    try:
        predicate(parse_filter(where, NEWEST), keys, NEWEST)
    except FilterSyntaxError as error:
        return _placed(where, _PREFIX.sub("", str(error)))
    except FilterKeyError as error:
        return f"{error}; the partition keys are {_listed(keys)}"
    except FilterError as error:
        return str(error)
    return None


def explained(where: str, table: Table, refusal: str) -> str:
    """A sentence about a filter that was refused: which, over what, why, and where."""
    found = fault(where, table)
    old = (
        f"; the newest Hive takes it, this server says: {refusal}"
        if found is None
        else f" (the server says: {refusal})"
    )
    return (
        f"the filter {where!r} over the partitions of {table.dbName}.{table.tableName} is refused: {found or ''}{old}"
    )


def _placed(where: str, reason: str) -> str:
    """The reason with its place in characters, and the text that stands there."""
    match = _PLACE.match(reason)
    if match is None:
        return reason
    lines = where.split("\n")
    line, column = int(match[1]), int(match[2])
    there = lines[line - 1][column:] if line <= len(lines) else ""
    place = f"at character {sum(len(each) + 1 for each in lines[: line - 1]) + column + 1}"
    shown = f" ({there[:20]!r})" if there else " (the end)"
    return f"{place}{shown}: {reason[match.end() :]}"


def _listed(keys: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({type})" for name, type in keys) or "none: it has no partitions"
