"""The rows of compactions: the queue, and the history of ended ones. Nothing is compacted here.

A compaction stays one row. Its state is Hive's letter: i(nitiated), w(orking), r(eady for cleaning) while it
is in the queue; then s(ucceeded), f(ailed), a (did not initiate), c (refused) or x (aborted).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from metastored.model.names import TableName
from metastored.store.engine.statements import Statement, assigned, column_list, insert_into
from metastored.store.engine.stored import COMPACTION_COUNTER
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import NAMED, named

INITIATED, WORKING, READY = "i", "w", "r"
SUCCEEDED, FAILED, DID_NOT_INITIATE, REFUSED, ABORTED = "s", "f", "a", "c", "x"
QUEUED: Final = (INITIATED, WORKING, READY)


class CompactionRow(NamedTuple):
    """A compaction; times are milliseconds."""

    id: int
    cat: str
    db: str
    tbl: str
    part: str | None
    state: str
    type: int
    properties: str | None = None
    worker_id: str | None = None
    worker_version: str | None = None
    initiator_id: str | None = None
    initiator_version: str | None = None
    start: int | None = None
    end: int | None = None
    run_as: str | None = None
    highest_write_id: int | None = None
    hadoop_job_id: str | None = None
    error_message: str | None = None
    enqueue_time: int | None = None
    retry_retention: int = 0
    cleaner_start: int | None = None
    next_txn_id: int | None = None
    txn_id: int | None = None
    commit_time: int | None = None
    pool: str | None = None
    buckets: int | None = None
    order_by: str | None = None

    @property
    def table(self) -> TableName:
        return TableName(self.cat, self.db, self.tbl)


_COUNTER = f"name = '{COMPACTION_COUNTER}'"
_COLUMNS = column_list(*CompactionRow._fields)
_QUEUED = f"state IN ('{INITIATED}', '{WORKING}', '{READY}')"
"""In exactly the words of the partial index."""
_IN_PART = "(CAST(:part AS TEXT) IS NULL OR part = CAST(:part AS TEXT))"

_WAIT = Statement(f"SELECT value FROM counters WHERE {_COUNTER} FOR UPDATE")
_TAKE = Statement(f"UPDATE counters SET value = value + 1 WHERE {_COUNTER} RETURNING value")
_INSERT = Statement(insert_into("compactions", *CompactionRow._fields))
_FIND = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE id = :id")
_FIND_MANY = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE id IN :ids")
_LOCK = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE id = :id AND {_QUEUED} FOR UPDATE")
_LOCK_MANY = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE id IN :ids AND {_QUEUED} ORDER BY id FOR UPDATE")
_ALL = Statement(f"SELECT {_COLUMNS} FROM compactions ORDER BY id")
_OF_TABLE = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE {NAMED} ORDER BY id")
_OF_TXN = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE txn_id = :txn_id")
_INITIATED = Statement(
    f"SELECT {_COLUMNS} FROM compactions WHERE {_QUEUED} AND state = '{INITIATED}' ORDER BY id FOR UPDATE"
)
_READY = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE {_QUEUED} AND state = '{READY}' ORDER BY id")
_BEGIN = Statement(
    f"""
    UPDATE compactions SET state = '{WORKING}', worker_id = :worker_id, worker_version = :worker_version, start = :start
    WHERE id = :id
    """
)
_REVOKE = Statement(
    f"""
    UPDATE compactions SET state = '{INITIATED}', worker_id = NULL, start = NULL
    WHERE {_QUEUED} AND state = '{WORKING}' AND start < :before
    """
)
_COMPACTED = Statement(f"UPDATE compactions SET state = '{READY}', worker_id = NULL WHERE id = :id AND {_QUEUED}")
_PROGRESS = Statement(
    f"""
    UPDATE compactions SET {assigned("highest_write_id", "run_as", "txn_id", "type")}
    WHERE id = :id AND {_QUEUED}
    """
)
_JOB = Statement(f"UPDATE compactions SET hadoop_job_id = :hadoop_job_id WHERE id = :id AND {_QUEUED}")
_CLEANER = Statement(
    f"UPDATE compactions SET cleaner_start = :cleaner_start WHERE id = :id AND {_QUEUED} AND state = '{READY}'"
)
_END = Statement(
    f"""
    UPDATE compactions SET state = :state, "end" = :end, error_message = :error_message
    WHERE id = :id AND {_QUEUED}
    """
)
_COMMITTED = Statement(
    f"""
    UPDATE compactions SET next_txn_id = :next_txn_id, commit_time = :commit_time
    WHERE txn_id = :txn AND {_QUEUED}
    """
)
_DELETE = Statement("DELETE FROM compactions WHERE id IN :ids")
_DELETE_TYPE = Statement(f"DELETE FROM compactions WHERE {NAMED} AND {_QUEUED} AND type = :type AND {_IN_PART}")
_HISTORY = Statement(f"SELECT {_COLUMNS} FROM compactions WHERE NOT ({_QUEUED}) ORDER BY cat, db, tbl, part, id DESC")
_MIN_HISTORY = Statement("SELECT cat, db, tbl, min(write_id) FROM min_history GROUP BY cat, db, tbl")

_METRIC = "cat = :cat_ AND db = :db_ AND tbl = :tbl_ AND part = :part_ AND type = :type_"
_BETTER_METRIC = Statement(f"UPDATE compaction_metrics SET value = :value, version = version + 1 WHERE {_METRIC}")
_NEW_METRIC = Statement(
    """
    INSERT INTO compaction_metrics (cat, db, tbl, part, type, value, version)
    VALUES (:cat, :db, :tbl, :part, :type, :value, 1)
    """
)
_NO_METRIC = Statement(f"DELETE FROM compaction_metrics WHERE {_METRIC}")
_METRICS = Statement(f"SELECT part, type, value, version FROM compaction_metrics WHERE {NAMED}")


def take_turn(tx: Transaction) -> None:
    """Keeps other transactions from adding a compaction to the queue until this one ends."""
    tx.one(_WAIT)


def take_id(tx: Transaction) -> int:
    row = tx.one(_TAKE)
    assert row is not None  # the counter is part of the schema
    id: int = row[0]
    return id


def insert(tx: Transaction, row: CompactionRow) -> None:
    tx.run(_INSERT, **row._asdict())


def find(tx: Transaction, id: int) -> CompactionRow | None:
    row = tx.one(_FIND, id=id)
    return None if row is None else CompactionRow._make(row)


def find_many(tx: Transaction, ids: Sequence[int]) -> dict[int, CompactionRow]:
    return {row[0]: CompactionRow._make(row) for row in tx.all(_FIND_MANY, ids=tx.list(ids))}


def lock(tx: Transaction, id: int) -> CompactionRow | None:
    """Returns and locks a compaction of the queue."""
    row = tx.one(_LOCK, id=id)
    return None if row is None else CompactionRow._make(row)


def lock_many(tx: Transaction, ids: Sequence[int]) -> dict[int, CompactionRow]:
    """As `lock`, for several compactions."""
    return {row[0]: CompactionRow._make(row) for row in tx.all(_LOCK_MANY, ids=tx.list(ids))}


def all(tx: Transaction) -> list[CompactionRow]:
    """The queue and the history, oldest first."""
    return list(map(CompactionRow._make, tx.all(_ALL)))


def of_table(tx: Transaction, table: TableName) -> list[CompactionRow]:
    return list(map(CompactionRow._make, tx.all(_OF_TABLE, **named(table))))


def of_txn(tx: Transaction, txn_id: int) -> CompactionRow | None:
    """The compaction that runs in a transaction."""
    row = tx.one(_OF_TXN, txn_id=txn_id)
    return None if row is None else CompactionRow._make(row)


def initiated(tx: Transaction) -> list[CompactionRow]:
    """The compactions that wait for a worker, oldest first. Locked, so that two workers do not take the same one."""
    return list(map(CompactionRow._make, tx.all(_INITIATED)))


def begin(tx: Transaction, id: int, worker: str | None, version: str | None, now: int) -> None:
    """Marks a compaction as taken by a worker."""
    tx.run(_BEGIN, id=id, worker_id=worker, worker_version=version, start=now)


def revoke(tx: Transaction, before: int) -> int:
    """Returns compactions to the queue that workers began before a time and never finished."""
    return tx.run(_REVOKE, before=before)


def compacted(tx: Transaction, id: int) -> int:
    """Marks a compaction as done by its worker; the old files may be removed."""
    return tx.run(_COMPACTED, id=id)


def progress(
    tx: Transaction, id: int, *, highest_write_id: int | None, run_as: str | None, txn_id: int | None, type: int
) -> int:
    """Stores the results of a worker's preparation."""
    return tx.run(_PROGRESS, id=id, highest_write_id=highest_write_id, run_as=run_as, txn_id=txn_id, type=type)


