"""Partitions as specs: lists in which partitions may share one storage descriptor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from metastored.errors import MetaException
from metastored.hive.location_rules import relative
from metastored.hive.locations import LocationError
from metastored.hive.patterns import wildcard_expression
from metastored.service.core.context import Context, Encoded
from metastored.service.core.partition_lists import in_turn, named, splicer
from metastored.service.core.serving import method
from metastored.service.partitions.add import add
from metastored.service.partitions.get import Partitioned, limit_of, partitioned
from metastored.service.partitions.limit import check_limit
from metastored.service.partitions.search import each_satisfying, filtered, matching, number_of, parsed, partial
from metastored.service.partitions.spec_lists import normalized, specs_reply
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import partitions
from metastored.wire.generated.common import GetProjectionsSpec, StorageDescriptor
from metastored.wire.generated.partitions import (
    GetPartitionsFilterSpec,
    GetPartitionsRequest,
    GetPartitionsResponse,
    Partition,
    PartitionFilterMode,
    PartitionListComposingSpec,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
)
from metastored.wire.structs import Struct, names, replace

GROUPING: Final = "hive.hcatalog.partition.spec.grouping.enabled"


# --- reading ----------------------------------------------------------------------------------------------------


@method
def get_partitions_pspec(ctx: Context, db_name: str | None, tbl_name: str | None, max_parts: int | None) -> Encoded:
    parent = partitioned(ctx, ctx.reader(), ctx.name(db_name), tbl_name)
    limit = limit_of(max_parts)
    check_limit(ctx, tbl_name, limit, lambda: partitions.count(ctx.reader(), parent.row.id))
    return specs_reply(
        ctx, parent, lambda tx, _: partitions.each(tx, parent.row.id, limit), grouped=_is_grouped(parent)
    )


@method
def get_part_specs_by_filter(
    ctx: Context, db_name: str | None, tbl_name: str | None, filter: str | None, max_parts: int | None
) -> Encoded:
    parent = partitioned(ctx, ctx.reader(), ctx.name(db_name), tbl_name)
    wanted = parsed(ctx, parent, filter)
    limit = limit_of(max_parts)
    check_limit(ctx, tbl_name, limit, lambda: number_of(ctx, parent, wanted))

    def each(tx: Transaction, ordered: bool) -> Iterator[Row]:
        return each_satisfying(ctx, tx, parent, wanted, limit, ordered=ordered)

    return specs_reply(ctx, parent, each, grouped=_is_grouped(parent))


def _is_grouped(parent: Partitioned) -> bool:
    return (parent.table.parameters or {}).get(GROUPING, "").lower() == "true"


def specs(ctx: Context, parent: Partitioned, parts: list[Partition]) -> tuple[PartitionSpec, ...]:
    """Partitions as a list, or in groups where the table requests it."""
    if _is_grouped(parent):
        return grouped(ctx, parent, parts)
    return (_spec(ctx, parent, partitionList=PartitionListComposingSpec(tuple(parts)), rootPath=parent.location),)


def _spec(ctx: Context, parent: Partitioned, **content: Any) -> PartitionSpec:
    catalog = ctx.shown(parent.where.catalog)
    return PartitionSpec(dbName=parent.where.database, tableName=parent.row.name, catName=catalog, **content)


def grouped(ctx: Context, parent: Partitioned, parts: list[Partition]) -> tuple[PartitionSpec, ...]:
    """Partitions below the table's directory share their common fields; the others are listed."""
    root = parent.location or ""
    shared: dict[str, tuple[StorageDescriptor, list[PartitionWithoutSD]]] = {}
    outside: list[Partition] = []
    for part in parts:
        sd = normalized(part.sd)
        location = sd.location
        below_root = location is None or (location.startswith(f"{root.rstrip('/')}/") and location.startswith(root))
        if location != root and not below_root:
            outside.append(part)
            continue
        base = replace(sd, location=root) if location is not None else sd
        # Descriptors contain maps, which cannot be keys; their text can.
        _, members = shared.setdefault(repr(base), (base, []))
        below = location[len(root) :] if location is not None else None
        members.append(
            PartitionWithoutSD(part.values, part.createTime or 0, part.lastAccessTime or 0, below, part.parameters)
        )
    specs = [
        _spec(
            ctx,
            parent,
            sharedSDPartitionSpec=PartitionSpecWithSharedSD(tuple(members), sd),
            rootPath=sd.location,
        )
        for sd, members in shared.values()
    ]
    if outside:
        specs.append(_spec(ctx, parent, partitionList=PartitionListComposingSpec(tuple(outside))))
    return tuple(specs)


@method
def get_partitions_with_specs(ctx: Context, request: GetPartitionsRequest) -> GetPartitionsResponse:
    with ctx.reading() as tx:
        parent = partitioned(ctx, tx, ctx.name(request.dbName, request.catName), request.tblName)
        splice = splicer(ctx, tx, parent.where, parent.row, request.processorCapabilities)
        parts = [splice.partition(row) for row in _chosen(ctx, tx, parent, request.filterSpec)]
    return GetPartitionsResponse(grouped(ctx, parent, [_projected(part, request.projectionSpec) for part in parts]))


