"""Statistics in parameters: the keys of a table's or partition's basic statistics, and whether to trust
them.

`numFiles`, `totalSize`, `numRows` and `rawDataSize` are plain parameters. COLUMN_STATS_ACCURATE is a small
JSON object that says for which of them, and for which columns' statistics, the data has not changed since.
Every function takes a parameter map and returns a new one. Nothing here counts files or reads column
statistics.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

NUM_FILES = "numFiles"
TOTAL_SIZE = "totalSize"
NUM_ROWS = "numRows"
RAW_DATA_SIZE = "rawDataSize"
NUM_PARTITIONS = "numPartitions"
COLUMN_STATS_ACCURATE = "COLUMN_STATS_ACCURATE"

FAST_STATS = (NUM_FILES, TOTAL_SIZE)
"""What a directory listing gives; the metastore gathers these itself."""

BASIC_STATS = (NUM_FILES, NUM_ROWS, TOTAL_SIZE, RAW_DATA_SIZE)

DO_NOT_UPDATE_STATS = "DO_NOT_UPDATE_STATS"
"""A table parameter on create, an environment property on alter: leave the statistics alone."""

STATS_GENERATED = "STATS_GENERATED"
TASK = "TASK"

Parameters = Mapping[str, str]


class Accuracy(NamedTuple):
    """What COLUMN_STATS_ACCURATE says: whether the basic statistics hold, and which columns' do."""

    basic: bool = False
    columns: frozenset[str] = frozenset()


def read_accuracy(parameters: Parameters) -> Accuracy:
    """Read the JSON object, the bare `true` of old Hive, and take anything else for no accuracy at all."""
    text = parameters.get(COLUMN_STATS_ACCURATE, "")
    if text.lower() == "true":
        return Accuracy(basic=True)
    try:
        found = json.loads(text)
    except ValueError:
        return Accuracy()
    if not isinstance(found, dict):
        return Accuracy()
    columns = found.get("COLUMN_STATS")
    if not isinstance(columns, dict):
        columns = {}
    return Accuracy(
        basic=_is_true(found.get("BASIC_STATS")),
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
    """Say that the basic statistics hold."""
    return _with_accuracy(parameters, read_accuracy(parameters)._replace(basic=True))


def clear_basic_state(parameters: Parameters) -> dict[str, str]:
    """Say that the data changed: nothing holds any more, the columns' statistics least of all."""
    return {key: value for key, value in parameters.items() if key != COLUMN_STATS_ACCURATE}


def set_columns_state(parameters: Parameters, columns: Iterable[str]) -> dict[str, str]:
    """Say that the statistics of these columns hold."""
    accuracy = read_accuracy(parameters)
    return _with_accuracy(parameters, accuracy._replace(columns=accuracy.columns.union(columns)))


def clear_columns_state(parameters: Parameters, columns: Iterable[str] | None = None) -> dict[str, str]:
    """Say that the statistics of these columns, or of all, no longer hold.

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
    """Put in what a listing found.

    Only a task that says it gathered statistics leaves them marked as accurate.
    """
    updated = {**parameters, NUM_FILES: str(num_files), TOTAL_SIZE: str(total_size)}
    return set_basic_state(updated) if env.get(STATS_GENERATED) == TASK else clear_basic_state(updated)
