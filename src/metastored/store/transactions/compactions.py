"""The rows of compactions: the queue, and the history of ended ones. Nothing is compacted here.

A compaction stays one row. Its state is Hive's letter: i(nitiated), w(orking), r(eady for cleaning) while it
is in the queue; then s(ucceeded), f(ailed), a (did not initiate), c (refused) or x (aborted).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa

from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import named

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


_c, _counter, _h, _m = schema.compactions.c, schema.counters.c, schema.min_history.c, schema.compaction_metrics.c
_COUNTER = _counter.name == sa.literal_column(f"'{schema.COMPACTION_COUNTER}'")
_THIS = _c.id == sa.bindparam("id")
_NAMED = sa.and_(_c.cat == sa.bindparam("cat"), _c.db == sa.bindparam("db"), _c.tbl == sa.bindparam("tbl"))
# In exactly the words of the partial index.
_QUEUED = _c.state.in_([sa.literal_column(f"'{state}'") for state in QUEUED])
_ROW = sa.select(*(_c[name] for name in CompactionRow._fields))


def _is(state: str) -> sa.ColumnElement[bool]:
    return _c.state == sa.literal_column(f"'{state}'")


_WAIT = Statement(sa.select(_counter.value).where(_COUNTER).with_for_update())
_TAKE = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.literal_column("1"))
    .where(_COUNTER)
    .returning(_counter.value)
)
_INSERT = Statement(sa.insert(schema.compactions).values(bound(*CompactionRow._fields)))
_FIND = Statement(_ROW.where(_THIS))
_FIND_MANY = Statement(_ROW.where(in_list(_c.id, "ids")))
_LOCK = Statement(_ROW.where(_THIS, _QUEUED).with_for_update())
_LOCK_MANY = Statement(_ROW.where(in_list(_c.id, "ids"), _QUEUED).order_by(_c.id).with_for_update())
_ALL = Statement(_ROW.order_by(_c.id))
_OF_TABLE = Statement(_ROW.where(_NAMED).order_by(_c.id))
_OF_TXN = Statement(_ROW.where(_c.txn_id == sa.bindparam("txn_id")))
_INITIATED = Statement(_ROW.where(_QUEUED, _is(INITIATED)).order_by(_c.id).with_for_update())
_READY = Statement(_ROW.where(_QUEUED, _is(READY)).order_by(_c.id))
_BEGIN = Statement(
    sa.update(schema.compactions)
    .values(**bound("worker_id", "worker_version", "start"), state=sa.literal_column(f"'{WORKING}'"))
    .where(_THIS)
)
_REVOKE = Statement(
    sa.update(schema.compactions)
    .values(worker_id=sa.null(), start=sa.null(), state=sa.literal_column(f"'{INITIATED}'"))
    .where(_QUEUED, _is(WORKING), _c.start < sa.bindparam("before"))
)
_COMPACTED = Statement(
    sa.update(schema.compactions)
    .values(worker_id=sa.null(), state=sa.literal_column(f"'{READY}'"))
    .where(_THIS, _QUEUED)
)
_PROGRESS = Statement(
    sa.update(schema.compactions).values(bound("highest_write_id", "run_as", "txn_id", "type")).where(_THIS, _QUEUED)
)
_JOB = Statement(sa.update(schema.compactions).values(bound("hadoop_job_id")).where(_THIS, _QUEUED))
_CLEANER = Statement(sa.update(schema.compactions).values(bound("cleaner_start")).where(_THIS, _QUEUED, _is(READY)))
_END = Statement(sa.update(schema.compactions).values(bound("state", "end", "error_message")).where(_THIS, _QUEUED))
_COMMITTED = Statement(
    sa.update(schema.compactions)
    .values(bound("next_txn_id", "commit_time"))
    .where(_c.txn_id == sa.bindparam("txn"), _QUEUED)
)
_DELETE = Statement(sa.delete(schema.compactions).where(in_list(_c.id, "ids")))
_PART = sa.cast(sa.bindparam("part"), sa.Text())
_DELETE_TYPE = Statement(
    sa.delete(schema.compactions).where(
        _NAMED, _QUEUED, _c.type == sa.bindparam("type"), sa.or_(_PART.is_(None), _c.part == _PART)
    )
)
_HISTORY = Statement(_ROW.where(~_QUEUED).order_by(_c.cat, _c.db, _c.tbl, _c.part, _c.id.desc()))
_MIN_HISTORY = Statement(sa.select(_h.cat, _h.db, _h.tbl, sa.func.min(_h.write_id)).group_by(_h.cat, _h.db, _h.tbl))

_METRIC = sa.and_(
    _m.cat == sa.bindparam("cat_"),
    _m.db == sa.bindparam("db_"),
    _m.tbl == sa.bindparam("tbl_"),
    _m.part == sa.bindparam("part_"),
    _m.type == sa.bindparam("type_"),
)
_BETTER_METRIC = Statement(
    sa.update(schema.compaction_metrics)
    .values(value=sa.bindparam("value"), version=_m.version + sa.literal_column("1"))
    .where(_METRIC)
)
_NEW_METRIC = Statement(
    sa.insert(schema.compaction_metrics).values(
        **bound("cat", "db", "tbl", "part", "type", "value"), version=sa.literal_column("1")
    )
)
_NO_METRIC = Statement(sa.delete(schema.compaction_metrics).where(_METRIC))
_METRICS = Statement(
    sa.select(_m.part, _m.type, _m.value, _m.version).where(
        _m.cat == sa.bindparam("cat"), _m.db == sa.bindparam("db"), _m.tbl == sa.bindparam("tbl")
    )
)


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
