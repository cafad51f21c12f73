"""Adding partitions: directories first, then all rows of a call in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException
from metastored.hive.generation import Generation
from metastored.hive.names import normalize
from metastored.model import normal
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked_at_location, no_pending_job
from metastored.service.core.context import Context, properties
from metastored.service.core.directories import NewDirectory, stored_location
from metastored.service.core.java_text import java_text
from metastored.service.core.partition_lists import splicer
from metastored.service.core.serving import method
from metastored.service.partitions.get import Partitioned, Values, partitioned_or, values_in
from metastored.service.partitions.privileges import copy_grants
from metastored.service.statistics.basic import gathered_for_partition
from metastored.service.tables.get import directories_of
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import partitions
from metastored.store.objects.partitions import NewPartition
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import EnvironmentContext, StorageDescriptor
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    AddPartitionsResult,
    AppendPartitionsRequest,
    Partition,
)
from metastored.wire.structs import replace

NO_TABLE: Final = "Unable to add partition because table or database do not exist"
NO_ENVIRONMENT: Final[Mapping[str, str]] = MappingProxyType({})


@method
def add_partition(ctx: Context, new_part: Partition | None) -> Partition:
    return _add_one(ctx, new_part, {})


def _add_one(ctx: Context, new_part: Partition | None, env: dict[str, str]) -> Partition:
    if new_part is None:
        raise MetaException("Partition cannot be null.")
    where = ctx.name(new_part.dbName, new_part.catName)
    missing = InvalidObjectException(NO_TABLE)
    if ctx.rules.names_missing_tables:
        missing = _missing(ctx.full_name(where, new_part.tableName or ""))
    return _added(ctx, partitioned_or(ctx, where, new_part.tableName, missing), (new_part,), env=env)[0]


@method
def add_partition_with_environment_context(
    ctx: Context, new_part: Partition | None, environment_context: EnvironmentContext | None
) -> Partition:
    # Before 4.0, Hive passes the environment context on to its listeners only.
    return _add_one(ctx, new_part, properties(environment_context) if ctx.rules.counts_on_create else {})


@method
def add_partitions(ctx: Context, new_parts: tuple[Partition, ...] | None) -> int:
    if not new_parts:
        return 0
    first = new_parts[0]
    return len(add(ctx, ctx.name(first.dbName, first.catName), first.tableName, new_parts))


@method
def add_partitions_req(ctx: Context, request: AddPartitionsRequest) -> AddPartitionsResult:
    if not request.parts:
        return AddPartitionsResult()
    where = ctx.name(request.dbName, request.catName)
    added = add(ctx, where, request.tblName, request.parts, if_not_exists=bool(request.ifNotExists))
    return AddPartitionsResult(partitions=tuple(added) if request.needResult is not False else None)


def add(
    ctx: Context,
    where: DatabaseName,
    tbl_name: str | None,
    parts: Sequence[Partition],
    *,
    if_not_exists: bool = False,
    by_spec: bool = False,
) -> list[Partition]:
    """Adds all of them or none; returns the partitions that were added."""
    if ctx.rules.names_missing_tables or (ctx.rules.names_catalogs and not by_spec):
        which = ctx.full_name(where, tbl_name or "")
    else:
        which = f"database or table {where.database}.{tbl_name}"
    parent = partitioned_or(ctx, where, tbl_name, _missing(which))
    return _added(ctx, parent, parts, if_not_exists=if_not_exists)


def _missing(which: str) -> InvalidObjectException:
    return InvalidObjectException(f"Unable to add partitions because {which} does not exist")


# --- appending ----------------------------------------------------------------------------------------------------


@method
def append_partition(ctx: Context, db_name: str | None, tbl_name: str | None, part_vals: Values | None) -> Partition:
    return _append(ctx, ctx.name(db_name), tbl_name, part_vals)


@method
def append_partition_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_vals: Values | None,
    environment_context: EnvironmentContext | None,
) -> Partition:
    return _append(ctx, ctx.name(db_name), tbl_name, part_vals)


@method
def append_partition_by_name(
    ctx: Context, db_name: str | None, tbl_name: str | None, part_name: str | None
) -> Partition:
    return _append_by_name(ctx, ctx.name(db_name), tbl_name, part_name)


@method
def append_partition_by_name_with_environment_context(
    ctx: Context,
    db_name: str | None,
    tbl_name: str | None,
    part_name: str | None,
    environment_context: EnvironmentContext | None,
) -> Partition:
    return _append_by_name(ctx, ctx.name(db_name), tbl_name, part_name)


@method
def append_partition_req(ctx: Context, appendPartitionsReq: AppendPartitionsRequest) -> Partition:
    request = appendPartitionsReq
    where = ctx.name(request.dbName, request.catalogName)
    if request.partVals is None and request.name is not None:
        return _append_by_name(ctx, where, request.tableName, request.name)
    return _append(ctx, where, request.tableName, request.partVals)


def _append_by_name(ctx: Context, where: DatabaseName, tbl_name: str | None, part_name: str | None) -> Partition:
    missing = InvalidObjectException(f"{where.database}.{normalize(tbl_name or '')} table not found")
    parent = partitioned_or(ctx, where, tbl_name, missing)
    if part_name is None and ctx.generation >= Generation.HIVE_4_0:
        return _append(ctx, where, tbl_name, None)
    return _append(ctx, where, tbl_name, values_in(parent, part_name, InvalidObjectException))


def _append(ctx: Context, where: DatabaseName, tbl_name: str | None, values: Values | None) -> Partition:
    """A partition with these values and the table's own storage descriptor."""
    if values is None or (not values and ctx.rules.names_catalogs):
        raise MetaException("The partition values must not be null or empty.")
    parent = partitioned_or(ctx, where, tbl_name, InvalidObjectException(NO_TABLE))
    root = parent.location
    if root is None or parent.table.sd is None:
        raise MetaException("Cannot append a partition to a view")
    location = _below(root, parent.part_name(values))
    part = Partition(
        values=values,
        dbName=parent.where.database,
        tableName=tbl_name,
        sd=replace(parent.table.sd, location=location),
        catName=ctx.shown(where.catalog),
    )
    # Hive's two ways to add partitions have messages that differ in a space.
    return _added(ctx, parent, (part,), already="Partition already exists:")[0]


