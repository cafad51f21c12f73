"""Write ids: the numbers under which transactions write to a table, and which of them a snapshot sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from metastored.errors import MetaException, MetastoreError
from metastored.hive.generation import Generation
from metastored.hive.names import FullNameError, read_full_name
from metastored.hive.transactions.snapshots import NO_OPEN_ID, SnapshotSyntaxError, ValidTxnList, ValidWriteIdList
from metastored.hive.transactions.written_snapshots import WrittenTxnList
from metastored.model.names import TableName
from metastored.service.core.changes import record
from metastored.service.core.context import Context, Encoded
from metastored.service.core.internal import internal_error
from metastored.service.core.serving import method, short
from metastored.service.core.write_id_cache import NONE
from metastored.service.transactions.compactions import enqueue
from metastored.service.transactions.state import (
    MAX_SEED,
    REPLICATED_WRITE_ID,
    abort,
    millis,
    requested_table,
    require_open,
)
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.transactions import transactions, write_ids
from metastored.store.transactions.transactions import TxnState
from metastored.wire.codec import binary
from metastored.wire.generated.common import CompactionType
from metastored.wire.generated.compaction import CompactionRequest
from metastored.wire.generated.transactions import (
    AllocateTableWriteIdsRequest,
    AllocateTableWriteIdsResponse,
    GetValidWriteIdsRequest,
    GetValidWriteIdsResponse,
    MaxAllocatedTableWriteIdRequest,
    MaxAllocatedTableWriteIdResponse,
    ReplTblWriteIdStateRequest,
    SeedTableWriteIdsRequest,
    TableValidWriteIds,
    TxnToWriteId,
    TxnType,
)
from metastored.wire.methods import METHODS

Snapshot = ValidTxnList | WrittenTxnList


def full_name(ctx: Context, name: str) -> TableName:
    """A table written as `db.table` or `catalog.db.table`."""
    try:
        return TableName(*read_full_name(name))
    except FullNameError as error:
        raise MetaException(str(error)) from None


# --- allocating -----------------------------------------------------------------------------------------------------


@method
def allocate_table_write_ids(ctx: Context, rqst: AllocateTableWriteIdsRequest) -> AllocateTableWriteIdsResponse:
    """One write id for each transaction; a transaction that has one of this table already keeps it."""
    table = requested_table(ctx, rqst.dbName, rqst.tableName)
    sources = rqst.srcTxnToWriteIdList or ()
    policy = rqst.replPolicy
    if (policy is None) != (not sources) or (policy is None and not rqst.txnIds):
        raise internal_error("allocate_table_write_ids")

    def allocate(tx: Transaction) -> dict[int, int]:
        txns: Sequence[int] = rqst.txnIds or ()
        first = None
        if policy is not None:
            known = transactions.replicated(tx, policy, [item.txnId or 0 for item in sources])
            if len(known) != len(sources):
                # The event that ends them was processed before.
                return {}
            txns, first = list(known.values()), sources[0].writeId
        txns = sorted(set(txns))
        _require_writers(tx, txns)
        if rqst.reallocate:
            write_ids.take_back(tx, table, txns)
        existing = write_ids.of_txns(tx, table, txns)
        missing = [txn for txn in txns if txn not in existing]
        if missing:
            new = dict(zip(missing, write_ids.allocate(tx, table, missing, first=first), strict=True))
            existing |= new
            record(
                ctx,
                tx,
                "ALLOC_WRITE_ID_EVENT",
                table.database_name,
                table.table,
                [("txns", _listed(new)), ("write_ids", _listed(new.values()))],
            )
        return {txn: existing[txn] for txn in txns}

    pairs = ctx.database.run(allocate)
    return AllocateTableWriteIdsResponse(
        txnToWriteIds=tuple(TxnToWriteId(txnId=txn, writeId=write_id) for txn, write_id in pairs.items())
    )


def _listed(ids: Iterable[int]) -> bytes:
    return ",".join(map(str, ids)).encode()


def _require_writers(tx: Transaction, txns: Sequence[int]) -> None:
    """Raises an error unless every one of them is open and may write."""
    txns_by_id = transactions.lock_many(tx, txns)
    for txn in txns:
        state = txns_by_id.get(txn)
        if state is None or state.state != TxnState.OPEN or state.type == TxnType.READ_ONLY:
            raise internal_error("allocate_table_write_ids")


@method
def get_max_allocated_table_write_id(
    ctx: Context, rqst: MaxAllocatedTableWriteIdRequest
) -> MaxAllocatedTableWriteIdResponse:
    counter = write_ids.counter(ctx.reader(), requested_table(ctx, rqst.dbName, rqst.tableName))
    return MaxAllocatedTableWriteIdResponse(maxWriteId=0 if counter is None else counter.next - 1)


@method
def seed_write_id(ctx: Context, rqst: SeedTableWriteIdsRequest) -> None:
    """The write ids of a table that becomes transactional begin after those in its files."""
    table, seed = requested_table(ctx, rqst.dbName, rqst.tableName), rqst.seedWriteId or 0
    if seed > MAX_SEED:
        raise MetaException(
            f"Invalid writeId seed {seed}; at most {MAX_SEED} is accepted, so that there are ids after it"
        )
    try:
        ctx.database.run(lambda tx: write_ids.seed(tx, table, seed + 1), attempts=1)
    except ConstraintViolated:
        raise MetaException(
            f"{table.database}.{table.table} has write ids already;"
            " they can be seeded only before the first is allocated"
        ) from None


# --- snapshots --------------------------------------------------------------------------------------------------


@method
def get_valid_write_ids(ctx: Context, rqst: GetValidWriteIdsRequest) -> Encoded:
    """The write ids that a reader of these tables sees, according to the transactions that it sees."""
    names, text = rqst.fullTableNames or (), rqst.validTxnList
    tables = [(name, full_name(ctx, name)) for name in names]
    reply = partial(_valid, ctx, rqst, tables)
    if not text:
        return Encoded(reply())
    # The text contains the state of the transactions, so only the tables' own ids can change.
    counters = [write_ids.counter(ctx.reader(), table) for _, table in tables]

    def compute() -> tuple[bytes, int]:
        encoded = reply()
        return encoded, len(text) + sum(map(len, names)) + len(encoded)

    return Encoded(ctx.service.replies.get((names, ctx.generation), (counters, text), compute))


@short(get_valid_write_ids)
def _known_write_ids(ctx: Context, rqst: GetValidWriteIdsRequest) -> Encoded | None:
    """The reply for a table if it is in the cache: the same transactions are visible, and nobody has written to it."""
    names, text = rqst.fullTableNames or (), rqst.validTxnList
    if len(names) != 1 or not text:
        return None
    counters = [write_ids.counter(ctx.reader(), full_name(ctx, names[0]))]
    known = ctx.service.replies.known((names, ctx.generation), (counters, text))
    return None if known is None else Encoded(known)


def _valid(ctx: Context, rqst: GetValidWriteIdsRequest, tables: list[tuple[str, TableName]]) -> bytes:
    """The encoded reply."""
    with reading_snapshots(), ctx.reading() as tx:
        seen = _snapshot(tx, rqst, tables)
        valid = [valid_write_ids(ctx, tx, seen, table) for _, table in tables]
    response = GetValidWriteIdsResponse(
        tblValidWriteIds=tuple(
            _valid_write_ids(name, snapshot) for (name, _), snapshot in zip(tables, valid, strict=True)
        )
    )
    return binary.encode_result(METHODS["get_valid_write_ids"], response)


def _snapshot(tx: Transaction, rqst: GetValidWriteIdsRequest, tables: list[tuple[str, TableName]]) -> Snapshot:
    if rqst.validTxnList:
        return WrittenTxnList(rqst.validTxnList)
    own = None
    if rqst.writeId:
        own = write_ids.txn_of(tx, tables[0][1], rqst.writeId) if tables else None
        if own is None:
            name = tables[0][0] if tables else "no table"
            raise MetaException(f"invalid write id {rqst.writeId} for table {name}")
    return current_snapshot(tx, own)


@contextmanager
def reading_snapshots() -> Iterator[None]:
    """Wraps code that reads a snapshot from a client: parts of a long snapshot are parsed when they are needed."""
    try:
        yield
    except SnapshotSyntaxError as error:
        raise MetaException(f"a list of valid transactions cannot be read: {error}") from None


def current_snapshot(tx: Transaction, own: int | None = None) -> ValidTxnList:
    """The snapshot of a reader that begins now; with a transaction of its own, that transaction's snapshot."""
    highest = transactions.high_water_mark(tx)
    unfinished = transactions.unfinished(tx)
    if own is not None:
        highest = min(highest, own)
        unfinished = [txn for txn in unfinished if txn[0] < own]
    is_open, is_aborted = TxnState.OPEN.value, TxnState.ABORTED.value
    opened = tuple([id for id, state, _ in unfinished if state == is_open])
    aborted = tuple([id for id, state, _ in unfinished if state == is_aborted])
    return ValidTxnList(highest, opened, aborted, opened[0] if opened else NO_OPEN_ID)


