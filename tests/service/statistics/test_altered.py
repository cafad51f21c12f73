"""Basic statistics that writers of transactional tables set by alter calls with a snapshot."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.partitions import AlterPartitionsRequest
from metastored.wire.generated.tables import (
    AlterTableRequest,
    ClientCapabilities,
    ClientCapability,
    GetTableRequest,
)
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import DB, add_partitions, make_table

ACCURATE = "COLUMN_STATS_ACCURATE"
ACID = {"transactional": "true", "transactional_properties": "insert_only"}
AS_SENT = EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
BASIC = '{"BASIC_STATS":"true"}'


def snapshot(mark: int, opened: str = "") -> str:
    """A list of write ids."""
    return f"{DB}.t:{mark}:{opened.partition(',')[0] or 2**63 - 1}:{opened}:"


def table(metastore: Metastore) -> Any:
    able = ClientCapabilities(values=(ClientCapability.INSERT_ONLY_TABLES,))
    return metastore.call("get_table_req", GetTableRequest(dbName=DB, tblName="t", capabilities=able)).table


def alter_table(metastore: Metastore, rows: int, write_id: int, seen: str | None) -> dict[str, str]:
    now = table(metastore)
    changed = replace(now, parameters={**now.parameters, "numRows": str(rows), ACCURATE: BASIC})
    metastore.call(
        "alter_table_req",
        AlterTableRequest(
            dbName=DB, tableName="t", table=changed, environmentContext=AS_SENT, writeId=write_id, validWriteIdList=seen
        ),
    )
    found: dict[str, str] = table(metastore).parameters
    return found


def alter_partition(metastore: Metastore, rows: int, write_id: int, seen: str | None) -> dict[str, str]:
    now = metastore.call("get_partition", DB, "t", ("1",))
    changed = replace(now, parameters={**(now.parameters or {}), "numRows": str(rows), ACCURATE: BASIC})
    request = AlterPartitionsRequest(
        dbName=DB, tableName="t", partitions=(changed,), environmentContext=AS_SENT, writeId=write_id,
        validWriteIdList=seen,
    )  # fmt: skip
    metastore.call("alter_partitions_req", request)
    found: dict[str, str] = metastore.call("get_partition", DB, "t", ("1",)).parameters
    return found


def test_a_writer_that_sees_the_last_write_keeps_the_statistics_of_a_table_accurate(metastore: Metastore) -> None:
    make_table(metastore, parameters=ACID)
    assert alter_table(metastore, 5, 1, snapshot(1))[ACCURATE] == BASIC
    assert alter_table(metastore, 8, 2, snapshot(2))[ACCURATE] == BASIC


def test_of_two_concurrent_writers_the_second_leaves_the_statistics_not_accurate(metastore: Metastore) -> None:
    make_table(metastore, parameters=ACID)
    alter_table(metastore, 5, 1, snapshot(2, "2"))
    found = alter_table(metastore, 3, 2, snapshot(2, "1"))
    assert ACCURATE not in found and found["numRows"] == "3"


def test_the_same_is_checked_for_partitions(metastore: Metastore) -> None:
    make_table(metastore, keys=("ds",), parameters=ACID)
    add_partitions(metastore, "t", "1")
    assert alter_partition(metastore, 5, 1, snapshot(2, "2"))[ACCURATE] == BASIC
    assert ACCURATE not in alter_partition(metastore, 3, 2, snapshot(2, "1"))
    assert alter_partition(metastore, 8, 3, snapshot(3))[ACCURATE] == BASIC


def test_without_a_snapshot_parameters_are_stored_as_they_are_sent(metastore: Metastore) -> None:
    make_table(metastore, parameters=ACID)
    alter_table(metastore, 5, 1, snapshot(1))
    assert alter_table(metastore, 6, 2, None)[ACCURATE] == BASIC
