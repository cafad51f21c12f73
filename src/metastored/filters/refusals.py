"""Refused partition filters: which messages of a server are about a filter, and the sentence for the caller. Pure.

A server words a refusal as its parser does (`NoViableAltException(28@[])`). The client parses filters itself
(`filters/where`) and says where a filter is wrong and what was expected.
"""

from __future__ import annotations

from metastored.model.names import TableName


def is_about_filters(message: str | None) -> bool:
    """Whether a server's message means that it could not use a filter."""
    text = message or ""
    return "parsing partition filter" in text or "is not a partitioning key" in text or "Filtering is supported" in text


def refused(where: str, table: TableName, reason: object) -> str:
    """The sentence about a filter that cannot be used: which filter, over which table, and why."""
    return f"the filter {where!r} over the partitions of {table} is refused: {reason}"
