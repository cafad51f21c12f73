"""Hive 4's translation: the metadata that a client gets depends on the capabilities it names.

Managed tables are transactional there; any other becomes external when it is created. A client that names its
capabilities gets the access it has to each table, and the capabilities it lacks. The default location of a table
depends on whether it is managed. All of it applies to the catalog `hive` only; `compat.py` has the versions. Pure
functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from metastored.errors import MetaException
from metastored.hive.locations import is_under, join, same_location
from metastored.hive.names import DEFAULT_CATALOG, DEFAULT_DATABASE, database_directory, directory_name, normalize
from metastored.model import kinds
from metastored.model.acid import PROPERTIES, TRANSACTIONAL, says_insert_only, translates_as_transactional
from metastored.model.origins import is_iceberg
from metastored.service.core.java_text import java_text
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

Abilities = tuple[str, ...]
"""The capabilities of a client: the `processorCapabilities` of a request."""

NONE, READ_ONLY, READ_WRITE = 1, 2, 8
"""The kinds of access."""

EXTERNAL_READ: Final = "EXTREAD"
EXTERNAL_WRITE: Final = "EXTWRITE"
BUCKETS: Final = "HIVEBUCKET2"
CONNECTOR_READ: Final = "CONNECTORREAD"
CONNECTOR_WRITE: Final = "CONNECTORWRITE"
FULL_READ: Final = "HIVEFULLACIDREAD"
FULL_WRITE: Final = "HIVEFULLACIDWRITE"
INSERT_READ: Final = "HIVEMANAGEDINSERTREAD"
INSERT_WRITE: Final = "HIVEMANAGEDINSERTWRITE"
SQL: Final = "HIVESQL"
MATERIALIZED: Final = "HIVEMQT"
UNMODIFIED: Final = "ACCEPTS_UNMODIFIED_METADATA"
RAW: Final = "MANAGERAWMETADATA"
RAW_PLACES: Final = "MANAGE_RAW_METADATA"
"""The same capability in another spelling: Hive reads this one where locations and partitions are translated."""

COMMON_WRITES: Final = ("HIVEMANAGESTATS", "HIVECACHEINVALIDATE", CONNECTOR_WRITE)
FULL_WRITES: Final = (FULL_WRITE, *COMMON_WRITES)
INSERT_WRITES: Final = (INSERT_WRITE, *COMMON_WRITES)

DEMANDS: Final = "OBJCAPABILITIES"
"""The parameter by which a table requires capabilities of its own."""
TRANSLATED: Final = "TRANSLATED_TO_EXTERNAL"
EXTERNAL_ONLY: Final = "EXTERNAL_TABLES_ONLY"


def applies(catalog: str | None, abilities: Abilities | None) -> bool:
    """Whether metadata is translated for a client: it names capabilities, and does not request raw metadata."""
    return catalog == DEFAULT_CATALOG and bool(abilities) and RAW not in (abilities or ())


# --- access of a client to a table ----------------------------------------------------------------------------


class Access(NamedTuple):
    """A client's access to a table, and the capabilities it lacks to read or write it."""

    type: int
    reads: Abilities | None = None
    writes: Abilities | None = None
    hides_buckets: bool = False
    """Whether to hide buckets: the client does not support them and does not request raw metadata."""


def access(table: Table, abilities: Abilities) -> Access:
    demands = demanded(table)
    if demands is None:
        return _usual(table, set(abilities))
    return _demanding(table, demands, abilities)


def demanded(table: Table) -> Abilities | None:
    """The capabilities that a table requires by its parameter, if it has one."""
    text = (table.parameters or {}).get(DEMANDS)
    return None if text is None else tuple("".join(text.split()).upper().split(","))


def translated(table: Table, abilities: Abilities) -> Table:
    """The table as a client with these capabilities gets it."""
    table_access = access(table, abilities)
    sd = table.sd
    if table_access.hides_buckets and sd is not None:
        sd = replace(sd, numBuckets=-1)
    return replace(
        table,
        sd=sd,
        accessType=table_access.type,
        requiredReadCapabilities=table_access.reads,
        requiredWriteCapabilities=table_access.writes,
    )


