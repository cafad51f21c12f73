"""The calls about partitions of an adapted source: by values, names, filters and expressions of every kind.

A filter is given to the source, which may use it to return less; what it returns is filtered here as Hive would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from metastored.connectors.adapted.sources import Source
from metastored.errors import MetaException
from metastored.filters.hive.expressions import as_filter, pruner, read_expression
from metastored.filters.hive.kryo import Apply, Column, Constant, MalformedExpression, UnreadableExpression
from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import Comparison, Filter, FilterError, predicate
from metastored.filters.logic import And, Verdict
from metastored.hive.generation import Generation
from metastored.hive.names import (
    DEFAULT_PARTITION,
    CatalogNameError,
    decode_catalog_name,
    make_part_name,
    partition_values,
)
from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    AddPartitionsResult,
    GetPartitionNamesPsRequest,
    GetPartitionNamesPsResponse,
    GetPartitionRequest,
    GetPartitionResponse,
    GetPartitionsByFilterRequest,
    GetPartitionsByNamesRequest,
    GetPartitionsByNamesResult,
    GetPartitionsPsWithAuthRequest,
    GetPartitionsPsWithAuthResponse,
    Partition,
    PartitionListComposingSpec,
    PartitionsByExprRequest,
    PartitionsByExprResult,
    PartitionSpec,
    PartitionsRequest,
    PartitionsResponse,
)

HIVE_CATALOG: Final = "hive"
"""What Hive's own clients call the catalog when they mean none."""
GENERATION: Final = Generation.HIVE_3_1
"""Whose rules of filters apply."""

Groups = Sequence[str] | None


def database_name(text: str | None, catalog: str | None = None) -> str:
    """A database's name. Where Hive's clients put a catalog before it, it is the outer part of a nested name."""
    try:
        named = decode_catalog_name(text or "")
    except CatalogNameError as error:
        raise MetaException(str(error)) from error
    outer, db = catalog or named.catalog, named.database or ""
    return db if outer in (None, "", HIVE_CATALOG) else f"{outer}.{db}"


class Keys(NamedTuple):
    """The partition keys of a table."""

    db: str
    table: str
    typed: tuple[tuple[str, str], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.typed)

    def name_of(self, partition: Partition) -> str:
        return make_part_name(self.names, partition.values or ())


