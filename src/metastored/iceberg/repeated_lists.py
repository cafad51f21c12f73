"""A cache of encoded responses to lists of tables and views, for namespaces that have not changed since.

The metastore is called for the names with each request, in the session of its caller; the bytes of its replies are the
key. Where the names do not tell what is listed, nothing is cached: in namespaces with remote tables, whose own
metastores say what they are, and with tables whose `table_type` has an unusual spelling, which have to be read.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from metastored.errors import Error
from metastored.iceberg.catalog import TABLES, VIEWS
from metastored.iceberg.errors import IcebergError
from metastored.iceberg.requests import Request
from metastored.iceberg.response_cache import ResponseCache, body_of_result
from metastored.iceberg.serving import Response
from metastored.model.names import DatabaseName
from metastored.wire.codec import binary
from metastored.wire.message import Call, Reply
from metastored.wire.methods import METHODS, Method

__all__ = ["LISTS", "ListLookup", "RepeatedLists"]

LISTS: Final = {"list_tables": TABLES, "list_views": VIEWS}
"""The operations, and what they list."""
NAMES: Final = METHODS["get_table_names_by_filter"]
NO_NAMES: Final = Reply.of(NAMES, ()).body
OVERHEAD: Final = 1000


class ListLookup(NamedTuple):
    """The calls of the metastore that a list consists of."""

    database: DatabaseName
    query: str
    operation: str

    @classmethod
    def of(cls, request: Request) -> ListLookup | None:
        """The look-up of a list; None for a request that is refused without one."""
        try:
            return cls(request.database, request.query, request.route.endpoint.operation)
        except IcebergError:
            return None

    @property
    def calls(self) -> list[Call]:
        """The calls, with their arguments encoded as the client of the operations encodes them."""
        field = self.database.field
        usual, others = LISTS[self.operation].filters
        return [
            _call(METHODS["get_database"], field),
            _call(NAMES, field, usual, -1),
            _call(NAMES, field, others, -1),
        ]

    def key(self, replies: list[Reply]) -> tuple[Any, ...] | None:
        """The key of the response; None if a call failed, or if tables have to be read to know what they are."""
        database, usual, others = map(body_of_result, replies)
        if database is None or usual is None or others != NO_NAMES:
            return None
        return (*self, database, usual)


def _call(method: Method, *args: Any) -> Call:
    return Call(method, None, body=binary.encode_args(method, args))


class RepeatedLists:
    """The responses of a worker."""

    def __init__(self) -> None:
        self._cache: ResponseCache[Response] = ResponseCache()

    def get(self, lookup: ListLookup, replies: list[Reply]) -> Response | None:
        """The response for what the metastore has replied; None if it has to be made."""
        key = lookup.key(replies)
        return None if key is None else self._cache.get(key)

    def put(self, lookup: ListLookup, replies: list[Reply], response: Response) -> None:
        """Stores a response that was made from these replies, unless it is an error or too long."""
        key = lookup.key(replies)
        if key is None or response.status != 200:
            return
        try:
            Reply(key[-1]).value(NAMES)
        except Error:  # The response was made from other calls, which a later request would not make.
            return
        size = sum(len(part) for part in key[len(lookup) :]) + len(lookup.query) + len(response.body) + OVERHEAD
        self._cache.put(key, response, size)