def valid_write_ids(ctx: Context, tx: Transaction, seen: Snapshot, table: TableName) -> ValidWriteIdList:
    """A snapshot of one table.

    Its mark is the highest id of a transaction up to the snapshot's own, or of any if none of those wrote. From 4.0 on,
    when no id is visible, all ids below the first invisible one have been compacted, and only that one is returned. Ids
    that were deleted because every reader sees them count as visible too. By Hive's rule they do not count; a
    transaction that got its id after a later one would then be invisible to readers.
    """
    counter = write_ids.counter(tx, table)
    known = NONE if counter is None else ctx.service.write_ids.read(tx, counter)
    highest, within = seen.high_watermark, known.pairs
    mark = next((write_id for txn, write_id in reversed(within) if txn <= highest), 0)
    if mark == 0 and counter is not None:
        mark = counter.next - 1
    mark = max(mark, known.highest_deleted)
    if known.highest_txn > highest:
        within = [pair for pair in within if pair[1] <= mark]
    aborted_txns, open_txns = seen.aborted_among(known.txns), seen.open_among(known.txns)
    aborted = [write_id for txn, write_id in within if txn in aborted_txns] if aborted_txns else []
    opened = [write_id for txn, write_id in within if (txn in open_txns or txn > highest) and txn not in aborted_txns]
    lowest = min(opened[:1] + aborted[:1], default=mark + 1)
    any_visible = len(opened) + len(aborted) < len(within) or known.highest_deleted > lowest
    if ctx.generation >= Generation.HIVE_4_0 and not any_visible and (opened or aborted):
        mark = lowest
        opened, aborted = [one for one in opened if one == mark], [one for one in aborted if one == mark]
    name = f"{table.database}.{table.table}"
    return ValidWriteIdList(name, mark, tuple(opened), tuple(aborted), opened[0] if opened else NO_OPEN_ID)