def _chosen(ctx: Context, tx: Transaction, parent: Partitioned, spec: GetPartitionsFilterSpec | None) -> Iterable[Row]:
    if spec is None or not spec.filters:
        return in_turn(ctx, partitions.each(tx, parent.row.id))
    if spec.filterMode == PartitionFilterMode.BY_NAMES:
        return named(ctx, tx, parent.row.id, spec.filters)
    if spec.filterMode == PartitionFilterMode.BY_VALUES:
        return matching(ctx, tx, parent, partial(ctx, parent, spec.filters))
    if spec.filterMode == PartitionFilterMode.BY_EXPR:
        return filtered(ctx, tx, parent, " AND ".join(f"({text})" for text in spec.filters))
    raise MetaException(f"No such filter mode: {spec.filterMode}; there are BY_NAMES, BY_VALUES and BY_EXPR")


def _projected(part: Partition, spec: GetProjectionsSpec | None) -> Partition:
    """Only the requested fields; parameters also by patterns with SQL's wildcards."""
    if spec is None:
        return part
    kept = part
    if spec.fieldList:
        marked: dict[str, Any] = {}
        for path in spec.fieldList:
            _mark(marked, path.split("."))
        kept = _only(part, marked)
    parameters = kept.parameters
    if parameters is not None:
        if spec.includeParamKeyPattern:
            include = _wildcards(spec.includeParamKeyPattern)
            parameters = {key: value for key, value in parameters.items() if include.fullmatch(key)}
        if spec.excludeParamKeyPattern:
            exclude = _wildcards(spec.excludeParamKeyPattern)
            parameters = {key: value for key, value in parameters.items() if not exclude.fullmatch(key)}
        kept = replace(kept, parameters=parameters)
    return kept


def _mark(marked: dict[str, Any], path: list[str]) -> None:
    inner = marked.setdefault(path[0], {})
    if len(path) > 1:
        _mark(inner, path[1:])


def _only(value: Any, marked: dict[str, Any]) -> Any:
    """A struct with the marked fields; a field without marks below it is complete."""
    if not marked:
        return value
    if isinstance(value, Struct):
        unknown = [name for name in marked if name not in names(type(value))]
        if unknown:
            raise MetaException(f"Invalid field name {unknown[0]}: {type(value).__name__} has none of that name")
        kept = {name: _only(getattr(value, name), below) for name, below in marked.items()}
        return replace(tuple.__new__(type(value), [None] * len(value)), **kept)
    if isinstance(value, tuple):
        return tuple(_only(item, marked) for item in value)
    return value


def _wildcards(pattern: str) -> re.Pattern[str]:
    pieces = ["".join("." if char == "_" else re.escape(char) for char in piece) for piece in pattern.split("%")]
    return re.compile(wildcard_expression(pieces), re.DOTALL)


# --- adding -----------------------------------------------------------------------------------------------------


@method
def add_partitions_pspec(ctx: Context, new_parts: tuple[PartitionSpec, ...] | None) -> int:
    if not new_parts:
        return 0
    first = new_parts[0]
    where = ctx.name(first.dbName, first.catName)
    parts = [part for spec in new_parts for part in _members(spec)]
    return len(add(ctx, where, first.tableName, parts, by_spec=True))


def _joined(root: str | None, path: str | None) -> str | None:
    """The location of a partition whose path is relative to a common directory."""
    if not root and path:
        raise MetaException(f"the relative path {path} needs a location in the storage descriptor, or a rootPath")
    if not root:
        return None
    if path is None:
        # Hive appends Java's text of a null. A directory of that name is not shared with the table's other partitions,
        # as the root itself would be; here it is always below the root.
        path = "null" if root.endswith("/") else "/null"
    try:
        return relative(root, path)
    except LocationError as error:
        raise MetaException(str(error)) from None


def _members(spec: PartitionSpec) -> Iterable[Partition]:
    """The partitions of a spec, each with a storage descriptor of its own.

    First the list, then those that share one.
    """
    if spec.partitionList is not None:
        yield from spec.partitionList.partitions or ()
        return
    shared = spec.sharedSDPartitionSpec
    if shared is None:
        raise MetaException("a partition spec needs a list of partitions, or some that share a storage descriptor")
    if shared.sd is None and shared.partitions:
        raise MetaException("The shared storage descriptor must be set.")
    for part in shared.partitions or ():
        sd = shared.sd
        if sd is not None:
            sd = replace(sd, location=_joined(sd.location or spec.rootPath, part.relativePath))
        yield Partition(
            values=part.values,
            dbName=spec.dbName,
            tableName=spec.tableName,
            createTime=part.createTime,
            lastAccessTime=part.lastAccessTime,
            sd=sd,
            parameters=part.parameters,
            catName=spec.catName,
        )
