"""A cache of encoded responses to loads of tables, for tables that have not changed since.

The row of the table is read from the metastore for each request, in the session of its caller; its bytes are
the key. They name the metadata file, which never changes, so an entry is never stale, whoever writes meanwhile and by
which protocol. Whether the caller may have the file read is not cached: the server checks it for each request.

Responses with credentials, or with the address of a signer, are never stored.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.client._sync.metadata import CAPABILITIES
from metastored.errors import Error
from metastored.iceberg.definition import metadata_location
from metastored.iceberg.errors import IcebergError
from metastored.iceberg.requests import Request
from metastored.iceberg.response_cache import ResponseCache, body_of_result
from metastored.iceberg.serving import Response
from metastored.model.names import TableName
from metastored.wire.codec import binary
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.message import Call, Reply
from metastored.wire.methods import METHODS

__all__ = ["CachedLoad", "LoadLookup", "RepeatedLoads"]

GET_TABLE: Final = METHODS["get_table_req"]
OVERHEAD: Final = 1000


class CachedLoad(NamedTuple):
    """A response, and the file that it was made from."""

    location: str
    """Of the table."""
    file: str
    response: Response


class LoadLookup(NamedTuple):
    """The call of the metastore with which a load begins."""

    name: TableName
    snapshots: str
    body: bytes
    """The arguments, encoded as the client of the operations encodes them."""

    @classmethod
    def of(cls, request: Request) -> LoadLookup | None:
        """The look-up of a load; None for a request that is refused without one, or that wants more than the
        table."""
        if request.delegation:
            return None
        try:
            name = request.table
        except IcebergError:
            return None
        fields = GetTableRequest(name.database, name.table, CAPABILITIES, name.catalog_field)
        snapshots = (request.parameter("snapshots") or "all").lower()
        return cls(name, snapshots, binary.encode_args(GET_TABLE, (fields,)))

    @property
    def call(self) -> Call:
        return Call(GET_TABLE, None, body=self.body)


class RepeatedLoads:
    """The responses of a worker."""

    def __init__(self) -> None:
        self._cache: ResponseCache[CachedLoad] = ResponseCache()

    def get(self, lookup: LoadLookup, reply: Reply) -> CachedLoad | None:
        """The response for the row that the metastore has replied with; None if it has to be made."""
        body = body_of_result(reply)
        return None if body is None else self._cache.get((body, lookup.snapshots))

    def put(self, lookup: LoadLookup, reply: Reply, response: Response) -> None:
        """Stores a response that was made from a row, unless it is an error or too long."""
        body = body_of_result(reply)
        if response.status != 200 or body is None:
            return
        try:
            row = Reply(body).value(GET_TABLE).table
        except Error:
            return
        entry = CachedLoad((row.sd and row.sd.location) or "", metadata_location(row), response)
        self._cache.put((body, lookup.snapshots), entry, len(body) + len(response.body) + OVERHEAD)