def _valid_write_ids(name: str, snapshot: ValidWriteIdList) -> TableValidWriteIds:
    invalid, bits = snapshot.invalid()
    return TableValidWriteIds(
        fullTableName=name,
        writeIdHighWaterMark=snapshot.high_watermark,
        invalidWriteIds=invalid,
        minOpenWriteId=snapshot.min_open if snapshot.open else None,
        abortedBits=bits,
    )


@method
def add_write_ids_to_min_history(ctx: Context, txnId: int | None, writeIds: dict[str, int] | None) -> None:
    """Records the write ids that a reader still needs; compacted files are kept until it ends."""
    txn_id = txnId or 0
    lowest = [(full_name(ctx, name), write_id) for name, write_id in sorted((writeIds or {}).items())]

    def add(tx: Transaction) -> None:
        try:
            require_open(tx, txn_id)
        except MetastoreError as error:
            # The call declares no other exception.
            raise MetaException(str(error)) from None
        write_ids.add_history(tx, txn_id, lowest)

    ctx.database.run(add)


# --- replication ----------------------------------------------------------------------------------------------------


@method
def repl_tbl_writeid_state(ctx: Context, rqst: ReplTblWriteIdStateRequest) -> None:
    """Sets a copied table's write ids to the state of its source: the highest one, and the aborted ones."""
    table = requested_table(ctx, rqst.dbName, rqst.tableName)
    try:
        source = ValidWriteIdList.parse(rqst.validWriteIdlist or "")
    except SnapshotSyntaxError as error:
        raise MetaException(f"a list of valid write ids cannot be read: {error}") from None

    def bring(tx: Transaction) -> None:
        if write_ids.counter(tx, table) is not None:
            return
        txns: list[int] = []
        if source.aborted:
            txns = transactions.open(
                tx,
                len(source.aborted),
                type=TxnType.DEFAULT,
                user=rqst.user or "",
                host=rqst.hostName or "",
                now=millis(ctx.service),
                opener=ctx.user or "",
            )
            abort(ctx.service, tx, txns, REPLICATED_WRITE_ID)
        write_ids.begin_at(tx, table, source.high_watermark + 1, zip(source.aborted, txns, strict=True))
        if txns:
            for part in rqst.partNames or (None,):
                request = CompactionRequest(
                    dbname=rqst.dbName, tablename=rqst.tableName, partitionname=part, type=CompactionType.MAJOR
                )
                enqueue(ctx, tx, request)
            record(ctx, tx, "OPEN_TXN", parts=[("first", b"%d" % txns[0]), ("last", b"%d" % txns[-1])])

    ctx.database.run(bring)
