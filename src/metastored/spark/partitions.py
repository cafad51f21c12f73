"""Partitions in Spark's external catalog: create, read, list, rename, alter and drop them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from metastored.collection import collection_paused
from metastored.errors import (
    AlreadyExistsException,
    MetaException,
    NoSuchObjectException,
    SparkCatalogError,
)
from metastored.filters.spark.conversion import OLD_WILDCARD, SQL_WILDCARD, FilterRules, convert_filters
from metastored.filters.spark.predicates import is_expression, matching_rows, parse_predicate, selects
from metastored.filters.where import Condition
from metastored.hive.generation import Generation
from metastored.hive.locations import canonical
from metastored.hive.names import partition_name_to_vals, partition_names_to_vals
from metastored.model.names import TableName
from metastored.model.spark.partition_specs import Selection, restored_specs, specs_of
from metastored.model.spark.partitions import (
    NullableSpec,
    declared_names,
    from_hive_partition,
    full_values,
    generate_partition_path,
    is_partial_spec,
    keys_of,
    new_hive_partition,
    partial_values,
    restore_partition_metadata,
    restored_name,
    restored_partitions,
    to_hive_partition,
    to_metastore_spec,
    with_stats_properties,
)
from metastored.model.spark.values import CatalogTable, CatalogTablePartition, CatalogTableType
from metastored.spark import directories
from metastored.spark.connection import LOG, client_errors, named
from metastored.spark.tables import Tables
from metastored.wire.generated.common import EnvironmentContext, Table
from metastored.wire.generated.partitions import Partition, PartitionSpec

if TYPE_CHECKING:
    import pyarrow.compute

BATCH = 1000
"""How many partitions are read by name in one call."""


class _Found(NamedTuple):
    """A table, as the metastore has it and as Spark sees it."""

    name: TableName
    struct: Table
    table: CatalogTable

    @property
    def keys(self) -> tuple[str, ...]:
        return keys_of(self.struct)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the partition keys as the table declares them."""
        return declared_names(self.keys, self.table.partition_column_names)

    def restored(self, partitions: Iterable[Partition]) -> list[CatalogTablePartition]:
        with collection_paused():
            return restored_partitions(list(partitions), self.names, self.table)

    def restored_from(self, specs: Sequence[PartitionSpec], selected: Selection) -> list[CatalogTablePartition]:
        """Those of the partitions in specs that are selected by their values."""
        with collection_paused():
            return restored_specs(specs, selected, self.keys, self.names, self.table)