# --- common to all -------------------------------------------------------------------------------------------------


NO_SHAPE: Final = b""
"""The shape of a partition without a storage descriptor."""


class New(NamedTuple):
    """A partition that is being added."""

    name: str
    partition: Partition
    shape: bytes
    location: str | None


def _added(
    ctx: Context,
    parent: Partitioned,
    parts: Sequence[Partition],
    *,
    if_not_exists: bool = False,
    already: str = "Partition already exists: ",
    env: Mapping[str, str] = NO_ENVIRONMENT,
) -> list[Partition]:
    """Adds all of them or none. Returns the partitions with the fields that the server filled in."""
    new = _prepared(ctx, parent, parts)
    taken = set(partitions.existing(ctx.reader(), parent.row.id, [part.name for part in new]))
    if taken and not if_not_exists:
        raise _already(ctx, parent, next(part for part in new if part.name in taken), already)
    new = [part for part in new if part.name not in taken]
    if not new:
        return []
    now = ctx.now()
    catalog = ctx.shown(parent.where.catalog)
    no_pending_job(ctx.reader(), [part.location for part in new])
    with NewDirectory(ctx.warehouse, lambda: _owned(ctx, parent, new)) as made:
        stored = []
        for part in new:
            fresh = made.make(part.location)
            parameters = part.partition.parameters or {}
            if part.location and not fresh:
                parameters = gathered_for_partition(ctx, parameters, part.location, env, force=False)
            sd = part.partition.sd
            stored.append(
                replace(
                    part.partition,
                    catName=catalog,
                    createTime=now,
                    lastAccessTime=part.partition.lastAccessTime or 0,
                    sd=replace(sd, location=part.location) if sd is not None else None,
                    parameters=normal.ddl_time(parameters, now),
                )
            )
        try:
            ctx.database.run(lambda tx: _insert(ctx, tx, parent, new, stored, already))
        except ConstraintViolated:
            raise _already(ctx, parent, new[0], already) from None
        made.keep()
    return stored


def _owned(ctx: Context, parent: Partitioned, new: Sequence[New]) -> set[str | None]:
    """The directories of partitions that other calls have added, and of the objects that contain them."""
    with ctx.reading() as tx:
        splice = splicer(ctx, tx, parent.where, parent.row)
        existing = partitions.find_many(tx, parent.row.id, [part.name for part in new])
        added = {part.sd.location for part in map(splice.partition, existing) if part.sd is not None}
        return added | directories_of(ctx, tx, parent.where, parent.row.name)


def _already(ctx: Context, parent: Partitioned, part: New, words: str) -> AlreadyExistsException:
    named = replace(part.partition, catName=ctx.shown(parent.where.catalog))
    return AlreadyExistsException(f"{words}{java_text(named)}")