def _usual(table: Table, can: set[str]) -> Access:
    match table.tableType:
        case kinds.EXTERNAL:
            if _buckets(table):
                if BUCKETS in can:
                    return Access(READ_WRITE)
                return Access(READ_ONLY, writes=(BUCKETS,), hides_buckets=UNMODIFIED not in can)
            if EXTERNAL_READ not in can:
                return Access(NONE, (EXTERNAL_READ,), (EXTERNAL_WRITE,))
            return Access(READ_WRITE) if EXTERNAL_WRITE in can else Access(READ_ONLY, writes=(EXTERNAL_WRITE,))
        case kinds.MANAGED:
            if not translates_as_transactional(table.parameters):
                return Access(READ_WRITE)
            if says_insert_only(table.parameters):
                return _managed(can, INSERT_READ, INSERT_WRITE, INSERT_WRITES)
            return _managed(can, FULL_READ, FULL_WRITE, FULL_WRITES)
        case kinds.VIEW:
            return Access(READ_ONLY) if {SQL, CONNECTOR_READ} & can else Access(NONE, (SQL, CONNECTOR_READ))
        case kinds.MATERIALIZED_VIEW:
            if {CONNECTOR_READ, FULL_READ} & can and MATERIALIZED in can:
                return Access(READ_ONLY)
            return Access(NONE, (CONNECTOR_READ, MATERIALIZED))
        case _:
            return Access(NONE)


def _managed(can: set[str], read: str, write: str, writes: Abilities) -> Access:
    if {write, CONNECTOR_WRITE} & can:
        return Access(READ_WRITE)
    if {read, CONNECTOR_READ} & can:
        return Access(READ_ONLY, writes=writes)
    return Access(NONE, (CONNECTOR_READ, read), writes)


def _demanding(table: Table, demands: Abilities, abilities: Abilities) -> Access:
    """As `translated`, for a table that requires capabilities itself."""
    can = set(abilities)
    if table.tableType in (kinds.VIEW, kinds.MATERIALIZED_VIEW):
        if can >= set(demands):
            return Access(READ_ONLY)
        return Access(NONE, _missing(_reads(demands), abilities))
    if table.tableType not in (kinds.EXTERNAL, kinds.MANAGED):
        return Access(NONE, _reads(demands), _writes(demands))
    if can >= set(demands):
        return Access(READ_WRITE)
    if table.tableType == kinds.EXTERNAL:
        return _demanding_external(table, demands, can)
    lacking = _missing(_writes(demands), abilities)
    if not translates_as_transactional(table.parameters):
        return Access(READ_ONLY, writes=lacking)
    if can >= set(_writes(demands)) or {FULL_WRITE, CONNECTOR_WRITE} & can:
        return Access(READ_WRITE)
    if says_insert_only(table.parameters):
        readable = can >= set(_reads(demands)) or bool({INSERT_READ, CONNECTOR_READ} & can)
    else:
        readable = bool({FULL_READ, CONNECTOR_READ} & can)
    if readable:
        return Access(READ_ONLY, writes=lacking)
    return Access(NONE, _missing(_reads(demands), abilities), lacking)


def _demanding_external(table: Table, demands: Abilities, can: set[str]) -> Access:
    unknown = BUCKETS in demands and BUCKETS not in can
    hides = unknown and UNMODIFIED not in can
    writes = (BUCKETS,) if unknown else ()
    if EXTERNAL_WRITE in demands and EXTERNAL_WRITE in can and not _buckets(table):
        return Access(READ_WRITE, hides_buckets=hides)
    if EXTERNAL_READ in demands and EXTERNAL_READ in can:
        return Access(READ_ONLY, writes=(*writes, EXTERNAL_WRITE), hides_buckets=hides)
    return Access(NONE, (EXTERNAL_READ,), (*writes, *_writes(demands)), hides_buckets=hides)


def hides_buckets_of_partitions(table: Table, abilities: Abilities) -> bool:
    """Whether the buckets of this table's partitions are hidden from a client."""
    if {BUCKETS, UNMODIFIED, RAW_PLACES} & set(abilities):
        return False
    demands = demanded(table)
    if demands is not None and set(abilities) >= set(demands):
        return False
    return table.tableType == kinds.EXTERNAL or (
        table.tableType == kinds.MANAGED and not translates_as_transactional(table.parameters)
    )


def _buckets(table: Table) -> bool:
    return table.sd is not None and (table.sd.numBuckets or 0) > 0


def _reads(demands: Abilities) -> Abilities:
    return tuple(each for each in demands if each.endswith(("READ", "SQL")))


def _writes(demands: Abilities) -> Abilities:
    return tuple(each for each in demands if each.endswith(("WRITE", "STATS", "INVALIDATE")))


def _missing(required: Abilities, supported: Iterable[str]) -> Abilities:
    has = set(supported)
    return tuple(each for each in required if each not in has)