class Partitions(Tables):
    """The methods for partitions; each has the name of Spark's in Python's way."""

    def _found(self, db: str, table: str) -> _Found:
        struct = self._table(db, table)
        return _Found(named(db, table), struct, self._read(struct))

    # --- create, drop --------------------------------------------------------------------------------------

    def create_partitions(
        self, db: str, table: str, parts: Sequence[CatalogTablePartition], ignore_if_exists: bool = False
    ) -> None:
        """Spark's createPartitions. A partition without a location gets one in the table's, with the declared names.

        As in Spark, statistics are not stored: `alter_partitions` does that. Raises SparkCatalogError:
        TABLE_OR_VIEW_NOT_FOUND, PARTITIONS_ALREADY_EXIST.
        """
        with client_errors():
            stored = self._found(db, table)
            columns = stored.table.partition_column_names
            structs = []
            for part in parts:
                location = part.storage.location_uri
                if location is None:
                    location = generate_partition_path(part.spec, columns, stored.table.location)
                located = replace(
                    part,
                    spec=to_metastore_spec(part.spec),
                    storage=replace(part.storage, location_uri=canonical(location)),
                )
                structs.append(new_hive_partition(located, stored.struct))
            try:
                self.client.add_partitions(stored.name, structs, ignore_if_exists)
            except AlreadyExistsException as error:
                raise _exist(db, table, [each.spec for each in parts]) from error

    def drop_partitions(
        self,
        db: str,
        table: str,
        parts: Sequence[NullableSpec],
        ignore_if_not_exists: bool = False,
        purge: bool = False,
        retain_data: bool = False,
    ) -> None:
        """Spark's dropPartitions: all partitions that have the values of a spec, which may be a partial one.

        Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, PARTITIONS_NOT_FOUND.
        """
        with client_errors():
            stored = self._found(db, table)
            matching: dict[tuple[str, ...], None] = {}
            for spec in parts:
                names = self._names(stored, to_metastore_spec(spec))
                if not names and not ignore_if_not_exists:
                    raise _missing(db, table, [spec])
                matching |= dict.fromkeys(tuple(partition_name_to_vals(each)) for each in names)
            environment = EnvironmentContext(properties={"ifPurge": "TRUE"} if purge else {})
            for values in matching:
                self.client.api.drop_partition_with_environment_context(
                    stored.name.database_field, stored.name.table, values, not retain_data, environment
                )

    # --- rename, alter -------------------------------------------------------------------------------------

    def rename_partitions(
        self, db: str, table: str, specs: Sequence[NullableSpec], new_specs: Sequence[NullableSpec]
    ) -> None:
        """Spark's renamePartitions: the metastore moves the directories of a managed table.

        Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, PARTITIONS_NOT_FOUND, PARTITIONS_ALREADY_EXIST.
        """
        if len(specs) != len(new_specs):
            raise SparkCatalogError(
                "INTERNAL_ERROR", f"{len(specs)} partitions cannot get {len(new_specs)} new specs: give one for each"
            )
        with client_errors():
            stored = self._found(db, table)
            for old, new in zip(specs, new_specs, strict=True):
                old_values = full_values(to_metastore_spec(old), stored.keys)
                new_spec = to_metastore_spec(new)
                if self._partition(stored, full_values(new_spec, stored.keys)) is not None:
                    raise _exist(db, table, [new])
                partition = self._partition(stored, old_values)
                if partition is None:
                    raise _missing(db, table, [old])
                renamed = replace(from_hive_partition(partition, stored.keys), spec=new_spec)
                self.client.api.rename_partition(
                    stored.name.database_field, stored.name.table, old_values, to_hive_partition(renamed, stored.struct)
                )
            columns = stored.table.partition_column_names
            if stored.table.table_type is CatalogTableType.MANAGED and any(each != each.lower() for each in columns):
                self._with_declared_directories(stored, new_specs)

    def _with_declared_directories(self, stored: _Found, specs: Sequence[NullableSpec]) -> None:
        """The metastore made directories with the names of the columns in lower case: gives them the declared ones."""
        changed = []
        for spec in specs:
            struct = self._partition(stored, full_values(to_metastore_spec(spec), stored.keys))
            if struct is None:
                continue
            partition = from_hive_partition(struct, stored.keys)
            made, columns = partition.location, stored.table.partition_column_names
            wanted = canonical(generate_partition_path(spec, columns, stored.table.location))
            if made == wanted:
                continue
            if directories.exists(made) and not directories.exists(wanted):
                directories.make(_parent(wanted))
                directories.move(made, wanted)
                for level in range(1, len(columns)):
                    above = made.rsplit("/", level)[0]
                    if above == wanted.rsplit("/", level)[0] or not directories.is_empty(above):
                        break
                    directories.remove(above)
            changed.append(replace(partition, storage=replace(partition.storage, location_uri=wanted)))
        self._alter_partitions(stored, changed)

    def alter_partitions(self, db: str, table: str, parts: Sequence[CatalogTablePartition]) -> None:
        """Spark's alterPartitions: replaces the storage, the parameters and the statistics of partitions.

        Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, and if a partition does not exist.
        """
        with client_errors():
            stored = self._found(db, table)
            self._alter_partitions(stored, [replace(each, spec=to_metastore_spec(each.spec)) for each in parts])

    def _alter_partitions(self, stored: _Found, parts: Sequence[CatalogTablePartition]) -> None:
        if not parts:
            return
        structs = tuple(to_hive_partition(with_stats_properties(_located(each)), stored.struct) for each in parts)
        # As Spark's own: the metastore counts the files of the partitions.
        self.client.api.alter_partitions(stored.name.database_field, stored.name.table, structs)

    # --- read ----------------------------------------------------------------------------------------------

    def get_partition(self, db: str, table: str, spec: NullableSpec) -> CatalogTablePartition:
        """Spark's getPartition: by a complete spec. Raises SparkCatalogError: PARTITIONS_NOT_FOUND."""
        partition = self.get_partition_option(db, table, spec)
        if partition is None:
            raise _missing(db, table, [spec])
        return partition

    def get_partition_option(self, db: str, table: str, spec: NullableSpec) -> CatalogTablePartition | None:
        """Spark's getPartitionOption: None if there is no such partition. Raises SparkCatalogError."""
        with client_errors():
            stored = self._found(db, table)
            partition = self._partition(stored, full_values(to_metastore_spec(spec), stored.keys))
            if partition is None:
                return None
            return restore_partition_metadata(from_hive_partition(partition, stored.keys), stored.table)

    def _partition(self, stored: _Found, values: tuple[str, ...]) -> Partition | None:
        try:
            return self.client.api.get_partition(stored.name.database_field, stored.name.table, values)
        except NoSuchObjectException:
            return None

    # --- list ----------------------------------------------------------------------------------------------

    def list_partition_names(self, db: str, table: str, partial_spec: NullableSpec | None = None) -> list[str]:
        """Spark's listPartitionNames: `Part=1/Hour=2`, sorted, with the declared names of the columns, escaped."""
        with client_errors():
            stored = self._found(db, table)
            spec = None if partial_spec is None else to_metastore_spec(partial_spec)
            columns = stored.table.partition_column_names
            return [restored_name(each, columns) for each in sorted(self._names(stored, spec))]

    def _names(self, stored: _Found, spec: dict[str, str] | None) -> list[str]:
        """The names in the metastore of the partitions that have the values of a spec."""
        name = stored.name
        if spec is None:
            return list(self.client.api.get_partition_names(name.database_field, name.table, -1))
        values = partial_values(spec, stored.keys)
        names = self.client.api.get_partition_names_ps(name.database_field, name.table, values, -1)
        # Hive reads a dot in a value as any character.
        return [each for each in names if _has_values(partition_name_to_vals(each), values)]

    def list_partitions(
        self, db: str, table: str, partial_spec: NullableSpec | None = None
    ) -> list[CatalogTablePartition]:
        """Spark's listPartitions: all, or those that have the values of a partial spec."""
        with client_errors():
            stored = self._found(db, table)
            if partial_spec is None:
                return stored.restored(self.client.partitions(stored.name))
            spec = to_metastore_spec(partial_spec)
            values = partial_values(spec, stored.keys)
            listed = self.client.api.get_partitions_ps(stored.name.database_field, stored.name.table, values, -1)
            # Hive reads a dot in a value as any character.
            return [each for each in stored.restored(listed) if is_partial_spec(spec, to_metastore_spec(each.spec))]

    def list_partitions_by_filter(
        self,
        db: str,
        table: str,
        predicates: str | pyarrow.compute.Expression | Sequence[str | pyarrow.compute.Expression],
        default_time_zone_id: str | None = None,
    ) -> list[CatalogTablePartition]:
        """Spark's listPartitionsByFilter: the partitions for which all predicates hold.

        A predicate is a text in Spark's syntax, `ds >= '2024-01-01' AND region IN ('eu', 'us')`, or an expression of
        pyarrow. The metastore evaluates what its language can express; all predicates are applied to its reply.
        Raises SparkCatalogError: _LEGACY_ERROR_TEMP_1205 for other columns than the partition columns,
        PARSE_SYNTAX_ERROR, DATATYPE_MISMATCH.
        """
        one = isinstance(predicates, str) or is_expression(predicates)
        given = [predicates] if one else list(predicates)
        with client_errors():
            stored = self._found(db, table)
            schema = stored.table.partition_schema
            zone = default_time_zone_id or self.settings.time_zone
            trees: list[tuple[str, Condition]] = [
                (each, parse_predicate(each, schema, zone)) for each in given if isinstance(each, str)
            ]
            holds = [selects(text, tree, schema) for text, tree in trees]
            expressions = [each for each in given if not isinstance(each, str)]

            def selected(rows: Sequence[Sequence[str]]) -> list[int]:
                numbers = list(range(len(rows)))
                for holding in holds:
                    numbers = [numbers[at] for at in holding([rows[at] for at in numbers])]
                for expression in expressions:
                    among = matching_rows(expression, schema, [rows[at] for at in numbers])
                    numbers = [numbers[at] for at in among]
                return numbers

            if not given:
                return stored.restored(self.client.partitions(stored.name))
            filter = self._filter(stored, [tree for _, tree in trees])
            listed = self._by_filter(stored, filter) if filter else None
            if listed is None:
                names = self.client.api.get_partition_names(stored.name.database_field, stored.name.table, -1)
                kept = [names[at] for at in selected(partition_names_to_vals(names, stored.keys))]
                return stored.restored(self._by_names(stored, kept))
            return stored.restored_from(listed, selected)

    def _filter(self, stored: _Found, trees: list[Condition]) -> str:
        """What the metastore evaluates; it knows partition columns whose types Hive has."""
        schema = stored.table.partition_schema
        if tuple(each.lower() for each in schema.names) != stored.keys:
            return ""
        settings = self.settings
        rules = FilterRules(
            settings.advanced_partition_predicate_pushdown, settings.partition_pruning_in_set_threshold, OLD_WILDCARD
        )
        columns = {each.name: each.data_type for each in schema}
        filter = convert_filters(trees, columns, rules)
        if " like " in filter and self.client.capabilities.generation() >= Generation.HIVE_4_0:
            return convert_filters(trees, columns, replace(rules, wildcard=SQL_WILDCARD))
        return filter

    def _by_filter(self, stored: _Found, filter: str) -> list[PartitionSpec] | None:
        """The metastore's partitions for a filter; None if it refuses the filter and the settings allow that.

        In specs, many partitions share a storage descriptor: metastored then sends a tenth of the bytes, and other
        metastores as many as without specs.
        """
        args = stored.name.database_field, stored.name.table, filter, -1
        try:
            return specs_of(self.client.newest("get_part_specs_by_filter", args, "get_partitions_by_filter", args))
        except MetaException as error:
            if not self.settings.partition_pruning_fallback_on_exception:
                raise SparkCatalogError(
                    "INTERNAL_ERROR_HIVE_METASTORE_PARTITION_FILTER",
                    f"the metastore refuses the filter {filter!r} of the partitions of {stored.name}: {error}. Set "
                    "spark.sql.hive.metastorePartitionPruningFallbackOnException to read all partitions instead",
                ) from error
            LOG.warning(
                "Caught Hive MetaException attempting to get partition metadata by filter from Hive. "
                "Falling back to fetching all partition metadata: %s",
                error,
            )
            return None

    def _by_names(self, stored: _Found, names: Sequence[str]) -> list[Partition]:
        partitions: list[Partition] = []
        for at in range(0, len(names), BATCH):
            partitions += self.client.api.get_partitions_by_names(
                stored.name.database_field, stored.name.table, tuple(names[at : at + BATCH])
            )
        return partitions


def _located(partition: CatalogTablePartition) -> CatalogTablePartition:
    location = partition.storage.location_uri
    if location is None:
        return partition
    return replace(partition, storage=replace(partition.storage, location_uri=canonical(location)))


def _parent(location: str) -> str:
    return location.rsplit("/", 1)[0]


def _has_values(values: Sequence[str], wanted: Sequence[str]) -> bool:
    return all(not each or each == value for each, value in zip(wanted, values, strict=True))


def _shown(specs: Sequence[NullableSpec]) -> str:
    return ", ".join("(" + ", ".join(f"{name}={value}" for name, value in each.items()) + ")" for each in specs)


def _missing(db: str, table: str, specs: Sequence[NullableSpec]) -> SparkCatalogError:
    return SparkCatalogError(
        "PARTITIONS_NOT_FOUND", f"the partition(s) {_shown(specs)} cannot be found in table {db}.{table}"
    )


def _exist(db: str, table: str, specs: Sequence[NullableSpec]) -> SparkCatalogError:
    return SparkCatalogError(
        "PARTITIONS_ALREADY_EXIST", f"the partition(s) {_shown(specs)} already exist in table {db}.{table}"
    )
