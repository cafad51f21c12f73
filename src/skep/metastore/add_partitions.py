"""Adding partitions: directories first, then all rows of a call in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skep.errors import AlreadyExistsException, InvalidObjectException, MetaException
from skep.hive.locations import join
from skep.hive.names import PartitionNameError, normalize, partition_values
from skep.metastore import normal, rows
from skep.metastore.basic_stats import gathered_for_partition
from skep.metastore.changes import record
from skep.metastore.context import Context, properties
from skep.metastore.directories import Making
from skep.metastore.java_text import java_text
from skep.metastore.partitions import Partitioned
from skep.store import partitions, tables
from skep.store.partitions import NewPartition
from skep.store.tables import TableRow
from skep.store.transaction import ConstraintViolated, Transaction
from skep.wire import binary
from skep.wire.generated.common import EnvironmentContext, StorageDescriptor
from skep.wire.generated.partitions import AddPartitionsRequest, AddPartitionsResult, Partition
from skep.wire.structs import replace

NO_TABLE = "Unable to add partition because table or database do not exist"


def add_partition(ctx: Context, new_part: Partition | None) -> Partition:
    return _add_one(ctx, new_part, {})


def add_partition_with_environment_context(
    ctx: Context, new_part: Partition | None, environment_context: EnvironmentContext | None
) -> Partition:
    return _add_one(ctx, new_part, properties(environment_context))


def _add_one(ctx: Context, part: Partition | None, env: dict[str, str]) -> Partition:
    if part is None:
        raise MetaException("Partition cannot be null.")
    return add(ctx, part.dbName, part.tableName, (part,), env=env)[0]


def add_partitions(ctx: Context, new_parts: tuple[Partition, ...] | None) -> int:
    if not new_parts:
        return 0
    first = new_parts[0]
    return len(add(ctx, first.dbName, first.tableName, new_parts))


def add_partitions_req(ctx: Context, request: AddPartitionsRequest) -> AddPartitionsResult:
    if not request.parts:
        return AddPartitionsResult(partitions=())
    if request.catName is not None:
        ctx.saw_catalog()
    added = add(ctx, request.dbName, request.tblName, request.parts, if_not_exists=bool(request.ifNotExists))
    return AddPartitionsResult(partitions=tuple(added) if request.needResult else None)


def append_partition(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: tuple[str, ...] | None
) -> Partition:
    return _append(ctx, db_name, tbl_name, part_vals, {})


def append_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: tuple[str, ...] | None,
    environment_context: EnvironmentContext | None,
) -> Partition:
    return _append(ctx, db_name, tbl_name, part_vals, properties(environment_context))


def append_partition_by_name(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None
) -> Partition:
    return _append(ctx, db_name, tbl_name, _values(ctx, db_name, tbl_name, part_name), {})


def append_partition_by_name_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_name: str | None,
    environment_context: EnvironmentContext | None,
) -> Partition:
    values = _values(ctx, db_name, tbl_name, part_name)
    return _append(ctx, db_name, tbl_name, values, properties(environment_context))


def _values(ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None) -> tuple[str, ...]:
    of = _of(ctx, db_name, tbl_name)
    try:
        return tuple(partition_values(part_name or "", of.names))
    except PartitionNameError as error:
        raise InvalidObjectException(str(error)) from None


def _append(
    ctx: Context, db_name: str | None, tbl_name: str | None, values: tuple[str, ...] | None, env: dict[str, str]
) -> Partition:
    """A partition with these values and the table's own storage."""
    of = _of(ctx, db_name, tbl_name)
    assert of.table.sd is not None
    part = Partition(
        values=values, dbName=of.where.database, tableName=of.row.name, sd=replace(of.table.sd, location=None)
    )
    return add(ctx, db_name, tbl_name, (part,), env=env)[0]


def _of(ctx: Context, db_name: str | None, tbl_name: str | None) -> Partitioned:
    where = ctx.name(db_name)
    row = tables.find(ctx.reader(), *where, normalize(tbl_name or ""))
    if row is None:
        raise InvalidObjectException(NO_TABLE)
    return Partitioned(ctx, ctx.reader(), db_name, tbl_name)


# --- the one way --------------------------------------------------------------------------------------------------


class _New(NamedTuple):
    """A partition on its way in."""

    name: str
    given: Partition
    shape: bytes
    sd: StorageDescriptor
    location: str | None


