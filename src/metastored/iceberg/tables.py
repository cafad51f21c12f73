"""The operations on tables: list, create, stage, register, load, drop, rename, and reports of metrics.

A dropped table keeps its files, and a purged one loses its directory, by the rules by which the metastore removes
directories: never one that others use, a root, or a link.
"""

from __future__ import annotations

import logging
from typing import Final

from metastored.errors import InvalidOperationException, NoSuchObjectException
from metastored.hive.locations import canonical
from metastored.iceberg.catalog import TABLES, Catalog
from metastored.iceberg.commits import (
    Conflict,
    check_free,
    create,
    insert,
    loaded_reply,
    new_row_of,
    rename_alter,
    until_done,
)
from metastored.iceberg.definition import changed_table, metadata_location, new_row
from metastored.iceberg.errors import AlreadyExists, BadRequest, NoSuchTable, Unsupported
from metastored.iceberg.files import next_file
from metastored.iceberg.metadata import check_location, read_table, with_refs_only, written
from metastored.iceberg.new_tables import new_table
from metastored.iceberg.publishing import NewFiles
from metastored.iceberg.requests import (
    Json,
    Request,
    identifier,
    new_name,
    optional,
    required,
    shown,
    texts,
)
from metastored.iceberg.rights import may_change, may_create
from metastored.iceberg.s3 import signer
from metastored.iceberg.s3.vending import s3_directory
from metastored.iceberg.signing import client_config
from metastored.model import kinds
from metastored.model.names import TableName
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

__all__ = [
    "create_table",
    "drop_table",
    "etag_of",
    "list_tables",
    "load_table",
    "register_table",
    "rename_table",
    "rename_view",
    "report_metrics",
    "table_exists",
]

log = logging.getLogger("metastored.iceberg")

REPORTS: Final = ("scan-report", "commit-report")


def list_tables(catalog: Catalog, request: Request) -> Json:
    """The Iceberg tables of a namespace; tables of other formats are not listed."""
    return catalog.listed(TABLES, request)


def create_table(catalog: Catalog, request: Request) -> Json:
    """Makes a table without rows, or stages it: then nothing is stored until a commit makes it."""
    fields = request.fields()
    name = request.database.table(new_name(fields))
    location = optional(fields, "location", str, "the request")
    schema = required(fields, "schema", dict, "the request")
    spec = optional(fields, "partition-spec", dict, "the request")
    order = optional(fields, "write-order", dict, "the request")
    properties = texts(fields, "properties", "the request")
    staged = bool(optional(fields, "stage-create", bool, "the request"))
    where = catalog.default_location(name) if location is None else check_location(location)
    metadata = new_table(schema, spec, order, where, properties)
    if not staged:
        made = create(catalog, name, metadata)
        if not request.delegation:
            return made
        return with_access(catalog, request, made, name, catalog.table_row(name), metadata)
    check_free(catalog, name)
    reply: Json = {"metadata": written(metadata), "config": {}}
    if not request.delegation:
        return reply
    row = changed_table(new_row_of(catalog, name, metadata), metadata, next_file(metadata, None), None, None)
    may_create(catalog, row)
    return with_access(catalog, request, reply, name, row, metadata, new=True)


