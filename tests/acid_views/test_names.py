"""The names of the tables of files that views read: they carry a snapshot, and come from clients."""

from __future__ import annotations

import pytest

from metastored.acid_views.names import Content, FileTable, Snapshot, narrowed, parse
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList

SNAPSHOTS = {
    "w0t0": Snapshot(ValidWriteIdList(None, 0), ValidTxnList(0)),
    "w6t14": Snapshot(ValidWriteIdList(None, 6), ValidTxnList(14)),
    "w9o4_6-8a3t20o18": Snapshot(ValidWriteIdList(None, 9, (4, 6, 7, 8), (3,), 4), ValidTxnList(20, (18,), (), 18)),
}


@pytest.mark.parametrize("text", SNAPSHOTS)
def test_a_name_has_the_whole_snapshot(text: str) -> None:
    table = FileTable("orders", Content.DELETES, SNAPSHOTS[text])
    assert table.name == f"orders$deletes${text}"
    assert parse(table.name) == table


def test_the_name_of_a_table_may_have_dollar_signs_itself() -> None:
    table = FileTable("a$rows$w1t1", Content.ROWS, SNAPSHOTS["w0t0"])
    assert parse(table.name) == table


@pytest.mark.parametrize(
    "name",
    ["orders", "orders$rows", "orders$files$w1t1", "$rows$w1t1", "orders$rows$w1", "orders$rows$w1t1 ",
     "o$rows$w1o5_3t1", "o$rows$w1o1-999999999999999999t1", "o$rows$w1o5-3t1", f"o$rows$w{'9' * 19}t1",
     f"o$rows$w1o{'1_' * 5000}1t1",
     "o$rows$w1ot1", "o$rows$w١t1"],
)  # fmt: skip
def test_other_names_are_those_of_ordinary_tables(name: str) -> None:
    assert parse(name) is None


def test_transactions_of_others_do_not_change_a_name() -> None:
    ids = ValidWriteIdList("shop.orders", 6)
    assert str(narrowed(ids, ValidTxnList(100, (90,), (80,), 90), ())) == "w6t0"
    assert str(narrowed(ids, ValidTxnList(200, (), (), 2**63 - 1), ())) == "w6t0"


def test_a_compaction_that_runs_stays_hidden_when_it_has_ended() -> None:
    ids = ValidWriteIdList("shop.orders", 6)
    running = ValidTxnList(30, (12, 25), (), 12)
    snapshot = narrowed(ids, running, (10, 12, 20, 25))
    assert str(snapshot) == "w6t20o12"
    assert [snapshot.transactions.is_valid(each) for each in (10, 12, 20, 25, 31)] == [True, False, True, False, False]
