"""What is missing when a table is not found: the metastore replies the same for a table and for its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metastored.errors import DatabaseNotFound, Error, NoSuchObjectException, TableNotFound
from metastored.model.names import table_name

if TYPE_CHECKING:
    from metastored.client._sync.client import Client


def missing_object(client: Client, error: TableNotFound) -> NoSuchObjectException:
    """The error about the database, if that does not exist; else the error itself."""
    # Metastores with catalogs write the catalog before the name.
    words = (error.message or "").split()
    name = words[0] if words and words[0].endswith(f".{error.name}") else error.name
    database = table_name(name).database_name
    try:
        client.database(str(database))
    except DatabaseNotFound:
        return DatabaseNotFound("database", str(database))
    except NoSuchObjectException as missing:
        return missing  # Such as the catalog.
    except Error:
        pass  # Such as a database that this user may not read.
    return error