class PartitionCalls:
    """A function here that is named as a method of the API answers it."""

    source: Source

    def get_partitions(self, db: str, name: str, limit: int) -> tuple[Partition, ...]:
        return _first(self.source.partitions(database_name(db), name), limit)

    def get_partitions_with_auth(
        self, db: str, name: str, limit: int, user: str | None, groups: Groups
    ) -> tuple[Partition, ...]:
        return self.get_partitions(db, name, limit)

    def get_partitions_req(self, request: PartitionsRequest) -> PartitionsResponse:
        partitions = self.source.partitions(database_name(request.dbName, request.catName), request.tblName or "")
        return PartitionsResponse(_first(partitions, request.maxParts))

    def get_partition_names(self, db: str, name: str, limit: int) -> tuple[str, ...]:
        return self._names(self._keys(db, name), None, limit)

    def fetch_partition_names_req(self, request: PartitionsRequest) -> tuple[str, ...]:
        return self._names(self._keys(request.dbName, request.tblName, request.catName), None, request.maxParts)

    def get_partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        return self.source.partition(database_name(db), name, tuple(values))

    def get_partition_with_auth(
        self, db: str, name: str, values: Sequence[str], user: str | None, groups: Groups
    ) -> Partition:
        return self.get_partition(db, name, values)

    def get_partition_req(self, request: GetPartitionRequest) -> GetPartitionResponse:
        db = database_name(request.dbName, request.catName)
        return GetPartitionResponse(self.source.partition(db, request.tblName or "", tuple(request.partVals or ())))

    def get_partition_by_name(self, db: str, name: str, partition: str) -> Partition:
        return self.source.partition(database_name(db), name, partition_values(partition, self._keys(db, name).names))

    # By names

    def get_partitions_by_names(self, db: str, name: str, names: Sequence[str] | None) -> tuple[Partition, ...]:
        keys = self._keys(db, name)
        values = [partition_values(each, keys.names) for each in names or ()]
        return tuple(self.source.partitions_of(keys.db, keys.table, values))

    def get_partitions_by_names_req(self, request: GetPartitionsByNamesRequest) -> GetPartitionsByNamesResult:
        partitions = self.get_partitions_by_names(request.db_name or "", request.tbl_name or "", request.names)
        return GetPartitionsByNamesResult(partitions)

    # By some of their values: an empty one stands for any

    def get_partitions_ps(self, db: str, name: str, values: Sequence[str], limit: int) -> tuple[Partition, ...]:
        return self._matching(self._keys(db, name), values, limit)

    def get_partitions_ps_with_auth(
        self, db: str, name: str, values: Sequence[str], limit: int, user: str | None, groups: Groups
    ) -> tuple[Partition, ...]:
        return self.get_partitions_ps(db, name, values, limit)

    def get_partitions_ps_with_auth_req(
        self, request: GetPartitionsPsWithAuthRequest
    ) -> GetPartitionsPsWithAuthResponse:
        keys = self._keys(request.dbName, request.tblName, request.catName)
        if request.partNames:
            return GetPartitionsPsWithAuthResponse(self.get_partitions_by_names(keys.db, keys.table, request.partNames))
        return GetPartitionsPsWithAuthResponse(self._matching(keys, request.partVals or (), request.maxParts))

    def get_partition_names_ps(self, db: str, name: str, values: Sequence[str], limit: int) -> tuple[str, ...]:
        keys = self._keys(db, name)
        return _first(sorted(map(keys.name_of, self._matching(keys, values, -1))), limit)

    def get_partition_names_ps_req(self, request: GetPartitionNamesPsRequest) -> GetPartitionNamesPsResponse:
        keys = self._keys(request.dbName, request.tblName, request.catName)
        names = sorted(map(keys.name_of, self._matching(keys, request.partValues or (), -1)))
        return GetPartitionNamesPsResponse(_first(names, request.maxParts))

    # By filters and expressions

    def get_partitions_by_filter(self, db: str, name: str, where: str, limit: int) -> tuple[Partition, ...]:
        return self._filtered(self._keys(db, name), where, limit)

    def get_partitions_by_filter_req(self, request: GetPartitionsByFilterRequest) -> tuple[Partition, ...]:
        keys = self._keys(request.dbName, request.tblName, request.catName)
        return self._filtered(keys, request.filter or "", request.maxParts)

    def get_part_specs_by_filter(self, db: str, name: str, where: str, limit: int) -> tuple[PartitionSpec, ...]:
        keys = self._keys(db, name)
        listed = PartitionListComposingSpec(self._filtered(keys, where, limit))
        return (PartitionSpec(dbName=keys.db, tableName=keys.table, partitionList=listed),)

    def get_num_partitions_by_filter(self, db: str, name: str, where: str) -> int:
        return len(self._filtered(self._keys(db, name), where, -1))

    def get_partitions_by_expr(self, request: PartitionsByExprRequest) -> PartitionsByExprResult:
        return self._by_expression(self._keys(request.dbName, request.tblName, request.catName), request)

    def get_partition_names_req(self, request: PartitionsByExprRequest) -> tuple[str, ...]:
        keys = self._keys(request.dbName, request.tblName, request.catName)
        if not request.expr:
            return self._names(keys, None, request.maxParts)
        return tuple(map(keys.name_of, self._by_expression(keys, request).partitions or ()))

    # Writes

    def add_partition(self, partition: Partition) -> Partition:
        self.source.add_partitions(database_name(partition.dbName), partition.tableName or "", (partition,), False)
        return partition

    def add_partition_with_environment_context(
        self, partition: Partition, context: EnvironmentContext | None
    ) -> Partition:
        return self.add_partition(partition)

    def add_partitions(self, partitions: Sequence[Partition]) -> int:
        for partition in partitions[:1]:
            db, name = database_name(partition.dbName), partition.tableName or ""
            self.source.add_partitions(db, name, tuple(partitions), False)
        return len(partitions)

    def add_partitions_req(self, request: AddPartitionsRequest) -> AddPartitionsResult:
        db = database_name(request.dbName, request.catName)
        parts = tuple(request.parts or ())
        self.source.add_partitions(db, request.tblName or "", parts, bool(request.ifNotExists))
        return AddPartitionsResult(partitions=parts if request.needResult else None)

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        self.source.alter_partition(database_name(db), name, partition)

    def alter_partition_with_environment_context(
        self, db: str, name: str, partition: Partition, context: EnvironmentContext | None
    ) -> None:
        self.alter_partition(db, name, partition)

    def alter_partitions(self, db: str, name: str, partitions: Sequence[Partition]) -> None:
        for each in partitions:
            self.alter_partition(db, name, each)

    def alter_partitions_with_environment_context(
        self, db: str, name: str, partitions: Sequence[Partition], context: EnvironmentContext | None
    ) -> None:
        self.alter_partitions(db, name, partitions)

    def drop_partition(self, db: str, name: str, values: Sequence[str], delete_data: bool) -> bool:
        self.source.drop_partition(database_name(db), name, tuple(values))
        return True

    def drop_partition_by_name(self, db: str, name: str, partition: str, delete_data: bool) -> bool:
        return self.drop_partition(db, name, partition_values(partition, self._keys(db, name).names), delete_data)

    # How

    def _keys(self, db: str | None, name: str | None, catalog: str | None = None) -> Keys:
        keys = self.source.table(database_name(db, catalog), name or "").partitionKeys or ()
        typed = tuple((key.name or "", key.type or "") for key in keys)
        return Keys(database_name(db, catalog), name or "", typed)

    def _names(self, keys: Keys, where: Filter | None, limit: int | None) -> tuple[str, ...]:
        return _first(sorted(map(keys.name_of, self.source.partitions(keys.db, keys.table, where))), limit)

    def _matching(self, keys: Keys, values: Sequence[str], limit: int | None) -> tuple[Partition, ...]:
        if len(values) > len(keys.typed):
            raise MetaException(f"{keys.db}.{keys.table} has {len(keys.typed)} partition keys, not {len(values)}")
        given = [(at, value) for at, value in enumerate(values) if value]
        # Only texts: the source compares numbers as numbers, and here "1" is not "01".
        texts = [Comparison(keys.names[at], "=", value) for at, value in given if keys.typed[at][1] == "string"]
        partitions = self.source.partitions(keys.db, keys.table, And(tuple(texts)) if texts else None)
        return _first((part for part in partitions if _agrees(part, given)), limit)

    def _filtered(self, keys: Keys, where: str, limit: int | None) -> tuple[Partition, ...]:
        try:
            tree = parse_filter(where, GENERATION)
            holds = predicate(tree, keys.typed, GENERATION)
        except FilterError as error:
            at = f"{keys.db}.{keys.table}"
            raise MetaException(f"the filter {where!r} over the partitions of {at}: {error}") from error
        partitions = self.source.partitions(keys.db, keys.table, tree)
        return _first((each for each in partitions if holds(each.values or ())), limit)

    def _by_expression(self, keys: Keys, request: PartitionsByExprRequest) -> PartitionsByExprResult:
        limit = request.maxParts if request.maxParts is not None and request.maxParts > 0 else -1
        where: Filter | None = None
        try:
            tree = read_expression(request.expr or b"", GENERATION)
            if isinstance(tree, Column | Constant | Apply):
                where = as_filter(tree, keys.typed, GENERATION)
                verdict = pruner(tree, keys.typed, GENERATION, request.defaultPartitionName or DEFAULT_PARTITION)
            else:
                where, verdict = tree, predicate(tree, keys.typed, GENERATION)
        except (FilterError, MalformedExpression) as error:
            raise MetaException(f"the expression over the partitions of {keys.db}.{keys.table}: {error}") from None
        except UnreadableExpression:
            # As Hive does: the client filters all of them by itself.
            return PartitionsByExprResult(_first(self.source.partitions(keys.db, keys.table), limit), True)
        judged = [(part, verdict(part.values or ())) for part in self.source.partitions(keys.db, keys.table, where)]
        kept: list[tuple[Partition, Verdict]] = [each for each in judged if each[1] is not False]
        unknown = any(each[1] is None for each in kept)
        return PartitionsByExprResult(_first((part for part, _ in kept), limit), unknown)


def _agrees(partition: Partition, given: Sequence[tuple[int, str]]) -> bool:
    values = partition.values or ()
    return all(values[at] == value for at, value in given)


def _first(items: Iterable[Any], limit: int | None) -> tuple[Any, ...]:
    each = tuple(items)
    return each if limit is None or limit < 0 else each[:limit]
