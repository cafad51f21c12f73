"""Catalogs of Iceberg, REST and SQL, through pyiceberg. Needs the extra `iceberg`.

A table is shown as Iceberg's own Hive catalog shows it: `table_type` ICEBERG, where its metadata is, its schema and
partitioning as parameters, and no partition keys of Hive's. Its partitions are Iceberg's own business. Nested
namespaces are databases with dots in their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from metastored.connectors.adapted.sources import Source
from metastored.connectors.failures import CredentialsRefused, Unreachable
from metastored.connectors.iceberg.guarded import refuse_classes
from metastored.connectors.iceberg.shown import shown_table, shown_view
from metastored.connectors.iceberg.statistics import column_statistics
from metastored.connectors.iceberg.types import columns_of, partition_spec, schema_of, to_iceberg
from metastored.errors import (
    AlreadyExistsException,
    ConversionError,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MissingExtra,
    NoSuchObjectException,
    NotSupported,
)
from metastored.filters.hive.tree import Filter
from metastored.model import kinds
from metastored.model.columns import columns_of as columns_of_table
from metastored.model.origins import METADATA_LOCATION, PARTITIONING, TABLE_TYPE
from metastored.model.remotes.keys import shown
from metastored.model.spark.columns import is_schema
from metastored.wire.generated.common import ColumnStatisticsObj, FieldSchema, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table as IcebergTable

OURS: Final = frozenset({
    kinds.EXTERNAL_PARAMETER, TABLE_TYPE, METADATA_LOCATION, "previous_metadata_location", "uuid", "current-schema",
    "default-partition-spec", "numRows", "totalSize", "numFiles", "transient_lastDdlTime", "storage_handler",
    PARTITIONING,
})  # fmt: skip
"""Parameters that are shown and are not properties of the table."""
_DATABASE: Final = ("comment", "location", "owner")


class IcebergSource(Source):
    """A catalog that `pyiceberg.catalog.load_catalog` makes of these properties."""

    def __init__(
        self,
        properties: Mapping[str, str],
        nested: bool = False,
        load: Callable[[dict[str, str]], Catalog] | None = None,
    ) -> None:
        """`nested`: namespaces within namespaces are listed too. `load`: makes the catalog, in place of pyiceberg."""
        try:
            from pyiceberg.catalog import load_catalog
        except ImportError:
            raise MissingExtra("a catalog of Iceberg", "iceberg") from None
        self._nested = nested
        self._where = f"the Iceberg catalog at {shown('uri', properties.get('uri', 'its default address'))}"
        with self._told():
            # A name of its own: settings in pyiceberg's own file are for its own users.
            given = dict(properties)
            self._catalog: Catalog = load_catalog("metastored", **given) if load is None else load(given)

    def close(self) -> None:
        self._catalog.close()

    # Databases

    def databases(self) -> Sequence[str]:
        with self._told():
            return sorted(".".join(each) for each in self._namespaces(()))

    def _namespaces(self, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for each in self._catalog.list_namespaces(parent):
            if each[: len(parent)] == parent and len(each) > len(parent):
                yield each
                if self._nested:
                    yield from self._namespaces(each)

    def database(self, name: str) -> Database:
        with self._told(name):
            properties = self._catalog.load_namespace_properties(_namespace(name))
        comment, location, owner = (properties.get(key) for key in _DATABASE)
        others = {key: str(value) for key, value in properties.items() if key not in _DATABASE}
        return Database(name, comment, location, others, ownerName=owner)

    def create_database(self, database: Database) -> None:
        with self._told(database.name or ""):
            self._catalog.create_namespace(_namespace(database.name or ""), _properties(database))

    def alter_database(self, name: str, database: Database) -> None:
        with self._told(name):
            before = self._catalog.load_namespace_properties(_namespace(name))
            after = _properties(database)
            updates = {key: value for key, value in after.items() if before.get(key) != value}
            removals = set(before) - set(after)
            if updates or removals:
                self._catalog.update_namespace_properties(_namespace(name), removals, updates)

    def drop_database(self, name: str) -> None:
        with self._told(name):
            self._catalog.drop_namespace(_namespace(name))

    # Tables

    def tables(self, db: str) -> Sequence[str]:
        with self._told(db):
            names = {each[-1] for each in self._catalog.list_tables(_namespace(db))}
            with suppress(NotImplementedError):  # Not every kind of catalog has views.
                names |= {each[-1] for each in self._catalog.list_views(_namespace(db))}
            return sorted(names)

    def table(self, db: str, name: str) -> Table:
        from pyiceberg.exceptions import NoSuchTableError, NoSuchViewError, ValidationError

        with self._told(f"{db}.{name}", "table not found"):
            try:
                return shown_table(db, name, self._catalog.load_table((*_namespace(db), name)))
            except ValidationError:
                # Without the text: it would show what is in a file of the catalog's choice.
                raise MetaException(f"{self._where}: the metadata of {db}.{name} is not valid") from None
            except NoSuchTableError:
                try:
                    view = self._catalog.load_view((*_namespace(db), name))
                except (NotImplementedError, NoSuchViewError):
                    view = None
                if view is None:
                    raise
                return shown_view(db, name, view)

    def create_table(self, table: Table) -> None:
        db, name = table.dbName or "", table.tableName or ""
        if kinds.is_view(table):
            self._create_view(table)
            return
        parameters = table.parameters or {}
        keys = tuple(table.partitionKeys or ())
        required = {each.name for each in columns_of_table(table) if not each.nullable}
        schema = schema_of((*((table.sd and table.sd.cols) or ()), *keys), required)
        terms = json.loads(parameters.get(PARTITIONING) or "[]") or [key.name or "" for key in keys]
        properties = {key: value for key, value in parameters.items() if key not in OURS and not is_schema(key)}
        if table.owner:
            properties.setdefault("owner", table.owner)
        refuse_classes(properties, f"{db}.{name}")
        with self._told(f"{db}.{name}"):
            self._catalog.create_table(
                (*_namespace(db), name),
                schema,
                location=(table.sd.location if table.sd else None) or None,
                partition_spec=partition_spec(terms, schema),
                properties=properties,
            )

    def _create_view(self, table: Table) -> None:
        from pyiceberg.view.metadata import ViewVersion

        db, name = table.dbName or "", table.tableName or ""
        query = table.viewOriginalText or table.viewExpandedText or ""
        said = {"type": "sql", "sql": query, "dialect": "spark"}
        version = ViewVersion.model_validate(
            {"schema-id": 0, "representations": [said], "default-namespace": _namespace(db)}
        )
        schema = schema_of((table.sd and table.sd.cols) or ())
        properties = {key: value for key, value in (table.parameters or {}).items() if key not in OURS}
        with self._told(f"{db}.{name}", views=True):
            self._catalog.create_view((*_namespace(db), name), schema, version, properties=properties)

    def alter_table(self, db: str, name: str, table: Table) -> None:
        from pyiceberg.exceptions import ValidationError

        identifier = (*_namespace(db), name)
        if kinds.is_view(table):
            raise NotSupported(f"{db}.{name} is a view of Iceberg, which is dropped and made anew, not changed")
        with self._told(f"{db}.{name}", "table not found"):
            there = self._catalog.load_table(identifier)
            given = (table.parameters or {}).get(METADATA_LOCATION, there.metadata_location)
            if given != there.metadata_location:
                raise InvalidOperationException(
                    f"{db}.{name}: its metadata is at {there.metadata_location}, and ALTER cannot set it to {given}: "
                    f"commit through {self._where}, or read the table again if another client has changed it"
                )
            location = (table.sd.location if table.sd else None) or there.location()
            if location.rstrip("/") != there.location().rstrip("/"):
                raise InvalidOperationException(
                    f"{db}.{name}: an Iceberg table stays where it is, at {there.location()}"
                )
            changed = {key: value for key, value in (table.parameters or {}).items() if key not in OURS}
            refuse_classes({**there.properties, **changed}, f"{db}.{name}")
            if table.owner:
                changed.setdefault("owner", table.owner)
            try:
                with there.transaction() as transaction:
                    _change_columns(transaction, there, tuple((table.sd and table.sd.cols) or ()))
                    _change_properties(transaction, there.properties, changed)
            except (ValueError, TypeError, ValidationError) as error:
                raise InvalidOperationException(f"{db}.{name}: {error}") from error
            target = (*_namespace(table.dbName or db), table.tableName or name)
            if target != identifier:
                self._catalog.rename_table(identifier, target)

    def alter_table_if(self, db: str, name: str, table: Table, key: str, value: str | None) -> None:
        """The commit itself fails where the table was changed after it was read."""
        now = (self.table(db, name).parameters or {}).get(key)
        if now != value:
            raise MetaException(
                f"The table has been modified. The parameter value for key '{key}' is '{now}'. The expected was value "
                f"was '{value}'"
            )
        self.alter_table(db, name, table)

    def partitions(self, db: str, name: str, where: Filter | None = None) -> Iterable[Partition]:
        """None that Hive knows."""
        self.table(db, name)
        return ()

    def column_statistics(self, db: str, name: str, columns: Sequence[str]) -> Sequence[ColumnStatisticsObj]:
        from pyiceberg.exceptions import NoSuchTableError

        with self._told(f"{db}.{name}", "table not found"):
            try:
                return column_statistics(self._catalog.load_table((*_namespace(db), name)), columns)
            except NoSuchTableError:
                self.table(db, name)
                return ()  # It is a view.

    def drop_table(self, db: str, name: str, purge: bool) -> None:
        from pyiceberg.exceptions import NoSuchTableError

        identifier = (*_namespace(db), name)
        with self._told(f"{db}.{name}", "table not found"):
            try:
                if purge:
                    self._catalog.purge_table(identifier)
                else:
                    self._catalog.drop_table(identifier)
            except NoSuchTableError as missing:
                try:
                    self._catalog.drop_view(identifier)
                except NotImplementedError:
                    raise missing from None

    @contextmanager
    def _told(self, name: str = "", missing: str = "", views: bool = False) -> Iterator[None]:
        """Iceberg's errors as the metastore's, with the name that the call was about."""
        from pyiceberg import exceptions as theirs
        from requests.exceptions import RequestException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (theirs.NoSuchTableError, theirs.NoSuchViewError, theirs.NoSuchIdentifierError) as error:
            raise NoSuchObjectException(f"{name} table not found") from error
        except theirs.NoSuchNamespaceError as error:
            raise NoSuchObjectException(f"{name} {missing}".strip()) from error
        except (
            theirs.NamespaceAlreadyExistsError,
            theirs.TableAlreadyExistsError,
            theirs.ViewAlreadyExistsError,
        ) as error:
            raise AlreadyExistsException(f"{name} already exists") from error
        except theirs.NamespaceNotEmptyError as error:
            raise InvalidOperationException(f"Database {name} is not empty.") from error
        except (theirs.ValidationError, theirs.BadRequestError) as error:
            raise InvalidObjectException(f"{self._where}: {error}") from error
        except (ConversionError, NotImplementedError) as error:
            raise NotSupported(f"{self._where} has no views" if views else f"{self._where}: {name}: {error}") from error
        except (theirs.UnauthorizedError, theirs.OAuthError, theirs.AuthorizationExpiredError) as error:
            raise CredentialsRefused(f"{self._where} does not accept the credentials: {error}") from error
        except (RequestException, theirs.ServiceUnavailableError) as error:
            raise Unreachable(f"{self._where}: {type(error).__name__}: {error}") from error
        except SQLAlchemyError as error:
            # Its own text has the statement and its arguments too.
            reason = getattr(error, "orig", None) or type(error).__name__
            raise Unreachable(f"{self._where}: {reason}") from error
        except (theirs.RESTError, theirs.CommitFailedException, OSError) as error:
            raise MetaException(f"{self._where}: {type(error).__name__}: {error}") from error


def _namespace(name: str) -> tuple[str, ...]:
    return tuple(name.split("."))


def _properties(database: Database) -> dict[str, str]:
    given = dict(zip(_DATABASE, (database.description, database.locationUri, database.ownerName), strict=True))
    return {**(database.parameters or {}), **{key: value for key, value in given.items() if value}}


def _change_columns(transaction: Any, there: IcebergTable, after: tuple[FieldSchema, ...]) -> None:
    """Columns that keep their place under another name are renamed; others are dropped, added and changed."""
    before = columns_of(there.schema())
    if [(each.name, each.type, each.comment or None) for each in after] == [tuple(each) for each in before]:
        return
    old, new = {each.name: each for each in before}, {each.name: each for each in after}
    renamed: dict[str | None, str | None] = {}
    if len(before) <= len(after):
        renamed = {
            one.name: other.name
            for one, other in zip(before, after, strict=False)
            if one.name not in new and other.name not in old
        }
    with transaction.update_schema() as update:
        for name in old:
            if name not in new and name not in renamed:
                update.delete_column(name)
        for one, other in renamed.items():
            update.rename_column(one, other)
        was = {other: one for one, other in renamed.items()}
        for name, column in new.items():
            earlier = old.get(was.get(name, name))
            wanted = to_iceberg(column.type or "", name or "", count(1_000_000))
            if earlier is None:
                update.add_column(name, wanted, doc=column.comment)
            elif earlier.type != column.type or (earlier.comment or None) != (column.comment or None):
                changed = wanted if earlier.type != column.type else None
                update.update_column(earlier.name, changed, doc=column.comment)


def _change_properties(transaction: Any, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    updates = {key: value for key, value in after.items() if before.get(key) != value}
    removals = [key for key in before if key not in after]
    if updates:
        transaction.set_properties(updates)
    if removals:
        transaction.remove_properties(*removals)