# --- default locations of tables -----------------------------------------------------------------------------------


def external_directory(database: Database, root: str) -> str | None:
    """The directory that contains external tables: a location in the warehouse is replaced by the usual one there."""
    location = database.locationUri
    return _default_directory(database, root) if location and is_under(location, root) else location


def managed_directory(database: Database, root: str) -> str | None:
    """The directory that contains managed tables."""
    if database.managedLocationUri:
        return database.managedLocationUri
    return _default_directory(database, root) if database.catalogName == DEFAULT_CATALOG else database.locationUri


def _default_directory(database: Database, root: str) -> str:
    return root if database.name == DEFAULT_DATABASE else join(root, database_directory(database.name or ""))


def translated_database(database: Database, abilities: Abilities | None, root: str) -> Database:
    """The database as a client gets it: its location is that of external tables; writers also get the managed one."""
    can = set(abilities or ())
    location = database.locationUri
    if RAW_PLACES in can or database.catalogName != DEFAULT_CATALOG or not location or not is_under(location, root):
        return database
    managed = location if {INSERT_WRITE, FULL_WRITE} & can else database.managedLocationUri
    return replace(database, locationUri=external_directory(database, root), managedLocationUri=managed)


# --- tables that are created or moved -----------------------------------------------------------------------------


def created(table: Table, database: Database, abilities: Abilities | None, root: str) -> Table:
    """The table to create for a request; checks its location, and chooses one if there is none."""
    if table.tableType == kinds.EXTERNAL:
        return _at_default_location(table, database, root, external=True)
    if table.tableType != kinds.MANAGED:
        return table
    parameters = table.parameters or {}
    if not translates_as_transactional(table.parameters) and not says_insert_only(table.parameters):
        kept = {key: value for key, value in parameters.items() if key not in (TRANSACTIONAL, PROPERTIES)}
        marks = {kinds.EXTERNAL_PARAMETER: "TRUE", kinds.PURGE: "TRUE", TRANSLATED: "TRUE"}
        external = replace(table, tableType=kinds.EXTERNAL, parameters=kept | marks)
        return _at_default_location(external, database, root, external=True)
    if (database.parameters or {}).get(EXTERNAL_ONLY, "").lower() == "true":
        raise MetaException(
            "Creation of ACID table is not allowed when the property 'EXTERNAL_TABLES_ONLY'='TRUE' is set on the"
            " database."
        )
    if not abilities:
        raise MetaException("Processor has no capabilities, cannot create an ACID table.")
    check_location(table, database, root)
    needed, kind = (INSERT_WRITES, "INSERT") if says_insert_only(table.parameters) else (FULL_WRITES, "FULL")
    if needed[0] not in abilities:
        lacking = java_text(_missing(needed, abilities))
        raise MetaException(f"Processor does not have capabilities to create a {kind} ACID table:{lacking}")
    return _at_default_location(table, database, root, external=False)


def _at_default_location(table: Table, database: Database, root: str, *, external: bool) -> Table:
    directory = external_directory(database, root) if external else managed_directory(database, root)
    if table.sd is None or table.sd.location or directory is None:
        return table
    return replace(
        table, sd=replace(table.sd, location=join(directory, directory_name(normalize(table.tableName or ""))))
    )


def check_location(table: Table, database: Database, root: str) -> None:
    """Raises an error for a managed table's location outside of the directories of managed tables."""
    location = table.sd.location if table.sd is not None else None
    if table.tableType != kinds.MANAGED or not location:
        return
    if database.managedLocationUri:
        if not _is_below(location, database.managedLocationUri):
            raise MetaException("Illegal location for managed table, it has to be within database's managed location")
    elif not _is_below(location, root):
        raise MetaException(
            "A managed table's location should be located within managed warehouse root directory or within its"
            f" database's managedLocationUri. Table {table.tableName}'s location is not valid:{location},"
            f" managed warehouse:{root}"
        )


def _is_below(location: str, directory: str) -> bool:
    return is_under(location, directory) and not same_location(location, directory)


def follows_renames(table: Table) -> bool:
    """Whether a table was made external by translation: its directory follows its name, as a managed one's does.

    Files of Iceberg refer to each other by complete locations, so the directories of Iceberg tables never move.
    """
    return (
        kinds.is_external(table)
        and is_translated(table)
        and not is_iceberg(table)
        and table.sd is not None
        and table.sd.location is not None
    )


def is_translated(table: Table) -> bool:
    return (table.parameters or {}).get(TRANSLATED, "").upper() == "TRUE"
