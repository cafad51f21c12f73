"""One Iceberg table without a catalog, by the path of its metadata. Needs the extra `iceberg`.

The path is a metadata file, or the table's directory, whose newest metadata is read at each call. It answers under
whatever names it is asked for. It is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from metastored.connectors.adapted.sources import Source
from metastored.connectors.iceberg.guarded import file_io
from metastored.connectors.iceberg.shown import shown_table
from metastored.connectors.iceberg.statistics import column_statistics
from metastored.errors import InvalidOperationException, MetaException, NoSuchObjectException
from metastored.filters.hive.tree import Filter
from metastored.model.remotes.hosts import ALL_HOSTS, AllowedHosts
from metastored.wire.generated.common import ColumnStatisticsObj, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable

METADATA: Final = "metadata"
_FILE: Final = re.compile(r"(?:v(?P<hadoop>\d+)|(?P<catalog>\d+)-[0-9a-fA-F-]+)(?:\.gz)?\.metadata\.json(?:\.gz)?")


class PathSource(Source):
    """The table at a path. `properties` are those of pyiceberg's FileIO; it connects to `hosts` only."""

    def __init__(self, path: str, properties: Mapping[str, str], hosts: AllowedHosts = ALL_HOSTS) -> None:
        self._path = path.rstrip("/")
        self._properties = dict(properties)
        self._hosts = hosts

    def close(self) -> None: ...

    def databases(self) -> Sequence[str]:
        return ()

    def database(self, name: str) -> Database:
        return Database(name, f"the Iceberg table at {self._path}", self._path.rpartition("/")[0], {})

    def tables(self, db: str) -> Sequence[str]:
        """The table under the name of its directory."""
        directory = self._path.partition(f"/{METADATA}/")[0]
        return (directory.rpartition("/")[2].lower(),)

    def table(self, db: str, name: str) -> Table:
        return shown_table(db, name, self._load(name))

    def partitions(self, db: str, name: str, where: Filter | None = None) -> Iterable[Partition]:
        return ()

    def column_statistics(self, db: str, name: str, columns: Sequence[str]) -> Sequence[ColumnStatisticsObj]:
        table = self._load(name)
        try:
            return column_statistics(table, columns)
        except OSError as error:
            raise MetaException(f"{self._path} cannot be read: {error.strerror or type(error).__name__}") from None

    def _load(self, name: str) -> IcebergTable:
        from pyiceberg.exceptions import ValidationError

        try:
            return self._static_table(self._metadata())
        except FileNotFoundError:
            raise NoSuchObjectException(f"{name} table not found: there is no Iceberg table at {self._path}") from None
        except (ValidationError, ValueError, KeyError):
            # Without the text: it would show what is in the file.
            raise MetaException(f"{self._path} is not the metadata of an Iceberg table") from None
        except OSError as error:
            raise MetaException(f"{self._path} cannot be read: {error.strerror or type(error).__name__}") from None

    def _static_table(self, location: str) -> IcebergTable:
        """As pyiceberg's `StaticTable.from_metadata`, which loads the class that the metadata names."""
        from pyiceberg.catalog.noop import NoopCatalog
        from pyiceberg.serializers import FromInputFile
        from pyiceberg.table import StaticTable

        own = file_io(self._properties, {}, self._hosts, self._path)
        metadata = FromInputFile.table_metadata(own.new_input(location))
        storage = file_io(self._properties, metadata.properties, self._hosts, self._path)
        return StaticTable(("static-table", location), metadata, location, storage, NoopCatalog("static-table"))

    def _metadata(self) -> str:
        """The file to read."""
        if self._path.endswith((".metadata.json", ".metadata.json.gz")):
            return self._path
        from pyarrow.fs import FileSelector, FileType

        io: Any = file_io(self._properties, {}, self._hosts, self._path)
        scheme, netloc, directory = io.parse_location(self._path, self._properties)
        listed = io.fs_by_scheme(scheme, netloc).get_file_info(FileSelector(f"{directory}/{METADATA}"))
        files = [each for each in listed if each.type == FileType.File]
        newest = newest_metadata([(each.base_name, each.mtime_ns or 0) for each in files])
        if newest is None:
            raise FileNotFoundError(self._path)
        return f"{self._path}/{METADATA}/{newest}"

    # Writes

    def _refuse(self, what: str) -> NoReturn:
        raise InvalidOperationException(
            f"{what} is an Iceberg table at a path ({self._path}), which is only read: commit through its own catalog"
        )

    def create_database(self, database: Database) -> None:
        self._refuse(database.name or "")

    def alter_database(self, name: str, database: Database) -> None:
        self._refuse(name)

    def drop_database(self, name: str) -> None:
        self._refuse(name)

    def create_table(self, table: Table) -> None:
        self._refuse(f"{table.dbName}.{table.tableName}")

    def alter_table(self, db: str, name: str, table: Table) -> None:
        self._refuse(f"{db}.{name}")

    def alter_table_if(self, db: str, name: str, table: Table, key: str, value: str | None) -> None:
        self._refuse(f"{db}.{name}")

    def drop_table(self, db: str, name: str, purge: bool) -> None:
        self._refuse(f"{db}.{name}")


def newest_metadata(files: Sequence[tuple[str, int]]) -> str | None:
    """Of names and times, the name of the metadata with the highest version; of several, the one written last."""
    versions: list[tuple[int, int, str]] = []
    for name, written in files:
        match: Any = _FILE.fullmatch(name)
        if match is not None:
            versions.append((int(match["hadoop"] or match["catalog"]), written, name))
    return max(versions)[2] if versions else None
