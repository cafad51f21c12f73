"""Remote signing: clients without keys of S3 send each request for the files of a table here, and get its signature.

The table is named by the path, so a request is signed for whoever may read, or write, this table, and only for objects
in its directory. All of it is looked up for each request: a privilege that was revoked ends it at once, and so does a
table that is elsewhere now. A table that does not exist may be staged: its directory is then that which a new table of
this name gets, for whoever may make one there.
"""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import quote

from metastored.iceberg.catalog import Catalog
from metastored.iceberg.definition import new_row
from metastored.iceberg.errors import Forbidden, NoSuchTable, Unsupported
from metastored.iceberg.requests import Json, Request
from metastored.iceberg.rights import may_create
from metastored.iceberg.s3.requests import s3_request
from metastored.iceberg.s3.signer import TableSigner
from metastored.model.names import TableName
from metastored.wire.generated.common import StorageDescriptor
from metastored.wire.structs import replace

__all__ = ["client_config", "sign_request"]

PYICEBERG_SIGNER: Final = "S3V4RestSigner"
"""The name of pyiceberg's own signer, which its fsspec file system needs to be told."""


def sign_request(catalog: Catalog, request: Request) -> Json:
    """The headers that make a request to S3 valid. Raises Forbidden for what the caller may not do with the table."""
    if not catalog.caller.signs:
        raise Unsupported("this server signs no requests: its administrator sets iceberg_signing to on")
    fields, name = request.fields(), request.table
    signer = _signer(catalog, name)
    if signer is None:
        raise Forbidden(
            f"no requests are signed for {name}: this needs the privilege SELECT, and a directory below the warehouse "
            "in S3 that no other table uses"
        )
    checked = s3_request(fields, signer.store, signer.directory)
    if checked.writes and not signer.writes:
        raise Forbidden(
            f"a request that writes files of {name} is not signed: this needs the privileges INSERT, UPDATE and "
            "DELETE, and a server that is not read-only"
        )
    return {"uri": checked.uri, "headers": signer.sign(checked)}


def _signer(catalog: Catalog, name: TableName) -> TableSigner | None:
    """What signs requests for a table; None if nothing does. Raises NoSuchTable and PermissionDenied."""
    try:
        loaded = catalog.table(name)
    except NoSuchTable:
        if catalog.row(name) is not None or catalog.caller.is_remote(name):
            raise
    else:
        return catalog.signer(name, loaded.row, loaded.metadata)
    location = catalog.default_location(name)
    row = new_row(name, catalog.caller.user, int(time.time()))
    may_create(catalog, replace(row, sd=StorageDescriptor(location=location)))
    signer = catalog.caller.signer(name, location, True)
    # Somebody else may have made it meanwhile: then the caller's right to make one is no right to read this one.
    return signer if catalog.row(name) is None else None


def client_config(prefix: str, name: TableName, signer: TableSigner) -> dict[str, str]:
    """The properties by which a client finds the signer of a table.

    The endpoint is relative: clients resolve it against their own address of the catalog. The server does not know
    that address where a proxy is in front of it.
    """
    words = ["v1", *([prefix] if prefix else []), "namespaces", name.database, "tables", name.table, "sign"]
    return {
        **signer.client,
        "s3.remote-signing-enabled": "true",
        "s3.signer": PYICEBERG_SIGNER,
        "s3.signer.endpoint": "/".join(quote(word, safe="") for word in words),
    }
