"""How much a view can be made of: above it, the table is a view that fails with a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

import metastored
from metastored.acid_views import handler
from metastored.acid_views.files import MAX_PATHS, Files, NotShown, TablePlace, files_of
from metastored.acid_views.handler import LISTING_SECONDS, AcidViews
from metastored.acid_views.names import MAX_LENGTH, Snapshot
from metastored.acid_views.tables import view
from metastored.acid_views.texts import MAX_ODD
from metastored.hive.transactions.resolution import Listing, listing_of
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.threads import Pool
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.transactions import (
    GetOpenTxnsResponse,
    GetValidWriteIdsResponse,
    TableValidWriteIds,
)
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

from .test_handler import FULL, anything, text_of

ALL = Snapshot(ValidWriteIdList(None, 10**6), ValidTxnList(0))
ONE = Files(rows=("file:/w/t/day=0/delta_1_1_0",))


def partitioned() -> Table:
    orc = metastored.table("shop.t", {"id": "int"}, format="orc", location="file:/w/t", properties=FULL)
    return replace(orc, partitionKeys=(FieldSchema("day", "int"),))


def elsewhere(number: int) -> list[TablePlace]:
    return [TablePlace(f"file:/other/{at}", (str(at),)) for at in range(number)]


@pytest.mark.slow
def test_a_table_has_at_most_fifty_thousand_directories() -> None:
    def listed(number: int) -> Listing:
        return listing_of((f"delta_{at}_{at}_0/bucket_00000", 10) for at in range(1, number + 1))

    assert len(files_of({TablePlace("file:/w/t"): listed(MAX_PATHS)}, ALL, False).rows) == MAX_PATHS == 50_000
    with pytest.raises(NotShown, match="more than 50,000 directories; compact it"):
        files_of({TablePlace("file:/w/t"): listed(MAX_PATHS + 1)}, ALL, False)


def test_at_most_five_hundred_partitions_are_elsewhere() -> None:
    assert MAX_ODD == 500
    assert "THEN '499'" in text_of(view(partitioned(), elsewhere(500), ONE, ALL))
    with pytest.raises(NotShown, match="501 of its partitions are not below file:/w/t"):
        view(partitioned(), elsewhere(501), ONE, ALL)


def test_two_partitions_with_one_path_are_not_shown() -> None:
    places = [TablePlace("hdfs://a/x", ("1",)), TablePlace("hdfs://b/x", ("2",))]
    with pytest.raises(NotShown, match="two of its partitions have the same path"):
        view(partitioned(), places, ONE, ALL)


def test_the_name_of_a_snapshot_has_at_most_four_thousand_characters() -> None:
    def aborted(ids: Sequence[int]) -> Snapshot:
        return Snapshot(ValidWriteIdList(None, 10**6, (), tuple(ids)), ValidTxnList(0))

    assert MAX_LENGTH == 4000
    assert "-90000" in text_of(view(partitioned(), [], ONE, aborted(range(1, 90_001))))
    with pytest.raises(NotShown, match="too many of its write ids are open or aborted; compact it"):
        view(partitioned(), [], ONE, aborted(range(1, 4000, 2)))


@dataclass
class Slow:
    """A metastore with a hundred partitions, on a disk that needs ten seconds for each of them."""

    now: float = 0.0
    listed: list[str] = field(default_factory=list)

    async def handle(self, call: Call, session: Session) -> Reply:
        values = {
            "get_table": partitioned(),
            "get_open_txns": GetOpenTxnsResponse(txn_high_water_mark=1, open_txns=frozenset(), abortedBits=b""),
            "get_valid_write_ids": GetValidWriteIdsResponse(
                tblValidWriteIds=(TableValidWriteIds("shop.t", 1, (), None, b""),)
            ),
            "get_partitions": tuple(
                Partition(values=(str(at),), sd=StorageDescriptor(location=f"file:/w/t/day={at}")) for at in range(100)
            ),
        }
        return Reply.of(call.method, values[call.method.name])

    def listing(self, uri: str) -> Listing:
        self.now += 10
        self.listed.append(uri)
        return listing_of([("delta_1_1_0/bucket_00000", 10)])


def test_directories_are_listed_for_two_minutes() -> None:
    slow, pool = Slow(), Pool(1)
    views = AcidViews(slow, slow, pool, anything, lambda session: True, clock=lambda: slow.now)
    call = Call(METHODS["get_table"], ("shop", "t"))
    try:
        reply = asyncio.run(views.handle(call, Session()))
    finally:
        pool.close()
    assert LISTING_SECONDS == 120
    assert len(slow.listed) == 13
    assert "its 100 directories could not be listed within 120 s" in text_of(reply.value(call.method))


def test_the_listings_of_many_tables_are_forgotten_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MAX_KEPT", 150)
    slow, pool = Slow(), Pool(1)
    views = AcidViews(slow, slow, pool, anything, lambda session: True, clock=lambda: 0.0)
    call = Call(METHODS["get_table"], ("shop", "t"))
    try:
        for _ in range(2):
            asyncio.run(views.handle(call, Session()))
    finally:
        pool.close()
    assert len(slow.listed) == 200, "one hundred directories with a file each are more than may be kept"
