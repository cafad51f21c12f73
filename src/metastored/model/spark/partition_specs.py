"""Partitions that a metastore lists as specs, in which many share one storage descriptor. Pure.

A spec has either complete partitions, or partitions that share a storage descriptor and have a path below its location.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import cast

from metastored.hive.names import make_part_name
from metastored.model.spark.bulk import made
from metastored.model.spark.converting import from_hive_storage
from metastored.model.spark.partitions import restored_partitions, restored_with
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTablePartition
from metastored.wire.generated.partitions import (
    Partition,
    PartitionListComposingSpec,
    PartitionSpec,
    PartitionWithoutSD,
)

Selection = Callable[[list[Sequence[str]]], Sequence[int]]
"""Takes the values of partitions, and returns the numbers of some of them, which increase."""


def specs_of(listed: Sequence[PartitionSpec | Partition]) -> list[PartitionSpec]:
    """The specs that a metastore listed. Partitions, from a metastore without specs, become a spec."""
    partitions = tuple(each for each in listed if isinstance(each, Partition))
    if partitions:
        return [PartitionSpec(partitionList=PartitionListComposingSpec(partitions))]
    return [each for each in listed if isinstance(each, PartitionSpec)]


def members(spec: PartitionSpec) -> Sequence[Partition] | Sequence[PartitionWithoutSD]:
    """The partitions of a spec: complete ones, or such that share its storage."""
    if spec.partitionList is not None:
        return spec.partitionList.partitions or ()
    return (spec.sharedSDPartitionSpec.partitions if spec.sharedSDPartitionSpec is not None else None) or ()


def restored_specs(
    specs: Sequence[PartitionSpec],
    selected: Selection,
    keys: tuple[str, ...],
    columns: Sequence[str],
    table: CatalogTable,
) -> list[CatalogTablePartition]:
    """The selected partitions of specs as Spark's users see them; those of several specs are sorted by their names.

    `keys` are the names of the partition keys in the metastore, and `columns` those that the table declares. Raises
    SparkCatalogError.
    """
    groups = [members(each) for each in specs]
    values: list[Sequence[str]] = [each.values or () for group in groups for each in group]
    numbers = selected(values)
    restored: list[CatalogTablePartition] = []
    start = first = 0
    for spec, group in zip(specs, groups, strict=True):
        last = bisect_left(numbers, start + len(group), first)
        chosen = group if last - first == len(group) else [group[at - start] for at in numbers[first:last]]
        if spec.partitionList is not None:
            restored += restored_partitions(cast("Sequence[Partition]", chosen), columns, table)
        else:
            restored += _restored_members(cast("Sequence[PartitionWithoutSD]", chosen), spec, columns, table)
        start, first = start + len(group), last
    if len(specs) > 1:
        names = [make_part_name(keys, tuple(values[at])) for at in numbers]
        restored = [restored[at] for at in sorted(range(len(names)), key=names.__getitem__)]
    return restored


def _restored_members(
    partitions: Sequence[PartitionWithoutSD], spec: PartitionSpec, columns: Sequence[str], table: CatalogTable
) -> list[CatalogTablePartition]:
    shared = from_hive_storage(spec.sharedSDPartitionSpec.sd if spec.sharedSDPartitionSpec is not None else None)
    root = shared.location_uri or spec.rootPath
    storages = made(
        CatalogStorage,
        len(partitions),
        [_location(root, each.relativePath) for each in partitions],
        repeat(shared.input_format),
        repeat(shared.output_format),
        repeat(shared.serde),
        repeat(shared.compressed),
        [dict(shared.properties) for _ in partitions],
        repeat(shared.serde_name),
    )
    return restored_with(partitions, storages, columns, table)


def _location(root: str | None, path: str | None) -> str | None:
    return root if path is None else (root or "") + path or None
