"""Tables whose scans the server plans, and their plans, by pyiceberg and by plain HTTP."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.table import DataScan, FileScanTask, Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    UUIDType,
)

from metastored.testing import RunningServer
from tests.iceberg.rest_server import Reply, Rest, rest_catalog

COLUMNS = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "name", StringType(), required=False),
    NestedField(3, "day", DateType(), required=False),
    NestedField(4, "at", TimestampType(), required=False),
    NestedField(5, "price", DecimalType(9, 2), required=False),
    NestedField(6, "key", UUIDType(), required=False),
    NestedField(7, "ratio", DoubleType(), required=False),
    NestedField(8, "flag", BooleanType(), required=False),
    NestedField(9, "raw", BinaryType(), required=False),
)


def rows(first: int, number: int = 4) -> pa.Table:
    """Rows with a value in each column; all values but the flag grow with the id."""
    ids = range(first, first + number)
    columns: list[Any] = [
        pa.array(ids, pa.int64()),
        pa.array([f"n{each:04d}" for each in ids], pa.string()),
        pa.array([date(2020, 1, 1) + timedelta(each) for each in ids], pa.date32()),
        pa.array([datetime(2020, 1, 1, 12) + timedelta(hours=each) for each in ids], pa.timestamp("us")),
        pa.array([Decimal(each) / 4 for each in ids], pa.decimal128(9, 2)),
        pa.array([UUID(int=each).bytes for each in ids], pa.binary(16)).cast(pa.uuid()),
        pa.array([each / 2 for each in ids], pa.float64()),
        pa.array([each % 2 == 0 for each in ids], pa.bool_()),
        pa.array([bytes([each % 256]) for each in ids], pa.binary()),
    ]
    return pa.Table.from_arrays(columns, names=COLUMNS.column_names)


def served(server: RunningServer, namespace: str, *who: str) -> Table:
    """A table whose scans the server plans."""
    found: Table = rest_catalog(server, *who, **{"scan-planning-mode": "server"}).load_table((namespace, "t"))
    return found


def three_files(server: RunningServer, namespace: str) -> Table:
    """A table of three files without partitions, with the ids from 0, 100 and 200."""
    made = rest_catalog(server).create_table((namespace, "t"), COLUMNS)
    for first in (0, 100, 200):
        made.append(rows(first))
    return served(server, namespace)


def shown(tasks: Any) -> dict[str, set[str]]:
    """The paths of files, with those of the delete files of each."""
    found: list[FileScanTask] = list(tasks)
    by_path = {each.file.file_path: {delete.file_path for delete in each.delete_files} for each in found}
    assert len(by_path) == len(found), "a file is planned twice"
    return by_path


def same(table: Table, filter: str = "true", **scan: Any) -> int:
    """How many files a scan has, which are the same for the server and for pyiceberg."""
    scanned: DataScan = table.scan(row_filter=filter, **scan)
    assert scanned._should_use_server_side_planning()
    expected = shown(scanned._plan_files_local())
    assert shown(scanned.plan_files()) == expected
    return len(expected)


def request_plan(rest: Rest, namespace: str, body: Any) -> Reply:
    return rest.post(f"/namespaces/{namespace}/tables/t/plan", body)


def request_tasks(rest: Rest, namespace: str, token: Any) -> Reply:
    return rest.post(f"/namespaces/{namespace}/tables/t/tasks", {"plan-task": token})


def plan(rest: Rest, namespace: str, **request: Any) -> Any:
    """The plan of a scan, as JSON."""
    reply = request_plan(rest, namespace, {name.replace("_", "-"): value for name, value in request.items()})
    assert reply.status == 200, reply
    assert reply.json["status"] == "completed" and reply.json["plan-id"]
    return reply.json


def paths(reply: Any) -> list[str]:
    return sorted(each["data-file"]["file-path"] for each in reply.get("file-scan-tasks", []))


def fetched(rest: Rest, namespace: str, reply: Any) -> list[str]:
    """The files of a plan with those of all its tasks, sorted."""
    found, tasks = paths(reply), list(reply.get("plan-tasks", []))
    while tasks:
        more = request_tasks(rest, namespace, tasks.pop(0))
        assert more.status == 200, more
        found += paths(more.json)
        tasks += more.json.get("plan-tasks", [])
    return sorted(found)