def add(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    parts: Sequence[Partition],
    *,
    if_not_exists: bool = False,
    env: dict[str, str] | None = None,
) -> list[Partition]:
    """Adds all of them or none; returns those that were added."""
    of = _of(ctx, db_name, tbl_name)
    new = _prepared(ctx, of, parts)
    taken = set(partitions.existing(ctx.reader(), of.row.id, [part.name for part in new]))
    if taken and not if_not_exists:
        raise _already(next(part for part in new if part.name in taken))
    new = [part for part in new if part.name not in taken]
    if not new:
        return []
    now = ctx.now()
    with Making(ctx.warehouse) as made:
        stored = []
        for part in new:
            fresh = made.make(part.location)
            parameters = part.given.parameters or {}
            if part.location and not fresh:
                parameters = gathered_for_partition(ctx.warehouse, parameters, part.location, env or {}, force=False)
            stored.append(
                replace(
                    part.given,
                    dbName=of.where.database,
                    tableName=of.row.name,
                    catName=of.where.catalog,
                    createTime=now,
                    lastAccessTime=part.given.lastAccessTime or 0,
                    sd=replace(part.sd, location=part.location),
                    parameters=normal.ddl_time(parameters, now),
                )
            )
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, of, new, stored))
        except ConstraintViolated:
            raise _already(new[0]) from None
        made.keep()
    return stored


def _already(part: _New) -> AlreadyExistsException:
    return AlreadyExistsException(f"Partition already exists: {java_text(part.given)}")


def _prepared(ctx: Context, of: Partitioned, parts: Sequence[Partition]) -> list[_New]:
    """Names, shapes and locations, checked. The shape of the last partition serves the next one that is like it."""
    found: list[_New] = []
    seen: set[str] = set()
    last: StorageDescriptor | None = None
    normalised: StorageDescriptor | None = None
    shape = b""
    root = of.table.sd.location if of.table.sd is not None else None
    view = normal.is_view(of.table)
    for part in parts:
        if normalize(part.tableName or "") != of.row.name or normalize(part.dbName or "").rpartition("#")[2] not in (
            of.where.database,
        ):
            raise MetaException(
                f"Partition does not belong to target table {of.where.database}.{of.row.name}: {java_text(part)}"
            )
        name = of.part_name(part.values)
        if name in seen:
            raise MetaException(f"Duplicate partitions in the list: {java_text(part)}")
        seen.add(name)
        sd = part.sd
        if sd is None:
            raise MetaException(f"partition {name} has no storage descriptor")
        if normalised is None or last is None or sd[0] is not last[0] or sd[2:] != last[2:]:
            normalised = normal.storage(sd)
            shape = rows.shape_of(normalised)
        last = sd
        location = sd.location or None
        if location is None and not view:
            if not root:
                raise MetaException(f"table {of.row.name} has no location to put partition {name} below")
            location = f"{root}/{name}" if not root.endswith("/") else join(root, name)
        found.append(_New(name, part, shape, normalised, location))
    return found


def _insert(ctx: Context, tx: Transaction, of: Partitioned, new: list[_New], stored: list[Partition]) -> None:
    tables.lock(tx, of.row.id)
    row = tables.find_by_id(tx, of.row.id)
    if row is None:
        raise InvalidObjectException(NO_TABLE)
    taken = partitions.existing(tx, row.id, [part.name for part in new])
    if taken:
        raise _already(next(part for part in new if part.name == taken[0]))
    shapes: dict[bytes, int] = {}
    for part in new:
        if part.shape not in shapes:
            shapes[part.shape] = partitions.add_shape(tx, row.id, part.shape)
    placed = Placing(tx, row, of)
    partitions.insert_many(
        tx,
        row.id,
        [
            NewPartition(
                part.name,
                part.given.values or (),
                shapes[part.shape],
                *placed.place(part.name, part.location),
                write_id=part.given.writeId or -1,
                body=rows.partition_body(done),
            )
            for part, done in zip(new, stored, strict=True)
        ],
    )
    record(ctx, tx, "ADD_PARTITION", of.where, row.name, event_parts(of, new, stored))


class Placing:
    """Where a partition lies, as (base, suffix): below its table as a rule, anywhere else by its whole URI."""

    def __init__(self, tx: Transaction, row: TableRow, of: Partitioned) -> None:
        self._tx = tx
        self._table_id = row.id
        location = of.table.sd.location if of.table.sd is not None else None
        self._base = f"{location.rstrip('/')}/" if location else None
        self._number: int | None = None

    def place(self, name: str, location: str | None) -> tuple[int | None, str | None]:
        if location is None:
            return None, None
        base = self._base
        if base is None or not location.startswith(base) or len(location) == len(base):
            return None, location
        if self._number is None:
            self._number = partitions.add_base(self._tx, self._table_id, base)
        suffix = location[len(base) :]
        return self._number, None if suffix == name else suffix


def event_parts(of: Partitioned, new: Sequence[_New], stored: Sequence[Partition]) -> list[tuple[str, bytes]]:
    """The partitions of an event, grouped by shape (see `changes.py`)."""
    groups: dict[bytes, list[bytes]] = {}
    for part, done in zip(new, stored, strict=True):
        own = rows.partition_body(done)
        location = rows.text_field(2, part.location) if part.location else b""
        groups.setdefault(part.shape, []).append(own + b"\x0c\x00\x06" + location + b"\x00\x00")
    parts = [("table", binary.encode(of.table))]
    for shape, structs in groups.items():
        parts += (("sd", shape + b"\x00"), ("partitions", b"".join(structs)))
    return parts
