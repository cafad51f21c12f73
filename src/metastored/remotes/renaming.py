"""Names on their way to a remote and back: local to remote in arguments, remote to local in results.

Pure: bytes in, bytes out. Database names are replaced where the method table has them, alone (`@db`) or before a
table's (`@full_name`). What is text is left as it is: the SQL of views, filters, and messages, but for one thing:
an error whose message begins with exactly the remote database's name and a dot, or is that name, as in
`raw.clicks table not found`, begins with the local name.
"""

from __future__ import annotations

from collections.abc import Iterable

from metastored.hive.names import CatalogNameError, decode_catalog_name, normalize
from metastored.remotes.definitions import RemoteDatabase
from metastored.wire.message import REPLY, Call, Reply, Stream
from metastored.wire.methods import Method
from metastored.wire.splice import Renames, carries_exception, splice_arguments, splice_message, splice_result


class Renaming:
    """Between the local and the remote names of some databases of one endpoint."""

    def __init__(self, remotes: Iterable[RemoteDatabase]) -> None:
        self._to_remote: dict[str, str] = {}
        self._to_local: dict[str, str] = {}
        for remote in remotes:
            self._to_remote[remote.name] = remote.remote_name
            # Two local names of one remote database: in what comes back, the first that was asked for.
            self._to_local.setdefault(remote.remote_name, remote.name)
        self._outward: Renames = {"db": self._outward_name, "full_name": self._outward_full_name}
        self._inward: Renames = {"db": self._inward_name, "full_name": self._inward_full_name}
        self._same = all(here == there for here, there in self._to_remote.items())

    def call(self, call: Call) -> Call:
        """The call as the remote is to get it."""
        body = splice_arguments(call.method, call.body, self._outward)
        return call if body is call.body else Call(call.method, None, call.seqid, body)

    def reply(self, method: Method, reply: Reply) -> Reply:
        """The remote's answer as the caller is to get it."""
        if self._same or reply.kind != REPLY:
            return reply
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        if carries_exception(body):
            return Reply(splice_message(body, self._inward_message), REPLY, reply.error)
        return Reply(splice_result(method, body, self._inward), REPLY, reply.error)

    def _outward_name(self, name: str) -> str:
        """Without the catalog that a Hive 3 client puts before it: the remote may be older, and has its own."""
        try:
            plain = decode_catalog_name(name).database
        except CatalogNameError:
            return name
        return name if plain is None else self._to_remote.get(normalize(plain), name)

    def _outward_full_name(self, name: str) -> str:
        return _database_replaced(name, self._to_remote)

    def _inward_name(self, name: str) -> str:
        return self._to_local.get(normalize(name), name)

    def _inward_full_name(self, name: str) -> str:
        return _database_replaced(name, self._to_local)

    def _inward_message(self, text: str) -> str:
        head, dot, rest = text.partition(".")
        return self._to_local.get(head, head) + dot + rest


def database_of(full_name: str) -> tuple[str | None, str]:
    """Catalog and database of `db.table` or `catalog.db.table`."""
    parts = full_name.split(".")
    return (parts[0], parts[1]) if len(parts) == 3 else (None, parts[0])


def _database_replaced(full_name: str, names: dict[str, str]) -> str:
    parts = full_name.split(".")
    at = 1 if len(parts) == 3 else 0
    parts[at] = names.get(normalize(parts[at]), parts[at])
    return ".".join(parts)
