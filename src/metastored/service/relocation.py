"""Rewrites stored locations below one directory to another one, in one transaction: Hive's `metatool -updateLocation`.

It changes metadata alone: no directory is moved, created or read. Locations are compared by whole path components,
in any spelling (`file:/x`, `file:///x`, `/x`). It rewrites:

    catalogs     locationUri
    databases    locationUri, managedLocationUri
    tables       sd.location, the locations of skewed values
    partitions   the same, stored as bases, suffixes or complete URIs
    properties   `path` (Spark's data source tables), `avro.schema.url`, and the keys that the caller names, in the
                 properties of tables, storage descriptors and serdes. Hive's metatool rewrites named keys only.

Iceberg's `metadata_location` is rewritten only when the caller names it, as by Hive's metatool: the files of an Iceberg
table refer to each other by complete URIs, and a moved copy of them still points to the old directory. Events,
functions' resources and Hive archives (`har:`) stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from metastored.errors import StoreError
from metastored.hive.locations import LocationError, canonical, is_under, moved, name
from metastored.service.core import rows
from metastored.store.engine.database import Database as Store
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, databases, partitions, tables
from metastored.store.objects.catalogs import CatalogRow
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.tables import TableRow
from metastored.store.warehouse import jobs, relocation
from metastored.wire.generated.common import StorageDescriptor
from metastored.wire.structs import replace

PROPERTIES: Final = ("path", "avro.schema.url")
"""The properties that hold locations in any table: of Spark, and of Hive's Avro serde."""

METADATA_LOCATION: Final = "metadata_location"
"""Where the current metadata file of an Iceberg table is."""


class Moved(NamedTuple):
    """A catalog, database or table whose locations changed."""

    name: str
    old: str | None
    """The object's own location; None if only its partitions or properties changed."""
    new: str | None
    partitions: int = 0
    properties: int = 0


@dataclass(frozen=True)
class Relocated:
    """The rewritten objects. A database with two locations may be there twice."""

    catalogs: list[Moved] = field(default_factory=list)
    databases: list[Moved] = field(default_factory=list)
    tables: list[Moved] = field(default_factory=list)
    iceberg: list[str] = field(default_factory=list)
    """Iceberg tables whose metadata_location is below the old directory and was not rewritten."""
    roots: list[str] = field(default_factory=list)
    """The locations of all databases before the change."""

    @property
    def partitions(self) -> int:
        return sum(table.partitions for table in self.tables)

    @property
    def properties(self) -> int:
        return sum(table.properties for table in self.tables)

    @property
    def nothing(self) -> bool:
        return not (self.catalogs or self.databases or self.tables)


def relocate(
    database: Store, old: str, new: str, *, properties: Collection[str] = (), dry_run: bool = False
) -> Relocated:
    """Rewrites every location below `old` to be below `new`, all or none; a dry run writes nothing.

    Raises StoreError if directories below `old` are still to be moved or removed by a server.
    """
    if dry_run:
        with database.read() as tx:
            return _Relocation(tx, old, new, properties, write=False).run()
    return database.run(lambda tx: _Relocation(tx, old, new, properties, write=True).run())


def _is_below(location: str, ancestor: str) -> bool:
    """As `is_under`; a text that is not a location, which an import may have stored, is below no directory."""
    try:
        return is_under(location, ancestor)
    except LocationError:
        return False


