"""Basic statistics in the parameters of tables and partitions, and whether they are accurate.

`numFiles`, `totalSize`, `numRows` and `rawDataSize` are plain parameters. COLUMN_STATS_ACCURATE is a small JSON object
that lists which of them, and which columns' statistics, are still accurate. Every function takes a parameter map and
returns a new one. Nothing here counts files or reads column statistics.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

NUM_FILES = "numFiles"
TOTAL_SIZE = "totalSize"
NUM_ROWS = "numRows"
RAW_DATA_SIZE = "rawDataSize"
NUM_PARTITIONS = "numPartitions"
COLUMN_STATS_ACCURATE = "COLUMN_STATS_ACCURATE"

FAST_STATS = (NUM_FILES, TOTAL_SIZE)
"""The values that a directory listing gives; the metastore computes these itself."""

BASIC_STATS = (NUM_FILES, NUM_ROWS, TOTAL_SIZE, RAW_DATA_SIZE)

DO_NOT_UPDATE_STATS = "DO_NOT_UPDATE_STATS"
"""A table parameter on create, an environment property on alter: do not update the statistics."""
KEEP_STATISTICS: Final = {DO_NOT_UPDATE_STATS: "true"}
"""The environment of an alter that keeps the statistics as they are sent."""

STATS_GENERATED = "STATS_GENERATED"
TASK = "TASK"

Parameters = Mapping[str, str]


class Accuracy(NamedTuple):
    """The content of COLUMN_STATS_ACCURATE: whether the basic statistics are accurate, and which columns' are."""

    basic: bool = False
    columns: frozenset[str] = frozenset()


def read_accuracy(parameters: Parameters) -> Accuracy:
    """Reads the JSON object, or the bare `true` of old Hive; anything else means that nothing is accurate."""
    text = parameters.get(COLUMN_STATS_ACCURATE, "")
    if text.lower() == "true":
        return Accuracy(basic=True)
    try:
        counted = json.loads(text)
    except ValueError:
        return Accuracy()
    if not isinstance(counted, dict):
        return Accuracy()
    columns = counted.get("COLUMN_STATS")
    if not isinstance(columns, dict):
        columns = {}
    return Accuracy(
        basic=_is_true(counted.get("BASIC_STATS")),
        columns=frozenset(name for name, state in columns.items() if _is_true(state)),
    )


def _is_true(state: object) -> bool:
    return str(state).lower() == "true"


def _with_accuracy(parameters: Parameters, accuracy: Accuracy) -> dict[str, str]:
    content: dict[str, object] = {}
    if accuracy.basic:
        content["BASIC_STATS"] = "true"
    if accuracy.columns:
        content["COLUMN_STATS"] = dict.fromkeys(sorted(accuracy.columns), "true")
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return {**parameters, COLUMN_STATS_ACCURATE: text}


def are_basic_stats_accurate(parameters: Parameters) -> bool:
    return read_accuracy(parameters).basic


def are_column_stats_accurate(parameters: Parameters, column: str) -> bool:
    return column in read_accuracy(parameters).columns


def set_basic_state(parameters: Parameters) -> dict[str, str]:
    """Marks the basic statistics as accurate."""
    return _with_accuracy(parameters, read_accuracy(parameters)._replace(basic=True))


def clear_basic_state(parameters: Parameters) -> dict[str, str]:
    """Marks all statistics, also the columns', as no longer accurate because the data changed."""
    return {key: value for key, value in parameters.items() if key != COLUMN_STATS_ACCURATE}


def set_columns_state(parameters: Parameters, columns: Iterable[str]) -> dict[str, str]:
    """Marks the statistics of these columns as accurate."""
    accuracy = read_accuracy(parameters)
    return _with_accuracy(parameters, accuracy._replace(columns=accuracy.columns.union(columns)))


def clear_columns_state(parameters: Parameters, columns: Iterable[str] | None = None) -> dict[str, str]:
    """Marks the statistics of these columns, or of all, as no longer accurate.

    Parameters without a state stay as they are.
    """
    if COLUMN_STATS_ACCURATE not in parameters:
        return dict(parameters)
    accuracy = read_accuracy(parameters)
    kept = frozenset[str]() if columns is None else accuracy.columns.difference(columns)
    return _with_accuracy(parameters, accuracy._replace(columns=kept))


def has_fast_stats(parameters: Parameters) -> bool:
    return all(key in parameters for key in FAST_STATS)


def set_fast_stats(parameters: Parameters, num_files: int, total_size: int, env: Parameters) -> dict[str, str]:
    """Sets the values of a listing.

    Only a task that declares that it gathered statistics keeps them marked as accurate.
    """
    updated = {**parameters, NUM_FILES: str(num_files), TOTAL_SIZE: str(total_size)}
    return set_basic_state(updated) if env.get(STATS_GENERATED) == TASK else clear_basic_state(updated)