def set_job(tx: Transaction, id: int, job: str | None) -> int:
    return tx.run(_JOB, id=id, hadoop_job_id=job)


def cleaning(tx: Transaction, id: int, since: int | None) -> int:
    """A cleaner has begun, or has stopped."""
    return tx.run(_CLEANER, id=id, cleaner_start=since)


def end(tx: Transaction, id: int, state: str, now: int, error: str | None) -> int:
    """Moves a compaction from the queue to the history."""
    return tx.run(_END, id=id, state=state, end=now, error_message=error)


def committed(tx: Transaction, txn_id: int, high_water_mark: int, now: int) -> None:
    """The transaction of a compaction was committed: readers that began up to now may still read the old files."""
    tx.run(_COMMITTED, txn=txn_id, next_txn_id=high_water_mark, commit_time=now)


def delete(tx: Transaction, ids: Sequence[int]) -> None:
    tx.run(_DELETE, ids=tx.list(ids))


def delete_of_type(tx: Transaction, table: TableName, part: str | None, type: int) -> None:
    """Deletes the waiting compactions of one type for a table, or for one of its partitions."""
    tx.run(_DELETE_TYPE, **named(table), part=part, type=type)


def history(tx: Transaction) -> list[CompactionRow]:
    """All ended compactions, by table and partition, the latest first."""
    return list(map(CompactionRow._make, tx.all(_HISTORY)))


