"""What a copy has to do: the state of the source is compared with the marks that earlier copies left at the target.

Reads the metastore and lists directories. Writes nothing and needs no Spark for tables on a local file system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException, NoSuchObjectException, NotSupported
from metastored.hive.names import make_part_name
from metastored.model.acid import is_transactional
from metastored.model.formats import format_of
from metastored.model.kinds import is_any_view
from metastored.model.names import TableName
from metastored.model.spark.properties import NUM_BUCKETS
from metastored.spark.copying.marks import Mark, mark_of, state_of
from metastored.spark.files import in_threads
from metastored.spark.listing import files_below
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition

FORMATS: Final = ("parquet", "orc", "lance", "iceberg", "delta")
MODES: Final = ("incremental", "overwrite")
FILE_FORMATS: Final = ("parquet", "orc")
"""Formats without metadata of their own: partitions are published by the metastore."""
_CHANGED: Final = "transient_lastDdlTime"


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of the source, or its whole table: then the name is empty."""

    name: str
    values: tuple[str, ...]
    state: str
    sd: StorageDescriptor = field(default_factory=StorageDescriptor, compare=False, repr=False)
    files: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)
    """The files of which the state was made: their paths below the location, and their sizes; sorted."""

    @property
    def location(self) -> str:
        return self.sd.location or ""


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What a copy does."""

    source: TableName
    target: TableName
    table: Table
    """The source."""
    existing: Table | None
    """The target, if it exists."""
    format: str
    transactional: bool
    """Whether the target is an ACID table."""
    whole: bool
    """Whether the target is replaced as a whole, in one commit."""
    changed: tuple[Part, ...]
    skipped: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Partitions of the target that the source does not have any more."""
    replaced: frozenset[str] = frozenset()
    """Those of the changed partitions that the target has."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple((key.name or "").lower() for key in self.table.partitionKeys or ())

    @property
    def state(self) -> str:
        """The state of all parts together."""
        return state_of([(part.name, 0, part.state) for part in self.changed], None)

    @property
    def summary(self) -> str:
        if not self.changed and not self.dropped:
            return "nothing: the source has not changed"
        if not self.keys or self.whole:
            return f"{'replaces' if self.existing is not None else 'creates'} {self.target} ({self.format})"
        new = len(self.changed) - len(self.replaced)
        counts = ((new, "added"), (len(self.replaced), "replaced"), (len(self.dropped), "dropped"))
        text = ", ".join(f"{count} {word}" for count, word in counts if count)
        return f"partitions: {text}, {len(self.skipped)} unchanged ({self.format})"


def plan_copy(
    spark: Any,
    client: Client,
    source: TableName,
    target: TableName,
    partitions: str | Sequence[str] | None,
    format: str | None,
    mode: str,
) -> CopyPlan:
    """Compares source and target. `spark` is needed for directories that are not local.

    Raises TableNotFound, InvalidInputException for arguments and tables that do not fit, and NotSupported.
    """
    if mode not in MODES:
        raise InvalidInputException(f"the mode is {mode!r}; known are {', '.join(MODES)}")
    if format is not None and format not in FORMATS:
        raise InvalidInputException(f"the format is {format!r}; known are {', '.join(FORMATS)}")
    if source == target:
        raise InvalidInputException(f"{source} cannot be copied to itself")
    table = client.fresh_table(source)
    if is_any_view(table):
        raise InvalidInputException(f"{source} is a view: views are copied with their database")
    if partitions is not None and not table.partitionKeys:
        raise InvalidInputException(f"{source} has no partitions")
    existing = _existing(client, target)
    chosen = _format(table, existing, target, format)
    transactional = existing is not None and is_transactional(existing.parameters)
    whole = transactional or chosen not in FILE_FORMATS
    if existing is not None and not whole and _has_buckets(existing):
        raise NotSupported(f"{target} exists with buckets, which copies do not write: drop it first")
    if whole and partitions is not None:
        raise NotSupported(
            f"{target} is replaced as a whole, because it is {'an ACID table' if transactional else chosen}: "
            "copy it without partitions="
        )
    if existing is not None:
        _check_columns(source, table, target, existing)
    parts = list(_parts(spark, client, source, table, partitions))
    plan = CopyPlan(source, target, table, existing, chosen, transactional, whole, tuple(parts))
    if existing is None:
        return plan
    if whole or not plan.keys:
        mark = mark_of(existing.parameters)
        wanted = plan.state if whole else parts[0].state
        return _with(plan, () if mode == "incremental" and _same(mark, source, wanted) else plan.changed)
    return _by_partition(client, plan, partitions is None, mode)


def _by_partition(client: Client, plan: CopyPlan, complete: bool, mode: str) -> CopyPlan:
    there = {name: mark_of(each.parameters) for name, each in named_partitions(client, plan.target, plan.keys)}
    changed, skipped = [], []
    for part in plan.changed:
        if mode == "incremental" and part.name in there and _same(there[part.name], plan.source, part.state):
            skipped.append(part.name)
        else:
            changed.append(part)
    names = {part.name for part in plan.changed}
    # Partitions that others made at the target are dropped only by an overwrite.
    dropped = tuple(
        name
        for name, mark in there.items()
        if complete and name not in names and (mode == "overwrite" or (mark and mark.source == str(plan.source)))
    )
    replaced = frozenset(part.name for part in changed if part.name in there)
    return _with(plan, tuple(changed), tuple(skipped), dropped, replaced)


def _with(
    plan: CopyPlan,
    changed: tuple[Part, ...],
    skipped: tuple[str, ...] = (),
    dropped: tuple[str, ...] = (),
    replaced: frozenset[str] = frozenset(),
) -> CopyPlan:
    return replace(plan, changed=changed, skipped=skipped, dropped=dropped, replaced=replaced)


def _same(mark: Mark | None, source: TableName, state: str) -> bool:
    return mark is not None and mark.source == str(source) and mark.state == state


def _existing(client: Client, target: TableName) -> Table | None:
    client.database(str(target.database_name))
    try:
        table = client.fresh_table(target)
    except NoSuchObjectException:
        return None
    if is_any_view(table):
        raise InvalidInputException(f"{target} is a view")
    return table


def _has_buckets(table: Table) -> bool:
    return bool(table.sd is not None and (table.sd.numBuckets or 0) > 0) or NUM_BUCKETS in (table.parameters or {})


def _format(table: Table, existing: Table | None, target: TableName, format: str | None) -> str:
    if existing is not None:
        stored_as = format_of(existing) or "unknown"
        if format is not None and stored_as != format:
            raise InvalidInputException(f"{target} exists with the format {stored_as}, and not {format}: drop it first")
        if stored_as not in FORMATS and not is_transactional(existing.parameters):
            raise NotSupported(f"{target} exists with the format {stored_as}; copies write {', '.join(FORMATS)}")
        return stored_as
    if format is not None:
        return format
    own = format_of(table)
    return own if own in FORMATS else "parquet"


def _check_columns(source: TableName, table: Table, target: TableName, existing: Table) -> None:
    ours, theirs = _columns(table), _columns(existing)
    if not ours or not theirs or format_of(existing) not in FILE_FORMATS or format_of(table) in ("lance", "iceberg"):
        return  # These formats have columns of their own; Spark compares them.
    if ours != theirs:
        other = next(
            (f"{one} and {two}" for one, two in zip(ours, theirs, strict=False) if one != two),
            f"{len(ours)} and {len(theirs)} columns",
        )
        raise InvalidInputException(f"{source} and {target} have different columns ({other}): drop {target} first")


def _columns(table: Table) -> list[str]:
    def shown(fields: Iterable[FieldSchema]) -> list[str]:
        return [f"{(each.name or '').lower()} {each.type}" for each in fields]

    return [*shown((table.sd and table.sd.cols) or ()), *shown(table.partitionKeys or ())]


# --- the state of the source --------------------------------------------------------------------------------


def named_partitions(
    client: Client, name: TableName, keys: tuple[str, ...], where: str | None = None
) -> Iterator[tuple[str, Partition]]:
    """The partitions of a table with their names."""
    for each in client.partitions(name, where):
        yield make_part_name(keys, each.values or ()), each


def _parts(
    spark: Any, client: Client, source: TableName, table: Table, partitions: str | Sequence[str] | None
) -> Iterator[Part]:
    if not table.partitionKeys:
        yield _part(spark, "", (), table.sd, table.parameters)
        return
    keys = tuple((key.name or "").lower() for key in table.partitionKeys)
    where = partitions if isinstance(partitions, str) else None
    parts = dict(named_partitions(client, source, keys, where))
    if partitions is not None and not isinstance(partitions, str):
        missing = [name for name in partitions if name not in parts]
        if missing:
            raise InvalidInputException(f"{source} has no partition {missing[0]}")
        parts = {name: parts[name] for name in partitions}
    items = sorted(parts.items())
    yield from in_threads(
        lambda item: _part(spark, item[0], tuple(item[1].values or ()), item[1].sd, item[1].parameters), items
    )


def _part(
    spark: Any,
    name: str,
    values: tuple[str, ...],
    sd: StorageDescriptor | None,
    parameters: dict[str, str] | None,
) -> Part:
    if sd is None or not sd.location:
        raise NotSupported("a table without a location cannot be copied")
    files = sorted(each for each in files_below(spark, sd.location) if not _is_ignored(each.path))
    known = parameters or {}
    state = state_of(files, known.get("metadata_location") or known.get(_CHANGED))
    return Part(name, values, state, sd, tuple((each.path, each.size) for each in files))


def _is_ignored(path: str) -> bool:
    return path.rpartition("/")[2].startswith((".", "_SUCCESS", "_tmp"))
