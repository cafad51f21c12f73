"""The versions of Hive and the twelve features by which they differ. Pure.

Features are not derived from the version of a server: each feature names a harmless read, and a server that has this
method has the feature. The version is only used in error messages.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from metastored.wire.generated import STRUCTS
from metastored.wire.methods import Method
from metastored.wire.types import VERSIONS

_REASON: Final = re.compile(r"Invalid method name: '[^']*' \((.*)\)", re.DOTALL)
"""The reason that some servers add to Apache's message."""


class HiveVersion(NamedTuple):
    """A release of Hive. The last number is not always known."""

    major: int
    minor: int
    patch: int | None = None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}" + ("" if self.patch is None else f".{self.patch}")


def parse_version(text: str | None) -> HiveVersion | None:
    """Parses `4.0.1-SNAPSHOT` and similar strings; None if it is not a version."""
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text or "")
    if match is None:
        return None
    return HiveVersion(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)


class Feature(NamedTuple):
    """A feature: its name, a description, the first version that has it, and the read that detects it."""

    name: str
    words: str
    since: HiveVersion
    method: str
    args: tuple[Any, ...]


def _request(name: str, *args: Any) -> Any:
    return STRUCTS[name](*args)


FEATURES: Final = {
    feature.name: feature
    for feature in (
        Feature("databases", "databases", HiveVersion(2, 0), "get_all_databases", ()),
        Feature("tables", "tables", HiveVersion(2, 0), "get_all_tables", ("default",)),
        Feature("partitions", "partitions", HiveVersion(2, 0), "get_partition_names", ("default", "none", 1)),
        Feature(
            "acid_transactions",
            "transactions with write ids of a table",
            HiveVersion(3, 0),
            "get_valid_write_ids",
            (_request("GetValidWriteIdsRequest", (), "0:9223372036854775807::"),),
        ),
        Feature("lock_service", "locks", HiveVersion(2, 0), "show_locks", (_request("ShowLocksRequest"),)),
        Feature(
            "table_statistics",
            "column statistics of several columns in one call",
            HiveVersion(2, 0),
            "get_table_statistics_req",
            (_request("TableStatsRequest", "default", "none", ()),),
        ),
        Feature(
            "constraints",
            "NOT NULL, UNIQUE, DEFAULT and CHECK constraints",
            HiveVersion(3, 0),
            "get_not_null_constraints",
            (_request("NotNullConstraintsRequest", "hive", "default", "none"),),
        ),
        Feature(
            "materialized_views",
            "materialized views",
            HiveVersion(3, 0),
            "get_materialized_views_for_rewriting",
            ("default",),
        ),
        Feature(
            "compaction_history",
            "the history of compactions",
            HiveVersion(2, 0),
            "show_compact",
            (_request("ShowCompactRequest"),),
        ),
        Feature(
            "schema_registry",
            "the schema registry",
            HiveVersion(3, 0),
            "get_schemas_by_cols",
            (_request("FindSchemasByColsRqst", "none", "none", None),),
        ),
        Feature(
            "bulk_operations",
            "many tables in one call, with the client's capabilities",
            HiveVersion(2, 3),
            "get_table_objects_by_name_req",
            (_request("GetTablesRequest", "default", ()),),
        ),
        Feature(
            "partition_batching",
            "many partitions by their names in one call",
            HiveVersion(2, 0),
            "get_partitions_by_names",
            ("default", "none", ()),
        ),
    )
}


def missing_sentence(feature: Feature, server: str, uri: str) -> str:
    """The error for a missing feature: names the feature, the version of the server and the version that has it."""
    return (
        f"the metastore at {uri} is {server} and has no {feature.method}, so it does not support {feature.words}. "
        f"Hive has this since {feature.since}: connect to such a server, or do without."
    )


def missing_method(method: Method, uri: str, message: str) -> str:
    """The error for a missing method: names it, the server with its reason, and the versions that have it."""
    first, last = method.versions[0], method.versions[-1]
    if first == VERSIONS[0] and last == VERSIONS[-1]:
        which = "every version of Hive from 2.3 on has it"
    elif last == VERSIONS[-1]:
        which = f"Hive has it since {first}" if first != last else "no release of Hive has it yet"
    else:
        which = f"Hive has it from {first} to {last}" if first != last else f"only Hive {first} has it"
    reason = _REASON.fullmatch(message)
    added = f" ({reason[1]})" if reason is not None else ""
    return f"the metastore at {uri} has no {method.name}{added}; {which}"