class _Relocation:
    """One walk over all catalogs, databases and tables, in the order in which they are locked."""

    def __init__(self, tx: Transaction, old: str, new: str, properties: Collection[str], *, write: bool) -> None:
        self._tx: Final = tx
        self._old: Final = canonical(old)
        self._new: Final = canonical(new)
        self._keys: Final = frozenset(key.lower() for key in (*PROPERTIES, *properties))
        self._write: Final = write
        # However a location is written, it contains the directory's own name: rows without that name need not be
        # decoded.
        self._needle: Final = name(self._old).encode("utf-8", "surrogateescape")
        self._result: Final = Relocated()

    def run(self) -> Relocated:
        self._check_jobs()
        for catalog in catalogs.rows(self._tx):
            self._catalog(catalog)
            for database_row in databases.rows(self._tx, catalog.name):
                self._database(catalog, database_row)
        if self._write:
            # Everything is locked now: no further job can be added for the rewritten directories.
            self._check_jobs()
        return self._result

    def _check_jobs(self) -> None:
        pending = [job for job in jobs.all(self._tx) if any(self._overlaps(end) for end in (job.source, job.target))]
        if pending:
            raise StoreError(
                f"{len(pending)} directories at or below {self._old} are still to be moved or removed, the first is "
                f"{pending[0].source}; a running server does it within a minute: relocate after that"
            )

    def _overlaps(self, location: str | None) -> bool:
        return location is not None and (_is_below(location, self._old) or _is_below(self._old, location))

    def _moved(self, location: str | None) -> str | None:
        """The new location; None if it does not change."""
        changed = moved(location, self._old, self._new) if location else None
        return None if changed == location else changed

    # --- catalogs, databases ---

    def _catalog(self, row: CatalogRow) -> None:
        catalog = rows.catalog_of(row)
        location = self._moved(catalog.locationUri)
        if location is None:
            return
        self._result.catalogs.append(Moved(row.name, catalog.locationUri, location))
        if self._write:
            catalogs.update(self._tx, row.id, rows.catalog_body(replace(catalog, locationUri=location)))

    def _database(self, catalog: CatalogRow, database_row: DatabaseRow) -> None:
        row: DatabaseRow | None = database_row
        if self._write:
            databases.lock(self._tx, database_row.id, exclusive=True)
            row = databases.find(self._tx, catalog.name, database_row.name)
        if row is None:
            return  # It was dropped before it could be locked.
        database = rows.database_of(row, catalog.name)
        location, managed = self._moved(database.locationUri), self._moved(database.managedLocationUri)
        self._result.roots.extend(uri for uri in (database.locationUri, database.managedLocationUri) if uri)
        full = f"{catalog.name}.{row.name}"
        if location is not None or managed is not None:
            changes = ((database.locationUri, location), (database.managedLocationUri, managed))
            self._result.databases.extend(Moved(full, old, new) for old, new in changes if new is not None)
            if self._write:
                after = replace(
                    database,
                    locationUri=location or database.locationUri,
                    managedLocationUri=managed or database.managedLocationUri,
                )
                databases.update(self._tx, row.id, rows.database_body(after))
        for table in relocation.each_table(self._tx, row.id, locked=self._write):
            self._table(f"{full}.{table.name}", catalog.name, row.name, table)

    # --- tables, partitions ---

    def _table(self, full: str, catalog: str, database: str, row: TableRow) -> None:
        own = self._definition(full, catalog, database, row)
        number = self._partitions(row.id)
        properties = own.properties + self._shapes(row.id)
        if own.new is not None or number or properties:
            self._result.tables.append(own._replace(partitions=number, properties=properties))

    def _definition(self, full: str, catalog: str, database: str, row: TableRow) -> Moved:
        unchanged = Moved(full, None, None)
        if self._needle not in row.body:
            return unchanged
        table = rows.table_of(row, catalog, database)
        sd, changed = self._storage(table.sd) if table.sd is not None else (None, 0)
        parameters, more = self._properties(table.parameters)
        if METADATA_LOCATION not in self._keys and self._moved((parameters or {}).get(METADATA_LOCATION)) is not None:
            self._result.iceberg.append(full)
        location = self._moved(table.sd.location if table.sd is not None else None)
        if sd is not None and location is not None:
            sd = replace(sd, location=location)
        after = replace(table, sd=sd, parameters=parameters)
        if after == table:
            return unchanged
        if self._write:
            columns = rows.table_columns(after)
            tables.update(
                self._tx,
                row.id,
                type=row.type,
                owner=row.owner,
                last_access=row.last_access,
                write_id=row.write_id,
                body=columns.body,
                params=columns.params,
                creation_metadata=row.creation_metadata,
            )
        old = table.sd.location if table.sd is not None and location is not None else None
        return Moved(full, old, location, properties=changed + more)

    def _partitions(self, table_id: int) -> int:
        """Rewrites the locations of partitions; returns how many changed."""
        bases = partitions.bases(self._tx, table_id)
        below = {number: uri for number, base in bases.items() if (uri := self._moved(base)) is not None}
        # A base above the old directory has partitions on either side of it.
        above = [number for number, base in bases.items() if number not in below and _is_below(self._old, base)]
        number = relocation.count_on(self._tx, table_id, list(below)) if below else 0
        for page in relocation.located_pages(self._tx, table_id, above):
            moves = []
            for part in page:
                tail = part.name if part.suffix is None else part.suffix
                location = self._moved(tail if part.base is None else bases[part.base] + tail)
                if location is not None:
                    moves.append((location, part.id))
            number += len(moves)
            if moves and self._write:
                relocation.move_partitions(self._tx, moves)
        if self._write:
            for no, uri in below.items():
                partitions.set_base(self._tx, table_id, no, uri)
        return number

    def _shapes(self, table_id: int) -> int:
        """Rewrites the shapes that partitions share; returns how many properties changed."""
        number = 0
        for no, shape in relocation.each_shape(self._tx, table_id):
            if self._needle not in shape:
                continue
            sd, changed = self._storage(rows.storage_of(shape))
            number += changed
            if changed and self._write:
                partitions.set_shape(self._tx, table_id, no, rows.shape_of(sd))
        return number

    def _storage(self, sd: StorageDescriptor) -> tuple[StorageDescriptor, int]:
        """A storage descriptor with its properties and skewed directories rewritten, and how many were."""
        parameters, number = self._properties(sd.parameters)
        serde, skewed = sd.serdeInfo, sd.skewedInfo
        if serde is not None:
            changed, more = self._properties(serde.parameters)
            serde, number = replace(serde, parameters=changed), number + more
        if skewed is not None and skewed.skewedColValueLocationMaps:
            maps = skewed.skewedColValueLocationMaps
            moved = {values: self._moved(uri) or uri for values, uri in maps.items()}
            number += sum(moved[values] != uri for values, uri in maps.items())
            skewed = replace(skewed, skewedColValueLocationMaps=moved)
        return replace(sd, parameters=parameters, serdeInfo=serde, skewedInfo=skewed), number

    def _properties(self, properties: Mapping[str, str] | None) -> tuple[dict[str, str] | None, int]:
        if properties is None:
            return None, 0
        changed = {
            key: location
            for key, value in properties.items()
            if key.lower() in self._keys and (location := self._moved(value)) is not None
        }
        return {**properties, **changed}, len(changed)