def ready_to_clean(tx: Transaction, min_open_txn: int | None, before: int) -> list[CompactionRow]:
    """The compactions whose old files have no readers any more, the lowest of each table or partition.

    A reader holds the files back if it was open before the compaction was committed, or by the write ids that it
    registered. `before` bounds the time of the commit, because old files may have to be kept for a while.
    """
    needed = {TableName(cat, db, tbl): lowest for cat, db, tbl, lowest in tx.all(_MIN_HISTORY)}
    lowest: dict[tuple[TableName, str | None], CompactionRow] = {}
    for row in map(CompactionRow._make, tx.all(_READY)):
        due = row.commit_time is None or row.commit_time < before - row.retry_retention
        seen = min_open_txn is None or row.next_txn_id is None or row.next_txn_id < min_open_txn
        free = row.highest_write_id is None or row.highest_write_id < needed.get(row.table, row.highest_write_id + 1)
        best = lowest.get((row.table, row.part))
        if due and seen and free and (best is None or (row.highest_write_id or 0) < (best.highest_write_id or 0)):
            lowest[row.table, row.part] = row
    return sorted(lowest.values())


# --- metrics --------------------------------------------------------------------------------------------------


def set_metric(tx: Transaction, table: TableName, part: str | None, type: int, value: int) -> None:
    """The latest value of a metric; its version counts the changes."""
    key = {**named(table), "part": part or "", "type": type}
    if not tx.run(_BETTER_METRIC, **{f"{name}_": item for name, item in key.items()}, value=value):
        tx.run(_NEW_METRIC, **key, value=value)


def remove_metric(tx: Transaction, table: TableName, part: str | None, type: int) -> None:
    names = {f"{name}_": item for name, item in named(table).items()}
    tx.run(_NO_METRIC, **names, part_=part or "", type_=type)


def metrics(tx: Transaction, table: TableName) -> list[tuple[str, int, int, int]]:
    """(partition, type, value, version) of a table's metrics."""
    return tx.all(_METRICS, **named(table))