def _prepared(ctx: Context, parent: Partitioned, parts: Sequence[Partition]) -> list[New]:
    """Names, shapes and locations, checked.

    A partition whose storage equals that of the one before reuses its shape.
    """
    prepared: list[New] = []
    seen: set[str] = set()
    last: StorageDescriptor | None = None
    shape = b""
    root = parent.location
    below = f"{root.rstrip('/')}/" if root else None
    for part in parts:
        if (
            normalize(part.tableName or "") != parent.row.name
            or ctx.name(part.dbName).database != parent.where.database
        ):
            target = ctx.full_name(parent.where, parent.row.name)
            named = replace(part, catName=ctx.shown(parent.where.catalog))
            if ctx.rules.names_missing_tables:
                target += f". It belongs to the table {part.dbName}.{part.tableName} "
            raise MetaException(f"Partition does not belong to target table {target}: {java_text(named)}")
        if not part.values and ctx.generation >= Generation.HIVE_4_0:
            raise MetaException("The partition values cannot be null or empty.")
        name = parent.part_name(part.values)
        if name in seen:
            twice = replace(part, catName=parent.where.catalog) if ctx.rules.names_missing_tables else part
            raise MetaException(f"Duplicate partitions in the list: {java_text(twice)}")
        seen.add(name)
        sd = part.sd
        if sd is None:
            if root is not None:
                raise MetaException(f"partition {name} has no storage descriptor")
            # ALTER VIEW … ADD PARTITION sends this: a view has no storage, and neither have its partitions.
            prepared.append(New(name, part, NO_SHAPE, None))
            continue
        if last is None or sd[0] is not last[0] or sd[2:] != last[2:]:
            shape = rows.shape_of(normal.storage(sd))
        last = sd
        location: str | None = None
        if sd.location:
            if root is None:
                raise MetaException("Cannot specify location for a view partition")
            location = stored_partition_location(ctx, sd.location, below)
        elif root is not None:
            location = _below(root, name)
        prepared.append(New(name, part, shape, location))
    return prepared


def _below(root: str, name: str) -> str:
    # Both are in their final form and are not parsed again: this runs for up to a million partitions.
    return f"{root.rstrip('/')}/{name}"


def stored_partition_location(ctx: Context, location: str, below: str | None) -> str:
    """A partition's location that a client sent, as it is stored. `below` is the table's own with a slash."""
    return location if below and is_plain(location, below) else stored_location(ctx, location)


def is_plain(location: str, root: str) -> bool:
    """Whether a location below a root is already in Hadoop's normal form."""
    rest = location[len(root) :]
    plain = "//" not in rest and "/." not in rest and not rest.endswith("/") and rest[:1] not in ("", "/", ".")
    return plain and location.startswith(root)


def _insert(
    ctx: Context, tx: Transaction, parent: Partitioned, new: list[New], stored: list[Partition], already: str
) -> None:
    row = locked_at_location(tx, parent.row)
    no_pending_job(tx, [part.location for part in new])
    taken = partitions.existing(tx, row.id, [part.name for part in new])
    if taken:
        raise _already(ctx, parent, next(part for part in new if part.name == taken[0]), already)
    shapes_and_bases = ShapesAndBases(tx, row, parent)
    bodies = list(map(rows.partition_body, stored))
    partitions.insert_many(
        tx,
        row.id,
        [
            NewPartition(
                part.name,
                part.partition.values or (),
                shapes_and_bases.shape(part.shape),
                *shapes_and_bases.base_and_suffix(part.name, part.location),
                write_id=part.partition.writeId or -1,
                body=body,
            )
            for part, body in zip(new, bodies, strict=True)
        ],
    )
    copy_grants(ctx, tx, row, [part.name for part in new])
    record(ctx, tx, "ADD_PARTITION", parent.where, row.name, event_parts(parent, new, bodies))


class ShapesAndBases:
    """The ids of shapes and bases of one table's partitions; each shape and base is looked up once."""

    def __init__(self, tx: Transaction, row: TableRow, parent: Partitioned) -> None:
        self._tx = tx
        self._table_id = row.id
        self._base = f"{parent.location.rstrip('/')}/" if parent.location else None
        self._number: int | None = None
        self._shapes: dict[bytes, int | None] = {NO_SHAPE: None}

    def shape(self, shape: bytes) -> int | None:
        """The id of a shape; None for NO_SHAPE."""
        if shape not in self._shapes:
            self._shapes[shape] = partitions.add_shape(self._tx, self._table_id, shape)
        return self._shapes[shape]

    def base_and_suffix(self, name: str, location: str | None) -> tuple[int | None, str | None]:
        """A location as (base, suffix): relative to the table's if it is below it, else the complete URI."""
        if location is None:
            return None, None
        base = self._base
        if base is None or not location.startswith(base) or len(location) == len(base):
            return None, location
        if self._number is None:
            self._number = partitions.add_base(self._tx, self._table_id, base)
        suffix = location[len(base) :]
        return self._number, None if suffix == name else suffix


def event_parts(parent: Partitioned, new: Sequence[New], bodies: Sequence[bytes]) -> list[tuple[str, bytes]]:
    """The partitions of an event with their bodies, grouped by shape (see `core/changes.py`)."""
    groups: dict[bytes, list[bytes]] = {}
    for part, own in zip(new, bodies, strict=True):
        struct = rows.partition_in_event(own, part.location, has_storage=part.shape != NO_SHAPE)
        groups.setdefault(part.shape, []).append(struct)
    parts = [("table", binary.encode(parent.table))]
    # Partitions without a shape come first: a shape applies to all partitions that follow it.
    parts += (("partitions", b"".join(structs)) for structs in (groups.pop(NO_SHAPE, ()),) if structs)
    for shape, structs in groups.items():
        parts += (("sd", shape + rows.STOP), ("partitions", b"".join(structs)))
    return parts
