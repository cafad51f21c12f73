"""Databases in Spark's external catalog."""

from __future__ import annotations

from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidOperationException,
    NoSuchObjectException,
    SparkCatalogError,
)
from metastored.hive.locations import canonical, join
from metastored.hive.names import normalize
from metastored.model.names import database_name
from metastored.model.spark.values import CatalogDatabase
from metastored.spark.connection import LOG, Connected, client_errors, no_such_database
from metastored.wire.generated.databases import Database

OWNER: Final = "owner"
"""The property of a database that is the owner in the metastore."""
DEFAULT: Final = "default"


class Databases(Connected):
    """The methods for databases; each has the name of Spark's in Python's way."""

    _current = DEFAULT

    def create_database(self, definition: CatalogDatabase, ignore_if_exists: bool = False) -> None:
        """Spark's createDatabase. Raises SparkCatalogError: SCHEMA_ALREADY_EXISTS."""
        location = definition.location_uri
        if not location and self.settings.warehouse is not None:
            location = join(self.settings.warehouse, f"{normalize(definition.name)}.db")
        with client_errors():
            try:
                self.client.api.create_database(_to_hive(definition, location or None, self._user))
            except AlreadyExistsException as error:
                if not ignore_if_exists:
                    raise SparkCatalogError(
                        "SCHEMA_ALREADY_EXISTS", f"the database {definition.name!r} exists already"
                    ) from error

    def drop_database(self, db: str, ignore_if_not_exists: bool = False, cascade: bool = False) -> None:
        """Spark's dropDatabase. Raises SparkCatalogError: SCHEMA_NOT_FOUND, SCHEMA_NOT_EMPTY."""
        with client_errors():
            if not self.database_exists(db):  # Hive before 4 fails with a NullPointerException.
                if ignore_if_not_exists:
                    return
                raise no_such_database(db)
            try:
                self.client.api.drop_database(database_name(db).field, True, cascade)
            except NoSuchObjectException as error:
                if not ignore_if_not_exists:
                    raise no_such_database(db) from error
            except InvalidOperationException as error:
                if "is not empty" in str(error):
                    raise SparkCatalogError(
                        "SCHEMA_NOT_EMPTY", f"the database {db!r} is not empty; drop what is in it, or use cascade"
                    ) from error
                raise

    def alter_database(self, definition: CatalogDatabase) -> None:
        """Spark's alterDatabase: replaces the properties; the location where the metastore can (Hive 3 and later).

        Raises SparkCatalogError: SCHEMA_NOT_FOUND, and _LEGACY_ERROR_TEMP_1219 for a location that stays as it was.
        """
        with client_errors():
            existing = self.get_database(definition.name)
            if existing.properties == definition.properties:
                LOG.warning(
                    "Request to alter database %s is a no-op because the provided database properties are the same "
                    "as the old ones. Hive does not currently support altering other database fields.",
                    definition.name,
                )
            location = definition.location_uri or existing.location_uri
            sent = _to_hive(definition, location, existing.properties.get(OWNER) or None)
            self.client.api.alter_database(database_name(definition.name).field, sent)
            if canonical(location) != canonical(existing.location_uri):
                now = self.get_database(definition.name).location_uri
                if canonical(now) == canonical(existing.location_uri):
                    raise SparkCatalogError(
                        "_LEGACY_ERROR_TEMP_1219", "Hive metastore does not support altering database location"
                    )

    def get_database(self, db: str) -> CatalogDatabase:
        """Spark's getDatabase. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        with client_errors():
            database = self._database(db)
        return CatalogDatabase(
            name=database.name or "",
            description=database.description or "",
            location_uri=database.locationUri or "",
            properties={**(database.parameters or {}), OWNER: database.ownerName or ""},
        )

    def database_exists(self, db: str) -> bool:
        """Spark's databaseExists."""
        try:
            self.get_database(db)
        except SparkCatalogError as error:
            if error.condition != "SCHEMA_NOT_FOUND":
                raise
            return False
        return True

    def list_databases(self, pattern: str = "*") -> list[str]:
        """Spark's listDatabases: `*` stands for any characters, `|` separates alternatives."""
        with client_errors():
            return list(self.client.api.get_databases(pattern))

    def set_current_database(self, db: str) -> None:
        """Spark's setCurrentDatabase. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        with client_errors():
            self._require_database(db)
        self._current = db

    @property
    def current_database(self) -> str:
        """The database that `set_current_database` set; at first `default`."""
        return self._current


def _to_hive(definition: CatalogDatabase, location: str | None, user: str | None) -> Database:
    properties = dict(definition.properties)
    owner = properties.pop(OWNER, None) or user
    return Database(
        name=definition.name,
        description=definition.description,
        locationUri=location,
        parameters=properties,
        ownerName=owner,
    )
