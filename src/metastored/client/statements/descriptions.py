"""What SHOW and DESCRIBE return, as rows. Pure: structs in, rows out. Secrets arrive masked and stay so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from metastored.client.statements.values import Result
from metastored.errors import InvalidOperationException
from metastored.hive.names import normalize
from metastored.model.names import TableName
from metastored.model.remotes.keys import (
    ACCESS,
    CONNECTOR,
    GLUE_ENDPOINT,
    GLUE_REGION,
    ICEBERG_PATH,
    ICEBERG_URI,
    PREFIX,
    REMOTE,
    TIMEOUT,
    URIS,
    VIA,
    is_remote,
    remote_keys,
    shown,
    via_of,
    without_remote_keys,
)
from metastored.statements.values import Kind, Parts
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.common import PrincipalType, Table
from metastored.wire.generated.connectors import DataConnector
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function, ResourceType

Row = tuple[str | None, ...]

COLUMNS: Final = ("col_name", "data_type", "comment")
INFO: Final = ("info_name", "info_value")
PROPERTIES: Final = ("prpt_name", "prpt_value")
REMOTES: Final = ("kind", "name", "remote", "via", "address", "access", "timeout")
REMOTE_INFORMATION: Final = "# Remote Information"

_ADDRESSES: Final = (URIS, ICEBERG_PATH, ICEBERG_URI, GLUE_ENDPOINT, GLUE_REGION, CONNECTOR)


def described_column(name: TableName, table: Table, column: str) -> Result:
    """DESCRIBE of one column. Raises InvalidOperationException for one that the table does not have."""
    columns = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
    matching = [each for each in columns if (each.name or "").lower() == normalize(column)]
    if not matching:
        known = ", ".join(each.name or "" for each in columns)
        raise InvalidOperationException(f"{name} has no column {column}; its columns are {known}")
    return Result(COLUMNS, ((matching[0].name, matching[0].type, matching[0].comment),))


def described_table(table: Table, detail: str | None) -> Result:
    """DESCRIBE: columns and partition keys, with EXTENDED or FORMATTED the rest, and the remote configuration last."""
    sd = table.sd
    keys = table.partitionKeys or ()
    parameters = table.parameters or {}
    rows: list[Row] = [(each.name, each.type, each.comment) for each in (*((sd and sd.cols) or ()), *keys)]
    if keys:
        rows += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        rows += [(each.name, each.type, each.comment) for each in keys]
    if detail is not None:
        rows += [("", "", ""), ("# Detailed Table Information", "", "")]
        serde = sd.serdeInfo if sd is not None else None
        facts = (
            ("Catalog", table.catName),
            ("Database", table.dbName),
            ("Table", table.tableName),
            ("Owner", table.owner),
            ("Created Time", _time(table.createTime)),
            ("Type", table.tableType),
            ("Location", sd and sd.location),
            ("Serde Library", serde and serde.serializationLib),
            ("InputFormat", sd and sd.inputFormat),
            ("OutputFormat", sd and sd.outputFormat),
            ("View Text", table.viewExpandedText or table.viewOriginalText),
            ("Table Properties", _map(without_remote_keys(parameters) if is_remote(parameters) else parameters)),
        )
        rows += [(name, value, "") for name, value in facts if value]
    rows += [(name, value, "") for name, value in remote_rows(parameters)]
    return Result(COLUMNS, tuple(rows))


def described_database(database: Database, extended: bool) -> Result:
    """DESCRIBE DATABASE, with the remote configuration at the end."""
    parameters = database.parameters or {}
    facts = (
        ("Catalog Name", database.catalogName),
        ("Namespace Name", database.name),
        ("Comment", database.description),
        ("Location", database.locationUri),
        ("Owner", database.ownerName),
        ("Owner Type", PrincipalType.NAMES.get(database.ownerType or 0)),
        ("Connector", database.connector_name),
        ("Remote Database", database.remote_dbname),
    )
    rows: list[Row] = [(name, value) for name, value in facts if value]
    if extended:
        rows.append(("Properties", _map(without_remote_keys(parameters) if is_remote(parameters) else parameters)))
    return Result(INFO, (*rows, *remote_rows(parameters)))


def described_connector(connector: DataConnector, extended: bool) -> Result:
    """DESCRIBE CONNECTOR; passwords in its address and its parameters are masked."""
    parameters = connector.parameters or {}
    facts = (
        ("Name", connector.name),
        ("Type", connector.type),
        ("URL", shown(URIS, connector.url or "")),
        ("Comment", connector.description),
        ("Owner", connector.ownerName),
        ("Owner Type", PrincipalType.NAMES.get(connector.ownerType or 0)),
        ("Created Time", _time(connector.createTime)),
        ("Properties", _map({key: _masked(key, value) for key, value in parameters.items()}) if extended else None),
    )
    return Result(INFO, tuple((name, value) for name, value in facts if value))


def described_catalog(catalog: Catalog | None) -> Result:
    """DESCRIBE CATALOG."""
    described = catalog or Catalog()
    facts = (("Catalog Name", described.name), ("Comment", described.description), ("Location", described.locationUri))
    parameters = described.parameters or {}
    return Result(INFO, (*((name, value) for name, value in facts if value), *remote_rows(parameters)))


def described_function(function: Function, extended: bool) -> Result:
    """DESCRIBE FUNCTION, in Spark's layout: one line for each fact."""
    rows = [f"Function: {function.dbName}.{function.functionName}", f"Class: {function.className}"]
    if extended:
        kinds = ResourceType.NAMES
        rows += [f"{kinds.get(each.resourceType or 0)}: {each.uri}" for each in function.resourceUris or ()]
        rows.append(f"Owner: {function.ownerName or ''}")
    return Result(("function_desc",), tuple((row,) for row in rows))


