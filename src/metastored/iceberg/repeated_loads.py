"""A cache of encoded responses to loads of tables, for tables that have not changed since.

The row of the table is read from the metastore for each request, in the session of its caller; its bytes are
the key. They name the metadata file, which never changes, so an entry is never stale, whoever writes meanwhile and by
which protocol. Whether the caller may have the file read is not cached: the server checks it for each request.

Only the event loop's thread uses it. Responses with credentials are never stored.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from metastored.client._sync.client import CAPABILITIES
from metastored.errors import Error
from metastored.iceberg.definition import metadata_location
from metastored.iceberg.errors import IcebergError
from metastored.iceberg.requests import Request
from metastored.iceberg.serving import Response
from metastored.model.names import TableName
from metastored.wire import binary
from metastored.wire.generated.tables import GetTableRequest
from metastored.wire.message import REPLY, Call, Reply
from metastored.wire.methods import METHODS

__all__ = ["CachedLoad", "LoadLookup", "RepeatedLoads"]

MAX_CACHED: Final = 16 * 1024 * 1024
"""Bytes of all entries of a worker."""
MAX_ENTRY: Final = 1024 * 1024
GET_TABLE: Final = METHODS["get_table_req"]
ROW_OVERHEAD: Final = 500


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
        """The look-up of a load; None for a request that is refused without one, or that wants credentials."""
        if request.wants_credentials:
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
    """The responses of a worker, least recently used evicted first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[bytes, str], CachedLoad] = OrderedDict()
        self._bytes = 0

    def get(self, lookup: LoadLookup, reply: Reply) -> CachedLoad | None:
        """The response for the row that the metastore has replied with; None if it has to be made."""
        key = _key(lookup, reply)
        found = None if key is None else self._entries.get(key)
        if found is not None and key is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, lookup: LoadLookup, reply: Reply, response: Response) -> None:
        """Stores a response that was made from a row, unless it is an error or too long."""
        key = _key(lookup, reply)
        if response.status != 200 or key is None or key in self._entries:
            return
        size = _size(key, response)
        if size > MAX_ENTRY:
            return
        try:
            row = Reply(key[0]).value(GET_TABLE).table
        except Error:
            return
        self._entries[key] = CachedLoad((row.sd and row.sd.location) or "", metadata_location(row), response)
        self._bytes += size
        while self._bytes > MAX_CACHED:
            oldest, evicted = self._entries.popitem(last=False)
            self._bytes -= _size(oldest, evicted.response)


def _key(lookup: LoadLookup, reply: Reply) -> tuple[bytes, str] | None:
    """The key of an entry; None for a reply that is an error or not in memory."""
    if reply.kind != REPLY or reply.error is not None or not isinstance(reply.body, bytes):
        return None
    return reply.body, lookup.snapshots


def _size(key: tuple[bytes, str], response: Response) -> int:
    return len(key[0]) + len(response.body) + ROW_OVERHEAD