def register_table(catalog: Catalog, request: Request) -> Json:
    """Makes a table of an existing metadata file; `overwrite` lets an existing table point to it."""
    fields = request.fields()
    name = request.database.table(new_name(fields))
    file = canonical(required(fields, "metadata-location", str, "the request"))
    overwrite = bool(optional(fields, "overwrite", bool, "the request"))
    catalog.database(name.database_name)
    existing = catalog.row(name)
    if existing is not None and not overwrite:
        raise AlreadyExists(f"Table already exists: {name}")
    if existing is not None:
        catalog.check_not_linked(name)
    catalog.check_file(name, "", file)
    metadata = catalog.files.read(file, read_table)
    if existing is None:
        fresh = new_row(name, catalog.caller.user, metadata["last-updated-ms"] // 1000)
        row = changed_table(fresh, metadata, file, None, None)
        may_create(catalog, row)
        with NewFiles(catalog) as new:  # It has none: the file stays in any case.
            insert(catalog, new, name, row, file)
        return loaded_reply(file, metadata)
    return until_done([name], lambda: _point_to(catalog, name, file, metadata))


def _point_to(catalog: Catalog, name: TableName, file: str, metadata: Json) -> Json:
    before = catalog.table(name)
    changed = changed_table(before.row, metadata, file, before.metadata, before.file)
    may_change(catalog, name, changed, None)
    with catalog.locked([name]):
        if not catalog.alter(name, changed, before.file, committing=False):
            raise Conflict
    return loaded_reply(file, metadata)


def etag_of(file: str, snapshots: str) -> str:
    """The entity tag of a table: its metadata never changes under one name."""
    return f'W/"{file.rpartition("/")[2]}-{snapshots}"'


def load_table(catalog: Catalog, request: Request) -> Json | None:
    """A table with its metadata; None if the client has it already, by its ETag."""
    snapshots = (request.parameter("snapshots") or "all").lower()
    if snapshots not in ("all", "refs"):
        raise BadRequest(f"the parameter snapshots is {snapshots!r}: all or refs was expected")
    row = catalog.table_row(request.table)
    known = etag_of(metadata_location(row), snapshots) in request.if_none_match
    if known and not request.delegation:
        # The metadata is not opened here, and whoever may read the table may know that it is the same.
        return None
    loaded = catalog.table(request.table, row)
    metadata = with_refs_only(loaded.metadata) if snapshots == "refs" else loaded.metadata
    reply = loaded_reply(loaded.file, metadata)
    return with_access(catalog, request, reply, loaded.name, loaded.row, loaded.metadata)


def load_credentials(catalog: Catalog, request: Request) -> Json:
    """New credentials for the files of a table, for a client whose credentials expire."""
    loaded = catalog.table(request.table)
    vended = catalog.vended(loaded.name, loaded.row, loaded.metadata)
    return {"storage-credentials": [each.storage_credential for each in vended]}


def with_access(
    catalog: Catalog, request: Request, reply: Json, name: TableName, row: Table, metadata: Json, *, new: bool = False
) -> Json:
    """A reply with the credentials, or the address of the signer, that the client asks for, if there are any."""
    if request.delegation == signer.DELEGATION:
        if new and s3_directory(metadata["location"]) != s3_directory(catalog.default_location(name)):
            return reply  # Nothing is stored yet from which the signer could know this location.
        signs = catalog.signer(name, row, metadata, new=new)
        return reply if signs is None else {**reply, "config": client_config(request.route.prefix, name, signs)}
    vended = catalog.vended(name, row, metadata, new=new) if request.delegation else []
    if not vended:
        return reply
    config = {key: value for each in vended for key, value in each.config.items()}
    return {**reply, "config": config, "storage-credentials": [each.storage_credential for each in vended]}


def table_exists(catalog: Catalog, request: Request) -> None:
    catalog.table_row(request.table)


def drop_table(catalog: Catalog, request: Request) -> None:
    """Drops a table. With `purgeRequested` its directory is removed too, unless `gc.enabled` of the table is false."""
    name, purge = request.table, request.flag("purgeRequested")
    row = catalog.table_row(name)
    if not purge:
        catalog.drop(name)
        return
    if catalog.caller.is_remote(name):
        raise Unsupported(f"{name} is a table of a remote catalog: its files are not removed from here")
    if (row.parameters or {}).get(kinds.PURGE, "true").lower() == "false":
        raise BadRequest(f"{name} has gc.enabled=false: its files may be those of other tables; drop it without purge")
    until_done([name], lambda: _let_purge(catalog, name))
    catalog.caller.committer.drop_table(name, delete_data=True, purge=True)


def _let_purge(catalog: Catalog, name: TableName) -> None:
    """Sets the parameter by which an external table is dropped with its directory. Raises Conflict."""
    with catalog.locked([name]):
        row = catalog.table_row(name)
        purged = replace(row, parameters={**(row.parameters or {}), kinds.PURGE: "TRUE"})
        if not catalog.alter(name, purged, metadata_location(row), committing=False):
            raise Conflict


def rename_table(catalog: Catalog, request: Request) -> None:
    """Renames a table, also into another namespace of its catalog. Its files stay where they are."""
    _rename(catalog, request, view=False)


def rename_view(catalog: Catalog, request: Request) -> None:
    """Renames a view, also into another namespace of its catalog."""
    _rename(catalog, request, view=True)


def _rename(catalog: Catalog, request: Request, *, view: bool) -> None:
    fields, prefix = request.fields(), request.route.prefix
    source = identifier(prefix, fields.get("source"), "source")
    target = identifier(prefix, fields.get("destination"), "destination")
    sent = f"Cannot rename {shown(fields['source'])} to {shown(fields['destination'])}"

    def attempt() -> None:
        row = catalog.view_row(source) if view else catalog.table_row(source)
        catalog.check_not_linked(source)
        catalog.database(target.database_name)
        taken = catalog.row(target)
        if taken is not None:
            raise AlreadyExists(f"{sent}. {'View' if kinds.is_any_view(taken) else 'Table'} already exists")
        renamed = replace(row, tableName=target.table, dbName=target.database)
        if not rename_alter(catalog, source, renamed, metadata_location(row)):
            raise Conflict

    try:
        until_done([source], attempt)
    except (InvalidOperationException, NoSuchObjectException) as error:
        if catalog.row(source) is None:
            raise NoSuchTable(f"Table does not exist: {source}") from None
        raise BadRequest(f"{sent}: {error}") from None


def report_metrics(catalog: Catalog, request: Request) -> None:
    """Takes a report of a scan or a commit. It is checked and logged, and not stored."""
    fields = request.fields()
    catalog.table_row(request.table)
    kind = required(fields, "report-type", str, "the report")
    if kind not in REPORTS:
        raise BadRequest(f"report-type is {kind!r}: {' or '.join(REPORTS)} was expected"[:200])
    snapshot = required(fields, "snapshot-id", int, "the report")
    log.debug("%s of %s, snapshot %d", kind, request.table, snapshot)