def listed_properties(table: Table, key: str | None) -> Result:
    """SHOW TBLPROPERTIES: all, or one; secrets of a remote table are masked."""
    parameters = table.parameters or {}
    via = via_of(parameters) if is_remote(parameters) else None
    shown_values = {name: value if via is None else shown(name, value, via) for name, value in parameters.items()}
    if key is None:
        return Result(PROPERTIES, tuple((name, shown_values[name]) for name in sorted(shown_values)))
    missing = f"Table {table.dbName}.{table.tableName} does not have property: {key}"
    return Result(PROPERTIES, ((key, shown_values.get(key, missing)),))


def listed(definitions: Iterable[tuple[Kind, Parts, Mapping[str, str]]]) -> Result:
    """SHOW REMOTES: a row for each definition, sorted."""
    rows = []
    for kind, name, parameters in definitions:
        local = ".".join(name)
        if kind is not Kind.CATALOG:
            local = local.removeprefix("hive.")
        remote = parameters.get(REMOTE) or parameters.get("connector.remoteDbName")
        if kind is Kind.CATALOG and remote is None:
            # Its databases: in a catalog of their own, or under a prefix, which may be empty.
            remote = f"{parameters[PREFIX]}*" if PREFIX in parameters else f"{local}.*"
        row = (
            *(kind.value.lower(), local, remote, parameters.get(VIA) or via_of(parameters), address(parameters)),
            *(parameters.get(ACCESS, "read"), parameters.get(TIMEOUT)),
        )
        rows.append(row)
    return Result(REMOTES, tuple(sorted(rows, key=lambda row: (row[0] or "", row[1] or ""))))


def address(parameters: Mapping[str, str]) -> str | None:
    """Where a definition points."""
    return next((shown(key, parameters[key]) for key in _ADDRESSES if key in parameters), None)


def remote_rows(parameters: Mapping[str, str]) -> list[tuple[str, str]]:
    """The remote configuration, with a heading; nothing for a local object."""
    if not is_remote(parameters):
        return []
    via = via_of(parameters)
    pairs = sorted(remote_keys(parameters).items())
    return [("", ""), (REMOTE_INFORMATION, ""), *((key, shown(key, value, via)) for key, value in pairs)]


def _masked(key: str, value: str) -> str:
    """Hive's connectors keep a database's password in a parameter of any name."""
    return shown(key, value) if "password" not in key.lower() or value.startswith(("env:", "file:")) else "******"


def _time(seconds: int | None) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if seconds else None


def _map(parameters: Mapping[str, str]) -> str:
    return "[" + ", ".join(f"{key}={value}" for key, value in sorted(parameters.items())) + "]"
